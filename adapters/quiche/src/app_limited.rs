//! Which packets left while the application had nothing more to send.

use std::collections::VecDeque;

/// Changes remembered at most; what is said of packets before them may be wrong.
const MAX_CHANGES: usize = 256;

/// Whether packets left while their path was limited by the application, by their numbers.
#[derive(Clone, PartialEq, Debug, Default)]
#[repr(C)]
pub(crate) struct AppLimited {
    latest: bool,
    /// The first packet after the latest change, so that most questions need not read the list; 0
    /// before there was one.
    since: u64,
    /// The first packet after each change, the oldest change first.
    changes: VecDeque<u64>,
}

impl AppLimited {
    /// Packet `number`, larger than all before, left, `limited` or not.
    #[inline]
    pub(crate) fn on_packet_sent(&mut self, number: u64, limited: bool) {
        if limited != self.latest {
            self.change(number, limited);
        }
    }

    #[cold]
    fn change(&mut self, number: u64, limited: bool) {
        self.latest = limited;
        self.since = number;
        if self.changes.len() >= MAX_CHANGES {
            self.changes.pop_front();
        }
        self.changes.push_back(number);
    }

    /// Whether the latest packet left limited.
    #[inline]
    pub(crate) fn latest(&self) -> bool {
        self.latest
    }

    /// Whether packet `number` left limited.
    #[inline]
    pub(crate) fn at_send_of(&self, number: u64) -> bool {
        if number >= self.since { self.latest } else { self.before_latest_change(number) }
    }

    #[cold]
    fn before_latest_change(&self, number: u64) -> bool {
        let since = self.changes.iter().rev().take_while(|first| **first > number).count();
        self.latest ^ (since % 2 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_limited_between_changes() {
        let mut limited = AppLimited::default();
        assert!(!limited.at_send_of(7));
        for (number, is_limited) in [(1, false), (2, false), (5, true), (6, true), (9, false), (11, true)] {
            limited.on_packet_sent(number, is_limited);
        }
        let at_send = |number| limited.at_send_of(number);
        assert_eq!([1, 4, 5, 8, 9, 10, 11, 100].map(at_send), [false, false, true, true, false, false, true, true]);
        assert_eq!(limited.changes, [5, 9, 11]);
    }

    #[test]
    fn changes_are_bounded() {
        let mut limited = AppLimited::default();
        (0..3 * MAX_CHANGES as u64).for_each(|number| limited.on_packet_sent(number, number % 2 == 0));
        assert_eq!(limited.changes.len(), MAX_CHANGES);
        let newest = 3 * MAX_CHANGES as u64 - 1;
        assert_eq!([newest, newest - 1, newest - 2].map(|number| limited.at_send_of(number)), [false, true, false]);
    }
}
