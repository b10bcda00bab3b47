#![doc = include_str!("cubic_2005.md")]

use crate::event::RttSample;
use crate::parts::base::Base;
use crate::parts::cubic_curve::{CurrentEpoch, alpha_cubic, next_w_max};
use crate::parts::limits::Limits;
use crate::parts::recovery::{Response, Undoable};
use crate::parts::window::Window;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{Info, Path, Signals, Span, Time, View, choice, parameters};

choice! {
    /// When growth is limited to `smax` packets per second.
    pub enum Limited {
        /// Always (the authors' paper).
        Always = "always",
        /// From the first loss on (`spec: sharma A-7`).
        AfterLoss = "after-loss",
    }
}

parameters! {
    /// Parameters of [`Cubic2005`]: `cubic-2005:NAME=VALUE,…`.
    pub struct Params {
        @base Base, paper Limits::sharma();
        /// Steepness C of the cubic.
        c: f64 = 0.4, in 0.001, 1000.0, unit "packets/s³", source "spec: sharma §6";
        /// Multiplicative decrease factor: the window after congestion as a fraction of the one before.
        beta: f64 = 0.8, in 0.1, 0.99, source "spec: sharma §6 T-10";
        /// Most the window grows per second (Smax).
        smax: f64 = 160.0, in 1.0, 1_000_000.0, unit "packets/s", source "spec: sharma §6, A-6, A-7";
        /// Where the growth limit applies.
        limited: Limited = Limited::Always, paper Limited::AfterLoss, source "spec: sharma A-7, §9.1";
        /// Whether a flow whose maximum shrinks gives up more.
        fast_convergence: bool = true, source "spec: sharma §6";
        /// Whether the window never falls behind that of an AIMD with the same decrease.
        friendly: bool = true, source "spec: sharma §6";
        /// Whether a timeout forgets the maximum.
        forget: bool = false, paper true, source "spec: sharma §6 rule 3, A-37";
        /// Share of the largest queueing delay below which the limit is lifted beyond the plateau; 0 is off.
        low_utilization: f64 = 0.0, in 0.0, 1.0, source "spec: sharma §6, A-9";
        /// How often utilisation is judged.
        utilization_period: f64 = 2.0, in 0.001, 1000.0, unit "s", source "spec: sharma §6";
    }
}

/// Variables that a congestion response changes.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Variables {
    /// `epoch`, `K`, `W_tcp` of the congestion avoidance stage under way.
    epoch: CurrentEpoch,
    /// `last_max` (W_max), packets; 0 while there is none.
    last_max: f64,
    /// A loss happened since the start or since a timeout that forgets.
    loss_ever: bool,
}

/// Whether a path looks little used: the queueing delay of a period, on average, is a small part of the largest seen (`spec: sharma §6`,
/// low-utilisation feature; A-9).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Utilization {
    period_start: Time,
    sum: f64,
    samples: u32,
    max: Span,
    low: bool,
}

impl Utilization {
    /// Nothing seen yet at `now`; not low.
    fn start(now: Time) -> Utilization {
        Utilization { period_start: now, ..Utilization::default() }
    }

    /// Whether utilisation was low in the latest whole period.
    fn is_low(&self) -> bool {
        self.low
    }

    /// An RTT sample at `now`; `min` is the smallest so far, this one included. At the
    /// end of a `period`, utilisation is low if the average is less than `threshold` of
    /// the way from the smallest RTT to the largest.
    fn sample(&mut self, now: Time, rtt: Span, min: Span, period: Span, threshold: f64) {
        self.max = self.max.max(rtt);
        self.sum += rtt.secs();
        self.samples = self.samples.saturating_add(1);
        if now.since(self.period_start) >= period {
            let average = self.sum / f64::from(self.samples);
            self.low = average - min.secs() < threshold * (self.max - min).secs();
            self.period_start = now;
            self.sum = 0.0;
            self.samples = 0;
        }
    }
}

/// What a flow keeps besides its window (`spec: sharma §6`).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct State {
    /// With their values before the latest response.
    variables: Undoable<Variables>,
    /// Smallest RTT sample; `None` before the first.
    d_min: Option<Span>,
    utilization: Utilization,
}

/// CUBIC of 2005 (`spec: sharma §6`).
#[derive(Debug)]
pub struct Cubic2005;

impl WindowScheme for Cubic2005 {
    const INFO: Info = Info {
        name: "cubic-2005",
        summary: "the first CUBIC: a cubic of the time since the last loss, with a limit on its growth",
        source: "spec: sharma §6",
        fallback: None,
    };
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::RTT);
    type Params = Params;
    type State = State;
    type Group = ();

    fn start(_: &Params, path: &Path) -> State {
        State { utilization: Utilization::start(path.now), ..State::default() }
    }

    #[inline]
    fn on_rtt_sample(flow: &mut Flow<'_, Self>, rtt: &RttSample) {
        if rtt.latest == Span::ZERO {
            return;
        }
        let (params, now, state) = (flow.params, flow.now, &mut *flow.state);
        let d_min = state.d_min.map_or(rtt.latest, |d| d.min(rtt.latest));
        state.d_min = Some(d_min);
        if params.low_utilization > 0.0 {
            let period = Span::from_secs_f64(params.utilization_period);
            state.utilization.sample(now, rtt.latest, d_min, period, params.low_utilization);
        }
    }

    /// `spec: sharma §6 rule 1`, with the window's worth of increments, `inc·cwnd`, in
    /// place of the single one. One ACK is worth a window at most.
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        let (params, now, cwnd) = (flow.params, flow.now, flow.window.cwnd);
        let State { variables: Undoable { current: variables, .. }, d_min, utilization } = &mut *flow.state;
        let windows = (acked / cwnd).min(1.0);
        if variables.epoch.get().is_none() {
            variables.epoch.start(params.c, now, cwnd, variables.last_max);
        }
        let limited = params.limited == Limited::Always || variables.loss_ever;
        let Some(epoch) = variables.epoch.get_mut() else { return 0.0 };
        let ahead = d_min.map_or(0.0, Span::secs);
        let t = epoch.elapsed(now) + ahead;
        let target = epoch.w_cubic(params.c, t);
        let mut gap = if target > cwnd { target - cwnd } else { 0.01 };
        if limited && ahead > 0.0 && !(utilization.is_low() && t > epoch.k) {
            gap = gap.min(params.smax * ahead);
        }
        if params.friendly {
            epoch.grow_w_est(alpha_cubic(params.beta), windows);
            gap = gap.max(epoch.w_est - cwnd);
        }
        gap.min(cwnd) * windows
    }

    /// `spec: sharma §6 rule 2, T-10`.
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        let (params, cwnd) = (flow.params, flow.cwnd);
        let variables = flow.state.variables.save();
        variables.epoch = CurrentEpoch::Ended;
        variables.last_max = next_w_max(cwnd, variables.last_max, params.beta, params.fast_convergence);
        variables.loss_ever = true;
        Response::to(params.beta * cwnd)
    }

    /// `last_max` is the window whose reduction this is.
    fn on_start_up_reduced(flow: &mut Flow<'_, Self>, full: f64) {
        flow.state.variables.current.last_max = full;
    }

    /// `spec: sharma §6 rule 3`, `B-RTO`.
    fn on_persistent_congestion(flow: &mut Flow<'_, Self>) -> f64 {
        let (params, cwnd, answered) = (flow.params, flow.cwnd, flow.answered());
        let variables = &mut flow.state.variables.current;
        variables.epoch = CurrentEpoch::EndedAtPlateau;
        variables.last_max = match (params.forget, answered) {
            (true, _) => 0.0,
            (false, true) => variables.last_max,
            (false, false) => cwnd,
        };
        variables.loss_ever &= !params.forget;
        0.5 * cwnd
    }

    /// Not in the document; as `RFC 9438 §4.9.2` has it.
    fn on_spurious_loss(flow: &mut Flow<'_, Self>) {
        flow.state.variables.undo();
    }

    fn on_underutilized(flow: &mut Flow<'_, Self>, span: Span) {
        for variables in flow.state.variables.both() {
            variables.epoch.pause(flow.now, span);
        }
    }

    fn on_idle_restart(flow: &mut Flow<'_, Self>) {
        flow.state.variables.current.epoch.end();
    }

    fn on_mtu_update(flow: &mut Flow<'_, Self>, ratio: f64) {
        let variables = &mut flow.state.variables.current;
        variables.last_max *= ratio;
        variables.epoch.end();
    }

    fn inspect(_: &Params, state: &State, _: &Window, _: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        let variables = &state.variables.current;
        visit("w_max", variables.last_max);
        visit("d_min_ms", state.d_min.map_or(0.0, Span::millis));
        visit("low_utilization", f64::from(u8::from(state.utilization.is_low())));
        if let Some(epoch) = variables.epoch.get() {
            epoch.inspect(visit);
        }
    }
}

#[cfg(test)]
mod tests;
