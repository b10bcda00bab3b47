//! The rate at which data is acknowledged, smoothed: what a path has lately delivered.

use crate::{Span, Time};

/// Shortest stretch a rate is taken over (`spec: arumaithurai §6.1`).
const LEAST: Span = Span::from_millis(50);

/// Weight of a new value in each of the two filters (`spec: arumaithurai §6.1`).
const WEIGHT: f64 = 0.125;

/// Acknowledged bytes per second, averaged over stretches of a round trip or 50 ms,
/// whichever is longer, and filtered twice (`spec: arumaithurai §6.1`).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct AckRate {
    /// Acknowledged in the current stretch.
    bytes: u64,
    /// When it began; none before the first ACK.
    since: Option<Time>,
    /// The first filter and the second; none before the first stretch ends.
    filtered: Option<(f64, f64)>,
}

impl AckRate {
    /// A flow's rate counts from `now` on.
    #[must_use]
    pub fn start(now: Time) -> AckRate {
        AckRate { since: Some(now), ..AckRate::default() }
    }

    /// Begins a new stretch at `now`: what was not sent is no measurement.
    pub fn restart(&mut self, now: Time) {
        self.bytes = 0;
        self.since = Some(now);
    }

    /// `bytes` were acknowledged; the latest round trip took `rtt`.
    #[inline]
    pub fn acked(&mut self, now: Time, bytes: u64, rtt: Span) {
        let since = *self.since.get_or_insert(now);
        self.bytes = self.bytes.saturating_add(bytes);
        let passed = now.since(since);
        if passed > rtt.max(LEAST) {
            let sample = self.bytes as f64 / passed.secs();
            self.filtered = Some(self.filtered.map_or((sample, sample), |(first, second)| {
                let first = first + (sample - first) * WEIGHT;
                (first, second + (first - second) * WEIGHT)
            }));
            self.restart(now);
        }
    }

    /// Bytes per second; none before the first stretch has ended.
    #[must_use]
    pub fn get(&self) -> Option<f64> {
        self.filtered.map(|(_, second)| second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::assert_close;

    const MS: u64 = 1_000_000;

    #[test]
    fn the_first_stretch_is_the_first_value() {
        let mut rate = AckRate::start(Time(0));
        rate.acked(Time(100 * MS), 1000, Span(100 * MS));
        assert_eq!(rate.get(), None, "a stretch is longer than a round trip");
        rate.acked(Time(200 * MS), 1000, Span(100 * MS));
        assert_eq!(rate.get(), Some(10_000.0));
    }

    #[test]
    fn values_are_filtered_twice() {
        let mut rate = AckRate::start(Time(0));
        rate.acked(Time(100 * MS), 1000, Span(10 * MS));
        rate.acked(Time(151 * MS), 0, Span(10 * MS));
        // From 10 000 by an eighth towards 0, and by an eighth towards that.
        assert_close(rate.get().unwrap(), 10_000.0 - 1250.0 * 0.125, 1e-12);
    }

    #[test]
    fn a_stretch_is_at_least_50_ms() {
        let mut rate = AckRate::start(Time(0));
        rate.acked(Time(50 * MS), 1000, Span(MS));
        assert_eq!(rate.get(), None);
        rate.acked(Time(51 * MS), 20, Span(MS));
        assert_close(rate.get().unwrap(), 20_000.0, 1e-12);
    }

    #[test]
    fn a_pause_does_not_count() {
        let mut rate = AckRate::start(Time(0));
        rate.acked(Time(10 * MS), 1000, Span(MS));
        rate.restart(Time(5000 * MS));
        rate.acked(Time(5100 * MS), 1000, Span(MS));
        assert_close(rate.get().unwrap(), 10_000.0, 1e-12);
    }
}
