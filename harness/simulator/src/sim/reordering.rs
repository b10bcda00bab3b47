//! Thresholds of loss detection that adapt to a path that reorders packets (`RFC 9002 §6.1.1`), as
//! RACK's do (`RFC 8985 §6.2`): losses that prove spurious take the place of duplicate SACKs.

use windlass_adapter::rfc9002::{PACKET_THRESHOLD, RttEstimator};
use windlass_controllers::Span;

/// Recoveries without a spurious loss after which the reordering window shrinks again
/// (`RFC 8985 §6.2` step 4, `RACK.reo_wnd_persist`).
const PERSIST: u32 = 16;

/// When a packet counts as lost, of a sender that has seen reordering or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Thresholds {
    adaptive: bool,
    /// Quarters of the minimum RTT that a packet may come late; 0 before reordering was seen
    /// (`RACK.reo_wnd_mult`).
    quarters: u32,
    /// Recoveries until it shrinks.
    persist: u32,
    /// No late packet numbered below widens the window again (`RACK.dsack_round`).
    round: u64,
    /// When packets were last declared lost, ns.
    lost_at: Option<u64>,
}

impl Thresholds {
    /// Those of RFC 9002, which `adapt` to reordering or stay.
    pub fn new(adapt: bool) -> Thresholds {
        Thresholds { adaptive: adapt, quarters: 0, persist: 0, round: 0, lost_at: None }
    }

    /// How many later packets have to be acknowledged before a packet is lost: `of_path`, or on a path that reorders
    /// none are enough, for time alone decides there (`RFC 8985 §6.2` step 4).
    #[inline]
    pub fn packets(&self, of_path: u64) -> u64 {
        if self.quarters == 0 { of_path.max(PACKET_THRESHOLD) } else { u64::MAX }
    }

    /// How long after it left a packet is lost once a later one was acknowledged: 9/8 of an RTT
    /// (`RFC 9002 §6.1.2`), on a path that reorders an RTT and the reordering window, which is no longer
    /// than the smoothed RTT (`RFC 8985 §6.2` step 4).
    #[inline]
    pub fn delay(&self, rtt: &RttEstimator) -> Span {
        if self.quarters == 0 { rtt.loss_delay() } else { self.window(rtt) }
    }

    #[cold]
    fn window(&self, rtt: &RttEstimator) -> Span {
        let window = Span((rtt.min.0 / 4).saturating_mul(u64::from(self.quarters))).min(rtt.smoothed);
        rtt.loss_delay().max(rtt.latest.max(rtt.smoothed) + window)
    }

    /// A packet was acknowledged that an earlier ACK had skipped (`RFC 8985 §6.2` step 3).
    #[inline]
    pub fn on_overtaken(&mut self) {
        if self.adaptive && self.quarters == 0 {
            (self.quarters, self.persist) = (1, PERSIST);
        }
    }

    /// Packet `number`, declared lost, was acknowledged late; `next` is the number of the next packet. Once in a round
    /// trip that widens the window.
    pub fn on_spurious_loss(&mut self, number: u64, next: u64) {
        if self.adaptive && number >= self.round {
            self.round = next;
            self.quarters = self.quarters.saturating_add(1);
            self.persist = PERSIST;
        }
    }

    /// Packets were declared lost at `now`, the newest of them sent at `newest_sent_at`. Losses of packets sent after
    /// the losses before begin another recovery.
    pub fn on_losses(&mut self, now: u64, newest_sent_at: u64) {
        if self.quarters == 0 {
            return;
        }
        if self.lost_at.is_none_or(|at| newest_sent_at > at) {
            self.persist -= 1;
            if self.persist == 0 {
                // The window stays open: reordering was seen.
                (self.quarters, self.persist) = (1, PERSIST);
            }
        }
        self.lost_at = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_controllers::Time;

    fn rtt() -> RttEstimator {
        let mut rtt = RttEstimator::new();
        rtt.sample(Time(0), Span::from_millis(40), Span::ZERO);
        rtt
    }

    #[test]
    fn fixed_ones_stay_as_rfc_9002_has_them() {
        let mut fixed = Thresholds::new(false);
        fixed.on_overtaken();
        fixed.on_spurious_loss(5, 10);
        assert_eq!((fixed.packets(3), fixed.packets(7), fixed.delay(&rtt())), (3, 7, Span::from_millis(45)));
    }

    #[test]
    fn the_window_widens_once_a_round_trip_and_ends_at_the_smoothed_rtt() {
        let mut thresholds = Thresholds::new(true);
        assert_eq!((thresholds.packets(3), thresholds.delay(&rtt())), (3, Span::from_millis(45)));
        thresholds.on_overtaken();
        thresholds.on_overtaken();
        assert_eq!((thresholds.packets(3), thresholds.delay(&rtt())), (u64::MAX, Span::from_millis(50)));
        thresholds.on_spurious_loss(5, 10);
        thresholds.on_spurious_loss(9, 12);
        assert_eq!(thresholds.delay(&rtt()), Span::from_millis(60));
        for round in 2..9 {
            thresholds.on_spurious_loss(10 * round, 10 * round + 10);
        }
        assert_eq!(thresholds.delay(&rtt()), Span::from_millis(80));
    }

    #[test]
    fn sixteen_recoveries_without_a_spurious_loss_narrow_it() {
        let mut thresholds = Thresholds::new(true);
        thresholds.on_overtaken();
        thresholds.on_spurious_loss(10, 20);
        for recovery in 1..16 {
            thresholds.on_losses(100 * recovery, 100 * recovery - 50);
            thresholds.on_losses(100 * recovery + 1, 100 * recovery - 40);
        }
        assert_eq!(thresholds.delay(&rtt()), Span::from_millis(60));
        thresholds.on_losses(1600, 1550);
        assert_eq!(thresholds.delay(&rtt()), Span::from_millis(50));
    }
}
