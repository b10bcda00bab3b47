//! Measuring a run, whichever stack it is: the same definitions everywhere.

mod dynamic_flows;
mod flow;
mod frames;
mod histogram;
mod network;
mod tally;

pub use dynamic_flows::gather;
pub use flow::Meter;
pub use frames::FrameMeter;
pub use histogram::Histogram;
pub use network::{MeteredNetwork, NetworkMeter};
pub use tally::{Hash, Tally, hex, tally};
