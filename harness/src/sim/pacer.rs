//! When the next packet may leave.

/// `RFC 9002 §7.7`: a factor over cwnd/smoothed RTT that leaves the window in charge.
const FACTOR: f64 = 1.25;

/// Spaces packets at a rate. No credit is saved up: after a pause one packet leaves at
/// once and the next waits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pacer {
    /// The earliest departure of the next packet, ns.
    pub next: u64,
}

impl Pacer {
    /// A packet of `bytes` leaves at `now`. `rate` is the controller's, bit/s; without one
    /// the window is spread over the RTT, once there is a sample, if `spread` says so.
    #[inline]
    pub fn sent(&mut self, now: u64, bytes: u32, rate: Option<u64>, spread: Option<(u64, u64)>) {
        let gap = match (rate, spread) {
            (Some(rate), _) => 8e9 * f64::from(bytes) / rate.max(1) as f64,
            (None, Some((cwnd, smoothed))) => f64::from(bytes) * smoothed as f64 / (FACTOR * cwnd.max(1) as f64),
            (None, None) => 0.0,
        };
        self.next = self.next.max(now).saturating_add(gap as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_decides_the_gap_and_a_pause_earns_nothing() {
        let mut pacer = Pacer::default();
        pacer.sent(0, 1200, Some(9_600_000), None);
        assert_eq!(pacer.next, 1_000_000);
        pacer.sent(1_000_000, 1200, Some(9_600_000), None);
        assert_eq!(pacer.next, 2_000_000);
        pacer.sent(9_000_000, 1200, Some(9_600_000), None);
        assert_eq!(pacer.next, 10_000_000);
    }

    #[test]
    fn without_a_rate_the_window_leaves_in_four_fifths_of_an_rtt() {
        let mut pacer = Pacer::default();
        for i in 0..10 {
            assert_eq!(pacer.next, i * 8_000_000);
            pacer.sent(pacer.next, 1200, None, Some((12_000, 100_000_000)));
        }
        let mut free = Pacer::default();
        free.sent(5, 1200, None, None);
        assert_eq!(free.next, 5);
    }
}
