//! §5.3 and §5.4, the state machine.

use windlass_controllers::Span;

use super::{AckPhase, Bbr, HEADROOM, INFINITY, State};

impl Bbr {
    /// §5.3.1.1 EnterStartup().
    pub(super) fn enter_startup(&mut self) {
        self.state = State::Startup;
    }

    /// §5.3.1.2 ResetFullBW().
    pub(super) fn reset_full_bw(&mut self) {
        self.full_bw = 0.0;
        self.full_bw_count = 0;
        self.full_bw_now = false;
    }

    /// §5.3.1.2 CheckFullBWReached().
    pub(super) fn check_full_bw_reached(&mut self) {
        // §5.3.1.2 "if (BBR.full_bw_now || !BBR.round_start || RS.is_app_limited) return".
        if self.full_bw_now || !self.round_start || self.c.rs.is_app_limited {
            return;
        }
        // §5.3.1.2 "if (RS.delivery_rate >= BBR.full_bw * 1.25) ResetFullBW(); BBR.full_bw = RS.delivery_rate; return".
        if self.c.rs.delivery_rate >= self.full_bw * 1.25 {
            self.reset_full_bw();
            self.full_bw = self.c.rs.delivery_rate;
            return;
        }
        // §5.3.1.2 "BBR.full_bw_count++; BBR.full_bw_now = (BBR.full_bw_count >= 3); if (BBR.full_bw_now)
        // BBR.full_bw_reached = true".
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= if self.changes.has("four rounds") { 4 } else { 3 };
        self.full_bw_reached |= self.full_bw_now;
    }

    /// §5.3.1.1 CheckStartupDone() and §5.3.2 EnterDrain().
    pub(super) fn check_startup_done(&mut self) {
        self.check_startup_high_loss();
        if self.state == State::Startup && self.full_bw_reached {
            self.state = State::Drain;
            self.drain_start_round = self.round_count;
        }
    }

    /// §5.3.2 CheckDrainDone().
    pub(super) fn check_drain_done(&mut self) {
        // §5.3.2 "if (BBR.state == Drain && (C.inflight <= Inflight(1.0) || BBR.round_count > BBR.drain_start_round + 3))
        // EnterProbeBW()".
        let late = self.round_count > self.drain_start_round + 3;
        if self.state == State::Drain && (self.c.inflight <= self.inflight(self.bw, 1.0) || late) {
            self.start_probe_bw_down();
        }
    }

    /// §5.3.3.9 StartProbeBW_DOWN().
    pub(super) fn start_probe_bw_down(&mut self) {
        self.reset_congestion_signals();
        self.probe_up_acked_per_inc = INFINITY;
        // §5.3.3.8 PickProbeWait(): "random_int_between(0, 1)" rounds and "2 + random_float_between(0.0, 1.0)" seconds;
        // which ours took shows when it probes.
        self.rounds_since_probe_up = 0;
        self.cycle_stamp = self.now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.start_round();
        self.state = State::ProbeBwDown;
    }

    /// §5.3.3.9 StartProbeBW_CRUISE().
    fn start_probe_bw_cruise(&mut self) {
        self.state = State::ProbeBwCruise;
    }

    /// §5.3.3.9 StartProbeBW_REFILL().
    pub(super) fn start_probe_bw_refill(&mut self) {
        if !self.changes.has("no refill") {
            self.reset_short_term_model();
        }
        self.bw_probe_up_rounds = 0;
        self.bw_probe_up_acked = 0.0;
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.state = State::ProbeBwRefill;
    }

    /// §5.3.3.9 StartProbeBW_UP().
    fn start_probe_bw_up(&mut self) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.start_round();
        self.reset_full_bw();
        self.full_bw = self.c.rs.delivery_rate;
        self.state = State::ProbeBwUp;
        self.raise_inflight_longterm_slope();
    }

    /// §5.3.3.9 UpdateProbeBWCyclePhase().
    pub(super) fn update_probe_bw_cycle_phase(&mut self) {
        if !self.full_bw_reached || self.adapt_long_term_model() || !self.is_in_a_probe_bw_state() {
            return;
        }
        match self.state {
            State::ProbeBwDown => {
                let decided = self.is_time_to_probe_bw();
                if !decided && self.is_time_to_cruise() {
                    self.start_probe_bw_cruise();
                }
            }
            State::ProbeBwCruise => {
                self.is_time_to_probe_bw();
            }
            // §5.3.3.9 "After one round of REFILL, start UP".
            State::ProbeBwRefill if self.round_start => {
                self.is_bw_probe_sample = true;
                self.start_probe_bw_up();
            }
            State::ProbeBwUp => self.go_down_in_time(),
            _ => {}
        }
    }

    fn go_down_in_time(&mut self) {
        if self.is_time_to_go_down() {
            self.prev_probe_too_high = false;
            self.start_probe_bw_down();
        }
    }

    /// §5.3.3.8 IsTimeToProbeBW() and IsRenoCoexistenceProbeTime(). Within what may be random, as ours did.
    fn is_time_to_probe_bw(&mut self) -> bool {
        let elapsed = |bbr: &Bbr, ms| bbr.now > bbr.cycle_stamp + Span::from_millis(ms);
        // §5.3.3.8 "rounds = min(reno_rounds, 63); return BBR.rounds_since_probe_up >= rounds", where reno_rounds is
        // TargetInflight(), in packets (§5.3.3.8 "T_reno = min(reno_bdp, T_reno_bound) round trips").
        let rounds = self.target_inflight().min(63.0 * self.smss);
        let since = self.rounds_since_probe_up as f64;
        let surely = elapsed(self, 3000) || since * self.smss >= rounds;
        let perhaps = elapsed(self, 2000) || (since + 1.0) * self.smss >= rounds;
        let theirs = self.theirs == Some(f64::from(State::ProbeBwRefill as u8));
        // What it took does not show where the same ACK begins ProbeRTT.
        self.undecided |= perhaps && !surely && self.theirs == Some(f64::from(State::ProbeRtt as u8));
        if surely || (perhaps && theirs) {
            self.start_probe_bw_refill();
            return true;
        }
        false
    }

    /// §5.3.3.8 TargetInflight(): "min(BBR.bdp, C.cwnd)".
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp().min(self.cwnd)
    }

    /// §5.3.3.9 IsTimeToCruise().
    fn is_time_to_cruise(&self) -> bool {
        // §5.3.3.9 "if (C.inflight > InflightWithHeadroom()) return false", "if (C.inflight > Inflight(BBR.max_bw, 1.0)) return
        // false".
        let bw = if self.changes.has("bandwidth of before") { self.bw } else { self.max_bw };
        self.c.inflight <= self.inflight_with_headroom() && self.c.inflight <= self.inflight(bw, 1.0)
    }

    /// §5.3.3.9 IsTimeToGoDown().
    fn is_time_to_go_down(&mut self) -> bool {
        // §5.3.3.9 "if (BBR.prev_probe_too_high && C.inflight >= BBR.inflight_longterm) BBR.prev_probe_precautionary = true; return
        // true".
        let reached = if self.changes.has("before the ACK") {
            self.before + self.smss > self.inflight_longterm
        } else {
            self.c.inflight >= self.inflight_longterm
        };
        if self.prev_probe_too_high && reached {
            self.prev_probe_precautionary = true;
            return true;
        }
        // §5.3.3.9 "if (C.is_cwnd_limited && C.cwnd >= BBR.inflight_longterm) ResetFullBW(); BBR.full_bw =
        // RS.delivery_rate".
        if self.is_cwnd_limited() && self.cwnd >= self.inflight_longterm {
            self.reset_full_bw();
            self.full_bw = self.c.rs.delivery_rate;
            return false;
        }
        self.full_bw_now
    }

    /// §5.3.3.9 InflightWithHeadroom().
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        if self.inflight_longterm == INFINITY {
            return INFINITY;
        }
        if self.changes.has("no headroom") {
            return self.inflight_longterm;
        }
        let headroom = self.smss.max(HEADROOM * self.inflight_longterm);
        (self.inflight_longterm - headroom).max(self.min_pipe_cwnd())
    }

    /// §5.3.3.9 RaiseInflightLongtermSlope().
    fn raise_inflight_longterm_slope(&mut self) {
        let growth_this_round = f64::from(1u32 << self.bw_probe_up_rounds);
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(30);
        self.probe_up_acked_per_inc = (self.cwnd / growth_this_round).max(self.smss);
    }

    /// §5.3.3.9 ProbeInflightLongtermUpward().
    fn probe_inflight_longterm_upward(&mut self) {
        if !self.is_cwnd_limited() || self.cwnd < self.inflight_longterm {
            return;
        }
        self.bw_probe_up_acked += self.c.rs.newly_acked;
        if self.bw_probe_up_acked >= self.probe_up_acked_per_inc {
            let delta = (self.bw_probe_up_acked / self.probe_up_acked_per_inc).floor();
            self.bw_probe_up_acked -= delta * self.probe_up_acked_per_inc;
            self.inflight_longterm += delta * self.smss;
        }
        if self.round_start {
            self.raise_inflight_longterm_slope();
        }
    }

    /// §5.3.3.9 AdaptLongTermModel().
    fn adapt_long_term_model(&mut self) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.round_start {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.round_start {
            self.is_bw_probe_sample = false;
            self.ack_phase = AckPhase::Init;
            // §5.3.3.9 "if (IsInAProbeBWState() && !RS.is_app_limited) AdvanceMaxBwFilter()": BBR.cycle_count++.
            if self.is_in_a_probe_bw_state() && !self.c.rs.is_app_limited {
                self.cycle_count += 1;
            }
            // §5.3.3.9 "Precautionary Bandwidth Probing: Acceleration".
            if self.is_in_a_probe_bw_state() && self.prev_probe_precautionary && !self.prev_probe_too_high {
                self.start_probe_bw_refill();
                return true;
            }
        }
        // §5.3.3.9 "if (!IsInflightTooHigh()) /* Loss rate is safe. Adjust upper bounds upward. */".
        if !self.is_inflight_too_high() && self.inflight_longterm != INFINITY {
            self.inflight_longterm = self.inflight_longterm.max(self.c.rs.tx_in_flight);
            if self.state == State::ProbeBwUp {
                self.probe_inflight_longterm_upward();
            }
        }
        false
    }

    /// §5.3.4.3 CheckProbeRTT() and EnterProbeRTT().
    pub(super) fn check_probe_rtt(&mut self) {
        if self.state != State::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            // §5.3.4.3 "EnterProbeRTT(); SaveCwnd()".
            if self.changes.has("saved before ProbeRTT") {
                self.save_cwnd();
                self.state = State::ProbeRtt;
            } else {
                self.state = State::ProbeRtt;
                self.save_cwnd();
            }
            self.probe_rtt_done_stamp = None;
            self.ack_phase = AckPhase::ProbeStopping;
            self.start_round();
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt();
        }
        // §5.3.4.3 "if (RS.delivered > 0) BBR.idle_restart = false".
        if self.c.rs.delivered > 0.0 {
            self.idle_restart = false;
        }
    }

    /// §5.3.4.3 HandleProbeRTT().
    fn handle_probe_rtt(&mut self) {
        // §5.3.4.3 "Ignore low rate samples during ProbeRTT: MarkConnectionAppLimited()".
        if !self.changes.has("samples of ProbeRTT") {
            self.c.mark_probe_rtt_limited();
        }
        if self.probe_rtt_done_stamp.is_none() && self.c.inflight <= self.probe_rtt_cwnd() {
            // §5.3.4.3 "BBR.probe_rtt_done_stamp = Now() + BBR.ProbeRTTDuration", 200 ms.
            self.probe_rtt_done_stamp = Some(self.now + Span::from_millis(200));
            self.probe_rtt_round_done = false;
            self.start_round();
        } else if self.probe_rtt_done_stamp.is_some() {
            self.probe_rtt_round_done |= self.round_start;
            if self.probe_rtt_round_done {
                self.check_probe_rtt_done();
            }
        }
    }

    /// §5.3.4.3 CheckProbeRTTDone() and §5.3.4.4 ExitProbeRTT().
    fn check_probe_rtt_done(&mut self) {
        if self.probe_rtt_done_stamp.is_some_and(|done| self.now > done) {
            self.probe_rtt_min_stamp = Some(self.now);
            self.restore_cwnd();
            self.reset_short_term_model();
            if self.full_bw_reached {
                self.start_probe_bw_down();
                self.start_probe_bw_cruise();
            } else {
                self.enter_startup();
            }
        }
    }

    /// §5.4.1 HandleRestartFromIdle().
    pub(super) fn handle_restart_from_idle(&mut self) {
        // §5.4.1 "if (C.inflight == 0 && C.app_limited) BBR.idle_restart = true; BBR.extra_acked_interval_start = Now()".
        let limited = self.c.app_limited != 0.0 || self.changes.has("reported pauses");
        if self.c.inflight != 0.0 || !limited || self.changes.has("idle keeps a round") {
            return;
        }
        self.idle_restart = true;
        self.extra_acked_interval_start = self.now;
        if self.changes.has("pauses are no aggregation") {
            self.extra_acked_delivered = 0.0;
        }
        if self.is_in_a_probe_bw_state() {
            self.set_pacing_rate_with_gain(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done();
        }
    }
}
