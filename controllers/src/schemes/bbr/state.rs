//! The variables of a BBR flow. Volumes are bytes, rates bytes/s; infinity stands for a
//! bound that is not set.

use super::Params;
use crate::parts::careful_resume::ResumedBbr;
use crate::parts::limits::{self, datagram};
use crate::parts::probe_rtt::ProbeRtt;
use crate::parts::recovery::RecoveryPeriod;
use crate::parts::splitmix::SplitMix64;
use crate::parts::windowed::WindowedMax;
use crate::{Path, Span, Time};

/// The states of the machine (§5.1.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BbrState {
    Startup,
    Drain,
    ProbeBwDown,
    ProbeBwCruise,
    ProbeBwRefill,
    ProbeBwUp,
    ProbeRtt,
}

impl BbrState {
    pub fn is_probe_bw(self) -> bool {
        matches!(self, BbrState::ProbeBwDown | BbrState::ProbeBwCruise | BbrState::ProbeBwRefill | BbrState::ProbeBwUp)
    }

    pub fn is_probing(self) -> bool {
        matches!(self, BbrState::Startup | BbrState::ProbeBwRefill | BbrState::ProbeBwUp)
    }
}

/// What the ACKs arriving now tell of the latest probe (§5.3.3.9 `ack_phase`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// One BBR flow, under the draft's names (§2); volumes in bytes, rates in bytes/s.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct State {
    /// Maximum datagram size, `C.SMSS`.
    pub(super) mtu: f64,
    /// `BBR.state`.
    pub(super) state: BbrState,
    pub(super) cwnd: f64,
    pub(super) prior_cwnd: f64,
    pub(super) pacing_rate: f64,
    /// `C.delivered`, bytes.
    pub(super) delivered: u64,
    pub(super) idle_restart: bool,
    /// There was an RTT sample (§5.6.2).
    pub(super) has_rtt_sample: bool,
    /// Recovery of the window (§5.6.4.4).
    pub(super) recovery: RecoveryPeriod,
    pub(super) random: SplitMix64,

    // Packet-timed round trips (§5.5.1).
    pub(super) next_round_delivered: u64,
    pub(super) round_count: u64,
    /// The latest ACK started a round.
    pub(super) round_start: bool,
    /// The window was in full use in this round so far, and in the one before (`C.is_cwnd_limited`, §2.2).
    pub(super) cwnd_limited: (bool, bool),

    // Whether the pipe is full (§5.3.1.2).
    pub(super) full_bw: f64,
    pub(super) full_bw_count: u8,
    pub(super) full_bw_now: bool,
    pub(super) full_bw_reached: bool,

    /// What careful resume set (`RFC 9959`).
    pub(super) resumed: ResumedBbr,

    // Bandwidth (§5.5.2–§5.5.6, §5.5.10.3).
    pub(super) max_bw_filter: WindowedMax<2>,
    /// Virtual time of the filter: cycles of ProbeBW.
    pub(super) cycle_count: u64,
    pub(super) max_bw: f64,
    pub(super) bw_shortterm: f64,
    pub(super) bw_latest: f64,
    /// The smaller of `max_bw` and `bw_shortterm`.
    pub(super) bw: f64,

    // Bounds of what is in flight (§5.3.3, §5.5.10).
    pub(super) inflight_longterm: f64,
    pub(super) inflight_shortterm: f64,
    pub(super) inflight_latest: f64,

    // The minimum RTT and when to look for it (§5.3.4.3).
    /// The sample of the frame under way, if its marks or losses came ahead of its acknowledgements.
    pub(super) rtt_ahead: Span,
    pub(super) min_rtt: Span,
    pub(super) min_rtt_stamp: Time,
    pub(super) probe_rtt_min_delay: Span,
    pub(super) probe_rtt_min_stamp: Time,
    pub(super) probe_rtt_expired: bool,

    // Losses of the round trip (§5.5.10).
    pub(super) loss_round_delivered: u64,
    pub(super) loss_round_start: bool,
    pub(super) is_loss_in_round: bool,
    /// There was a loss since the latest ACK: `HandleLostPacket` is due.
    pub(super) is_loss_unhandled: bool,
    /// Loss events of the round under way.
    pub(super) loss_events: u32,
    /// Loss events of the round that the latest ACK ended (§5.3.1.3); 0 if it ended none.
    pub(super) loss_events_in_round: u32,

    // The degree of aggregation (§5.5.9).
    pub(super) extra_acked_filter: WindowedMax<5>,
    pub(super) extra_acked_interval_start: Time,
    pub(super) extra_acked_delivered: f64,
    pub(super) extra_acked: f64,

    // The cycle of ProbeBW (§5.3.3).
    pub(super) cycle_stamp: Time,
    pub(super) bw_probe_wait: Span,
    /// In Drain: rounds since it began.
    pub(super) rounds_since_probe_up: u32,
    pub(super) bw_probe_up_rounds: u32,
    pub(super) bw_probe_up_acked: f64,
    pub(super) probe_up_acked_per_inc: f64,
    pub(super) ack_phase: AckPhase,
    pub(super) is_bw_probe_sample: bool,
    pub(super) prev_probe_too_high: bool,
    pub(super) prev_probe_precautionary: bool,

    // ProbeRTT (§5.3.4).
    /// BDP when ProbeRTT became due, before the minimum RTT could expire.
    pub(super) probe_rtt_bdp: f64,
    pub(super) probe_rtt: ProbeRtt,

    // What a spurious loss gives back (§5.5.11).
    /// Nothing: the latest episode has a mark.
    pub(super) is_undo_final: bool,
    /// The recovery period before the latest one.
    pub(super) earlier_recovery: RecoveryPeriod,
    pub(super) undo_state: Option<BbrState>,
    pub(super) undo_bw_shortterm: f64,
    pub(super) undo_inflight_shortterm: f64,
    pub(super) undo_inflight_longterm: f64,
}

/// Stands for an RTT before a sample.
pub(super) const NO_RTT: Span = Span(u64::MAX);

/// `InitialCwnd`, whole bytes (`RFC 9002 §7.2`).
pub(super) fn initial_cwnd(params: &Params, mtu: f64) -> f64 {
    limits::initial_cwnd(params.iw, params.max_window, mtu)
}

impl State {
    /// Initialization, §5.2.1.
    pub(super) fn start(params: &Params, path: &Path) -> State {
        let mtu = datagram(path.mtu);
        let infinity = f64::INFINITY;
        let now = path.now;
        let mut state = State {
            mtu,
            state: BbrState::Startup,
            cwnd: initial_cwnd(params, mtu),
            prior_cwnd: 0.0,
            pacing_rate: 0.0,
            delivered: 0,
            idle_restart: false,
            has_rtt_sample: false,
            recovery: RecoveryPeriod::default(),
            random: SplitMix64::new(path.seed),
            next_round_delivered: 0,
            round_count: 0,
            round_start: false,
            cwnd_limited: (false, false),
            full_bw: 0.0,
            full_bw_count: 0,
            full_bw_now: false,
            full_bw_reached: false,
            resumed: ResumedBbr::default(),
            max_bw_filter: WindowedMax::default(),
            cycle_count: 0,
            max_bw: 0.0,
            bw_shortterm: infinity,
            bw_latest: 0.0,
            bw: 0.0,
            inflight_longterm: infinity,
            inflight_shortterm: infinity,
            inflight_latest: 0.0,
            rtt_ahead: NO_RTT,
            min_rtt: NO_RTT,
            min_rtt_stamp: now,
            probe_rtt_min_delay: NO_RTT,
            probe_rtt_min_stamp: now,
            probe_rtt_expired: false,
            loss_round_delivered: 0,
            loss_round_start: false,
            is_loss_in_round: false,
            is_loss_unhandled: false,
            loss_events: 0,
            loss_events_in_round: 0,
            extra_acked_filter: WindowedMax::default(),
            extra_acked_interval_start: now,
            extra_acked_delivered: 0.0,
            extra_acked: 0.0,
            cycle_stamp: now,
            bw_probe_wait: Span::ZERO,
            rounds_since_probe_up: 0,
            bw_probe_up_rounds: 0,
            bw_probe_up_acked: 0.0,
            probe_up_acked_per_inc: infinity,
            ack_phase: AckPhase::Init,
            is_bw_probe_sample: false,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            probe_rtt_bdp: 0.0,
            probe_rtt: ProbeRtt::default(),
            is_undo_final: false,
            earlier_recovery: RecoveryPeriod::default(),
            undo_state: None,
            undo_bw_shortterm: infinity,
            undo_inflight_shortterm: infinity,
            undo_inflight_longterm: infinity,
        };
        state.init_pacing_rate(params, Span::from_millis(1));
        state
    }

    /// The datagram size changes. As long as nothing was delivered the window is the initial one,
    /// computed anew (`RFC 9002 §7.2`).
    pub(super) fn resize(&mut self, params: &Params, mtu: u32) {
        let starts = self.delivered == 0 && self.cwnd == initial_cwnd(params, self.mtu);
        self.mtu = datagram(mtu);
        if starts {
            self.cwnd = initial_cwnd(params, self.mtu);
        } else if self.delivered == 0 {
            // The floor does not wait for an ACK where persistent congestion came first.
            self.cwnd = self.cwnd.max(self.min_pipe_cwnd());
        }
        if starts && !self.has_rtt_sample {
            self.init_pacing_rate(params, Span::from_millis(1));
        }
    }

    /// `StartRound`, §5.5.1.
    pub(super) fn start_round(&mut self) {
        self.next_round_delivered = self.delivered;
    }
}
