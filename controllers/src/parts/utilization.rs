//! Whether a path looks little used: the queueing delay of a period, on average, is a
//! small part of the largest seen.

use crate::{Span, Time};

/// RTTs of the current period, and whether utilisation was low in the one before (`spec: sharma §6`,
/// low-utilisation feature; A-9).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Utilization {
    period_start: Time,
    sum: f64,
    samples: u32,
    max: Span,
    low: bool,
}

impl Utilization {
    /// Nothing seen yet at `now`; not low.
    #[must_use]
    pub fn start(now: Time) -> Utilization {
        Utilization { period_start: now, ..Utilization::default() }
    }

    /// Whether utilisation was low in the latest whole period.
    #[must_use]
    #[inline]
    pub fn is_low(&self) -> bool {
        self.low
    }

    /// An RTT sample at `now`; `min` is the smallest so far, this one included. At the
    /// end of a `period`, utilisation is low if the average is less than `threshold` of
    /// the way from the smallest RTT to the largest.
    pub fn sample(&mut self, now: Time, rtt: Span, min: Span, period: Span, threshold: f64) {
        self.max = self.max.max(rtt);
        self.sum += rtt.secs();
        self.samples = self.samples.saturating_add(1);
        if now.since(self.period_start) >= period {
            let average = self.sum / f64::from(self.samples);
            self.low = average - min.secs() < threshold * (self.max - min).secs();
            self.period_start = now;
            self.sum = 0.0;
            self.samples = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Span = Span(100);

    fn fed(threshold: f64, samples: &[(u64, u64)]) -> bool {
        let mut utilization = Utilization::start(Time::ZERO);
        for &(at, rtt) in samples {
            utilization.sample(Time(at), Span(rtt), Span(1000), PERIOD, threshold);
        }
        utilization.is_low()
    }

    #[test]
    fn the_average_of_a_period_decides_at_its_end() {
        let samples = [(10, 1000), (50, 2000), (100, 1050)];
        assert!(!fed(0.5, &samples[..2]), "not before the end");
        assert!(fed(0.5, &samples), "350 of 1000 on average");
        assert!(!fed(0.3, &samples));
        // The next period is judged by its own samples, against the largest of all.
        assert!(fed(0.1, &[(10, 2000), (100, 2000), (150, 1099), (200, 1099)]));
        assert!(!fed(0.1, &[(10, 2000), (100, 2000), (150, 1101), (200, 1101)]));
    }

    #[test]
    fn a_threshold_of_zero_is_never_met() {
        assert!(!fed(0.0, &[(10, 1000), (100, 1000), (200, 1000)]));
    }
}
