//! Collecting the packets of one ACK frame for stacks that report them one by one.

use windlass_controllers::Time;
use windlass_controllers::event::{Acked, Delivery, Rtt};

use crate::Departure;

/// Packets newly acknowledged by one ACK frame. Send times are a stack's own `T` until
/// the frame ends, when only that of the newest packet matters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AckBatch<T = Time> {
    bytes: u64,
    packets: u32,
    /// Of `bytes`, those sent before the latest recovery period. Not its complement: the
    /// processor would wait for both sums to copy them together.
    stale_bytes: u64,
    newest: Option<T>,
    newest_pn: Option<u64>,
    newest_in_flight: Option<u64>,
    delivery: Option<Delivery>,
    app_limited: bool,
    delivered: u64,
}

impl<T> Default for AckBatch<T> {
    fn default() -> Self {
        AckBatch {
            bytes: 0,
            packets: 0,
            stale_bytes: 0,
            newest: None,
            newest_pn: None,
            newest_in_flight: None,
            delivery: None,
            app_limited: false,
            delivered: 0,
        }
    }
}

impl<T: Copy + Ord> AckBatch<T> {
    /// One more packet, of `bytes`, sent at `sent_at`. `recovery_start` is that of the
    /// decision now in force.
    #[inline]
    pub fn add(&mut self, sent_at: T, bytes: u64, recovery_start: Option<T>) {
        // One frame's packets; no sum comes near its type's end.
        self.bytes = self.bytes.wrapping_add(bytes);
        self.packets = self.packets.wrapping_add(1);
        if recovery_start.is_some_and(|start| sent_at <= start) {
            self.stale_bytes = self.stale_bytes.wrapping_add(bytes);
        }
        if self.newest.is_none_or(|newest| sent_at > newest) {
            self.newest = Some(sent_at);
        }
    }

    /// Packet number and bytes in flight at departure of the newest packet, where known.
    #[inline]
    pub fn newest(&mut self, pn: Option<u64>, in_flight: Option<u64>) {
        self.newest_pn = pn;
        self.newest_in_flight = in_flight;
    }

    /// The departure of the newest packet, where remembered.
    #[inline]
    pub fn departed(&mut self, departure: Departure) {
        self.newest_in_flight = Some(departure.in_flight);
        self.delivery = Some(departure.delivery);
    }

    /// Marks the batch as limited by the application.
    #[inline]
    pub fn app_limited(&mut self, limited: bool) {
        self.app_limited |= limited;
    }

    /// When the newest packet added was sent; `None` if nothing was added.
    #[must_use]
    #[inline]
    pub fn newest_sent(&self) -> Option<T> {
        self.newest
    }

    /// Whether nothing was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.packets == 0
    }

    /// Bytes added.
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Ends the frame: the event body, with the newest packet sent at `newest_sent_at` and
    /// `in_flight` bytes left in flight. The batch is then empty again and keeps only the
    /// total delivered.
    #[inline]
    pub fn finish(&mut self, newest_sent_at: Time, in_flight: u64, rtt: Option<Rtt>) -> Acked {
        let acked = Acked {
            bytes: self.bytes,
            packets: self.packets,
            fresh_bytes: self.bytes.saturating_sub(self.stale_bytes),
            newest_sent_at,
            newest_pn: self.newest_pn,
            newest_in_flight: self.newest_in_flight,
            in_flight_before: in_flight.saturating_add(self.bytes),
            in_flight,
            delivered: self.delivered.saturating_add(self.bytes),
            app_limited: self.app_limited,
            rtt,
            one_way: None,
            queueing: None,
            congestion_indication: None,
            delivery: self.delivery,
        };
        *self = AckBatch { delivered: acked.delivered, ..AckBatch::default() };
        acked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_fresh_bytes_from_the_recovery_start() {
        let mut batch = AckBatch::default();
        batch.add(Time(10), 1200, Some(Time(10)));
        batch.add(Time(11), 1000, Some(Time(10)));
        assert_eq!(batch.newest_sent(), Some(Time(11)));
        let acked = batch.finish(Time(11), 5000, None);
        assert_eq!((acked.bytes, acked.packets, acked.fresh_bytes), (2200, 2, 1000));
        assert_eq!((acked.newest_sent_at, acked.in_flight_before, acked.delivered), (Time(11), 7200, 2200));
        assert!(batch.is_empty());
        batch.add(Time(12), 100, None);
        assert_eq!(batch.finish(Time(12), 0, None).delivered, 2300);
    }
}
