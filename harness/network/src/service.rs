//! When a link may send, beyond that it sends one packet after another at its rate.

use super::out_of_range::OutOfRange;
use super::trace::{Opportunities, Trace};

/// How a link sends what waits.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Service {
    /// One packet after another at the link's rate.
    #[default]
    Steady,
    /// At the instants of a recording and at no others; the link's rate is its mean.
    Trace(Trace),
}

impl Service {
    pub(super) fn check(&self) -> Result<(), OutOfRange> {
        match self {
            Service::Steady => Ok(()),
            Service::Trace(trace) => trace.check(),
        }
    }

    /// Rate at which a packet passes once it has started, bit/s, on a link of `rate`.
    pub(super) fn line_rate(&self, rate: f64) -> f64 {
        match self {
            Service::Steady => rate,
            // A packet leaves with the opportunity that carries its last byte.
            Service::Trace(_) => f64::INFINITY,
        }
    }

    pub(super) fn gate(&self) -> Option<Box<dyn Gate>> {
        match self {
            Service::Steady => None,
            Service::Trace(trace) => Some(Box::new(Opportunities::new(trace))),
        }
    }
}

/// What holds packets back that a link could send. Packets are asked for in the order in which they leave.
pub(super) trait Gate: Send {
    /// When a packet may start that arrived at `arrived` on a link that is free from `free` on, ns.
    fn start(&mut self, arrived: u64, free: u64, bytes: u32) -> u64;

    /// The packet that was asked for last does start, at `start`.
    fn take(&mut self, start: u64, bytes: u32);

    /// When it is decided which of the packets that wait comes next, ns, on a link that is free from `free` on.
    fn ready(&self, free: u64) -> u64;

    /// Bytes that could have been sent until `now`; `None` if the link's rate says.
    fn capacity(&self, _now: u64) -> Option<f64> {
        None
    }
}
