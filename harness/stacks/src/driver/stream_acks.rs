//! What of a sender's streams is acknowledged, as stacks that tell their applications count it.

use std::collections::BTreeMap;

/// Acknowledged data of streams.
#[derive(Debug, Default)]
pub struct StreamAcks {
    /// Packets not acknowledged yet: stream, begin and end of their data.
    packets: BTreeMap<u64, Vec<(u64, u64, u64)>>,
    streams: BTreeMap<u64, Acknowledged>,
}

#[derive(Debug, Default)]
struct Acknowledged {
    /// The first so many bytes.
    in_order: u64,
    /// Others: where they begin and end.
    early: BTreeMap<u64, u64>,
}

impl StreamAcks {
    /// Packet `number` leaves with `length` bytes of stream `id` from `offset` on.
    pub fn sent(&mut self, number: u64, id: u64, offset: u64, length: u64) {
        self.packets.entry(number).or_default().push((id, offset, offset.saturating_add(length)));
    }

    /// The peer has the packets of `ranges` (lowest and highest of each).
    pub fn acknowledged(&mut self, ranges: &[(u64, u64)]) {
        for &(low, high) in ranges {
            while let Some((&number, _)) = self.packets.range(low..=high).next() {
                for (id, begin, end) in self.packets.remove(&number).unwrap_or_default() {
                    self.streams.entry(id).or_default().add(begin, end);
                }
            }
        }
    }

    /// How many bytes of stream `id` are acknowledged without a gap before them.
    #[must_use]
    pub fn in_order(&self, id: u64) -> u64 {
        self.streams.get(&id).map_or(0, |stream| stream.in_order)
    }
}

impl Acknowledged {
    fn add(&mut self, begin: u64, end: u64) {
        let known = self.early.entry(begin).or_default();
        *known = end.max(*known);
        while let Some(first) = self.early.first_entry().filter(|first| *first.key() <= self.in_order) {
            self.in_order = self.in_order.max(first.remove());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_count_once_a_packet_with_them_is_acknowledged() {
        let mut acks = StreamAcks::default();
        // The second packet ends stream 2 and begins stream 6; the third repeats the first in other parts.
        for (number, id, offset, length) in
            [(3, 2, 0, 1000), (4, 2, 1000, 500), (4, 6, 0, 400), (7, 2, 0, 600), (8, 2, 600, 400)]
        {
            acks.sent(number, id, offset, length);
        }
        acks.acknowledged(&[(4, 5)]);
        assert_eq!([acks.in_order(2), acks.in_order(6), acks.in_order(10)], [0, 400, 0]);
        acks.acknowledged(&[(7, 7), (4, 4)]);
        assert_eq!(acks.in_order(2), 600);
        acks.acknowledged(&[(0, 3)]);
        assert_eq!(acks.in_order(2), 1500, "the original came after all");
        acks.acknowledged(&[(8, 8)]);
        assert_eq!(acks.in_order(2), 1500);
    }
}
