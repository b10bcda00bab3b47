//! Additive increase, multiplicative decrease: Reno's two laws with their constants
//! left open.

use crate::parameters;
use crate::parts::base::Base;
use crate::parts::loss_based::{LossBased, Rules};
use crate::parts::window::{Cut, Window};
use crate::{Event, Path, Time};

/// Packets to add for `units` acknowledged when a window of them is worth `a` packets
/// (`spec: sharma §2 T-1b`; `spec: arumaithurai §3.5 F2.5`).
#[must_use]
#[inline]
pub fn increase(a: f64, window: &Window, units: f64) -> f64 {
    a * units / window.cwnd
}

/// Gives up the fraction `b` of the window (`spec: arumaithurai §3.5 F3`).
#[must_use]
pub fn decrease(b: f64, window: &Window) -> Cut {
    Cut::to(1.0 - b, window.cwnd)
}

parameters! {
    /// Parameters of [`Aimd`].
    pub struct Params {
        @base Base, paper Base::arumaithurai();
        /// Fraction of the window given up on congestion.
        b: f64 = 0.5, in 0.0, 0.99, source "spec: arumaithurai §3.8, A48";
    }
}

impl AsRef<Base> for Params {
    fn as_ref(&self) -> &Base {
        &self.base
    }
}

/// The rules of [`Aimd`].
#[derive(Debug)]
pub struct AimdRules;

/// AIMD(1, b): flow control that adds one packet per window and gives up the fraction
/// `b` of it on congestion. With `b` one half it is Reno to the bit.
pub type Aimd = LossBased<AimdRules>;

impl Rules for AimdRules {
    const NAME: &'static str = "aimd";
    const SUMMARY: &'static str = "adds one packet per round trip, gives up a fraction on congestion";
    const SOURCE: &'static str = "spec: arumaithurai §2.3";
    type Params = Params;
    type Memory = ();

    fn start(_: &Params, _: &Path) {}

    #[inline]
    fn increase(_: &Params, (): &mut (), window: &Window, _: Time, units: f64) -> f64 {
        increase(1.0, window, units)
    }

    fn decrease(params: &Params, (): &mut (), window: &Window, _: &Event) -> Cut {
        decrease(params.b, window)
    }

    /// `spec: arumaithurai §3.5 F5`.
    fn timeout(params: &Params, (): &mut (), _: &Window, _: &Event) -> f64 {
        1.0 - params.b
    }
}
