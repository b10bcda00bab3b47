#![doc = include_str!("vegas.md")]

use crate::Info;
use crate::parts::vegas::{ByOne, Common, Every, RoundTrip, Scheme, VegasBased};

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
    type Params = Common;
    type Source = RoundTrip;
    type Step = ByOne;
    type Loss = Every;
}

#[cfg(test)]
mod tests;
