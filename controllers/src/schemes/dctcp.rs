#![doc = include_str!("dctcp.md")]

use crate::parts::aimd;
use crate::parts::base::Base;
use crate::parts::grouped::{Flow, GroupRules, Grouped};
use crate::parts::marks::MarkedFraction;
use crate::parts::window::{Reduction, Window};
use crate::{Decision, Ecn, Event, EventKind, Info, Path, Signals, Span, View, choice, parameters};

choice! {
    /// How data packets say that they may be marked.
    pub enum Codepoint {
        /// ECT(0), as data centres configure their switches for.
        Ect0 = "ect0",
        /// ECT(1), for queues that mark L4S traffic at a threshold (`RFC 9331`).
        Ect1 = "ect1",
    }
}

parameters! {
    /// Parameters of [`Dctcp`].
    pub struct Params {
        @base Base, paper Base::arumaithurai();
        /// Weight of the latest round trip in the fraction of marked packets (g).
        gain: f64 = 0.0625, in 0.001, 1.0, source "RFC 8257 §4.2; spec: arumaithurai §6.4";
        /// How packets say that they may be marked.
        codepoint: Codepoint = Codepoint::Ect0, source "RFC 8257 §3; RFC 9331 §4.1";
        /// Whether to do without marks.
        fallback: bool = false, source "spec: arumaithurai §6.4 rule 4";
    }
}

/// What it remembers besides its window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Memory {
    fraction: MarkedFraction,
    /// The window before the latest response, if that was to a mark and no loss has
    /// deepened it, packets.
    before: Option<f64>,
}

/// DCTCP's rules.
#[derive(Debug)]
pub struct DctcpRules;

/// DCTCP (`RFC 8257`; `spec: arumaithurai §6.4`).
pub type Dctcp = Grouped<DctcpRules>;

impl GroupRules for DctcpRules {
    const INFO: Info = Info {
        name: "dctcp",
        summary: "gives up half the fraction of its packets that arrive marked",
        source: "RFC 8257; spec: arumaithurai §6.4",
        fallback: Some("answers losses only, as Reno"),
    };
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::ECN).and(Signals::CE_COUNT);
    type Params = Params;
    type Memory = Memory;
    type Shared = ();

    fn needs(params: &Params) -> Signals {
        if params.fallback { Signals::ACKS | Signals::LOSS } else { Self::NEEDS }
    }

    fn shared(_: &Params) {}

    fn start(_: &Params, path: &Path) -> Memory {
        Memory { fraction: MarkedFraction::start(path.now), before: None }
    }

    /// `spec: arumaithurai §6.4 rule 1`. A loss among the packets of a flight whose mark
    /// was answered already makes that answer Reno's (`RFC 8257 §3.5`).
    #[inline]
    fn heard(flow: &mut Flow<'_, Self>, event: &Event) {
        flow.memory.fraction.heard(flow.params.gain, Span::ZERO, event);
        if let EventKind::PacketsLost(lost) = &event.kind
            && !flow.window.recovery.accepts(lost.newest_sent_at)
            && let Some(before) = flow.memory.before.take()
        {
            flow.window.reduce_further(&flow.params.base, 0.5 * before);
        }
    }

    #[inline]
    fn increase(flow: &mut Flow<'_, Self>, units: f64) -> f64 {
        aimd::increase(1.0, flow.window, units)
    }

    /// `spec: arumaithurai §6.4 rules 2, 3`; `RFC 8257 §3.3, §3.5`. What was marked was
    /// not lost, so that there is nothing to take back.
    fn congestion(flow: &mut Flow<'_, Self>) {
        if matches!(flow.event.kind, EventKind::EcnCe(_)) {
            flow.memory.before = Some(flow.window.cwnd);
            flow.respond(Reduction::to(1.0 - 0.5 * flow.memory.fraction.alpha(), flow.window.cwnd));
            flow.window.discard_undo();
        } else {
            flow.memory.before = None;
            flow.respond(aimd::decrease(0.5, flow.window));
        }
    }

    fn timeout(flow: &mut Flow<'_, Self>) -> f64 {
        flow.memory.before = None;
        flow.memory.fraction.clear(flow.now);
        0.5 * flow.window.cwnd
    }

    fn restarted(flow: &mut Flow<'_, Self>) {
        flow.memory.fraction.clear(flow.now);
    }

    fn resized(flow: &mut Flow<'_, Self>, ratio: f64) {
        flow.memory.before = flow.memory.before.map(|before| before * ratio);
    }

    #[inline]
    fn finish(params: &Params, _: &Memory, _: &Window, decision: &mut Decision) {
        decision.ecn = match params.codepoint {
            _ if params.fallback => Ecn::NotEct,
            Codepoint::Ect0 => Ecn::Ect0,
            Codepoint::Ect1 => Ecn::Ect1,
        };
    }

    fn inspect(_: &Params, memory: &Memory, _: &Window, _: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("alpha", memory.fraction.alpha());
    }
}

#[cfg(test)]
mod tests;
