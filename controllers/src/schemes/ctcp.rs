#![doc = include_str!("ctcp.md")]

use crate::event::RttSample;
use crate::parts::backstop::{self, Backstop};
use crate::parts::base::Base;
use crate::parts::limits::Limits;
use crate::parts::recovery::{Response, Undoable};
use crate::parts::vegas::{Delays, Round, backlog};
use crate::parts::window::Window;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{EventKind, Info, Signals, Span, Time, View, parameters};

parameters! {
    /// Parameters of [`Ctcp`]: `ctcp:NAME=VALUE,…`.
    pub struct Params {
        @base Base, paper Limits::arumaithurai();
        @with bound: backstop::Settings, "What losses bound the window to.";
        /// Size of the delay window's steps.
        alpha: f64 = 0.125, in 0.001, 10.0, source "spec: arumaithurai §6.6; draft-sridharan-tcpm-ctcp-02 §3";
        /// Decrease factor: fraction of the window given up on congestion.
        beta: f64 = 0.5, in 0.01, 0.99, source "spec: arumaithurai §6.6; draft-sridharan-tcpm-ctcp-02 §3";
        /// Power of the window the steps grow with.
        k: f64 = 0.75, in 0.0, 1.0, source "spec: arumaithurai §6.6; draft-sridharan-tcpm-ctcp-02 §3";
        /// Backlog from which on the delay window shrinks.
        gamma: f64 = 30.0, in 0.0, 10_000.0, unit "packets", source "spec: arumaithurai §6.6; draft-sridharan-tcpm-ctcp-02 §3";
        /// How many times the backlog the delay window then shrinks by.
        zeta: f64 = 1.0, in 0.0, 100.0, source "spec: arumaithurai §6.6";
        /// RTT samples a round trip needs to be judged.
        samples: u32 = 3, in 1, 1000, source "spec: arumaithurai §6.6 rule 2";
    }
}

impl Params {
    /// The delay window after a round trip in which a window of `win` packets had
    /// `backlog` of them queued (`spec: arumaithurai §6.6 rule 2`).
    #[must_use]
    pub fn next_dwnd(&self, dwnd: f64, win: f64, backlog: f64) -> f64 {
        if backlog < self.gamma {
            dwnd + (self.alpha * libm::pow(win, self.k) - 1.0).max(0.0)
        } else {
            (dwnd - self.zeta * backlog).max(0.0)
        }
    }
}

/// What a flow keeps besides its window, which is that of losses and of delay together.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct State {
    /// The delay window `dwnd`, packets.
    dwnd: Undoable<f64>,
    /// Smallest RTT sample; `None` before the first.
    base_rtt: Option<Span>,
    /// Smallest RTT sample of the round trip under way.
    round_rtt: Option<Span>,
    samples: u32,
    round: Round,
    /// The round trip that has just ended, until the ACK that ended it is through.
    ended: Option<Delays>,
    backstop: Backstop,
}

impl State {
    /// The delay window as part of a window of `cwnd` packets, of which it leaves the
    /// smallest window to losses.
    #[inline]
    fn dwnd(&self, params: &Params, cwnd: f64) -> f64 {
        self.dwnd.current.min(cwnd - params.base.limits.min_window).max(0.0)
    }

    /// What the round trip under way has measured is about another window.
    fn forget_round(&mut self) {
        (self.round_rtt, self.samples, self.ended) = (None, 0, None);
    }

    #[inline]
    fn sample(&mut self, rtt: &RttSample) {
        let rtt = rtt.adjusted();
        if rtt > Span::ZERO {
            self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
            self.round_rtt = Some(self.round_rtt.map_or(rtt, |least| least.min(rtt)));
            self.samples = self.samples.saturating_add(1);
        }
    }

    /// A round trip is over.
    #[cold]
    fn end_round(&mut self, params: &Params, now: Time) {
        if let (Some(base), Some(rtt), true) = (self.base_rtt, self.round_rtt, self.samples >= params.samples) {
            self.ended = Some(Delays::new(base.0 as f64, rtt.0 as f64));
        }
        (self.round_rtt, self.samples) = (None, 0);
        self.round.begin(now);
    }
}

/// Compound TCP (`spec: arumaithurai §6.6`; `draft-sridharan-tcpm-ctcp-02`).
#[derive(Debug)]
pub struct Ctcp;

impl WindowScheme for Ctcp {
    const INFO: Info = Info {
        name: "ctcp",
        summary: "Compound TCP: Reno plus a window that grows fast while there is no queue",
        source: "spec: arumaithurai §6.6; draft-sridharan-tcpm-ctcp-02",
        fallback: None,
    };
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::RTT);
    type Params = Params;
    type State = State;
    type Group = ();

    #[inline]
    fn backstop<'a>(params: &'a Params, state: &'a mut State) -> Option<(&'a backstop::Settings, &'a mut Backstop)> {
        Some((&params.bound, &mut state.backstop))
    }

    /// The sample of the ACK that ends a round trip belongs to the next.
    #[inline]
    fn on_event(flow: &mut Flow<'_, Self>) {
        if let EventKind::PacketsAcked(acked) = &flow.event.kind {
            flow.state.ended = None;
            if flow.state.round.ends(acked.newest_sent_at) {
                flow.state.end_round(flow.params, flow.now);
            }
        }
    }

    #[inline]
    fn on_rtt_sample(flow: &mut Flow<'_, Self>, rtt: &RttSample) {
        flow.state.sample(rtt);
    }

    /// `spec: arumaithurai §6.6 rules 1, 2`.
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        let (params, cwnd, state) = (flow.params, flow.window.cwnd, &mut *flow.state);
        let mut added = acked / cwnd;
        if let Some(delays) = state.ended.take() {
            let dwnd = state.dwnd(params, cwnd);
            state.dwnd.current = params.next_dwnd(dwnd, cwnd, backlog(cwnd, delays));
            added += state.dwnd.current - dwnd;
        }
        added
    }

    /// `spec: arumaithurai §6.6 rule 3`.
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        let (params, win, state) = (flow.params, flow.window.cwnd, &mut *flow.state);
        let cwnd = 0.5 * (win - state.dwnd(params, win));
        let dwnd = ((1.0 - params.beta) * win - cwnd).max(0.0);
        *state.dwnd.save() = dwnd;
        state.forget_round();
        Response::to(cwnd + dwnd)
    }

    fn on_persistent_congestion(flow: &mut Flow<'_, Self>) -> f64 {
        flow.state.dwnd.current = 0.0;
        flow.state.forget_round();
        0.5 * flow.cwnd
    }

    /// Not in the document; as `RFC 9438 §4.9.2` has it.
    fn on_spurious_loss(flow: &mut Flow<'_, Self>) {
        flow.state.dwnd.undo();
        flow.state.forget_round();
    }

    /// `spec: arumaithurai §5.0`, idle.
    fn on_idle_restart(flow: &mut Flow<'_, Self>) {
        flow.state.dwnd.current = 0.0;
        flow.state.forget_round();
    }

    fn on_mtu_update(flow: &mut Flow<'_, Self>, ratio: f64) {
        for dwnd in flow.state.dwnd.both() {
            *dwnd *= ratio;
        }
    }

    fn inspect(
        params: &Params,
        state: &State,
        window: &Window,
        _: View<'_, ()>,
        visit: &mut dyn FnMut(&'static str, f64),
    ) {
        state.backstop.inspect(visit);
        visit("dwnd", state.dwnd(params, window.cwnd));
        visit("base_rtt_ms", state.base_rtt.map_or(0.0, Span::millis));
    }
}

#[cfg(test)]
mod tests;
