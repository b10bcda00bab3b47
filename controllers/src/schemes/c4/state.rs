//! States, eras and what they are told apart by.

use super::{MIN_WINDOW, Params};
use crate::event::WindowSet;
use crate::parts::backstop::Backstop;
use crate::parts::careful_resume::KnownBdp;
use crate::parts::limits::{datagram, initial_cwnd};
use crate::parts::recovery::RecoveryPeriod;
use crate::{Path, Span, Time};

/// A running minimum RTT of less than this part of the nominal maximum is high jitter (§Restarting Initial if High Jitter).
const HIGH_JITTER: f64 = 2.0 / 5.0;
/// The part of the increase that a push would bring which counts as one (§Recovery state).
const ENOUGH: f64 = 0.25;
/// Eras without an increase after which delay ends Initial (§Initial state).
const ERAS_BEFORE_DELAY: u32 = 2;

/// The state of the algorithm (§States and Transition).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    Initial,
    Recovery,
    Cruising,
    Pushing,
}

/// What shows congestion (§Handling of congestion signals).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Signal {
    Delay,
    Loss,
    Ecn,
}

/// The variables of an era, a round trip (§Per era variables).
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Era {
    /// What is sent from then on ends it when it is acknowledged, in place of `era_sequence`.
    pub start: Time,
    /// `era_max_rtt`, s; 0 before any sample.
    max_rtt: f64,
    /// `era_min_rtt`, s; infinite before any sample.
    min_rtt: f64,
    /// The nominal rate when it began, bytes/s.
    rate: f64,
    pub app_limited: bool,
}

/// State of one flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct State {
    pub(super) backstop: Backstop,
    pub(super) recovery: RecoveryPeriod,
    /// Datagram size, bytes.
    pub(super) mtu: f64,
    pub(super) stage: Stage,
    pub(super) era: Era,
    /// `alpha_current`.
    pub(super) alpha: f64,
    /// `alpha_previous`.
    pub(super) alpha_previous: f64,
    /// bytes/s; 0 before the first estimate.
    pub(super) nominal_rate: f64,
    /// s; 0 before the first sample.
    pub(super) nominal_max_rtt: f64,
    /// s; infinite before the first era that counts.
    pub(super) running_min_rtt: f64,
    /// The first Initial goes on: its window is the initial one at least.
    pub(super) begins: bool,
    /// The window of the first Initial is no larger.
    pub(super) known_bdp: KnownBdp,
    /// Packets acknowledged.
    pub(super) packets: u32,
    /// Eras of Initial without an increase, or of Cruising.
    pub(super) eras: u32,
    /// The coefficient of the push that the recovery under way judges; 0 where there was none.
    pub(super) push: f64,
    /// Successive pushes with an increase and without congestion.
    pub(super) pushes: u32,
    /// The nominal rate at the end of the previous recovery, bytes/s.
    pub(super) rate_before: f64,
    /// Congestion led to the recovery under way, or was met in it.
    pub(super) congested: bool,
    /// High jitter has led back to Initial once.
    pub(super) jitter_seen: bool,
    pub(super) smoothed_loss_rate: f64,
    pub(super) ecn_alpha: f64,
    /// CE marks of the frame that is read.
    pub(super) marks: u32,
}

impl Era {
    fn new(start: Time, rate: f64) -> Era {
        Era { start, max_rtt: 0.0, min_rtt: f64::INFINITY, rate, app_limited: false }
    }
}

impl State {
    pub(super) fn start(params: &Params, path: &Path) -> State {
        State {
            backstop: Backstop::default(),
            recovery: RecoveryPeriod::default(),
            mtu: datagram(path.mtu),
            stage: Stage::Initial,
            era: Era::new(path.now, 0.0),
            alpha: params.alpha_initial,
            alpha_previous: params.alpha_initial,
            nominal_rate: 0.0,
            nominal_max_rtt: 0.0,
            running_min_rtt: f64::INFINITY,
            begins: true,
            known_bdp: KnownBdp::default(),
            packets: 0,
            eras: 0,
            push: 0.0,
            pushes: 0,
            rate_before: 0.0,
            congested: false,
            jitter_seen: false,
            smoothed_loss_rate: 0.0,
            ecn_alpha: 0.0,
            marks: 0,
        }
    }

    /// Both variables are known, of which rate and window are made (§Setting pacing rate).
    #[inline]
    pub(super) fn is_assessed(&self) -> bool {
        self.nominal_rate > 0.0 && self.nominal_max_rtt > 0.0
    }

    /// The window, bytes (§Setting pacing rate).
    #[inline]
    pub(super) fn cwnd(&self, params: &Params) -> f64 {
        let least =
            if self.begins { initial_cwnd(params.iw, params.max_window, self.mtu) } else { MIN_WINDOW * self.mtu };
        let nominal = self.nominal_rate * self.nominal_max_rtt;
        let mut cwnd = (self.alpha * nominal).min(self.known_bdp.bytes()).max(least);
        if self.stage == Stage::Pushing && params.least_push > 0 {
            // A sixteenth of fewer than sixteen packets is none.
            let whole = libm::ceil(nominal.max(least) / self.mtu);
            cwnd = cwnd.max((whole + f64::from(params.least_push)) * self.mtu);
        }
        let most = self.backstop.bound().max(MIN_WINDOW).min(params.max_window);
        cwnd.min(most * self.mtu)
    }

    /// From 0 for slow flows to 1 for fast ones (§Variable Sensitivity).
    pub(super) fn sensitivity(&self) -> f64 {
        let rate = self.nominal_rate;
        let between = |from: (f64, f64), to: (f64, f64)| from.1 + (to.1 - from.1) * (rate - from.0) / (to.0 - from.0);
        let [slow, middle, fast] = [(50e3, 0.0), (1e6, 0.92), (10e6, 1.0)];
        match rate {
            rate if rate < slow.0 => slow.1,
            rate if rate < middle.0 => between(slow, middle),
            rate if rate < fast.0 => between(middle, fast),
            _ => fast.1,
        }
    }

    /// `delay_threshold`, s (§Detecting Excessive Delays).
    pub(super) fn delay_threshold(&self, params: &Params) -> f64 {
        let delay_fraction = 1.0 / 16.0 + (1.0 - self.sensitivity()) * 3.0 / 16.0;
        (delay_fraction * self.nominal_max_rtt).min(1e-3 * params.delay_threshold)
    }

    /// `loss_threshold` (§Detecting Excessive Losses).
    pub(super) fn loss_threshold(&self) -> f64 {
        0.02 + 0.50 * (1.0 - self.sensitivity())
    }

    /// `ecn_threshold` (§Detecting Excessive CE Marks).
    pub(super) fn ecn_threshold(&self) -> f64 {
        (2.0 - self.sensitivity()) * 3.0 / 32.0
    }

    /// The RTT of the era, and whether it shows congestion (§Nominal max RTT, §Detecting Excessive Delays).
    #[inline]
    pub(super) fn on_rtt_sample(&mut self, params: &Params, now: Time, sample: Span) {
        if sample == Span::ZERO {
            return;
        }
        let rtt_sample = sample.secs();
        self.era.max_rtt = self.era.max_rtt.max(rtt_sample);
        self.era.min_rtt = self.era.min_rtt.min(rtt_sample);
        if self.nominal_max_rtt <= 0.0 {
            self.nominal_max_rtt = rtt_sample;
        }
        if rtt_sample <= self.nominal_max_rtt {
            return;
        }
        let threshold = self.delay_threshold(params);
        let excess = rtt_sample - (self.nominal_max_rtt + threshold);
        if excess > 0.0 {
            let beta = if excess < params.beta * threshold { excess / threshold } else { params.beta };
            self.on_congestion(params, now, Signal::Delay, beta);
        }
    }

    /// Congestion leads to recovery, in Cruising with a rate that is less by the part `beta` (§Applying congestion
    /// signals); in recovery it is noted and nothing else, and Initial has conditions of its own (§Initial state).
    pub(super) fn on_congestion(&mut self, params: &Params, now: Time, signal: Signal, beta: f64) {
        match (self.stage, signal) {
            (Stage::Recovery, _) => {
                self.congested = true;
                return;
            }
            (Stage::Initial, Signal::Delay) if self.eras < ERAS_BEFORE_DELAY => return,
            (Stage::Initial, Signal::Loss) if self.packets <= params.initial_packets => return,
            (Stage::Cruising, _) => self.set_rate((1.0 - beta) * self.nominal_rate),
            _ => {}
        }
        self.enter_recovery(params, now, true);
    }

    /// A rate that carries the least window at least: a flow that is slower would not see that it may be faster.
    fn set_rate(&mut self, rate: f64) {
        let least = if self.nominal_max_rtt > 0.0 { MIN_WINDOW * self.mtu / self.nominal_max_rtt } else { 0.0 };
        self.nominal_rate = rate.max(least.min(self.nominal_rate));
    }

    /// Losses bound the window: the rate is no more than what fits.
    #[cold]
    pub(super) fn bound_rate(&mut self, params: &Params, now: Time) {
        if self.is_assessed() {
            let most = self.backstop.bound() * self.mtu / self.nominal_max_rtt;
            self.set_rate(self.nominal_rate.min(most));
        }
        if self.stage != Stage::Recovery {
            self.enter_recovery(params, now, true);
        }
        self.congested = true;
    }

    /// Goes on at the rate of which the window of `to` is made, in place of the initial one (`RFC 9959`). The threshold is one
    /// of Initial.
    #[cold]
    pub(super) fn resume_at(&mut self, params: &Params, to: &WindowSet) {
        if self.nominal_max_rtt <= 0.0 {
            return;
        }
        let cwnd = (to.cwnd as f64).min(params.max_window * self.mtu);
        self.nominal_rate = cwnd.max(MIN_WINDOW * self.mtu) / (self.alpha * self.nominal_max_rtt);
        self.begins = false;
        if self.stage == Stage::Initial {
            self.known_bdp.set(to);
        }
    }

    fn begin_era(&mut self, now: Time, stage: Stage, alpha: f64) {
        self.stage = stage;
        self.alpha_previous = self.alpha;
        self.alpha = alpha;
        self.era = Era::new(now, self.nominal_rate);
    }

    fn enter_initial(&mut self, params: &Params, now: Time) {
        self.eras = 0;
        self.pushes = 0;
        self.begin_era(now, Stage::Initial, params.alpha_initial);
    }

    fn enter_recovery(&mut self, params: &Params, now: Time, congested: bool) {
        if congested {
            self.recovery.begin(now);
            self.pushes = 0;
        }
        self.push = if self.stage == Stage::Pushing && !congested { self.alpha } else { 0.0 };
        self.congested = congested;
        self.begins = false;
        self.known_bdp = KnownBdp::default();
        self.begin_era(now, Stage::Recovery, params.alpha_recovery);
    }

    /// The first packet sent in the era is acknowledged (§States and Transition).
    pub(super) fn end_era(&mut self, params: &Params, now: Time) {
        if self.stage != Stage::Initial && self.alpha_previous <= 1.0 {
            self.update_rtts(params);
        }
        match self.stage {
            Stage::Initial => {
                if self.has_increased(self.era.rate, self.alpha) {
                    self.eras = 0;
                } else if !self.era.app_limited {
                    self.eras += 1;
                }
                let is_filled = self.known_bdp.is_filled_by(self.nominal_rate * self.nominal_max_rtt);
                if is_filled || self.eras >= params.initial_eras {
                    self.enter_recovery(params, now, false);
                } else {
                    self.begin_era(now, Stage::Initial, self.alpha);
                }
            }
            Stage::Recovery => self.exit_recovery(params, now),
            Stage::Cruising => {
                self.eras = self.eras.saturating_add(1);
                if self.eras >= params.cruising_eras && !self.era.app_limited {
                    self.begin_era(now, Stage::Pushing, self.alpha_of_push(params));
                } else {
                    self.begin_era(now, Stage::Cruising, 1.0);
                }
            }
            Stage::Pushing => self.enter_recovery(params, now, false),
        }
    }

    /// `running_min_rtt` and `nominal_max_rtt` at the end of an era whose samples are of packets sent at no more than the
    /// nominal rate (§Nominal max RTT).
    fn update_rtts(&mut self, params: &Params) {
        let Era { max_rtt, min_rtt, .. } = self.era;
        if max_rtt <= 0.0 {
            return;
        }
        let min = self.running_min_rtt;
        self.running_min_rtt = if min_rtt < min { min_rtt } else { (7.0 * min + min_rtt) / 8.0 };
        let max_rtt = max_rtt.min(self.running_min_rtt + 1e-3 * params.max_jitter);
        let max = self.nominal_max_rtt;
        self.nominal_max_rtt = if max_rtt > max { max_rtt } else { (7.0 * max + max_rtt) / 8.0 };
    }

    /// Whether the nominal rate has risen from `rate` by enough for a coefficient of `alpha` (§Recovery state).
    fn has_increased(&self, rate: f64, alpha: f64) -> bool {
        self.nominal_rate > rate && self.nominal_rate >= rate * (1.0 + ENOUGH * (alpha - 1.0))
    }

    /// §Recovery state.
    fn exit_recovery(&mut self, params: &Params, now: Time) {
        if self.push > 0.0 {
            // Any increase will do after a slow push.
            let alpha = if self.push <= params.alpha_push_low { 1.0 } else { self.push };
            let increased = !self.congested && self.has_increased(self.rate_before, alpha);
            self.pushes = if increased { self.pushes + 1 } else { 0 };
        }
        self.rate_before = self.nominal_rate;
        self.congested = false;
        self.ecn_alpha = 0.0;
        self.smoothed_loss_rate = 0.0;
        let jitter = !self.jitter_seen && self.running_min_rtt < HIGH_JITTER * self.nominal_max_rtt;
        self.jitter_seen |= jitter;
        if jitter || self.pushes >= params.pushes {
            self.enter_initial(params, now);
        } else {
            self.eras = 0;
            self.begin_era(now, Stage::Cruising, 1.0);
        }
    }

    /// `alpha_current` of a push (§Pushing state).
    pub(super) fn alpha_of_push(&self, params: &Params) -> f64 {
        if self.pushes == 0 {
            return params.alpha_push_low;
        }
        let unmarked = (1.0 - self.ecn_alpha / self.ecn_threshold()).max(0.0);
        params.alpha_push_low + (params.alpha_push - params.alpha_push_low).max(0.0) * unmarked
    }

    /// Persistent congestion (`RFC 9002 §7.6.2`): the least window, from which Initial starts over.
    #[cold]
    pub(super) fn start_over(&mut self, params: &Params, now: Time) {
        if self.nominal_max_rtt > 0.0 {
            let least = MIN_WINDOW * self.mtu / self.nominal_max_rtt;
            self.nominal_rate = self.nominal_rate.min(least / params.alpha_initial);
        }
        self.recovery.reset();
        self.begins = false;
        self.known_bdp = KnownBdp::default();
        self.congested = false;
        self.smoothed_loss_rate = 0.0;
        self.ecn_alpha = 0.0;
        self.enter_initial(params, now);
    }
}
