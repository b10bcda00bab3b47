//! What BBR remembers of a flow. Volumes are bytes, rates bytes/s; infinity stands for a
//! bound that is not set.

use super::Params;
use crate::parts::recovery::RecoveryPeriod;
use crate::parts::splitmix::SplitMix64;
use crate::parts::windowed_max::WindowedMax;
use crate::{Path, Span, Time};

/// The states of the machine (§5.1.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl Mode {
    /// `IsInAProbeBWState`.
    pub fn is_probe_bw(self) -> bool {
        matches!(self, Mode::Down | Mode::Cruise | Mode::Refill | Mode::Up)
    }

    /// `IsProbingBW`.
    pub fn is_probing(self) -> bool {
        matches!(self, Mode::Startup | Mode::Refill | Mode::Up)
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

/// Packet-timed round trips (§5.5.1).
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Rounds {
    /// `next_round_delivered`.
    pub next: u64,
    pub count: u64,
    /// The latest ACK started one.
    pub start: bool,
}

/// The full-pipe estimator (§5.3.1.2).
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct FullPipe {
    pub bw: f64,
    pub count: u8,
    pub now: bool,
    pub reached: bool,
}

/// The model of the rate (§5.5.2–§5.5.6, §5.5.10.3).
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Rate {
    pub filter: WindowedMax<2>,
    pub cycles: u64,
    /// `max_bw`.
    pub max: f64,
    pub shortterm: f64,
    pub latest: f64,
    /// `bw`, the smaller of `max` and `shortterm`.
    pub now: f64,
}

/// Bounds of what is in flight (§5.3.3, §5.5.10).
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Volume {
    pub longterm: f64,
    pub shortterm: f64,
    pub latest: f64,
}

/// The minimum RTT and when to look for it (§5.3.4.3); `Span(u64::MAX)` before a sample.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Delay {
    pub min: Span,
    pub min_at: Time,
    pub probe: Span,
    pub probe_at: Time,
    /// `probe_rtt_expired`.
    pub expired: bool,
}

/// Losses of the round trip (§5.5.10).
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Losses {
    /// `loss_round_delivered`.
    pub next: u64,
    /// `loss_round_start`.
    pub start: bool,
    /// `is_loss_in_round`.
    pub in_round: bool,
    /// A loss was heard of and no ACK since.
    pub unjudged: bool,
    /// Batches of losses in this round.
    pub events: u32,
    /// Batches in the round the latest ACK ended; 0 if it ended none.
    pub ended_with: u32,
}

/// The degree of aggregation (§5.5.9).
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Aggregation {
    pub filter: WindowedMax<5>,
    pub since: Time,
    pub delivered: f64,
    /// `extra_acked`.
    pub extra: f64,
}

/// The cycle of ProbeBW (§5.3.3).
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Cycle {
    pub since: Time,
    /// `bw_probe_wait`.
    pub wait: Span,
    /// `rounds_since_probe_up`; in Drain, rounds since it began.
    pub rounds: u32,
    /// `bw_probe_up_rounds`.
    pub up_rounds: u32,
    /// `bw_probe_up_acked`.
    pub up_acked: f64,
    /// `probe_up_acked_per_inc`.
    pub acked_per_inc: f64,
    pub ack_phase: AckPhase,
    /// `is_bw_probe_sample`.
    pub sampling: bool,
    /// `prev_probe_too_high`.
    pub too_high: bool,
    /// `prev_probe_precautionary`.
    pub precautionary: bool,
}

/// ProbeRTT (§5.3.4).
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Probe {
    /// `probe_rtt_done_stamp`.
    pub done_at: Option<Time>,
    pub round_done: bool,
    /// Packets that left between these counts of delivered bytes left while ProbeRTT held
    /// the flow back (`MarkConnectionAppLimited`); none if the second is 0.
    pub limited: (u64, u64),
}

impl Probe {
    #[inline]
    pub fn limits(&self, prior_delivered: u64) -> bool {
        self.limited.1 > 0 && (self.limited.0..=self.limited.1).contains(&prior_delivered)
    }
}

/// What a spurious loss gives back (§5.5.11).
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Undo {
    pub mode: Option<Mode>,
    pub bw_shortterm: f64,
    pub shortterm: f64,
    pub longterm: f64,
}

/// One BBR flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct State {
    pub(super) mtu: f64,
    pub(super) mode: Mode,
    pub(super) rounds: Rounds,
    pub(super) full: FullPipe,
    pub(super) rate: Rate,
    pub(super) volume: Volume,
    pub(super) delay: Delay,
    pub(super) loss: Losses,
    pub(super) aggregation: Aggregation,
    pub(super) cycle: Cycle,
    pub(super) probe: Probe,
    pub(super) undo: Undo,
    pub(super) epoch: RecoveryPeriod,
    pub(super) random: SplitMix64,
    pub(super) cwnd: f64,
    pub(super) prior_cwnd: f64,
    pub(super) pacing_rate: f64,
    /// `C.delivered`.
    pub(super) delivered: u64,
    pub(super) idle_restart: bool,
    /// There was an RTT sample.
    pub(super) sampled: bool,
}

/// A datagram size as a divisor.
pub(super) fn datagram(mtu: u32) -> f64 {
    f64::from(mtu.clamp(1, 65_527))
}

impl State {
    /// Initialization, §5.2.1.
    pub(super) fn start(params: &Params, path: &Path) -> State {
        let mtu = datagram(path.mtu);
        let infinity = f64::INFINITY;
        let now = path.now;
        let unknown = Span(u64::MAX);
        let mut state = State {
            mtu,
            mode: Mode::Startup,
            rounds: Rounds { next: 0, count: 0, start: false },
            full: FullPipe { bw: 0.0, count: 0, now: false, reached: false },
            rate: Rate {
                filter: WindowedMax::default(),
                cycles: 0,
                max: 0.0,
                shortterm: infinity,
                latest: 0.0,
                now: 0.0,
            },
            volume: Volume { longterm: infinity, shortterm: infinity, latest: 0.0 },
            delay: Delay { min: unknown, min_at: now, probe: unknown, probe_at: now, expired: false },
            loss: Losses { next: 0, start: false, in_round: false, unjudged: false, events: 0, ended_with: 0 },
            aggregation: Aggregation { filter: WindowedMax::default(), since: now, delivered: 0.0, extra: 0.0 },
            cycle: Cycle {
                since: now,
                wait: Span::ZERO,
                rounds: 0,
                up_rounds: 0,
                up_acked: 0.0,
                acked_per_inc: infinity,
                ack_phase: AckPhase::Init,
                sampling: false,
                too_high: false,
                precautionary: false,
            },
            probe: Probe { done_at: None, round_done: false, limited: (0, 0) },
            undo: Undo { mode: None, bw_shortterm: infinity, shortterm: infinity, longterm: infinity },
            epoch: RecoveryPeriod::default(),
            random: SplitMix64::new(path.seed),
            cwnd: (params.iw.min(params.max_window) * mtu).max(super::control::MIN_PIPE * mtu),
            prior_cwnd: 0.0,
            pacing_rate: 0.0,
            delivered: 0,
            idle_restart: false,
            sampled: false,
        };
        state.init_pacing_rate(params, Span::from_millis(1));
        state
    }

    /// `StartRound`.
    pub(super) fn start_round(&mut self) {
        self.rounds.next = self.delivered;
    }
}
