//! What a Vegas scheme chooses: where delays come from, how the window follows the backlog, which losses are
//! answered; and what a flow of it remembers.

use core::fmt::Debug;

use super::{Common, Delays, Round, Source, Thresholds};
use crate::event::{EcnCe, PacketsAcked, PacketsLost};
use crate::parts::backstop::Backstop;
use crate::parts::window::Window;
use crate::{Decision, Ecn, Info, Parameters, Signals, Span};

/// What distinguishes one Vegas scheme from another.
pub trait Scheme: Debug + Send + Sync + 'static {
    /// Name, summary, source and fallback.
    const INFO: Info;
    /// See [`Decision::ecn`](crate::Decision::ecn).
    const ECN: Ecn = Ecn::Unspecified;
    /// See [`Controller::Params`](crate::Controller::Params).
    type Params: Parameters + AsRef<Common>;
    /// Where the delays come from.
    type Source: Source<Self::Params>;
    /// How the window follows the backlog.
    type Step: StepRule<Self::Params>;
    /// The rule for which losses reduce the window.
    type Loss: LossRule<Self::Params>;

    /// See [`Controller::needs`](crate::Controller::needs).
    fn needs(params: &Self::Params) -> Signals {
        let _ = params;
        NEEDS.and(<Self::Source as Source<Self::Params>>::NEEDS)
    }

    /// Sets what the window does not: codepoints, pacing.
    fn finish(params: &Self::Params, state: &StateOf<Self>, decision: &mut Decision)
    where
        Self: Sized,
    {
        let _ = (params, state, decision);
    }
}

/// Signals without which no Vegas scheme can run.
pub const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS);

pub(super) type SourceMemory<S> = <<S as Scheme>::Source as Source<<S as Scheme>::Params>>::Memory;
pub(super) type StepMemory<S> = <<S as Scheme>::Step as StepRule<<S as Scheme>::Params>>::Memory;
pub(super) type LossMemory<S> = <<S as Scheme>::Loss as LossRule<<S as Scheme>::Params>>::Memory;
pub(super) type StateOf<S> = State<SourceMemory<S>, StepMemory<S>, LossMemory<S>>;

/// State of a Vegas flow (`spec: chan §3.3`).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct State<B, T, L> {
    /// The window; a reduction's time is [`RecoveryPeriod::start`](crate::parts::recovery::RecoveryPeriod::start)
    /// (CWNDCT).
    pub window: Window,
    /// Samples of the round in progress.
    pub round: Round,
    /// Packets added per packet acknowledged in this round (IncrAmt).
    pub incr: f64,
    /// Whether `incr` is slow start's.
    pub doubling: bool,
    /// Whether the latest round was one to act on; slow start, and some step rules, act
    /// every other round (IncrFlag).
    pub acting: bool,
    /// The latest backlog Δ, packets, and what it was estimated from.
    pub delta: Option<(f64, Delays)>,
    /// State of the scheme's [`Source`].
    pub source: B,
    /// State of the scheme's [`StepRule`].
    pub step: T,
    /// State of the scheme's [`LossRule`].
    pub loss: L,
    /// What losses bound the window to.
    pub(super) backstop: Backstop,
    /// The step rule's state before the latest reduction, for when its loss turns out spurious.
    pub(super) saved: T,
    /// The RTT sample of a frame whose acknowledgements are still to come.
    pub(super) sampled: Option<Span>,
}

/// A change of the window, decided once per round.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Step {
    /// The window stays.
    Hold,
    /// Add this many packets over the next round, evenly over its ACKs; at most double.
    Grow(f64),
    /// Add this many packets at once, if the window was used.
    Raise(f64),
    /// Take this many packets off at once.
    Shrink(f64),
}

/// What a round of congestion avoidance measured.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RoundMeasurement {
    /// The backlog Δ, packets.
    pub delta: f64,
    /// The delays from which `delta` was estimated.
    pub delays: Delays,
    /// The window, packets.
    pub cwnd: f64,
    /// Packets of the round that were late, 0 where the source does not count them.
    pub late: f64,
}

/// Turns what a round measured into a step, under parameters `P`.
pub trait StepRule<P>: Debug + Send + Sync + 'static {
    /// Whether it acts only every other round, holding in between, as slow start does
    /// (`spec: chan §6.3 V0, §13 A8`).
    const EVERY_OTHER: bool = false;
    /// Its state variables; `()` for none.
    type Memory: Copy + PartialEq + Debug + Default + Send + Sync + 'static;

    /// The step after a round.
    fn step(params: &P, memory: &mut Self::Memory, round: &RoundMeasurement) -> Step;

    /// The datagram size changed: windows remembered in packets are multiplied by `ratio`.
    fn on_mtu_update(memory: &mut Self::Memory, ratio: f64) {
        let _ = (memory, ratio);
    }

    /// The state after the flow could not fill its window, or reduced it: by default the initial one.
    fn unlearned(memory: Self::Memory) -> Self::Memory {
        let _ = memory;
        Self::Memory::default()
    }

    /// See [`Controller::inspect`](crate::Controller::inspect).
    fn inspect(memory: &Self::Memory, visit: &mut dyn FnMut(&'static str, f64)) {
        let _ = (memory, visit);
    }
}

/// One packet per round trip, up or down: Vegas' own rule.
#[derive(Debug)]
pub struct ByOne;

impl<P: AsRef<Thresholds>> StepRule<P> for ByOne {
    type Memory = ();

    /// `spec: chan §3.6 P3` (Eq. 2.2).
    fn step(params: &P, (): &mut (), &RoundMeasurement { delta, .. }: &RoundMeasurement) -> Step {
        let Thresholds { alpha, beta } = *params.as_ref();
        if delta > beta {
            Step::Shrink(1.0)
        } else if delta < alpha {
            Step::Grow(1.0)
        } else {
            Step::Hold
        }
    }
}

/// Tells congestion from what only looks like it, under parameters `P`.
pub trait LossRule<P>: Debug + Send + Sync + 'static {
    /// Its state variables; `()` for none.
    type Memory: Copy + PartialEq + Debug + Default + Send + Sync + 'static;

    /// Packets were acknowledged. Losses found by the same ACK frame came before.
    fn acked(params: &P, memory: &mut Self::Memory, acked: &PacketsAcked) {
        let _ = (params, memory, acked);
    }

    /// Whether packets were lost to congestion; `delta` is the latest backlog.
    fn lost(params: &P, memory: &mut Self::Memory, lost: &PacketsLost, delta: Option<f64>) -> bool;

    /// Whether CE marks are answered like the loss of a first transmission
    /// (`spec: chan §1.7`).
    fn marked(params: &P, memory: &mut Self::Memory, marked: &EcnCe) -> bool;

    /// See [`Controller::inspect`](crate::Controller::inspect).
    fn inspect(memory: &Self::Memory, visit: &mut dyn FnMut(&'static str, f64)) {
        let _ = (memory, visit);
    }
}

/// Every loss and every mark is congestion.
#[derive(Debug)]
pub struct Every;

impl<P> LossRule<P> for Every {
    type Memory = ();

    fn lost(_: &P, (): &mut (), _: &PacketsLost, _: Option<f64>) -> bool {
        true
    }

    fn marked(_: &P, (): &mut (), _: &EcnCe) -> bool {
        true
    }
}
