//! What losses do to the model (§5.5.10), and how that is undone (§5.5.11).

use super::startup::is_too_high;
use super::{Ack, Mode, Params, State};
use crate::Time;

impl State {
    /// Packets lost, or marked, the newest of them sent at `newest_sent_at`: `NoteLoss`
    /// (§5.5.10.2) and `OnEnterFastRecovery` (§5.6.4.4).
    pub(super) fn congested(&mut self, now: Time, newest_sent_at: Time) {
        let enters = self.epoch.accepts(newest_sent_at);
        if !self.loss.in_round || (enters && !self.epoch.in_recovery()) {
            self.save_state();
        }
        if !self.loss.in_round {
            self.loss.next = self.delivered;
        }
        self.loss.in_round = true;
        if enters {
            self.epoch.begin(now);
        }
    }

    /// `OnEnterRTO`, §5.6.4.4: persistent congestion leaves room for one packet more than
    /// is in flight, and for the least pipe.
    pub(super) fn timeout(&mut self, now: Time, in_flight: f64) {
        self.congested(now, now);
        self.save_state();
        self.epoch.begin(now);
        self.cwnd = (in_flight + self.mtu).min(self.cwnd).max(self.min_pipe());
    }

    /// `SaveStateUponLoss`, §5.5.11.1.
    fn save_state(&mut self) {
        self.save_cwnd();
        self.undo.mode = None;
        self.undo.bw_shortterm = self.rate.shortterm;
        self.undo.shortterm = self.volume.shortterm;
        self.undo.longterm = self.volume.longterm;
    }

    /// `HandleLostPacket`, §5.5.10.2, with what the first ACK after a loss tells.
    #[inline]
    pub(super) fn judge_losses(&mut self, params: &Params, ack: &Ack<'_>) {
        if !self.loss.unjudged {
            return;
        }
        self.loss.unjudged = false;
        if self.cycle.sampling && is_too_high(params, ack) {
            self.handle_inflight_too_high(params, ack);
        }
    }

    /// `HandleInflightTooHigh`, §5.5.10.2.
    fn handle_inflight_too_high(&mut self, params: &Params, ack: &Ack<'_>) {
        self.cycle.too_high = true;
        self.cycle.sampling = false;
        if !ack.sample.app_limited {
            self.volume.longterm = ack.sample.tx_in_flight.max(params.beta * self.target_inflight(params));
        }
        if self.mode == Mode::Up {
            self.undo.mode = Some(Mode::Up);
            self.start_down(ack.now);
        }
    }

    /// `UpdateLatestDeliverySignals`, §5.5.10.3.
    #[inline]
    pub(super) fn update_latest_delivery_signals(&mut self, ack: &Ack<'_>) {
        self.rate.latest = self.rate.latest.max(ack.sample.rate);
        self.volume.latest = self.volume.latest.max(ack.sample.delivered);
        self.loss.start = ack.sample.prior_delivered >= self.loss.next;
        if self.loss.start {
            self.loss.next = self.delivered;
        }
    }

    /// `AdvanceLatestDeliverySignals`, §5.5.10.3.
    #[inline]
    pub(super) fn advance_latest_delivery_signals(&mut self, ack: &Ack<'_>) {
        if self.loss.start {
            self.rate.latest = ack.sample.rate;
            self.volume.latest = ack.sample.delivered;
        }
    }

    /// `ResetCongestionSignals`, §5.5.10.3.
    pub(super) fn reset_congestion_signals(&mut self) {
        self.loss.in_round = false;
        self.rate.latest = 0.0;
        self.volume.latest = 0.0;
    }

    /// `UpdateCongestionSignals`, §5.5.10.3.
    #[inline]
    pub(super) fn update_congestion_signals(&mut self, params: &Params, ack: &Ack<'_>) {
        self.update_max_bw(ack);
        self.loss.ended_with = 0;
        if !self.loss.start {
            return;
        }
        if self.loss.in_round && !self.mode.is_probing() {
            self.lower_bounds(params);
        }
        self.loss.ended_with = self.loss.events;
        self.loss.events = 0;
        self.loss.in_round = false;
    }

    /// `InitLowerBounds`, `LossLowerBounds`, §5.5.10.3.
    fn lower_bounds(&mut self, params: &Params) {
        let bw = if self.rate.shortterm.is_finite() { self.rate.shortterm } else { self.rate.max };
        self.rate.shortterm = self.rate.latest.max(params.beta * bw);
        let volume = if self.volume.shortterm.is_finite() { self.volume.shortterm } else { self.cwnd };
        self.volume.shortterm = self.volume.latest.max(params.beta * volume);
    }

    /// `ResetShortTermModel`, §5.5.10.3.
    pub(super) fn reset_short_term_model(&mut self) {
        self.rate.shortterm = f64::INFINITY;
        self.volume.shortterm = f64::INFINITY;
    }

    /// `BoundBWForModel`, §5.5.10.3.
    #[inline]
    pub(super) fn bound_bw(&mut self) {
        self.rate.now = self.rate.max.min(self.rate.shortterm);
    }

    /// `HandleSpuriousLossDetection`, §5.5.11.2.
    pub(super) fn undo(&mut self) {
        self.epoch.close();
        self.restore_cwnd();
        self.loss.in_round = false;
        self.loss.events = 0;
        self.reset_full_bw(0.0);
        self.rate.shortterm = self.rate.shortterm.max(self.undo.bw_shortterm);
        self.volume.shortterm = self.volume.shortterm.max(self.undo.shortterm);
        self.volume.longterm = self.volume.longterm.max(self.undo.longterm);
        match self.undo.mode.take() {
            Some(Mode::Startup) if self.mode != Mode::Startup => {
                self.full.reached = false;
                if self.mode != Mode::ProbeRtt {
                    self.enter_startup();
                }
            }
            Some(Mode::Up) if !matches!(self.mode, Mode::Up | Mode::ProbeRtt) => self.start_refill(),
            _ => {}
        }
    }
}
