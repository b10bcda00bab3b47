#![doc = include_str!("tcp_africa.md")]

use crate::event::RttSample;
use crate::parts::base::Base;
use crate::parts::high_speed::{Increase, Response};
use crate::parts::limits::Limits;
use crate::parts::recovery;
use crate::parts::smooth_rtt::SmoothRtt;
use crate::parts::vegas::{Delays, backlog};
use crate::parts::window::Window;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{Info, Signals, Span, View, parameters};

parameters! {
    /// Parameters of [`TcpAfrica`]: `tcp-africa:NAME=VALUE,…`.
    pub struct Params {
        @base Base, paper Limits::cho();
        @with response: Response, "HighSpeed TCP's functions.";
        /// Packets of its own in the queue up to which it grows fast (α).
        alpha: f64 = 1.641, in 0.0, f64::INFINITY, unit "packets", source "King, Baraniuk and Riedi 2005; spec: cho §9";
    }
}

/// What a flow keeps besides its window.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct State {
    /// HighSpeed TCP's increase for the present window.
    pub increase: Increase,
    /// Smoothed RTT and its extremes.
    pub rtt: SmoothRtt,
    /// `minrtt`: the least sample ever.
    pub min_rtt: Option<Span>,
}

impl State {
    /// Packets of its own in the path's queue, `cwnd·(srtt − minrtt)/srtt`
    /// (`spec: cho §9`); none before there is a sample.
    #[inline]
    fn queued(&self, cwnd: f64) -> f64 {
        match (self.min_rtt, self.rtt.value()) {
            (Some(min), Some(srtt)) => backlog(cwnd, Delays::new(min.micros(), srtt)),
            _ => 0.0,
        }
    }
}

/// TCP-Africa (`spec: cho §9`).
#[derive(Debug)]
pub struct TcpAfrica;

impl WindowScheme for TcpAfrica {
    const INFO: Info = Info {
        name: "tcp-africa",
        summary: "HighSpeed TCP while the queue is empty, Reno's growth once it builds",
        source: "King, Baraniuk and Riedi 2005; spec: cho §9",
        fallback: None,
    };
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::RTT);
    type Params = Params;
    type State = State;
    type Group = ();

    #[inline]
    fn on_rtt_sample(flow: &mut Flow<'_, Self>, rtt: &RttSample) {
        let (sample, state) = (rtt.adjusted(), &mut *flow.state);
        state.rtt.sample(sample);
        state.min_rtt = Some(state.min_rtt.map_or(sample, |min| min.min(sample)));
    }

    /// Fast mode and slow mode (`spec: cho §9`).
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        let (params, cwnd, state) = (flow.params, flow.window.cwnd, &mut *flow.state);
        if state.queued(cwnd) <= params.alpha {
            state.increase.per_window(&params.response, cwnd) * acked / cwnd
        } else {
            acked / cwnd
        }
    }

    /// HighSpeed TCP's in both modes (`spec: cho §9`).
    fn on_congestion(flow: &mut Flow<'_, Self>) -> recovery::Response {
        recovery::Response::to((1.0 - flow.params.response.b(flow.cwnd)) * flow.cwnd)
    }

    fn inspect(
        params: &Params,
        state: &State,
        window: &Window,
        _: View<'_, ()>,
        visit: &mut dyn FnMut(&'static str, f64),
    ) {
        params.response.inspect(window, visit);
        let queued = state.queued(window.cwnd);
        visit("queued", queued);
        visit("fast_mode", f64::from(u8::from(queued <= params.alpha)));
        state.rtt.inspect(visit);
    }
}

#[cfg(test)]
mod tests;
