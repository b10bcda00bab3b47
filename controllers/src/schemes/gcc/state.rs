//! The rate: delay-based (§5.5) and loss-based (§6). Rates are bit/s.

use super::Params;
use super::delay::{Delay, Signal};
use crate::event::{PacketsAcked, RttSample, WindowSet};
use crate::parts::backstop::Backstop;
use crate::parts::careful_resume::{FreshWindow, KnownBdp};
use crate::parts::delay_signal::DelaySignal;
use crate::parts::limits::datagram;
use crate::parts::recovery::RecoveryPeriod;
use crate::parts::windowed_rate::WindowedRate;
use crate::{Path, Time};

/// Points of the received volume that are kept, a fifth of T apart.
const KEPT: usize = 6;
/// What the rate is of the received one at most (§5.5).
const MOST: f64 = 1.5;
/// Weight of the latest received rate at over-use in their average, and the deviations that are close to it (§5.5).
const AVERAGE_G: f64 = 1.0 - 0.95;
const CLOSE: f64 = 3.0;
/// Least and largest variance in averages, bit/s: the draft has no bounds; as in libwebrtc.
const VARIANCES: (f64, f64) = (400.0, 2500.0);
/// Reaction time of filter and detector, ms (§5.5).
const REACTION: f64 = 100.0;
/// Frames in a second, for the expected packet size (§5.5).
const FRAMES: f64 = 30.0;
/// What the loss-based rate grows to (§6).
const LOSS_ETA: f64 = 1.05;
/// Packets of which a share is lost at least: the draft does not say; as in libwebrtc.
const REPORT: f64 = 20.0;

/// States of the rate control (§5.5).
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Control {
    Hold,
    Increase,
    Decrease,
}

/// R_hat.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Received {
    bytes: u64,
    /// When so many bytes had been received, the latest first.
    log: [(Time, u64); KEPT],
    kept: u8,
}

impl Received {
    #[inline]
    pub fn add(&mut self, now: Time, bytes: u64, window: f64) {
        self.bytes = self.bytes.wrapping_add(bytes);
        if self.kept == 0 || now.since(self.log[0].0).secs() >= window / (KEPT - 1) as f64 {
            self.log.copy_within(..KEPT - 1, 1);
            self.log[0] = (now, self.bytes);
            self.kept = (self.kept + 1).min(KEPT as u8);
        }
    }

    /// The rate over `window` seconds, or since there are bytes, if that is no less than `least`.
    pub fn rate(&self, now: Time, window: f64, least: f64) -> Option<f64> {
        let log = &self.log[..usize::from(self.kept)];
        let age = |at: Time| now.since(at).secs();
        let (since, bytes) = *log.iter().find(|point| age(point.0) >= window).or(log.last())?;
        (age(since) >= least).then(|| 8.0 * self.bytes.wrapping_sub(bytes) as f64 / age(since))
    }
}

/// What was received at over-use.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Convergence {
    pub average: Option<f64>,
    pub variance: f64,
}

impl Convergence {
    /// How far from `average` is close.
    fn close(&self, average: f64) -> f64 {
        let (least, most) = VARIANCES;
        CLOSE * libm::sqrt(self.variance.clamp(least * average, most * average))
    }

    /// Over-use at a received rate. One far below the average begins another, as in libwebrtc.
    pub fn on_over_use(&mut self, r_hat: f64) {
        let average = self.average.filter(|average| r_hat >= average - self.close(*average));
        let Some(average) = average else {
            *self = Convergence { average: Some(r_hat), variance: 0.0 };
            return;
        };
        let distance = r_hat - average;
        self.average = Some(average + AVERAGE_G * distance);
        self.variance = (1.0 - AVERAGE_G) * self.variance + AVERAGE_G * distance * distance;
    }

    /// Whether a received rate is close to the average, which one that is far above it ends.
    pub fn is_close(&mut self, r_hat: f64) -> bool {
        let Some(average) = self.average else { return false };
        if r_hat > average + self.close(average) {
            *self = Convergence::default();
            return false;
        }
        r_hat >= average - self.close(average)
    }
}

/// State of one flow, under the draft's names.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct State {
    pub(super) signal: DelaySignal,
    pub(super) delay: Delay,
    pub(super) backstop: Backstop,
    pub(super) recovery: RecoveryPeriod,
    /// Datagram size, bytes.
    pub(super) mtu: f64,
    /// s; 0 before a sample.
    pub(super) s_rtt: f64,
    /// The lesser of that and the latest sample, s: rates and losses are not measured over what a round trip was once.
    pub(super) round: f64,
    /// Delay-based rate; `None` before an RTT sample.
    pub(super) a_hat: Option<f64>,
    /// Loss-based rate.
    pub(super) as_hat: f64,
    /// Received rate as of the latest update, where it is known.
    pub(super) r_hat: Option<f64>,
    pub(super) received: Received,
    pub(super) convergence: Convergence,
    pub(super) control: Control,
    /// What the detector signalled last, since the latest update.
    pub(super) signalled: Option<Signal>,
    /// No congestion so far, with `fast_start`.
    pub(super) in_fast_start: bool,
    /// Fast start ends with it.
    pub(super) known_bdp: KnownBdp,
    /// It holds no more than the rate sends in a round trip (`RFC 9959`).
    pub(super) fresh: FreshWindow,
    pub(super) updated_at: Time,
    /// When the application last had nothing to send.
    pub(super) app_limited_at: Option<Time>,
    /// When the loss report under way began.
    pub(super) report_start: Time,
    /// Packets of it that arrived, and that were lost or marked.
    pub(super) report: (f32, f32),
}

impl State {
    pub(super) fn start(params: &Params, path: &Path) -> State {
        State {
            signal: DelaySignal::default(),
            delay: Delay::new(params),
            backstop: Backstop::default(),
            recovery: RecoveryPeriod::default(),
            mtu: datagram(path.mtu),
            s_rtt: 0.0,
            round: 0.0,
            a_hat: None,
            as_hat: 1e6 * params.rate_max,
            r_hat: None,
            received: Received::default(),
            convergence: Convergence::default(),
            control: Control::Increase,
            signalled: None,
            in_fast_start: params.fast_start,
            known_bdp: KnownBdp::default(),
            fresh: FreshWindow::default(),
            updated_at: path.now,
            app_limited_at: None,
            report_start: path.now,
            report: (0.0, 0.0),
        }
    }

    /// The target rate; `None` before an RTT sample.
    #[inline]
    pub(super) fn target(&self) -> Option<f64> {
        self.a_hat.map(|a_hat| a_hat.min(self.as_hat))
    }

    /// What bounds the rate.
    #[inline]
    pub(super) fn rates(&self, params: &Params) -> WindowedRate {
        WindowedRate {
            range: (1e6 * params.rate_min, 1e6 * params.rate_max),
            round_trips: if self.fresh.is_set() { 1.0 } else { params.window },
            windows: (params.iw, params.max_window),
            bound: self.backstop.bound(),
            most: self.fresh.most(),
            mtu: self.mtu,
            s_rtt: self.s_rtt,
        }
    }

    #[inline]
    pub(super) fn on_rtt_sample(&mut self, params: &Params, now: Time, rtt: &RttSample) {
        self.signal.on_rtt_sample(rtt);
        self.s_rtt = rtt.smoothed.secs().max(1e-9);
        self.round = self.s_rtt.min(rtt.latest.secs());
        if self.a_hat.is_none() {
            self.updated_at = now;
            let rates = self.rates(params);
            self.a_hat = Some(rates.clip(rates.first()));
        }
    }

    /// An ACK frame is the draft's feedback. Its newest packet is what a delay is known of.
    #[inline]
    pub(super) fn on_packets_acked(&mut self, params: &Params, now: Time, acked: &PacketsAcked) {
        self.recovery.acked(acked.newest_sent_at);
        self.fresh.acked(acked.bytes);
        if self.recovery.accepts(acked.newest_sent_at) {
            self.report.0 += acked.packets as f32;
        }
        if acked.app_limited {
            self.app_limited_at = Some(now);
        }
        self.received.add(now, acked.bytes, self.window(params));
        if let Some(delay) = self.signal.read(true, acked) {
            if delay.anew {
                self.delay.forget_groups();
            }
            if let Some(signal) = self.delay.on_packet(params, acked.newest_sent_at, delay.ns) {
                self.signalled = signal;
            }
        }
        let over_use = self.signalled == Some(Signal::OverUse) && self.control != Control::Decrease;
        if over_use || 1e3 * now.since(self.updated_at).secs() >= params.interval {
            self.update(params, now);
        }
    }

    /// What R_hat is measured over, s.
    #[inline]
    fn window(&self, params: &Params) -> f64 {
        self.round.max(1e-3 * params.t)
    }

    /// Packets were lost, or marked, which counts as that (`RFC 9002 §7.1`). Those that left before the latest answer are
    /// answered (`RFC 9002 §7.3.2`).
    #[cold]
    pub(super) fn count_lost(&mut self, newest_sent_at: Time, packets: u32) {
        if self.recovery.accepts(newest_sent_at) {
            self.report.1 += packets as f32;
        }
    }

    /// Persistent congestion: the least rate (`RFC 9002 §7.6.2`), and all that was known of the path is void.
    #[cold]
    pub(super) fn start_over(&mut self, params: &Params, now: Time) {
        self.recovery.reset();
        self.on_idle();
        self.a_hat = self.a_hat.map(|_| self.rates(params).least());
        self.as_hat = 1e6 * params.rate_max;
        self.convergence = Convergence::default();
        self.known_bdp = KnownBdp::default();
        (self.control, self.in_fast_start) = (Control::Increase, params.fast_start);
        (self.report_start, self.report) = (now, (0.0, 0.0));
    }

    /// Nothing was sent for a while, of which the received rate says nothing.
    #[cold]
    pub(super) fn on_idle(&mut self) {
        self.received = Received::default();
        self.r_hat = None;
    }

    /// Goes on at the rate of which the window of `to` is made (`RFC 9959`), with a threshold in fast start up to it: losses of
    /// before are answered. What was received before says nothing of that rate.
    #[cold]
    pub(super) fn resume_at(&mut self, params: &Params, now: Time, to: &WindowSet) {
        if self.a_hat.is_none() {
            return;
        }
        self.fresh.set(to);
        let rates = self.rates(params);
        let rate = rates.clip(rates.of_window(to.cwnd));
        self.a_hat = Some(rate);
        self.as_hat = self.as_hat.max(rate);
        // What over-use leaves of what is received, as `Beta` (`RFC 9959 §3.5`).
        let after_retreat = to.pipe_size.map(|bytes| (params.beta * bytes as f64) as u64);
        self.known_bdp.set(&to.with_ssthresh(after_retreat.or(to.ssthresh)));
        if to.ssthresh.is_some() {
            self.in_fast_start = params.fast_start;
            (self.report_start, self.report) = (now, (0.0, 0.0));
        }
        if let Some(threshold) = after_retreat {
            // The retreat was the answer to losses and delays of the packets that were not validated.
            self.recovery.begin(now);
            self.as_hat = self.as_hat.max(rates.clip(rates.of_window(threshold)));
            self.delay.forget_groups();
            (self.control, self.signalled) = (Control::Increase, None);
        }
        self.on_idle();
    }

    #[cold]
    pub(super) fn hold_rate(&mut self, params: &Params) {
        self.a_hat = self.a_hat.map(|rate| self.rates(params).clip(rate));
    }

    /// An update of the rate (§5.5).
    fn update(&mut self, params: &Params, now: Time) {
        let Some(a_hat) = self.a_hat else { return };
        let elapsed = 1e3 * now.since(self.updated_at).secs();
        self.updated_at = now;
        let window = self.window(params);
        self.r_hat = self.received.rate(now, window, self.round.max(1e-3 * params.interval));
        let signal = self.signalled.take();
        let was = self.control;
        self.control = match (signal, was) {
            (Some(Signal::OverUse), _) => Control::Decrease,
            (Some(Signal::Normal), Control::Hold) => Control::Increase,
            (Some(Signal::Normal), Control::Decrease) | (Some(Signal::UnderUse), _) => Control::Hold,
            _ => was,
        };
        let rate = match self.control {
            Control::Increase => self.increased(params, a_hat, elapsed),
            Control::Decrease if signal == Some(Signal::OverUse) => self.decreased(params, a_hat, was),
            _ => a_hat,
        };
        // What the application does not send is not received, and nothing is known of it.
        let is_used = self.app_limited_at.is_none_or(|at| now.since(at).secs() > window);
        let most = self.r_hat.filter(|_| is_used).map_or(f64::INFINITY, |r_hat| MOST * r_hat);
        self.a_hat = Some(self.rates(params).clip(rate.min(most)));
        self.judge_losses(params, now);
    }

    fn increased(&mut self, params: &Params, a_hat: f64, elapsed: f64) -> f64 {
        // Nor does it grow while it is losses that rule.
        let Some(r_hat) = self.r_hat.filter(|_| a_hat <= self.as_hat) else { return a_hat };
        let rate = if self.in_fast_start {
            self.fast_started(MOST * r_hat)
        } else if self.convergence.is_close(r_hat) {
            let bits_per_frame = a_hat / FRAMES;
            let packets_per_frame = libm::ceil(bits_per_frame / (8.0 * self.mtu)).max(1.0);
            let alpha = 0.5 * (elapsed / (REACTION + 1e3 * self.s_rtt)).min(1.0);
            a_hat + (alpha * bits_per_frame / packets_per_frame).max(1000.0)
        } else {
            a_hat * libm::pow(params.eta, (elapsed / 1000.0).min(1.0))
        };
        rate.min(MOST * r_hat).max(a_hat)
    }

    /// What fast start to `rate` leads to: no more than the path is known to carry.
    fn fast_started(&mut self, rate: f64) -> f64 {
        self.in_fast_start = !self.known_bdp.is_filled_by(rate * self.s_rtt / 8.0);
        rate.min(8.0 * self.known_bdp.bytes() / self.s_rtt)
    }

    fn decreased(&mut self, params: &Params, a_hat: f64, was: Control) -> f64 {
        self.in_fast_start = false;
        let Some(r_hat) = self.r_hat else { return params.beta * a_hat };
        if was != Control::Decrease {
            self.convergence.on_over_use(r_hat);
        }
        a_hat.min(params.beta * r_hat)
    }

    /// The loss-based rate (§6): a report is of a round trip and an interval at least, and of 20 packets if some were lost.
    fn judge_losses(&mut self, params: &Params, now: Time) {
        let (arrived, lost) = (f64::from(self.report.0), f64::from(self.report.1));
        let elapsed = now.since(self.report_start).secs();
        let is_whole = lost == 0.0 || arrived + lost >= REPORT;
        if !is_whole || elapsed < self.round.max(1e-3 * params.interval) {
            return;
        }
        let share = lost / (arrived + lost).max(1.0);
        (self.report_start, self.report) = (now, (0.0, 0.0));
        if share < params.loss_low {
            self.as_hat *= LOSS_ETA;
        } else {
            // It is the rate in use that is kept, or falls.
            self.as_hat = self.target().unwrap_or(self.as_hat);
            self.in_fast_start = false;
        }
        if share > params.loss_high {
            self.as_hat *= 1.0 - 0.5 * share;
            self.recovery.begin(now);
        }
        self.as_hat = self.as_hat.min(1e6 * params.rate_max).max(self.rates(params).least());
    }
}
