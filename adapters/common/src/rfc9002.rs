//! The arithmetic of RFC 9002 that stacks leave to a congestion controller's surroundings: RTT
//! estimation (§5), loss thresholds (§6.1), the probe timeout (§6.2) and persistent congestion
//! (§7.6).
//!
//! Pure functions of times and spans. Sums and products saturate; divisions round down.

use windlass_controllers::{Span, Time};

/// `kGranularity`, the granularity of timers (RFC 9002 §6.1.2).
pub const GRANULARITY: Span = Span::from_millis(1);

/// `kInitialRtt`, the RTT assumed before the first sample (RFC 9002 §6.2.2).
pub const INITIAL_RTT: Span = Span::from_millis(333);

/// `kPacketThreshold`: a packet is lost once one numbered so much higher was acknowledged
/// (RFC 9002 §6.1.1).
pub const PACKET_THRESHOLD: u64 = 3;

/// `kPersistentCongestionThreshold`, in probe timeouts (RFC 9002 §7.6.1).
pub const PERSISTENT_CONGESTION_THRESHOLD: u64 = 3;

/// A peer's `max_ack_delay` unless it sends another (RFC 9000 §18.2).
pub const DEFAULT_MAX_ACK_DELAY: Span = Span::from_millis(25);

/// `smoothed_rtt` after a sample, which counts for an eighth (RFC 9002 §5.3).
#[must_use]
#[inline]
pub fn smoothed_rtt(smoothed: Span, sample: Span) -> Span {
    Span(smoothed.0.saturating_mul(7).saturating_add(sample.0) / 8)
}

/// `rttvar` after a sample, whose distance from `smoothed`, the estimate before it, counts for a
/// quarter (RFC 9002 §5.3).
#[must_use]
#[inline]
pub fn rtt_variation(variation: Span, smoothed: Span, sample: Span) -> Span {
    Span(variation.0.saturating_mul(3).saturating_add(smoothed.0.abs_diff(sample.0)) / 4)
}

/// `adjusted_rtt`: the sample less the peer's ACK delay, unless that would go below the minimum
/// (RFC 9002 §5.3).
#[must_use]
#[inline]
pub fn adjusted_rtt(latest: Span, min: Span, ack_delay: Span) -> Span {
    if latest >= min + ack_delay { latest - ack_delay } else { latest }
}

/// The probe timeout before backoff (RFC 9002 §6.2.1).
#[must_use]
#[inline]
pub fn probe_timeout(smoothed: Span, variation: Span, max_ack_delay: Span) -> Span {
    smoothed + Span(variation.0.saturating_mul(4)).max(GRANULARITY) + max_ack_delay
}

/// How long after it was sent a packet is lost once a later one was acknowledged: 9/8 of the larger
/// RTT (`kTimeThreshold`, RFC 9002 §6.1.2).
#[must_use]
#[inline]
pub fn loss_delay(latest: Span, smoothed: Span) -> Span {
    let rtt = latest.max(smoothed);
    (rtt + Span(rtt.0 / 8)).max(GRANULARITY)
}

/// How long losses must span to be persistent congestion, on a path with this probe timeout
/// (RFC 9002 §7.6.1).
#[must_use]
#[inline]
pub fn persistent_congestion_duration(probe_timeout: Span) -> Span {
    Span(probe_timeout.0.saturating_mul(PERSISTENT_CONGESTION_THRESHOLD))
}

/// Lost packets between which none was acknowledged, in the order they were sent: persistent
/// congestion once they span long enough (RFC 9002 §7.6.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LossRun {
    first_sent_at: Option<Time>,
}

impl LossRun {
    /// A packet sent after those so far was acknowledged: the next loss begins another run.
    #[inline]
    pub fn interrupt(&mut self) {
        self.first_sent_at = None;
    }

    /// An ack-eliciting packet sent at `sent_at` was lost. Returns whether its run spans more than
    /// `duration`, which ends the run. Only packets sent after the first RTT sample, taken at
    /// `first_sample`, count; `None`: there was none.
    #[inline]
    pub fn add(&mut self, sent_at: Time, first_sample: Option<Time>, duration: impl FnOnce() -> Span) -> bool {
        if first_sample.is_none_or(|first| sent_at <= first) {
            self.first_sent_at = None;
            return false;
        }
        let persistent = sent_at.since(*self.first_sent_at.get_or_insert(sent_at)) > duration();
        if persistent {
            self.first_sent_at = None;
        }
        persistent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Span = Span::from_millis;

    #[test]
    fn estimates_move_by_an_eighth_and_a_quarter() {
        assert_eq!(smoothed_rtt(MS(100), MS(180)), MS(110));
        assert_eq!(rtt_variation(MS(50), MS(100), MS(180)), Span(57_500_000));
        assert_eq!(rtt_variation(MS(50), MS(180), MS(100)), Span(57_500_000));
        assert_eq!(smoothed_rtt(Span(1), Span(8)), Span(1), "rounded down");
    }

    #[test]
    fn ack_delay_counts_unless_it_would_go_below_the_minimum() {
        assert_eq!(adjusted_rtt(MS(120), MS(100), MS(20)), MS(100));
        assert_eq!(adjusted_rtt(MS(119), MS(100), MS(20)), MS(119));
    }

    #[test]
    fn timers_are_no_finer_than_a_millisecond() {
        assert_eq!(probe_timeout(MS(100), MS(50), MS(25)), MS(325));
        assert_eq!(probe_timeout(MS(100), Span(1), Span::ZERO), MS(101));
        assert_eq!(persistent_congestion_duration(MS(325)), MS(975));
        assert_eq!(loss_delay(MS(80), MS(160)), MS(180));
        assert_eq!(loss_delay(Span(8), Span(8)), GRANULARITY);
    }

    #[test]
    fn nothing_overflows() {
        let most = Span(u64::MAX);
        assert_eq!(probe_timeout(most, most, most), most);
        assert_eq!(persistent_congestion_duration(most), most);
        assert_eq!(loss_delay(most, most), most);
        assert_eq!(adjusted_rtt(most, most, most), Span::ZERO);
    }

    #[test]
    fn a_run_is_persistent_beyond_the_duration_and_after_the_first_sample() {
        let spans = |sent: [u64; 3], duration, sample: Option<u64>, broken: Option<usize>| {
            let mut run = LossRun::default();
            sent.iter().enumerate().any(|(index, sent_at)| {
                if broken == Some(index) {
                    run.interrupt();
                }
                run.add(Time(*sent_at), sample.map(Time), || Span(duration))
            })
        };
        let sent = [20, 50, 90];
        assert!(spans(sent, 69, Some(0), None));
        assert!(!spans(sent, 70, Some(0), None), "no longer than the duration");
        assert!(!spans(sent, 69, Some(20), None), "the first was sent before there was a sample");
        assert!(spans(sent, 39, Some(20), None), "the others are far enough apart");
        assert!(!spans(sent, 0, None, None), "there was no sample");
        assert!(!spans(sent, 69, Some(0), Some(1)), "something arrived in between");
        assert!(spans(sent, 39, Some(0), Some(1)), "from the second on");
    }
}
