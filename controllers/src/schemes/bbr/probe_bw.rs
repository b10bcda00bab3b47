//! ProbeBW: slowing down, cruising, refilling, speeding up (§5.3.3).

use super::startup::is_inflight_too_high;
use super::state::AckPhase;
use super::{Ack, BbrState, Params, State};
use crate::{Span, Time};

/// Rounds after which Reno would have probed a large pipe (§5.3.3.8).
const MAX_RENO_ROUNDS: f64 = 63.0;
/// The steps in which the long-term bound grows double at most so often (§5.3.3.9).
const MAX_PROBE_UP_ROUNDS: u32 = 30;

impl State {
    /// `StartProbeBW_DOWN`, §5.3.3.9.
    pub(super) fn start_probe_bw_down(&mut self, now: Time) {
        self.reset_congestion_signals();
        self.probe_up_acked_per_inc = f64::INFINITY;
        self.pick_probe_wait();
        self.cycle_stamp = now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.start_round();
        self.state = BbrState::ProbeBwDown;
    }

    /// `StartProbeBW_CRUISE`, §5.3.3.9.
    pub(super) fn start_probe_bw_cruise(&mut self) {
        self.state = BbrState::ProbeBwCruise;
    }

    /// `StartProbeBW_REFILL`, §5.3.3.9.
    pub(super) fn start_probe_bw_refill(&mut self) {
        self.reset_short_term_model();
        self.bw_probe_up_rounds = 0;
        self.bw_probe_up_acked = 0.0;
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.state = BbrState::ProbeBwRefill;
    }

    /// `StartProbeBW_UP`, §5.3.3.9.
    fn start_probe_bw_up(&mut self, ack: &Ack<'_>) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.start_round();
        self.reset_full_bw(ack.sample.rate);
        self.state = BbrState::ProbeBwUp;
        self.raise_inflight_longterm_slope();
    }

    /// `PickProbeWait`, §5.3.3.8: 0 or 1 rounds are taken as past, 2 to 3 s are waited.
    fn pick_probe_wait(&mut self) {
        self.rounds_since_probe_up = (self.random.bits() >> 63) as u32;
        self.bw_probe_wait = Span::from_secs_f64(2.0 + self.random.uniform());
    }

    /// `UpdateProbeBWCyclePhase`, §5.3.3.9.
    #[inline]
    pub(super) fn update_probe_bw_cycle_phase(&mut self, params: &Params, ack: &Ack<'_>) {
        if !self.full_bw_reached || self.adapt_long_term_model(params, ack) {
            return;
        }
        match self.state {
            BbrState::ProbeBwDown | BbrState::ProbeBwCruise if self.is_time_to_probe_bw(params, ack) => {
                self.start_probe_bw_refill()
            }
            BbrState::ProbeBwDown if self.is_time_to_cruise(params, ack) => self.start_probe_bw_cruise(),
            BbrState::ProbeBwRefill if self.round_start => {
                self.is_bw_probe_sample = true;
                self.start_probe_bw_up(ack);
            }
            BbrState::ProbeBwUp => self.check_probe_bw_up_done(ack),
            _ => {}
        }
    }

    /// ProbeBW_UP of `UpdateProbeBWCyclePhase`, §5.3.3.9.
    fn check_probe_bw_up_done(&mut self, ack: &Ack<'_>) {
        if self.is_time_to_go_down(ack) {
            self.prev_probe_too_high = false;
            self.start_probe_bw_down(ack.now);
        }
    }

    /// `IsTimeToProbeBW`, `IsRenoCoexistenceProbeTime`, §5.3.3.8.
    #[inline]
    fn is_time_to_probe_bw(&self, params: &Params, ack: &Ack<'_>) -> bool {
        ack.now > self.cycle_stamp + self.bw_probe_wait
            || f64::from(self.rounds_since_probe_up) * self.mtu
                >= self.target_inflight(params).min(MAX_RENO_ROUNDS * self.mtu)
    }

    /// `IsTimeToCruise`, §5.3.3.9.
    #[inline]
    fn is_time_to_cruise(&self, params: &Params, ack: &Ack<'_>) -> bool {
        ack.in_flight <= self.inflight_with_headroom(params) && ack.in_flight <= self.inflight(params, self.max_bw, 1.0)
    }

    /// `C.is_cwnd_limited`, §2.2: at any point in the last round trip.
    #[inline]
    fn is_cwnd_limited(&self) -> bool {
        self.cwnd_limited.0 || self.cwnd_limited.1
    }

    /// `IsTimeToGoDown`, §5.3.3.9. What was in flight before the ACK is what reaches the
    /// long-term bound; after it, it never could.
    #[inline]
    fn is_time_to_go_down(&mut self, ack: &Ack<'_>) -> bool {
        if self.prev_probe_too_high && ack.flight + self.mtu > self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if self.is_cwnd_limited() && self.cwnd >= self.inflight_longterm {
            self.reset_full_bw(ack.sample.rate);
            return false;
        }
        self.full_bw_now
    }

    /// `RaiseInflightLongtermSlope`, §5.3.3.9.
    fn raise_inflight_longterm_slope(&mut self) {
        let steps = f64::from(1u32 << self.bw_probe_up_rounds);
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(MAX_PROBE_UP_ROUNDS);
        self.probe_up_acked_per_inc = (self.cwnd / steps).max(self.mtu);
    }

    /// `ProbeInflightLongtermUpward`, §5.3.3.9.
    fn probe_inflight_longterm_upward(&mut self, ack: &Ack<'_>) {
        if !self.is_cwnd_limited() || self.cwnd < self.inflight_longterm {
            return;
        }
        self.bw_probe_up_acked += ack.newly_acked;
        if self.bw_probe_up_acked >= self.probe_up_acked_per_inc {
            let steps = libm::floor(self.bw_probe_up_acked / self.probe_up_acked_per_inc);
            self.bw_probe_up_acked = (self.bw_probe_up_acked - steps * self.probe_up_acked_per_inc).max(0.0);
            self.inflight_longterm += steps * self.mtu;
        }
        if self.round_start {
            self.raise_inflight_longterm_slope();
        }
    }

    /// `AdaptLongTermModel`, §5.3.3.9; whether it decided the next state.
    #[inline]
    fn adapt_long_term_model(&mut self, params: &Params, ack: &Ack<'_>) -> bool {
        if self.round_start {
            if self.ack_phase == AckPhase::ProbeStarting {
                self.ack_phase = AckPhase::ProbeFeedback;
            }
            if self.ack_phase == AckPhase::ProbeStopping && self.on_probe_samples_complete(ack) {
                return true;
            }
        }
        if self.inflight_longterm == f64::INFINITY || is_inflight_too_high(params, ack) {
            return false;
        }
        self.inflight_longterm = self.inflight_longterm.max(ack.sample.tx_in_flight);
        if self.state == BbrState::ProbeBwUp {
            self.probe_inflight_longterm_upward(ack);
        }
        false
    }

    /// A round after a probe: its samples are in. Whether another follows at once (§5.3.3.6).
    fn on_probe_samples_complete(&mut self, ack: &Ack<'_>) -> bool {
        self.is_bw_probe_sample = false;
        self.ack_phase = AckPhase::Init;
        if self.state.is_probe_bw() && !ack.sample.app_limited {
            self.advance_max_bw_filter();
        }
        let again = self.state.is_probe_bw() && self.prev_probe_precautionary && !self.prev_probe_too_high;
        if again {
            self.start_probe_bw_refill();
        }
        again
    }
}
