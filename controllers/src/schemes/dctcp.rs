#![doc = include_str!("dctcp.md")]

use crate::parts::base::Base;
use crate::parts::limits::Limits;
use crate::parts::marks::MarkedFraction;
use crate::parts::recovery::Response;
use crate::parts::window::Window;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{Decision, Ecn, EventKind, Info, Path, Signals, Span, View, choice, parameters};

choice! {
    /// How data packets say that they may be marked.
    pub enum Codepoint {
        /// ECT(0), as data centres configure their switches for.
        Ect0 = "ect0",
        /// ECT(1), for queues that mark L4S traffic at a threshold (`RFC 9331`).
        Ect1 = "ect1",
    }
}

parameters! {
    /// Parameters of [`Dctcp`]: `dctcp:NAME=VALUE,…`.
    pub struct Params {
        @base Base, paper Limits::arumaithurai();
        /// Weight of the latest round trip in the fraction of marked packets (g).
        gain: f64 = 0.0625, in 0.001, 1.0, source "RFC 8257 §4.2; spec: arumaithurai §6.4";
        /// How packets say that they may be marked.
        codepoint: Codepoint = Codepoint::Ect0, source "RFC 8257 §3; RFC 9331 §4.1";
        /// Whether to do without marks.
        fallback: bool = false, source "spec: arumaithurai §6.4 rule 4";
    }
}

/// What a flow keeps besides its window.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct State {
    /// `DCTCP.Alpha`, and what it is an average of.
    fraction: MarkedFraction,
    /// The window before the latest response, if that was to a mark and no loss has
    /// made it a larger one, packets.
    cwnd_before_mark: Option<f64>,
}

/// DCTCP (`RFC 8257`; `spec: arumaithurai §6.4`).
#[derive(Debug)]
pub struct Dctcp;

impl WindowScheme for Dctcp {
    const INFO: Info = Info {
        name: "dctcp",
        summary: "gives up half the fraction of its packets that arrive marked",
        source: "RFC 8257; spec: arumaithurai §6.4",
        fallback: Some("answers losses only, as Reno"),
    };
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::ECN).and(Signals::CE_COUNT);
    type Params = Params;
    type State = State;
    type Group = ();

    fn needs(params: &Params) -> Signals {
        if params.fallback { Signals::ACKS | Signals::LOSS } else { Self::NEEDS }
    }

    fn start(_: &Params, path: &Path) -> State {
        State { fraction: MarkedFraction::start(path.now), cwnd_before_mark: None }
    }

    /// `spec: arumaithurai §6.4 rule 1`. A loss among the packets of a flight whose mark
    /// was answered already makes that answer Reno's (`RFC 8257 §3.5`).
    #[inline]
    fn on_event(flow: &mut Flow<'_, Self>) {
        flow.state.fraction.on_event(flow.params.gain, Span::ZERO, flow.event);
        let EventKind::PacketsLost(lost) = &flow.event.kind else { return };
        if flow.recovery.accepts(lost.newest_sent_at) {
            return;
        }
        if let Some(before) = flow.state.cwnd_before_mark.take() {
            flow.window.reduce_further(&flow.params.base.limits, 0.5 * before);
        }
    }

    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        acked / flow.cwnd
    }

    /// `cwnd = cwnd·(1 − DCTCP.Alpha/2)` for marks, Reno's response for losses
    /// (`RFC 8257 §3.3, §3.5`; `spec: arumaithurai §6.4 rules 2, 3`).
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        if matches!(flow.event.kind, EventKind::EcnCe(_)) {
            flow.state.cwnd_before_mark = Some(flow.cwnd);
            Response::to((1.0 - 0.5 * flow.state.fraction.alpha()) * flow.cwnd)
        } else {
            flow.state.cwnd_before_mark = None;
            Response::to(0.5 * flow.cwnd)
        }
    }

    fn on_persistent_congestion(flow: &mut Flow<'_, Self>) -> f64 {
        if let Some(before) = flow.state.cwnd_before_mark.take().filter(|_| flow.answered()) {
            flow.window.reduce_further(&flow.params.base.limits, 0.5 * before);
        }
        flow.state.fraction.clear(flow.now);
        0.5 * flow.cwnd
    }

    fn on_idle_restart(flow: &mut Flow<'_, Self>) {
        flow.state.fraction.clear(flow.now);
    }

    fn on_mtu_update(flow: &mut Flow<'_, Self>, ratio: f64) {
        flow.state.cwnd_before_mark = flow.state.cwnd_before_mark.map(|before| before * ratio);
    }

    #[inline]
    fn complete_decision(params: &Params, _: &State, _: &Window, decision: &mut Decision) {
        decision.ecn = match params.codepoint {
            _ if params.fallback => Ecn::NotEct,
            Codepoint::Ect0 => Ecn::Ect0,
            Codepoint::Ect1 => Ecn::Ect1,
        };
    }

    fn inspect(_: &Params, state: &State, _: &Window, _: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("alpha", state.fraction.alpha());
    }
}

#[cfg(test)]
mod tests;
