//! What was in flight and delivered when each packet left, for controllers that ask.

use std::collections::VecDeque;

use windlass_controllers::event::{Delivery, PacketsAcked};
use windlass_controllers::{Signals, Time};

/// What is known of a path when packets were sent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SendSnapshot {
    /// Bytes in flight just after the last packet of the instant.
    pub in_flight: u64,
    /// Bytes delivered by then, and what was lost since; see [`Delivery`].
    pub delivery: Delivery,
}

impl SendSnapshot {
    /// Fills it into `acked`, whose newest packet was sent then.
    #[inline]
    pub fn apply_to(self, acked: &mut PacketsAcked) {
        acked.newest_in_flight = Some(self.in_flight);
        acked.delivery = Some(self.delivery);
    }
}

/// The counts at an instant packets left (`draft-ietf-ccwg-bbr §4.1.2.1.2`): `P.send_time`,
/// `P.tx_in_flight`, `P.delivered`, `P.delivered_time`, `P.first_send_time`, and in one number
/// `P.lost` and `P.is_app_limited`. One for each packet in flight, so that its size counts.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Departure {
    at: Time,
    in_flight: u64,
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    lost_and_limited: u64,
}

const _: () = assert!(size_of::<Departure>() <= 48);

impl Departure {
    /// What the ACK of the last packet of the instant tells, where `lost` bytes are lost by now.
    #[inline]
    fn snapshot(&self, lost: u64) -> SendSnapshot {
        // A difference of two counts of 63 bits.
        let lost = (lost << 1).wrapping_sub(self.lost_and_limited & !1) >> 1;
        let delivery = Delivery::new(self.delivered, self.delivered_at, self.first_sent_at)
            .with_lost(lost)
            .with_app_limited(self.lost_and_limited & 1 == 1);
        SendSnapshot { in_flight: self.in_flight, delivery }
    }
}

/// Departures, the oldest first, in blocks: none moves when others come, and those whose packets are
/// all acknowledged are freed. Most flights have one.
#[derive(Clone, PartialEq, Debug, Default)]
struct Departures {
    /// The oldest block, which grows as it is needed; empty only if there is no departure.
    first: VecDeque<Departure>,
    later: VecDeque<VecDeque<Departure>>,
}

impl Departures {
    /// Departures of a block: enough for its head not to count.
    const BLOCK: usize = 1024;

    #[inline]
    fn front(&self) -> Option<&Departure> {
        self.first.front()
    }

    #[inline]
    fn back_mut(&mut self) -> Option<&mut Departure> {
        self.later.back_mut().unwrap_or(&mut self.first).back_mut()
    }

    #[inline]
    fn push(&mut self, departure: Departure) {
        let last = self.later.back_mut().unwrap_or(&mut self.first);
        if last.len() < Self::BLOCK {
            return last.push_back(departure);
        }
        let mut block = VecDeque::with_capacity(Self::BLOCK);
        block.push_back(departure);
        self.later.push_back(block);
    }

    #[inline]
    fn pop(&mut self) {
        self.first.pop_front();
        if self.first.is_empty() {
            self.first = self.later.pop_front().unwrap_or(std::mem::take(&mut self.first));
        }
    }
}

/// What was delivered and lost when each packet in flight on one path left, with the counts delivery
/// rates are made of (`draft-ietf-ccwg-bbr §4.1.2`).
///
/// It takes some 48 bytes for each instant at which packets left that may still be acknowledged, and
/// O(1) time a packet.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DeliveryRateState {
    departures: Departures,
    /// `C.delivered`, bytes.
    delivered: u64,
    /// `C.delivered_time`.
    delivered_at: Time,
    /// `C.first_send_time`.
    first_sent_at: Time,
    /// `C.lost`, bytes.
    lost: u64,
    /// `C.app_limited`: the bubble has passed when more than this was delivered.
    limited_until: Option<u64>,
}

impl DeliveryRateState {
    /// Whether a controller that needs `signals` needs snapshots.
    #[must_use]
    pub fn needed(signals: Signals) -> bool {
        signals.contains(Signals::WINDOW_AT_SEND) || signals.contains(Signals::DELIVERY_RATE)
    }

    /// A packet left at `now` and made it `in_flight` bytes in flight; whether it was the
    /// `first` of a flight.
    pub fn sent(&mut self, now: Time, in_flight: u64, first: bool) {
        if let Some(last) = self.departures.back_mut().filter(|last| last.at == now) {
            last.in_flight = in_flight;
            return;
        }
        if first {
            self.delivered_at = now;
            self.first_sent_at = now;
        }
        self.departures.push(Departure {
            at: now,
            in_flight,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            lost_and_limited: self.lost << 1 | u64::from(self.limited_until.is_some()),
        });
    }

    /// Packets were acknowledged at `now`, the newest of them sent at `newest_sent_at`, which makes it `delivered`
    /// bytes delivered on the path, with `in_flight` left; whether the application has nothing to send although the window has
    /// room. Returns the snapshot of the newest, if there is one, and drops earlier ones, those of
    /// packets lost among them.
    pub fn acknowledged(
        &mut self,
        now: Time,
        newest_sent_at: Time,
        delivered: u64,
        in_flight: u64,
        app_limited: bool,
    ) -> Option<SendSnapshot> {
        while self.departures.front().is_some_and(|departure| departure.at < newest_sent_at) {
            self.departures.pop();
        }
        let newest = self.departures.front().filter(|departure| departure.at == newest_sent_at);
        let snapshot = newest.map(|departure| departure.snapshot(self.lost));
        if snapshot.is_some() {
            self.first_sent_at = newest_sent_at;
        }
        self.delivered = self.delivered.max(delivered);
        self.delivered_at = now;
        if app_limited {
            self.limited_until = Some(self.delivered.saturating_add(in_flight));
        } else if self.limited_until.is_some_and(|until| self.delivered > until) {
            self.limited_until = None;
        }
        snapshot
    }

    /// `bytes` in flight were declared lost.
    pub fn lost(&mut self, bytes: u64) {
        self.lost = self.lost.wrapping_add(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: u64 = 1000;

    fn acked(state: &mut DeliveryRateState, now: u64, sent: u64, packets: u64, left: u64) -> Option<SendSnapshot> {
        let delivered = state.delivered + packets * PACKET;
        state.acknowledged(Time(now), Time(sent), delivered, left * PACKET, false)
    }

    #[test]
    fn a_departure_carries_the_counts_of_its_instant() {
        let mut state = DeliveryRateState::default();
        state.sent(Time(10), PACKET, true);
        state.sent(Time(10), 2 * PACKET, false);
        state.sent(Time(12), 3 * PACKET, false);
        let first = acked(&mut state, 110, 10, 2, 1).unwrap();
        assert_eq!(first.in_flight, 2 * PACKET, "both packets of the instant");
        let start = Delivery::new(0, Time(10), Time(10));
        assert_eq!(first.delivery, start);
        state.sent(Time(110), 2 * PACKET, false);
        assert_eq!(acked(&mut state, 112, 12, 1, 1).unwrap().delivery, start);
        let third = acked(&mut state, 210, 110, 1, 0).unwrap().delivery;
        let expected = Delivery::new(2 * PACKET, Time(110), Time(10));
        assert_eq!(third, expected);
    }

    #[test]
    fn a_new_flight_starts_its_own_intervals() {
        let mut state = DeliveryRateState::default();
        state.sent(Time(10), PACKET, true);
        acked(&mut state, 20, 10, 1, 0);
        state.sent(Time(500), PACKET, true);
        let delivery = acked(&mut state, 510, 500, 1, 0).unwrap().delivery;
        assert_eq!((delivery.delivered, delivery.delivered_at, delivery.first_sent_at), (PACKET, Time(500), Time(500)));
    }

    #[test]
    fn what_was_lost_since_the_departure_is_told() {
        let mut state = DeliveryRateState::default();
        state.lost(7 * PACKET);
        state.sent(Time(1), PACKET, true);
        state.lost(2 * PACKET);
        assert_eq!(acked(&mut state, 9, 1, 1, 0).unwrap().delivery.lost, 2 * PACKET);
    }

    #[test]
    fn a_bubble_passes_once_all_that_left_before_its_end_is_delivered() {
        let mut state = DeliveryRateState::default();
        state.sent(Time(1), PACKET, true);
        state.sent(Time(2), 2 * PACKET, false);
        state.acknowledged(Time(11), Time(1), PACKET, PACKET, true);
        state.sent(Time(12), 2 * PACKET, false);
        assert!(!acked(&mut state, 13, 2, 1, 1).unwrap().delivery.app_limited, "left before");
        state.sent(Time(14), 2 * PACKET, false);
        assert!(acked(&mut state, 22, 12, 1, 1).unwrap().delivery.app_limited);
        state.sent(Time(23), 2 * PACKET, false);
        assert!(acked(&mut state, 24, 14, 1, 1).unwrap().delivery.app_limited);
        assert!(!acked(&mut state, 33, 23, 1, 0).unwrap().delivery.app_limited, "left after");
    }

    #[test]
    fn forgets_what_is_older_than_the_newest_acknowledged() {
        let mut state = DeliveryRateState::default();
        for at in [1, 2, 5] {
            state.sent(Time(at), at * PACKET, at == 1);
        }
        assert_eq!(acked(&mut state, 9, 3, 1, 2), None);
        assert_eq!(acked(&mut state, 9, 2, 1, 1), None);
        assert_eq!(acked(&mut state, 9, 5, 1, 0).map(|snapshot| snapshot.in_flight), Some(5 * PACKET));
    }

    /// The instants remembered, and the room for them.
    fn size(state: &DeliveryRateState) -> (usize, usize) {
        let Departures { first, later } = &state.departures;
        let blocks = || later.iter().chain([first]);
        (blocks().map(VecDeque::len).sum(), blocks().map(VecDeque::capacity).sum())
    }

    /// `draft-ietf-ccwg-bbr §4.1.2.1.2`: every packet in flight carries its state, on a path of 10 Gbit/s and
    /// 1 s with packets of 1200 bytes, too.
    #[test]
    fn a_million_packets_in_flight_all_keep_their_state() {
        const FLIGHT: u64 = 1 << 20;
        let mut state = DeliveryRateState::default();
        let first = 1_000_000;
        for n in 0..FLIGHT {
            state.sent(Time(first + n), (n + 1) * PACKET, n == 0);
        }
        let (instants, room) = size(&state);
        assert_eq!(instants, FLIGHT as usize);
        assert!(room <= instants + Departures::BLOCK, "{room} for {instants}");
        for n in 0..FLIGHT {
            let sent_at = first + n;
            let snapshot = acked(&mut state, 2 * FLIGHT + n + first, sent_at, 1, FLIGHT - 1 - n).expect("kept");
            assert_eq!((snapshot.in_flight, snapshot.delivery.delivered), ((n + 1) * PACKET, 0));
        }
        let (instants, room) = size(&state);
        assert!(instants <= 1 && room <= Departures::BLOCK, "{room} for {instants}");
    }

    /// Of a window lost but for its last packet nothing stays.
    #[test]
    fn packets_lost_leave_nothing_behind() {
        let mut state = DeliveryRateState::default();
        (1..=10_000).for_each(|at| state.sent(Time(at), at * PACKET, at == 1));
        state.lost(9_999 * PACKET);
        let last = acked(&mut state, 20_000, 10_000, 1, 0).expect("kept");
        assert_eq!((last.in_flight, last.delivery.lost), (10_000 * PACKET, 9_999 * PACKET));
        assert_eq!(size(&state).0, 1);
    }

    #[test]
    fn what_was_lost_is_told_where_its_count_wraps() {
        for before in [(1 << 63) - 1, u64::MAX] {
            let mut state = DeliveryRateState::default();
            state.lost(before);
            state.sent(Time(1), PACKET, true);
            state.lost(3 * PACKET);
            let delivery = acked(&mut state, 9, 1, 1, 0).expect("kept").delivery;
            assert_eq!((delivery.lost, delivery.app_limited), (3 * PACKET, false));
        }
    }

    #[test]
    fn counts_do_not_overflow() {
        let mut state = DeliveryRateState::default();
        state.lost(u64::MAX);
        state.lost(u64::MAX);
        state.sent(Time(u64::MAX), u64::MAX, true);
        for _ in 0..2 {
            state.acknowledged(Time(0), Time(u64::MAX), u64::MAX, u64::MAX, true);
        }
    }
}
