#![doc = include_str!("prague.md")]

use crate::event::{EcnCe, PacketsLost, RttSample};
use crate::parts::base::Base;
use crate::parts::marks::MarkedFraction;
use crate::parts::recovery::{RecoveryPeriod, Response};
use crate::parts::window::Window;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{Decision, Ecn, EventKind, Info, Path, Signals, Span, Time, View, parameters};

parameters! {
    /// Parameters of [`Prague`]: `prague:NAME=VALUE,…`.
    pub struct Params {
        @base Base, paper Base::default();
        /// Weight of the latest round trip in the fraction of marked packets.
        gain: f64 = 0.0625, in 0.001, 1.0, source "draft-briscoe-iccrg-prague-congestion-control §2.3.2";
        /// Fraction of the window given up on a loss.
        loss: f64 = 0.5, in 0.01, 0.99, source "RFC 9331 §4.3; draft-briscoe-iccrg-prague-congestion-control §2.4.1";
        /// Round trip time below which growth and responses are those of a flow with this one; 0 is off.
        reference_rtt: f64 = 25.0, in 0.0, 1000.0, unit "ms", source "RFC 9331 §4.3; draft-briscoe-iccrg-prague-congestion-control §2.4.4";
        /// Round trips after slow start before that holds, so that short transfers are not slowed down.
        transition: u32 = 500, in 0, 1_000_000, unit "round trips", source "draft-briscoe-iccrg-prague-congestion-control §2.4.4";
        /// Pacing rate over window per smoothed RTT.
        pacing: f64 = 1.0, in 0.5, 4.0, source "draft-briscoe-iccrg-prague-congestion-control §2.5.1";
        /// As `pacing`, while the window is below half the threshold.
        start_pacing: f64 = 2.0, in 1.0, 4.0, source "draft-briscoe-iccrg-prague-congestion-control §2.5.1";
        /// Whether to answer marks as Reno does where the queue behaves like one with classic ECN.
        classic: bool = true, paper false, source "RFC 9331 §4.3, §A.1.5";
        /// Whether to do without marks.
        fallback: bool = false, source "RFC 9331 §4.3";
    }
}

/// What a flow keeps besides its window.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct State {
    /// `alpha`, and what it is an average of.
    fraction: MarkedFraction,
    /// The latest response to a mark.
    mark_response: RecoveryPeriod,
    /// The window that response found, packets.
    cwnd_before_mark: f64,
    /// Marks of the frame whose ACK is still to come.
    marked: u32,
    /// The share of the frame's packets that was not marked.
    unmarked_share: f64,
    /// Round trips since slow start ended.
    rounds: u32,
    /// Smoothed RTT; zero before the first sample.
    srtt: Span,
    classic: Classic,
}

impl State {
    /// The reference RTT where it is in force and longer than the path's.
    #[inline]
    fn reference_rtt(&self, params: &Params) -> Option<Span> {
        let reference = Span::from_secs_f64(1e-3 * params.reference_rtt);
        (self.rounds >= params.transition && self.srtt > Span::ZERO && self.srtt < reference).then_some(reference)
    }

    /// Packets added per round trip: such that the rate grows by a packet per virtual RTT
    /// each virtual RTT.
    #[inline]
    fn increase(&self, params: &Params) -> f64 {
        self.reference_rtt(params).map_or(1.0, |reference| {
            let ratio = self.srtt.0 as f64 / reference.0 as f64;
            ratio * ratio
        })
    }
}

/// Queueing delay above which marks look classic, ns.
const DEPTH: f64 = 2e6;
/// RTT variation above which they do, ns.
const VARIATION: f64 = 750e3;
/// How much each of the two weighs.
const WEIGHTS: (f64, f64) = (2.0, 0.5);
/// How far the score may run away from the range that decides.
const STICKY: f64 = 16.0;

/// Whether marks come from a queue with classic ECN (`RFC 3168`), which marks late and
/// rarely, or from one for L4S, which marks early and often.
///
/// A score that rises while RTTs look like those behind a classic queue: deep and varying
/// (B. Briscoe and A. Ahmed, *TCP Prague fall-back on detection of a classic ECN AQM*,
/// 2019). Below 0 it is surely L4S, above 1 surely classic.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Classic {
    score: f64,
    /// Queueing delay by the smoothed RTT.
    depth: Span,
    /// Variation of the RTT.
    variation: Span,
}

impl Classic {
    fn on_rtt_sample(&mut self, rtt: &RttSample) {
        self.depth = rtt.smoothed - rtt.min;
        self.variation = rtt.variation;
    }

    /// A round trip with marks is over.
    #[cold]
    fn end_round(&mut self) {
        let score = |weight: f64, span: Span, threshold: f64| weight * libm::log2((span.0 as f64).max(1.0) / threshold);
        self.score += score(WEIGHTS.0, self.depth, DEPTH) + score(WEIGHTS.1, self.variation, VARIATION);
        self.score = self.score.clamp(-STICKY, STICKY);
    }

    /// How classic the queue is, from 0 to 1.
    #[inline]
    fn degree(&self) -> f64 {
        self.score.clamp(0.0, 1.0)
    }
}

/// Prague (`draft-briscoe-iccrg-prague-congestion-control`; `RFC 9331 §4`).
#[derive(Debug)]
pub struct Prague;

impl Prague {
    /// Whether a mark on a packet sent at `sent_at` deserves an answer: one per round
    /// trip, and per virtual RTT.
    fn is_due(flow: &Flow<'_, Self>, sent_at: Time) -> bool {
        let response = &flow.state.mark_response;
        let waited = || match (flow.state.reference_rtt(flow.params), response.start()) {
            (Some(reference), Some(start)) => flow.now.since(start) >= reference,
            _ => true,
        };
        response.accepts(sent_at) && waited()
    }

    /// The window after the loss of a packet sent at `sent_at`, packets: a share of what it was
    /// before the marks of the same flight (`§2.4.1` of the draft; `RFC 9331 §4.3`).
    fn reduced_for_loss(flow: &Flow<'_, Self>, sent_at: Time) -> f64 {
        let factor = 1.0 - flow.params.loss;
        if flow.state.mark_response.accepts(sent_at) {
            factor * flow.cwnd
        } else {
            (factor * flow.state.cwnd_before_mark).min(flow.cwnd)
        }
    }

    /// The response to marks: no recovery period, growth goes on.
    fn reduce_for_marks(flow: &mut Flow<'_, Self>) {
        let State { fraction, classic, .. } = flow.state;
        let degree = if flow.params.classic { classic.degree() } else { 0.0 };
        let decrease = 0.5 * (fraction.alpha() + degree * (1.0 - fraction.alpha()));
        flow.state.cwnd_before_mark = flow.cwnd;
        flow.state.mark_response.begin(flow.now);
        flow.lower((1.0 - decrease) * flow.cwnd);
        flow.window.ssthresh = flow.cwnd.max(2.0);
        flow.window.reduced = true;
        flow.window.ever_reduced = true;
        flow.window.discard_undo();
    }
}

impl WindowScheme for Prague {
    const INFO: Info = Info {
        name: "prague",
        summary: "L4S: keeps queues shallow by answering marks in proportion",
        source: "draft-briscoe-iccrg-prague-congestion-control-04; RFC 9331 §4",
        fallback: Some("sends without ECN and answers losses only, as paced Reno"),
    };
    const NEEDS: Signals = Signals::ACKS
        .and(Signals::LOSS)
        .and(Signals::RTT)
        .and(Signals::PACING)
        .and(Signals::ECN)
        .and(Signals::CE_COUNT);
    type Params = Params;
    type State = State;
    type Group = ();

    fn needs(params: &Params) -> Signals {
        if params.fallback { Self::NEEDS.without(Signals::ECN | Signals::CE_COUNT) } else { Self::NEEDS }
    }

    fn start(_: &Params, path: &Path) -> State {
        State { fraction: MarkedFraction::start(path.now), unmarked_share: 1.0, ..State::default() }
    }

    /// `draft-briscoe-iccrg-prague-congestion-control §2.3.2`: the fraction is updated
    /// once per virtual RTT, and only once a mark has shown that the path marks.
    #[inline]
    fn on_event(flow: &mut Flow<'_, Self>) {
        let gain = flow.params.gain;
        let (event, state) = (flow.event, &mut *flow.state);
        if let Some(rtt) = event.rtt() {
            state.srtt = rtt.smoothed;
            state.classic.on_rtt_sample(&rtt);
        }
        let least = state.reference_rtt(flow.params).unwrap_or(Span::ZERO);
        let gain = if state.fraction.seen() { gain } else { 0.0 };
        if state.fraction.on_event(gain, least, event) && !flow.window.in_slow_start() {
            state.rounds = state.rounds.saturating_add(1);
            if state.fraction.alpha() > 0.0 {
                state.classic.end_round();
            }
        }
        match &event.kind {
            EventKind::EcnCe(EcnCe { packets, .. }) => state.marked = state.marked.saturating_add((*packets).max(1)),
            EventKind::PacketsAcked(acked) => {
                let marked = core::mem::take(&mut state.marked).min(acked.packets);
                state.unmarked_share = 1.0 - f64::from(marked) / f64::from(acked.packets.max(1));
            }
            _ => {}
        }
    }

    /// Marked packets grow nothing (`§2.4.3` of the draft).
    #[inline]
    fn on_ack_in_slow_start(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        acked * flow.state.unmarked_share
    }

    /// `§2.4.3`, `§2.4.4` of the draft.
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        flow.state.increase(flow.params) * (acked * flow.state.unmarked_share) / flow.cwnd
    }

    /// Marks: `§2.4.2` of the draft. Losses: as Reno.
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        match flow.event.kind {
            EventKind::EcnCe(EcnCe { newest_sent_at, .. }) if Self::is_due(flow, newest_sent_at) => {
                Self::reduce_for_marks(flow);
                Response::None
            }
            EventKind::PacketsLost(PacketsLost { newest_sent_at, .. }) => {
                Response::to(Self::reduced_for_loss(flow, newest_sent_at))
            }
            _ => Response::None,
        }
    }

    fn on_persistent_congestion(flow: &mut Flow<'_, Self>) -> f64 {
        let to = match flow.event.kind {
            EventKind::PersistentCongestion(lost) => Self::reduced_for_loss(flow, lost.newest_sent_at),
            _ => flow.cwnd,
        };
        flow.state.fraction.clear(flow.now);
        flow.state.mark_response.reset();
        to
    }

    fn on_idle_restart(flow: &mut Flow<'_, Self>) {
        flow.state.fraction.clear(flow.now);
    }

    fn on_mtu_update(flow: &mut Flow<'_, Self>, ratio: f64) {
        flow.state.cwnd_before_mark *= ratio;
    }

    /// `RFC 9331 §4.1, §4.3`; `§2.2`, `§2.5.1` of the draft: ECT(1), and no bursts.
    #[inline]
    fn complete_decision(params: &Params, state: &State, window: &Window, decision: &mut Decision) {
        decision.ecn = if params.fallback { Ecn::NotEct } else { Ecn::Ect1 };
        if state.srtt > Span::ZERO {
            let gain = if window.cwnd < 0.5 * window.ssthresh { params.start_pacing } else { params.pacing };
            decision.pacing_rate = Some((gain * 8.0 * decision.cwnd as f64 / state.srtt.secs()) as u64);
        }
    }

    fn inspect(params: &Params, state: &State, _: &Window, _: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("alpha", state.fraction.alpha());
        visit("srtt_ms", state.srtt.millis());
        visit("increase", state.increase(params));
        visit("classic", state.classic.degree());
    }
}

#[cfg(test)]
mod tests;
