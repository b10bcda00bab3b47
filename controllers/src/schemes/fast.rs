#![doc = include_str!("fast.md")]

use crate::event::RttSample;
use crate::parts::backstop::{self, Backstop};
use crate::parts::base::Base;
use crate::parts::base_delay::{self, BaseDelay, Sample};
use crate::parts::limits::Limits;
use crate::parts::recovery::{Reduction, Response};
use crate::parts::vegas::signed;
use crate::parts::window::Window;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{Event, EventKind, Info, Path, Signals, Span, Time, View, choice, parameters};

/// Smallest window, packets (`spec: sharma §7`, corner cases).
const LEAST: f64 = 2.0;

choice! {
    /// The published forms of FAST.
    pub enum Variant {
        /// T-11 once per round trip (`spec: sharma §7`, Variant Paper).
        Paper = "paper",
        /// The ns-2 module (`spec: sharma §7`, Variant Ns2).
        Ns2 = "ns2",
    }
}

parameters! {
    /// Parameters of [`Fast`]: `fast:NAME=VALUE,…`.
    pub struct Params {
        @base Base = Limits { ssthresh: LEAST, ..Limits::default() },
            paper Limits { ssthresh: LEAST, min_window: LEAST, timeout_window: LEAST, ..Limits::sharma() };
        @with bound: backstop::Settings, "What losses bound the window to.";
        @with path: base_delay::Settings, "How long the base RTT is believed.";
        /// Which published form of FAST it follows.
        variant: Variant = Variant::Paper, paper Variant::Ns2, source "spec: sharma §7, §9.1, A-10";
        /// Packets to keep queued; the document's is 4 ms of its 622 Mb/s.
        alpha: f64 = 312.0, in 0.1, 100_000.0, unit "packets", source "spec: sharma §7, A-12";
        /// Share of the way to its target a window goes at once.
        gamma: f64 = 0.5, in 0.001, 1.0, source "spec: sharma §7 T-11";
        /// Queueing delay below which a packet adds a packet (variant=ns2).
        mi_threshold: f64 = 0.75, in 0.0, 10_000.0, unit "ms", source "spec: sharma §7, A-11";
        /// How often the window is recomputed (variant=ns2).
        update_period: f64 = 10.0, in 0.1, 10_000.0, unit "ms", source "spec: sharma §7, A-10";
        /// How often the window is recomputed (variant=paper).
        round_trips: f64 = 1.0, in 0.1, 100.0, unit "average RTTs", source "spec: sharma §7";
        /// Whether α is a multiple of the window while there is no queue at all (variant=paper).
        scaled_alpha: bool = false, source "spec: sharma §7 T-11, A-11";
    }
}

impl Params {
    /// The window to go to from `cwnd` when `flight` packets met an RTT whose queueless
    /// part is the share `ratio` of it (`spec: sharma §7 T-11`, Ns2 rule 3).
    #[must_use]
    #[inline]
    pub fn target(&self, cwnd: f64, flight: f64, ratio: f64) -> f64 {
        let scaled = self.scaled_alpha && self.variant == Variant::Paper && ratio >= 1.0;
        let alpha = if scaled { self.alpha * cwnd } else { self.alpha };
        let x = (1.0 - self.gamma) * cwnd + self.gamma * (flight * ratio + alpha);
        x.min(2.0 * cwnd).max(LEAST)
    }

    /// Weight of a sample in the average RTT: of one packet, with `packets` in flight
    /// (`spec: sharma §7`, Ns2 rule 1, Variant Paper).
    #[must_use]
    #[inline]
    pub fn weight(&self, packets: f64) -> f64 {
        match self.variant {
            Variant::Paper => (3.0 / packets).min(0.25),
            Variant::Ns2 => 1.0 / (packets / 3.0).max(256.0),
        }
    }
}

/// The round-trip times of a path.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Delays {
    /// `base_rtt`: the smallest sample.
    base: Span,
    /// `avg_rtt`, seconds.
    average: f64,
}

impl Delays {
    /// The queueing delay, seconds.
    #[inline]
    fn queueing(&self) -> f64 {
        (self.average - self.base.secs()).max(0.0)
    }

    /// The share of the average that is not queueing.
    #[inline]
    fn ratio(&self) -> f64 {
        (self.base.secs() / self.average).min(1.0)
    }
}

/// `average` with `rtt` taken in, by the weight of one packet for each of `packets`.
#[inline]
fn averaged(average: f64, rtt: Span, weight: f64, packets: u32) -> f64 {
    let weight = if packets > 1 { 1.0 - libm::pow(1.0 - weight, f64::from(packets)) } else { weight };
    average + weight * (rtt.secs() - average)
}

/// What a flow keeps besides its window.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct State {
    /// `avg_rtt`, seconds.
    average: Option<f64>,
    /// When the window was last recomputed, or need not be.
    last_update: Time,
    /// `F_s`: packets in flight when the newest acknowledged packet was sent.
    flight: f64,
    backstop: Backstop,
    /// `base_rtt`: the smallest sample, until the path has become longer.
    base: BaseDelay,
}

impl State {
    /// Takes the RTT sample of `packets` in, with `in_flight` left.
    #[inline]
    fn sample(&mut self, params: &Params, event: &Event, rtt: &RttSample, packets: u32, in_flight: f64) {
        let (latest, rtt) = (rtt, rtt.adjusted());
        if rtt == Span::ZERO {
            return;
        }
        let longer = self.base.sample(&params.path, Sample::of(event, latest, signed(rtt)));
        match &mut self.average {
            Some(_) if longer => {}
            Some(average) => *average = averaged(*average, rtt, params.weight(in_flight), packets),
            unset => *unset = Some(rtt.secs()),
        }
    }

    /// `None` before the first sample.
    #[inline]
    fn delays(&self) -> Option<Delays> {
        Some(Delays { base: Span(self.base.get()?.unsigned_abs()), average: self.average? })
    }
}

/// FAST TCP (`spec: sharma §7`).
#[derive(Debug)]
pub struct Fast;

impl WindowScheme for Fast {
    const INFO: Info = Info {
        name: "fast",
        summary: "keeps a number of its own packets queued, by the average RTT",
        source: "spec: sharma §7",
        fallback: None,
    };
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::RTT);
    type Params = Params;
    type State = State;
    type Group = ();

    fn needs(params: &Params) -> Signals {
        match params.variant {
            Variant::Paper => Self::NEEDS,
            Variant::Ns2 => Self::NEEDS | Signals::WINDOW_AT_SEND,
        }
    }

    fn start(_: &Params, path: &Path) -> State {
        State { last_update: path.now, ..State::default() }
    }

    #[inline]
    fn backstop<'a>(params: &'a Params, state: &'a mut State) -> Option<(&'a backstop::Settings, &'a mut Backstop)> {
        Some((&params.bound, &mut state.backstop))
    }

    /// `spec: sharma §7` rules 1, 5.
    #[inline(always)]
    fn on_event(flow: &mut Flow<'_, Self>) {
        let (params, window, event, state) = (flow.params, &*flow.window, flow.event, &mut *flow.state);
        let mut packets = 1;
        let mut in_flight = window.cwnd;
        if let EventKind::PacketsAcked(acked) = &event.kind {
            packets = acked.packets;
            if params.variant == Variant::Ns2 {
                in_flight = acked.in_flight as f64 / window.mtu;
            }
            state.flight = acked.newest_in_flight.map_or(window.cwnd, |bytes| bytes as f64 / window.mtu);
            if window.recovery.in_recovery() {
                state.last_update = event.now;
            }
        }
        if let Some(rtt) = event.rtt() {
            state.sample(params, event, &rtt, packets, in_flight);
        }
    }

    #[inline]
    fn on_ack_in_slow_start(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        Self::on_ack(flow, acked)
    }

    /// `spec: sharma §7`, Ns2 rules 2 and 3, Variant Paper; below zero where the window
    /// has to shrink.
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        let (params, now, cwnd) = (flow.params, flow.now, flow.window.cwnd);
        let state = &mut *flow.state;
        let Some(delays) = state.delays() else { return 0.0 };
        let (period, flight) = match params.variant {
            Variant::Ns2 if 1e3 * delays.queueing() < params.mi_threshold => {
                state.last_update = now;
                return acked;
            }
            Variant::Ns2 => (1e-3 * params.update_period, state.flight),
            Variant::Paper => (params.round_trips * delays.average, cwnd),
        };
        if now < state.last_update + Span::from_secs_f64(period) {
            return 0.0;
        }
        state.last_update = now;
        let change = params.target(cwnd, flight, delays.ratio()) - cwnd;
        // The sum may be rounded to just below the smallest window.
        if cwnd + change < LEAST { change + f64::EPSILON * cwnd } else { change }
    }

    /// `spec: sharma §7` rule 5.
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        Reduction { cwnd: 0.5 * flow.cwnd, ssthresh: LEAST }.into()
    }

    /// No slow start (`spec: sharma §7` rule 7).
    fn on_persistent_congestion(_: &mut Flow<'_, Self>) -> f64 {
        0.0
    }

    #[inline]
    fn base_delay(state: &State) -> Option<&BaseDelay> {
        Some(&state.base)
    }

    fn inspect(_: &Params, state: &State, window: &Window, _: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        state.backstop.inspect(visit);
        let Some(delays) = state.delays() else { return };
        visit("base_rtt_ms", delays.base.millis());
        visit("avg_rtt_ms", 1e3 * delays.average);
        visit("queued", (1.0 - delays.ratio()) * window.cwnd);
    }
}

#[cfg(test)]
mod tests;
