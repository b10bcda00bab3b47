#![doc = include_str!("highspeed.md")]

use crate::parts::base::Base;
use crate::parts::high_speed::{Response, Slope};
use crate::parts::loss_based::{LossBased, Rules};
use crate::parts::window::{Reduction, Window};
use crate::{Event, Info, Path, Time, parameters};

pub use crate::parts::high_speed::Form;

parameters! {
    /// Parameters of [`HighSpeed`].
    pub struct Params {
        @base Base, paper Base::sharma_limited();
        @with response: Response, "The two functions' anchors.";
    }
}

/// HighSpeed's rules.
#[derive(Debug)]
pub struct HighSpeedRules;

/// HighSpeed TCP (`spec: sharma §3`; `RFC 3649`).
pub type HighSpeed = LossBased<HighSpeedRules>;

impl Rules for HighSpeedRules {
    const INFO: Info = Info {
        name: "highspeed",
        summary: "grows faster and gives up less the larger the window is",
        source: "RFC 3649; spec: sharma §3, arumaithurai §6.7",
        fallback: None,
    };
    type Params = Params;
    type Memory = Slope;

    fn start(_: &Params, _: &Path) -> Slope {
        Slope::default()
    }

    /// `spec: sharma §3 T-4`.
    #[inline]
    fn increase(params: &Params, slope: &mut Slope, window: &Window, _: Time, units: f64) -> f64 {
        slope.increase(&params.response, window, units)
    }

    /// `spec: sharma §3 T-5`.
    fn decrease(params: &Params, _: &mut Slope, window: &Window, _: &Event) -> Reduction {
        params.response.decrease(window)
    }

    fn inspect(params: &Params, _: &Slope, window: &Window, visit: &mut dyn FnMut(&'static str, f64)) {
        params.response.inspect(window, visit);
    }
}

#[cfg(test)]
mod tests;
