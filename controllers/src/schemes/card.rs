#![doc = include_str!("card.md")]

use crate::parameters;
use crate::parts::vegas::{
    Common, Compared, Every, Finding, RoundTrip, Scheme, Step, StepRule, Told, Trail, VegasBased,
};

parameters! {
    /// Parameters of [`Card`].
    pub struct Params {
        @base Compared, paper Compared::paper();
        /// Normalised delay gradient above which the window shrinks.
        gradient: f64 = 0.0, in 0.0, 1.0, source "spec: chan §9";
        /// Fraction of the window an adjustment gives up.
        b: f64 = 0.125, in 0.001, 0.5, source "spec: chan §9";
    }
}

impl AsRef<Common> for Params {
    fn as_ref(&self) -> &Common {
        &self.base.0
    }
}

/// Up by a packet or down by a fraction, by the sign of the delay gradient.
#[derive(Debug)]
pub struct ByDelay;

impl StepRule<Params> for ByDelay {
    type Memory = Trail;

    /// `spec: chan §9`: the window changes at every adjustment; at once, so that the next
    /// one compares settled windows.
    fn step(params: &Params, trail: &mut Trail, told: &Told) -> Step {
        match trail.find(told) {
            Finding::Unsettled => Step::Hold,
            Finding::Pair(pair) if pair.delay_gradient() > params.gradient => Step::Shrink(params.b * told.cwnd),
            _ => Step::Raise(1.0),
        }
    }

    fn resized(trail: &mut Trail, ratio: f64) {
        trail.resized(ratio);
    }
}

/// CARD's choices.
#[derive(Debug)]
pub struct Choices;

/// CARD (`spec: chan §9`).
pub type Card = VegasBased<Choices>;

impl Scheme for Choices {
    const NAME: &'static str = "card";
    const SUMMARY: &'static str = "moves its window by the sign of the gradient of delay over window";
    const SOURCE: &'static str = "Jain 1989; spec: chan §9";
    type Params = Params;
    type Source = RoundTrip;
    type Step = ByDelay;
    type Loss = Every;
}

#[cfg(test)]
mod tests;
