//! Bytes in flight and delivered when each packet was sent, for controllers that ask.

use std::collections::VecDeque;

use windlass_controllers::event::{Delivery, PacketsAcked};
use windlass_controllers::{Signals, Time};

/// State of a path when packets were sent.
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
struct PacketState {
    at: Time,
    in_flight: u64,
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    lost_and_limited: u64,
}

const _: () = assert!(size_of::<PacketState>() <= 48);

impl PacketState {
    /// Snapshot for the ACK of the last packet of the instant; `lost` bytes are lost by now.
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

/// States of packets, the oldest first, in blocks: none moves when others come. Most flights have
/// one.
#[derive(Clone, PartialEq, Debug, Default)]
struct PacketStates {
    /// The oldest block, which grows as it is needed; empty only if there is no state.
    first: VecDeque<PacketState>,
    /// All of them full but the last.
    later: VecDeque<VecDeque<PacketState>>,
    /// Number of packets sent before the newest acknowledged.
    overtaken: usize,
}

impl PacketStates {
    /// States of a block: enough for its head not to count.
    const BLOCK: usize = 1024;

    #[inline]
    fn get(&self, index: usize) -> Option<&PacketState> {
        match index.checked_sub(self.first.len()) {
            None => self.first.get(index),
            Some(rest) => self.later.get(rest / Self::BLOCK)?.get(rest % Self::BLOCK),
        }
    }

    #[inline]
    fn back_mut(&mut self) -> Option<&mut PacketState> {
        self.later.back_mut().unwrap_or(&mut self.first).back_mut()
    }

    #[inline]
    fn push(&mut self, state: PacketState) {
        let last = self.later.back_mut().unwrap_or(&mut self.first);
        if last.len() < Self::BLOCK {
            return last.push_back(state);
        }
        let mut block = VecDeque::with_capacity(Self::BLOCK);
        block.push_back(state);
        self.later.push_back(block);
    }

    /// The state of the packets that left at `at`, acknowledged now. One that is newer than all
    /// acknowledged before lets those be forgotten that left before `horizon`.
    #[inline]
    fn acknowledged(&mut self, at: Time, horizon: Time) -> Option<PacketState> {
        let is_old = self.get(self.overtaken).is_some_and(|newest| at < newest.at);
        if is_old {
            return self.overtaken_at(at);
        }
        while self.get(self.overtaken).is_some_and(|state| state.at < at) {
            self.overtaken += 1;
        }
        while self.overtaken > 0 && self.first.front().is_some_and(|oldest| oldest.at < horizon) {
            self.pop();
        }
        self.get(self.overtaken).filter(|state| state.at == at).copied()
    }

    /// Frames that come in order have no use of it.
    #[cold]
    fn overtaken_at(&self, at: Time) -> Option<PacketState> {
        let (mut low, mut high) = (0, self.overtaken);
        while low < high {
            let middle = low.midpoint(high);
            if self.get(middle)?.at < at {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        self.get(low).filter(|state| state.at == at).copied()
    }

    #[inline]
    fn pop(&mut self) {
        self.first.pop_front();
        self.overtaken -= 1;
        if self.first.is_empty() {
            self.first = self.later.pop_front().unwrap_or(std::mem::take(&mut self.first));
        }
    }
}

/// What was delivered and lost when each packet in flight on one path left, with the counts delivery
/// rates are made of (`draft-ietf-ccwg-bbr §4.1.2`).
///
/// It takes some 48 bytes for each instant at which packets left that may still be acknowledged: those of
/// a round-trip time before the newest acknowledged are, where others overtook them. O(1) time a packet in
/// order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DeliveryRateState {
    packets: PacketStates,
    /// `C.delivered`, bytes.
    delivered: u64,
    /// `C.delivered_time`.
    delivered_at: Time,
    /// `C.first_send_time`.
    first_sent_at: Time,
    /// `C.lost`, bytes.
    lost: u64,
    /// When the latest losses were declared, and their bytes until an ACK is taken in.
    just_lost: (Time, u64),
    /// `C.app_limited`: the bubble has passed when more than this was delivered.
    limited_until: Option<u64>,
}

impl DeliveryRateState {
    /// Whether a controller that needs `signals` needs snapshots.
    #[must_use]
    pub fn needed(signals: Signals) -> bool {
        signals.contains(Signals::WINDOW_AT_SEND) || signals.contains(Signals::DELIVERY_RATE)
    }

    /// A packet left at `now` and made it `in_flight` bytes in flight. `first`: it began a
    /// flight.
    pub fn sent(&mut self, now: Time, in_flight: u64, first: bool) {
        if let Some(last) = self.packets.back_mut().filter(|last| last.at == now) {
            last.in_flight = in_flight;
            return;
        }
        if first {
            self.delivered_at = now;
            self.first_sent_at = now;
        }
        self.packets.push(PacketState {
            at: now,
            in_flight,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            lost_and_limited: self.lost << 1 | u64::from(self.limited_until.is_some()),
        });
    }

    /// Packets were acknowledged at `now`, the newest of them sent at `newest_sent_at`, which makes it `delivered`
    /// bytes delivered on the path, with `in_flight` left. `app_limited`: the application had nothing to send although the window had
    /// room. Returns the snapshot of the newest, if there is one, and drops those of packets that left more than a
    /// round-trip time before it: they are taken for lost (`RFC 9002 §6.1.2`).
    pub fn acknowledged(
        &mut self,
        now: Time,
        newest_sent_at: Time,
        delivered: u64,
        in_flight: u64,
        app_limited: bool,
    ) -> Option<SendSnapshot> {
        let reach = if in_flight == 0 { 0 } else { now.since(newest_sent_at).0 };
        let newest = self.packets.acknowledged(newest_sent_at, Time(newest_sent_at.0.saturating_sub(reach)));
        let snapshot = newest.map(|newest| newest.snapshot(self.lost));
        if snapshot.is_some() {
            self.first_sent_at = newest_sent_at;
        }
        self.delivered = self.delivered.max(delivered);
        self.delivered_at = now;
        // What the same frame let be declared lost was in flight when it came, which is when the limit is looked for
        // (`draft-ietf-ccwg-bbr §4.1.2.4`).
        let (lost_at, bytes) = std::mem::take(&mut self.just_lost);
        let lost = if lost_at == now { bytes } else { 0 };
        if app_limited {
            self.limited_until = Some(self.delivered.saturating_add(in_flight).saturating_add(lost));
        } else if self.limited_until.is_some_and(|until| self.delivered > until) {
            self.limited_until = None;
        }
        snapshot
    }

    /// The application has nothing to send although the window has room, with `in_flight` bytes in flight: what a stack tells
    /// when that is so, ahead of the application's next write (`draft-ietf-ccwg-bbr §4.1.2.4`).
    pub fn limited(&mut self, in_flight: u64) {
        self.limited_until = Some(self.delivered.saturating_add(in_flight));
    }

    /// `bytes` in flight were declared lost at `now`.
    pub fn lost(&mut self, now: Time, bytes: u64) {
        self.lost = self.lost.wrapping_add(bytes);
        let (at, before) = self.just_lost;
        self.just_lost = (now, if at == now { before.saturating_add(bytes) } else { bytes });
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
    fn a_packet_carries_the_counts_of_its_instant() {
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
    fn bytes_lost_since_a_packet_was_sent_are_in_its_snapshot() {
        let mut state = DeliveryRateState::default();
        state.lost(Time(0), 7 * PACKET);
        state.sent(Time(1), PACKET, true);
        state.lost(Time(5), 2 * PACKET);
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

    /// Written before the ACK of what was in flight when there was nothing to send: in the bubble all the same.
    #[test]
    fn a_bubble_begins_when_there_is_nothing_to_send() {
        let mut state = DeliveryRateState::default();
        state.sent(Time(1), PACKET, true);
        state.limited(PACKET);
        state.sent(Time(2), 2 * PACKET, false);
        assert!(!acked(&mut state, 11, 1, 1, 1).unwrap().delivery.app_limited, "left before");
        assert!(acked(&mut state, 12, 2, 1, 0).unwrap().delivery.app_limited);
        state.sent(Time(13), PACKET, true);
        assert!(!acked(&mut state, 23, 13, 1, 0).unwrap().delivery.app_limited, "left after");
    }

    /// `draft-ietf-ccwg-bbr §4.1.2.3`: every ACK has a sample, of the newest packet it acknowledges.
    #[test]
    fn an_ack_of_packets_that_others_overtook_has_a_sample() {
        let mut state = DeliveryRateState::default();
        for at in [100, 101, 102, 103] {
            state.sent(Time(at), (at - 99) * PACKET, at == 100);
        }
        let mut in_flight = |now, sent, left| acked(&mut state, now, sent, 1, left).map(|snapshot| snapshot.in_flight);
        assert_eq!(in_flight(150, 102, 3), Some(3 * PACKET));
        assert_eq!(in_flight(151, 100, 2), Some(PACKET));
        assert_eq!(in_flight(152, 99, 2), None, "none left then");
        assert_eq!(in_flight(152, 101, 1), Some(2 * PACKET));
        assert_eq!(in_flight(153, 103, 0), Some(4 * PACKET));
        state.sent(Time(153), PACKET, true);
        assert_eq!(acked(&mut state, 200, 153, 1, 0).unwrap().delivery.first_sent_at, Time(153));
    }

    #[test]
    fn forgets_what_left_more_than_a_round_trip_before_the_newest_acknowledged() {
        let mut state = DeliveryRateState::default();
        for at in [1, 50, 100] {
            state.sent(Time(at), at * PACKET, at == 1);
        }
        assert!(acked(&mut state, 160, 100, 1, 2).is_some());
        assert_eq!(acked(&mut state, 161, 1, 1, 1), None);
        assert!(acked(&mut state, 162, 50, 1, 0).is_some());
    }

    /// `draft-ietf-ccwg-bbr §4.1.2.4`: the limit is looked for at the beginning of ACK processing.
    #[test]
    fn what_an_ack_lets_be_lost_is_in_the_bubble() {
        for (lost_at, limited) in [(11, true), (10, false)] {
            let mut state = DeliveryRateState::default();
            (1..=3).for_each(|at| state.sent(Time(at), at * PACKET, at == 1));
            state.lost(Time(lost_at), PACKET);
            state.acknowledged(Time(11), Time(2), PACKET, PACKET, true);
            state.sent(Time(12), 2 * PACKET, false);
            acked(&mut state, 13, 3, 1, 1);
            acked(&mut state, 22, 12, 1, 0);
            state.sent(Time(23), PACKET, true);
            assert_eq!(acked(&mut state, 33, 23, 1, 0).unwrap().delivery.app_limited, limited);
        }
    }

    /// The instants remembered, and the room for them.
    fn size(state: &DeliveryRateState) -> (usize, usize) {
        let PacketStates { first, later, .. } = &state.packets;
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
        assert!(room <= instants + PacketStates::BLOCK, "{room} for {instants}");
        for n in 0..FLIGHT {
            let sent_at = first + n;
            let snapshot = acked(&mut state, 2 * FLIGHT + n + first, sent_at, 1, FLIGHT - 1 - n).expect("kept");
            assert_eq!((snapshot.in_flight, snapshot.delivery.delivered), ((n + 1) * PACKET, 0));
        }
        let (instants, room) = size(&state);
        assert!(instants <= 1 && room <= PacketStates::BLOCK, "{room} for {instants}");
    }

    /// Of a window lost but for its last packet nothing stays.
    #[test]
    fn packets_lost_leave_nothing_behind() {
        let mut state = DeliveryRateState::default();
        (1..=10_000).for_each(|at| state.sent(Time(at), at * PACKET, at == 1));
        state.lost(Time(20_000), 9_999 * PACKET);
        let last = acked(&mut state, 20_000, 10_000, 1, 0).expect("kept");
        assert_eq!((last.in_flight, last.delivery.lost), (10_000 * PACKET, 9_999 * PACKET));
        assert_eq!(size(&state).0, 1);
    }

    #[test]
    fn bytes_lost_are_right_where_their_count_wraps() {
        for before in [(1 << 63) - 1, u64::MAX] {
            let mut state = DeliveryRateState::default();
            state.lost(Time(0), before);
            state.sent(Time(1), PACKET, true);
            state.lost(Time(2), 3 * PACKET);
            let delivery = acked(&mut state, 9, 1, 1, 0).expect("kept").delivery;
            assert_eq!((delivery.lost, delivery.app_limited), (3 * PACKET, false));
        }
    }

    #[test]
    fn counts_do_not_overflow() {
        let mut state = DeliveryRateState::default();
        state.lost(Time(0), u64::MAX);
        state.lost(Time(0), u64::MAX);
        state.sent(Time(u64::MAX), u64::MAX, true);
        for _ in 0..2 {
            state.acknowledged(Time(0), Time(u64::MAX), u64::MAX, u64::MAX, true);
        }
    }
}
