//! Pacing rate and window (§5.6).

use super::state::{NO_RTT, initial_cwnd};
use super::{Ack, BbrState, Params, State};
use crate::event::WindowSet;
use crate::{Decision, Span};

/// `MinPipeCwnd`, packets (§5.6.4.3).
pub(super) const MIN_PIPE_CWND: f64 = 4.0;
/// The most a send quantum holds, bytes (§5.6.3).
const MAX_SEND_QUANTUM: f64 = 65_536.0;

impl State {
    /// `MinPipeCwnd`, bytes.
    #[inline]
    pub(super) fn min_pipe_cwnd(&self) -> f64 {
        MIN_PIPE_CWND * self.mtu
    }

    /// Pacing and window gain of the state (§5.6.1).
    #[inline]
    fn gains(&self, params: &Params) -> (f64, f64) {
        match self.state {
            BbrState::Startup => (params.startup_pacing_gain, params.cwnd_gain),
            BbrState::Drain => (params.drain_pacing_gain, params.cwnd_gain),
            BbrState::ProbeBwDown => (params.down_pacing_gain, params.cwnd_gain),
            BbrState::ProbeBwCruise | BbrState::ProbeBwRefill => (1.0, params.cwnd_gain),
            BbrState::ProbeBwUp => (params.up_pacing_gain, params.up_cwnd_gain),
            BbrState::ProbeRtt => (1.0, params.probe_rtt_cwnd_gain),
        }
    }

    /// `InitPacingRate`, §5.6.2.
    pub(super) fn init_pacing_rate(&mut self, params: &Params, rtt: Span) {
        self.pacing_rate = params.startup_pacing_gain * initial_cwnd(params, self.mtu) / rtt.secs();
    }

    /// `SetPacingRateWithGain`, §5.6.2; one packet per second at least.
    #[inline]
    pub(super) fn set_pacing_rate_with_gain(&mut self, params: &Params, gain: f64) {
        let rate = (gain * self.bw * (1.0 - params.pacing_margin)).max(self.mtu);
        if self.full_bw_reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// `SetPacingRate`, §5.6.2.
    #[inline]
    pub(super) fn set_pacing_rate(&mut self, params: &Params) {
        self.set_pacing_rate_with_gain(params, self.gains(params).0);
    }

    /// `QuantizationBudget`, §5.6.4.2, with QUIC's offload budget, one send quantum
    /// (§5.5.8.2, §5.6.3).
    #[inline]
    fn quantization_budget(&self, volume: f64) -> f64 {
        let quantum = (1e-3 * self.pacing_rate).min(MAX_SEND_QUANTUM).max(2.0 * self.mtu);
        let volume = volume.max(quantum).max(self.min_pipe_cwnd());
        if self.state == BbrState::ProbeBwUp { volume + 2.0 * self.mtu } else { volume }
    }

    /// `Inflight`, §5.6.4.2, at bandwidth `bw`.
    #[inline]
    pub(super) fn inflight(&self, params: &Params, bw: f64, gain: f64) -> f64 {
        self.quantization_budget(self.bdp_multiple(params, bw, gain))
    }

    /// `InflightWithHeadroom`, §5.3.3.9.
    #[inline]
    pub(super) fn inflight_with_headroom(&self, params: &Params) -> f64 {
        let longterm = self.inflight_longterm;
        if longterm == f64::INFINITY {
            return longterm;
        }
        (longterm - (params.headroom * longterm).max(self.mtu)).max(self.min_pipe_cwnd())
    }

    /// `ProbeRTTCwnd`, §5.6.4.5.
    pub(super) fn probe_rtt_cwnd(&self, params: &Params) -> f64 {
        let gain = params.probe_rtt_cwnd_gain;
        let at_entry = params.probe_rtt_at_entry;
        let volume = if at_entry { gain * self.probe_rtt_bdp } else { self.bdp_multiple(params, self.bw, gain) };
        volume.max(self.min_pipe_cwnd())
    }

    /// `SaveCwnd`, §5.6.4.4.
    pub(super) fn save_cwnd(&mut self) {
        let modulated = self.recovery.in_recovery() || self.state == BbrState::ProbeRtt;
        self.prior_cwnd = if modulated { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    /// `RestoreCwnd`, §5.6.4.4.
    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    /// Goes on with the window of `to` (`RFC 9959`).
    #[cold]
    pub(super) fn resume_at(&mut self, params: &Params, to: &WindowSet) {
        let range = [self.min_pipe_cwnd(), params.max_window * self.mtu];
        self.cwnd = self.resumed.set(to, self.delivered, range, &mut self.prior_cwnd);
        if !self.full_bw_reached && self.min_rtt != NO_RTT {
            self.pacing_rate = (params.startup_pacing_gain * self.cwnd / self.min_rtt.secs()).max(self.mtu);
        }
    }

    /// `SetCwnd`, §5.6.4.6, with the bounds of §5.6.4.5 and §5.6.4.7.
    #[inline]
    pub(super) fn set_cwnd(&mut self, params: &Params, ack: &Ack<'_>) {
        let (_, gain) = self.gains(params);
        let most = self.quantization_budget(self.bdp_multiple(params, self.bw, gain) + self.extra_acked);
        if self.full_bw_reached {
            self.cwnd = (self.cwnd + ack.newly_acked).min(most);
        } else if self.cwnd < most
            || (self.delivered as f64) < initial_cwnd(params, self.mtu)
            || self.resumed.is_under_way(self.delivered)
        {
            self.cwnd += ack.newly_acked;
        }
        let mut cap = match self.state {
            BbrState::ProbeBwDown | BbrState::ProbeBwRefill | BbrState::ProbeBwUp => self.inflight_longterm,
            BbrState::ProbeBwCruise | BbrState::ProbeRtt => self.inflight_with_headroom(params),
            BbrState::Startup => self.resumed.known_bdp.bytes(),
            BbrState::Drain => f64::INFINITY,
        };
        cap = cap.min(self.inflight_shortterm);
        if self.state == BbrState::ProbeRtt {
            cap = cap.min(self.probe_rtt_cwnd(params));
        }
        self.cwnd = self.cwnd.min(cap).max(self.min_pipe_cwnd()).min(params.max_window * self.mtu);
    }

    /// What the flow may do.
    #[inline]
    pub(super) fn decision(&self, params: &Params) -> Decision {
        let phase = self.recovery.phase(self.state == BbrState::Startup);
        // The floor holds for the datagrams of now, whatever they were at the last ACK; before the
        // first one there is none (§5.6.4.6).
        let least = if self.delivered == 0 { self.cwnd } else { self.min_pipe_cwnd() };
        let cwnd = self.cwnd.max(least).min(params.max_window * self.mtu);
        Decision {
            pacing_rate: Some((8.0 * self.pacing_rate) as u64),
            phase,
            recovery_start: self.recovery.start(),
            ..Decision::new(cwnd as u64)
        }
    }

    /// The state variables worth logging.
    pub(super) fn inspect(&self, params: &Params, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("window", self.cwnd / self.mtu);
        visit("state", f64::from(self.state as u8));
        visit("bw_mbps", 8e-6 * self.bw);
        visit("max_bw_mbps", 8e-6 * self.max_bw);
        visit("bw_shortterm_mbps", 8e-6 * self.bw_shortterm);
        if self.min_rtt != super::state::NO_RTT {
            visit("min_rtt_ms", self.min_rtt.millis());
        }
        visit("bdp", self.bdp_multiple(params, self.bw, 1.0) / self.mtu);
        visit("inflight_longterm", self.inflight_longterm / self.mtu);
        visit("inflight_shortterm", self.inflight_shortterm / self.mtu);
        visit("extra_acked", self.extra_acked / self.mtu);
        visit("round", self.round_count as f64);
        visit("full_bw_reached", f64::from(u8::from(self.full_bw_reached)));
        visit("prev_probe_too_high", f64::from(u8::from(self.prev_probe_too_high)));
    }
}
