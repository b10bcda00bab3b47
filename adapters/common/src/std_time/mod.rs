//! Stacks that report time as [`Instant`](std::time::Instant)s, acknowledgements packet
//! by packet and losses after them: quinn and its forks.
//!
//! Their congestion-control traits differ in what they report; the way from there to events
//! is the same and stands here once. An adapter implements its stack's trait by handing
//! each call to a [`Path`], which a [`factory!`](crate::factory) makes.

mod clock;
mod factory;
mod path;

pub use clock::{Clock, span};
pub use factory::Origin;
pub use path::{Loss, Packet, Path};
