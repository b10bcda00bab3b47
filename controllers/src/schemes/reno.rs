#![doc = include_str!("reno.md")]

use crate::parameters;
use crate::parts::aimd;
use crate::parts::base::Base;
use crate::parts::loss_based::{LossBased, Rules};
use crate::parts::window::{Cut, Window};
use crate::{Event, Path, Time};

parameters! {
    /// Parameters of [`Reno`].
    pub struct Params {
        @base Base, paper Base::sharma_limited();
    }
}

impl AsRef<Base> for Params {
    fn as_ref(&self) -> &Base {
        &self.base
    }
}

/// Reno's two rules.
#[derive(Debug)]
pub struct RenoRules;

/// Reno (`spec: sharma §2`; `spec: cho §1.6`; `RFC 9002 §7`).
pub type Reno = LossBased<RenoRules>;

impl Rules for RenoRules {
    const NAME: &'static str = "reno";
    const SUMMARY: &'static str = "adds one packet per round trip, halves on congestion";
    const SOURCE: &'static str = "RFC 9002 §7; spec: sharma §2, cho §1.6";
    type Params = Params;
    type Memory = ();

    fn start(_: &Params, _: &Path) {}

    /// `spec: sharma §2 T-1b`: one packet per window.
    #[inline]
    fn increase(_: &Params, (): &mut (), window: &Window, _: Time, units: f64) -> f64 {
        aimd::increase(1.0, window, units)
    }

    /// `spec: sharma §2 T-2`.
    fn decrease(_: &Params, (): &mut (), window: &Window, _: &Event) -> Cut {
        aimd::decrease(0.5, window)
    }
}

#[cfg(test)]
mod tests;
