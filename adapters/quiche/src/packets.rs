//! What is remembered of packets in flight: quiche names them by number only.

use std::collections::VecDeque;

use windlass_controllers::{Span, Time};

/// Packets remembered at most; the oldest are forgotten first.
const HISTORY: usize = 1 << 18;

/// A packet that left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Packet {
    /// Its number.
    pub(crate) number: u64,
    /// When it left.
    pub(crate) sent_at: Time,
    /// Its size.
    pub(crate) bytes: u32,
    /// The application had left the window unused when it left.
    pub(crate) app_limited: bool,
    fate: Fate,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    InFlight,
    Acknowledged,
    /// Lost or forgotten.
    Gone,
}

/// Packets in the order of their numbers, the oldest of unknown fate first.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Packets(VecDeque<Packet>);

impl Packets {
    /// A packet left; numbers grow.
    #[inline]
    pub(crate) fn sent(&mut self, number: u64, sent_at: Time, bytes: u32, app_limited: bool) {
        if self.0.back().is_some_and(|last| last.number >= number) {
            return;
        }
        if self.0.len() >= HISTORY {
            self.0.pop_front();
        }
        self.0.push_back(Packet { number, sent_at, bytes, app_limited, fate: Fate::InFlight });
    }

    /// Where packet `number` is. Numbers mostly follow each other, but for those of packets
    /// that were not in flight.
    #[inline]
    fn find(&self, number: u64) -> Option<usize> {
        let ahead = usize::try_from(number.checked_sub(self.0.front()?.number)?).ok()?;
        if self.0.get(ahead).is_some_and(|packet| packet.number == number) {
            return Some(ahead);
        }
        self.0.binary_search_by_key(&number, |packet| packet.number).ok()
    }

    #[inline]
    fn settle(&mut self, number: u64, fate: Fate) -> Option<Packet> {
        let place = self.find(number)?;
        let packet = &mut self.0[place];
        if packet.fate != Fate::InFlight {
            return None;
        }
        packet.fate = fate;
        Some(*packet)
    }

    /// Packet `number` was acknowledged; what is known of it if it was in flight.
    #[inline]
    pub(crate) fn acknowledged(&mut self, number: u64) -> Option<Packet> {
        self.settle(number, Fate::Acknowledged)
    }

    /// Packet `number` was lost, or nothing will be heard of it.
    pub(crate) fn gone(&mut self, number: u64) -> Option<Packet> {
        self.settle(number, Fate::Gone)
    }

    /// Whether packets from `first` to `last`, both lost, span `period` without an
    /// acknowledgement between, and left after the first RTT sample was taken at `sampled`
    /// (`RFC 9002 §7.6.2`). Ask before [`clear`](Self::clear).
    pub(crate) fn persistent(&self, first: u64, last: u64, period: Span, sampled: Time) -> bool {
        let mut start: Option<Time> = None;
        let from = self.0.partition_point(|packet| packet.number < first);
        for packet in self.0.range(from..).take_while(|packet| packet.number <= last) {
            match packet.fate {
                Fate::Acknowledged => start = None,
                Fate::Gone if packet.sent_at > sampled => {
                    let start = *start.get_or_insert(packet.sent_at);
                    if packet.sent_at.since(start) > period {
                        return true;
                    }
                }
                _ => {}
            }
        }
        false
    }

    /// Forgets the oldest packets whose fate is known, and all below `least_unacked`.
    #[inline]
    pub(crate) fn clear(&mut self, least_unacked: u64) {
        while self.0.front().is_some_and(|packet| packet.fate != Fate::InFlight || packet.number < least_unacked) {
            self.0.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packets(numbers: impl IntoIterator<Item = u64>) -> Packets {
        let mut packets = Packets::default();
        numbers.into_iter().for_each(|number| packets.sent(number, Time(10 * number), 1000, false));
        packets
    }

    #[test]
    fn packets_are_found_across_gaps_and_told_once() {
        let mut packets = packets([3, 4, 7, 9]);
        assert_eq!(packets.acknowledged(5), None, "was not in flight");
        assert_eq!(packets.acknowledged(7).map(|packet| packet.sent_at), Some(Time(70)));
        assert_eq!(packets.gone(7), None, "acknowledged before");
        assert!(packets.acknowledged(3).is_some());
        assert!(packets.gone(4).is_some());
        packets.clear(0);
        assert_eq!(packets.0.len(), 1);
        assert_eq!(packets.acknowledged(2), None);
        packets.clear(10);
        assert_eq!(packets.0.len(), 0);
    }

    #[test]
    fn persistent_congestion_needs_an_unbroken_span() {
        let lose = |packets: &mut Packets, numbers: &[u64]| {
            numbers.iter().for_each(|number| {
                packets.gone(*number);
            })
        };
        let mut whole = packets(1..=10);
        lose(&mut whole, &[2, 9]);
        assert!(whole.persistent(2, 9, Span(69), Time(0)));
        assert!(!whole.persistent(2, 9, Span(70), Time(0)), "no longer than the period");
        assert!(!whole.persistent(2, 9, Span(69), Time(20)), "the first left before there was a sample");
        whole.acknowledged(5);
        assert!(!whole.persistent(2, 9, Span(69), Time(0)), "something arrived in between");
        let mut later = packets(1..=20);
        lose(&mut later, &[2, 6, 19]);
        later.acknowledged(3);
        assert!(later.persistent(2, 19, Span(120), Time(0)), "from 6 on");
    }

    #[test]
    fn history_is_bounded() {
        let packets = packets(0..HISTORY as u64 + 5);
        assert_eq!((packets.0.len(), packets.0[0].number), (HISTORY, 5));
    }
}
