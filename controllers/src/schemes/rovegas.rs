#![doc = include_str!("rovegas.md")]

use crate::event::Queueing;
use crate::parts::base_delay::BaseDelay;
use crate::parts::vegas::{
    ByOne, Common, Delays, Every, Frame, Mean, NEEDS, RoundTrip, Scheme, Source, Thresholds, VegasBased, signed,
};
use crate::parts::windowed::WindowedMin;
use crate::{Info, Signals, Span, Time, choice, parameters};

choice! {
    /// How BaseRTT follows what the routers report (`spec: chan §4.5 B3, §13 A6`).
    pub enum BasePolicy {
        /// The least there ever was.
        Min = "min",
        /// As the latest report has it, so that it follows a change of route.
        Latest = "latest",
        /// The least of the last `base_rounds` rounds.
        Windowed = "windowed",
    }
}

parameters! {
    /// Parameters of [`RoVegas`]: `rovegas:NAME=VALUE,…`.
    pub struct Params {
        @base Common, paper Common::paper();
        @with thresholds: Thresholds, "Between which backlogs the window rests.";
        /// How the base RTT follows the routers' reports: the least ever, the latest, or the least of the last `base_rounds` rounds.
        base_policy: BasePolicy = BasePolicy::Min, source "spec: chan §4.5 B3, §13 A6";
        /// How many rounds `base_policy=windowed` remembers.
        base_rounds: u32 = 10, in 1, 1_000_000, unit "rounds", source "spec: chan §4.5 B3";
        /// Whether it may run as plain Vegas where routers do not report.
        fallback: bool = false, source "spec: chan §4.2";
    }
}

/// Router queueing times: what an ACK waited on its way back is not counted, and the base
/// is what is left of an RTT without any waiting.
///
/// An ACK without a report counts as a plain RTT sample, and a round that had no others
/// is judged as Vegas judges it (`spec: chan §4.2, §4.5 B2`).
#[derive(Debug)]
pub struct RouterTimes;

/// Stretches of the sliding minimum: one per round where ten are remembered.
const STRETCHES: usize = 10;

/// State of [`RouterTimes`]: the queueing times routers reported.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Memory {
    /// RTT of the empty path, nanoseconds; its clock counts rounds.
    base: WindowedMin<STRETCHES>,
    /// The same by `base_policy=min`, which may find that the path has become longer.
    least: BaseDelay,
    /// Rounds since the start of the flow.
    rounds: u64,
    /// Mean of the round's RTTs.
    plain: Mean,
    /// Mean of the round's RTTs without backward queueing.
    mean: Mean,
    /// Latest report; none as long as there was none.
    queued: Option<Queueing>,
}

impl Memory {
    /// `spec: chan §4.5 B3`. Nothing is forgotten before the first report: until then it
    /// is Vegas. Returns whether the path has turned out to be longer.
    #[inline]
    fn update_base(&mut self, params: &Params, frame: &Frame<'_>, t: Span) -> bool {
        let longer = params.base_policy == BasePolicy::Min && self.least.sample(&params.base.path, frame.sample(t));
        if longer {
            self.base.reset();
        }
        let windowed = params.base_policy == BasePolicy::Windowed && self.queued.is_some();
        let stretches = STRETCHES as u64;
        let window = windowed.then(|| Span(u64::from(params.base_rounds) * stretches));
        self.base.update(Time(self.rounds.saturating_mul(stretches)), window, signed(t));
        longer
    }
}

/// The report of `frame`. One that leaves no time for the path itself is not believed.
fn report(frame: &Frame<'_>, rtt: Span) -> Option<Queueing> {
    frame.acked?.queueing.filter(|queued| queued.forward + queued.backward < rtt)
}

impl Source<Params> for RouterTimes {
    const NEEDS: Signals = Signals::RTT.and(Signals::QUEUEING_TIME);
    type Memory = Memory;

    /// `spec: chan §4.5 B1–B3`.
    #[inline]
    fn on_event(params: &Params, memory: &mut Memory, frame: &Frame<'_>) -> bool {
        let Some(rtt) = frame.rtt else { return false };
        if frame.counts {
            memory.plain.add(signed(rtt));
        }
        let Some(queued) = report(frame, rtt) else { return memory.update_base(params, frame, rtt) };
        memory.queued = Some(queued);
        if frame.counts {
            memory.mean.add(signed(rtt - queued.backward));
        }
        if params.base_policy == BasePolicy::Latest {
            memory.base.reset();
        }
        memory.update_base(params, frame, rtt - queued.forward - queued.backward)
    }

    /// `spec: chan §4.6` (Eqs. 3.3 and 3.5); the clamp is in [`Delays::new`].
    fn round(_: &Params, memory: &mut Memory) -> Option<Delays> {
        memory.rounds = memory.rounds.saturating_add(1);
        let plain = core::mem::take(&mut memory.plain);
        let mean = core::mem::take(&mut memory.mean);
        Some(Delays::new(memory.base.get()? as f64, mean.get().or(plain.get())?))
    }

    #[inline]
    fn base(memory: &Memory) -> Option<&BaseDelay> {
        Some(&memory.least)
    }

    fn clear(memory: &mut Memory) {
        memory.plain = Mean::default();
        memory.mean = Mean::default();
    }

    fn inspect(memory: &Memory, visit: &mut dyn FnMut(&'static str, f64)) {
        if let Some(queued) = memory.queued {
            visit("q_f_ms", queued.forward.millis());
            visit("q_b_ms", queued.backward.millis());
        }
    }
}

/// The parts RoVegas is composed of.
#[derive(Debug)]
pub struct Choices;

/// RoVegas (`spec: chan §4`).
pub type RoVegas = VegasBased<Choices>;

impl Scheme for Choices {
    const INFO: Info = Info {
        name: "rovegas",
        summary: "Vegas that leaves queueing on the way back out of account, by routers' reports",
        source: "spec: chan §4",
        fallback: Some("plain Vegas, on round-trip times"),
    };
    type Params = Params;
    type Source = RouterTimes;
    type Step = ByOne;
    type Loss = Every;

    fn needs(params: &Params) -> Signals {
        NEEDS.and(if params.fallback { <RoundTrip as Source<Params>>::NEEDS } else { RouterTimes::NEEDS })
    }
}

#[cfg(test)]
mod tests;
