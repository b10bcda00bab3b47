//! Which packets were lost. Stacks report to a controller how many bytes were lost and when
//! the newest of them left; what it sent and what was acknowledged is known from the
//! packets themselves, and losses are always the oldest packets outstanding.

use std::collections::VecDeque;

use windlass_adapter::rfc9002::PACKET_THRESHOLD;
use windlass_controllers::Time;
use windlass_qlog::{LossTrigger, PacketType};

/// Packets sent and neither acknowledged nor lost, by packet number space.
#[derive(Debug, Default)]
pub struct OutstandingPackets {
    spaces: [Space; 3],
}

#[derive(Debug, Default)]
struct Space {
    /// By number. Packets leave in this order, and mostly go at its beginning.
    outstanding: VecDeque<Packet>,
    largest_acknowledged: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    number: u64,
    sent_at: Time,
    weight: Weight,
}

/// How a packet counts in a report of losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weight {
    /// With its bytes.
    InFlight(u64),
    /// Not at all.
    NotInFlight,
    /// It probes for a datagram size of so many bytes. The loss of the latest probe counts if the stack gave up its
    /// search for a size meanwhile, as noq and quinn do at a black hole; that of others does not (`RFC 9000 §14.4`).
    Probe(u64),
}

/// A packet the sender declared lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loss {
    /// Its type, by its packet number space.
    pub kind: PacketType,
    /// Packet number.
    pub number: u64,
    /// The rule that declared it lost.
    pub trigger: LossTrigger,
}

const KINDS: [PacketType; 3] = [PacketType::Initial, PacketType::Handshake, PacketType::OneRtt];

const fn space(kind: PacketType) -> usize {
    match kind {
        PacketType::Initial => 0,
        PacketType::Handshake => 1,
        PacketType::ZeroRtt | PacketType::OneRtt => 2,
    }
}

impl OutstandingPackets {
    /// A packet left.
    pub fn sent(&mut self, kind: PacketType, number: u64, sent_at: Time, weight: Weight) {
        let outstanding = &mut self.spaces[space(kind)].outstanding;
        let place = match outstanding.back() {
            Some(newest) if newest.number >= number => outstanding.partition_point(|packet| packet.number < number),
            _ => outstanding.len(),
        };
        let packet = Packet { number, sent_at, weight };
        match outstanding.get_mut(place) {
            Some(known) if known.number == number => *known = packet,
            _ => outstanding.insert(place, packet),
        }
    }

    /// The peer has the packets of `ranges` (lowest and highest of each).
    pub fn acknowledged(&mut self, kind: PacketType, ranges: &[(u64, u64)]) {
        let space = &mut self.spaces[space(kind)];
        for &(low, high) in ranges {
            space.largest_acknowledged = space.largest_acknowledged.max(Some(high));
            let from = space.below(low);
            if space.outstanding.get(from).is_some_and(|packet| packet.number <= high) {
                let to = space.below(high.saturating_add(1));
                space.outstanding.drain(from..to);
            }
        }
    }

    /// The keys of a space are gone and its packets forgotten.
    pub fn discard(&mut self, kind: PacketType) {
        self.spaces[space(kind)].outstanding.clear();
    }

    /// `bytes` were lost, the newest of them sent at `newest`: calls `found` with each packet.
    /// Returns false if no packets add up to `bytes`.
    pub fn lost(&mut self, bytes: u64, newest: Time, mut found: impl FnMut(Loss)) -> bool {
        // Losses happen in one space; nearly always the last.
        for (kind, space) in KINDS.into_iter().zip(&mut self.spaces).rev() {
            let Some(count) = space.oldest(bytes, newest) else { continue };
            for _ in 0..count {
                let Some(Packet { number, .. }) = space.outstanding.pop_front() else { break };
                let overtaken = space.largest_acknowledged.is_some_and(|acked| acked >= number + PACKET_THRESHOLD);
                let trigger = if overtaken { LossTrigger::ReorderingThreshold } else { LossTrigger::TimeThreshold };
                found(Loss { kind, number, trigger });
            }
            return true;
        }
        false
    }
}

impl Space {
    /// How many packets have lower numbers.
    fn below(&self, number: u64) -> usize {
        match self.outstanding.front() {
            Some(oldest) if oldest.number < number => self.outstanding.partition_point(|packet| packet.number < number),
            _ => 0,
        }
    }

    /// How many of the oldest packets make up `bytes` and end with those sent at `newest`.
    fn oldest(&self, bytes: u64, newest: Time) -> Option<usize> {
        let (mut sum, mut probe, mut adds_up) = (0, 0, None);
        let largest = self.largest_acknowledged?;
        let below = self.outstanding.iter().take_while(|packet| packet.number < largest && packet.sent_at <= newest);
        for (count, packet) in below.enumerate() {
            match packet.weight {
                Weight::InFlight(bytes) => sum += bytes,
                Weight::Probe(bytes) => probe = bytes,
                Weight::NotInFlight => {}
            }
            if sum > bytes {
                break;
            }
            if packet.sent_at == newest && (sum == bytes || sum + probe == bytes) {
                adds_up = Some(count + 1);
            }
        }
        adds_up
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(outstanding: &mut OutstandingPackets, packets: &[(u64, u64, u64)]) {
        for &(number, at, bytes) in packets {
            let weight = if bytes == 0 { Weight::NotInFlight } else { Weight::InFlight(bytes) };
            outstanding.sent(PacketType::OneRtt, number, Time(at), weight);
        }
    }

    fn lost(outstanding: &mut OutstandingPackets, bytes: u64, newest: u64) -> Option<Vec<(u64, LossTrigger)>> {
        let mut losses = Vec::new();
        outstanding.lost(bytes, Time(newest), |loss| losses.push((loss.number, loss.trigger))).then_some(losses)
    }

    #[test]
    fn the_oldest_outstanding_make_up_the_bytes() {
        use LossTrigger::{ReorderingThreshold, TimeThreshold};
        let mut outstanding = OutstandingPackets::default();
        sent(&mut outstanding, &[(0, 1, 1200), (1, 1, 1200), (2, 2, 0), (3, 3, 900), (4, 4, 1200), (6, 5, 1200)]);
        outstanding.acknowledged(PacketType::OneRtt, &[(1, 1), (6, 6)]);
        assert_eq!(lost(&mut outstanding, 1200, 1), Some(vec![(0, ReorderingThreshold)]));
        let expected = vec![(2, ReorderingThreshold), (3, ReorderingThreshold), (4, TimeThreshold)];
        assert_eq!(lost(&mut outstanding, 2100, 4), Some(expected), "a bare ACK among them");
        assert_eq!(lost(&mut outstanding, 1200, 5), None, "nothing is left");
    }

    #[test]
    fn an_account_that_does_not_add_up_changes_nothing() {
        let mut outstanding = OutstandingPackets::default();
        sent(&mut outstanding, &[(0, 1, 1200), (1, 2, 1200), (9, 3, 1200)]);
        outstanding.acknowledged(PacketType::OneRtt, &[(9, 9)]);
        assert_eq!(lost(&mut outstanding, 1000, 1), None, "other bytes");
        assert_eq!(lost(&mut outstanding, 1200, 2), None, "another time");
        assert!(lost(&mut outstanding, 2400, 2).is_some());
    }

    #[test]
    fn a_probe_for_the_datagram_size_counts_where_the_stack_gave_it_up() {
        // Packet 1 and 3 are probes; noq forgets the latest at a black hole, and reports its loss with the next.
        for (bytes, numbers) in [(2400, vec![0, 1, 2, 3]), (6355, vec![0, 1, 2, 3])] {
            let mut outstanding = OutstandingPackets::default();
            sent(&mut outstanding, &[(0, 1, 1200), (2, 2, 1200), (9, 3, 1200)]);
            outstanding.sent(PacketType::OneRtt, 1, Time(1), Weight::Probe(2000));
            outstanding.sent(PacketType::OneRtt, 3, Time(2), Weight::Probe(3955));
            outstanding.acknowledged(PacketType::OneRtt, &[(9, 9)]);
            let found =
                lost(&mut outstanding, bytes, 2).map(|losses| losses.iter().map(|(number, _)| *number).collect());
            assert_eq!(found, Some(numbers), "{bytes} bytes");
        }
    }

    #[test]
    fn spaces_are_apart_and_can_be_forgotten() {
        let mut outstanding = OutstandingPackets::default();
        for number in [0, 5] {
            outstanding.sent(PacketType::Initial, number, Time(1), Weight::InFlight(1200));
            outstanding.sent(PacketType::Handshake, number, Time(1), Weight::InFlight(1200));
        }
        outstanding.acknowledged(PacketType::Initial, &[(5, 5)]);
        outstanding.acknowledged(PacketType::Handshake, &[(5, 5)]);
        outstanding.discard(PacketType::Handshake);
        let mut kinds = Vec::new();
        assert!(outstanding.lost(1200, Time(1), |loss| kinds.push(loss.kind)));
        assert_eq!(kinds, [PacketType::Initial]);
        assert!(!outstanding.lost(1200, Time(1), |_| {}));
    }
}
