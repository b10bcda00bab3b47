#![doc = include_str!("ctcp.md")]

use crate::event::RttSample;
use crate::parts::aimd;
use crate::parts::base::Base;
use crate::parts::loss_based::{LossBased, Rules};
use crate::parts::vegas::{Delays, Round, backlog};
use crate::parts::window::{Reduction, Window};
use crate::{Event, EventKind, Info, Path, Signals, Span, Time, parameters};

parameters! {
    /// Parameters of [`Ctcp`].
    pub struct Params {
        @base Base, paper Base::arumaithurai();
        /// Size of the delay window's steps.
        alpha: f64 = 0.125, in 0.001, 10.0, source "spec: arumaithurai §6.6; draft-sridharan-tcpm-ctcp-02 §3";
        /// Fraction of the window given up on congestion.
        beta: f64 = 0.5, in 0.01, 0.99, source "spec: arumaithurai §6.6; draft-sridharan-tcpm-ctcp-02 §3";
        /// Power of the window the steps grow with.
        k: f64 = 0.75, in 0.0, 1.0, source "spec: arumaithurai §6.6; draft-sridharan-tcpm-ctcp-02 §3";
        /// Backlog from which on the delay window shrinks.
        gamma: f64 = 30.0, in 0.0, 10_000.0, unit "packets", source "spec: arumaithurai §6.6; draft-sridharan-tcpm-ctcp-02 §3";
        /// How many times the backlog the delay window then shrinks by.
        zeta: f64 = 1.0, in 0.0, 100.0, source "spec: arumaithurai §6.6";
        /// RTT samples a round trip needs to be judged.
        samples: u32 = 3, in 1, 1000, source "spec: arumaithurai §6.6 rule 2";
    }
}

impl Params {
    /// The delay window after a round trip in which a window of `win` packets had
    /// `backlog` of them queued (`spec: arumaithurai §6.6 rule 2`).
    #[must_use]
    pub fn judge(&self, dwnd: f64, win: f64, backlog: f64) -> f64 {
        if backlog < self.gamma {
            dwnd + (self.alpha * libm::pow(win, self.k) - 1.0).max(0.0)
        } else {
            (dwnd - self.zeta * backlog).max(0.0)
        }
    }
}

/// What it remembers besides its window, which is that of losses and of delay together.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Memory {
    /// The window of delay, packets.
    dwnd: f64,
    /// `dwnd` as the latest response found it.
    before: f64,
    /// Smallest RTT sample.
    base_rtt: Option<Span>,
    /// Smallest RTT sample of the round trip under way.
    round_rtt: Option<Span>,
    samples: u32,
    round: Round,
    /// The round trip that has just ended, until the ACK that ended it is through.
    ended: Option<Delays>,
}

impl Memory {
    /// The window of delay as part of a window of `cwnd` packets, of which it leaves the
    /// smallest window to losses.
    #[inline]
    fn dwnd(&self, params: &Params, cwnd: f64) -> f64 {
        self.dwnd.min(cwnd - params.base.min_window).max(0.0)
    }

    /// What the round trip under way has measured is about another window.
    fn forget_round(&mut self) {
        (self.round_rtt, self.samples, self.ended) = (None, 0, None);
    }

    #[inline]
    fn sample(&mut self, rtt: &RttSample) {
        let rtt = rtt.adjusted();
        if rtt > Span::ZERO {
            self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
            self.round_rtt = Some(self.round_rtt.map_or(rtt, |least| least.min(rtt)));
            self.samples = self.samples.saturating_add(1);
        }
    }

    /// A round trip is over.
    #[cold]
    fn end_round(&mut self, params: &Params, now: Time) {
        if let (Some(base), Some(rtt)) = (self.base_rtt, self.round_rtt)
            && self.samples >= params.samples
        {
            self.ended = Some(Delays::new(base.0 as f64, rtt.0 as f64));
        }
        (self.round_rtt, self.samples) = (None, 0);
        self.round.begin(now);
    }
}

/// Compound TCP's rules.
#[derive(Debug)]
pub struct CtcpRules;

/// Compound TCP (`spec: arumaithurai §6.6`; `draft-sridharan-tcpm-ctcp-02`).
pub type Ctcp = LossBased<CtcpRules>;

impl Rules for CtcpRules {
    const INFO: Info = Info {
        name: "ctcp",
        summary: "Compound TCP: Reno plus a window that grows fast while there is no queue",
        source: "spec: arumaithurai §6.6; draft-sridharan-tcpm-ctcp-02",
        fallback: None,
    };
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::RTT);
    type Params = Params;
    type Memory = Memory;

    fn start(_: &Params, _: &Path) -> Memory {
        Memory {
            dwnd: 0.0,
            before: 0.0,
            base_rtt: None,
            round_rtt: None,
            samples: 0,
            round: Round::default(),
            ended: None,
        }
    }

    /// The sample of the ACK that ends a round trip belongs to the next.
    #[inline]
    fn heard(params: &Params, memory: &mut Memory, _: &Window, event: &Event) {
        if let EventKind::PacketsAcked(acked) = &event.kind {
            memory.ended = None;
            if memory.round.ends(acked.newest_sent_at) {
                memory.end_round(params, event.now);
            }
        }
    }

    #[inline]
    fn sampled(_: &Params, memory: &mut Memory, _: Time, rtt: &RttSample) {
        memory.sample(rtt);
    }

    /// `spec: arumaithurai §6.6 rules 1, 2`.
    #[inline]
    fn increase(params: &Params, memory: &mut Memory, window: &Window, _: Time, units: f64) -> f64 {
        let mut added = aimd::increase(1.0, window, units);
        if let Some(delays) = memory.ended.take() {
            let dwnd = memory.dwnd(params, window.cwnd);
            memory.dwnd = params.judge(dwnd, window.cwnd, backlog(window.cwnd, delays));
            added += memory.dwnd - dwnd;
        }
        added
    }

    /// `spec: arumaithurai §6.6 rule 3`.
    fn decrease(params: &Params, memory: &mut Memory, window: &Window, _: &Event) -> Reduction {
        memory.before = memory.dwnd;
        let cwnd = 0.5 * (window.cwnd - memory.dwnd(params, window.cwnd));
        memory.dwnd = ((1.0 - params.beta) * window.cwnd - cwnd).max(0.0);
        memory.forget_round();
        Reduction::to(1.0, cwnd + memory.dwnd)
    }

    fn timeout(_: &Params, memory: &mut Memory, _: &Window, _: &Event) -> f64 {
        memory.dwnd = 0.0;
        memory.forget_round();
        0.5
    }

    /// Not in the document; as `RFC 9438 §4.9.2` has it.
    fn undone(_: &Params, memory: &mut Memory, _: &Window) {
        memory.dwnd = memory.before;
        memory.forget_round();
    }

    /// `spec: arumaithurai §5.0`, idle.
    fn restarted(_: &Params, memory: &mut Memory, _: &Window) {
        memory.dwnd = 0.0;
        memory.forget_round();
    }

    fn resized(memory: &mut Memory, ratio: f64) {
        memory.dwnd *= ratio;
        memory.before *= ratio;
    }

    fn inspect(params: &Params, memory: &Memory, window: &Window, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("dwnd", memory.dwnd(params, window.cwnd));
        visit("base_rtt_ms", memory.base_rtt.map_or(0.0, Span::millis));
    }
}

#[cfg(test)]
mod tests;
