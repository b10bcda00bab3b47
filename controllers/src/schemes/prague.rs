#![doc = include_str!("prague.md")]

use crate::event::{EcnCe, PacketsLost};
use crate::parts::aimd;
use crate::parts::base::Base;
use crate::parts::grouped::{Flow, GroupRules, Grouped};
use crate::parts::marks::MarkedFraction;
use crate::parts::recovery::RecoveryPeriod;
use crate::parts::window::{Reduction, Window};
use crate::{Decision, Ecn, Event, EventKind, Info, Path, Signals, Span, Time, View, parameters};

mod classic;

use classic::Classic;

parameters! {
    /// Parameters of [`Prague`].
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
        classic: bool = false, source "RFC 9331 §4.3, §A.1.5";
        /// Whether to do without marks.
        fallback: bool = false, source "RFC 9331 §4.3";
    }
}

/// What it remembers besides its window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Memory {
    fraction: MarkedFraction,
    /// The latest response to a mark.
    answered: RecoveryPeriod,
    /// The window that response found, packets.
    before: f64,
    /// Marks of the frame being told.
    marked: u32,
    /// The share of the frame's packets that was not marked.
    clean: f64,
    /// Round trips since slow start ended.
    rounds: u32,
    /// Smoothed RTT; zero before the first sample.
    srtt: Span,
    classic: Classic,
}

impl Memory {
    /// The reference RTT where it is in force and longer than the path's.
    #[inline]
    fn longer(&self, params: &Params) -> Option<Span> {
        let reference = Span::from_secs_f64(1e-3 * params.reference_rtt);
        (self.rounds >= params.transition && self.srtt > Span::ZERO && self.srtt < reference).then_some(reference)
    }

    /// Packets added per round trip: such that the rate grows by a packet per virtual RTT
    /// each virtual RTT.
    #[inline]
    fn increase(&self, params: &Params) -> f64 {
        self.longer(params).map_or(1.0, |reference| {
            let ratio = self.srtt.0 as f64 / reference.0 as f64;
            ratio * ratio
        })
    }
}

/// Prague's rules.
#[derive(Debug)]
pub struct PragueRules;

/// Prague (`draft-briscoe-iccrg-prague-congestion-control`; `RFC 9331 §4`).
pub type Prague = Grouped<PragueRules>;

impl PragueRules {
    /// Whether a mark on a packet sent at `sent_at` deserves an answer: one per round
    /// trip, and per virtual RTT.
    fn is_due(flow: &Flow<'_, Self>, sent_at: Time) -> bool {
        let Memory { answered, .. } = &flow.memory;
        let waited = || match (flow.memory.longer(flow.params), answered.start()) {
            (Some(reference), Some(start)) => flow.now.since(start) >= reference,
            _ => true,
        };
        answered.accepts(sent_at) && waited()
    }

    /// The response to marks: no recovery period, growth goes on.
    fn answer(flow: &mut Flow<'_, Self>) {
        let Memory { fraction, classic, .. } = flow.memory;
        let given_up = 0.5 * (fraction.alpha() + classic.degree() * (1.0 - fraction.alpha()));
        flow.memory.before = flow.window.cwnd;
        flow.memory.answered.begin(flow.now);
        flow.window.lower(&flow.params.base, (1.0 - given_up) * flow.window.cwnd);
        flow.window.ssthresh = flow.window.cwnd.max(2.0);
        flow.window.reduced = true;
        flow.window.ever_reduced = true;
        flow.window.discard_undo();
    }
}

impl GroupRules for PragueRules {
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
    type Memory = Memory;
    type Shared = ();

    fn needs(params: &Params) -> Signals {
        if params.fallback { Self::NEEDS.without(Signals::ECN | Signals::CE_COUNT) } else { Self::NEEDS }
    }

    fn shared(_: &Params) {}

    fn start(_: &Params, path: &Path) -> Memory {
        Memory {
            fraction: MarkedFraction::start(path.now),
            answered: RecoveryPeriod::default(),
            before: 0.0,
            marked: 0,
            clean: 1.0,
            rounds: 0,
            srtt: Span::ZERO,
            classic: Classic::default(),
        }
    }

    /// `draft-briscoe-iccrg-prague-congestion-control §2.3.2`: the fraction is updated
    /// once per virtual RTT, and only once a mark has shown that the path marks.
    #[inline]
    fn heard(flow: &mut Flow<'_, Self>, event: &Event) {
        let Params { gain, classic, .. } = *flow.params;
        let memory = &mut *flow.memory;
        if let Some(rtt) = event.rtt() {
            memory.srtt = rtt.smoothed;
            if classic {
                memory.classic.sample(&rtt);
            }
        }
        let least = memory.longer(flow.params).unwrap_or(Span::ZERO);
        let gain = if memory.fraction.seen() { gain } else { 0.0 };
        if memory.fraction.heard(gain, least, event) && !flow.window.in_slow_start() {
            memory.rounds = memory.rounds.saturating_add(1);
            if classic && memory.fraction.alpha() > 0.0 {
                memory.classic.judge();
            }
        }
        match &event.kind {
            EventKind::EcnCe(EcnCe { packets, .. }) => memory.marked = memory.marked.saturating_add((*packets).max(1)),
            EventKind::PacketsAcked(acked) => {
                let marked = core::mem::take(&mut memory.marked).min(acked.packets);
                memory.clean = 1.0 - f64::from(marked) / f64::from(acked.packets.max(1));
            }
            _ => {}
        }
    }

    /// Marked packets grow nothing (`§2.4.3` of the draft).
    #[inline]
    fn slow_start(flow: &mut Flow<'_, Self>, units: f64) -> f64 {
        units * flow.memory.clean
    }

    /// `§2.4.3`, `§2.4.4` of the draft.
    #[inline]
    fn increase(flow: &mut Flow<'_, Self>, units: f64) -> f64 {
        aimd::increase(flow.memory.increase(flow.params), flow.window, units * flow.memory.clean)
    }

    /// Marks: `§2.4.2` of the draft. Losses: as Reno, from the window that the marks of
    /// the same flight found (`§2.4.1`; `RFC 9331 §4.3`).
    fn congestion(flow: &mut Flow<'_, Self>) {
        match flow.event.kind {
            EventKind::EcnCe(EcnCe { newest_sent_at, .. }) if Self::is_due(flow, newest_sent_at) => Self::answer(flow),
            EventKind::PacketsLost(PacketsLost { newest_sent_at, .. }) => {
                let kept = 1.0 - flow.params.loss;
                let mut to = kept * flow.window.cwnd;
                if !flow.memory.answered.accepts(newest_sent_at) {
                    to = (kept * flow.memory.before).min(flow.window.cwnd);
                }
                flow.respond(Reduction::to(1.0, to));
            }
            _ => {}
        }
    }

    fn timeout(flow: &mut Flow<'_, Self>) -> f64 {
        flow.memory.fraction.clear(flow.now);
        flow.memory.answered.reset();
        0.5 * flow.window.cwnd
    }

    fn restarted(flow: &mut Flow<'_, Self>) {
        flow.memory.fraction.clear(flow.now);
    }

    fn resized(flow: &mut Flow<'_, Self>, ratio: f64) {
        flow.memory.before *= ratio;
    }

    /// `RFC 9331 §4.1, §4.3`; `§2.2`, `§2.5.1` of the draft: ECT(1), and no bursts.
    #[inline]
    fn finish(params: &Params, memory: &Memory, window: &Window, decision: &mut Decision) {
        decision.ecn = if params.fallback { Ecn::NotEct } else { Ecn::Ect1 };
        if memory.srtt > Span::ZERO {
            let gain = if window.cwnd < 0.5 * window.ssthresh { params.start_pacing } else { params.pacing };
            decision.pacing_rate = Some((gain * 8.0 * decision.cwnd as f64 / memory.srtt.secs()) as u64);
        }
    }

    fn inspect(
        params: &Params,
        memory: &Memory,
        _: &Window,
        _: View<'_, ()>,
        visit: &mut dyn FnMut(&'static str, f64),
    ) {
        visit("alpha", memory.fraction.alpha());
        visit("srtt_ms", memory.srtt.millis());
        visit("increase", memory.increase(params));
        visit("classic", memory.classic.degree());
    }
}

#[cfg(test)]
mod tests;
