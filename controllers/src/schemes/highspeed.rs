#![doc = include_str!("highspeed.md")]

use crate::parts::base::Base;
use crate::parts::high_speed::{Increase, Response};
use crate::parts::recovery;
use crate::parts::window::Window;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{Info, View, parameters};

pub use crate::parts::high_speed::Form;

parameters! {
    /// Parameters of [`HighSpeed`]: `highspeed:NAME=VALUE,…`.
    pub struct Params {
        @base Base, paper Base::sharma_limited();
        @with response: Response, "The two functions' anchors.";
    }
}

/// HighSpeed TCP (`RFC 3649`; `spec: sharma §3`).
#[derive(Debug)]
pub struct HighSpeed;

impl WindowScheme for HighSpeed {
    const INFO: Info = Info {
        name: "highspeed",
        summary: "grows faster and gives up less the larger the window is",
        source: "RFC 3649; spec: sharma §3, arumaithurai §6.7",
        fallback: None,
    };
    type Params = Params;
    type State = Increase;
    type Group = ();

    /// `w ← w + a(w)/w` (`RFC 3649 §5`; `spec: sharma §3 T-4`).
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        flow.state.per_window(&flow.params.response, flow.window.cwnd) * acked / flow.cwnd
    }

    /// `w ← (1 − b(w))·w` (`RFC 3649 §5`; `spec: sharma §3 T-5`).
    fn on_congestion(flow: &mut Flow<'_, Self>) -> recovery::Response {
        recovery::Response::to((1.0 - flow.params.response.b(flow.cwnd)) * flow.cwnd)
    }

    fn inspect(
        params: &Params,
        _: &Increase,
        window: &Window,
        _: View<'_, ()>,
        visit: &mut dyn FnMut(&'static str, f64),
    ) {
        params.response.inspect(window, visit);
    }
}

#[cfg(test)]
mod tests;
