#![doc = include_str!("vegas.md")]

use crate::parts::vegas::{ByOne, Common, Every, RoundTrip, Scheme, Thresholds, VegasBased};
use crate::{Info, parameters};

parameters! {
    /// Parameters of [`Vegas`]: `vegas:NAME=VALUE,…`.
    pub struct Params {
        @base Common, paper Common::paper();
        @with thresholds: Thresholds, "Between which backlogs the window rests.";
    }
}

/// The parts Vegas is composed of.
#[derive(Debug)]
pub struct Choices;

/// Vegas (`spec: chan §3`).
pub type Vegas = VegasBased<Choices>;

impl Scheme for Choices {
    const INFO: Info = Info {
        name: "vegas",
        summary: "keeps a few packets queued, one packet per round trip up or down",
        source: "spec: chan §3",
        fallback: None,
    };
    type Params = Params;
    type Source = RoundTrip;
    type Step = ByOne;
    type Loss = Every;
}

#[cfg(test)]
mod tests;
