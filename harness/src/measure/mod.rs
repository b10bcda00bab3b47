//! Measuring a run, whichever stack it is: the same definitions everywhere.

mod crowd;
mod flow;
mod network;

pub use crowd::gather;
pub use flow::{Histogram, Meter};
pub use network::NetworkMeter;
