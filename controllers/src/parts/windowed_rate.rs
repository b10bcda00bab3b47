//! A rate with a window beside it, as controllers for media have: their documents know no window, a stack needs one.

use super::limits::initial_cwnd;

/// The least window (`RFC 9002 §7.2`), packets.
pub(crate) const MIN_WINDOW: f64 = 2.0;

/// What bounds the rate of a flow, and what window goes with a rate. Rates are bit/s.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowedRate {
    /// Least and largest rate; two packets in a round trip may leave in any case.
    pub range: (f64, f64),
    /// Round trips at a rate that its window holds.
    pub round_trips: f64,
    /// First and largest window, packets.
    pub windows: (f64, f64),
    /// What losses bound the window to, packets.
    pub bound: f64,
    /// What may be in flight in any case at most, bytes.
    pub most: f64,
    /// Datagram size, bytes.
    pub mtu: f64,
    /// Smoothed RTT, s.
    pub s_rtt: f64,
}

impl WindowedRate {
    fn initial_cwnd(&self) -> f64 {
        let (iw, max_window) = self.windows;
        initial_cwnd(iw, max_window, self.mtu)
    }

    /// That of the initial window.
    #[inline]
    pub fn first(&self) -> f64 {
        8.0 * self.initial_cwnd() / self.s_rtt
    }

    /// The least rate.
    #[inline]
    pub fn least(&self) -> f64 {
        let (least, most) = self.range;
        (8.0 * MIN_WINDOW * self.mtu / self.s_rtt).max(least).min(most)
    }

    /// `rate` within its range, and no more than losses leave.
    #[inline]
    pub fn clip(&self, rate: f64) -> f64 {
        let bound = 8.0 * self.bound * self.mtu / self.s_rtt;
        rate.min(bound).min(self.range.1).max(self.least())
    }

    /// The rate that a window of `bytes` is made of.
    #[inline]
    pub fn of_window(&self, bytes: u64) -> f64 {
        // Half a byte more, so that whole bytes come out again.
        8.0 * (bytes as f64 + 0.5) / (self.round_trips * self.s_rtt)
    }

    /// The window at `rate`, bytes; the first one before there is a rate.
    #[inline]
    pub fn cwnd(&self, rate: Option<f64>) -> f64 {
        let cwnd = rate.map_or_else(|| self.initial_cwnd(), |rate| self.round_trips * rate * self.s_rtt / 8.0);
        cwnd.min(self.bound.min(self.windows.1) * self.mtu).min(self.most).max(MIN_WINDOW * self.mtu)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: WindowedRate = WindowedRate {
        range: (0.0, 1e9),
        round_trips: 1.5,
        windows: (10.0, 1e6),
        bound: f64::INFINITY,
        most: f64::INFINITY,
        mtu: 1200.0,
        s_rtt: 0.1,
    };

    #[test]
    fn a_rate_is_within_its_range_and_what_losses_leave() {
        assert_eq!((RATES.first(), RATES.least(), RATES.clip(2e9)), (960e3, 192e3, 1e9));
        let bounded = WindowedRate { range: (500e3, 1e9), bound: 20.0, ..RATES };
        assert_eq!([1.0, 1e6, 1e9].map(|rate| bounded.clip(rate)), [500e3, 1e6, 1.92e6]);
    }

    #[test]
    fn a_window_is_whole_again_after_its_rate() {
        assert_eq!((RATES.cwnd(None), RATES.cwnd(Some(1.0))), (12_000.0, 2400.0));
        for bytes in (2400..200_000).step_by(7) {
            assert_eq!(RATES.cwnd(Some(RATES.of_window(bytes))) as u64, bytes);
        }
    }
}
