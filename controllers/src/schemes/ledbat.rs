#![doc = include_str!("ledbat.md")]

use crate::event::{PacketsAcked, PacketsLost, RttSample};
use crate::param::Range;
use crate::parts::base::Base;
use crate::parts::delay_signal::DelaySignal;
use crate::parts::limits::Limits;
use crate::parts::queueing_delay::{QueueingDelay, Rollover};
use crate::parts::recovery::{Reduction, Response};
use crate::parts::splitmix::SplitMix64;
use crate::parts::window::Window;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{EventKind, Info, Path, Signals, Time, View, choice, parameters};

/// The least threshold: below it there is no slow start to speak of.
const NO_SLOW_START: f64 = 2.0;

choice! {
    /// The published forms of LEDBAT.
    pub enum Variant {
        /// As standardised (`RFC 6817`; `spec: arumaithurai §5.3`).
        Rfc6817 = "rfc6817",
        /// The draft of 2010 (`spec: arumaithurai §5.2`).
        Draft = "draft",
        /// The ns-2 module of that draft, which moves by whole packets
        /// (`spec: arumaithurai §5.2`, preset L0-ns2).
        Ns2 = "ns2",
    }
}

parameters! {
    /// Parameters of [`Ledbat`]: `ledbat:NAME=VALUE,…`.
    pub struct Params {
        @base Base = Limits { iw: 2.0, ssthresh: NO_SLOW_START, ..Limits::default() },
            paper Limits { ssthresh: NO_SLOW_START, min_window: 1.0, ..Limits::arumaithurai() };
        @limit Params::limit;
        /// Which published form of LEDBAT it follows.
        variant: Variant = Variant::Rfc6817, paper Variant::Draft, source "spec: arumaithurai §5.2, §5.3, A24";
        /// Queueing delay to keep; of the standard 100 at most.
        target: f64 = 100.0, in 1.0, 1000.0, unit "ms", source "RFC 6817 §2.4.2; spec: arumaithurai §5.2";
        /// Packets per round trip the window grows by where there is no queueing delay; of the standard 1 at most.
        gain: f64 = 1.0, in 0.01, 2.0, unit "packets", source "RFC 6817 §2.4.2; spec: arumaithurai §5.2, A23";
        /// How many one-minute minima the base delay is the least of.
        base_history: u32 = 10, in 3, 19, unit "minutes", source "RFC 6817 §2.4.2; spec: arumaithurai §5.2";
        /// How many samples the current delay is the least of; 0 is the variant's: 4, of the draft 1.
        current_filter: u32 = 0, in 0, 8, unit "samples", source "RFC 6817 §2.4.2; spec: arumaithurai §5.2";
        /// How far the window may exceed what is in flight, times the tether.
        allowed_increase: f64 = 1.0, in 1.0, 3.0, unit "packets", source "RFC 6817 §2.4.2; spec: arumaithurai §5.2";
        /// Multiple of what is in flight that the window may be; 0 is the variant's: 1, of the draft 1.5, of ns-2's none.
        tether: f64 = 0.0, in 0.0, 100.0, source "RFC 6817 §2.4.2; spec: arumaithurai §5.2, A24";
        /// Most of the target that is added or taken off at random on each ACK.
        randomness: f64 = 0.0, in 0.0, 0.1, source "spec: arumaithurai §5.2";
        /// Whether round-trip times do where there are no one-way delays.
        fallback: bool = false, source "spec: arumaithurai §1.7";
    }
}

impl Params {
    /// What the standard allows less of than the drafts before it (`RFC 6817 §2.5`).
    fn limit(&self) -> Option<(&'static str, Range)> {
        match self.variant {
            Variant::Rfc6817 if self.gain > 1.0 => Some(("gain", Range::Numbers(0.01, 1.0))),
            Variant::Rfc6817 if self.target > 100.0 => Some(("target", Range::Numbers(1.0, 100.0))),
            _ => None,
        }
    }

    fn samples(&self) -> u32 {
        match (self.current_filter, self.variant) {
            (0, Variant::Draft) => 1,
            (0, _) => 4,
            (samples, _) => samples,
        }
    }

    fn rollover(&self) -> Rollover {
        if self.variant == Variant::Ns2 { Rollover::Elapsed } else { Rollover::Clock }
    }

    /// The largest window with `flight` packets in flight (`spec: arumaithurai §5.2` 2e,
    /// `§5.3` 1).
    fn max_allowed_cwnd(&self, flight: f64) -> f64 {
        let tether = match (self.tether > 0.0, self.variant) {
            (true, _) => self.tether,
            (false, Variant::Rfc6817) => 1.0,
            (false, Variant::Draft) => 1.5,
            (false, Variant::Ns2) => return f64::INFINITY,
        };
        self.allowed_increase + tether * flight
    }
}

/// `flightsize`: what is in flight and what was lost and is to be sent again
/// (`RFC 6817 §2.4.2`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct FlightSize {
    /// Bytes in flight after the latest ACK or loss.
    in_flight: u64,
    /// Bytes lost that were not sent again by then.
    to_resend: u64,
}

impl FlightSize {
    fn on_packets_lost(&mut self, lost: &PacketsLost) {
        self.resent(lost.in_flight.saturating_add(lost.bytes));
        self.in_flight = lost.in_flight;
        self.to_resend = self.to_resend.saturating_add(lost.bytes);
    }

    /// The flight size before the ACK, bytes. What is sent counts as lost data as long as there
    /// is any; a sender that has nothing to send will not send it again.
    #[inline]
    fn on_packets_acked(&mut self, acked: &PacketsAcked) -> u64 {
        if self.to_resend > 0 {
            self.resent(acked.in_flight_before);
        }
        self.in_flight = acked.in_flight;
        if acked.app_limited {
            self.to_resend = 0;
        }
        acked.in_flight_before.saturating_add(self.to_resend)
    }

    /// So much is in flight before an event.
    fn resent(&mut self, in_flight_before: u64) {
        self.to_resend = self.to_resend.saturating_sub(in_flight_before.saturating_sub(self.in_flight));
    }
}

/// What a flow keeps besides its window.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct State {
    signal: DelaySignal,
    delay: QueueingDelay,
    flight: FlightSize,
    /// `off_target`: how far the queueing delay is below the target, in targets; `None` before a
    /// sample.
    off_target: Option<f64>,
    /// `max_allowed_cwnd`: the largest window the latest ACK allows, packets.
    max_allowed_cwnd: f64,
    /// `cnt` of the ns-2 module, packets.
    cnt: f64,
    random: SplitMix64,
}

impl State {
    /// `spec: arumaithurai §5.2` 2a–2c.
    fn measure(&mut self, params: &Params, now: Time, acked: &PacketsAcked) {
        if let Some(sample) = self.signal.read(params.fallback, acked) {
            if sample.anew {
                self.delay = QueueingDelay::default();
            }
            self.delay.sample(params.rollover(), params.base_history, now, sample.ns);
        }
        if params.variant == Variant::Rfc6817 {
            self.delay.forget_before(params.samples(), acked.newest_sent_at);
        }
        self.off_target = self.delay.get(params.samples()).map(|queued| {
            let off_target = 1.0 - queued as f64 / (params.target * 1e6);
            if params.randomness <= 0.0 {
                return off_target;
            }
            off_target + params.randomness * (2.0 * self.random.uniform() - 1.0)
        });
    }

    /// The ns-2 module shrinks by a packet when its count falls below zero, and counts
    /// down again from just below the next growth (`spec: arumaithurai §5.2`, L0-ns2).
    fn count_down(&mut self, params: &Params, window: &mut Window, credit: f64) {
        self.cnt += credit;
        if self.cnt < 0.0 {
            window.lower(&params.base.limits, window.cwnd - 1.0);
            self.cnt = (window.cwnd - 1.0).max(0.0);
        }
    }

    /// `spec: arumaithurai §5.2`, L0-ns2.
    fn count_up(&mut self, cwnd: f64, credit: f64) -> f64 {
        self.cnt += credit;
        if self.cnt < cwnd {
            return 0.0;
        }
        self.cnt = 0.0;
        1.0
    }
}

/// LEDBAT (`RFC 6817`; `spec: arumaithurai §5.2, §5.3`).
#[derive(Debug)]
pub struct Ledbat;

impl WindowScheme for Ledbat {
    const INFO: Info = Info {
        name: "ledbat",
        summary: "background transport: fills the path but keeps its own queueing delay at a target",
        source: "RFC 6817; spec: arumaithurai §5.2, §5.3",
        fallback: Some("takes round-trip times for one-way delays"),
    };
    type Params = Params;
    type State = State;
    type Group = ();

    fn needs(params: &Params) -> Signals {
        Self::NEEDS | DelaySignal::needs(params.fallback)
    }

    fn start(_: &Params, path: &Path) -> State {
        State { random: SplitMix64::new(path.seed), ..State::default() }
    }

    /// `spec: arumaithurai §5.2` 3.
    fn on_event(flow: &mut Flow<'_, Self>) {
        match &flow.event.kind {
            EventKind::IdleRestart(idle) => {
                flow.state.flight = FlightSize::default();
                if idle.is_long() {
                    flow.state.delay.pause();
                    flow.state.off_target = None;
                }
            }
            EventKind::PacketsLost(lost) | EventKind::PersistentCongestion(lost) => {
                flow.state.flight.on_packets_lost(lost);
            }
            _ => {}
        }
    }

    #[inline]
    fn on_rtt_sample(flow: &mut Flow<'_, Self>, rtt: &RttSample) {
        flow.state.signal.on_rtt_sample(rtt);
    }

    /// The half of the controller that shrinks, in recovery too, and the tether
    /// (`spec: arumaithurai §5.2` 2d, 2e; `§5.3` 1).
    #[inline(always)]
    fn on_packets_acked(flow: &mut Flow<'_, Self>, acked: &PacketsAcked) -> bool {
        let (params, window, state) = (flow.params, &mut *flow.window, &mut *flow.state);
        state.measure(params, flow.now, acked);
        let flight = match params.variant {
            Variant::Rfc6817 => state.flight.on_packets_acked(acked),
            Variant::Draft | Variant::Ns2 => acked.in_flight_before,
        };
        state.max_allowed_cwnd = params.max_allowed_cwnd(flight as f64 / window.mtu);
        let before = window.cwnd;
        if let Some(off_target) = state.off_target.filter(|off_target| *off_target <= 0.0) {
            let credit = off_target * (acked.bytes as f64 / window.mtu);
            if params.variant == Variant::Ns2 {
                state.count_down(params, window, credit);
            } else {
                window.lower(&params.base.limits, window.cwnd + params.gain * credit / window.cwnd);
            }
            if window.in_slow_start() {
                window.ssthresh = window.cwnd.max(NO_SLOW_START);
            }
        }
        window.lower(&params.base.limits, state.max_allowed_cwnd);
        if window.cwnd < before {
            window.discard_undo();
        }
        true
    }

    #[inline]
    fn on_ack_in_slow_start(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        if flow.ssthresh <= NO_SLOW_START {
            return Self::on_ack(flow, acked);
        }
        let room = flow.state.max_allowed_cwnd - flow.cwnd;
        if flow.state.off_target.is_some() { acked.min(room).max(0.0) } else { 0.0 }
    }

    /// The growing half of the rule (`RFC 6817 §2.4.2`).
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        let (params, cwnd, state) = (flow.params, flow.window.cwnd, &mut *flow.state);
        let Some(off_target) = state.off_target.filter(|off_target| *off_target > 0.0) else { return 0.0 };
        let credit = off_target.min(1.0) * acked;
        let added = match params.variant {
            Variant::Ns2 => state.count_up(cwnd, credit),
            Variant::Rfc6817 | Variant::Draft => params.gain * off_target * acked / cwnd,
        };
        added.min(state.max_allowed_cwnd - cwnd).max(0.0)
    }

    /// `spec: arumaithurai §5.3` 2: `min(cwnd, max(cwnd/2, MIN_CWND))`, which the window's
    /// floor sees to.
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        Reduction { cwnd: (0.5 * flow.cwnd).max(1.0), ssthresh: NO_SLOW_START }.into()
    }

    /// The standard knows no slow start after a timeout (`spec: arumaithurai §5.3` 3); the
    /// draft leaves it to the base class.
    fn on_persistent_congestion(flow: &mut Flow<'_, Self>) -> f64 {
        flow.state.cnt = 0.0;
        if flow.params.variant == Variant::Rfc6817 { 0.0 } else { 0.5 * flow.cwnd }
    }

    /// No slow start stays none, whatever the threshold is in bytes.
    fn on_mtu_update(flow: &mut Flow<'_, Self>, ratio: f64) {
        if flow.ssthresh <= (NO_SLOW_START * ratio).max(NO_SLOW_START) {
            flow.window.ssthresh = NO_SLOW_START;
        }
        flow.state.cnt *= ratio;
    }

    fn inspect(params: &Params, state: &State, _: &Window, _: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        if let Some(queued) = state.delay.get(params.samples()) {
            visit("queueing_delay_ms", queued as f64 / 1e6);
        }
        if let Some(base) = state.delay.base() {
            visit("base_delay_ms", base as f64 / 1e6);
        }
    }
}

#[cfg(test)]
mod tests;
