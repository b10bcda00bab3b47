//! The prober's phases and timers.

use super::Params;
use crate::event::{PacketsAcked, ProbeReceived};
use crate::parts::chirp::{self, analyser::Analyser};
use crate::parts::compose::{Estimate, Input, Measured, Signal, Wants};
use crate::parts::recovery::RecoveryPeriod;
use crate::parts::splitmix::SplitMix64;
use crate::{Path, Span, Time, TrainPlan};

/// What a prober is doing (`spec: arumaithurai §3.4`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Phase {
    /// Waiting for the first round trip to end.
    NotStarted = 0,
    /// Sending trains of growing size.
    SlowProbe = 1,
    /// Sending full trains around the latest estimate.
    Dynamic = 2,
    /// Switched off after too many saturated trains.
    Off = 3,
}

/// One flow of [`ProEcn`](super::ProEcn).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct State {
    /// Whether it waits, probes or is switched off.
    pub phase: Phase,
    /// Packets of the next train.
    pub packets: u32,
    /// Rate over the next train's first gap, bit/s.
    pub min_rate: f64,
    /// Id of the latest train.
    pub last_id: u32,
    /// Saturated trains in a row.
    pub zero_streak: u32,
    /// Maximum datagram size, bytes.
    pub(super) mtu: u32,
    awaited: Awaited,
    /// The round trip before the first train met congestion.
    congested_start: bool,
    /// Data was acknowledged since the latest train began.
    active: bool,
    rng: SplitMix64,
}

/// What a prober waits for, one thing at a time.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Awaited {
    /// The end of the round trip before the first train, which began with this.
    Round(RecoveryPeriod),
    /// The time for the next train.
    Due(Time),
    /// The answer to the train under way.
    Answer(Outstanding),
}

/// A train under way: the latest, of as many packets and at such a rate as the state has.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Outstanding {
    /// When to stop waiting for it (PcTimeout).
    pub timeout: Time,
    /// It repeats one that got no answer.
    pub is_retry: bool,
    /// Data met congestion while it was under way.
    pub is_stale: bool,
    /// Size of each probe, bytes.
    bytes: u32,
    analyser: Analyser,
}

/// The result of a train.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Outcome {
    train: Outstanding,
    /// Latest estimate of the available bandwidth, bit/s.
    available: f64,
    saturated: bool,
}

impl State {
    pub(super) fn start(params: &Params, path: &Path) -> State {
        State {
            phase: Phase::NotStarted,
            packets: params.n0,
            min_rate: params.rate_floor,
            last_id: 0,
            zero_streak: 0,
            mtu: path.mtu,
            awaited: Awaited::Round(RecoveryPeriod::default()),
            congested_start: false,
            active: false,
            rng: SplitMix64::new(path.seed),
        }
    }

    /// The train that waits for its answer; `None` between trains.
    #[must_use]
    #[inline]
    pub const fn outstanding(&self) -> Option<&Outstanding> {
        match &self.awaited {
            Awaited::Answer(train) => Some(train),
            Awaited::Round(_) | Awaited::Due(_) => None,
        }
    }

    /// The latest train, of probes of `bytes`.
    fn plan(&self, params: &Params, bytes: u32) -> TrainPlan {
        TrainPlan {
            id: self.last_id,
            packets: self.packets,
            bytes,
            min_rate: self.min_rate,
            spread: params.sf,
            dscp: params.probe_dscp.min(63) as u8,
            carries_data: false,
        }
    }

    /// What a detector's verdict means to probing: a train that data congestion overlaps
    /// is void (`spec: arumaithurai §3.6 P3.1`), and a timeout starts over (F5).
    #[inline]
    pub(super) fn heed(&mut self, signal: Signal, now: Time) {
        if signal.is_congestion() {
            self.congested_start = true;
            if let Awaited::Answer(train) = &mut self.awaited {
                train.is_stale = true;
            }
        } else if signal == Signal::TimedOut {
            self.cancel(now);
            self.zero_streak = 0;
        }
    }

    /// Stops, until data sent after `now` has been acknowledged (F5, F7).
    pub(super) fn cancel(&mut self, now: Time) {
        self.phase = Phase::NotStarted;
        let mut round = RecoveryPeriod::default();
        round.begin(now);
        self.awaited = Awaited::Round(round);
        self.congested_start = false;
    }

    /// P1: probing begins when the first data has been acknowledged and the base RTT is
    /// known, carefully where the first round trip met congestion.
    #[inline]
    pub(super) fn acked(&mut self, params: &Params, path: &Measured, now: Time, acked: &PacketsAcked) {
        self.active = true;
        let Awaited::Round(round) = &self.awaited else { return };
        if !round.accepts(acked.newest_sent_at) {
            return;
        }
        let Some(base_rtt) = path.base_rtt() else { return };
        self.min_rate = params.rate_floor;
        if self.congested_start {
            self.phase = Phase::Dynamic;
            self.packets = params.n;
            self.awaited = Awaited::Due(now + base_rtt);
        } else {
            self.phase = Phase::SlowProbe;
            self.packets = params.n0.min(params.n);
            self.awaited = Awaited::Due(now);
        }
    }

    /// A probe of the train under way arrived; of any other it means nothing.
    pub(super) fn probed(&mut self, params: &Params, probed: &ProbeReceived) -> Option<Outcome> {
        let Awaited::Answer(train) = &mut self.awaited else { return None };
        if self.last_id != probed.train {
            return None;
        }
        let finding = train.analyser.arrived(&params.reading(), probed)?;
        let train = *train;
        let available = self.plan(params, train.bytes).chirp().estimate(finding.index);
        Some(Outcome { train, available, saturated: finding.saturated })
    }

    /// Whether the time has come to give a train up or to begin the next.
    #[inline]
    pub(super) fn is_due(&self, now: Time) -> bool {
        self.wake_at().is_some_and(|due| due <= now)
    }

    /// What follows from a train's outcome, or from the time: P4, P3, P2 in turn. Where losses bound the window no train
    /// begins: probes are packets too (`RFC 2914 §5`; `RFC 8085 §3.1`).
    #[cold]
    pub(super) fn proceed(&mut self, params: &Params, input: &Input<'_>, outcome: Option<Outcome>) -> Option<Estimate> {
        let (path, now) = (input.path, input.event.now);
        let outcome = outcome.or_else(|| self.give_up(params, input));
        let estimate = outcome.map(|outcome| self.conclude(params, path, now, outcome));
        if matches!(self.awaited, Awaited::Due(_)) && self.is_due(now) {
            if input.is_bounded {
                self.switch_off(params, now);
            } else {
                self.begin(params, path, now);
            }
        }
        estimate
    }

    /// P4: a train that got no answer in time is sent again once, unless losses bound the window; then, or the
    /// second time, it counts as saturated.
    fn give_up(&mut self, params: &Params, input: &Input<'_>) -> Option<Outcome> {
        let now = input.event.now;
        let train = *self.outstanding().filter(|train| train.timeout <= now)?;
        if train.is_retry || input.is_bounded {
            return Some(Outcome { train, available: 0.0, saturated: true });
        }
        self.send(params, input.path, now, train.bytes, true);
        None
    }

    /// P3: what the train means for the next, and when that is due.
    fn conclude(&mut self, params: &Params, path: &Measured, now: Time, outcome: Outcome) -> Estimate {
        let Outcome { train, saturated, .. } = outcome;
        let available = if train.is_stale { 0.0 } else { outcome.available };
        if self.phase == Phase::SlowProbe {
            if self.packets >= params.n || available < self.plan(params, train.bytes).chirp().max_rate() {
                self.phase = Phase::Dynamic;
            } else {
                self.packets = (2 * self.packets).min(params.n);
            }
        }
        if self.phase != Phase::SlowProbe {
            self.packets = params.n;
            let rate = chirp::k(params.n, params.sf) * params.alpha * available;
            self.min_rate = rate.min(params.rate_ceiling).max(params.rate_floor);
        }
        self.zero_streak = if saturated { self.zero_streak.saturating_add(1) } else { 0 };
        if self.zero_streak >= params.zero_off {
            self.switch_off(params, now);
        } else {
            let pause = self.rng.uniform() * params.wait * path.base_rtt().unwrap_or_default().secs();
            self.awaited = Awaited::Due(now + Span::from_secs_f64(pause));
        }
        Estimate { available, share: params.alpha }
    }

    /// P5: no probe is sent until it is tried again.
    fn switch_off(&mut self, params: &Params, now: Time) {
        self.phase = Phase::Off;
        self.awaited = Awaited::Due(now + Span::from_secs_f64(params.probefreq));
    }

    /// P2: the next train.
    fn begin(&mut self, params: &Params, path: &Measured, now: Time) {
        if self.phase == Phase::Off {
            self.phase = Phase::Dynamic;
        }
        let size = if params.probe_size == 0 { self.mtu } else { params.probe_size.min(self.mtu) };
        self.send(params, path, now, size.clamp(1, 65_527), false);
    }

    fn send(&mut self, params: &Params, path: &Measured, now: Time, bytes: u32, is_retry: bool) {
        self.last_id = self.last_id.wrapping_add(1);
        self.active = false;
        let held_back = Span::from_secs_f64(params.max_ack_delay / 1e3);
        let duration = self.plan(params, bytes).chirp().duration();
        self.awaited = Awaited::Answer(Outstanding {
            timeout: now + duration + path.answer_timeout() + held_back,
            is_retry,
            is_stale: false,
            bytes,
            analyser: Analyser::new(self.packets),
        });
    }

    /// When the train under way is given up, or the next is due: while nothing has been
    /// acknowledged since the latest train, none is.
    #[inline]
    fn wake_at(&self) -> Option<Time> {
        match &self.awaited {
            Awaited::Answer(train) => Some(train.timeout),
            Awaited::Due(due) => self.active.then_some(*due),
            Awaited::Round(_) => None,
        }
    }

    #[inline]
    pub(super) fn wants(&self, params: &Params) -> Wants {
        let train = self.outstanding().map(|train| self.plan(params, train.bytes));
        Wants { train, wake_at: self.wake_at() }
    }
}
