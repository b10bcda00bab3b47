#![doc = include_str!("vegas.md")]

use crate::parts::vegas::{ByOne, Common, Every, RoundTrip, Scheme, VegasBased};

/// Vegas' choices.
#[derive(Debug)]
pub struct Choices;

/// Vegas (`spec: chan §3`).
pub type Vegas = VegasBased<Choices>;

impl Scheme for Choices {
    const NAME: &'static str = "vegas";
    const SUMMARY: &'static str = "keeps a few packets queued, one packet per round trip up or down";
    const SOURCE: &'static str = "spec: chan §3";
    type Params = Common;
    type Source = RoundTrip;
    type Step = ByOne;
    type Loss = Every;
}

#[cfg(test)]
mod tests;
