#![doc = include_str!("tcp_lp.md")]

use crate::event::{PacketsAcked, RttSample};
use crate::parts::base::Base;
use crate::parts::delay_signal::DelaySignal;
use crate::parts::limits::Limits;
use crate::parts::recovery::Response;
use crate::parts::window::Window;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{Info, Signals, Span, Time, View, choice, parameters};

choice! {
    /// The published forms of TCP-LP.
    pub enum Variant {
        /// The kernel's and ns-2's (`spec: arumaithurai §5.4`).
        Linux = "linux",
        /// The published one: the range is not relearned, and inside an inference phase
        /// only packets sent in it are evidence (`spec: arumaithurai §5.4`, LP-paper).
        Paper = "paper",
    }
}

parameters! {
    /// Parameters of [`TcpLp`]: `tcp-lp:NAME=VALUE,…`.
    pub struct Params {
        @base Base, paper Limits { min_window: 1.0, ..Limits::arumaithurai() };
        /// Which published form of TCP-LP it follows.
        variant: Variant = Variant::Linux, source "spec: arumaithurai §5.4";
        /// How far into the range of delays the smoothed one has to be for congestion.
        threshold: f64 = 0.15, in 0.0, 1.0, source "spec: arumaithurai §5.4";
        /// Length of the inference phase.
        inference: f64 = 3.0, in 0.0, 100.0, unit "RTTs", source "spec: arumaithurai §5.4";
        /// Whether an indication ends slow start; the kernel goes on with it after the inference phase.
        exit_slow_start: bool = true, paper false, source "choice";
        /// Whether round-trip times do where there are no one-way delays.
        fallback: bool = false, source "spec: arumaithurai §1.7";
    }
}

/// What a flow keeps besides its window.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct State {
    signal: DelaySignal,
    /// Least round-trip time the stack knows of; zero before a sample.
    least: Span,
    latest: Span,
    /// What makes one-way delays absolute: the first of them is half a round-trip time.
    offset: Option<i64>,
    range: Range,
    /// The latest early congestion indication.
    indicated: Option<Time>,
}

impl State {
    /// The delay of an ACK, nanoseconds, with the clocks' difference taken out
    /// (`spec: arumaithurai §5.4`, corner cases). One of nothing or less is none.
    fn delay(&mut self, params: &Params, acked: &PacketsAcked) -> Option<f64> {
        let sample = self.signal.read(params.fallback, acked)?;
        if sample.anew {
            *self = State { signal: self.signal, least: self.least, latest: self.latest, ..State::default() };
        }
        if self.least == Span::ZERO {
            return None;
        }
        let first = *self.offset.get_or_insert(sample.ns);
        let delay = sample.ns.saturating_sub(first) as f64 + 0.5 * self.least.0 as f64;
        (delay > 0.0).then_some(delay)
    }

    /// Whether an inference phase is under way (`spec: arumaithurai §5.4` 2d).
    fn is_inferring(&self, params: &Params, now: Time) -> bool {
        let phase = Span::from_secs_f64(params.inference * self.latest.secs());
        self.indicated.is_some_and(|indicated| now.since(indicated) < phase)
    }

    /// Whether the delays seen up to an ACK of a packet sent at `sent_at` are an early
    /// indication of congestion (`spec: arumaithurai §5.4` 2d).
    fn indicates(&self, params: &Params, now: Time, sent_at: Time) -> bool {
        match params.variant {
            Variant::Linux => !self.range.is_low(params.threshold),
            Variant::Paper => {
                let news = !self.is_inferring(params, now) || self.indicated.is_none_or(|last| sent_at > last);
                news && self.range.is_known() && !self.range.is_low(params.threshold)
            }
        }
    }

    /// `spec: arumaithurai §5.4` 2.
    fn on_packets_acked(&mut self, params: &Params, window: &mut Window, now: Time, acked: &PacketsAcked) {
        let Some(delay) = self.delay(params, acked) else { return };
        self.range.sample(delay);
        if !self.indicates(params, now, acked.newest_sent_at) {
            return;
        }
        if params.variant == Variant::Linux {
            self.range.relearn();
        }
        let to = if self.is_inferring(params, now) { 1.0 } else { libm::floor(0.5 * window.cwnd) };
        window.lower(&params.base.limits, to);
        if params.exit_slow_start {
            window.ssthresh = window.ssthresh.min(window.cwnd.max(2.0));
        }
        window.discard_undo();
        self.indicated = Some(now);
    }
}

/// Weight of a new sample in the smoothed delay (`spec: arumaithurai §5.4`).
const WEIGHT: f64 = 0.125;

/// The smoothed delay within the range that delays have had; nanoseconds, all zero before a
/// sample.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Range {
    smoothed: f64,
    min: f64,
    max: f64,
    /// The largest delay ever, held in reserve: a single one widens nothing.
    reserve: f64,
}

impl Range {
    /// Takes a delay in (`spec: arumaithurai §5.4` 2a, 2b).
    fn sample(&mut self, delay: f64) {
        if self.smoothed <= 0.0 {
            *self = Range { smoothed: delay, min: delay, max: delay, reserve: delay };
            return;
        }
        self.min = self.min.min(delay);
        if delay > self.reserve {
            self.max = self.reserve;
            self.reserve = delay;
        } else if delay > self.max {
            self.max = delay;
        }
        self.smoothed += (delay - self.smoothed) * WEIGHT;
    }

    /// Whether the smoothed delay is within `share` of the range above its least
    /// (`spec: arumaithurai §5.4` 2d).
    fn is_low(&self, share: f64) -> bool {
        self.smoothed < self.min + share * (self.max - self.min)
    }

    /// Whether there is a range: not all delays were the same.
    fn is_known(&self) -> bool {
        self.max > self.min
    }

    /// Starts a range anew around the smoothed delay (`spec: arumaithurai §5.4` 2e).
    fn relearn(&mut self) {
        let smoothed = self.smoothed;
        *self = Range { smoothed, min: smoothed, max: 2.0 * smoothed, reserve: 2.0 * smoothed };
    }
}

/// TCP-LP (`spec: arumaithurai §5.4`).
#[derive(Debug)]
pub struct TcpLp;

impl WindowScheme for TcpLp {
    const INFO: Info = Info {
        name: "tcp-lp",
        summary: "background transport: Reno that backs off as soon as smoothed delay rises",
        source: "spec: arumaithurai §5.4",
        fallback: Some("takes round-trip times for one-way delays"),
    };
    type Params = Params;
    type State = State;
    type Group = ();

    fn needs(params: &Params) -> Signals {
        Self::NEEDS | Signals::RTT | DelaySignal::needs(params.fallback)
    }

    #[inline]
    fn on_rtt_sample(flow: &mut Flow<'_, Self>, rtt: &RttSample) {
        let state = &mut *flow.state;
        state.signal.on_rtt_sample(rtt);
        if rtt.latest > Span::ZERO {
            state.latest = rtt.latest;
            state.least = rtt.min.min(rtt.latest);
        }
    }

    #[inline(always)]
    fn on_packets_acked(flow: &mut Flow<'_, Self>, acked: &PacketsAcked) -> bool {
        flow.state.on_packets_acked(flow.params, flow.window, flow.now, acked);
        true
    }

    #[inline]
    fn on_ack_in_slow_start(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        if flow.state.is_inferring(flow.params, flow.now) { 0.0 } else { acked }
    }

    /// `spec: arumaithurai §5.4` 3.
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        if flow.state.is_inferring(flow.params, flow.now) { 0.0 } else { acked / flow.cwnd }
    }

    /// `spec: arumaithurai §5.0`: a loss leaves two packets at least, whatever delay may do.
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        Response::to((0.5 * flow.cwnd).max(2.0).min(flow.cwnd))
    }

    fn inspect(_: &Params, state: &State, _: &Window, _: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("sowd_ms", state.range.smoothed / 1e6);
        visit("owd_min_ms", state.range.min / 1e6);
        visit("owd_max_ms", state.range.max / 1e6);
        visit("indicated", f64::from(u8::from(state.indicated.is_some())));
    }
}

#[cfg(test)]
mod tests;
