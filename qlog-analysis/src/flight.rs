//! Packets sent and not yet acknowledged, one packet number space each, in bounded memory
//! and time however a trace numbers them.

use std::collections::VecDeque;

/// Range of packet numbers remembered; older packets are forgotten, even those neither acknowledged nor lost.
const MAX_PACKETS: usize = 1 << 18;

/// A packet logged late is put in its place if at most so many others come after it.
const MAX_REORDERING: usize = 1 << 10;

/// Whether a packet is in flight, lost or acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PacketStatus {
    /// Neither acknowledged nor declared lost.
    InFlight,
    /// The sender declared it lost.
    Lost,
    /// An ACK frame acknowledged it.
    Acked,
}

/// A packet that was sent, with what else the caller keeps of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sent<T> {
    /// Send time, ns of the trace's clock.
    pub time: i64,
    /// Size, bytes.
    pub bytes: u32,
    /// As last reported.
    pub status: PacketStatus,
    /// Data of the caller.
    pub extra: T,
}

/// The packets of one space, by number. Those acknowledged are forgotten sooner or later.
#[derive(Clone, Debug)]
pub struct Flight<T> {
    /// Packets with their numbers, ascending.
    packets: VecDeque<(u64, Sent<T>)>,
    /// Number of them that are acknowledged.
    acked: usize,
    /// Largest range of numbers remembered.
    most: usize,
}

impl<T> Default for Flight<T> {
    fn default() -> Self {
        Flight { packets: VecDeque::new(), acked: 0, most: MAX_PACKETS }
    }
}

impl<T> Flight<T> {
    /// Remembers at most so many numbers from now on, where there are many flights.
    pub fn limit(&mut self, most: usize) {
        self.most = most.clamp(1, MAX_PACKETS);
        self.trim();
        self.packets.shrink_to(self.most);
    }

    /// Number of packets remembered.
    #[must_use]
    pub fn remembered(&self) -> usize {
        self.packets.len()
    }

    /// Drops the older half of the packets.
    pub fn halve(&mut self) {
        let half = self.packets.len().div_ceil(2);
        let acked = self.packets.drain(..half).filter(|(_, sent)| sent.status == PacketStatus::Acked).count();
        self.acked = self.acked.saturating_sub(acked);
        self.packets.shrink_to(half * 2);
    }

    /// A packet left. A number below all that are remembered starts anew.
    pub fn sent(&mut self, number: u64, sent: Sent<T>) {
        match (self.packets.front(), self.packets.back()) {
            (Some((first, _)), Some((last, _))) if number <= *last => {
                if number < *first {
                    self.packets.clear();
                    self.acked = 0;
                    self.packets.push_back((number, sent));
                    return;
                }
                if let Some(place) = self.get(number) {
                    *place = sent;
                    return;
                }
                let at = self.packets.partition_point(|(other, _)| *other < number);
                if self.packets.len() - at <= MAX_REORDERING {
                    self.packets.insert(at, (number, sent));
                }
            }
            _ => self.packets.push_back((number, sent)),
        }
        self.trim();
    }

    /// Forgets acknowledged packets at the front, all of them when they are the larger part,
    /// and whatever is too old.
    fn trim(&mut self) {
        let last = self.packets.back().map_or(0, |(number, _)| *number);
        while let Some((number, sent)) = self.packets.front() {
            let acked = sent.status == PacketStatus::Acked;
            if !acked && last - number < self.most as u64 {
                break;
            }
            self.packets.pop_front();
            self.acked -= usize::from(acked && self.acked > 0);
        }
        if self.acked > self.packets.len() / 2 && self.acked > 32 {
            self.packets.retain(|(_, sent)| sent.status != PacketStatus::Acked);
            self.acked = 0;
        }
    }

    /// The oldest packet that may still be asked for.
    pub fn oldest(&mut self) -> Option<&Sent<T>> {
        self.trim();
        self.packets.front().map(|(_, sent)| sent)
    }

    /// The packet of that number; `None` if it is not kept.
    pub fn get(&mut self, number: u64) -> Option<&mut Sent<T>> {
        let at = self.packets.partition_point(|(other, _)| *other < number);
        self.packets.get_mut(at).filter(|(other, _)| *other == number).map(|(_, sent)| sent)
    }

    /// Visits the packets of a range with their numbers, both ends included, from the highest
    /// down, as long as `visit` asks for more. Only packets that are remembered are visited,
    /// however wide the range.
    pub fn range(&mut self, (low, high): (u64, u64), mut visit: impl FnMut(u64, &mut Sent<T>) -> bool) {
        let end = self.packets.partition_point(|(number, _)| *number <= high);
        for (number, sent) in self.packets.range_mut(..end).rev() {
            if *number < low {
                break;
            }
            let before = sent.status;
            let more = visit(*number, sent);
            self.acked += usize::from(before != PacketStatus::Acked && sent.status == PacketStatus::Acked);
            if !more {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet() -> Sent<()> {
        Sent { time: 0, bytes: 1, status: PacketStatus::InFlight, extra: () }
    }

    /// The numbers in flight of a range, which are then acknowledged.
    fn acknowledge(flight: &mut Flight<()>, range: (u64, u64)) -> Vec<u64> {
        let mut found = Vec::new();
        flight.range(range, |number, sent| {
            if sent.status != PacketStatus::Acked {
                found.push(number);
            }
            sent.status = PacketStatus::Acked;
            true
        });
        found
    }

    #[test]
    fn a_range_visits_what_is_remembered_from_the_highest_down() {
        let mut flight = Flight::default();
        for number in [3, 4, 7, 200_000] {
            flight.sent(number, packet());
        }
        assert_eq!(acknowledge(&mut flight, (4, 199_999)), [7, 4]);
        assert_eq!(acknowledge(&mut flight, (0, u64::MAX)), [200_000, 3]);
        assert!(acknowledge(&mut flight, (0, u64::MAX)).is_empty());
        assert_eq!(flight.oldest(), None);
    }

    #[test]
    fn a_lost_packet_at_the_front_does_not_keep_the_others() {
        let mut flight = Flight::default();
        for number in 0..100_000 {
            flight.sent(number, packet());
            if number == 0 {
                flight.get(0).unwrap().status = PacketStatus::Lost;
            } else {
                assert_eq!(acknowledge(&mut flight, (1, number)), [number]);
            }
            assert!(flight.packets.len() < 70, "{number}: {}", flight.packets.len());
        }
        assert_eq!(acknowledge(&mut flight, (0, 5)), [0], "a late acknowledgement");
    }

    #[test]
    fn numbers_logged_late_find_their_place_and_smaller_ones_start_anew() {
        let mut flight = Flight::default();
        for number in [10, 20, 15, 20] {
            flight.sent(number, packet());
        }
        assert_eq!(acknowledge(&mut flight, (0, 30)), [20, 15, 10]);
        flight.sent(40, packet());
        flight.sent(5, packet());
        assert_eq!(acknowledge(&mut flight, (0, 99)), [5]);
    }

    #[test]
    fn memory_is_bounded() {
        let mut flight = Flight::default();
        for number in 0..(MAX_PACKETS as u64 + 1000) {
            flight.sent(number, packet());
        }
        assert_eq!(flight.packets.len(), MAX_PACKETS);
        assert_eq!(flight.oldest().map(|sent| sent.bytes), Some(1));
        flight.sent(u64::MAX, packet());
        assert_eq!(flight.packets.len(), 1, "a jump of numbers");
    }
}
