//! How much of a flow's own data waits in the path's queues.

use crate::choice;

choice! {
    /// Whether the backlog is a whole number of packets (`spec: chan §13 A3`).
    pub enum Rounding {
        /// The backlog as estimated, a fraction.
        None = "none",
        /// To the nearest whole number, halves upwards.
        Nearest = "nearest",
    }
}

impl Rounding {
    /// Applies the rounding to a backlog in packets.
    #[must_use]
    pub fn apply(self, packets: f64) -> f64 {
        match self {
            Rounding::None => packets,
            Rounding::Nearest => libm::floor(packets + 0.5),
        }
    }
}

/// The path's delays, as the RTT samples of a round give them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Delays {
    /// Round-trip time without queueing: BaseRTT, nanoseconds.
    pub base: f64,
    /// Round-trip time of the round, less what the scheme does not blame on the flow,
    /// nanoseconds; not below `base`.
    pub rtt: f64,
}

impl Delays {
    /// Neither is below zero, and the round's RTT is not below the base: where it seems
    /// to be, as with a queueing time that was over-reported, there is no backlog
    /// (`spec: chan §3.6 P1, §4.6`).
    #[must_use]
    pub fn new(base: f64, rtt: f64) -> Delays {
        let base = base.max(0.0);
        Delays { base, rtt: rtt.max(base) }
    }
}

/// Δ = window · (1 − BaseRTT/RTT), packets (`spec: chan §3.5, Eqs. 2.1 and 3.2`), in the
/// form that loses nothing to rounding.
#[must_use]
pub fn backlog(window: f64, delays: Delays) -> f64 {
    if delays.rtt > 0.0 { window * ((delays.rtt - delays.base) / delays.rtt) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::assert_close;

    fn delta(window: f64, base: f64, rtt: f64) -> f64 {
        backlog(window, Delays::new(base, rtt))
    }

    /// `spec: chan §3.9`.
    #[test]
    fn vectors() {
        assert_eq!(delta(10.0, 100.0, 125.0), 2.0);
        assert_eq!(delta(20.0, 100.0, 125.0), 4.0);
        assert_close(delta(20.0, 100.0, 104.0), 0.769, 1e-3);
        assert_eq!(Rounding::Nearest.apply(delta(20.0, 100.0, 104.0)), 1.0);
        assert_close(delta(64.0, 100.0, 102.56), 1.5975, 1e-4);
        assert_eq!(Rounding::Nearest.apply(delta(64.0, 100.0, 102.56)), 2.0);
        assert_close(delta(32.0, 100.0, 101.28), 0.404, 2e-3);
        assert_eq!(Rounding::Nearest.apply(delta(32.0, 100.0, 101.28)), 0.0);
    }

    /// `spec: arumaithurai §10` gives 4.0 for w 20, base 100 ms, RTT 120 ms, because its
    /// `diff` is scaled by RTT/BaseRTT against this Δ (`§6.2`: w·(rtt − base)/base).
    #[test]
    fn another_document_scales_it_by_the_inflation() {
        assert_close(delta(20.0, 100.0, 120.0) * 120.0 / 100.0, 4.0, 1e-12);
    }

    #[test]
    fn no_delay_is_no_backlog() {
        assert_eq!(delta(20.0, 0.0, 0.0), 0.0);
        assert_eq!(delta(20.0, 100.0, 90.0), 0.0, "never negative");
        assert_eq!(delta(20.0, -5.0, -9.0), 0.0);
        assert_eq!(delta(20.0, -5.0, 10.0), 20.0, "no more than the window");
    }

    #[test]
    fn halves_round_upwards() {
        assert_eq!(Rounding::Nearest.apply(2.5), 3.0);
        assert_eq!(Rounding::Nearest.apply(2.499), 2.0);
        assert_eq!(Rounding::None.apply(2.499), 2.499);
    }
}
