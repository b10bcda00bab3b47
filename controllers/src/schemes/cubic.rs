#![doc = include_str!("cubic.md")]

use crate::event::{PacketsAcked, RttSample};
use crate::parts::base::Base;
use crate::parts::cubic_curve::{CurrentEpoch, alpha_cubic, next_w_max};
use crate::parts::limits::Limits;
use crate::parts::recovery::{Response, Undoable};
use crate::parts::window::Window;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{EventKind, Info, Signals, Span, Time, View, parameters};

parameters! {
    /// Parameters of [`Cubic`]: `cubic:NAME=VALUE,…`.
    pub struct Params {
        @base Base = Base::with_hystart(), paper Limits::arumaithurai();
        /// Steepness C of the cubic.
        c: f64 = 0.4, in 0.001, 1000.0, unit "packets/s³", source "RFC 9438 §5.1";
        /// Multiplicative decrease factor: the window after congestion as a fraction of the one before.
        beta: f64 = 0.7, in 0.1, 0.99, source "RFC 9438 §4.6";
        /// Whether a flow whose maximum shrinks gives up more.
        fast_convergence: bool = true, source "RFC 9438 §4.7";
        /// Whether the response starts from the bytes in flight where they are fewer than the window.
        flight_size: bool = false, source "RFC 9438 §4.6";
        /// Whether the curve starts from `beta` of its maximum and not from the window, which is the
        /// higher one after fast convergence and then waits for the curve, as in many stacks.
        k_from_w_max: bool = false, source "RFC 8312 §4.1 eq. 2";
        /// Whether Reno's estimate grows by a whole packet a window once it is where the window was
        /// before the response, and not for ever by the less that makes up for `beta`.
        alpha_rises: bool = true, source "RFC 9438 §4.3; RFC 8312 §4.2 has none of it";
        /// Part of the window of which less may be lost, slow start over, and the response is taken
        /// back after its recovery; 0 is none, 0.2 what quiche's CUBIC does.
        rollback: f64 = 0.0, in 0.0, 0.5, source "choice; what comes back RFC 9438 §4.9.2";
    }
}

/// CUBIC's variables that a congestion response changes (`RFC 9438 §4.1.2`).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Variables {
    /// `epoch_start`, `K`, `W_est` of the congestion avoidance stage under way.
    epoch: CurrentEpoch,
    /// `W_max`, packets; 0 while there is none.
    w_max: f64,
    /// `cwnd_prior`, packets; 0 while there is none.
    cwnd_prior: f64,
}

/// What a CUBIC flow keeps besides its window.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct State {
    /// Smoothed RTT; zero before the first sample.
    srtt: Span,
    /// Packets lost with the latest response and since, where `rollback` asks for them.
    lost: u32,
    /// With their values before the latest response (`RFC 9438 §4.9.2`).
    variables: Undoable<Variables>,
}

/// CUBIC (`RFC 9438`; `spec: arumaithurai §6.5`).
#[derive(Debug)]
pub struct Cubic;

impl Variables {
    /// A congestion avoidance stage starts at a window of `cwnd` packets (`RFC 9438 §4.2`; after
    /// a timeout §4.8; after a first slow start without congestion §4.10).
    #[cold]
    fn start_epoch(&mut self, params: &Params, now: Time, cwnd: f64) {
        let at_plateau = self.epoch.is_at_plateau();
        if at_plateau {
            self.w_max = cwnd;
        }
        if self.cwnd_prior <= 0.0 {
            self.cwnd_prior = cwnd;
        }
        // RFC 8312 §4.1 eq. 2: K is that of a window of beta·W_max.
        let reduced = params.beta * self.w_max;
        let lower = params.k_from_w_max && !at_plateau && reduced < cwnd;
        let cwnd_epoch = if lower { reduced } else { cwnd };
        self.epoch.start(params.c, now, cwnd_epoch, self.w_max);
    }
}

/// The window after the multiplicative decrease, packets, before the floor (`RFC 9438 §4.6
/// fig. 5`).
fn decreased(flow: &Flow<'_, Cubic>) -> f64 {
    let flight_size = flow.event.flight().filter(|_| flow.params.flight_size);
    flow.params.beta * flight_size.map_or(flow.cwnd, |bytes| (bytes as f64 / flow.mtu).min(flow.cwnd))
}

/// Packets that the event declares lost, where `rollback` has a use for them.
fn lost(flow: &Flow<'_, Cubic>) -> u32 {
    match &flow.event.kind {
        EventKind::PacketsLost(lost) if flow.params.rollback > 0.0 => lost.packets,
        _ => 0,
    }
}

/// Takes the latest response back where nothing but losses of less than the part `rollback` of the window, in whole
/// packets, or of a single one led to it, and slow start had ended before it. Returns whether it did.
fn rolls_back(flow: &mut Flow<'_, Cubic>) -> bool {
    let few = ((flow.params.rollback * flow.cwnd) as u32).max(2);
    let lost_little = (1..few).contains(&flow.state.lost);
    lost_little && flow.undoable().is_some_and(|saved| saved.cwnd >= saved.ssthresh) && flow.undo()
}

impl WindowScheme for Cubic {
    const INFO: Info = Info {
        name: "cubic",
        summary: "grows along a cubic of the time since the last congestion event",
        source: "RFC 9438; spec: arumaithurai §6.5",
        fallback: None,
    };
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::RTT);
    type Params = Params;
    type State = State;
    type Group = ();

    #[inline]
    fn on_event(flow: &mut Flow<'_, Self>) {
        flow.state.lost = flow.state.lost.saturating_add(lost(flow));
    }

    #[inline]
    fn on_rtt_sample(flow: &mut Flow<'_, Self>, rtt: &RttSample) {
        flow.state.srtt = rtt.smoothed;
    }

    /// The first ACK that would grow the window takes a response back that answered too little.
    #[inline]
    fn on_packets_acked(flow: &mut Flow<'_, Self>, acked: &PacketsAcked) -> bool {
        flow.state.lost == 0 || !flow.grows(&flow.params.base.limits, acked) || !rolls_back(flow)
    }

    /// `RFC 9438 §4.2–§4.5`. One ACK is worth a window at most.
    #[inline(always)]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        let (params, now, cwnd) = (flow.params, flow.now, flow.window.cwnd);
        let State { srtt, variables: Undoable { current: variables, .. }, .. } = &mut *flow.state;
        let windows = (acked / cwnd).min(1.0);
        if variables.epoch.get().is_none() {
            variables.start_epoch(params, now, cwnd);
        }
        let cwnd_prior = variables.cwnd_prior;
        let Some(epoch) = variables.epoch.get_mut() else { return 0.0 };
        // W_est = W_est + alpha·segments_acked/cwnd (§4.3 fig. 4); alpha is 1 once W_est ≥ cwnd_prior.
        let alpha = if params.alpha_rises && epoch.w_est >= cwnd_prior { 1.0 } else { alpha_cubic(params.beta) };
        epoch.grow_w_est(alpha, windows);
        let t = epoch.elapsed(now);
        // W_cubic(t) < W_est: the Reno-friendly region (§4.3), where cwnd is W_est; never a step back.
        if epoch.w_cubic(params.c, t) < epoch.w_est {
            return (epoch.w_est - cwnd).max(0.0);
        }
        // target is W_cubic(t + RTT), held between cwnd and 1.5·cwnd (§4.2). By comparisons, not `max`
        // and `min`, which mind a NaN that cannot be while the window waits.
        let target = epoch.w_cubic(params.c, t + srtt.secs());
        let target = if target > cwnd { target } else { cwnd };
        let most = 1.5 * cwnd;
        let target = if target < most { target } else { most };
        // (target − cwnd)/cwnd per segment: the concave and the convex region (§4.4, §4.5).
        (target - cwnd) * windows
    }

    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        let (params, cwnd) = (flow.params, flow.cwnd);
        flow.state.lost = lost(flow);
        let variables = flow.state.variables.save();
        variables.epoch = CurrentEpoch::Ended;
        // Fast convergence (§4.7).
        variables.w_max = next_w_max(cwnd, variables.w_max, params.beta, params.fast_convergence);
        variables.cwnd_prior = cwnd;
        // Multiplicative decrease (§4.6).
        Response::to(decreased(flow))
    }

    /// `W_max` and `cwnd_prior` are of the window whose reduction this is (`RFC 9438 §4.1.2`).
    fn on_start_up_reduced(flow: &mut Flow<'_, Self>, full: f64) {
        let variables = &mut flow.state.variables.current;
        (variables.w_max, variables.cwnd_prior) = (full, full);
    }

    /// K is 0 in the epoch after a timeout (`RFC 9438 §4.8`). `cwnd_prior` is of the response that
    /// set the threshold (§4.1.2).
    fn on_persistent_congestion(flow: &mut Flow<'_, Self>) -> f64 {
        let (cwnd, answered) = (flow.cwnd, flow.answered());
        let variables = &mut flow.state.variables.current;
        if !answered {
            variables.cwnd_prior = cwnd;
        }
        variables.epoch = CurrentEpoch::EndedAtPlateau;
        // As a factor of the window, rounded as such.
        decreased(flow) / cwnd * cwnd
    }

    /// `RFC 9438 §4.9.2`.
    fn on_spurious_loss(flow: &mut Flow<'_, Self>) {
        flow.state.variables.undo();
    }

    /// Time in which the window was not used is no part of the epoch (`RFC 9438 §4.2, §5.8`).
    fn on_underutilized(flow: &mut Flow<'_, Self>, span: Span) {
        for variables in flow.state.variables.both() {
            variables.epoch.pause(flow.now, span);
        }
    }

    fn on_idle_restart(flow: &mut Flow<'_, Self>) {
        flow.state.variables.current.epoch.end();
    }

    /// The next ACK starts an epoch at the resized window; below the plateau that is the same
    /// curve, beyond it the probing starts over.
    fn on_mtu_update(flow: &mut Flow<'_, Self>, ratio: f64) {
        let variables = &mut flow.state.variables.current;
        variables.w_max *= ratio;
        variables.cwnd_prior *= ratio;
        variables.epoch.end();
    }

    fn inspect(_: &Params, state: &State, _: &Window, _: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        let variables = &state.variables.current;
        visit("w_max", variables.w_max);
        visit("cwnd_prior", variables.cwnd_prior);
        visit("srtt_ms", 1e3 * state.srtt.secs());
        if let Some(epoch) = variables.epoch.get() {
            epoch.inspect(visit);
        }
    }
}

#[cfg(test)]
mod tests;
