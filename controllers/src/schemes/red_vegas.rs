#![doc = include_str!("red_vegas.md")]

use crate::event::{EcnCe, PacketsAcked, PacketsLost};
use crate::parts::vegas::{ByOne, Common, LossRule, NEEDS, RoundTrip, Scheme, Source, Thresholds, VegasBased};
use crate::{Ecn, Info, Signals, parameters};

parameters! {
    /// Parameters of [`RedVegas`]: `red-vegas:NAME=VALUE,…`. `beta` is also how many packets after a marked one a loss still counts as congestion.
    pub struct Params {
        @base Common, paper Common::paper();
        @with thresholds: Thresholds, "Between which backlogs the window rests.";
        /// Whether a mark by itself shrinks the window, as it has to where routers mark for other reasons than a drop.
        react_to_ce: bool = true, paper false, source "spec: chan §7.5; RFC 9002 §7.1";
        /// Whether a loss while the backlog is above `beta` is congestion, marks or not.
        guard: bool = true, paper false, source "spec: chan §7.5";
        /// Whether it may run as plain Vegas where the path has no such marks.
        fallback: bool = false, source "spec: chan §7.5";
    }
}

/// Tells random losses from congestion by the distance to the latest mark.
///
/// A mark in the ACK frame that also brings the loss has to come first, as
/// [`EventKind::EcnCe`](crate::EventKind::EcnCe).
#[derive(Debug)]
pub struct Red;

/// State of [`Red`]: marks, and what losses were taken for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Memory {
    /// Largest packet number known acknowledged by an ACK that echoed a mark (NCSEQ).
    pub ncseq: Option<u64>,
    /// Whether the latest ACK came over a path whose routers mark what they hold when
    /// they drop.
    pub marking: bool,
    /// Losses taken for congestion.
    pub congested: u32,
    /// Losses taken for random.
    pub random: u32,
}

impl Memory {
    /// `spec: chan §7.4 D1`.
    fn echoed(&mut self, newest_pn: Option<u64>) {
        self.ncseq = self.ncseq.max(newest_pn);
    }

    /// `spec: chan §7.4 D2, §7.5`: random only what is known to be.
    fn is_congestion(&self, params: &Params, lost: &PacketsLost, delta: Option<f64>) -> bool {
        let beta = params.thresholds.beta;
        if !self.marking || params.guard && delta.is_some_and(|delta| delta > beta) {
            return true;
        }
        let Some(lost_pn) = lost.newest_pn else { return true };
        self.ncseq.is_some_and(|ncseq| lost_pn.saturating_sub(ncseq) as f64 <= beta)
    }
}

impl LossRule<Params> for Red {
    type Memory = Memory;

    fn acked(_: &Params, memory: &mut Memory, acked: &PacketsAcked) {
        memory.marking = acked.congestion_indication.is_some();
        if acked.congestion_indication == Some(true) {
            memory.echoed(acked.newest_pn);
        }
    }

    /// `spec: chan §7.4 D2–D4`.
    fn lost(params: &Params, memory: &mut Memory, lost: &PacketsLost, delta: Option<f64>) -> bool {
        let congestion = memory.is_congestion(params, lost, delta);
        let count = if congestion { &mut memory.congested } else { &mut memory.random };
        *count = count.saturating_add(1);
        congestion
    }

    fn marked(params: &Params, memory: &mut Memory, marked: &EcnCe) -> bool {
        memory.echoed(marked.newest_pn);
        params.react_to_ce
    }

    fn inspect(memory: &Memory, visit: &mut dyn FnMut(&'static str, f64)) {
        if let Some(ncseq) = memory.ncseq {
            visit("ncseq", ncseq as f64);
        }
        visit("losses_congestion", f64::from(memory.congested));
        visit("losses_random", f64::from(memory.random));
    }
}

/// The parts RedVegas is composed of.
#[derive(Debug)]
pub struct Choices;

/// RedVegas (`spec: chan §7`).
pub type RedVegas = VegasBased<Choices>;

impl Scheme for Choices {
    const INFO: Info = Info {
        name: "red-vegas",
        summary: "Vegas that keeps its window at losses far from any mark of a dropping router",
        source: "spec: chan §7",
        fallback: Some("plain Vegas, every loss is congestion"),
    };
    const ECN: Ecn = Ecn::Ect0;
    type Params = Params;
    type Source = RoundTrip;
    type Step = ByOne;
    type Loss = Red;

    fn needs(params: &Params) -> Signals {
        let marks = Signals::CONGESTION_INDICATION.and(Signals::PACKET_NUMBERS);
        let needs = NEEDS.and(<RoundTrip as Source<Params>>::NEEDS);
        if params.fallback { needs } else { needs.and(marks) }
    }
}

#[cfg(test)]
mod tests;
