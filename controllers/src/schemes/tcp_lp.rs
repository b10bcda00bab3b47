#![doc = include_str!("tcp_lp.md")]

use crate::event::{PacketsAcked, RttSample};
use crate::parts::aimd;
use crate::parts::base::Base;
use crate::parts::delay_signal::DelaySignal;
use crate::parts::loss_based::{LossBased, Rules};
use crate::parts::window::{Reduction, Window};
use crate::{Event, Info, Path, Signals, Span, Time, choice, parameters};

mod range;

pub use range::Range;

choice! {
    /// Which TCP-LP.
    pub enum Variant {
        /// The kernel's and ns-2's (`spec: arumaithurai §5.4`).
        Linux = "linux",
        /// The published one: the range is not relearned, and inside an inference phase
        /// only packets sent in it are evidence (`spec: arumaithurai §5.4`, LP-paper).
        Paper = "paper",
    }
}

parameters! {
    /// Parameters of [`TcpLp`].
    pub struct Params {
        @base Base, paper Base { min_window: 1.0, ..Base::arumaithurai() };
        /// Which TCP-LP.
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

/// What TCP-LP remembers besides its window.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Memory {
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

impl Memory {
    /// The delay of an ACK, nanoseconds, with the clocks' difference taken out
    /// (`spec: arumaithurai §5.4`, corner cases). One of nothing or less is none.
    fn delay(&mut self, params: &Params, acked: &PacketsAcked) -> Option<f64> {
        let sample = self.signal.read(params.fallback, acked)?;
        if sample.anew {
            *self = Memory { signal: self.signal, least: self.least, latest: self.latest, ..Memory::default() };
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
}

/// TCP-LP's rules.
#[derive(Debug)]
pub struct TcpLpRules;

/// TCP-LP (`spec: arumaithurai §5.4`).
pub type TcpLp = LossBased<TcpLpRules>;

impl Rules for TcpLpRules {
    const INFO: Info = Info {
        name: "tcp-lp",
        summary: "background transport: Reno that backs off as soon as smoothed delay rises",
        source: "spec: arumaithurai §5.4",
        fallback: Some("takes round-trip times for one-way delays"),
    };
    type Params = Params;
    type Memory = Memory;

    fn needs(params: &Params) -> Signals {
        Self::NEEDS | Signals::RTT | DelaySignal::needs(params.fallback)
    }

    fn start(_: &Params, _: &Path) -> Memory {
        Memory::default()
    }

    #[inline]
    fn sampled(_: &Params, memory: &mut Memory, _: Time, rtt: &RttSample) {
        memory.signal.sampled(rtt);
        if rtt.latest > Span::ZERO {
            memory.latest = rtt.latest;
            memory.least = rtt.min.min(rtt.latest);
        }
    }

    /// `spec: arumaithurai §5.4` 2.
    fn acknowledged(params: &Params, memory: &mut Memory, window: &mut Window, now: Time, acked: &PacketsAcked) {
        let Some(delay) = memory.delay(params, acked) else { return };
        memory.range.sample(delay);
        if !memory.indicates(params, now, acked.newest_sent_at) {
            return;
        }
        if params.variant == Variant::Linux {
            memory.range.relearn();
        }
        let to = if memory.is_inferring(params, now) { 1.0 } else { libm::floor(0.5 * window.cwnd) };
        window.lower(&params.base, to);
        if params.exit_slow_start {
            window.ssthresh = window.ssthresh.min(window.cwnd.max(2.0));
        }
        window.discard_undo();
        memory.indicated = Some(now);
    }

    fn slow_start(params: &Params, memory: &mut Memory, _: &Window, now: Time, units: f64) -> f64 {
        if memory.is_inferring(params, now) { 0.0 } else { units }
    }

    /// `spec: arumaithurai §5.4` 3.
    fn increase(params: &Params, memory: &mut Memory, window: &Window, now: Time, units: f64) -> f64 {
        if memory.is_inferring(params, now) { 0.0 } else { aimd::increase(1.0, window, units) }
    }

    /// `spec: arumaithurai §5.0`: a loss leaves two packets at least, whatever delay may do.
    fn decrease(_: &Params, _: &mut Memory, window: &Window, _: &Event) -> Reduction {
        Reduction::to(1.0, (0.5 * window.cwnd).max(2.0).min(window.cwnd))
    }

    fn inspect(_: &Params, memory: &Memory, _: &Window, visit: &mut dyn FnMut(&'static str, f64)) {
        memory.range.inspect(visit);
        visit("indicated", f64::from(u8::from(memory.indicated.is_some())));
    }
}

#[cfg(test)]
mod tests;
