#![doc = include_str!("aimd.md")]

use crate::parts::aimd;
use crate::parts::base::Base;
use crate::parts::loss_based::{LossBased, Rules};
use crate::parts::window::{Cut, Window};
use crate::{Event, Path, Time, parameters};

parameters! {
    /// Parameters of [`Aimd`].
    pub struct Params {
        @base Base, paper Base::sharma_limited();
        /// Added per window of acknowledged packets.
        a: f64 = 32.0, in 0.01, 10_000.0, unit "packets", source "spec: sharma §2";
        /// Fraction of the window given up on congestion.
        b: f64 = 0.125, in 0.01, 0.99, source "spec: sharma §2";
    }
}

impl AsRef<Base> for Params {
    fn as_ref(&self) -> &Base {
        &self.base
    }
}

/// The two laws with their constants.
#[derive(Debug)]
pub struct AimdRules;

/// AIMD(a, b) (`spec: sharma §2`).
pub type Aimd = LossBased<AimdRules>;

impl Rules for AimdRules {
    const NAME: &'static str = "aimd";
    const SUMMARY: &'static str = "adds a packets per round trip, gives up the fraction b on congestion";
    const SOURCE: &'static str = "spec: sharma §2";
    type Params = Params;
    type Memory = ();

    fn start(_: &Params, _: &Path) {}

    /// `spec: sharma §2`.
    #[inline]
    fn increase(params: &Params, (): &mut (), window: &Window, _: Time, units: f64) -> f64 {
        aimd::increase(params.a, window, units)
    }

    /// `spec: sharma §2`.
    fn decrease(params: &Params, (): &mut (), window: &Window, _: &Event) -> Cut {
        aimd::decrease(params.b, window)
    }
}

#[cfg(test)]
mod tests;
