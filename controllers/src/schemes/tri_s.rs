#![doc = include_str!("tri_s.md")]

use crate::parts::vegas::{
    ByGradient, Common, Every, Gradient, Pair, RoundMeasurement, RoundTrip, Scheme, Step, VegasBased,
};
use crate::{Info, parameters};

parameters! {
    /// Parameters of [`TriS`]: `tri-s:NAME=VALUE,…`.
    pub struct Params {
        // A loss halves the window (`spec: chan §9` has no rule of its own).
        @base Common = Common { first_loss: 0.5, ..Common::default() }, paper Common { first_loss: 0.5, ..Common::paper() };
        /// Normalised throughput gradient below which the window shrinks.
        shrink_below: f64 = 0.5, in 0.0, 1.0, source "Wang and Crowcroft 1991; spec: chan §9";
        /// Normalised throughput gradient from which on the window grows; between the two it rests for one decision.
        grow_from: f64 = 0.5, in 0.0, 1.0, source "Wang and Crowcroft 1991; spec: chan §9";
    }
}

impl Gradient for Params {
    /// `spec: chan §9`: a packet up, down or none, by the throughput gradient.
    fn judge(&self, pair: &Pair, round: &RoundMeasurement) -> Step {
        let gradient = pair.throughput_gradient(round.delays.base);
        if gradient < self.shrink_below {
            Step::Shrink(1.0)
        } else if gradient < self.grow_from {
            Step::Hold
        } else {
            Step::Raise(1.0)
        }
    }
}

/// The parts Tri-S is composed of.
#[derive(Debug)]
pub struct Choices;

/// Tri-S (`spec: chan §9`).
pub type TriS = VegasBased<Choices>;

impl Scheme for Choices {
    const INFO: Info = Info {
        name: "tri-s",
        summary: "moves its window by what a packet more gains in throughput",
        source: "Wang and Crowcroft 1991; spec: chan §9",
        fallback: None,
    };
    type Params = Params;
    type Source = RoundTrip;
    type Step = ByGradient;
    type Loss = Every;
}

#[cfg(test)]
mod tests;
