#![doc = include_str!("tcp_k.md")]

use crate::parts::base::Base;
use crate::parts::limits::Limits;
use crate::parts::parallel::Weight;
use crate::parts::recovery::Response;
use crate::parts::window::Window;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{Info, View, parameters};

parameters! {
    /// Parameters of [`TcpK`]: `tcp-k:NAME=VALUE,…`.
    pub struct Params {
        @base Base, paper Limits::cho();
        /// Weight: how many standard flows it stands for.
        k: u32 = 4, in 1, 1_000_000, unit "flows", source "spec: cho §5, §14.4 CH4-C";
        /// Most packets that one acknowledged in slow start may add; inf is no limit.
        slow_start_cap: f64 = 1.0, paper f64::INFINITY, in 1.0, f64::INFINITY, unit "packets", source "spec: cho §5, K-1";
    }
}

/// TCP/k (`spec: cho §5`).
#[derive(Debug)]
pub struct TcpK;

impl WindowScheme for TcpK {
    const INFO: Info = Info {
        name: "tcp-k",
        summary: "one flow as aggressive as k standard ones",
        source: "Cho 2006, ch. IV.C; spec: cho §5",
        fallback: None,
    };
    type Params = Params;
    type State = ();
    type Group = ();

    /// `spec: cho §5 eq. 4.1`.
    #[inline]
    fn on_ack_in_slow_start(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        Weight::single(flow.params.k).slow_start(acked, flow.params.slow_start_cap)
    }

    /// `spec: cho §5 eq. 4.2`.
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        Weight::single(flow.params.k).increase(flow.window, acked)
    }

    /// `spec: cho §5 K-CONG, eq. 4.3`.
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        Weight::single(flow.params.k).own_reduction(flow.window).into()
    }

    fn inspect(params: &Params, (): &(), _: &Window, _: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("k", f64::from(params.k));
    }
}

#[cfg(test)]
mod tests;
