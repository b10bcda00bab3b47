//! What the queueing delay says of the path, and the target bitrate (§4.2.1.4, §4.4, §4.5.4).

use super::{Params, State};
use crate::{Span, Time};

/// Least window, packets (`RFC 9002 §7.2`).
pub(super) const MIN_PACKETS: f64 = 2.0;
/// QDELAY_MIN_MAX_AVG_G, QDELAY_DEV_AVG_G; QDELAY_DEV_THRESHOLD, s (§4.2.1.4).
const QDELAY_MIN_MAX_AVG_G: f64 = 1.0 / 16.0;
const QDELAY_DEV_AVG_G: f64 = 1.0 / 32.0;
const QDELAY_DEV_THRESHOLD: f64 = 0.01;
/// PACKET_OVERHEAD, bytes (§4.4).
const PACKET_OVERHEAD: f64 = 20.0;
/// What a window over an RTT is more than the target, so that no queue builds up at the sender (§4.4).
const DOWNSCALING: f64 = 1.2;
/// Samples that the average and the variance of the queueing delay are of (§4.5.4).
const HISTORY: (u32, u32) = (50, 200);
/// How far apart those are: the draft does not say; as in its authors' implementation.
const HISTORY_INTERVAL: Span = Span::from_millis(50);
/// Variance below which the delay is stable, and loss events that show others (§4.5.4).
const STABLE: f64 = 0.2;
const LOSSY: f64 = 0.002;
/// What a round trip counts in the loss event rate: the draft does not say; as in its authors' implementation.
const LOSS_EVENT_G: f64 = 0.02;

/// How much the queueing delay varies, with `reduce_jitter` (§4.2.1.4). Seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Jitter {
    qdelay_max_avg: f64,
    qdelay_min_avg: f64,
    qdelay_dev_avg: f64,
    /// From 1, where it does not vary, to 0.
    pub ref_wnd_delay_scale: f64,
}

impl Jitter {
    pub fn new(qdelay_target: f64) -> Jitter {
        Jitter { qdelay_max_avg: qdelay_target, qdelay_min_avg: 0.0, qdelay_dev_avg: 0.0, ref_wnd_delay_scale: 1.0 }
    }

    pub fn on_sample(&mut self, qdelay: f64, qdelay_target: f64) {
        self.qdelay_max_avg = qdelay_target.min(self.qdelay_max_avg.max(qdelay));
        self.qdelay_min_avg = self.qdelay_min_avg.min(qdelay);
    }

    /// `calculate_ref_wnd_delay_scale`.
    pub fn average(&mut self) {
        self.qdelay_max_avg *= 1.0 - QDELAY_MIN_MAX_AVG_G;
        self.qdelay_min_avg += QDELAY_MIN_MAX_AVG_G * (self.qdelay_max_avg - self.qdelay_min_avg);
        let deviation = self.qdelay_max_avg - self.qdelay_min_avg;
        self.qdelay_dev_avg += QDELAY_DEV_AVG_G * (deviation - self.qdelay_dev_avg);
        self.ref_wnd_delay_scale = (1.0 - self.qdelay_dev_avg / QDELAY_DEV_THRESHOLD).clamp(0.0, 1.0);
    }

    /// How many reference windows may be in flight (§4.3.1).
    pub fn ref_wnd_overhead(&self, params: &Params) -> f64 {
        let (least, most) = (params.ref_wnd_overhead_min, params.ref_wnd_overhead_max);
        least + (most - least) * self.ref_wnd_delay_scale
    }
}

/// Average and variance of the normalised queueing delay: of all samples until there are as many as they are of, then with
/// weights that fall, in place of a history of 200.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct DelayNorm {
    pub taken_at: Time,
    samples: u32,
    /// Of the latest 50.
    average: f64,
    /// Of the latest 200.
    long_average: f64,
    variance: f64,
}

impl DelayNorm {
    pub fn new(now: Time) -> DelayNorm {
        DelayNorm { taken_at: now, samples: 0, average: 0.0, long_average: 0.0, variance: 0.0 }
    }

    fn take(&mut self, now: Time, sample: f64) {
        self.taken_at = now;
        self.samples = (self.samples + 1).min(HISTORY.1);
        self.average += (sample - self.average) / f64::from(self.samples.min(HISTORY.0));
        let weight = 1.0 / f64::from(self.samples);
        let distance = sample - self.long_average;
        self.long_average += weight * distance;
        self.variance = (1.0 - weight) * (self.variance + weight * distance * distance);
    }
}

impl State {
    /// `MIN_REF_WND`, two packets at least.
    pub(super) fn min_ref_wnd(&self, params: &Params) -> f64 {
        params.min_ref_wnd.max(MIN_PACKETS * self.mtu).min(params.max_window * self.mtu)
    }

    /// MSS in reference windows, one at most (§4.1.1).
    #[inline]
    pub(super) fn ref_wnd_ratio(&self) -> f64 {
        (self.mtu / self.ref_wnd).min(1.0)
    }

    /// Target bitrate in reference windows per smoothed RTT (§4.4).
    #[inline]
    fn rate_scale(&self) -> f64 {
        let small = 1.0 - (self.ref_wnd_ratio() - 0.1).clamp(0.0, 0.2);
        small * self.mtu / (self.mtu + PACKET_OVERHEAD) / DOWNSCALING
    }

    /// How many reference windows the pacing rate sends in a round trip (§4.3.2).
    pub(super) fn paced(&self, params: &Params) -> f64 {
        params.packet_pacing_headroom * self.rate_scale()
    }

    /// The target bitrate (§4.4). What it loses to a queue before the sender and to frames of many sizes is the application's.
    #[inline]
    pub(super) fn update_target_bitrate(&mut self, params: &Params, s_rtt: f64) {
        let target = self.rate_scale() * 8.0 * self.ref_wnd / s_rtt;
        self.target_bitrate = Some(target.max(1e6 * params.target_bitrate_min).min(1e6 * params.target_bitrate_max));
    }

    /// A round trip with a loss or without.
    pub(super) fn count_loss_event(&mut self) {
        let lost = core::mem::take(&mut self.is_loss_in_round);
        self.loss_event_rate += LOSS_EVENT_G * (f64::from(u8::from(lost)) - self.loss_event_rate);
    }

    /// `adjust_qdelay_target` (§4.5.4).
    #[inline]
    pub(super) fn adjust_qdelay_target(&mut self, params: &Params, now: Time) {
        if now.since(self.norm.taken_at) < HISTORY_INTERVAL {
            return;
        }
        let low = 1e-3 * params.qdelay_target_lo;
        self.norm.take(now, self.qdelay / low);
        let new_target = low * (self.norm.average + libm::sqrt(self.norm.variance));
        if self.loss_event_rate > LOSSY {
            self.qdelay_target = 1.5 * new_target;
        } else if self.norm.variance < STABLE {
            self.qdelay_target = new_target;
        } else if new_target < low {
            self.qdelay_target = (0.5 * self.qdelay_target).max(new_target);
        } else {
            self.qdelay_target *= 0.9;
        }
        self.qdelay_target = self.qdelay_target.min(1e-3 * params.qdelay_target_hi).max(low);
    }
}
