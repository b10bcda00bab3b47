//! The minimum RTT, and the drains that let it be seen (§5.3.4).

use super::state::AckPhase;
use super::{Ack, Mode, Params, State};
use crate::{Span, Time};

impl State {
    /// A sample below the smallest of late is the smallest.
    #[inline]
    pub(super) fn lower_min_rtt(&mut self, now: Time, rtt: Span) {
        if rtt < self.delay.probe {
            self.delay.probe = rtt;
            self.delay.probe_at = now;
        }
        if self.delay.probe < self.delay.min {
            self.delay.min = self.delay.probe;
            self.delay.min_at = self.delay.probe_at;
        }
    }

    /// `UpdateMinRTT`, §5.3.4.3.
    #[inline]
    pub(super) fn update_min_rtt(&mut self, params: &Params, now: Time, rtt: Option<Span>) {
        let delay = &mut self.delay;
        delay.expired = now > delay.probe_at + Span::from_secs_f64(params.probe_rtt_interval);
        if delay.expired
            && let Some(rtt) = rtt
        {
            delay.probe = rtt;
            delay.probe_at = now;
        }
        if now > delay.min_at + Span::from_secs_f64(params.min_rtt_window) {
            delay.min = delay.probe;
            delay.min_at = delay.probe_at;
        }
        if let Some(rtt) = rtt {
            self.lower_min_rtt(now, rtt);
        }
    }

    /// `CheckProbeRTT`, §5.3.4.3.
    #[inline]
    pub(super) fn check_probe_rtt(&mut self, params: &Params, ack: &Ack<'_>) {
        if self.mode != Mode::ProbeRtt && self.delay.expired && !self.idle_restart {
            self.enter_probe_rtt();
        }
        if self.mode == Mode::ProbeRtt {
            self.handle_probe_rtt(params, ack);
        }
        if ack.sample.delivered > 0.0 {
            self.idle_restart = false;
        }
    }

    /// `EnterProbeRTT`, §5.3.4.3.
    #[cold]
    fn enter_probe_rtt(&mut self) {
        self.save_cwnd();
        self.mode = Mode::ProbeRtt;
        self.probe.done_at = None;
        self.probe.limited = (self.delivered, self.delivered);
        self.cycle.ack_phase = AckPhase::ProbeStopping;
        self.start_round();
    }

    /// `HandleProbeRTT`, §5.3.4.3.
    #[cold]
    fn handle_probe_rtt(&mut self, params: &Params, ack: &Ack<'_>) {
        self.probe.limited.1 = self.delivered.saturating_add(ack.in_flight as u64).max(1);
        if self.probe.done_at.is_none() {
            if ack.in_flight <= self.probe_rtt_cwnd(params) {
                self.probe.done_at = Some(ack.now + Span::from_secs_f64(params.probe_rtt_duration));
                self.probe.round_done = false;
                self.start_round();
            }
        } else {
            self.probe.round_done |= self.rounds.start;
            if self.probe.round_done {
                self.check_probe_rtt_done(ack.now);
            }
        }
    }

    /// `CheckProbeRTTDone`, §5.3.4.3.
    pub(super) fn check_probe_rtt_done(&mut self, now: Time) {
        if self.probe.done_at.is_some_and(|done_at| now > done_at) {
            self.delay.probe_at = now;
            self.restore_cwnd();
            self.exit_probe_rtt(now);
        }
    }

    /// `ExitProbeRTT`, §5.3.4.4.
    fn exit_probe_rtt(&mut self, now: Time) {
        self.reset_short_term_model();
        if self.full.reached {
            self.start_down(now);
            self.start_cruise();
        } else {
            self.enter_startup();
        }
    }
}
