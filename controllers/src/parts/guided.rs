//! Flow control guided by an estimate of the available bandwidth: grows in proportion
//! to it where there is any, by one packet per window where there is none
//! (`spec: arumaithurai §3.5`).

use core::fmt::Debug;
use core::marker::PhantomData;

use crate::event::{PacketsAcked, RttSample};
use crate::parameters;
use crate::parts::aimd::{self, AimdRules, Constants};
use crate::parts::base::Base;
use crate::parts::compose::{Estimate, FlowControl, Input, Signal};
use crate::parts::loss_based::{LossBased, Rules, State};
use crate::parts::window::{Reduction, Window};
use crate::{Event, EventKind, Info, Path, Signals, Span, Time};

parameters! {
    /// Parameters of [`Guided`].
    pub struct Params {
        @base Base, paper Base::arumaithurai();
        /// Fraction of the window given up on congestion.
        b: f64 = 0.125, in 0.0, 0.99, source "spec: arumaithurai Eq. 4.9";
        /// Whether growth beyond the window at the estimate plus the estimate is linear again.
        cap_to_target: bool = true, source "spec: arumaithurai §3.3, A11";
    }
}

/// What estimates are followed without: AIMD(1, b) (`spec: arumaithurai §3.5`, I9).
impl Constants for Params {
    const INFO: Info = Info {
        name: "guided",
        summary: "grows in proportion to the available bandwidth, gives up a fraction on congestion",
        source: "spec: arumaithurai §3.5",
        fallback: None,
    };

    /// F3, Eq. 4.9. Marks and losses weigh the same (A8).
    fn given_up(&self) -> f64 {
        self.b
    }

    /// F5.
    fn kept_by_timeout(&self) -> f64 {
        1.0 - self.b
    }
}

/// How a scheme follows estimates.
pub trait Steered {
    /// See [`Params::cap_to_target`].
    fn cap_to_target(&self) -> bool {
        true
    }
}

impl Steered for Params {
    fn cap_to_target(&self) -> bool {
        self.cap_to_target
    }
}

/// What guides a window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Guide {
    /// The available bandwidth, bit/s; negative before any estimate.
    available: f64,
    /// The fraction of it to go for.
    share: f64,
    /// The window when `available` was set, packets.
    reference: f64,
    /// Zero before the first sample.
    base_rtt: Span,
}

impl Guide {
    /// [`available`](Guide::available) where there is none.
    const UNKNOWN: f64 = -1.0;

    /// The available bandwidth, bit/s; none before any estimate, 0 when there is none to
    /// spare or when congestion has made the estimate void.
    #[must_use]
    pub fn available(&self) -> Option<f64> {
        (self.available >= 0.0).then_some(self.available)
    }

    /// The available bandwidth in packets per base RTT (`spec: arumaithurai §3.5 F2.5a`,
    /// A2).
    fn spare(&self, window: &Window) -> f64 {
        if self.available > 0.0 { self.available * self.base_rtt.secs() / (8.0 * window.mtu) } else { 0.0 }
    }
}

/// What a guided window remembers: its guide, and what its own rules do.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Memory<M> {
    /// What guides it.
    pub guide: Guide,
    /// What the rules remember.
    pub rules: M,
}

/// The rules of `R` where no estimate says better.
#[derive(Debug)]
pub struct GuidedRules<R>(PhantomData<R>);

impl<R: Rules<Params: Steered>> Rules for GuidedRules<R> {
    const INFO: Info = R::INFO;
    const NEEDS: Signals = R::NEEDS;
    type Params = R::Params;
    type Memory = Memory<R::Memory>;

    fn needs(params: &R::Params) -> Signals {
        R::needs(params)
    }

    fn start(params: &R::Params, path: &Path) -> Self::Memory {
        let guide =
            Guide { available: Guide::UNKNOWN, share: 1.0, reference: params.as_ref().iw, base_rtt: Span::ZERO };
        Memory { guide, rules: R::start(params, path) }
    }

    /// F7: what was measured before a long idle period no longer holds.
    #[inline]
    fn heard(params: &R::Params, memory: &mut Self::Memory, window: &Window, event: &Event) {
        if matches!(event.kind, EventKind::IdleRestart(idle) if idle.is_long()) {
            memory.guide.available = Guide::UNKNOWN;
        }
        R::heard(params, &mut memory.rules, window, event);
    }

    #[inline]
    fn sampled(params: &R::Params, memory: &mut Self::Memory, now: Time, rtt: &RttSample) {
        R::sampled(params, &mut memory.rules, now, rtt);
    }

    #[inline]
    fn acknowledged(
        params: &R::Params,
        memory: &mut Self::Memory,
        window: &mut Window,
        now: Time,
        acked: &PacketsAcked,
    ) {
        R::acknowledged(params, &mut memory.rules, window, now, acked);
    }

    #[inline]
    fn slow_start(params: &R::Params, memory: &mut Self::Memory, window: &Window, now: Time, units: f64) -> f64 {
        R::slow_start(params, &mut memory.rules, window, now, units)
    }

    /// F2.5, Eqs. 4.10 and 4.11, the latter as far as the rules are linear.
    #[inline]
    fn increase(params: &R::Params, memory: &mut Self::Memory, window: &Window, now: Time, units: f64) -> f64 {
        let own = R::increase(params, &mut memory.rules, window, now, units);
        let Guide { share, reference, .. } = memory.guide;
        let spare = memory.guide.spare(window);
        if spare <= 0.0 {
            return own;
        }
        let guided = aimd::increase(share * spare, window, units).max(own);
        let room = reference + spare - window.cwnd;
        if params.cap_to_target() { guided.min(room.max(own)) } else { guided }
    }

    fn decrease(params: &R::Params, memory: &mut Self::Memory, window: &Window, event: &Event) -> Reduction {
        memory.guide.available = 0.0;
        R::decrease(params, &mut memory.rules, window, event)
    }

    fn timeout(params: &R::Params, memory: &mut Self::Memory, window: &Window, event: &Event) -> f64 {
        memory.guide.available = Guide::UNKNOWN;
        R::timeout(params, &mut memory.rules, window, event)
    }

    fn undone(params: &R::Params, memory: &mut Self::Memory, window: &Window) {
        R::undone(params, &mut memory.rules, window);
    }

    fn paused(params: &R::Params, memory: &mut Self::Memory, now: Time, span: Span) {
        R::paused(params, &mut memory.rules, now, span);
    }

    fn restarted(params: &R::Params, memory: &mut Self::Memory, window: &Window) {
        R::restarted(params, &mut memory.rules, window);
    }

    fn resized(memory: &mut Self::Memory, ratio: f64) {
        memory.guide.reference *= ratio;
        R::resized(&mut memory.rules, ratio);
    }

    fn inspect(params: &R::Params, memory: &Self::Memory, window: &Window, visit: &mut dyn FnMut(&'static str, f64)) {
        R::inspect(params, &memory.rules, window, visit);
        if let Some(available) = memory.guide.available() {
            visit("bw_mbps", available / 1e6);
            visit("w_ref", memory.guide.reference);
        }
    }
}

/// Flow control by the rules of `R` that follows estimates where there are any
/// (`spec: arumaithurai §3.5 F1–F7`). Without any it is `R` to the bit.
///
/// Slow start is the window's: below the threshold. An estimate, whatever its value,
/// ends it by lowering the threshold to the window (A10).
#[derive(Debug)]
pub struct GuidedBy<R>(PhantomData<R>);

/// NF-TCP's flow control: AIMD(1, b) that follows estimates.
pub type Guided = GuidedBy<AimdRules<Params>>;

impl<R: Rules<Params: Steered>> FlowControl for GuidedBy<R> {
    type Params = R::Params;
    type State = State<Memory<R::Memory>>;

    fn needs(params: &R::Params) -> Signals {
        <LossBased<GuidedRules<R>> as FlowControl>::needs(params)
    }

    fn start(params: &R::Params, path: &Path) -> Self::State {
        <LossBased<GuidedRules<R>> as FlowControl>::start(params, path)
    }

    #[inline]
    fn update(
        params: &R::Params,
        state: &mut Self::State,
        input: Input<'_>,
        signal: Signal,
        estimate: Option<Estimate>,
    ) {
        let guide = &mut state.memory.guide;
        guide.base_rtt = input.path.base_rtt().unwrap_or_default();
        if let Some(Estimate { available, share }) = estimate {
            // F6.
            *guide = Guide { available: available.max(0.0), share, reference: state.window.cwnd, ..*guide };
            state.window.ssthresh = state.window.ssthresh.min(state.window.cwnd);
        }
        <LossBased<GuidedRules<R>> as FlowControl>::update(params, state, input, signal, estimate);
        if signal != Signal::Clear {
            state.memory.guide.reference = state.window.cwnd;
        }
    }

    #[inline]
    fn window(state: &Self::State) -> &Window {
        &state.window
    }

    fn inspect(params: &R::Params, state: &Self::State, visit: &mut dyn FnMut(&'static str, f64)) {
        <LossBased<GuidedRules<R>> as FlowControl>::inspect(params, state, visit);
    }
}

#[cfg(test)]
mod tests;
