//! What a Vegas scheme chooses, and what a flow of it remembers.

use core::fmt::Debug;

use super::{Common, Delays, LossRule, Round, Source, StepRule};
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
