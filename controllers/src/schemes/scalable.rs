#![doc = include_str!("scalable.md")]

use crate::parts::base::Base;
use crate::parts::recovery::Response;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{Info, parameters};

parameters! {
    /// Parameters of [`Scalable`]: `scalable:NAME=VALUE,…`.
    pub struct Params {
        @base Base, paper Base::sharma_limited();
        /// Added per acknowledged packet above the low window.
        a: f64 = 0.01, in 0.0001, 1.0, unit "packets", source "spec: sharma §4 T-6";
        /// Fraction of the window given up on congestion.
        b: f64 = 0.125, in 0.01, 0.99, source "spec: sharma §4 T-7";
        /// Window up to which it is Reno.
        low_window: f64 = 16.0, in 1.0, 1000.0, unit "packets", source "spec: sharma §4";
    }
}

/// Scalable TCP (`spec: sharma §4`).
#[derive(Debug)]
pub struct Scalable;

impl WindowScheme for Scalable {
    const INFO: Info = Info {
        name: "scalable",
        summary: "grows by a fixed share of the window per round trip, gives up an eighth",
        source: "spec: sharma §4",
        fallback: None,
    };
    type Params = Params;
    type State = ();
    type Group = ();

    /// `spec: sharma §4 T-6`.
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        if flow.cwnd > flow.params.low_window { flow.params.a * acked } else { acked / flow.cwnd }
    }

    /// `spec: sharma §4 T-7`.
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        let b = if flow.cwnd > flow.params.low_window { flow.params.b } else { 0.5 };
        Response::to((1.0 - b) * flow.cwnd)
    }
}

#[cfg(test)]
mod tests;
