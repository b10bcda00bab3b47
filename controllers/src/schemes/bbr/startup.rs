//! Startup and Drain (§5.3.1, §5.3.2).

use super::{Ack, BbrState, Params, State};

/// Growth of the bandwidth in a round that counts as growth (§5.3.1.2).
const FULL_BW_GROWTH: f64 = 1.25;
/// Rounds without growth that show a full pipe (§5.3.1.2).
const FULL_BW_ROUNDS: u8 = 3;
/// `StartupFullLossCnt`, batches of losses in a round (§5.3.1.3).
const STARTUP_FULL_LOSS_CNT: u32 = 6;
/// Rounds Drain lasts at most (§5.3.2).
const MAX_DRAIN_ROUNDS: u32 = 3;

impl State {
    /// `EnterStartup`, §5.3.1.1.
    pub(super) fn enter_startup(&mut self) {
        self.state = BbrState::Startup;
    }

    /// `ResetFullBW`, §5.3.1.2, with `bw` the new baseline.
    pub(super) fn reset_full_bw(&mut self, bw: f64) {
        self.full_bw = bw;
        self.full_bw_count = 0;
        self.full_bw_now = false;
    }

    /// `CheckFullBWReached`, §5.3.1.2.
    #[inline]
    pub(super) fn check_full_bw_reached(&mut self, ack: &Ack<'_>) {
        if self.full_bw_now || !self.round_start || ack.sample.app_limited {
            return;
        }
        if self.resumed.known_bdp.is_filled_by(ack.sample.rate * self.min_rtt.secs()) {
            (self.full_bw_now, self.full_bw_reached) = (true, true);
            return;
        }
        if ack.sample.rate >= FULL_BW_GROWTH * self.full_bw {
            self.reset_full_bw(ack.sample.rate);
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= FULL_BW_ROUNDS;
        self.full_bw_reached |= self.full_bw_now;
    }

    /// `CheckStartupDone`, §5.3.1.1.
    #[inline]
    pub(super) fn check_startup_done(&mut self, params: &Params, ack: &Ack<'_>) {
        if self.state != BbrState::Startup {
            return;
        }
        self.check_startup_high_loss(params, ack);
        if self.full_bw_reached {
            self.state = BbrState::Drain;
            self.rounds_since_probe_up = 0;
        }
    }

    /// `CheckStartupHighLoss`, §5.3.1.3.
    fn check_startup_high_loss(&mut self, params: &Params, ack: &Ack<'_>) {
        if self.loss_events_in_round >= STARTUP_FULL_LOSS_CNT && is_inflight_too_high(params, ack) {
            self.undo_state = Some(BbrState::Startup);
            self.full_bw_reached = true;
            self.inflight_longterm = self.bdp_multiple(params, self.bw, 1.0).max(self.inflight_latest);
        }
    }

    /// `CheckDrainDone`, §5.3.2.
    #[inline]
    pub(super) fn check_drain_done(&mut self, params: &Params, ack: &Ack<'_>) {
        let drained = |state: &State| ack.in_flight <= state.inflight(params, state.bw, 1.0);
        if self.state == BbrState::Drain && (self.rounds_since_probe_up > MAX_DRAIN_ROUNDS || drained(self)) {
            self.start_probe_bw_down(ack.now);
        }
    }
}

/// `IsInflightTooHigh`, §5.5.10.2.
#[inline]
pub(super) fn is_inflight_too_high(params: &Params, ack: &Ack<'_>) -> bool {
    ack.sample.lost > params.loss_threshold * ack.sample.tx_in_flight
}
