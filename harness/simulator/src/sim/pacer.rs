//! When the next packet may leave.

/// A burst is at least this much time's worth at the pacing rate, ns: what quinn's pacer
/// lets go at once.
const BURST_NS: f64 = 2e6;

/// Spaces packets at a rate.
///
/// With a burst of one packet, every packet waits for its turn, and no credit is saved up
/// over a pause. With a larger one the pacer is a bucket as quinn's: full at first, emptied
/// at once, and then full again before the next packet leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacer {
    /// The earliest departure of the next packet, ns.
    pub next: u64,
    burst: u32,
    /// Bytes that may leave at once, as of `filled`.
    tokens: f64,
    filled: u64,
}

impl Pacer {
    /// A pacer that lets `burst` packets go at once.
    pub fn new(burst: u32) -> Pacer {
        Pacer { next: 0, burst, tokens: f64::INFINITY, filled: 0 }
    }

    /// A packet of `bytes` leaves at `now`, at `rate` in bit/s if there is one.
    #[inline]
    pub fn sent(&mut self, now: u64, bytes: u32, rate: Option<u64>) {
        let bytes = f64::from(bytes);
        // ns per byte
        let pace = rate.map_or(0.0, |rate| 8e9 / rate.max(1) as f64);
        if self.burst > 1 && pace > 0.0 {
            self.drain(now, bytes, pace);
        } else {
            self.next = self.next.max(now).saturating_add((bytes * pace) as u64);
        }
    }

    fn drain(&mut self, now: u64, bytes: f64, pace: f64) {
        let room = (f64::from(self.burst) * bytes).max(BURST_NS / pace);
        let gained = now.saturating_sub(self.filled) as f64 / pace;
        self.tokens = (self.tokens + gained).min(room) - bytes;
        self.filled = now;
        self.next = if self.tokens >= bytes { now } else { now.saturating_add(((room - self.tokens) * pace) as u64) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_decides_the_gap_and_a_pause_earns_nothing() {
        let mut pacer = Pacer::new(1);
        pacer.sent(0, 1200, Some(9_600_000));
        assert_eq!(pacer.next, 1_000_000);
        pacer.sent(1_000_000, 1200, Some(9_600_000));
        assert_eq!(pacer.next, 2_000_000);
        pacer.sent(9_000_000, 1200, Some(9_600_000));
        assert_eq!(pacer.next, 10_000_000);
    }

    #[test]
    fn without_a_rate_nothing_waits() {
        let mut free = Pacer::new(1);
        free.sent(5, 1200, None);
        assert_eq!(free.next, 5);
    }

    #[test]
    fn a_bucket_empties_at_once_and_fills_before_it_goes_on() {
        let mut pacer = Pacer::new(10);
        for _ in 0..9 {
            pacer.sent(0, 1200, Some(9_600_000));
            assert_eq!(pacer.next, 0);
        }
        pacer.sent(0, 1200, Some(9_600_000));
        assert_eq!(pacer.next, 10_000_000, "ten packets of a millisecond each");
        pacer.sent(10_000_000, 1200, Some(9_600_000));
        assert_eq!(pacer.next, 10_000_000, "nine left");
    }
}
