//! §5.5, the model of the path.

use windlass_controllers::Span;

use super::{BETA, Bbr, INFINITY, LOSS_THRESH, State};

/// UpdateWindowedMaxFilter() of samples of `window_length` units of time, this one among them.
fn update_windowed_max(filter: &mut Vec<(u64, f64)>, value: f64, time: u64, window_length: u64) -> f64 {
    match filter.last_mut() {
        Some((at, most)) if *at == time => *most = most.max(value),
        _ => filter.push((time, value)),
    }
    filter.retain(|(at, _)| at + 16 > time);
    let recent = filter.iter().filter(|(at, _)| at + window_length > time);
    recent.map(|(_, value)| *value).fold(0.0, f64::max)
}

impl Bbr {
    /// §5.5.1 UpdateRound().
    fn update_round(&mut self) {
        // §5.5.1 "if (P.delivered >= BBR.next_round_delivered) StartRound(); BBR.round_count++;
        // BBR.rounds_since_probe_up++; BBR.round_start = true".
        self.round_start = self.c.rs.has_data && self.c.rs.prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.start_round();
            self.round_count += 1;
            self.rounds_since_probe_up += 1;
            self.cwnd_limited = [false, self.cwnd_limited[0]];
        }
        let by_acks = self.changes.has("looked at by ACKs");
        let no_room = !self.app_limited && self.before + self.smss > self.cwnd;
        self.cwnd_limited[0] |= by_acks && no_room;
        if self.changes.has("the ACK at hand") {
            self.cwnd_limited = [no_room, false];
        }
    }

    /// §5.5.1 StartRound(): "BBR.next_round_delivered = C.delivered".
    pub(super) fn start_round(&mut self) {
        self.next_round_delivered = self.c.delivered;
    }

    /// §5.5.5 UpdateMaxBw().
    fn update_max_bw(&mut self) {
        self.update_round();
        let rs = self.c.rs;
        // §5.5.5 "if (RS.delivery_rate > 0 && (RS.delivery_rate >= BBR.max_bw || !RS.is_app_limited))"; the window is
        // BBR.MaxBwFilterLen = 2 cycles.
        let limited = rs.is_app_limited && !self.changes.has("limited samples count");
        if rs.delivery_rate > 0.0 && (rs.delivery_rate >= self.max_bw || !limited) {
            let cycles = if self.changes.has("three cycles") { 3 } else { 2 };
            let rate = self.whole(rs.delivery_rate);
            self.max_bw = update_windowed_max(&mut self.max_bw_filter, rate, self.cycle_count, cycles);
        }
    }

    /// What filters keep of a value.
    fn whole(&self, value: f64) -> f64 {
        if self.changes.has("whole bytes") { value.trunc() } else { value }
    }

    /// §5.5.9 UpdateACKAggregation().
    pub(super) fn update_ack_aggregation(&mut self) {
        // §5.5.9 "interval = (Now() - BBR.extra_acked_interval_start); expected_delivered = BBR.bw * interval".
        let interval = self.now.since(self.extra_acked_interval_start).secs();
        let mut expected_delivered = self.bw * interval;
        // §5.5.9 "Reset interval if ACK rate is below expected rate".
        if self.extra_acked_delivered <= expected_delivered {
            self.extra_acked_delivered = 0.0;
            self.extra_acked_interval_start = self.now;
            expected_delivered = 0.0;
        }
        // §5.5.9 "BBR.extra_acked_delivered += RS.newly_acked; extra = BBR.extra_acked_delivered - expected_delivered;
        // extra = min(extra, C.cwnd)".
        self.extra_acked_delivered += self.c.rs.newly_acked;
        let extra = self.whole((self.extra_acked_delivered - expected_delivered).min(self.cwnd));
        // §5.5.9 "if (BBR.full_bw_reached) filter_len = BBR.ExtraAckedFilterLen; else filter_len = 1 /* in Startup, just
        // remember 1 round */": the former is 10 (§2.12).
        let filter_len = if self.full_bw_reached { 10 } else { 1 };
        if !self.full_bw_reached && self.round_start && self.changes.has("emptied in Startup") {
            self.extra_acked_filter.clear();
            self.extra_acked_since = self.round_count;
        }
        self.extra_acked = update_windowed_max(&mut self.extra_acked_filter, extra, self.round_count, filter_len);
        if self.changes.has("pairs of rounds") {
            let pair = |round: u64| round.saturating_sub(self.extra_acked_since) / 2;
            let recent = self.extra_acked_filter.iter().filter(|(at, _)| pair(*at) + 5 > pair(self.round_count));
            self.extra_acked = recent.map(|(_, extra)| *extra).fold(0.0, f64::max);
        }
    }

    /// §5.5.10.3 UpdateLatestDeliverySignals().
    pub(super) fn update_latest_delivery_signals(&mut self) {
        // §5.5.10.3 "BBR.bw_latest = max(BBR.bw_latest, RS.delivery_rate); BBR.inflight_latest =
        // max(BBR.inflight_latest, RS.delivered)".
        self.loss_round_start = false;
        self.bw_latest = self.bw_latest.max(self.c.rs.delivery_rate);
        self.inflight_latest = self.inflight_latest.max(self.c.rs.delivered);
        // §5.5.10.3 "if (RS.prior_delivered >= BBR.loss_round_delivered) BBR.loss_round_delivered = C.delivered;
        // BBR.loss_round_start = 1".
        if self.c.rs.has_data && self.c.rs.prior_delivered >= self.loss_round_delivered {
            self.loss_round_delivered = self.c.delivered;
            self.loss_round_start = true;
        }
    }

    /// §5.5.10.3 AdvanceLatestDeliverySignals().
    pub(super) fn advance_latest_delivery_signals(&mut self) {
        if self.loss_round_start {
            self.bw_latest = self.c.rs.delivery_rate;
            self.inflight_latest = self.c.rs.delivered;
        }
    }

    /// §5.5.10.3 ResetCongestionSignals().
    pub(super) fn reset_congestion_signals(&mut self) {
        self.is_loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0.0;
    }

    /// §5.5.10.3 UpdateCongestionSignals().
    pub(super) fn update_congestion_signals(&mut self) {
        self.update_max_bw();
        self.loss_ranges[1] = 0;
        if !self.loss_round_start {
            return;
        }
        self.adapt_lower_bounds_from_congestion();
        self.is_loss_in_round = false;
        self.loss_ranges = [0, self.loss_ranges[0]];
    }

    /// §5.3.1.3 CheckStartupHighLoss(), at the end of a round with losses.
    pub(super) fn check_startup_high_loss(&mut self) {
        // §5.3.1.3 "The connection has been in fast recovery for at least one full packet-timed round trip"; "The loss
        // rate over the time scale of a single full round trip exceeds BBR.LossThresh (2%)"; "There are at least
        // BBRStartupFullLossCnt=6 discontiguous sequence ranges lost in that round trip."
        let in_recovery = self.period.ongoing && self.c.rs.prior_delivered >= self.recovery_delivered;
        let lasts = in_recovery || self.changes.has("a round with losses");
        if self.state != State::Startup || !lasts || self.loss_ranges[1] < 6 || !self.is_inflight_too_high() {
            return;
        }
        // §5.3.1.3 "First, it sets BBR.undo_state = Startup. Second, it sets BBR.full_bw_reached = true. Then it sets
        // BBR.inflight_longterm to ... max(BBR.bdp, BBR.inflight_latest)".
        self.undo_state = Some(State::Startup);
        self.full_bw_reached = true;
        self.inflight_longterm = self.bdp().max(self.inflight_latest);
    }

    /// §5.5.10.3 AdaptLowerBoundsFromCongestion(), InitLowerBounds() and LossLowerBounds().
    fn adapt_lower_bounds_from_congestion(&mut self) {
        // §5.5.10.3 "if (IsProbingBW()) return".
        let is_probing = matches!(self.state, State::Startup | State::ProbeBwRefill | State::ProbeBwUp);
        if is_probing || !(self.is_loss_in_round || self.changes.has("every round lowers")) {
            return;
        }
        // §5.5.10.3 "if (BBR.bw_shortterm == Infinity) BBR.bw_shortterm = BBR.max_bw; if (BBR.inflight_shortterm ==
        // Infinity) BBR.inflight_shortterm = C.cwnd".
        if self.bw_shortterm == INFINITY {
            self.bw_shortterm = self.max_bw;
        }
        if self.inflight_shortterm == INFINITY {
            self.inflight_shortterm = self.cwnd;
        }
        // §5.5.10.3 "BBR.bw_shortterm = max(BBR.bw_latest, BBR.Beta * BBR.bw_shortterm); BBR.inflight_shortterm =
        // max(BBR.inflight_latest, BBR.Beta * BBR.inflight_shortterm)".
        let beta = if self.changes.has("half") { 0.5 } else { BETA };
        self.bw_shortterm = self.bw_latest.max(beta * self.bw_shortterm);
        self.inflight_shortterm = self.inflight_latest.max(beta * self.inflight_shortterm);
    }

    /// §5.5.10.3 ResetShortTermModel().
    pub(super) fn reset_short_term_model(&mut self) {
        self.bw_shortterm = INFINITY;
        self.inflight_shortterm = INFINITY;
    }

    /// §5.5.10.3 BoundBWForModel(): "BBR.bw = min(BBR.max_bw, BBR.bw_shortterm)".
    pub(super) fn bound_bw_for_model(&mut self) {
        self.bw = self.max_bw.min(self.bw_shortterm);
    }

    /// §5.5.10.2 IsInflightTooHigh().
    pub(super) fn is_inflight_too_high(&self) -> bool {
        let most = if self.changes.has("five per cent") { 0.05 } else { LOSS_THRESH };
        self.c.rs.lost > self.c.rs.tx_in_flight * most
    }

    /// §5.5.10.2 HandleInflightTooHigh().
    pub(super) fn handle_inflight_too_high(&mut self) {
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false;
        // §5.5.10.2 "if (!RS.is_app_limited) BBR.inflight_longterm = max(RS.tx_in_flight, TargetInflight() * BBR.Beta)".
        if !self.c.rs.is_app_limited {
            self.inflight_longterm = self.c.rs.tx_in_flight.max(self.target_inflight() * BETA);
        }
        if self.state == State::ProbeBwUp {
            self.undo_state = Some(State::ProbeBwUp);
            self.start_probe_bw_down();
        }
    }

    /// §5.5.10.2 InflightAtLoss(Packet P).
    pub(super) fn inflight_at_loss(&self, p: &crate::delivery_rate::P) -> f64 {
        // §5.5.10.2 "lost_prefix = (BBR.LossThresh * inflight_prev - lost_prev) / (1 - BBR.LossThresh)".
        let inflight_prev = self.c.rs.tx_in_flight - p.size;
        let lost_prev = self.c.rs.lost - p.size;
        inflight_prev + (LOSS_THRESH * inflight_prev - lost_prev) / (1.0 - LOSS_THRESH)
    }

    /// §5.5.10.2 NoteLoss().
    pub(super) fn note_loss(&mut self) {
        // §5.5.10.2 "if (!BBR.is_loss_in_round) /* first loss in this round trip? */ BBR.loss_round_delivered = C.delivered;
        // SaveStateUponLoss()".
        if !self.is_loss_in_round {
            self.loss_round_delivered = self.c.delivered;
            if !self.changes.has("once an episode") {
                self.save_state_upon_loss();
            }
        }
        self.is_loss_in_round = true;
    }

    /// §5.5.11.1 SaveStateUponLoss().
    pub(super) fn save_state_upon_loss(&mut self) {
        self.save_cwnd();
        self.is_undo_final = false;
        self.undo_state = None;
        self.undo_bw_shortterm = self.bw_shortterm;
        self.undo_inflight_shortterm = self.inflight_shortterm;
        self.undo_inflight_longterm = self.inflight_longterm;
    }

    /// §5.5.11.2 HandleSpuriousLossDetection().
    pub(super) fn handle_spurious_loss_detection(&mut self) {
        // §5.6.4.4 "the flow exits loss recovery [...] because it executes an "undo" event after inferring that a loss recovery
        // event was spurious."
        self.period.ongoing = false;
        self.restore_cwnd();
        self.is_loss_in_round = false;
        self.loss_ranges[0] = 0;
        self.reset_full_bw();
        // §5.5.11.2 "BBR.bw_shortterm = max(BBR.bw_shortterm, BBR.undo_bw_shortterm)" and so on.
        if !self.changes.has("bounds stay") {
            self.bw_shortterm = self.bw_shortterm.max(self.undo_bw_shortterm);
            self.inflight_shortterm = self.inflight_shortterm.max(self.undo_inflight_shortterm);
            self.inflight_longterm = self.inflight_longterm.max(self.undo_inflight_longterm);
        }
        // §5.5.11.2 "If flow was probing bandwidth, return to that state".
        if self.undo_state == Some(State::Startup) && self.state != State::Startup {
            self.full_bw_reached = false;
            if self.state != State::ProbeRtt {
                self.enter_startup();
            }
        } else if self.undo_state == Some(State::ProbeBwUp)
            && self.state != State::ProbeBwUp
            && self.state != State::ProbeRtt
        {
            self.start_probe_bw_refill();
        }
        self.undo_state = None;
    }

    /// §5.3.4.3 UpdateMinRTT().
    pub(super) fn update_min_rtt(&mut self) {
        // §5.3.4.3 "BBR.probe_rtt_expired = Now() > BBR.probe_rtt_min_stamp + BBR.ProbeRTTInterval", 5 seconds.
        self.probe_rtt_expired =
            self.probe_rtt_min_stamp.is_some_and(|stamp| self.now > stamp + Span::from_millis(5000));
        if self.probe_rtt_expired && self.state != State::ProbeRtt {
            let latest = if self.bw_latest > 0.0 { self.bw_latest } else { INFINITY };
            self.probe_rtt_bdp = self.bdp_multiple(self.bw.min(latest), 1.0);
        }
        // §5.3.4.3 "if (RS.rtt >= 0 && (RS.rtt < BBR.probe_rtt_min_delay || BBR.probe_rtt_expired))".
        if let Some(rtt) = self.c.rs.rtt
            && (rtt < self.probe_rtt_min_delay || self.probe_rtt_expired)
        {
            self.probe_rtt_min_delay = rtt;
            self.probe_rtt_min_stamp = Some(self.now);
        }
        // §5.3.4.3 "min_rtt_expired = Now() > BBR.min_rtt_stamp + BBR.MinRTTFilterLen", 10 seconds.
        let length = if self.changes.has("five seconds") { 5000 } else { 10_000 };
        let min_rtt_expired = self.now > self.min_rtt_stamp + Span::from_millis(length);
        if self.probe_rtt_min_delay < self.min_rtt || min_rtt_expired {
            self.min_rtt = self.probe_rtt_min_delay;
            self.min_rtt_stamp = self.probe_rtt_min_stamp.unwrap_or(self.now);
        }
    }
}
