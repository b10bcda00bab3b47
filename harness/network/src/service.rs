//! When a link may send, beyond that it sends one packet after another at its rate.

use super::batches::{BatchSpec, Batches};
use super::bucket::{BucketSpec, Shaper};
use super::discipline::Gate;
use super::out_of_range::{OutOfRange, check};
use super::trace::{Opportunities, Trace};

/// How a link sends what waits.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Service {
    /// One packet after another at the link's rate.
    #[default]
    Steady,
    /// At the instants of a recording and at no others; the link's rate is its mean.
    Trace(Trace),
    /// At the link's rate in the long run, and faster after a while without packets: a token bucket of `burst` bytes
    /// fills at that rate, and a packet waits until the bucket has its bytes.
    Shaper {
        /// Bytes that pass at once.
        burst: f64,
        /// Rate at which a packet passes then, bit/s; infinite if it takes no time.
        peak: f64,
    },
    /// At its rate, but only now and again.
    Batches(BatchSpec),
}

impl Service {
    /// On a link of `rate`.
    pub(super) fn check(&self, rate: f64) -> Result<(), OutOfRange> {
        match self {
            Service::Steady => Ok(()),
            Service::Shaper { burst, peak } => {
                BucketSpec { rate, depth: *burst }.check()?;
                check(*peak >= rate, "peak rate", *peak, "the link's rate or more")
            }
            Service::Trace(trace) => trace.check(),
            Service::Batches(spec) => spec.check(),
        }
    }

    /// Rate at which a packet passes once it has started, bit/s, on a link of `rate`.
    pub(super) fn line_rate(&self, rate: f64) -> f64 {
        match self {
            Service::Steady | Service::Batches(_) => rate,
            // A packet leaves with the opportunity that carries its last byte.
            Service::Trace(_) => f64::INFINITY,
            Service::Shaper { peak, .. } => *peak,
        }
    }

    /// What holds packets back on the link called `name` with `rate`, in the run with `seed`.
    pub(super) fn gate(&self, rate: f64, seed: u64, name: &str) -> Option<Box<dyn Gate>> {
        match self {
            Service::Steady => None,
            Service::Trace(trace) => Some(Box::new(Opportunities::new(trace))),
            Service::Shaper { burst, .. } => Some(Box::new(Shaper::new(BucketSpec { rate, depth: *burst }))),
            Service::Batches(spec) => Some(Box::new(Batches::new(*spec, seed, name))),
        }
    }
}
