//! The smoothed delay within the range that delays have had.

/// Weight of a new sample (`spec: arumaithurai §5.4`).
const WEIGHT: f64 = 0.125;

/// Smoothed delay, and what is known of delays; nanoseconds, all zero before a sample.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Range {
    smoothed: f64,
    min: f64,
    max: f64,
    /// The largest delay ever, held in reserve: a single one widens nothing.
    reserve: f64,
}

impl Range {
    /// Takes a delay in (`spec: arumaithurai §5.4` 2a, 2b).
    pub fn sample(&mut self, delay: f64) {
        if self.smoothed <= 0.0 {
            *self = Range { smoothed: delay, min: delay, max: delay, reserve: delay };
            return;
        }
        self.min = self.min.min(delay);
        if delay > self.reserve {
            self.max = self.reserve;
            self.reserve = delay;
        } else if delay > self.max {
            self.max = delay;
        }
        self.smoothed += (delay - self.smoothed) * WEIGHT;
    }

    /// Whether the smoothed delay is within `share` of the range above its least
    /// (`spec: arumaithurai §5.4` 2d).
    #[must_use]
    pub fn is_low(&self, share: f64) -> bool {
        self.smoothed < self.min + share * (self.max - self.min)
    }

    /// Whether there is a range: not all delays were the same.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.max > self.min
    }

    /// Starts a range anew around the smoothed delay (`spec: arumaithurai §5.4` 2e).
    pub fn relearn(&mut self) {
        let smoothed = self.smoothed;
        *self = Range { smoothed, min: smoothed, max: 2.0 * smoothed, reserve: 2.0 * smoothed };
    }

    /// Names the facts worth logging.
    pub fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("sowd_ms", self.smoothed / 1e6);
        visit("owd_min_ms", self.min / 1e6);
        visit("owd_max_ms", self.max / 1e6);
    }
}
