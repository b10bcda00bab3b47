//! The minimum RTT, and the drains that let it be seen (§5.3.4).

use super::state::{AckPhase, NO_RTT};
use super::{Ack, BbrState, Params, State};
use crate::parts::probe_rtt::Progress;
use crate::{Span, Time};

impl State {
    /// `UpdateMinRTT`, §5.3.4.3. Before the first sample there is nothing to expire, however late it comes.
    #[inline]
    pub(super) fn update_min_rtt(&mut self, params: &Params, now: Time, rtt: Option<Span>) {
        self.probe_rtt_expired = self.probe_rtt_min_delay != NO_RTT
            && now > self.probe_rtt_min_stamp + Span::from_secs_f64(params.probe_rtt_interval);
        if self.probe_rtt_expired && self.state != BbrState::ProbeRtt {
            self.probe_rtt_bdp = self.bdp_before_probe_rtt(params);
        }
        if let Some(rtt) = rtt.filter(|rtt| *rtt < self.probe_rtt_min_delay || self.probe_rtt_expired) {
            self.probe_rtt_min_delay = rtt;
            self.probe_rtt_min_stamp = now;
        }
        let min_rtt_expired = now > self.min_rtt_stamp + Span::from_secs_f64(params.min_rtt_window);
        if self.probe_rtt_min_delay < self.min_rtt || min_rtt_expired {
            self.min_rtt = self.probe_rtt_min_delay;
            self.min_rtt_stamp = self.probe_rtt_min_stamp;
        }
    }

    /// What ProbeRTT is to halve: the product of the minimum RTT, which may expire with this very ACK, and of what the
    /// path delivered in the latest round. A bandwidth that fell is believed for two cycles more, and a window
    /// of half of what it was would leave the queue standing, whose delay then became the minimum.
    #[cold]
    fn bdp_before_probe_rtt(&self, params: &Params) -> f64 {
        let latest = if self.bw_latest > 0.0 { self.bw_latest } else { f64::INFINITY };
        self.bdp_multiple(params, self.bw.min(latest), 1.0)
    }

    /// `CheckProbeRTT`, §5.3.4.3.
    #[inline]
    pub(super) fn check_probe_rtt(&mut self, params: &Params, ack: &Ack<'_>) {
        if self.state != BbrState::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.enter_probe_rtt();
        }
        if self.state == BbrState::ProbeRtt {
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
        self.state = BbrState::ProbeRtt;
        self.probe_rtt.enter(self.delivered);
        self.ack_phase = AckPhase::ProbeStopping;
        self.start_round();
    }

    /// `HandleProbeRTT`, §5.3.4.3.
    #[cold]
    fn handle_probe_rtt(&mut self, params: &Params, ack: &Ack<'_>) {
        let duration = Span::from_secs_f64(params.probe_rtt_duration);
        let (volumes, cwnd) = ((self.delivered, ack.in_flight), self.probe_rtt_cwnd(params));
        match self.probe_rtt.on_ack(ack.now, volumes, cwnd, duration, self.round_start) {
            Progress::Waits => {}
            Progress::Drained => self.start_round(),
            Progress::RoundDone => self.check_probe_rtt_done(ack.now),
        }
    }

    /// `CheckProbeRTTDone`, §5.3.4.3.
    pub(super) fn check_probe_rtt_done(&mut self, now: Time) {
        if self.probe_rtt.is_over(now) {
            self.probe_rtt_min_stamp = now;
            self.restore_cwnd();
            self.exit_probe_rtt(now);
        }
    }

    /// `ExitProbeRTT`, §5.3.4.4.
    fn exit_probe_rtt(&mut self, now: Time) {
        self.reset_short_term_model();
        if self.full_bw_reached {
            self.start_probe_bw_down(now);
            self.start_probe_bw_cruise();
        } else {
            self.enter_startup();
        }
    }
}
