//! Measuring a run, whichever stack it is: the same definitions everywhere.

mod dynamic_flows;
mod flow;
mod network;
mod tally;

pub use dynamic_flows::gather;
pub use flow::{Histogram, Meter};
pub use network::NetworkMeter;
pub use tally::{Hash, Tally, hex, tally};
