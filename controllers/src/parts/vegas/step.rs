//! How the window follows the backlog in congestion avoidance: the second of the three
//! choices.

use core::fmt::Debug;

use super::{Delays, Thresholds};

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
