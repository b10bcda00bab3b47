//! Stacks that tell the time as [`Instant`](std::time::Instant)s, acknowledgements packet
//! by packet and losses after them: quinn and its kin.
//!
//! Their congestion-control traits differ in what they tell; what there is to make of it
//! is the same and stands here once. An adapter implements its stack's trait by handing
//! each call to a [`PathFlow`], which a [`factory!`](crate::factory) makes.

mod clock;
mod factory;
mod number;
mod path;
mod rtt;

pub use clock::{Clock, span};
pub use factory::Origin;
pub use path::{Loss, Packet, PathFlow};
