//! The least and the largest value of late: minima of the latest stretches, minima and maxima over a sliding window.

use crate::{Span, Time};

/// Minima of the latest `N` stretches of a sequence of delays; the user says when a stretch ends.
///
/// Delays are nanoseconds, signed because relative one-way delays are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Minima<const N: usize> {
    /// The least of the latest stretch, of the latest two, and so on; `i64::MAX` where nothing came.
    least: [i64; N],
}

impl<const N: usize> Default for Minima<N> {
    fn default() -> Self {
        const { assert!(N > 0, "a minimum needs a stretch") };
        Minima { least: [i64::MAX; N] }
    }
}

impl<const N: usize> Minima<N> {
    /// `stretches` have ended, of which all but the first were empty.
    #[inline]
    pub fn roll(&mut self, stretches: u64) {
        let stretches = stretches.min(N as u64) as usize;
        self.least.copy_within(..N - stretches, stretches);
        self.least[..stretches].fill(i64::MAX);
    }

    /// Takes `value` into the current stretch.
    #[inline]
    pub fn take(&mut self, value: i64) {
        for least in &mut self.least {
            // Of more stretches it is no larger.
            if value >= *least {
                break;
            }
            *least = value;
        }
    }

    /// The least of the latest `stretches`, the current one included; none of nothing.
    #[must_use]
    #[inline]
    pub fn least(&self, stretches: usize) -> Option<i64> {
        let least = self.least[stretches.min(N).checked_sub(1)?];
        (least < i64::MAX).then_some(least)
    }

    /// Adds `by` to everything remembered.
    pub fn shift(&mut self, by: i64) {
        for least in self.least.iter_mut().filter(|least| **least != i64::MAX) {
            *least = least.saturating_add(by);
        }
    }
}

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

    #[test]
    fn the_least_of_as_many_stretches_as_asked_for() {
        let mut minima = Minima::<3>::default();
        assert_eq!(minima.least(3), None);
        for (value, ends) in [(5, false), (7, false), (6, true), (9, true)] {
            minima.roll(u64::from(ends));
            minima.take(value);
        }
        assert_eq!([0, 1, 2, 3, 9].map(|latest| minima.least(latest)), [None, Some(9), Some(6), Some(5), Some(5)]);
        minima.roll(1);
        assert_eq!([1, 3].map(|stretches| minima.least(stretches)), [None, Some(6)]);
        minima.roll(u64::MAX);
        assert_eq!(minima.least(3), None);
    }
}
