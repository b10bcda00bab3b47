//! Collecting the packets of one ACK frame for stacks that report them one by one.

use windlass_controllers::Time;
use windlass_controllers::event::{Acked, Delivery, Rtt};

use crate::Departure;

/// Packets newly acknowledged by one ACK frame.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct AckBatch {
    bytes: u64,
    packets: u32,
    fresh_bytes: u64,
    newest_sent_at: Time,
    newest_pn: Option<u64>,
    newest_in_flight: Option<u64>,
    delivery: Option<Delivery>,
    app_limited: bool,
    delivered: u64,
}

impl AckBatch {
    /// One more packet, of `bytes`, sent at `sent_at`. `recovery_start` is that of the
    /// decision now in force.
    #[inline]
    pub fn add(&mut self, sent_at: Time, bytes: u64, recovery_start: Option<Time>) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.packets += 1;
        if recovery_start.is_none_or(|start| sent_at > start) {
            self.fresh_bytes = self.fresh_bytes.saturating_add(bytes);
        }
        self.newest_sent_at = self.newest_sent_at.max(sent_at);
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

    /// Bytes added.
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// When the newest packet added was sent; the origin of time if there is none.
    #[must_use]
    #[inline]
    pub fn newest_sent_at(&self) -> Time {
        self.newest_sent_at
    }

    /// Whether nothing was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.packets == 0
    }

    /// Ends the frame: the event body, with `in_flight` bytes left in flight. The batch
    /// is then empty again and keeps only the total delivered.
    #[inline]
    pub fn finish(&mut self, in_flight: u64, rtt: Option<Rtt>) -> Acked {
        let delivered = self.delivered.saturating_add(self.bytes);
        let batch = core::mem::replace(self, AckBatch { delivered, ..AckBatch::default() });
        Acked {
            bytes: batch.bytes,
            packets: batch.packets,
            fresh_bytes: batch.fresh_bytes,
            newest_sent_at: batch.newest_sent_at,
            newest_pn: batch.newest_pn,
            newest_in_flight: batch.newest_in_flight,
            in_flight_before: in_flight.saturating_add(batch.bytes),
            in_flight,
            delivered,
            app_limited: batch.app_limited,
            rtt,
            one_way: None,
            queueing: None,
            congestion_indication: None,
            delivery: batch.delivery,
        }
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
        let acked = batch.finish(5000, None);
        assert_eq!((acked.bytes, acked.packets, acked.fresh_bytes), (2200, 2, 1000));
        assert_eq!((acked.newest_sent_at, acked.in_flight_before, acked.delivered), (Time(11), 7200, 2200));
        assert!(batch.is_empty());
        batch.add(Time(12), 100, None);
        assert_eq!(batch.finish(0, None).delivered, 2300);
    }
}
