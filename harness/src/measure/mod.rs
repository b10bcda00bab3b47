//! Measuring a run, whichever stack it is: the same definitions everywhere.

mod flow;
mod network;

pub use flow::{Histogram, Meter};
pub use network::NetworkMeter;
