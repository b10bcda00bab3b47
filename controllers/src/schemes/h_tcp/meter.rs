//! How much of a flow is delivered, per epoch between two congestion events.

use crate::{Span, Time};

/// Measures throughput over stretches of about a window (`spec: sharma §8 rule 2`).
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Meter {
    packets: f64,
    since: Time,
    /// `B_cur`: the smoothed throughput of the epoch, packets/s.
    current: f64,
    /// `B_max`: the largest value of it in the epoch, packets/s.
    largest: f64,
}

impl Meter {
    pub(super) fn start(now: Time) -> Meter {
        Meter { packets: 0.0, since: now, current: 0.0, largest: 0.0 }
    }

    /// A meter whose epoch has seen a throughput of `largest`, packets/s.
    #[cfg(test)]
    pub(super) fn at(largest: f64) -> Meter {
        Meter { current: largest, largest, ..Meter::start(Time::ZERO) }
    }

    /// The largest throughput of the epoch, packets/s.
    #[must_use]
    pub(super) fn largest(&self) -> f64 {
        self.largest
    }

    /// Begins the stretch anew.
    #[inline]
    pub(super) fn restart(&mut self, now: Time) {
        self.packets = 0.0;
        self.since = now;
    }

    /// `packets` were acknowledged at `now`; a stretch ends with `enough` of them and a
    /// minimum RTT (above zero). The epoch is `age` old; within its first three minimum
    /// RTTs a measurement starts it over.
    #[inline]
    pub(super) fn count(&mut self, now: Time, packets: f64, enough: f64, rtt_min: Span, age: Span) {
        self.packets += packets;
        let span = now.since(self.since);
        if self.packets < enough || span < rtt_min {
            return;
        }
        let b = self.packets / span.secs();
        if age <= Span(rtt_min.0.saturating_mul(3)) {
            (self.current, self.largest) = (b, b);
        } else {
            self.current = 0.25 * (3.0 * self.current + b);
            self.largest = self.largest.max(self.current);
        }
        self.restart(now);
    }

    /// A packet is worth `1/ratio` of what it was.
    pub(super) fn resize(&mut self, ratio: f64) {
        self.packets *= ratio;
        self.current *= ratio;
        self.largest *= ratio;
    }
}
