//! §5.6, the control parameters.

use super::{Bbr, INFINITY, State};

impl Bbr {
    /// §5.6.2 InitPacingRate(): "nominal_bandwidth = C.InitialCwnd / (C.srtt ? C.srtt : 1ms); C.pacing_rate =
    /// BBR.StartupPacingGain * nominal_bandwidth".
    pub(super) fn init_pacing_rate(&mut self, srtt: f64) {
        self.pacing_rate = 2.77 * self.initial_cwnd / srtt;
    }

    /// §5.6.1, the column "Pacing Gain".
    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => 2.77,
            State::Drain => 0.5,
            State::ProbeBwDown => 0.9,
            State::ProbeBwCruise | State::ProbeBwRefill | State::ProbeRtt => 1.0,
            State::ProbeBwUp => 1.25,
        }
    }

    /// §5.6.1, the column "Cwnd Gain".
    fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::ProbeBwUp => 2.25,
            State::ProbeRtt => 0.5,
            _ => 2.0,
        }
    }

    /// §5.6.2 SetPacingRateWithGain(pacing_gain).
    pub(super) fn set_pacing_rate_with_gain(&mut self, pacing_gain: f64) {
        // §5.6.2 "rate = pacing_gain * bw * (100 - BBR.PacingMarginPercent) / 100", 1 percent.
        let margin = if self.changes.has("no margin") { 1.0 } else { 0.99 };
        let mut rate = pacing_gain * self.bw * margin;
        if self.changes.has("a packet a second") {
            rate = rate.max(self.smss);
        }
        // §5.6.2 "if (BBR.full_bw_reached || rate > C.pacing_rate) C.pacing_rate = rate".
        if self.full_bw_reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// §5.2.3 UpdateControlParameters(): SetPacingRate(), SetSendQuantum(), SetCwnd().
    pub(super) fn update_control_parameters(&mut self) {
        self.set_pacing_rate_with_gain(self.pacing_gain());
        self.set_cwnd();
    }

    /// §5.6.3 SetSendQuantum(): "C.pacing_rate * 1ms", at most 64 KBytes and at least 2 * C.SMSS.
    fn send_quantum(&self) -> f64 {
        (self.pacing_rate * 0.001).min(65_536.0).max(2.0 * self.smss)
    }

    /// §5.6.4.2 BBR.bdp = BBR.bw * BBR.min_rtt.
    pub(super) fn bdp(&self) -> f64 {
        self.bdp_multiple(self.bw, 1.0)
    }

    /// §5.6.4.2 BDPMultiple(gain), of BBR.bw, and BDPMultiple(bw, gain) of §5.6.4.5.
    pub(super) fn bdp_multiple(&self, bw: f64, gain: f64) -> f64 {
        // §5.6.4.2 "if (BBR.min_rtt == Infinity) return C.InitialCwnd /* no valid RTT samples yet */".
        if self.min_rtt == INFINITY { self.initial_cwnd } else { gain * (bw * self.min_rtt) }
    }

    /// §5.6.4.2 QuantizationBudget(inflight_cap).
    fn quantization_budget(&self, inflight_cap: f64) -> f64 {
        // §5.5.8.2 "offload_budget is equal to the send quantum".
        let inflight_cap = inflight_cap.max(self.send_quantum()).max(self.min_pipe_cwnd());
        // §5.6.4.2 "if (BBR.state == ProbeBW_UP) inflight_cap += 2*C.SMSS".
        if self.state == State::ProbeBwUp { inflight_cap + 2.0 * self.smss } else { inflight_cap }
    }

    /// §5.6.4.2 Inflight(gain), of BBR.bw, and Inflight(bw, gain) of §5.3.3.9.
    pub(super) fn inflight(&self, bw: f64, gain: f64) -> f64 {
        self.quantization_budget(self.bdp_multiple(bw, gain))
    }

    /// §5.6.4.2 UpdateMaxInflight().
    fn max_inflight(&self) -> f64 {
        let extra = if self.changes.has("no aggregation") { 0.0 } else { self.extra_acked };
        self.quantization_budget(self.bdp_multiple(self.bw, self.cwnd_gain()) + extra)
    }

    /// §5.6.4.6 SetCwnd().
    fn set_cwnd(&mut self) {
        let max_inflight = self.max_inflight();
        // §5.6.4.6 "if (BBR.full_bw_reached) C.cwnd = min(C.cwnd + RS.newly_acked, BBR.max_inflight); else if (C.cwnd <
        // BBR.max_inflight || C.delivered < C.InitialCwnd) C.cwnd = C.cwnd + RS.newly_acked".
        let grown = self.cwnd + self.c.rs.newly_acked;
        if self.full_bw_reached {
            self.cwnd = grown.min(max_inflight);
        } else if self.cwnd < max_inflight || self.c.delivered < self.initial_cwnd {
            self.cwnd = grown;
        }
        // §5.6.4.6 "C.cwnd = max(C.cwnd, BBR.MinPipeCwnd)".
        self.cwnd = self.cwnd.max(self.min_pipe_cwnd());
        // §5.6.4.5 BoundCwndForProbeRTT(): "C.cwnd = min(C.cwnd, ProbeRTTCwnd())".
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd_for_model();
    }

    /// §5.6.4.5 ProbeRTTCwnd(): "probe_rtt_cwnd = BDPMultiple(BBR.bw, BBR.ProbeRTTCwndGain); probe_rtt_cwnd =
    /// max(probe_rtt_cwnd, BBR.MinPipeCwnd)".
    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        let bdp = if self.changes.has("at entry") { 0.5 * self.probe_rtt_bdp } else { self.bdp_multiple(self.bw, 0.5) };
        bdp.max(self.min_pipe_cwnd())
    }

    /// §5.6.4.7 BoundCwndForModel().
    fn bound_cwnd_for_model(&mut self) {
        // §5.6.4.7 "if (IsInAProbeBWState() && BBR.state != ProbeBW_CRUISE) cap = BBR.inflight_longterm; else if
        // (BBR.state == ProbeRTT || BBR.state == ProbeBW_CRUISE) cap = InflightWithHeadroom()".
        let cap = match self.state {
            State::ProbeBwCruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => INFINITY,
            _ => self.inflight_longterm,
        };
        // §5.6.4.7 "cap = min(cap, BBR.inflight_shortterm); cap = max(cap, BBR.MinPipeCwnd); C.cwnd = min(C.cwnd, cap)".
        self.cwnd = self.cwnd.min(cap.min(self.inflight_shortterm).max(self.min_pipe_cwnd()));
    }

    /// §5.6.4.4 SaveCwnd().
    pub(super) fn save_cwnd(&mut self) {
        // §5.6.4.4 "if (!InLossRecovery() && BBR.state != ProbeRTT) BBR.prior_cwnd = C.cwnd; else BBR.prior_cwnd =
        // max(BBR.prior_cwnd, C.cwnd)".
        let good = !self.period.ongoing && self.state != State::ProbeRtt;
        self.prior_cwnd = if good { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }

    /// §5.6.4.4 RestoreCwnd(): "C.cwnd = max(C.cwnd, BBR.prior_cwnd)".
    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }
}
