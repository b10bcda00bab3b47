//! The model of the path, and the ACK it is built from: rounds, bandwidth, aggregation
//! (§5.5.1–§5.5.9).

use core::ops::Deref;

use super::state::NO_RTT;
use super::{Params, State};
use crate::event::PacketsAcked;
use crate::parts::rate_sample::RateSample;
use crate::parts::windowed::WindowedMax;
use crate::{Span, Time};

/// `MaxBwFilterLen`, cycles of ProbeBW (§5.5.5).
const MAX_BW_FILTER_LEN: u64 = 2;
/// `ExtraAckedFilterLen`, rounds (§5.5.9).
const EXTRA_ACKED_FILTER_LEN: u64 = 10;

/// An ACK with the delivery-rate sample it makes; the facts of the event are reached through it.
#[derive(Debug)]
pub(super) struct Ack<'a> {
    pub now: Time,
    /// The rate sample, `RS` of the draft.
    pub sample: RateSample,
    /// `RS.newly_acked`, bytes.
    pub newly_acked: f64,
    /// `C.inflight`, bytes, once these packets are out of it.
    pub in_flight: f64,
    /// Bytes in flight before.
    pub flight: f64,
    /// `RS.rtt`, wherever in the frame it came.
    pub rtt: Option<Span>,
    acked: &'a PacketsAcked,
}

impl<'a> Ack<'a> {
    #[inline]
    pub fn of(state: &State, now: Time, acked: &'a PacketsAcked) -> Ack<'a> {
        let ahead = state.rtt_ahead;
        let min_rtt = acked.rtt.map_or(state.min_rtt.min(ahead), |rtt| rtt.min);
        let min_rtt = if min_rtt == NO_RTT { Span::ZERO } else { min_rtt };
        let mut sample = RateSample::of(acked, now, min_rtt).unwrap_or(RateSample::NONE);
        sample.app_limited |= state.probe_rtt.limits(sample.prior_delivered);
        Ack {
            now,
            sample,
            newly_acked: acked.bytes as f64,
            in_flight: acked.in_flight as f64,
            flight: acked.in_flight_before as f64,
            rtt: acked.rtt.map_or((ahead != NO_RTT).then_some(ahead), |rtt| Some(rtt.latest)),
            acked,
        }
    }
}

impl Deref for Ack<'_> {
    type Target = PacketsAcked;

    fn deref(&self) -> &PacketsAcked {
        self.acked
    }
}

impl State {
    /// `UpdateRound`, §5.5.1.
    #[inline]
    fn update_round(&mut self, ack: &Ack<'_>) {
        self.round_start = ack.sample.prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.start_round();
            self.round_count += 1;
            self.cwnd_limited = (false, self.cwnd_limited.0);
            self.rounds_since_probe_up = self.rounds_since_probe_up.saturating_add(1);
        }
        // No further packet fitted the window.
        self.cwnd_limited.0 |= !ack.app_limited && ack.flight + self.mtu > self.cwnd;
    }

    /// `UpdateMaxBw`, §5.5.5.
    #[inline]
    pub(super) fn update_max_bw(&mut self, ack: &Ack<'_>) {
        self.update_round(ack);
        let sample = &ack.sample;
        if sample.rate > 0.0 && (sample.rate >= self.max_bw || !sample.app_limited) {
            self.max_bw = self.max_bw_filter.update(self.cycle_count, MAX_BW_FILTER_LEN, sample.rate as i64) as f64;
        }
    }

    /// `AdvanceMaxBwFilter`, §5.5.6.
    pub(super) fn advance_max_bw_filter(&mut self) {
        self.cycle_count += 1;
    }

    /// `UpdateACKAggregation`, §5.5.9.
    #[inline]
    pub(super) fn update_ack_aggregation(&mut self, ack: &Ack<'_>) {
        let mut expected_delivered = self.bw * ack.now.since(self.extra_acked_interval_start).secs();
        if self.extra_acked_delivered <= expected_delivered {
            self.extra_acked_delivered = 0.0;
            self.extra_acked_interval_start = ack.now;
            expected_delivered = 0.0;
        }
        self.extra_acked_delivered += ack.newly_acked;
        let extra = (self.extra_acked_delivered - expected_delivered).min(self.cwnd);
        if !self.full_bw_reached && self.round_start {
            // In Startup one round is remembered.
            self.extra_acked_filter = WindowedMax::default();
        }
        self.extra_acked =
            self.extra_acked_filter.update(self.round_count, EXTRA_ACKED_FILTER_LEN, extra as i64) as f64;
    }

    /// `BDPMultiple`, §5.6.4.2, at bandwidth `bw`, bytes; the initial window before an RTT sample.
    #[inline]
    pub(super) fn bdp_multiple(&self, params: &Params, bw: f64, gain: f64) -> f64 {
        if self.min_rtt == NO_RTT {
            return super::state::initial_cwnd(params, self.mtu);
        }
        gain * (bw * self.min_rtt.secs())
    }

    /// `TargetInflight`, §5.3.3.8.3.
    pub(super) fn target_inflight(&self, params: &Params) -> f64 {
        self.bdp_multiple(params, self.bw, 1.0).min(self.cwnd)
    }
}
