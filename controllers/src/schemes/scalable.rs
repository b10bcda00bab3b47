#![doc = include_str!("scalable.md")]

use crate::parts::aimd;
use crate::parts::base::Base;
use crate::parts::loss_based::{LossBased, Rules};
use crate::parts::window::{Reduction, Window};
use crate::{Event, Info, Path, Time, parameters};

parameters! {
    /// Parameters of [`Scalable`].
    pub struct Params {
        @base Base, paper Base::sharma_limited();
        /// Added per acknowledged packet.
        a: f64 = 0.01, in 0.0001, 1.0, unit "packets", source "spec: sharma §4 T-6";
        /// Fraction of the window given up on congestion.
        b: f64 = 0.125, in 0.01, 0.99, source "spec: sharma §4 T-7";
        /// Window up to which it is Reno.
        low_window: f64 = 16.0, in 1.0, 1000.0, unit "packets", source "spec: sharma §4";
    }
}

/// Scalable's two rules.
#[derive(Debug)]
pub struct ScalableRules;

/// Scalable TCP (`spec: sharma §4`).
pub type Scalable = LossBased<ScalableRules>;

impl Rules for ScalableRules {
    const INFO: Info = Info {
        name: "scalable",
        summary: "grows by a fixed share of the window per round trip, gives up an eighth",
        source: "spec: sharma §4",
        fallback: None,
    };
    type Params = Params;
    type Memory = ();

    fn start(_: &Params, _: &Path) {}

    /// `spec: sharma §4 T-6`.
    #[inline]
    fn increase(params: &Params, (): &mut (), window: &Window, _: Time, units: f64) -> f64 {
        if window.cwnd > params.low_window { params.a * units } else { aimd::increase(1.0, window, units) }
    }

    /// `spec: sharma §4 T-7`.
    fn decrease(params: &Params, (): &mut (), window: &Window, _: &Event) -> Reduction {
        aimd::decrease(if window.cwnd > params.low_window { params.b } else { 0.5 }, window)
    }
}

#[cfg(test)]
mod tests;
