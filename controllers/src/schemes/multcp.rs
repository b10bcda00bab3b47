#![doc = include_str!("multcp.md")]

use crate::parameters;
use crate::parts::aimd;
use crate::parts::base::Base;
use crate::parts::loss_based::{LossBased, Rules};
use crate::parts::window::{Reduction, Window};
use crate::{Event, Info, Path, Time};

parameters! {
    /// Parameters of [`MulTcp`].
    pub struct Params {
        @base Base, paper Base::cho();
        /// How many standard flows it stands for; need not be whole.
        n: f64 = 4.0, in 1.0, 1_000_000.0, unit "flows", source "Crowcroft and Oechslin 1998; spec: cho §5, §9";
        /// Packets that one acknowledged in slow start adds until the window is what `n` flows would have.
        slow_start_gain: f64 = 1.0, paper 2.0, in 1.0, 2.0, unit "packets", source "Crowcroft and Oechslin 1998; spec: cho §9";
    }
}

/// MulTCP's rules.
#[derive(Debug)]
pub struct MulTcpRules;

/// MulTCP (`spec: cho §9`).
pub type MulTcp = LossBased<MulTcpRules>;

/// The window at which a flow that gains `gain` per packet has caught up with `n` flows
/// that gain one, all started at `iw`: `iw·(1+gain)^r = n·iw·2^r` after `r` round trips. No
/// window where there is nothing to catch up with, or no catching up.
fn caught_up(n: f64, gain: f64, iw: f64) -> f64 {
    let (own, theirs) = (libm::log(1.0 + gain), libm::log(2.0));
    if n <= 1.0 || own <= theirs { 0.0 } else { iw * libm::exp(own * libm::log(n) / (own - theirs)) }
}

impl Rules for MulTcpRules {
    const INFO: Info = Info {
        name: "multcp",
        summary: "one flow with the increase and decrease of n standard ones",
        source: "Crowcroft and Oechslin 1998; spec: cho §5, §9",
        fallback: None,
    };
    type Params = Params;
    /// Window up to which slow start is quicker than a standard flow's.
    type Memory = f64;

    fn start(params: &Params, _: &Path) -> f64 {
        caught_up(params.n, params.slow_start_gain, params.base.iw)
    }

    #[inline]
    fn slow_start(params: &Params, quick: &mut f64, window: &Window, _: Time, units: f64) -> f64 {
        if window.cwnd < *quick { units * params.slow_start_gain } else { units }
    }

    /// `n` packets per window.
    #[inline]
    fn increase(params: &Params, _: &mut f64, window: &Window, _: Time, units: f64) -> f64 {
        aimd::increase(params.n, window, units)
    }

    /// One of `n` flows halves; the threshold is the reduced window (`spec: cho §5`).
    fn decrease(params: &Params, _: &mut f64, window: &Window, _: &Event) -> Reduction {
        aimd::decrease(0.5 / params.n, window)
    }

    fn resized(quick: &mut f64, ratio: f64) {
        *quick *= ratio;
    }
}

#[cfg(test)]
mod tests;
