#![doc = include_str!("ledbat_plus_plus.md")]

use crate::event::{PacketsAcked, RttSample};
use crate::parts::base::Base;
use crate::parts::base_delay::{self, BaseDelay, Sample};
use crate::parts::limits::Limits;
use crate::parts::queueing_delay::{QueueingDelay, Rollover};
use crate::parts::recovery::{Reduction, Response};
use crate::parts::vegas::signed;
use crate::parts::window::Window;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{EventKind, Info, Path, Signals, Span, Time, View, parameters};

/// Window of a slowdown, packets (`draft-irtf-iccrg-ledbat-plus-plus-01 §4.4`).
const SLOW: f64 = 2.0;

parameters! {
    /// Parameters of [`LedbatPlusPlus`]: `ledbat++:NAME=VALUE,…`.
    pub struct Params {
        @base Base = Limits { iw: SLOW, ..Limits::default() }, paper Limits { iw: SLOW, ..Limits::default() };
        @with path: base_delay::Settings, "How long the base delay is believed.";
        /// Queueing delay to keep.
        target: f64 = 60.0, in 1.0, 1000.0, unit "ms", source "draft-irtf-iccrg-ledbat-plus-plus-01 §4.5";
        /// Most that the gain is divided by on paths shorter than the target.
        most_divisor: f64 = 16.0, in 1.0, 1000.0, source "draft-irtf-iccrg-ledbat-plus-plus-01 §4.2";
        /// Fraction of the window given up per round trip for each target of delay beyond the first.
        decrease: f64 = 1.0, in 0.01, 10.0, source "draft-irtf-iccrg-ledbat-plus-plus-01 §4.3";
        /// Most of the window given up in a round trip.
        most_decrease: f64 = 0.5, in 0.01, 1.0, source "draft-irtf-iccrg-ledbat-plus-plus-01 §4.3";
        /// Share of the target at which the first slow start ends.
        exit: f64 = 0.75, in 0.01, 10.0, source "draft-irtf-iccrg-ledbat-plus-plus-01 §4.1";
        /// How long after the first slow start the first slowdown begins, and how long the window stays down in any.
        slowdown: f64 = 2.0, in 0.0, 100.0, unit "smoothed RTTs", source "draft-irtf-iccrg-ledbat-plus-plus-01 §4.4";
        /// How long the flow is left alone after a slowdown, against how long that took; inf is for ever.
        interval: f64 = 9.0, in 1.0, f64::INFINITY, source "draft-irtf-iccrg-ledbat-plus-plus-01 §4.4";
        /// How many one-minute minima the base delay is the least of.
        base_history: u32 = 10, in 3, 19, unit "minutes", source "RFC 6817 §2.4.2";
        /// How many samples the current delay is the least of.
        current_filter: u32 = 4, in 1, 8, unit "samples", source "draft-irtf-iccrg-ledbat-plus-plus-01 §4.5";
    }
}

impl Params {
    fn target(&self) -> f64 {
        self.target * 1e6
    }

    /// `GAIN`: packets per round trip, for a base delay of so many nanoseconds
    /// (`draft-irtf-iccrg-ledbat-plus-plus-01 §4.2`).
    #[must_use]
    pub fn gain(&self, base: f64) -> f64 {
        let divisor = libm::ceil(2.0 * self.target() / base.max(1.0));
        1.0 / divisor.max(1.0).min(self.most_divisor)
    }

    /// What a window of `cwnd` packets changes by in a round trip whose queueing delay is
    /// `queued` nanoseconds (`draft-irtf-iccrg-ledbat-plus-plus-01 §4.3`).
    #[must_use]
    pub fn change(&self, gain: f64, cwnd: f64, queued: f64) -> f64 {
        let excess = (queued / self.target() - 1.0).max(0.0);
        (gain - self.decrease * cwnd * excess).max(-self.most_decrease * cwnd)
    }

    fn span(&self, rtt: Span, times: f64) -> Span {
        Span((times * rtt.0 as f64) as u64)
    }
}

/// The cycle of slowdowns: now and then the window goes down to two packets for two round
/// trips, so that the queue empties and every flow sees the path's true delay
/// (`draft-irtf-iccrg-ledbat-plus-plus-01 §4.4`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Cycle {
    /// Before the end of the initial slow start.
    #[default]
    InitialSlowStart,
    /// Between slowdowns; none is due before then.
    Steady(Time),
    /// In a slowdown since the one time, at the smallest window until the other.
    Slowdown(Time, Time),
    /// Back up to where the window was, in a slowdown that began then.
    RampUp(Time),
}

impl Cycle {
    /// Whether congestion avoidance's rules apply.
    #[must_use]
    #[inline]
    pub fn is_steady(&self) -> bool {
        matches!(self, Cycle::Steady(_))
    }

    /// Whether the window is held down.
    #[must_use]
    #[inline]
    pub fn is_slowdown(&self) -> bool {
        matches!(self, Cycle::Slowdown(..))
    }

    /// Goes on to the next part where that is due, at an ACK. The window is moved down
    /// here, and comes up again by slow start.
    fn on_packets_acked(&mut self, params: &Params, window: &mut Window, now: Time, smoothed: Span) {
        let pause = params.span(smoothed, params.slowdown);
        *self = match *self {
            Cycle::InitialSlowStart if !window.in_slow_start() => Cycle::Steady(now + pause),
            Cycle::Steady(next) if now >= next => {
                window.ssthresh = window.cwnd.max(SLOW);
                window.lower(&params.base.limits, SLOW);
                window.discard_undo();
                Cycle::Slowdown(now, now + pause)
            }
            Cycle::Slowdown(since, until) if now >= until => Cycle::RampUp(since),
            Cycle::RampUp(since) if !window.in_slow_start() => {
                Cycle::Steady(now + params.span(now.since(since), params.interval))
            }
            cycle => cycle,
        };
    }

    /// Time in which the window was not used, `span` before `now`, is no part of a slowdown's
    /// length.
    fn pause(&mut self, now: Time, span: Span) {
        if let Cycle::Slowdown(since, _) | Cycle::RampUp(since) = self {
            *since = (*since + span).min(now);
        }
    }
}

/// What a flow keeps besides its window.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct State {
    delay: QueueingDelay,
    /// Whether the path has become longer.
    path: BaseDelay,
    /// RTT sample of the ACK that is being taken in.
    sample: Option<Span>,
    smoothed: Span,
    /// `GAIN` in force, 1/16 to 1 (§4.2); it changes with the base delay only.
    gain: f64,
    /// Packets per round trip the window changes by.
    change: f64,
    cycle: Cycle,
}

impl State {
    /// Takes the sample of an ACK in; gives the queueing delay, nanoseconds.
    fn measure(&mut self, params: &Params, window: &mut Window, now: Time, newest_sent_at: Time) -> Option<f64> {
        if let Some(rtt) = self.sample.take().filter(|rtt| *rtt > Span::ZERO) {
            let measured = Sample { now, sent_at: newest_sent_at, ns: signed(rtt), rtt };
            if self.path.sample(&params.path, measured) {
                // What it carries has to be found anew, as at the start.
                (self.delay, self.cycle) = (QueueingDelay::default(), Cycle::InitialSlowStart);
                window.ssthresh = f64::INFINITY;
                window.discard_undo();
            }
            if self.delay.sample(Rollover::Clock, params.base_history, now, signed(rtt)) {
                self.gain = self.delay.base().map_or(self.gain, |base| params.gain(base as f64));
            }
        }
        self.delay.forget_before(params.current_filter, newest_sent_at);
        self.delay.get(params.current_filter).map(|queued| queued as f64)
    }

    /// The cycle of slowdowns (`§4.4`), the end of the initial slow start (`§4.1`) and the
    /// half of the controller that shrinks (`§4.3`).
    fn on_packets_acked(&mut self, params: &Params, window: &mut Window, now: Time, acked: &PacketsAcked) {
        let queued = self.measure(params, window, now, acked.newest_sent_at);
        if self.cycle == Cycle::InitialSlowStart
            && window.in_slow_start()
            && queued.is_some_and(|queued| queued > params.exit * params.target())
        {
            window.ssthresh = window.cwnd.max(2.0);
        }
        self.cycle.on_packets_acked(params, window, now, self.smoothed);
        self.change = match queued {
            Some(queued) if self.cycle.is_steady() => params.change(self.gain, window.cwnd, queued),
            _ => 0.0,
        };
        if self.change < 0.0 {
            let windows = acked.bytes as f64 / window.mtu / window.cwnd;
            window.lower(&params.base.limits, window.cwnd + self.change * windows.min(1.0));
            window.ssthresh = window.ssthresh.min(window.cwnd).max(SLOW);
            window.discard_undo();
        }
    }
}

/// LEDBAT++ (`draft-irtf-iccrg-ledbat-plus-plus-01`).
#[derive(Debug)]
pub struct LedbatPlusPlus;

impl WindowScheme for LedbatPlusPlus {
    const INFO: Info = Info {
        name: "ledbat++",
        summary: "LEDBAT on round-trip times that slows down now and then to see the path empty",
        source: "draft-irtf-iccrg-ledbat-plus-plus-01; RFC 6817",
        fallback: None,
    };
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::RTT);
    type Params = Params;
    type State = State;
    type Group = ();

    fn start(params: &Params, _: &Path) -> State {
        State { gain: 1.0 / params.most_divisor, ..State::default() }
    }

    #[inline]
    fn on_event(flow: &mut Flow<'_, Self>) {
        if matches!(flow.event.kind, EventKind::IdleRestart(idle) if idle.is_long()) {
            flow.state.delay.pause();
        }
    }

    #[inline(always)]
    fn on_rtt_sample(flow: &mut Flow<'_, Self>, rtt: &RttSample) {
        flow.state.sample = Some(rtt.adjusted());
        flow.state.smoothed = rtt.smoothed;
    }

    #[inline(always)]
    fn on_packets_acked(flow: &mut Flow<'_, Self>, acked: &PacketsAcked) -> bool {
        flow.state.on_packets_acked(flow.params, flow.window, flow.now, acked);
        true
    }

    /// `§4.1`: by the gain, to the threshold and no further.
    #[inline]
    fn on_ack_in_slow_start(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        if flow.state.cycle.is_slowdown() { 0.0 } else { (flow.state.gain * acked).min(flow.ssthresh - flow.cwnd) }
    }

    /// `§4.2`.
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        flow.state.change.max(0.0) * (acked / flow.cwnd).min(1.0)
    }

    /// Reno's response, also to the window a slowdown will return to: what is lost while
    /// the window is down was sent before.
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        if flow.state.cycle.is_slowdown() {
            Reduction { cwnd: flow.cwnd, ssthresh: 0.5 * flow.ssthresh }.into()
        } else {
            Response::to(0.5 * flow.cwnd)
        }
    }

    /// In a slowdown the window is what it will return to.
    fn on_persistent_congestion(flow: &mut Flow<'_, Self>) -> f64 {
        let window = if flow.state.cycle.is_slowdown() { flow.ssthresh } else { flow.cwnd };
        flow.state.cycle = Cycle::InitialSlowStart;
        0.5 * window
    }

    fn on_underutilized(flow: &mut Flow<'_, Self>, span: Span) {
        flow.state.cycle.pause(flow.now, span);
    }

    fn on_idle_restart(flow: &mut Flow<'_, Self>) {
        flow.state.cycle = Cycle::InitialSlowStart;
    }

    #[inline]
    fn base_delay(state: &State) -> Option<&BaseDelay> {
        Some(&state.path)
    }

    fn inspect(params: &Params, state: &State, _: &Window, _: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        if let Some(queued) = state.delay.get(params.current_filter) {
            visit("queueing_delay_ms", queued as f64 / 1e6);
        }
        if let Some(base) = state.delay.base() {
            visit("base_rtt_ms", base as f64 / 1e6);
        }
        visit("gain", state.gain);
        visit("slowdown", f64::from(u8::from(matches!(state.cycle, Cycle::Slowdown(..) | Cycle::RampUp(_)))));
        if let Cycle::Steady(next) = state.cycle {
            visit("next_slowdown_s", next.0 as f64 / 1e9);
        }
    }
}

#[cfg(test)]
mod tests;
