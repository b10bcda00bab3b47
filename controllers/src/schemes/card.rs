#![doc = include_str!("card.md")]

use crate::parts::vegas::{
    ByGradient, Common, Compared, Every, Gradient, Pair, RoundMeasurement, RoundTrip, Scheme, Step, VegasBased,
};
use crate::{Info, parameters};

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

impl Gradient for Params {
    /// `spec: chan §9`: up by a packet or down by a fraction, by the sign of the delay
    /// gradient; the window changes at every adjustment.
    fn judge(&self, pair: &Pair, round: &RoundMeasurement) -> Step {
        if pair.delay_gradient() > self.gradient { Step::Shrink(self.b * round.cwnd) } else { Step::Raise(1.0) }
    }
}

/// CARD's choices.
#[derive(Debug)]
pub struct Choices;

/// CARD (`spec: chan §9`).
pub type Card = VegasBased<Choices>;

impl Scheme for Choices {
    const INFO: Info = Info {
        name: "card",
        summary: "moves its window by the sign of the gradient of delay over window",
        source: "Jain 1989; spec: chan §9",
        fallback: None,
    };
    type Params = Params;
    type Source = RoundTrip;
    type Step = ByGradient;
    type Loss = Every;
}

#[cfg(test)]
mod tests;
