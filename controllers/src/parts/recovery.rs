//! At most one congestion response per round trip.

use crate::Time;

/// The latest recovery period (`RFC 9002 §7.3.2`; `spec: cho §1.4`; `spec: arumaithurai
/// §1.5`). Kept by send time, which every stack knows, not by packet number: a packet
/// sent at the very instant of the response counts as sent before it.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct RecoveryPeriod {
    /// When the latest period started, if there was one.
    start: Time,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Debug, Default)]
enum Stage {
    /// No period yet.
    #[default]
    Never,
    /// Nothing sent since the start has been acknowledged yet.
    Open,
    Over,
}

impl RecoveryPeriod {
    /// When the latest recovery period started.
    #[must_use]
    #[inline]
    pub fn start(&self) -> Option<Time> {
        (self.stage != Stage::Never).then_some(self.start)
    }

    /// Whether no packet sent after the response has been acknowledged yet.
    #[must_use]
    #[inline]
    pub fn in_recovery(&self) -> bool {
        self.stage == Stage::Open
    }

    /// Whether a packet sent at `sent_at` left after the latest response, so that its
    /// loss or mark deserves a response of its own.
    #[must_use]
    #[inline]
    pub fn accepts(&self, sent_at: Time) -> bool {
        self.stage == Stage::Never || sent_at > self.start
    }

    /// A response is taken at `now`.
    pub fn begin(&mut self, now: Time) {
        *self = RecoveryPeriod { start: now, stage: Stage::Open };
    }

    /// A packet sent at `newest_sent_at` was acknowledged. Returns whether that ends
    /// the recovery period.
    #[inline]
    pub fn acked(&mut self, newest_sent_at: Time) -> bool {
        let ends = self.in_recovery() && self.accepts(newest_sent_at);
        if ends {
            self.stage = Stage::Over;
        }
        ends
    }

    /// Leaves recovery without an acknowledgement: the response was undone.
    pub fn close(&mut self) {
        if self.in_recovery() {
            self.stage = Stage::Over;
        }
    }

    /// Forgets the period: persistent congestion starts over (`RFC 9002 §7.6.2`).
    pub fn reset(&mut self) {
        *self = RecoveryPeriod::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_response_per_flight_and_exit_on_a_later_packet() {
        let mut period = RecoveryPeriod::default();
        assert!(period.accepts(Time(5)));
        period.begin(Time(10));
        assert!(!period.accepts(Time(10)));
        assert!(!period.acked(Time(10)));
        assert!(period.in_recovery());
        assert!(period.acked(Time(11)));
        assert!(!period.acked(Time(12)), "ends once");
        assert!(!period.accepts(Time(9)), "still remembers the period");
    }
}
