//! The reference rate (§4.3): accelerated ramp-up and gradual updates. Rates are bit/s, delays ms.

use super::Params;
use super::signal::Signal;
use crate::event::{PacketsAcked, PacketsLost, RttSample, WindowSet};
use crate::parts::backstop::Backstop;
use crate::parts::careful_resume::{FreshWindow, KnownBdp};
use crate::parts::limits::datagram;
use crate::parts::recovery::RecoveryPeriod;
use crate::parts::windowed_rate::WindowedRate;
use crate::{Path, Span, Time};

/// Intervals between updates that are kept: LOGWIN over DELTA (Figure 3).
const KEPT: usize = 5;

/// What was seen between two updates, for ratios.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Interval {
    /// ms.
    pub(super) time: f32,
    pub(super) bytes: f32,
    pub(super) acked: f32,
    pub(super) lost: f32,
    pub(super) marked: f32,
}

/// State of one flow, under the RFC's names.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct State {
    pub(super) signal: Signal,
    pub(super) backstop: Backstop,
    pub(super) recovery: RecoveryPeriod,
    /// Datagram size, bytes.
    pub(super) mtu: f64,
    /// s; 0 before a sample.
    pub(super) s_rtt: f64,
    /// 0 before an RTT sample.
    pub(super) r_ref: f64,
    pub(super) r_recv: f64,
    pub(super) x_curr: f64,
    /// When the rate was last updated.
    pub(super) t_last: Time,
    /// Until then, LOGWIN after a loss or a queueing delay of QEPS, the rate is updated gradually.
    pub(super) congested_until: Time,
    pub(super) is_ramping_up: bool,
    /// Ramp-up that reaches it ends as with a queue.
    pub(super) known_bdp: KnownBdp,
    /// It holds no more than the rate sends in a round trip (`RFC 9959`).
    pub(super) fresh: FreshWindow,
    pub(super) interval: Interval,
    /// An ACK of the interval under way found the application with nothing to send.
    pub(super) app_limited: bool,
    pub(super) log: [Interval; KEPT],
    pub(super) next: u8,
}

impl State {
    pub(super) fn start(_: &Params, path: &Path) -> State {
        State {
            signal: Signal::default(),
            backstop: Backstop::default(),
            recovery: RecoveryPeriod::default(),
            mtu: datagram(path.mtu),
            s_rtt: 0.0,
            r_ref: 0.0,
            r_recv: 0.0,
            x_curr: 0.0,
            t_last: path.now,
            congested_until: Time::ZERO,
            is_ramping_up: true,
            known_bdp: KnownBdp::default(),
            fresh: FreshWindow::default(),
            interval: Interval::default(),
            app_limited: false,
            log: [Interval::default(); KEPT],
            next: 0,
        }
    }

    /// The reference rate; `None` before an RTT sample.
    #[inline]
    pub(super) fn reference_rate(&self) -> Option<f64> {
        (self.r_ref > 0.0).then_some(self.r_ref)
    }

    /// What bounds the reference rate: RMIN and RMAX, and what losses leave.
    #[inline]
    pub(super) fn rates(&self, params: &Params) -> WindowedRate {
        WindowedRate {
            range: (1e6 * params.rmin, 1e6 * params.rmax),
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
        if self.r_ref == 0.0 {
            self.t_last = now;
            let rates = self.rates(params);
            self.r_ref = rates.clip(if params.rmin > 0.0 { 1e6 * params.rmin } else { rates.first() });
        }
    }

    #[inline]
    pub(super) fn on_packets_acked(&mut self, params: &Params, now: Time, acked: &PacketsAcked) {
        self.recovery.acked(acked.newest_sent_at);
        self.fresh.acked(acked.bytes);
        if self.signal.on_packets_acked(params, now, acked).is_some_and(|queue| queue >= params.qeps) {
            self.on_congestion(params, now);
        }
        self.interval.bytes += acked.bytes as f32;
        self.interval.acked += acked.packets as f32;
        self.app_limited |= acked.app_limited;
        if 1e3 * now.since(self.t_last).secs() >= params.delta {
            self.update(params, now);
        }
    }

    fn on_congestion(&mut self, params: &Params, now: Time) {
        self.congested_until = now + Span::from_secs_f64(1e-3 * params.logwin);
    }

    /// Losses of a flight are one event (`RFC 5348 §5.2`).
    #[cold]
    pub(super) fn on_packets_lost(&mut self, params: &Params, now: Time, lost: &PacketsLost) {
        self.interval.lost += lost.packets as f32;
        self.on_congestion(params, now);
        if self.recovery.accepts(lost.newest_sent_at) {
            self.recovery.begin(now);
            self.signal.on_loss_event();
        }
    }

    /// Persistent congestion: the least rate (`RFC 9002 §7.6.2`).
    #[cold]
    pub(super) fn start_over(&mut self, params: &Params, now: Time) {
        self.on_congestion(params, now);
        if self.r_ref > 0.0 {
            self.r_ref = self.rates(params).least();
        }
        self.recovery.reset();
    }

    #[cold]
    pub(super) fn hold_rate(&mut self, params: &Params) {
        if let Some(rate) = self.reference_rate() {
            self.r_ref = self.rates(params).clip(rate);
        }
    }

    /// Goes on at the rate of which the window of `to` is made (`RFC 9959`). What was received before says nothing of it.
    #[cold]
    pub(super) fn resume_at(&mut self, params: &Params, now: Time, to: &WindowSet) {
        if self.r_ref == 0.0 {
            return;
        }
        self.fresh.set(to);
        let rates = self.rates(params);
        self.r_ref = rates.clip(rates.of_window(to.cwnd));
        self.known_bdp.set(to);
        self.t_last = now;
        self.interval.bytes = 0.0;
        for interval in &mut self.log {
            (interval.time, interval.bytes) = (0.0, 0.0);
        }
    }

    /// An update of the rate (§4.3).
    fn update(&mut self, params: &Params, now: Time) {
        let Some(r_ref) = self.reference_rate() else { return };
        let delta = 1e3 * now.since(self.t_last).secs();
        self.t_last = now;
        self.log[usize::from(self.next)] = Interval { time: delta as f32, ..core::mem::take(&mut self.interval) };
        let mut seen = Interval::default();
        for back in 0..KEPT {
            // The latest in any case, and those before it that LOGWIN reaches.
            if f64::from(seen.time) >= params.logwin {
                break;
            }
            let one = self.log[(usize::from(self.next) + KEPT - back) % KEPT];
            seen.time += one.time;
            seen.bytes += one.bytes;
            seen.acked += one.acked;
            seen.lost += one.lost;
            seen.marked += one.marked;
        }
        self.next = (self.next + 1) % KEPT as u8;
        self.r_recv = 8e3 * f64::from(seen.bytes / seen.time.max(1e-6));
        let packets = (seen.acked + seen.lost).max(seen.marked).max(1.0);
        self.signal.on_ratios(params, f64::from(seen.lost / packets), f64::from(seen.marked / packets));
        let app_limited = core::mem::take(&mut self.app_limited);
        let x_prev = core::mem::replace(&mut self.x_curr, self.signal.x_curr(params));
        self.is_ramping_up = now >= self.congested_until;
        let rate = if self.is_ramping_up {
            let gamma = params.gamma_max.min(params.qbound / (1e3 * self.s_rtt + params.delta + params.dfilt));
            r_ref.max(self.ramped_up(params, now, (1.0 + gamma) * self.r_recv))
        } else {
            let tau = params.tau.max(1e3 * self.s_rtt);
            let x_offset = self.x_curr - params.prio * params.xref * 1e6 * params.reference / r_ref;
            let x_diff = self.x_curr - x_prev;
            let rate = r_ref
                - params.kappa * (delta / tau).min(1.0) * x_offset / tau * r_ref
                - params.kappa * params.eta * x_diff / tau * r_ref;
            // A rate that the application does not use grows to twice what it does use at most (RFC 9002 §7.8).
            if app_limited { rate.min(r_ref.max(2.0 * self.r_recv)) } else { rate }
        };
        self.r_ref = self.rates(params).clip(rate);
    }

    /// What ramp-up to `rate` leads to: no more than the path is known to carry, at first.
    fn ramped_up(&mut self, params: &Params, now: Time, rate: f64) -> f64 {
        if !self.known_bdp.is_filled_by(rate * self.s_rtt / 8.0) {
            return rate;
        }
        self.on_congestion(params, now);
        let full = 8.0 * core::mem::take(&mut self.known_bdp).bytes() / self.s_rtt;
        rate.min(full)
    }
}
