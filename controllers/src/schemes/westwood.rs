#![doc = include_str!("westwood.md")]

use crate::event::RttSample;
use crate::parts::ack_rate::AckRate;
use crate::parts::base::Base;
use crate::parts::base_delay::{self, BaseDelay, Sample};
use crate::parts::limits::Limits;
use crate::parts::recovery::{Reduction, Response};
use crate::parts::vegas::signed;
use crate::parts::window::Window;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{EventKind, Info, Path, Signals, Span, View, parameters};

/// Least window after a response, packets (`spec: arumaithurai §6.1`).
const LEAST: f64 = 2.0;

parameters! {
    /// Parameters of [`Westwood`]: `westwood:NAME=VALUE,…`.
    pub struct Params {
        @base Base, paper Limits::arumaithurai();
        @with path: base_delay::Settings, "How long the least RTT is believed.";
        /// Whether a response leaves a window as it is that is below what the path delivers. Linux' module raises it.
        never_rises: bool = true, source "choice";
    }
}

/// What a flow keeps besides its window.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct State {
    /// The bandwidth estimate (BWE).
    rate: AckRate,
    latest_rtt: Span,
    /// RTT_min.
    base: BaseDelay,
}

impl State {
    fn rtt_min(&self) -> Option<Span> {
        self.base.get().map(|ns| Span(ns.unsigned_abs()))
    }

    /// `BWE·RTT_min`: packets the path delivers in its shortest round trip; half the window while
    /// that is not known (`spec: arumaithurai §6.1`).
    #[must_use]
    pub fn delivered(&self, window: &Window) -> f64 {
        match (self.rate.get(), self.rtt_min()) {
            (Some(rate), Some(rtt_min)) => (rate * rtt_min.secs() / window.mtu).max(LEAST),
            _ => 0.5 * window.cwnd,
        }
    }
}

/// Westwood+ (`spec: arumaithurai §6.1`).
#[derive(Debug)]
pub struct Westwood;

impl WindowScheme for Westwood {
    const INFO: Info = Info {
        name: "westwood",
        summary: "Reno that goes back to what the path was delivering instead of to half",
        source: "spec: arumaithurai §6.1",
        fallback: None,
    };
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::RTT);
    type Params = Params;
    type State = State;
    type Group = ();

    fn start(_: &Params, path: &Path) -> State {
        State { rate: AckRate::start(path.now), ..State::default() }
    }

    #[inline]
    fn on_event(flow: &mut Flow<'_, Self>) {
        let (event, state) = (flow.event, &mut *flow.state);
        match event.kind {
            EventKind::PacketsAcked(ref acked) => {
                if let Some(rtt) = acked.rtt {
                    state.latest_rtt = rtt.latest;
                }
                state.rate.acked(event.now, acked.bytes, state.latest_rtt);
            }
            EventKind::IdleRestart(_) => state.rate.restart(event.now),
            _ => {}
        }
    }

    #[inline]
    fn on_rtt_sample(flow: &mut Flow<'_, Self>, rtt: &RttSample) {
        let state = &mut *flow.state;
        state.latest_rtt = rtt.latest;
        if rtt.latest > Span::ZERO {
            state.base.sample(&flow.params.path, Sample::of(flow.event, rtt, signed(rtt.latest)));
        }
    }

    /// `spec: arumaithurai §6.1` 1.
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        acked / flow.cwnd
    }

    /// `spec: arumaithurai §6.1` 2; a window that is smaller stays, and grows to the
    /// threshold by slow start.
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        let ssthresh = flow.state.delivered(flow.window);
        let cwnd = if flow.params.never_rises { flow.cwnd.min(ssthresh) } else { ssthresh };
        Reduction { cwnd, ssthresh }.into()
    }

    /// `spec: arumaithurai §6.1` 3.
    fn on_persistent_congestion(flow: &mut Flow<'_, Self>) -> f64 {
        // As a factor of the window, rounded as such.
        flow.state.delivered(flow.window) / flow.cwnd * flow.cwnd
    }

    #[inline]
    fn base_delay(state: &State) -> Option<&BaseDelay> {
        Some(&state.base)
    }

    fn inspect(_: &Params, state: &State, window: &Window, _: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        if let Some(rate) = state.rate.get() {
            visit("bw_mbps", 8e-6 * rate);
        }
        if let Some(rtt_min) = state.rtt_min() {
            visit("rtt_min_ms", rtt_min.millis());
        }
        visit("delivered", state.delivered(window));
    }
}

#[cfg(test)]
mod tests;
