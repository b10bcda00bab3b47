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
    /// The first packet of the burst under way: the first that left after the application had nothing to send.
    burst: u64,
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

    /// Packet `number` is the first that leaves after the application had nothing to send.
    pub(crate) fn on_burst(&mut self, number: u64) {
        self.burst = number;
    }

    /// The burst under way fills the window, so that its packets are not limited: a window that is full is not underutilized
    /// (`RFC 9002 §7.8`), however long it takes to fill.
    #[cold]
    pub(crate) fn on_window_full(&mut self) {
        if !self.latest {
            return;
        }
        if self.burst > self.since {
            self.change(self.burst, false);
        } else {
            self.changes.pop_back();
            self.latest = false;
            self.since = self.changes.back().copied().unwrap_or(0);
        }
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
    fn a_burst_that_fills_the_window_is_not_limited() {
        let mut limited = AppLimited::default();
        let at_send = |limited: &AppLimited| [1, 2, 3, 4, 5, 6, 7].map(|number| u8::from(limited.at_send_of(number)));
        limited.on_packet_sent(1, false);
        // Two packets that leave room, with nothing to send between them.
        for number in [2, 3] {
            limited.on_burst(number);
            limited.on_packet_sent(number, true);
        }
        limited.on_burst(4);
        [4, 5, 6].into_iter().for_each(|number| limited.on_packet_sent(number, true));
        assert_eq!(at_send(&limited), [0, 1, 1, 1, 1, 1, 1]);
        limited.on_window_full();
        limited.on_packet_sent(7, false);
        assert_eq!(at_send(&limited), [0, 1, 1, 0, 0, 0, 0]);
        // What is full stays so.
        limited.on_window_full();
        assert_eq!(at_send(&limited), [0, 1, 1, 0, 0, 0, 0]);
    }

    #[test]
    fn the_first_burst_fills_the_window() {
        let mut limited = AppLimited::default();
        limited.on_packet_sent(1, false);
        limited.on_burst(2);
        [2, 3, 4].into_iter().for_each(|number| limited.on_packet_sent(number, true));
        limited.on_window_full();
        assert_eq!([1, 2, 4, 9].map(|number| limited.at_send_of(number)), [false; 4]);
        assert!(limited.changes.is_empty());
        limited.on_burst(5);
        limited.on_packet_sent(5, true);
        assert_eq!([1, 4, 5].map(|number| limited.at_send_of(number)), [false, false, true]);
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
