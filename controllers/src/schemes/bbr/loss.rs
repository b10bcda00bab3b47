//! What losses do to the model (§5.5.10), and how that is undone (§5.5.11).

use super::startup::is_inflight_too_high;
use super::{Ack, BbrState, Params, State};
use crate::Time;

impl State {
    /// Packets lost, the newest of them sent at `newest_sent_at`: `HandleLostPacket` (§5.5.10.2), as far as it goes without
    /// a sample.
    pub(super) fn on_packets_lost(&mut self, params: &Params, now: Time, newest_sent_at: Time) {
        self.is_loss_unhandled = true;
        self.loss_events = self.loss_events.saturating_add(1);
        self.note_loss(params, now, newest_sent_at, false);
    }

    /// Packets lost, or `marked`, the newest of them sent at `newest_sent_at`: `NoteLoss`
    /// (§5.5.10.2) and `OnEnterFastRecovery` (§5.6.4.4).
    ///
    /// The pseudocode saves the state once more in every round with a loss, and `HandleInflightTooHigh` begins such a
    /// round in the midst of a recovery: what an undo then restores is the bound just cut. By the text of §5.5.11 it is
    /// saved when recovery starts.
    pub(super) fn note_loss(&mut self, params: &Params, now: Time, newest_sent_at: Time, marked: bool) {
        let enters = self.recovery.accepts(newest_sent_at);
        if enters || (params.save_each_round && !self.is_loss_in_round) {
            self.save_state_upon_loss();
        }
        self.is_undo_final |= marked;
        if !self.is_loss_in_round {
            self.loss_round_delivered = self.delivered;
        }
        self.is_loss_in_round = true;
        if enters {
            self.earlier_recovery = self.recovery;
            self.recovery.begin(now);
        }
    }

    /// `OnEnterRTO`, §5.6.4.4: persistent congestion leaves room for one packet more than
    /// is in flight, and for the least pipe.
    pub(super) fn on_enter_rto(&mut self, params: &Params, now: Time, in_flight: f64) {
        self.on_packets_lost(params, now, now);
        self.save_state_upon_loss();
        self.recovery.begin(now);
        self.cwnd = (in_flight + self.mtu).min(self.cwnd).max(self.min_pipe_cwnd());
    }

    /// `SaveStateUponLoss`, §5.5.11.1.
    fn save_state_upon_loss(&mut self) {
        self.save_cwnd();
        self.is_undo_final = false;
        self.undo_state = None;
        self.undo_bw_shortterm = self.bw_shortterm;
        self.undo_inflight_shortterm = self.inflight_shortterm;
        self.undo_inflight_longterm = self.inflight_longterm;
    }

    /// `HandleLostPacket`, §5.5.10.2, with what the first ACK after a loss tells.
    #[inline]
    pub(super) fn handle_lost_packets(&mut self, params: &Params, ack: &Ack<'_>) {
        // An ACK of older packets only has no sample to judge by.
        if !self.is_loss_unhandled || ack.delivery.is_none() {
            return;
        }
        self.is_loss_unhandled = false;
        if self.is_bw_probe_sample && is_inflight_too_high(params, ack) {
            self.handle_inflight_too_high(params, ack);
        }
    }

    /// `HandleInflightTooHigh`, §5.5.10.2.
    fn handle_inflight_too_high(&mut self, params: &Params, ack: &Ack<'_>) {
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false;
        if !ack.sample.app_limited {
            self.inflight_longterm = ack.sample.tx_in_flight.max(params.beta * self.target_inflight(params));
        }
        if self.state == BbrState::ProbeBwUp {
            self.undo_state = Some(BbrState::ProbeBwUp);
            self.start_probe_bw_down(ack.now);
        }
    }

    /// `UpdateLatestDeliverySignals`, §5.5.10.3.
    #[inline]
    pub(super) fn update_latest_delivery_signals(&mut self, ack: &Ack<'_>) {
        self.bw_latest = self.bw_latest.max(ack.sample.rate);
        self.inflight_latest = self.inflight_latest.max(ack.sample.delivered);
        self.loss_round_start = ack.sample.prior_delivered >= self.loss_round_delivered;
        if self.loss_round_start {
            self.loss_round_delivered = self.delivered;
        }
    }

    /// `AdvanceLatestDeliverySignals`, §5.5.10.3.
    #[inline]
    pub(super) fn advance_latest_delivery_signals(&mut self, ack: &Ack<'_>) {
        if self.loss_round_start {
            self.bw_latest = ack.sample.rate;
            self.inflight_latest = ack.sample.delivered;
        }
    }

    /// `ResetCongestionSignals`, §5.5.10.3.
    pub(super) fn reset_congestion_signals(&mut self) {
        self.is_loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0.0;
    }

    /// `UpdateCongestionSignals`, §5.5.10.3.
    #[inline]
    pub(super) fn update_congestion_signals(&mut self, params: &Params, ack: &Ack<'_>) {
        self.update_max_bw(ack);
        self.loss_events_in_round = 0;
        if !self.loss_round_start {
            return;
        }
        if self.is_loss_in_round && !self.state.is_probing() {
            self.loss_lower_bounds(params);
        }
        self.loss_events_in_round = self.loss_events;
        self.loss_events = 0;
        self.is_loss_in_round = false;
    }

    /// `InitLowerBounds`, `LossLowerBounds`, §5.5.10.3.
    fn loss_lower_bounds(&mut self, params: &Params) {
        let bw = if self.bw_shortterm.is_finite() { self.bw_shortterm } else { self.max_bw };
        self.bw_shortterm = self.bw_latest.max(params.beta * bw);
        let volume = if self.inflight_shortterm.is_finite() { self.inflight_shortterm } else { self.cwnd };
        self.inflight_shortterm = self.inflight_latest.max(params.beta * volume);
    }

    /// `ResetShortTermModel`, §5.5.10.3.
    pub(super) fn reset_short_term_model(&mut self) {
        self.bw_shortterm = f64::INFINITY;
        self.inflight_shortterm = f64::INFINITY;
    }

    /// `BoundBWForModel`, §5.5.10.3.
    #[inline]
    pub(super) fn bound_bw_for_model(&mut self) {
        self.bw = self.max_bw.min(self.bw_shortterm);
    }

    /// `HandleSpuriousLossDetection`, §5.5.11.2, for the episode of losses up to one sent at
    /// `newest_sent_at`. The draft has no marks; an episode with one is not spurious.
    pub(super) fn handle_spurious_loss_detection(&mut self, newest_sent_at: Time) {
        if self.is_undo_final || !self.earlier_recovery.accepts(newest_sent_at) {
            return;
        }
        self.recovery.close();
        self.restore_cwnd();
        self.is_loss_in_round = false;
        self.loss_events = 0;
        self.reset_full_bw(0.0);
        self.bw_shortterm = self.bw_shortterm.max(self.undo_bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(self.undo_inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(self.undo_inflight_longterm);
        match self.undo_state.take() {
            Some(BbrState::Startup) if self.state != BbrState::Startup => {
                self.full_bw_reached = false;
                if self.state != BbrState::ProbeRtt {
                    self.enter_startup();
                }
            }
            Some(BbrState::ProbeBwUp) if !matches!(self.state, BbrState::ProbeBwUp | BbrState::ProbeRtt) => {
                self.start_probe_bw_refill()
            }
            _ => {}
        }
    }
}
