//! Which packets left while the application had nothing more to send.

use std::collections::VecDeque;

/// Changes remembered at most; of packets before them only the first is known.
const MOST: usize = 256;

/// Whether packets left limited by the application, by their numbers.
#[derive(Clone, PartialEq, Debug, Default)]
#[repr(C)]
pub(crate) struct Limited {
    latest: bool,
    /// The first packet of the latest change, without a look into the list; 0 before there was one.
    since: u64,
    /// The first packet each time it changed, the oldest change first; every second one begins what
    /// the latest does.
    changes: VecDeque<u64>,
}

impl Limited {
    /// Packet `number`, larger than all before, left so.
    #[inline]
    pub(crate) fn sent(&mut self, number: u64, limited: bool) {
        if limited != self.latest {
            self.change(number, limited);
        }
    }

    #[cold]
    fn change(&mut self, number: u64, limited: bool) {
        self.latest = limited;
        self.since = number;
        if self.changes.len() >= MOST {
            self.changes.pop_front();
        }
        self.changes.push_back(number);
    }

    /// Whether the latest packet told left so.
    #[inline]
    pub(crate) fn is_now(&self) -> bool {
        self.latest
    }

    /// How packet `number` left.
    #[inline]
    pub(crate) fn of(&self, number: u64) -> bool {
        if number >= self.since { self.latest } else { self.was(number) }
    }

    #[cold]
    fn was(&self, number: u64) -> bool {
        let since = self.changes.iter().rev().take_while(|first| **first > number).count();
        self.latest ^ (since % 2 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_limited_between_changes() {
        let mut limited = Limited::default();
        assert!(!limited.of(7));
        for (number, so) in [(1, false), (2, false), (5, true), (6, true), (9, false), (11, true)] {
            limited.sent(number, so);
        }
        let so = |number| limited.of(number);
        assert_eq!([1, 4, 5, 8, 9, 10, 11, 100].map(so), [false, false, true, true, false, false, true, true]);
        assert_eq!(limited.changes, [5, 9, 11]);
    }

    #[test]
    fn changes_are_bounded() {
        let mut limited = Limited::default();
        (0..3 * MOST as u64).for_each(|number| limited.sent(number, number % 2 == 0));
        assert_eq!(limited.changes.len(), MOST);
        let newest = 3 * MOST as u64 - 1;
        assert_eq!([newest, newest - 1, newest - 2].map(|number| limited.of(number)), [false, true, false]);
    }
}
