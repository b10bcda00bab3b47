//! Collecting the packets of one ACK frame for stacks that report them one by one.

use windlass_controllers::Time;
use windlass_controllers::event::{PacketsAcked, RttSample};

/// Packets newly acknowledged by one ACK frame.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct AckBatch {
    bytes: u64,
    packets: u32,
    app_limited: bool,
    /// Of `bytes`, those sent before the latest recovery period. Not its complement: the
    /// processor would wait for both sums to copy them together.
    stale_bytes: u64,
    /// When the newest was sent.
    newest: Time,
    delivered: u64,
}

impl AckBatch {
    /// Nothing yet, after `delivered` bytes of earlier frames.
    #[must_use]
    #[inline]
    pub fn after(delivered: u64) -> AckBatch {
        AckBatch { delivered, ..AckBatch::default() }
    }

    /// One more packet, of `bytes`, sent at `sent_at`. `recovery_start` is that of the
    /// decision now in force.
    #[inline]
    pub fn add(&mut self, sent_at: Time, bytes: u64, recovery_start: Option<Time>) {
        // One frame's packets; no sum comes near its type's end.
        self.bytes = self.bytes.wrapping_add(bytes);
        self.packets = self.packets.wrapping_add(1);
        if recovery_start.is_some_and(|start| sent_at <= start) {
            self.stale_bytes = self.stale_bytes.wrapping_add(bytes);
        }
        self.newest = self.newest.max(sent_at);
    }

    /// Marks the batch as limited by the application.
    #[inline]
    pub fn app_limited(&mut self, limited: bool) {
        self.app_limited |= limited;
    }

    /// When the newest packet added was sent; `None` if nothing was added.
    #[must_use]
    #[inline]
    pub fn newest_sent(&self) -> Option<Time> {
        (!self.is_empty()).then_some(self.newest)
    }

    /// Whether nothing was added.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.packets == 0
    }

    /// Bytes added.
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Ends the frame: the event body, with `in_flight` bytes left in flight. The batch is
    /// then empty again and keeps only the total delivered. What else the stack knows of the
    /// newest packet is the caller's to add.
    #[inline]
    pub fn finish(&mut self, in_flight: u64, rtt: Option<RttSample>) -> PacketsAcked {
        let acked = PacketsAcked::new(
            self.bytes,
            self.packets,
            self.newest,
            in_flight,
            self.delivered.saturating_add(self.bytes),
        )
        .with_fresh_bytes(self.bytes.saturating_sub(self.stale_bytes))
        .with_app_limited(self.app_limited)
        .with_rtt(rtt);
        *self = AckBatch::after(acked.delivered);
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
        let acked = batch.finish(5000, None);
        assert_eq!((acked.bytes, acked.packets, acked.fresh_bytes), (2200, 2, 1000));
        assert_eq!((acked.newest_sent_at, acked.in_flight_before, acked.delivered), (Time(11), 7200, 2200));
        assert!(batch.is_empty());
        batch.add(Time(12), 100, None);
        assert_eq!(batch.finish(0, None).delivered, 2300);
    }
}
