//! The arithmetic of RFC 9002 that stacks leave to a congestion controller's surroundings: RTT
//! estimation (§5), loss thresholds (§6.1), the probe timeout (§6.2) and persistent congestion
//! (§7.6).
//!
//! Pure functions of times and spans, and what they keep between samples and losses. Sums and products saturate; divisions round down.

use windlass_controllers::event::RttSample;
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

/// What a sender estimates of the RTT of a path (RFC 9002 §5), for stacks that have no estimator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RttEstimator {
    /// `latest_rtt`; zero before the first sample.
    pub latest: Span,
    /// `smoothed_rtt`; [`INITIAL_RTT`] before the first sample.
    pub smoothed: Span,
    /// `rttvar`; half of [`INITIAL_RTT`] before the first sample.
    pub variation: Span,
    /// `min_rtt`; zero before the first sample.
    pub min: Span,
    /// Time of the first sample; `None` before it.
    pub first_sample: Option<Time>,
}

impl Default for RttEstimator {
    fn default() -> RttEstimator {
        RttEstimator::new()
    }
}

impl RttEstimator {
    /// Before the first sample (RFC 9002 §5.3).
    #[must_use]
    pub const fn new() -> RttEstimator {
        RttEstimator {
            latest: Span::ZERO,
            smoothed: INITIAL_RTT,
            variation: Span(INITIAL_RTT.0 / 2),
            min: Span::ZERO,
            first_sample: None,
        }
    }

    /// Takes a sample. `ack_delay` is what the receiver reports, at most its `max_ack_delay`.
    #[inline]
    pub fn sample(&mut self, now: Time, latest: Span, ack_delay: Span) -> RttSample {
        self.latest = latest;
        if self.first_sample.is_none() {
            self.first_sample = Some(now);
            (self.min, self.smoothed, self.variation) = (latest, latest, Span(latest.0 / 2));
        } else {
            self.min = self.min.min(latest);
            let adjusted = adjusted_rtt(latest, self.min, ack_delay);
            self.variation = rtt_variation(self.variation, self.smoothed, adjusted);
            self.smoothed = smoothed_rtt(self.smoothed, adjusted);
        }
        RttSample::new(latest, self.smoothed, self.variation, self.min).with_ack_delay(ack_delay)
    }

    /// Forgets the minimum but for the latest sample, after persistent congestion (RFC 9002 §5.2).
    pub fn restart_min(&mut self) {
        self.min = self.latest;
    }

    /// The probe timeout before backoff (RFC 9002 §6.2.1).
    #[must_use]
    #[inline]
    pub fn pto(&self, max_ack_delay: Span) -> Span {
        probe_timeout(self.smoothed, self.variation, max_ack_delay)
    }

    /// How long after it was sent a packet is lost once a later one was acknowledged (RFC 9002
    /// §6.1.2).
    #[must_use]
    #[inline]
    pub fn loss_delay(&self) -> Span {
        loss_delay(self.latest, self.smoothed)
    }

    /// How long losses must span to be persistent congestion (RFC 9002 §7.6.1).
    #[must_use]
    pub fn persistent_congestion_duration(&self, max_ack_delay: Span) -> Span {
        persistent_congestion_duration(self.pto(max_ack_delay))
    }
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
    fn first_sample_then_weights_of_an_eighth_and_a_quarter() {
        let mut rtt = RttEstimator::new();
        assert_eq!(rtt.pto(Span::ZERO), MS(999));
        rtt.sample(Time(5), MS(100), Span::ZERO);
        assert_eq!((rtt.smoothed, rtt.variation, rtt.min), (MS(100), MS(50), MS(100)));
        assert_eq!(rtt.pto(MS(25)), MS(325));
        rtt.sample(Time(6), MS(180), Span::ZERO);
        assert_eq!((rtt.smoothed, rtt.variation, rtt.min), (MS(110), Span(57_500_000), MS(100)));
        assert_eq!(rtt.loss_delay(), Span(202_500_000));
        assert_eq!(rtt.first_sample, Some(Time(5)));
        rtt.restart_min();
        assert_eq!(rtt.min, MS(180));
    }

    #[test]
    fn ack_delay_counts_from_the_second_sample_on() {
        let mut rtt = RttEstimator::new();
        rtt.sample(Time(0), MS(100), MS(10));
        assert_eq!(rtt.smoothed, MS(100), "not for the first sample");
        let sample = rtt.sample(Time(1), MS(120), MS(20));
        assert_eq!((sample.smoothed, sample.latest, sample.ack_delay), (MS(100), MS(120), MS(20)));
        rtt.sample(Time(2), MS(108), MS(20));
        assert_eq!(rtt.smoothed, MS(101), "the minimum bounds it");
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
