//! The model of the path: rounds, bandwidth, aggregation (§5.5.1–§5.5.9).

use super::{Ack, Params, State};
use crate::parts::windowed_max::WindowedMax;

/// `ExtraAckedFilterLen`, rounds (§5.5.9).
const EXTRA_ACKED_ROUNDS: u64 = 10;

impl State {
    /// `UpdateRound`, §5.5.1.
    #[inline]
    fn update_round(&mut self, ack: &Ack<'_>) {
        self.rounds.start = ack.sample.prior_delivered >= self.rounds.next;
        if self.rounds.start {
            self.start_round();
            self.rounds.count += 1;
            self.cycle.rounds = self.cycle.rounds.saturating_add(1);
        }
    }

    /// `UpdateMaxBw`, §5.5.5.
    #[inline]
    pub(super) fn update_max_bw(&mut self, ack: &Ack<'_>) {
        self.update_round(ack);
        let sample = &ack.sample;
        if sample.rate > 0.0 && (sample.rate >= self.rate.max || !sample.app_limited) {
            self.rate.max = self.rate.filter.update(self.rate.cycles, 2, sample.rate as i64) as f64;
        }
    }

    /// `AdvanceMaxBwFilter`, §5.5.6.
    pub(super) fn advance_max_bw_filter(&mut self) {
        self.rate.cycles += 1;
    }

    /// `UpdateACKAggregation`, §5.5.9.
    #[inline]
    pub(super) fn update_ack_aggregation(&mut self, ack: &Ack<'_>) {
        let aggregation = &mut self.aggregation;
        let mut expected = self.rate.now * ack.now.since(aggregation.since).secs();
        if aggregation.delivered <= expected {
            aggregation.delivered = 0.0;
            aggregation.since = ack.now;
            expected = 0.0;
        }
        aggregation.delivered += ack.newly;
        let extra = (aggregation.delivered - expected).min(self.cwnd);
        if !self.full.reached && self.rounds.start {
            // In Startup one round is remembered.
            aggregation.filter = WindowedMax::default();
        }
        aggregation.extra = aggregation.filter.update(self.rounds.count, EXTRA_ACKED_ROUNDS, extra as i64) as f64;
    }

    /// `BDPMultiple`, §5.6.4.2, at bandwidth `bw`.
    #[inline]
    pub(super) fn bdp(&self, params: &Params, bw: f64) -> f64 {
        if self.delay.min.0 == u64::MAX {
            return params.iw * self.mtu;
        }
        bw * self.delay.min.secs()
    }

    /// `TargetInflight`, §5.3.3.8.3.
    pub(super) fn target_inflight(&self, params: &Params) -> f64 {
        self.bdp(params, self.rate.now).min(self.cwnd)
    }
}
