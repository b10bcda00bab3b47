#![doc = include_str!("aimd.md")]

use crate::parts::base::Base;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{Info, parameters};

parameters! {
    /// Parameters of [`Aimd`].
    pub struct Params {
        @base Base, paper Base::sharma_limited();
        /// Added per window of acknowledged packets.
        a: f64 = 32.0, in 0.01, 10_000.0, unit "packets", source "spec: sharma §2";
        /// Fraction of the window given up on congestion.
        b: f64 = 0.125, in 0.01, 0.99, source "spec: sharma §2";
    }
}

/// AIMD(a, b): additive increase, multiplicative decrease (`spec: sharma §2`).
#[derive(Debug)]
pub struct Aimd;

impl WindowScheme for Aimd {
    const INFO: Info = Info {
        name: "aimd",
        summary: "adds a packets per round trip, gives up the fraction b on congestion",
        source: "spec: sharma §2",
        fallback: None,
    };
    type Params = Params;
    type State = ();
    type Group = ();

    /// `spec: sharma §2 T-1b`.
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        flow.params.a * acked / flow.cwnd
    }

    /// `spec: sharma §2`.
    fn on_congestion(flow: &mut Flow<'_, Self>) {
        flow.reduce_to((1.0 - flow.params.b) * flow.cwnd);
    }
}

#[cfg(test)]
mod tests;
