#![doc = include_str!("quick_vegas.md")]

use crate::parts::vegas::{Common, Every, RoundMeasurement, RoundTrip, Scheme, Step, StepRule, VegasBased};
use crate::{Info, parameters};

parameters! {
    /// Parameters of [`QuickVegas`]: `quick-vegas:NAME=VALUE,…`.
    pub struct Params {
        @base Common, paper Common::paper();
        /// Backlog below which the window grows; not above `beta`.
        alpha: f64 = 2.0, in 0.0, 10_000.0, unit "packets", source "spec: chan §6";
        /// Backlog above which the window shrinks.
        beta: f64 = 4.0, in 0.0, 10_000.0, unit "packets", source "spec: chan §6";
        /// How far from the middle between `alpha` and `beta` the backlog may be for the window to rest.
        mid_band: f64 = 0.5, paper 0.0, in 0.0, 10_000.0, unit "packets", source "spec: chan §6.4";
    }
}

/// Quick Vegas' steps.
#[derive(Debug)]
pub struct Quick;

/// State of [`Quick`] (`spec: chan §6`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Succession {
    /// How many decisions in a row found a backlog below α.
    pub succ: u32,
}

impl StepRule<Params> for Quick {
    const EVERY_OTHER: bool = true;
    type Memory = Succession;

    /// `spec: chan §6.3 V2–V6` (Eqs. 5.1 and 5.2).
    fn step(params: &Params, memory: &mut Succession, &RoundMeasurement { delta, .. }: &RoundMeasurement) -> Step {
        let Params { alpha, beta, .. } = *params;
        let excess = delta - (alpha + beta) / 2.0;
        if delta < alpha && delta <= beta {
            memory.succ = memory.succ.saturating_add(1);
            return Step::Grow((beta - delta) * f64::from(memory.succ));
        }
        memory.succ = 0;
        if delta > beta {
            Step::Shrink(excess)
        } else if excess.abs() <= params.mid_band {
            Step::Hold
        } else if excess > 0.0 {
            Step::Shrink(1.0)
        } else {
            Step::Grow(1.0)
        }
    }

    fn inspect(memory: &Succession, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("succ", f64::from(memory.succ));
    }
}

/// The parts Quick Vegas is composed of.
#[derive(Debug)]
pub struct Choices;

/// Quick Vegas (`spec: chan §6`).
pub type QuickVegas = VegasBased<Choices>;

impl Scheme for Choices {
    const INFO: Info = Info {
        name: "quick-vegas",
        summary: "Vegas in larger steps: grows faster the longer it may, sheds an excess at once",
        source: "spec: chan §6",
        fallback: None,
    };
    type Params = Params;
    type Source = RoundTrip;
    type Step = Quick;
    type Loss = Every;
}

#[cfg(test)]
mod tests;
