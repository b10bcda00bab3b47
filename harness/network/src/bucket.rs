//! A token bucket, and what polices or shapes by one.

use super::discipline::Gate;
use super::discipline::{Action, Admission, Arrival};
use super::out_of_range::{OutOfRange, check};
use super::packet::Packet;
use super::random::Stream;

/// Rate and size of a token bucket.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BucketSpec {
    /// Rate at which it fills, bit/s.
    pub rate: f64,
    /// Capacity, bytes.
    pub depth: f64,
}

impl BucketSpec {
    pub(super) fn check(&self) -> Result<(), OutOfRange> {
        let BucketSpec { rate, depth } = *self;
        check(rate >= 1.0 && rate.is_finite(), "rate of a token bucket", rate, "at least 1 bit/s")?;
        check(depth >= 1.0 && depth.is_finite(), "depth of a token bucket", depth, "at least 1 byte")
    }
}

/// A token bucket at work. It begins full.
pub(super) struct Bucket {
    per_ns: f64,
    pub depth: f64,
    pub fill: f64,
    at: u64,
}

impl Bucket {
    pub fn new(spec: BucketSpec) -> Bucket {
        Bucket { per_ns: spec.rate / 8e9, depth: spec.depth, fill: spec.depth, at: 0 }
    }

    /// Fills the bucket up to `now`, ns, and says how full it is, bytes.
    pub fn refill(&mut self, now: u64) -> f64 {
        self.fill = (self.fill + now.saturating_sub(self.at) as f64 * self.per_ns).min(self.depth);
        self.at = now;
        self.fill
    }

    /// Takes `bytes` if it has them.
    pub fn take(&mut self, now: u64, bytes: u32) -> bool {
        let takes = self.refill(now) >= f64::from(bytes);
        if takes {
            self.fill -= f64::from(bytes);
        }
        takes
    }

    /// When it has `bytes`, or is full, ns.
    fn has(&self, bytes: u32) -> u64 {
        let lacks = f64::from(bytes).min(self.depth) - self.fill;
        // Half a byte in 10⁶ is rounding.
        self.at.saturating_add(libm::ceil((lacks - 5e-7).max(0.0) / self.per_ns) as u64)
    }
}

/// A policer: what exceeds the bucket is dropped, and nothing waits for it (`RFC 2475 §2.3.3.3`; the meter of
/// `RFC 2697` with one burst size).
pub(super) struct Policer(Bucket);

impl Policer {
    pub fn new(spec: BucketSpec) -> Policer {
        Policer(Bucket::new(spec))
    }
}

impl Admission for Policer {
    fn admit(&mut self, arrival: Arrival, packet: &Packet, _: &mut Stream) -> Action {
        if self.0.take(arrival.now, packet.bytes) { Action::Pass } else { Action::Drop }
    }
}

/// A shaper: what exceeds the bucket waits for it (`RFC 2475 §2.3.3.2`). A packet larger than the bucket passes when it
/// is full, and the next ones pay for it.
pub(super) struct Shaper {
    bucket: Bucket,
    /// Size of the last packet, after which the next decision is due.
    last: u32,
}

impl Shaper {
    pub fn new(spec: BucketSpec) -> Shaper {
        Shaper { bucket: Bucket::new(spec), last: 0 }
    }
}

impl Gate for Shaper {
    fn start(&mut self, _: u64, free: u64, bytes: u32) -> u64 {
        free.max(self.bucket.has(bytes))
    }

    fn take(&mut self, start: u64, bytes: u32) {
        self.bucket.refill(start);
        self.bucket.fill -= f64::from(bytes);
        self.last = bytes;
    }

    fn ready(&self, free: u64) -> u64 {
        free.max(self.bucket.has(self.last))
    }
}

#[cfg(test)]
mod tests;
