//! The least and the largest value of late: minima and maxima over a sliding window.

use crate::parts::minima::Minima;
use crate::{Span, Time};

/// The minimum over a sliding window, kept as the minima of `N` stretches of equal
/// length. A value leaves between `(N−1)/N` of the window and the whole window after
/// it came, so the result is the exact minimum over some period of such a length.
///
/// Delays are nanoseconds, signed because relative one-way delays are
/// (`spec: chan §5.4`, 30 s; `spec: arumaithurai §9`, 10 min for the base RTT).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct WindowedMin<const N: usize> {
    stretches: Minima<N>,
    /// When the current stretch started; there is one once a value came.
    since: Time,
}

impl<const N: usize> WindowedMin<N> {
    /// Takes `value` in at `now` and returns the minimum. Nothing is ever forgotten
    /// when `window` is `None`.
    #[inline]
    pub fn update(&mut self, now: Time, window: Option<Span>, value: i64) -> i64 {
        if self.stretches.least(1).is_none() {
            self.since = now;
        }
        if let Some(window) = window {
            let stretch = (window.0 / N as u64).max(1);
            let elapsed = now.since(self.since).0;
            if elapsed >= stretch {
                self.roll(elapsed / stretch, stretch);
            }
        }
        self.stretches.take(value);
        self.get().unwrap_or(value)
    }

    #[cold]
    fn roll(&mut self, passed: u64, stretch: u64) {
        self.stretches.roll(passed);
        self.since += Span(passed.saturating_mul(stretch));
    }

    /// The minimum as of the latest update; `None` before the first.
    #[must_use]
    #[inline]
    pub fn get(&self) -> Option<i64> {
        self.stretches.least(N)
    }

    /// Adds `by` to everything remembered: the clock the values were read off was found
    /// to run fast or slow (`spec: chan §5.4 O6`).
    pub fn shift(&mut self, by: i64) {
        self.stretches.shift(by);
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}

/// The maximum over a sliding window, kept as the maxima of `N` stretches of equal length
/// (see [`WindowedMin`]). Time may be any count that grows: rounds, cycles.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct WindowedMax<const N: usize>(WindowedMin<N>);

impl<const N: usize> WindowedMax<N> {
    /// Takes `value` in at `count` and returns the maximum over the last `window` counts.
    #[inline]
    pub fn update(&mut self, count: u64, window: u64, value: i64) -> i64 {
        self.0.update(Time(count), Some(Span(window)), value.saturating_neg()).saturating_neg()
    }
}

#[cfg(test)]
mod tests;
