//! The minima of the latest stretches of a sequence of delays.

/// Minima of the latest `N` stretches; the user says when a stretch ends.
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

#[cfg(test)]
mod tests {
    use super::*;

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
