//! What a TCP sender knows its receiver has, segment by segment (`RFC 6675 §4`). Data is counted
//! in chunks, which stand for segments.

use windlass_network::ring::Ring;

/// Set once the receiver has the chunk; below it is the number of the packet that carried it last.
const HAS: u64 = 1 << 63;

/// The chunks that are not acknowledged cumulatively.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    latest: Ring<u64>,
    /// Chunks before it are received or were taken for lost.
    judged: u64,
    /// How many from `judged` on the receiver has.
    beyond: u64,
}

impl Scoreboard {
    /// `SND.UNA`, or HighACK + 1: everything before this chunk is acknowledged.
    #[inline]
    pub fn edge(&self) -> u64 {
        self.latest.first()
    }

    /// Packet `number` carries `chunk`; new chunks leave in order.
    #[inline]
    pub fn sent(&mut self, chunk: u64, number: u64) {
        if chunk == self.latest.next() {
            self.latest.push(number);
        } else if let Some(latest) = self.latest.get_mut(chunk) {
            *latest = number | (*latest & HAS);
        }
    }

    /// The receiver has `chunk`.
    #[inline]
    pub fn received(&mut self, chunk: u64) {
        if let Some(latest) = self.latest.get_mut(chunk).filter(|latest| **latest & HAS == 0) {
            *latest |= HAS;
            self.beyond += u64::from(chunk >= self.judged);
        }
    }

    /// Number of the packet that carried `chunk` last; `None` if the chunk is acknowledged
    /// cumulatively or was never sent.
    #[inline]
    pub fn latest(&self, chunk: u64) -> Option<u64> {
        self.latest.get(chunk).map(|latest| latest & !HAS)
    }

    /// Takes a chunk that is acknowledged cumulatively from the front: the packet that carried
    /// it last. `None` if the next one is missing.
    #[inline]
    pub fn advance(&mut self) -> Option<u64> {
        let latest = *self.latest.front().filter(|latest| **latest & HAS != 0)?;
        if self.judged == self.edge() {
            self.judged += 1;
            self.beyond -= 1;
        }
        self.latest.pop();
        Some(latest & !HAS)
    }

    /// The next chunk, in order, that was never taken for lost and is: `threshold` later ones
    /// have arrived (`IsLost`). The packet that carried it.
    #[inline]
    pub fn next_lost(&mut self, threshold: u64) -> Option<u64> {
        loop {
            let latest = *self.latest.get(self.judged)?;
            if latest & HAS != 0 {
                self.beyond -= 1;
            } else if self.beyond < threshold {
                return None;
            }
            self.judged += 1;
            if latest & HAS == 0 {
                return Some(latest);
            }
        }
    }

    /// Whether the first chunk that is not acknowledged was taken for lost (`IsLost(HighACK + 1)`).
    #[inline]
    pub fn is_edge_lost(&self) -> bool {
        self.judged > self.edge()
    }

    /// Everything that was sent and is missing is taken for lost.
    pub fn lose_all(&mut self) {
        self.judged = self.latest.next();
        self.beyond = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(chunks: u64) -> Scoreboard {
        let mut board = Scoreboard::default();
        (0..chunks).for_each(|chunk| board.sent(chunk, 100 + chunk));
        board
    }

    #[test]
    fn what_comes_in_order_moves_the_edge() {
        let mut board = of(3);
        board.received(1);
        assert_eq!((board.advance(), board.edge()), (None, 0));
        board.received(0);
        board.received(0);
        assert_eq!((board.advance(), board.advance(), board.advance()), (Some(100), Some(101), None));
        board.received(1);
        assert_eq!((board.edge(), board.next_lost(1), board.is_edge_lost()), (2, None, false));
    }

    /// `RFC 6675 §4 IsLost`: three later segments, whether or not they follow each other.
    #[test]
    fn a_segment_is_lost_when_three_later_ones_have_arrived() {
        let mut board = of(9);
        board.received(2);
        board.received(4);
        assert_eq!(board.next_lost(3), None);
        board.received(8);
        assert_eq!((board.next_lost(3), board.next_lost(3), board.next_lost(3)), (Some(100), Some(101), None));
        assert!(board.is_edge_lost());
        board.received(5);
        assert_eq!((board.next_lost(3), board.next_lost(3)), (Some(103), None), "4, 5 and 8 are behind 3");
    }

    /// `RFC 6675 §5`: a retransmission is not taken for lost again but by the timer.
    #[test]
    fn a_retransmission_is_not_lost_again() {
        let mut board = of(6);
        (1..4).for_each(|chunk| board.received(chunk));
        assert_eq!(board.next_lost(3), Some(100));
        board.sent(0, 107);
        (4..6).for_each(|chunk| board.received(chunk));
        assert_eq!((board.next_lost(3), board.latest(0)), (None, Some(107)));
        board.received(0);
        assert_eq!(std::iter::from_fn(|| board.advance()).collect::<Vec<_>>(), [107, 101, 102, 103, 104, 105]);
        board.sent(6, 108);
        assert_eq!((board.is_edge_lost(), board.next_lost(1)), (false, None));
    }

    #[test]
    fn a_timeout_loses_all_that_is_missing() {
        let mut board = of(6);
        board.received(2);
        board.lose_all();
        assert!(board.is_edge_lost());
        board.received(3);
        board.sent(6, 107);
        assert_eq!(board.next_lost(1), None, "6 is the only one to be judged");
        board.sent(7, 108);
        board.received(7);
        assert_eq!(board.next_lost(1), Some(107));
    }
}
