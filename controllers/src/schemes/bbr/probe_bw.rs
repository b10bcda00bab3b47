//! ProbeBW: slowing down, cruising, refilling, speeding up (§5.3.3).

use super::startup::is_too_high;
use super::state::AckPhase;
use super::{Ack, Mode, Params, State};
use crate::{Span, Time};

/// Rounds after which Reno would have probed a large pipe (§5.3.3.8).
const RENO_ROUNDS: f64 = 63.0;
/// The steps in which the long-term bound grows double at most so often (§5.3.3.9).
const MOST_DOUBLINGS: u32 = 30;

impl State {
    /// `StartProbeBW_DOWN`, §5.3.3.9.
    pub(super) fn start_down(&mut self, now: Time) {
        self.reset_congestion_signals();
        self.cycle.acked_per_inc = f64::INFINITY;
        self.pick_probe_wait();
        self.cycle.since = now;
        self.cycle.ack_phase = AckPhase::ProbeStopping;
        self.start_round();
        self.mode = Mode::Down;
    }

    /// `StartProbeBW_CRUISE`, §5.3.3.9.
    pub(super) fn start_cruise(&mut self) {
        self.mode = Mode::Cruise;
    }

    /// `StartProbeBW_REFILL`, §5.3.3.9.
    pub(super) fn start_refill(&mut self) {
        self.reset_short_term_model();
        self.cycle.up_rounds = 0;
        self.cycle.up_acked = 0.0;
        self.cycle.precautionary = false;
        self.cycle.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.mode = Mode::Refill;
    }

    /// `StartProbeBW_UP`, §5.3.3.9.
    fn start_up(&mut self, ack: &Ack<'_>) {
        self.cycle.ack_phase = AckPhase::ProbeStarting;
        self.start_round();
        self.reset_full_bw(ack.sample.rate);
        self.mode = Mode::Up;
        self.raise_slope();
    }

    /// `PickProbeWait`, §5.3.3.8: 0 or 1 rounds are taken as past, 2 to 3 s are waited.
    fn pick_probe_wait(&mut self) {
        self.cycle.rounds = (self.random.bits() >> 63) as u32;
        self.cycle.wait = Span::from_secs_f64(2.0 + self.random.uniform());
    }

    /// `UpdateProbeBWCyclePhase`, §5.3.3.9.
    #[inline]
    pub(super) fn update_probe_bw_cycle_phase(&mut self, params: &Params, ack: &Ack<'_>) {
        if !self.full.reached || self.adapt_long_term_model(params, ack) {
            return;
        }
        match self.mode {
            Mode::Down | Mode::Cruise if self.is_time_to_probe(params, ack) => self.start_refill(),
            Mode::Down if self.is_time_to_cruise(params, ack) => self.start_cruise(),
            Mode::Refill if self.rounds.start => {
                self.cycle.sampling = true;
                self.start_up(ack);
            }
            Mode::Up => self.check_up_done(ack),
            _ => {}
        }
    }

    /// ProbeBW_UP of `UpdateProbeBWCyclePhase`, §5.3.3.9.
    fn check_up_done(&mut self, ack: &Ack<'_>) {
        if self.is_time_to_go_down(ack) {
            self.cycle.too_high = false;
            self.start_down(ack.now);
        }
    }

    /// `IsTimeToProbeBW`, `IsRenoCoexistenceProbeTime`, §5.3.3.8.
    #[inline]
    fn is_time_to_probe(&self, params: &Params, ack: &Ack<'_>) -> bool {
        ack.now > self.cycle.since + self.cycle.wait
            || f64::from(self.cycle.rounds) * self.mtu >= self.target_inflight(params).min(RENO_ROUNDS * self.mtu)
    }

    /// `IsTimeToCruise`, §5.3.3.9.
    #[inline]
    fn is_time_to_cruise(&self, params: &Params, ack: &Ack<'_>) -> bool {
        ack.in_flight <= self.inflight_with_headroom(params)
            && ack.in_flight <= self.inflight(params, self.rate.max, 1.0)
    }

    /// `C.is_cwnd_limited`: no further packet fitted the window.
    #[inline]
    fn is_cwnd_limited(&self, ack: &Ack<'_>) -> bool {
        !ack.app_limited && ack.flight + self.mtu > self.cwnd
    }

    /// `IsTimeToGoDown`, §5.3.3.9. What was in flight before the ACK is what reaches the
    /// long-term bound; after it, it never could.
    #[inline]
    fn is_time_to_go_down(&mut self, ack: &Ack<'_>) -> bool {
        if self.cycle.too_high && ack.flight + self.mtu > self.volume.longterm {
            self.cycle.precautionary = true;
            return true;
        }
        if self.is_cwnd_limited(ack) && self.cwnd >= self.volume.longterm {
            self.reset_full_bw(ack.sample.rate);
            return false;
        }
        self.full.now
    }

    /// `RaiseInflightLongtermSlope`, §5.3.3.9.
    fn raise_slope(&mut self) {
        let steps = f64::from(1u32 << self.cycle.up_rounds);
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(MOST_DOUBLINGS);
        self.cycle.acked_per_inc = (self.cwnd / steps).max(self.mtu);
    }

    /// `ProbeInflightLongtermUpward`, §5.3.3.9.
    fn probe_upward(&mut self, ack: &Ack<'_>) {
        if !self.is_cwnd_limited(ack) || self.cwnd < self.volume.longterm {
            return;
        }
        self.cycle.up_acked += ack.newly;
        if self.cycle.up_acked >= self.cycle.acked_per_inc {
            let steps = libm::floor(self.cycle.up_acked / self.cycle.acked_per_inc);
            self.cycle.up_acked = (self.cycle.up_acked - steps * self.cycle.acked_per_inc).max(0.0);
            self.volume.longterm += steps * self.mtu;
        }
        if self.rounds.start {
            self.raise_slope();
        }
    }

    /// `AdaptLongTermModel`, §5.3.3.9; whether it decided the next state.
    #[inline]
    fn adapt_long_term_model(&mut self, params: &Params, ack: &Ack<'_>) -> bool {
        if self.rounds.start {
            if self.cycle.ack_phase == AckPhase::ProbeStarting {
                self.cycle.ack_phase = AckPhase::ProbeFeedback;
            }
            if self.cycle.ack_phase == AckPhase::ProbeStopping && self.end_of_probe(ack) {
                return true;
            }
        }
        if self.volume.longterm == f64::INFINITY || is_too_high(params, ack) {
            return false;
        }
        self.volume.longterm = self.volume.longterm.max(ack.sample.tx_in_flight);
        if self.mode == Mode::Up {
            self.probe_upward(ack);
        }
        false
    }

    /// A round after a probe: its samples are in. Whether another follows at once (§5.3.3.6).
    fn end_of_probe(&mut self, ack: &Ack<'_>) -> bool {
        self.cycle.sampling = false;
        self.cycle.ack_phase = AckPhase::Init;
        if self.mode.is_probe_bw() && !ack.sample.app_limited {
            self.advance_max_bw_filter();
        }
        let again = self.mode.is_probe_bw() && self.cycle.precautionary && !self.cycle.too_high;
        if again {
            self.start_refill();
        }
        again
    }
}
