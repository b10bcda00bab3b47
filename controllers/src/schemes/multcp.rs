#![doc = include_str!("multcp.md")]

use crate::parts::base::Base;
use crate::parts::limits::Limits;
use crate::parts::recovery::Response;
use crate::parts::window::Window;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{Info, Path, parameters};

parameters! {
    /// Parameters of [`MulTcp`]: `multcp:NAME=VALUE,…`.
    pub struct Params {
        @base Base, paper Limits::cho();
        /// How many standard flows it stands for; need not be whole.
        n: f64 = 4.0, in 1.0, 1_000_000.0, unit "flows", source "Crowcroft and Oechslin 1998; spec: cho §5, §9";
        /// Packets that one acknowledged in slow start adds until the window is what `n` flows would have.
        slow_start_gain: f64 = 1.0, paper 2.0, in 1.0, 2.0, unit "packets", source "Crowcroft and Oechslin 1998; spec: cho §9";
    }
}

/// MulTCP (`spec: cho §9`).
#[derive(Debug)]
pub struct MulTcp;

/// The window at which a flow that gains `gain` per packet has caught up with `n` flows
/// that gain one, all started at `iw`: `iw·(1+gain)^r = n·iw·2^r` after `r` round trips. No
/// window where there is nothing to catch up with, or no catching up.
fn caught_up(n: f64, gain: f64, iw: f64) -> f64 {
    let (own, theirs) = (libm::log(1.0 + gain), libm::log(2.0));
    if n <= 1.0 || own <= theirs { 0.0 } else { iw * libm::exp(own * libm::log(n) / (own - theirs)) }
}

/// What a flow keeps besides its window.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct State {
    /// Window up to which slow start is quicker than a standard flow's, packets.
    quick_until: f64,
}

impl WindowScheme for MulTcp {
    const INFO: Info = Info {
        name: "multcp",
        summary: "one flow with the increase and decrease of n standard ones",
        source: "Crowcroft and Oechslin 1998; spec: cho §5, §9",
        fallback: None,
    };
    type Params = Params;
    type State = State;
    type Group = ();

    fn start(params: &Params, path: &Path) -> State {
        let initial = Window::start(&params.base.limits, path).cwnd;
        State { quick_until: caught_up(params.n, params.slow_start_gain, initial) }
    }

    #[inline]
    fn on_ack_in_slow_start(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        if flow.cwnd < flow.state.quick_until { acked * flow.params.slow_start_gain } else { acked }
    }

    /// `n` packets per window (`spec: cho §9`).
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        flow.params.n * acked / flow.cwnd
    }

    /// One of `n` flows halves; the threshold is the reduced window (`spec: cho §5`).
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        Response::to((1.0 - 0.5 / flow.params.n) * flow.cwnd)
    }

    fn on_mtu_update(flow: &mut Flow<'_, Self>, ratio: f64) {
        flow.state.quick_until *= ratio;
    }
}

#[cfg(test)]
mod tests;
