//! The largest value of late: the mirror image of [`WindowedMin`].

use crate::parts::windowed_min::WindowedMin;
use crate::{Span, Time};

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

    /// The maximum as of the latest update; `None` before the first.
    #[must_use]
    #[inline]
    pub fn get(&self) -> Option<i64> {
        self.0.get().map(i64::saturating_neg)
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        self.0.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_largest_of_the_current_and_the_previous_count() {
        let mut max = WindowedMax::<2>::default();
        assert_eq!(max.get(), None);
        assert_eq!(max.update(7, 2, 5), 5);
        assert_eq!(max.update(7, 2, 3), 5);
        assert_eq!(max.update(8, 2, 4), 5, "the previous count is remembered");
        assert_eq!(max.update(9, 2, 1), 4, "the one before is not");
        assert_eq!(max.update(u64::MAX, 2, i64::MAX), i64::MAX);
        max.reset();
        assert_eq!(max.get(), None);
    }
}
