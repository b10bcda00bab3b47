//! What connections that take turns lose: enough to keep windows in congestion avoidance, and
//! never many at the same time.

/// A loss whenever so many packets of the first flow are in flight keeps it near there.
pub const MOST: usize = 100;
/// And so many more of each flow after it: no two lose at the same time for long, so that
/// every block has its share of frames after which nothing leaves.
const STEP: usize = 2;
/// Of those in flight, one in so many is lost then. Of fewer than a fifth quiche's CUBIC takes its
/// reduction back, and soon has as many in flight again: most of what it does would be to lose packets.
const LOST: usize = 4;

/// The losses of one flow.
pub struct Losses {
    most: usize,
    lost: u64,
}

impl Losses {
    /// Of the flow with this number, from 0 on.
    pub fn of(flow: usize) -> Losses {
        Losses { most: MOST + STEP * flow, lost: 0 }
    }

    /// How many packets, the oldest, are lost now that so many are in flight.
    #[inline]
    pub fn next(&mut self, in_flight: usize) -> usize {
        let lost = if in_flight >= self.most { self.most / LOST } else { 0 };
        self.lost += lost as u64;
        lost
    }

    /// Packets lost since the latest call.
    pub fn take(&mut self) -> u64 {
        std::mem::take(&mut self.lost)
    }
}
