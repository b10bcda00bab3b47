//! A link that sends in batches: what has come together since the last one leaves at once, as frames that a Wi-Fi
//! station aggregates until it gets the medium, or acknowledgements that a modem collects.

use windlass_controllers::Span;

use super::discipline::Gate;
use super::out_of_range::{OutOfRange, check};
use super::random::Stream;

/// When batches leave, and how large they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BatchSpec {
    /// Time between two of them.
    pub every: Span,
    /// Each is later by a random time, uniform in `[0, jitter]`.
    pub jitter: Span,
    /// Packets in one at most.
    pub packets: u32,
}

impl BatchSpec {
    pub(super) fn check(&self) -> Result<(), OutOfRange> {
        check(self.every > Span::ZERO, "time between batches", 0.0, "more than 0 s")?;
        let in_order = self.jitter <= self.every;
        check(in_order, "jitter of batches", self.jitter.secs(), "no more than the time between two, s")?;
        check(self.packets > 0, "packets in a batch", 0.0, "1 or more")
    }
}

/// Batches at work.
pub(super) struct Batches {
    spec: BatchSpec,
    random: Stream,
    number: u64,
    /// When the batch is that the next packet may be in, ns.
    at: u64,
    /// Packets that it still takes.
    left: u32,
}

impl Batches {
    /// Those of the link called `name`, with random numbers of their own.
    pub fn new(spec: BatchSpec, seed: u64, name: &str) -> Batches {
        let random = Stream::new(seed, &format!("batches of {name}"));
        let mut batches = Batches { spec, random, number: 0, at: 0, left: 0 };
        batches.begin(0);
        batches
    }

    fn begin(&mut self, number: u64) {
        let jitter = self.spec.jitter.0;
        let late = if jitter > 0 { (self.random.uniform() * (jitter + 1) as f64) as u64 } else { 0 };
        self.number = number;
        self.at = number.saturating_mul(self.spec.every.0).saturating_add(late);
        self.left = self.spec.packets;
    }
}

impl Gate for Batches {
    fn start(&mut self, arrived: u64, free: u64, _: u32) -> u64 {
        while self.at < arrived {
            // The first that can be late enough.
            let first = arrived.saturating_sub(self.spec.jitter.0) / self.spec.every.0;
            self.begin(first.max(self.number + 1));
        }
        free.max(self.at)
    }

    fn take(&mut self, _: u64, _: u32) {
        self.left -= 1;
        if self.left == 0 {
            self.begin(self.number + 1);
        }
    }

    fn ready(&self, free: u64) -> u64 {
        free.max(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Link;
    use crate::{LinkSpec, Packet, Service};
    use windlass_controllers::Time;

    const SPEC: BatchSpec = BatchSpec { every: Span::from_millis(10), jitter: Span::ZERO, packets: 3 };

    /// When packets that arrive at so many µs leave, µs.
    fn leave(spec: BatchSpec, link: LinkSpec, arrivals: &[u64]) -> Vec<u64> {
        let mut link = Link::new(&LinkSpec { service: Service::Batches(spec), ..link }, 1);
        let mut out = Vec::new();
        for at in arrivals.iter().copied().chain([u64::MAX / 2000]) {
            while link.next() < at * 1000 {
                let now = link.next();
                out.extend(link.take(Time(now)).map(|_| now / 1000));
            }
            if at < u64::MAX / 2000 {
                link.arrive(Time(at * 1000), &Packet::new(0, at, 1000), 0);
            }
        }
        out
    }

    #[test]
    fn what_came_together_leaves_at_once() {
        let arrivals = [1, 4000, 9999, 10_001, 10_002, 10_003, 10_004, 47_000];
        let pipe = LinkSpec::pipe("acks", Span::ZERO);
        let expected = [10_000, 10_000, 10_000, 20_000, 20_000, 20_000, 30_000, 50_000];
        assert_eq!(leave(SPEC, pipe, &arrivals), expected, "three at most in one");
        // A millisecond each; what comes while a batch is on its way waits for the next.
        let slow = LinkSpec::new("wifi", 8e6, Span::ZERO);
        assert_eq!(leave(SPEC, slow, &[1, 2, 3, 12_000]), [11_000, 12_000, 13_000, 21_000]);
    }

    #[test]
    fn jitter_is_within_its_bounds_and_keeps_order() {
        let spec = BatchSpec { jitter: Span::from_millis(4), packets: u32::MAX, ..SPEC };
        let arrivals: Vec<u64> = (0..20_000).map(|i| 1 + i * 500).collect();
        let out = leave(spec, LinkSpec::pipe("acks", Span::ZERO), &arrivals);
        assert!(out.is_sorted() && out.len() == arrivals.len());
        assert!(out.iter().all(|at| at % 10_000 <= 4000));
        let mut batches = out.clone();
        batches.dedup();
        let mean = batches.iter().map(|at| (at % 10_000) as f64).sum::<f64>() / batches.len() as f64;
        assert!((mean - 2000.0).abs() < 150.0 && batches.len() >= 999, "{mean} {}", batches.len());
    }
}
