#![doc = include_str!("reno.md")]

use crate::parts::base::Base;
use crate::parts::recovery::Response;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{Info, parameters};

parameters! {
    /// Parameters of [`Reno`]: `reno:NAME=VALUE,…`.
    pub struct Params {
        @base Base, paper Base::sharma_limited();
    }
}

/// Reno: one packet per round trip up, half down (`RFC 9002 §7.3`; `spec: sharma §2`;
/// `spec: cho §1.6`).
#[derive(Debug)]
pub struct Reno;

impl WindowScheme for Reno {
    const INFO: Info = Info {
        name: "reno",
        summary: "adds one packet per round trip, halves on congestion",
        source: "RFC 9002 §7; spec: sharma §2, cho §1.6",
        fallback: None,
    };
    type Params = Params;
    type State = ();
    type Group = ();

    /// One packet per window (`RFC 9002 §7.3.3`; `spec: sharma §2 T-1b`).
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        acked / flow.cwnd
    }

    /// Half the window (`RFC 9002 §7.3.2`; `spec: sharma §2 T-2`).
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        Response::to(0.5 * flow.cwnd)
    }
}

#[cfg(test)]
mod tests;
