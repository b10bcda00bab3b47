//! Packets sent and not yet acknowledged, one packet number space each.

use std::collections::VecDeque;

/// Jumps of packet numbers that are followed; a larger one starts anew.
const GAP: u64 = 1 << 16;

/// Packets that are remembered, acknowledged or not. The oldest are forgotten.
const MOST: usize = 1 << 18;

/// What became of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    /// It is not known to have been sent.
    Unsent,
    /// On its way.
    InFlight,
    /// Declared lost.
    Lost,
    /// Acknowledged.
    Acked,
}

/// A packet that was sent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Sent {
    pub(super) time: i64,
    pub(super) bytes: u32,
    pub(super) fate: Fate,
    /// Its data, a part of the meter's store: first and number.
    pub(super) streams: (u64, u32),
}

const UNSENT: Sent = Sent { time: 0, bytes: 0, fate: Fate::Unsent, streams: (0, 0) };

/// The packets of one space, by number.
#[derive(Clone, Default, Debug)]
pub(super) struct Flight {
    first: u64,
    packets: VecDeque<Sent>,
}

impl Flight {
    /// A packet left.
    pub(super) fn sent(&mut self, number: u64, sent: Sent) {
        let next = self.first + self.packets.len() as u64;
        if self.packets.is_empty() || number >= next.saturating_add(GAP) || number < self.first {
            self.packets.clear();
            self.first = number;
            self.packets.push_back(sent);
            return;
        }
        if number < next {
            self.packets[(number - self.first) as usize] = sent;
            return;
        }
        for _ in next..number {
            self.packets.push_back(UNSENT);
        }
        self.packets.push_back(sent);
        self.trim();
    }

    /// Forgets packets at the front whose fate is settled, and the oldest beyond [`MOST`].
    fn trim(&mut self) {
        while let Some(packet) = self.packets.front() {
            // A lost packet may still be acknowledged: it stays while there is room.
            let settled = matches!(packet.fate, Fate::Acked | Fate::Unsent);
            if !(settled && self.packets.len() > 1) && self.packets.len() <= MOST {
                break;
            }
            self.packets.pop_front();
            self.first += 1;
        }
    }

    /// The number of the first data frame that may still be asked for.
    pub(super) fn first_stream(&mut self) -> Option<u64> {
        self.trim();
        self.packets.iter().find(|sent| sent.fate != Fate::Unsent).map(|sent| sent.streams.0)
    }

    /// A packet by number.
    pub(super) fn get(&mut self, number: u64) -> Option<&mut Sent> {
        let index = number.checked_sub(self.first)?;
        self.packets.get_mut(usize::try_from(index).ok()?).filter(|sent| sent.fate != Fate::Unsent)
    }

    /// Visits the packets of a range, both ends included, from the highest down, as long as
    /// `visit` asks for more. Only packets that are remembered are visited, however wide
    /// the range.
    pub(super) fn range(&mut self, (low, high): (u64, u64), mut visit: impl FnMut(&mut Sent) -> bool) {
        let (Some(last), first) = (self.packets.len().checked_sub(1), self.first) else { return };
        if high < first || low > first + last as u64 {
            return;
        }
        let from = low.saturating_sub(first) as usize;
        let to = usize::try_from(high - first).unwrap_or(usize::MAX).min(last);
        for packet in self.packets.range_mut(from..=to).rev() {
            if packet.fate != Fate::Unsent && !visit(packet) {
                break;
            }
        }
    }
}
