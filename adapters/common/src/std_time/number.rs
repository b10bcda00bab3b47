//! Packet numbers that may be unknown.

/// A packet number in one word, smaller than any when unknown: an `Option` takes two, and
/// several instructions to compare.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Number(u64);

impl Number {
    #[inline]
    pub(super) fn get(self) -> Option<u64> {
        self.0.checked_sub(1)
    }

    #[inline]
    pub(super) fn is_known(self) -> bool {
        self.0 > 0
    }
}

impl From<Option<u64>> for Number {
    /// There are less than 2⁶² numbers (`RFC 9000 §12.3`); a larger one counts as unknown.
    #[inline]
    fn from(pn: Option<u64>) -> Number {
        Number(pn.map_or(0, |pn| pn.wrapping_add(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unknown_is_less_than_any_number() {
        let [none, first, second] = [None, Some(0), Some(1)].map(Number::from);
        assert!(none < first && first < second);
        assert_eq!([none, first, second].map(Number::get), [None, Some(0), Some(1)]);
        assert!(first.is_known() && !none.is_known());
        assert_eq!(Number::from(Some(u64::MAX)).get(), None);
    }
}
