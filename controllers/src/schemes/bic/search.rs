//! How far BIC steps per round trip.

use super::Params;

/// What is known of the window at which the path is full.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Maximum {
    /// `last_max`, packets; 0 while unknown.
    pub(super) window: f64,
    /// There was a loss since the start or the latest timeout.
    pub(super) loss_ever: bool,
}

/// Growth per round trip within `divisor` packets of the maximum, so that it takes
/// `smooth_rtts` round trips to cross them (`spec: sharma §5`, A-33).
pub(super) fn near(params: &Params) -> f64 {
    let b = params.divisor;
    let round_trips = libm::log(1.0 / params.smin) / libm::log(b / (b - 1.0)) + b;
    (b / libm::floor(round_trips)).min(params.smax)
}

/// Growth per round trip above the low window (`spec: sharma §5 BIC-2..4`).
#[inline]
pub(super) fn divided(params: &Params, maximum: &Maximum, near: f64, cwnd: f64) -> f64 {
    let Params { smax, divisor: b, .. } = *params;
    if !maximum.loss_ever {
        let gain = params.preloss_gain * cwnd;
        return if params.preloss_floor { gain.max(smax) } else { gain };
    }
    let max = maximum.window;
    if cwnd < max {
        let d = (max - cwnd) / b;
        if d > 1.0 { d.min(smax) } else { near }
    } else if cwnd < max + b {
        near
    } else {
        ((cwnd - max) / (b - 1.0)).min(smax)
    }
}

/// A stretch of constant growth per round trip, about one round trip long
/// (`spec: sharma §5`, textual variant).
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Leg {
    /// Growth per round trip, packets.
    pub(super) step: f64,
    /// The window it ends at.
    pub(super) end: f64,
    goal: Goal,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Goal {
    /// The middle between the latest known good window and the maximum.
    Target(f64),
    /// Whatever lies beyond the maximum.
    Beyond,
}

impl Leg {
    /// The leg that begins at a window of `cwnd` when `leg` has ended.
    #[cold]
    pub(super) fn after(leg: Option<Leg>, params: &Params, maximum: &Maximum, cwnd: f64) -> Leg {
        let max = maximum.window;
        match leg {
            Some(Leg { goal: Goal::Beyond, step, .. }) => Leg::beyond(params, cwnd, 2.0 * step),
            _ if max - cwnd < params.smin => Leg::beyond(params, cwnd, 1.0),
            Some(Leg { goal: Goal::Target(target), .. }) if cwnd < target => Leg::towards(params, cwnd, target),
            _ => Leg::towards(params, cwnd, 0.5 * (cwnd + max)),
        }
    }

    fn towards(params: &Params, cwnd: f64, target: f64) -> Leg {
        let step = (target - cwnd).max(params.smin).min(params.smax);
        // The end is the target itself where the step reaches it, not a rounding short.
        let end = if target - cwnd <= step { target.max(cwnd + step) } else { cwnd + step };
        Leg { step, end, goal: Goal::Target(target) }
    }

    /// Beyond the maximum: a doubled step per round trip up to the largest, which stays.
    fn beyond(params: &Params, cwnd: f64, step: f64) -> Leg {
        let step = step.min(params.smax);
        Leg { step, end: cwnd + step, goal: Goal::Beyond }
    }
}
