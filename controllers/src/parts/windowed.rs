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
mod tests {
    //! A value is seen for at least `(N−1)/N` of the window and never after all of it.

    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::testkit::cases;

    const WINDOW: Option<Span> = Some(Span(400));

    fn fed(values: &[(u64, i64)]) -> WindowedMin<4> {
        let mut min = WindowedMin::default();
        for &(at, value) in values {
            min.update(Time(at), WINDOW, value);
        }
        min
    }

    #[test]
    fn nothing_is_known_before_the_first_value() {
        let mut min = WindowedMin::<4>::default();
        assert_eq!(min.get(), None);
        assert_eq!(min.update(Time(7), WINDOW, -3), -3);
        assert_eq!(min.get(), Some(-3));
        min.reset();
        assert_eq!(min, WindowedMin::default());
    }

    #[test]
    fn a_minimum_expires_with_its_stretch() {
        assert_eq!(fed(&[(0, 5), (399, 9)]).get(), Some(5));
        assert_eq!(fed(&[(0, 5), (400, 9)]).get(), Some(9));
        // It came late in its stretch: three quarters of the window is all it gets.
        assert_eq!(fed(&[(0, 9), (99, 5), (399, 9)]).get(), Some(5));
        assert_eq!(fed(&[(0, 9), (99, 5), (400, 9)]).get(), Some(9));
    }

    #[test]
    fn a_long_silence_forgets_everything_but_what_ends_it() {
        assert_eq!(fed(&[(0, 1), (100, 2), (1_000_000, 3)]).get(), Some(3));
        assert_eq!(fed(&[(0, 1), (u64::MAX, 3)]).get(), Some(3));
    }

    #[test]
    fn without_a_window_the_minimum_lasts() {
        let mut min = WindowedMin::<4>::default();
        min.update(Time(0), None, 5);
        assert_eq!(min.update(Time(u64::MAX), None, 9), 5);
    }

    #[test]
    fn a_shift_moves_what_is_remembered_and_nothing_else() {
        let mut min = fed(&[(0, 5), (250, 9)]);
        min.shift(-7);
        assert_eq!(min.get(), Some(-2));
        assert_eq!(min.update(Time(450), WINDOW, 4), 2, "the 5 has expired, the 9 was shifted");
        assert_eq!(min.update(Time(950), WINDOW, 1), 1, "empty stretches stay empty");
    }

    proptest! {
        #![proptest_config(cases(10_000))]

        /// Against the minimum over every value, found by looking at all of them.
        #[test]
        fn lies_between_the_minima_of_the_longer_and_the_shorter_window(
            steps in prop::collection::vec((0u64..200, -1000i64..1000), 1..60),
        ) {
            let mut now = 0;
            let mut seen: Vec<(u64, i64)> = Vec::new();
            let mut min = WindowedMin::<4>::default();
            for (gap, value) in steps {
                now += gap;
                seen.push((now, value));
                let got = min.update(Time(now), WINDOW, value);
                let over = |span: u64| seen.iter().filter(|(at, _)| now - at < span).map(|(_, v)| *v).min().unwrap();
                prop_assert!(over(400) <= got && got <= over(300), "{} <= {} <= {}", over(400), got, over(300));
            }
        }
    }

    #[test]
    fn keeps_the_largest_of_the_current_and_the_previous_count() {
        let mut max = WindowedMax::<2>::default();
        assert_eq!(max.update(7, 2, 5), 5);
        assert_eq!(max.update(7, 2, 3), 5);
        assert_eq!(max.update(8, 2, 4), 5, "the previous count is remembered");
        assert_eq!(max.update(9, 2, 1), 4, "the one before is not");
        assert_eq!(max.update(u64::MAX, 2, i64::MAX), i64::MAX);
    }
}
