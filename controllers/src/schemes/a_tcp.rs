#![doc = include_str!("a_tcp.md")]

use crate::parts::base::Base;
use crate::parts::competition::{Detector, Settings};
use crate::parts::limits::Limits;
use crate::parts::parallel::Weight;
use crate::parts::recovery::Response;
use crate::parts::window::Window;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{EventKind, Info, Path, Signals, View, parameters};

parameters! {
    /// Parameters of [`ATcp`]: `a-tcp:NAME=VALUE,…`.
    pub struct Params {
        @base Base, paper Limits::cho();
        @with detector: Settings, "The competition detector's.";
        /// Most packets that one acknowledged in slow start may add; inf is no limit.
        slow_start_cap: f64 = 1.0, paper f64::INFINITY, in 1.0, f64::INFINITY, unit "packets", source "spec: cho §5, K-1";
    }
}

/// What a flow keeps besides its window.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct State {
    /// The detector, on the flow's own window.
    pub detector: Detector,
    /// Whether the latest ACK found the sender limited by its application; holds for
    /// samples that come without one.
    pub app_limited: bool,
}

impl State {
    #[inline]
    fn weight(&self) -> Weight {
        Weight::single(self.detector.k)
    }
}

/// A-TCP (`spec: cho §7`).
#[derive(Debug)]
pub struct ATcp;

impl WindowScheme for ATcp {
    const INFO: Info = Info {
        name: "a-tcp",
        summary: "as aggressive as the competition detector finds harmless",
        source: "Cho 2006, ch. IV.E; spec: cho §6, §7",
        fallback: None,
    };
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::RTT);
    type Params = Params;
    type State = State;
    type Group = ();

    fn start(_: &Params, path: &Path) -> State {
        State { detector: Detector::start(path.now), app_limited: false }
    }

    /// `spec: cho §7 A-ACK`: the detector comes before everything else.
    #[inline]
    fn on_event(flow: &mut Flow<'_, Self>) {
        let (event, state) = (flow.event, &mut *flow.state);
        match &event.kind {
            EventKind::PacketsAcked(acked) => state.app_limited = acked.app_limited,
            EventKind::RttSampled(_) => {}
            _ => return,
        }
        let rtt = event.rtt().map(|rtt| rtt.adjusted());
        state.detector.acked(&flow.params.detector, event.now, rtt, flow.window.cwnd, state.app_limited);
    }

    #[inline]
    fn on_ack_in_slow_start(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        flow.state.weight().slow_start(acked, flow.params.slow_start_cap)
    }

    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        flow.state.weight().increase(flow.window, acked)
    }

    /// `spec: cho §7 A-CONG`.
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        flow.state.detector.lost(&flow.params.detector, flow.now);
        flow.state.weight().own_reduction(flow.window).into()
    }

    /// `spec: cho §7 A-RTO, AT-4`.
    fn on_persistent_congestion(flow: &mut Flow<'_, Self>) -> f64 {
        if !flow.recovery.in_recovery() && !flow.answered() {
            flow.state.detector.lost(&flow.params.detector, flow.now);
        }
        flow.state.detector.k = 1;
        0.5 * flow.cwnd
    }

    fn on_mtu_update(flow: &mut Flow<'_, Self>, ratio: f64) {
        flow.state.detector.on_mtu_update(ratio);
    }

    fn inspect(_: &Params, state: &State, _: &Window, _: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        state.detector.inspect(visit);
    }
}

#[cfg(test)]
mod tests;
