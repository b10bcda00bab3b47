//! Startup and Drain (§5.3.1, §5.3.2).

use super::{Ack, Mode, Params, State};

/// Growth of the bandwidth in a round that counts as growth (§5.3.1.2).
const GROWTH: f64 = 1.25;
/// Rounds without growth that show a full pipe (§5.3.1.2).
const PLATEAU: u8 = 3;
/// `StartupFullLossCnt`, batches of losses in a round (§5.3.1.3).
const FULL_LOSSES: u32 = 6;
/// Rounds Drain lasts at most (§5.3.2).
const DRAIN_ROUNDS: u32 = 3;

impl State {
    /// `EnterStartup`, §5.3.1.1.
    pub(super) fn enter_startup(&mut self) {
        self.mode = Mode::Startup;
    }

    /// `ResetFullBW`, §5.3.1.2, with `bw` the new baseline.
    pub(super) fn reset_full_bw(&mut self, bw: f64) {
        self.full.bw = bw;
        self.full.count = 0;
        self.full.now = false;
    }

    /// `CheckFullBWReached`, §5.3.1.2.
    #[inline]
    pub(super) fn check_full_bw_reached(&mut self, ack: &Ack<'_>) {
        if self.full.now || !self.rounds.start || ack.sample.app_limited {
            return;
        }
        if ack.sample.rate >= GROWTH * self.full.bw {
            self.reset_full_bw(ack.sample.rate);
            return;
        }
        self.full.count += 1;
        self.full.now = self.full.count >= PLATEAU;
        self.full.reached |= self.full.now;
    }

    /// `CheckStartupDone`, §5.3.1.1.
    #[inline]
    pub(super) fn check_startup_done(&mut self, params: &Params, ack: &Ack<'_>) {
        if self.mode != Mode::Startup {
            return;
        }
        self.check_startup_high_loss(params, ack);
        if self.full.reached {
            self.mode = Mode::Drain;
            self.cycle.rounds = 0;
        }
    }

    /// `CheckStartupHighLoss`, §5.3.1.3.
    fn check_startup_high_loss(&mut self, params: &Params, ack: &Ack<'_>) {
        if self.loss.ended_with >= FULL_LOSSES && is_too_high(params, ack) {
            self.undo.mode = Some(Mode::Startup);
            self.full.reached = true;
            self.volume.longterm = self.bdp(params, self.rate.now).max(self.volume.latest);
        }
    }

    /// `CheckDrainDone`, §5.3.2.
    #[inline]
    pub(super) fn check_drain_done(&mut self, params: &Params, ack: &Ack<'_>) {
        let drained = |state: &State| ack.in_flight <= state.inflight(params, state.rate.now, 1.0);
        if self.mode == Mode::Drain && (self.cycle.rounds > DRAIN_ROUNDS || drained(self)) {
            self.start_down(ack.now);
        }
    }
}

/// `IsInflightTooHigh`, §5.5.10.2.
#[inline]
pub(super) fn is_too_high(params: &Params, ack: &Ack<'_>) -> bool {
    ack.sample.lost > params.loss_threshold * ack.sample.tx_in_flight
}
