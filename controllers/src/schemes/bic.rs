#![doc = include_str!("bic.md")]

use crate::parts::aimd;
use crate::parts::base::Base;
use crate::parts::cubic_curve::next_maximum;
use crate::parts::loss_based::{LossBased, Rules};
use crate::parts::window::{Reduction, Window};
use crate::{Event, Info, Path, Time, choice, parameters};

mod search;

use search::{Leg, Maximum};

choice! {
    /// How the search goes.
    pub enum Form {
        /// Halfway per step, a step per round trip (`spec: sharma §5`, textual variant).
        Midpoint = "midpoint",
        /// A part of the way per round trip, continuously (`spec: sharma §5 BIC-1..4`).
        Divided = "divided",
    }
}

parameters! {
    /// Parameters of [`Bic`].
    pub struct Params {
        @base Base, paper Base::sharma();
        /// How the search goes.
        form: Form = Form::Midpoint, paper Form::Divided, source "spec: sharma §5, §9.1, A-3";
        /// Largest growth per round trip.
        smax: f64 = 32.0, in 1.0, 10_000.0, unit "packets", source "spec: sharma §5";
        /// Smallest step of the search.
        smin: f64 = 0.01, in 0.0001, 1.0, unit "packets", source "spec: sharma §5, A-33";
        /// Fraction of the window kept on congestion.
        beta: f64 = 0.875, paper 0.8, in 0.1, 0.99, source "spec: sharma §5, A-2";
        /// What the distance is divided by (form=divided).
        divisor: f64 = 4.0, in 2.0, 64.0, source "spec: sharma §5, A-3";
        /// Window up to which it is Reno.
        low_window: f64 = 14.0, in 1.0, 1000.0, unit "packets", source "spec: sharma §5";
        /// Whether a flow whose maximum shrinks gives up more.
        fast_convergence: bool = true, source "spec: sharma §5 rule 3.2";
        /// Share of the window added per round trip before the first loss (form=divided).
        preloss_gain: f64 = 0.05, in 0.0, 1.0, source "spec: sharma §5 BIC-2, A-4";
        /// Whether that share is a floor under the normal growth instead of replacing it (form=divided).
        preloss_floor: bool = false, source "spec: sharma A-4";
    }
}

/// What it remembers besides its window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Memory {
    maximum: Maximum,
    /// `maximum` as the latest response found it.
    before: Maximum,
    /// The part of the search under way (form=midpoint).
    leg: Option<Leg>,
    /// Growth per round trip close to the maximum (form=divided), packets.
    near: f64,
}

/// BIC's rules.
#[derive(Debug)]
pub struct BicRules;

/// BIC TCP (`spec: sharma §5`).
pub type Bic = LossBased<BicRules>;

impl Memory {
    /// Packets a window of `cwnd` grows by per round trip.
    #[inline]
    fn growth(&mut self, params: &Params, cwnd: f64) -> f64 {
        if cwnd <= params.low_window {
            return 1.0;
        }
        match params.form {
            Form::Divided => search::divided(params, &self.maximum, self.near, cwnd),
            Form::Midpoint => match self.leg {
                Some(leg) if cwnd < leg.end => leg.step,
                leg => self.leg.insert(Leg::after(leg, params, &self.maximum, cwnd)).step,
            },
        }
    }
}

impl Rules for BicRules {
    const INFO: Info = Info {
        name: "bic",
        summary: "searches for the window of the latest loss, then probes ever faster beyond it",
        source: "spec: sharma §5",
        fallback: None,
    };
    type Params = Params;
    type Memory = Memory;

    fn start(params: &Params, _: &Path) -> Memory {
        let maximum = Maximum::default();
        Memory { maximum, before: maximum, leg: None, near: search::near(params) }
    }

    /// `spec: sharma §5 rule 2`.
    #[inline]
    fn increase(params: &Params, memory: &mut Memory, window: &Window, _: Time, units: f64) -> f64 {
        aimd::increase(memory.growth(params, window.cwnd), window, units)
    }

    /// `spec: sharma §5 rule 3`.
    fn decrease(params: &Params, memory: &mut Memory, window: &Window, _: &Event) -> Reduction {
        memory.before = memory.maximum;
        let w_max = next_maximum(window.cwnd, memory.maximum.window, params.beta, params.fast_convergence);
        memory.maximum = Maximum { window: w_max, loss_ever: true };
        memory.leg = None;
        Reduction::to(if window.cwnd > params.low_window { params.beta } else { 0.5 }, window.cwnd)
    }

    /// `spec: sharma §5 rule 4`, A-37: the search starts over.
    fn timeout(_: &Params, memory: &mut Memory, _: &Window, _: &Event) -> f64 {
        memory.maximum = Maximum::default();
        memory.leg = None;
        0.5
    }

    /// Not in the document; as `RFC 9438 §4.9.2` has it.
    fn undone(_: &Params, memory: &mut Memory, _: &Window) {
        memory.maximum = memory.before;
        memory.leg = None;
    }

    /// The step under way was meant for another window.
    fn restarted(_: &Params, memory: &mut Memory, _: &Window) {
        memory.leg = None;
    }

    fn resized(memory: &mut Memory, ratio: f64) {
        memory.maximum.window *= ratio;
        memory.leg = None;
    }

    fn inspect(params: &Params, memory: &Memory, window: &Window, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("w_max", memory.maximum.window);
        visit("growth", { *memory }.growth(params, window.cwnd));
    }
}

#[cfg(test)]
mod tests;
