//! Flow control guided by an estimate of the available bandwidth: grows in proportion
//! to it where there is any, by one packet per window where there is none
//! (`spec: arumaithurai §3.5`).

use core::marker::PhantomData;

use crate::event::{PacketsAcked, RttSample};
use crate::parts::backstop::{self, Backstop};
use crate::parts::base::Base;
use crate::parts::base_delay::BaseDelay;
use crate::parts::compose::{Estimate, FlowControl, Input, Signal};
use crate::parts::limits::Limits;
use crate::parts::recovery::Response;
use crate::parts::window::Window;
use crate::parts::window_controller::{self, WindowController};
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{Decision, EventKind, Info, Parameters, Path, Signals, Span, View, parameters};

parameters! {
    /// Parameters of [`Guided`].
    pub struct Params {
        @base Base, paper Limits::arumaithurai();
        @with bound: backstop::Settings, "What losses bound the window to.";
        /// Fraction of the window given up on congestion.
        b: f64 = 0.125, in 0.0, 0.99, source "spec: arumaithurai Eq. 4.9";
        /// Whether growth beyond the window at the estimate plus the estimate is linear again.
        cap_to_target: bool = true, source "spec: arumaithurai §3.3, A11";
    }
}

/// The decrease factor of [`AimdB`].
pub trait DecreaseFactor {
    /// `b`: fraction of the window given up on congestion.
    fn b(&self) -> f64;

    /// What losses bound the window by, where `b` is milder than Reno's.
    fn bound(&self) -> Option<&backstop::Settings> {
        None
    }
}

impl DecreaseFactor for Params {
    fn b(&self) -> f64 {
        self.b
    }

    fn bound(&self) -> Option<&backstop::Settings> {
        Some(&self.bound)
    }
}

/// AIMD(1, b): NF-TCP's flow control where there is no estimate (`spec: arumaithurai §3.5`, I9).
/// With `b` one half it is Reno to the bit.
#[derive(Debug)]
pub struct AimdB<P>(PhantomData<P>);

impl<P: Parameters + AsRef<Base> + DecreaseFactor> WindowScheme for AimdB<P> {
    const INFO: Info = Info {
        name: "guided",
        summary: "grows in proportion to the available bandwidth, gives up a fraction on congestion",
        source: "spec: arumaithurai §3.5",
        fallback: None,
    };
    type Params = P;
    type State = Backstop;
    type Group = ();

    #[inline]
    fn backstop<'a>(params: &'a P, state: &'a mut Backstop) -> Option<(&'a backstop::Settings, &'a mut Backstop)> {
        params.bound().map(|bound| (bound, state))
    }

    #[inline]
    fn is_bounded(state: &Backstop) -> bool {
        state.is_bounding()
    }

    /// `spec: arumaithurai §3.5 F2.5`.
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        acked / flow.cwnd
    }

    /// `spec: arumaithurai §3.5 F3`, Eq. 4.9. Marks and losses weigh the same (A8).
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        Response::to((1.0 - flow.params.b()) * flow.cwnd)
    }

    /// `spec: arumaithurai §3.5 F5`.
    fn on_persistent_congestion(flow: &mut Flow<'_, Self>) -> f64 {
        (1.0 - flow.params.b()) * flow.cwnd
    }

    fn inspect(_: &P, state: &Backstop, _: &Window, _: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        state.inspect(visit);
    }
}

/// How a scheme follows estimates.
pub trait Steered {
    /// Whether growth is linear again beyond the target ([`Params::cap_to_target`]).
    fn cap_to_target(&self) -> bool {
        true
    }
}

impl Steered for Params {
    fn cap_to_target(&self) -> bool {
        self.cap_to_target
    }
}

/// The estimate that guides a window.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
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
    #[inline]
    fn spare(&self, window: &Window) -> f64 {
        if self.available > 0.0 { self.available * self.base_rtt.secs() / (8.0 * window.mtu) } else { 0.0 }
    }
}

/// State of a guided scheme: its guide, and what its own rules keep.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct State<T> {
    /// Bandwidth and base RTT of the latest estimate.
    pub guide: Guide,
    /// State of the scheme that is guided.
    pub scheme: T,
}

/// The rules of `S` where no estimate says better.
#[derive(Debug)]
pub struct GuidedScheme<S>(PhantomData<S>);

/// The flow as `S` alone sees it.
#[inline(always)]
fn unguided<'a, S: Guidable>(flow: &'a mut Flow<'_, GuidedScheme<S>>) -> Flow<'a, S> {
    flow.with_scheme(|state| &mut state.scheme)
}

/// A scheme without groups whose parameters say how it follows estimates.
pub trait Guidable: WindowScheme<Params: Steered, Group = ()> {}

impl<S: WindowScheme<Params: Steered, Group = ()>> Guidable for S {}

impl<S: Guidable> WindowScheme for GuidedScheme<S> {
    const INFO: Info = S::INFO;
    const NEEDS: Signals = S::NEEDS;
    type Params = S::Params;
    type State = State<S::State>;
    type Group = ();

    fn needs(params: &S::Params) -> Signals {
        S::needs(params)
    }

    fn start(params: &S::Params, path: &Path) -> Self::State {
        let reference = Window::start(&params.as_ref().limits, path).cwnd;
        let guide = Guide { available: Guide::UNKNOWN, share: 1.0, reference, base_rtt: Span::ZERO };
        State { guide, scheme: S::start(params, path) }
    }

    #[inline]
    fn backstop<'a>(
        params: &'a S::Params,
        state: &'a mut Self::State,
    ) -> Option<(&'a backstop::Settings, &'a mut Backstop)> {
        S::backstop(params, &mut state.scheme)
    }

    #[inline]
    fn is_bounded(state: &Self::State) -> bool {
        S::is_bounded(&state.scheme)
    }

    #[inline]
    fn base_delay(state: &Self::State) -> Option<&BaseDelay> {
        S::base_delay(&state.scheme)
    }

    /// F7: what was measured before a long idle period no longer holds.
    #[inline(always)]
    fn on_event(flow: &mut Flow<'_, Self>) {
        if matches!(flow.event.kind, EventKind::IdleRestart(idle) if idle.is_long()) {
            flow.state.guide.available = Guide::UNKNOWN;
        }
        S::on_event(&mut unguided(flow));
    }

    #[inline(always)]
    fn on_rtt_sample(flow: &mut Flow<'_, Self>, rtt: &RttSample) {
        S::on_rtt_sample(&mut unguided(flow), rtt);
    }

    #[inline(always)]
    fn on_packets_acked(flow: &mut Flow<'_, Self>, acked: &PacketsAcked) -> bool {
        S::on_packets_acked(&mut unguided(flow), acked)
    }

    #[inline(always)]
    fn on_ack_in_slow_start(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        S::on_ack_in_slow_start(&mut unguided(flow), acked)
    }

    /// F2.5, Eqs. 4.10 and 4.11, the latter as far as the rules are linear.
    #[inline(always)]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        let own = S::on_ack(&mut unguided(flow), acked);
        let Guide { share, reference, .. } = flow.state.guide;
        let spare = flow.state.guide.spare(flow.window);
        if spare <= 0.0 {
            return own;
        }
        let guided = (share * spare * acked / flow.cwnd).max(own);
        let room = reference + spare - flow.cwnd;
        if flow.params.cap_to_target() { guided.min(room.max(own)) } else { guided }
    }

    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        flow.state.guide.available = 0.0;
        S::on_congestion(&mut unguided(flow))
    }

    fn on_reduced(flow: &mut Flow<'_, Self>) {
        S::on_reduced(&mut unguided(flow));
    }

    fn on_persistent_congestion(flow: &mut Flow<'_, Self>) -> f64 {
        flow.state.guide.available = Guide::UNKNOWN;
        S::on_persistent_congestion(&mut unguided(flow))
    }

    fn on_spurious_loss(flow: &mut Flow<'_, Self>) {
        S::on_spurious_loss(&mut unguided(flow));
    }

    fn on_underutilized(flow: &mut Flow<'_, Self>, span: Span) {
        S::on_underutilized(&mut unguided(flow), span);
    }

    fn on_idle_restart(flow: &mut Flow<'_, Self>) {
        S::on_idle_restart(&mut unguided(flow));
    }

    fn on_mtu_update(flow: &mut Flow<'_, Self>, ratio: f64) {
        flow.state.guide.reference *= ratio;
        S::on_mtu_update(&mut unguided(flow), ratio);
    }

    fn inspect(
        params: &S::Params,
        state: &Self::State,
        window: &Window,
        group: View<'_, ()>,
        visit: &mut dyn FnMut(&'static str, f64),
    ) {
        S::inspect(params, &state.scheme, window, group, visit);
        if let Some(available) = state.guide.available() {
            visit("bw_mbps", available / 1e6);
            visit("w_ref", state.guide.reference);
        }
    }
}

/// Flow control by the rules of `S` that follows estimates where there are any
/// (`spec: arumaithurai §3.5 F1–F7`). Without any it is `S` to the bit.
///
/// Slow start is the window's: below the threshold. An estimate, whatever its value,
/// ends it by lowering the threshold to the window (A10).
#[derive(Debug)]
pub struct GuidedBy<S>(PhantomData<S>);

/// NF-TCP's flow control: AIMD(1, b) that follows estimates.
pub type Guided = GuidedBy<AimdB<Params>>;

impl<S: Guidable> FlowControl for GuidedBy<S> {
    type Params = S::Params;
    type State = window_controller::State<State<S::State>>;

    fn needs(params: &S::Params) -> Signals {
        <WindowController<GuidedScheme<S>> as FlowControl>::needs(params)
    }

    fn start(params: &S::Params, path: &Path) -> Self::State {
        <WindowController<GuidedScheme<S>> as FlowControl>::start(params, path)
    }

    #[inline]
    fn update(
        params: &S::Params,
        state: &mut Self::State,
        input: Input<'_>,
        signal: Signal,
        estimate: Option<Estimate>,
    ) {
        let guide = &mut state.scheme.guide;
        guide.base_rtt = input.path.base_rtt().unwrap_or_default();
        if let Some(Estimate { available, share }) = estimate {
            // F6.
            *guide = Guide { available: available.max(0.0), share, reference: state.window.cwnd, ..*guide };
            state.window.ssthresh = state.window.ssthresh.min(state.window.cwnd);
        }
        <WindowController<GuidedScheme<S>> as FlowControl>::update(params, state, input, signal, estimate);
        if signal != Signal::Clear {
            state.scheme.guide.reference = state.window.cwnd;
        }
    }

    #[inline]
    fn window(state: &Self::State) -> &Window {
        &state.window
    }

    #[inline]
    fn decision(params: &S::Params, state: &Self::State) -> Decision {
        <WindowController<GuidedScheme<S>> as FlowControl>::decision(params, state)
    }

    #[inline]
    fn is_bounded(state: &Self::State) -> bool {
        S::is_bounded(&state.scheme.scheme)
    }

    fn inspect(params: &S::Params, state: &Self::State, visit: &mut dyn FnMut(&'static str, f64)) {
        <WindowController<GuidedScheme<S>> as FlowControl>::inspect(params, state, visit);
    }
}

#[cfg(test)]
mod tests;
