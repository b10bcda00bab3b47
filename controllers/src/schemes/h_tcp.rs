#![doc = include_str!("h_tcp.md")]

use crate::parts::base::Base;
use crate::parts::limits::Limits;
use crate::parts::recovery::{Response, Undoable};
use crate::parts::start_up;
use crate::parts::window::Window;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{EventKind, Info, Path, Signals, Span, Time, View, parameters};

parameters! {
    /// Parameters of [`HTcp`]: `h-tcp:NAME=VALUE,…`.
    pub struct Params {
        // The document's platform starts it above its threshold: no slow start.
        @base Base, paper Base {
            limits: Limits { ssthresh: 1.0, ..Limits::sharma() },
            start_up: start_up::Params { first_halving: true, ..Default::default() },
        };
        /// How long after a congestion event the increase stays that of Reno.
        delta_l: f64 = 1.0, in 0.0, 1000.0, unit "s", source "spec: sharma §8 T-12";
        /// Longest time beyond it that counts.
        delta_cap: f64 = 600.0, in 0.0, 100_000.0, unit "s", source "spec: sharma §8, corner cases";
        /// Least fraction of the window kept on congestion.
        beta_min: f64 = 0.5, in 0.1, 0.99, source "spec: sharma §8 T-12";
        /// Largest fraction of the window kept on congestion.
        beta_max: f64 = 0.8, in 0.1, 0.99, source "spec: sharma §8 T-12";
        /// Relative change of throughput between two events above which the least is kept; infinite is never.
        change: f64 = 0.2, in 0.0, f64::INFINITY, source "spec: sharma §8 rule 4.2";
        /// Whether the increase is scaled with the minimum RTT.
        rtt_scaling: bool = true, source "spec: sharma §8, A-14";
        /// The minimum RTT at which scaling changes nothing.
        rtt_ref: f64 = 0.1, in 0.001, 10.0, unit "s", source "spec: sharma §8, A-14";
        /// Share of the largest queueing delay remembered past a congestion event.
        fade: f64 = 0.95, in 0.0, 1.0, source "spec: sharma §8 rule 4.4";
    }
}

impl Params {
    /// Packets a window grows by per round trip `delta` seconds after a congestion event,
    /// before scaling (`spec: sharma §8 T-12`).
    #[must_use]
    #[inline]
    pub fn polynomial(&self, delta: f64) -> f64 {
        let x = (delta - self.delta_l).min(self.delta_cap);
        if x <= 0.0 { 1.0 } else { 1.0 + 10.0 * x + 0.25 * x * x }
    }

    /// The factor by which RTT scaling changes the increase (`spec: sharma §8 rule 3`).
    #[must_use]
    #[inline]
    pub fn scale(&self, rtt_min: Option<Span>) -> f64 {
        match rtt_min {
            Some(rtt) if self.rtt_scaling => (rtt.secs() / self.rtt_ref).clamp(0.1, 2.0),
            _ => 1.0,
        }
    }

    /// Fraction kept when RTTs were between `min` and `max`: what drains the queue
    /// (`spec: sharma §8 T-12`).
    #[must_use]
    pub fn backoff(&self, min: Span, max: Span) -> f64 {
        let ratio = if max > min { min.secs() / max.secs() } else { 1.0 };
        ratio.min(self.beta_max).max(self.beta_min)
    }
}

/// What a congestion response changes.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Variables {
    /// `last_cong`: when Δ began to run.
    last_cong: Time,
    /// β: the decrease factor of the latest response.
    beta: f64,
    /// Largest RTT sample outside recovery, faded at each response.
    rtt_max: Span,
    /// `B_old`: largest throughput before the latest response that stored one, packets/s.
    b_old: Option<f64>,
}

/// What a flow keeps besides its window (`spec: sharma §8`).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct State {
    variables: Undoable<Variables>,
    /// Smallest RTT sample; `None` before the first.
    rtt_min: Option<Span>,
    meter: Meter,
    /// α: growth per round trip at the latest growth, packets.
    alpha: f64,
}

impl State {
    /// `spec: sharma §8 rule 3`.
    #[inline]
    fn alpha(&self, params: &Params, now: Time) -> f64 {
        let Variables { last_cong, beta, .. } = self.variables.current;
        let delta = now.since(last_cong).secs();
        let scale = if delta > params.delta_l { params.scale(self.rtt_min) } else { 1.0 };
        2.0 * (1.0 - beta) * scale * params.polynomial(delta)
    }
}

/// Throughput between two congestion events, measured over stretches of about a window
/// (`spec: sharma §8 rule 2`).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Meter {
    packets: f64,
    since: Time,
    /// `B_cur`: the smoothed throughput, packets/s.
    b_cur: f64,
    /// `B_max`: the largest value of it since the latest congestion, packets/s.
    b_max: f64,
}

impl Meter {
    fn start(now: Time) -> Meter {
        Meter { since: now, ..Meter::default() }
    }

    /// Restarts the time since the last congestion event.
    #[inline]
    fn restart(&mut self, now: Time) {
        self.packets = 0.0;
        self.since = now;
    }

    /// `packets` were acknowledged at `now`; a stretch ends with `enough` of them and a
    /// minimum RTT (above zero). Congestion was `age` ago; within three minimum
    /// RTTs of it a measurement starts over.
    #[inline]
    fn count(&mut self, now: Time, packets: f64, enough: f64, rtt_min: Span, age: Span) {
        self.packets += packets;
        let span = now.since(self.since);
        if self.packets < enough || span < rtt_min {
            return;
        }
        let b = self.packets / span.secs();
        if age <= Span(rtt_min.0.saturating_mul(3)) {
            (self.b_cur, self.b_max) = (b, b);
        } else {
            self.b_cur = 0.25 * (3.0 * self.b_cur + b);
            self.b_max = self.b_max.max(self.b_cur);
        }
        self.restart(now);
    }

    /// A packet is worth `1/ratio` of what it was.
    fn resize(&mut self, ratio: f64) {
        self.packets *= ratio;
        self.b_cur *= ratio;
        self.b_max *= ratio;
    }
}

/// H-TCP (`spec: sharma §8`).
#[derive(Debug)]
pub struct HTcp;

impl WindowScheme for HTcp {
    const INFO: Info = Info {
        name: "h-tcp",
        summary: "grows faster the longer ago congestion was, gives up what empties the queue",
        source: "spec: sharma §8",
        fallback: None,
    };
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::RTT);
    type Params = Params;
    type State = State;
    type Group = ();

    fn start(params: &Params, path: &Path) -> State {
        let variables = Variables { last_cong: path.now, beta: params.beta_min, rtt_max: Span::ZERO, b_old: None };
        State { variables: Undoable::new(variables), rtt_min: None, meter: Meter::start(path.now), alpha: 1.0 }
    }

    /// `spec: sharma §8 rules 1, 2`.
    #[inline]
    fn on_event(flow: &mut Flow<'_, Self>) {
        let (window, event, state) = (&*flow.window, flow.event, &mut *flow.state);
        let recovering = window.recovery.in_recovery();
        if let Some(rtt) = event.rtt().map(|rtt| rtt.adjusted()).filter(|rtt| *rtt > Span::ZERO) {
            state.rtt_min = Some(state.rtt_min.map_or(rtt, |min| min.min(rtt)));
            if !recovering {
                let rtt_max = &mut state.variables.current.rtt_max;
                *rtt_max = (*rtt_max).max(rtt);
            }
        }
        let EventKind::PacketsAcked(acked) = &event.kind else { return };
        if recovering {
            state.meter.restart(event.now);
        } else if let Some(rtt_min) = state.rtt_min {
            let enough = window.cwnd - state.alpha.max(1.0);
            let age = event.now.since(state.variables.current.last_cong);
            state.meter.count(event.now, acked.bytes as f64 / window.mtu, enough, rtt_min, age);
        }
    }

    /// `spec: sharma §8 rule 3`.
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        flow.state.alpha = flow.state.alpha(flow.params, flow.now);
        flow.state.alpha * acked / flow.cwnd
    }

    /// `spec: sharma §8 rule 4`, A-15, A-16.
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        let (params, now, state) = (flow.params, flow.now, &mut *flow.state);
        let variables = state.variables.save();
        let min = state.rtt_min.unwrap_or(variables.rtt_max);
        variables.beta = if params.base.start_up.halves_first(flow.window) {
            // The platform's own halving: nothing is learnt from it.
            0.5
        } else {
            let b = state.meter.b_max;
            let alike = variables.b_old.is_some_and(|old| (b - old).abs() <= params.change * old);
            variables.b_old = Some(b);
            if alike { params.backoff(min, variables.rtt_max) } else { params.beta_min }
        };
        variables.last_cong = now;
        variables.rtt_max = min + Span(((variables.rtt_max - min).0 as f64 * params.fade) as u64);
        let beta = variables.beta;
        Response::to(beta * flow.cwnd)
    }

    /// `spec: sharma §8 rule 5`.
    fn on_persistent_congestion(flow: &mut Flow<'_, Self>) -> f64 {
        let variables = &mut flow.state.variables.current;
        let Variables { rtt_max, .. } = *variables;
        *variables = Variables { last_cong: flow.now, beta: flow.params.beta_min, rtt_max, b_old: None };
        0.5 * flow.cwnd
    }

    /// Not in the document; as `RFC 9438 §4.9.2` has it. What was measured since stays.
    fn on_spurious_loss(flow: &mut Flow<'_, Self>) {
        let variables = &mut flow.state.variables;
        let rtt_max = variables.current.rtt_max.max(variables.saved.rtt_max);
        variables.undo();
        variables.current.rtt_max = rtt_max;
    }

    /// Time in which the flow could not grow does not make it grow faster.
    fn on_underutilized(flow: &mut Flow<'_, Self>, span: Span) {
        for variables in flow.state.variables.both() {
            variables.last_cong = (variables.last_cong + span).min(flow.now);
        }
    }

    fn on_mtu_update(flow: &mut Flow<'_, Self>, ratio: f64) {
        flow.state.meter.resize(ratio);
        for variables in flow.state.variables.both() {
            variables.b_old = variables.b_old.map(|b| b * ratio);
        }
    }

    fn inspect(_: &Params, state: &State, _: &Window, _: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        let variables = &state.variables.current;
        visit("alpha", state.alpha);
        visit("beta", variables.beta);
        visit("rtt_min_ms", state.rtt_min.map_or(0.0, Span::millis));
        visit("rtt_max_ms", variables.rtt_max.millis());
        visit("throughput_max_pps", state.meter.b_max);
    }
}

#[cfg(test)]
mod tests;
