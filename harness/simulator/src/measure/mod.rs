//! Measuring a run, whichever stack it is: the same definitions everywhere.

mod dynamic_flows;
mod flow;
mod frames;
mod histogram;
mod network;

pub use dynamic_flows::gather;
pub use flow::{Hash, Meter, Tally, hex, tally};
pub use frames::FrameMeter;
pub use histogram::Histogram;
pub use network::{MeteredNetwork, NetworkMeter};
