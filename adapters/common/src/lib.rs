//! What every adapter needs and no controller should: a flow with its group, the
//! bookkeeping stacks lack, the check that a stack's signals suffice.
//!
//! An adapter translates its stack's callbacks into [`Event`](windlass_controllers::Event)s,
//! hands them to a [`Flow`], and carries out the [`Decision`](windlass_controllers::Decision)
//! it gets back. It holds no congestion rule.

mod ack_batch;
mod choice;
#[cfg(feature = "config")]
pub mod config;
mod departures;
mod flow;
mod frames;
mod group;
mod in_flight;
pub mod instants;
mod maker;
mod pacing;
mod peer;
mod policy;
pub mod qlog;
mod recorder;
pub mod replay;
mod spool;
pub mod step;

pub use ack_batch::AckBatch;
pub use choice::{ChoiceError, Stack, choose, require, with_fallback};
pub use departures::{Departure, Departures};
pub use flow::Flow;
pub use frames::Frames;
pub use group::{Group, Groups};
pub use in_flight::InFlight;
pub use maker::Maker;
pub use pacing::{default_pacing, float, whole, windows_per_rtt};
pub use peer::Peer;
pub use policy::{Choice, NewFlow, Policy};
pub use qlog::{QlogRecorder, SharedTrace};
pub use recorder::{Facts, Recorder, Turn};
pub use spool::{Report, Spool, Spooled};

#[doc(hidden)]
pub use windlass_controllers::{Algorithm, Engine, Path};
