//! A flow's own smoothed RTT with the extremes it ever had.

use crate::Span;

/// Weight of a new sample (`spec: cho §0.2, §4.1`; `RFC 6298 §2`).
const WEIGHT: f64 = 0.125;

/// An exponentially weighted average of RTT samples, microseconds, with the smallest
/// and the largest value of that average (not of the samples). The first sample is the
/// first average (`spec: cho §0.2, §1.1, §6.2 step 1`).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SmoothRtt {
    /// Average, its minimum and maximum, microseconds; `None` before the first sample.
    known: Option<(f64, f64, f64)>,
}

impl SmoothRtt {
    /// Adds an RTT sample (`spec: cho §1.4`).
    #[inline]
    pub fn sample(&mut self, rtt: Span) {
        let rtt = rtt.micros();
        self.known = Some(match self.known {
            None => (rtt, rtt, rtt),
            Some((srtt, min, max)) => {
                let srtt = srtt + (rtt - srtt) * WEIGHT;
                (srtt, srtt.min(min), srtt.max(max))
            }
        });
    }

    /// The average, microseconds; `None` before the first sample.
    #[must_use]
    #[inline]
    pub fn value(&self) -> Option<f64> {
        self.known.map(|(srtt, _, _)| srtt)
    }

    /// Smallest average so far, microseconds; `None` before the first sample.
    #[must_use]
    #[inline]
    pub fn min(&self) -> Option<f64> {
        self.known.map(|(_, min, _)| min)
    }

    /// Largest average so far, microseconds; `None` before the first sample.
    #[must_use]
    #[inline]
    pub fn max(&self) -> Option<f64> {
        self.known.map(|(_, _, max)| max)
    }

    /// Forgets the maximum: later averages set it anew, from the minimum up.
    pub fn relearn_max(&mut self) {
        if let Some((_, min, max)) = &mut self.known {
            *max = *min;
        }
    }

    /// Names the three, in microseconds, where known.
    pub fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        if let Some((srtt, min, max)) = self.known {
            visit("srtt_us", srtt);
            visit("srtt_min_us", min);
            visit("srtt_max_us", max);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_sample_initialises_and_the_extremes_are_those_of_the_average() {
        let mut rtt = SmoothRtt::default();
        rtt.relearn_max();
        assert_eq!((rtt.value(), rtt.min(), rtt.max()), (None, None, None));
        rtt.sample(Span::from_micros(50_000));
        rtt.sample(Span::from_micros(90_000));
        assert_eq!((rtt.value(), rtt.min(), rtt.max()), (Some(55_000.0), Some(50_000.0), Some(55_000.0)));
        rtt.sample(Span(0));
        assert_eq!((rtt.value(), rtt.min()), (Some(48_125.0), Some(48_125.0)));
        rtt.relearn_max();
        assert_eq!(rtt.max(), Some(48_125.0));
    }
}
