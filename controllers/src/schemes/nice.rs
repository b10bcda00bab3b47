#![doc = include_str!("nice.md")]

use crate::parts::backstop;
use crate::parts::base_delay::{self, BaseDelay};
use crate::parts::limits::Limits;
use crate::parts::vegas::{
    self, ByOne, Common, Delays, DeltaWindow, Every, Frame, RoundMeasurement, RoundTrip, RoundTripMemory, Scheme,
    Source, State, Step, StepRule, Thresholds, VegasBased,
};
use crate::{Decision, Info, Signals, Span, parameters};

/// `F` that leaves the window to itself: two packets every two rounds and more.
const WHOLE: f64 = 2.0;

/// Packets sent every `F` rounds.
const SENT: f64 = 2.0;

parameters! {
    /// Parameters of [`Nice`]: `nice:NAME=VALUE,…`.
    pub struct Params {
        @base Common = Common { first_loss: 0.5, ..Common::default() },
            paper Common {
                base: Limits::arumaithurai(),
                bound: backstop::Settings::paper(),
                path: base_delay::Settings::paper(),
                first_loss: 0.5,
                delta_window: DeltaWindow::Cwnd,
                ..Common::default()
            };
        @with thresholds: Thresholds, "Between which backlogs the window rests.";
        /// How far into the range of RTTs, from the least to the largest of the round, a packet is late (t).
        threshold: f64 = 0.2, in 0.0, 1.0, source "spec: arumaithurai §6.3";
        /// Share of the window that has to be late for the multiplicative decrease (f).
        fraction: f64 = 0.5, in 0.0, 1.0, source "spec: arumaithurai §6.3";
        /// Most rounds it may take to send two packets; 2 rules windows below two packets out.
        most_rounds: f64 = 96.0, in 2.0, 10_000.0, unit "round trips", source "spec: arumaithurai §6.3";
    }
}

/// Round-trip times, and how many packets of a round were late.
#[derive(Debug)]
pub struct Lateness;

/// State of [`Lateness`]: the round's RTTs and how many of its packets are late.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Memory {
    trip: RoundTripMemory,
    /// The largest RTT of the round, or twice the least ever.
    max: Option<Span>,
    late: f64,
}

impl Source<Params> for Lateness {
    const NEEDS: Signals = Signals::RTT;
    type Memory = Memory;

    /// `spec: arumaithurai §6.3` 1.
    #[inline]
    fn on_event(params: &Params, memory: &mut Memory, frame: &Frame<'_>) -> bool {
        let longer = <RoundTrip as Source<Params>>::on_event(params, &mut memory.trip, frame);
        let (Some(rtt), Some(base)) = (frame.rtt, memory.trip.base()) else { return longer };
        let max = memory.max.unwrap_or(base + base).max(rtt);
        memory.max = Some(max);
        let least = (1.0 - params.threshold) * base.nanos() + params.threshold * max.nanos();
        if frame.counts && rtt.nanos() > least {
            memory.late += frame.acked.map_or(1.0, |acked| f64::from(acked.packets));
        }
        longer
    }

    #[inline]
    fn base(memory: &Memory) -> Option<&BaseDelay> {
        <RoundTrip as Source<Params>>::base(&memory.trip)
    }

    fn late(memory: &Memory) -> f64 {
        memory.late
    }

    /// `spec: arumaithurai §6.3` 2.
    fn round(params: &Params, memory: &mut Memory) -> Option<Delays> {
        let delays = <RoundTrip as Source<Params>>::round(params, &mut memory.trip);
        *memory = Memory { trip: memory.trip, ..Memory::default() };
        delays
    }

    fn clear(memory: &mut Memory) {
        <RoundTrip as Source<Params>>::clear(&mut memory.trip);
        *memory = Memory { trip: memory.trip, ..Memory::default() };
    }
}

/// How many rounds it takes to send two packets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rounds(pub f64);

impl Default for Rounds {
    fn default() -> Self {
        Rounds(WHOLE)
    }
}

/// Vegas' step, or half the window where too much of it was late.
#[derive(Debug)]
pub struct Yielding;

impl StepRule<Params> for Yielding {
    type Memory = Rounds;

    /// `spec: arumaithurai §6.3` 2.
    fn step(params: &Params, rounds: &mut Rounds, round: &RoundMeasurement) -> Step {
        let crowded = round.late > params.fraction * round.cwnd;
        if crowded && round.cwnd > SENT && rounds.0 <= WHOLE {
            return Step::Shrink(0.5 * round.cwnd);
        }
        let vegas = ByOne::step(params, &mut (), round);
        let to = match (crowded, vegas) {
            (true, _) => 4.0 * rounds.0,
            (false, Step::Shrink(_)) if rounds.0 > WHOLE => rounds.0 + 2.0,
            (false, Step::Grow(_)) if rounds.0 > WHOLE => rounds.0 - 2.0,
            (false, step) if rounds.0 <= WHOLE => return step,
            (false, _) => rounds.0,
        };
        rounds.0 = to.clamp(WHOLE, params.most_rounds);
        Step::Hold
    }

    /// What a loss says of the window says nothing of how seldom to send.
    fn unlearned(rounds: Rounds) -> Rounds {
        rounds
    }

    fn inspect(rounds: &Rounds, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("rounds_per_pair", rounds.0);
    }
}

/// The parts Nice is composed of.
#[derive(Debug)]
pub struct Choices;

/// TCP Nice (`spec: arumaithurai §6.3`).
pub type Nice = VegasBased<Choices>;

impl Scheme for Choices {
    const INFO: Info = Info {
        name: "nice",
        summary: "background transport: Vegas that halves when half of its packets are late",
        source: "spec: arumaithurai §6.3",
        fallback: None,
    };
    type Params = Params;
    type Source = Lateness;
    type Step = Yielding;
    type Loss = Every;

    fn needs(params: &Params) -> Signals {
        let pacing = if params.most_rounds > WHOLE { Signals::PACING } else { Signals::NONE };
        vegas::NEEDS | Lateness::NEEDS | pacing
    }

    /// `spec: arumaithurai §6.3` 3: two packets every so many rounds, by pacing.
    fn finish(_: &Params, state: &State<Memory, Rounds, ()>, decision: &mut Decision) {
        if let Some((_, delays)) = state.delta.filter(|(_, delays)| state.step.0 > WHOLE && delays.rtt > 0.0) {
            let seconds = state.step.0 * delays.rtt / 1e9;
            decision.pacing_rate = Some((SENT * 8.0 * state.window.mtu / seconds) as u64);
        }
    }
}

#[cfg(test)]
mod tests;
