//! New marks out of cumulative counts.

use quiche::external::{Ecn, Space};

/// What the peer reported last, by packet number space.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Marks([u64; 3]);

impl Marks {
    /// CE marks a frame of `space` tells beyond those told before; frames may come out of
    /// order (`RFC 9000 §13.4.2.1`).
    #[inline]
    pub(crate) fn added(&mut self, space: Space, counts: Option<&Ecn>) -> u32 {
        let Some(counts) = counts else { return 0 };
        let before = &mut self.0[space as usize];
        let new = counts.ce.saturating_sub(*before);
        *before = counts.ce.max(*before);
        u32::try_from(new).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ce(ce: u64) -> Option<Ecn> {
        Some(Ecn { ect0: 0, ect1: 0, ce })
    }

    #[test]
    fn spaces_count_apart_and_counts_never_go_back() {
        let mut marks = Marks::default();
        assert_eq!(marks.added(Space::Application, ce(3).as_ref()), 3);
        assert_eq!(marks.added(Space::Handshake, ce(1).as_ref()), 1);
        assert_eq!(marks.added(Space::Application, ce(2).as_ref()), 0, "an older frame");
        assert_eq!(marks.added(Space::Application, None), 0);
        assert_eq!(marks.added(Space::Application, ce(5).as_ref()), 2);
        assert_eq!(marks.added(Space::Initial, ce(u64::MAX).as_ref()), u32::MAX);
    }
}
