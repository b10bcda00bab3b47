//! What was in flight and delivered when each packet left, for controllers that ask.

use std::collections::VecDeque;

use windlass_controllers::event::{Delivery, PacketsAcked};
use windlass_controllers::{Signals, Time};

/// Snapshots kept at most; a path holds fewer distinct ones in flight.
const HISTORY: usize = 1 << 16;

/// What is known of a path when packets were sent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SendSnapshot {
    at: Time,
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

/// The snapshots of one path, by time, with the counts delivery rates are made of
/// (`draft-ietf-ccwg-bbr §4.1.1`).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DeliveryRateState {
    queue: VecDeque<SendSnapshot>,
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
        if let Some(last) = self.queue.back_mut().filter(|last| last.at == now) {
            last.in_flight = in_flight;
            return;
        }
        if first {
            self.delivered_at = now;
            self.first_sent_at = now;
        }
        if self.queue.len() >= HISTORY {
            self.queue.pop_front();
        }
        let delivery = Delivery::new(self.delivered, self.delivered_at, self.first_sent_at)
            .with_lost(self.lost)
            .with_app_limited(self.limited_until.is_some());
        self.queue.push_back(SendSnapshot { at: now, in_flight, delivery });
    }

    /// `bytes` were acknowledged at `now`, the newest of them sent at `newest_sent_at`, and
    /// left `in_flight`; whether the application had nothing to send although the window had
    /// room. Returns the snapshot of the newest, if there is one, and drops earlier ones.
    pub fn acknowledged(
        &mut self,
        now: Time,
        newest_sent_at: Time,
        bytes: u64,
        in_flight: u64,
        app_limited: bool,
    ) -> Option<SendSnapshot> {
        while self.queue.front().is_some_and(|snapshot| snapshot.at < newest_sent_at) {
            self.queue.pop_front();
        }
        let mut newest = self.queue.front().filter(|snapshot| snapshot.at == newest_sent_at).copied();
        if let Some(snapshot) = &mut newest {
            snapshot.delivery.lost = self.lost.saturating_sub(snapshot.delivery.lost);
            self.first_sent_at = newest_sent_at;
        }
        self.delivered = self.delivered.saturating_add(bytes);
        self.delivered_at = now;
        if app_limited {
            self.limited_until = Some(self.delivered.saturating_add(in_flight));
        } else if self.limited_until.is_some_and(|until| self.delivered > until) {
            self.limited_until = None;
        }
        newest
    }

    /// `bytes` in flight were declared lost.
    pub fn lost(&mut self, bytes: u64) {
        self.lost = self.lost.saturating_add(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: u64 = 1000;

    fn acked(state: &mut DeliveryRateState, now: u64, sent: u64, packets: u64, left: u64) -> Option<SendSnapshot> {
        state.acknowledged(Time(now), Time(sent), packets * PACKET, left * PACKET, false)
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
