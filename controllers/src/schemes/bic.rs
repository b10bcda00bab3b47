#![doc = include_str!("bic.md")]

use crate::parts::base::Base;
use crate::parts::cubic_curve::next_w_max;
use crate::parts::limits::Limits;
use crate::parts::recovery::{Response, Undoable};
use crate::parts::window::Window;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{Info, Path, View, choice, parameters};

choice! {
    /// How the next window between the bounds of the search is found.
    pub enum Form {
        /// Halfway per step, a step per round trip (`spec: sharma §5`, textual variant).
        Midpoint = "midpoint",
        /// A part of the way per round trip, continuously (`spec: sharma §5 BIC-1..4`).
        Divided = "divided",
    }
}

parameters! {
    /// Parameters of [`Bic`]: `bic:NAME=VALUE,…`.
    pub struct Params {
        @base Base, paper Limits::sharma();
        /// How the next window between the bounds of the search is found.
        form: Form = Form::Midpoint, paper Form::Divided, linux Form::Divided, source "spec: sharma §5, §9.1, A-3";
        /// Largest growth per round trip.
        smax: f64 = 32.0, linux 16.0, in 1.0, 10_000.0, unit "packets", source "spec: sharma §5";
        /// Smallest step of the search.
        smin: f64 = 0.01, in 0.0001, 1.0, unit "packets", source "spec: sharma §5, A-33";
        /// Fraction of the window kept on congestion.
        beta: f64 = 0.875, paper 0.8, linux 819.0 / 1024.0, in 0.1, 0.99, source "spec: sharma §5, A-2";
        /// What the distance is divided by (form=divided).
        divisor: f64 = 4.0, in 2.0, 64.0, source "spec: sharma §5, A-3";
        /// Window up to which it is Reno.
        low_window: f64 = 14.0, in 1.0, 1000.0, unit "packets", source "spec: sharma §5";
        /// Whether a flow whose maximum shrinks gives up more.
        fast_convergence: bool = true, source "spec: sharma §5 rule 3.2";
        /// Share of the window added per round trip before the first loss (form=divided).
        preloss_gain: f64 = 0.05, in 0.0, 1.0, source "spec: sharma §5 BIC-2, A-4";
        /// Whether that share is a floor under the normal growth instead of replacing it (form=divided).
        preloss_floor: bool = false, linux true, source "spec: sharma A-4";
    }
}

/// What is known of the window at which the path is full (`spec: sharma §5`).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Maximum {
    /// `last_max`, packets; 0 while unknown.
    last_max: f64,
    /// There was a loss since the start or the latest timeout.
    loss_ever: bool,
}

/// What a flow keeps besides its window.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct State {
    maximum: Undoable<Maximum>,
    /// The step of the search under way (form=midpoint).
    step: Option<Step>,
    /// Growth per round trip close to the maximum (form=divided), packets.
    near: f64,
}

impl State {
    /// Packets a window of `cwnd` grows by per round trip.
    #[inline]
    fn growth(&mut self, params: &Params, cwnd: f64) -> f64 {
        if cwnd <= params.low_window {
            return 1.0;
        }
        match params.form {
            Form::Divided => divided(params, &self.maximum.current, self.near, cwnd),
            Form::Midpoint => match self.step {
                Some(step) if cwnd < step.end => step.growth,
                step => self.step.insert(Step::after(step, params, &self.maximum.current, cwnd)).growth,
            },
        }
    }
}

/// Growth per round trip within `divisor` packets of the maximum, so that it takes
/// `smooth_rtts` round trips to cross them (`spec: sharma §5`, A-33).
fn near(params: &Params) -> f64 {
    let b = params.divisor;
    let smooth_rtts = libm::log(1.0 / params.smin) / libm::log(b / (b - 1.0)) + b;
    (b / libm::floor(smooth_rtts)).min(params.smax)
}

/// Growth per round trip above the low window (`spec: sharma §5 BIC-2..4`).
#[inline]
fn divided(params: &Params, &Maximum { last_max, loss_ever }: &Maximum, near: f64, cwnd: f64) -> f64 {
    let Params { smax, divisor: b, .. } = *params;
    if !loss_ever {
        let gain = params.preloss_gain * cwnd;
        return if params.preloss_floor { gain.max(smax) } else { gain };
    }
    if cwnd < last_max {
        let d = (last_max - cwnd) / b;
        if d > 1.0 { d.min(smax) } else { near }
    } else if cwnd < last_max + b {
        near
    } else {
        ((cwnd - last_max) / (b - 1.0)).min(smax)
    }
}

/// A stretch of constant growth per round trip, about one round trip long
/// (`spec: sharma §5`, textual variant).
#[derive(Clone, Copy, PartialEq, Debug)]
struct Step {
    /// Growth per round trip, packets.
    growth: f64,
    /// The window it ends at.
    end: f64,
    goal: Goal,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Goal {
    /// Binary search: the middle between the latest known good window and the maximum.
    Target(f64),
    /// Max probing: whatever lies beyond the maximum.
    MaxProbing,
}

impl Step {
    /// The step that starts at a window of `cwnd` when `step` has ended.
    #[cold]
    fn after(step: Option<Step>, params: &Params, maximum: &Maximum, cwnd: f64) -> Step {
        let max = maximum.last_max;
        match step {
            Some(Step { goal: Goal::MaxProbing, growth, .. }) => Step::beyond(params, cwnd, 2.0 * growth),
            _ if max - cwnd < params.smin => Step::beyond(params, cwnd, 1.0),
            Some(Step { goal: Goal::Target(target), .. }) if cwnd < target => Step::towards(params, cwnd, target),
            _ => Step::towards(params, cwnd, 0.5 * (cwnd + max)),
        }
    }

    fn towards(params: &Params, cwnd: f64, target: f64) -> Step {
        let growth = (target - cwnd).max(params.smin).min(params.smax);
        // The end is the target itself where the step reaches it, not a rounding short.
        let end = if target - cwnd <= growth { target.max(cwnd + growth) } else { cwnd + growth };
        Step { growth, end, goal: Goal::Target(target) }
    }

    /// Beyond the maximum: a doubled step per round trip up to the largest, which stays.
    fn beyond(params: &Params, cwnd: f64, growth: f64) -> Step {
        let growth = growth.min(params.smax);
        Step { growth, end: cwnd + growth, goal: Goal::MaxProbing }
    }
}

/// BIC TCP (`spec: sharma §5`).
#[derive(Debug)]
pub struct Bic;

impl WindowScheme for Bic {
    const INFO: Info = Info {
        name: "bic",
        summary: "searches for the window of the latest loss, then probes ever faster beyond it",
        source: "spec: sharma §5",
        fallback: None,
    };
    type Params = Params;
    type State = State;
    type Group = ();

    fn start(params: &Params, _: &Path) -> State {
        State { near: near(params), ..State::default() }
    }

    /// `spec: sharma §5 rule 2`.
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        flow.state.growth(flow.params, flow.window.cwnd) * acked / flow.cwnd
    }

    /// `spec: sharma §5 rule 3`.
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        let (params, cwnd) = (flow.params, flow.cwnd);
        let maximum = flow.state.maximum.save();
        let last_max = next_w_max(cwnd, maximum.last_max, params.beta, params.fast_convergence);
        *maximum = Maximum { last_max, loss_ever: true };
        flow.state.step = None;
        Response::to(if cwnd > params.low_window { params.beta } else { 0.5 } * cwnd)
    }

    /// The search goes to the window whose reduction this is.
    fn on_start_up_reduced(flow: &mut Flow<'_, Self>, full: f64) {
        flow.state.maximum.current.last_max = full;
        flow.state.step = None;
    }

    /// `spec: sharma §5 rule 4`, A-37: the search starts over.
    fn on_persistent_congestion(flow: &mut Flow<'_, Self>) -> f64 {
        flow.state.maximum.current = Maximum::default();
        flow.state.step = None;
        0.5 * flow.cwnd
    }

    /// Not in the document; as `RFC 9438 §4.9.2` has it.
    fn on_spurious_loss(flow: &mut Flow<'_, Self>) {
        flow.state.maximum.undo();
        flow.state.step = None;
    }

    /// The step under way was meant for another window.
    fn on_idle_restart(flow: &mut Flow<'_, Self>) {
        flow.state.step = None;
    }

    fn on_mtu_update(flow: &mut Flow<'_, Self>, ratio: f64) {
        flow.state.maximum.current.last_max *= ratio;
        flow.state.step = None;
    }

    fn inspect(
        params: &Params,
        state: &State,
        window: &Window,
        _: View<'_, ()>,
        visit: &mut dyn FnMut(&'static str, f64),
    ) {
        visit("w_max", state.maximum.current.last_max);
        visit("growth", { *state }.growth(params, window.cwnd));
    }
}

#[cfg(test)]
mod tests;
