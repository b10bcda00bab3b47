//! One algorithm, two rules: every scheme that grows per acknowledged packet and
//! shrinks once per congestion event is this skeleton with its own increase and
//! decrease.

use core::fmt::Debug;
use core::marker::PhantomData;

use crate::event::{Idle, Rtt};
use crate::parts::base::{Base, Growth};
use crate::parts::window::{Cut, Window};
use crate::{Controller, Decision, Event, Parameters, Path, Signals, Span, Table, Time, View, What};

/// Packet-by-packet growth handles at most this many packets one by one; the rest of
/// an ACK that large counts as one.
const MAX_STEPS: u32 = 1024;

/// What distinguishes one loss-based scheme from another.
pub trait Rules: Debug + Send + Sync + 'static {
    /// See [`Controller::NAME`].
    const NAME: &'static str;
    /// See [`Controller::SUMMARY`].
    const SUMMARY: &'static str;
    /// See [`Controller::SOURCE`].
    const SOURCE: &'static str;
    /// See [`Controller::needs`].
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS);
    /// Parameters; `()` beside the shared ones is not possible, see [`Params`](Self::Params).
    type Params: Parameters + AsRef<Base>;
    /// What the scheme remembers besides its window.
    type Memory: Copy + PartialEq + Debug + Send + Sync + 'static;

    /// Memory of a new flow.
    fn start(params: &Self::Params, path: &Path) -> Self::Memory;

    /// An RTT sample arrived, in recovery or not.
    fn sampled(params: &Self::Params, memory: &mut Self::Memory, now: Time, rtt: &Rtt) {
        let _ = (params, memory, now, rtt);
    }

    /// Packets to add for `units` acknowledged in congestion avoidance.
    fn increase(params: &Self::Params, memory: &mut Self::Memory, window: &Window, now: Time, units: f64) -> f64;

    /// Packets to add for `units` acknowledged in slow start.
    fn slow_start(params: &Self::Params, memory: &mut Self::Memory, window: &Window, now: Time, units: f64) -> f64 {
        let _ = (params, memory, window, now);
        units
    }

    /// The response to a congestion event at window `window`.
    fn decrease(params: &Self::Params, memory: &mut Self::Memory, window: &Window, now: Time) -> Cut;

    /// Persistent congestion; returns the fraction of the window the threshold keeps.
    fn timeout(params: &Self::Params, memory: &mut Self::Memory, window: &Window, now: Time) -> f64 {
        let _ = (params, memory, window, now);
        0.5
    }

    /// The latest response was taken back; `window` is the restored one.
    fn undone(params: &Self::Params, memory: &mut Self::Memory, window: &Window) {
        let _ = (params, memory, window);
    }

    /// Time passed (`span`) in which the flow could not grow: it was idle or limited by
    /// the application.
    fn paused(params: &Self::Params, memory: &mut Self::Memory, span: Span) {
        let _ = (params, memory, span);
    }

    /// The datagram size changed; window-valued memory is multiplied by `ratio`.
    fn resized(memory: &mut Self::Memory, ratio: f64) {
        let _ = (memory, ratio);
    }

    /// See [`Controller::inspect`].
    fn inspect(
        params: &Self::Params,
        memory: &Self::Memory,
        window: &Window,
        visit: &mut dyn FnMut(&'static str, f64),
    ) {
        let _ = (params, memory, window, visit);
    }
}

/// A loss-based controller made of `R`.
#[derive(Debug)]
pub struct LossBased<R>(PhantomData<R>);

/// State of a loss-based flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct State<M> {
    /// The window.
    pub window: Window,
    /// What the scheme remembers besides.
    pub memory: M,
}

/// Limited slow start's divisor, `floor(cwnd / (max_ssthresh/2))`; none below 1
/// (`RFC 3742 §2`; `spec: sharma §1.7`).
#[must_use]
pub fn limited_divisor(lss: f64, cwnd: f64) -> Option<f64> {
    if lss <= 0.0 {
        return None;
    }
    let r = libm::floor(cwnd / (lss / 2.0));
    (r >= 1.0).then_some(r)
}

impl<R: Rules> LossBased<R> {
    #[inline]
    fn grow(params: &R::Params, state: &mut State<R::Memory>, now: Time, units: f64) {
        let base = params.as_ref();
        let State { window, memory } = state;
        let added = if window.in_slow_start() {
            match limited_divisor(base.lss, window.cwnd) {
                Some(r) if window.cwnd >= base.lss => units / r,
                _ => R::slow_start(params, memory, window, now, units),
            }
        } else {
            let added = R::increase(params, memory, window, now, units);
            // A floor under the scheme's own increment until its first reduction.
            match limited_divisor(base.lss, window.cwnd) {
                Some(r) if !window.reduced => added.max(units / r),
                _ => added,
            }
        };
        window.grow(base, added);
    }

    fn congestion(params: &R::Params, state: &mut State<R::Memory>, now: Time, sent_at: Time) {
        let base = params.as_ref();
        if !state.window.epoch.accepts(sent_at) {
            return;
        }
        let mut cut = R::decrease(params, &mut state.memory, &state.window, now);
        // spec: sharma §1.6: the platform's own first reduction is a halving.
        if base.first_halving && (!state.window.ever_reduced || state.window.in_slow_start()) {
            cut = Cut::to(0.5, state.window.cwnd);
        }
        state.window.cut(base, now, cut);
    }

    fn idle(params: &R::Params, state: &mut State<R::Memory>, idle: &Idle) {
        state.window.idle(params.as_ref(), idle);
        R::paused(params, &mut state.memory, idle.idle);
    }
}

impl<R: Rules> Controller for LossBased<R> {
    const NAME: &'static str = R::NAME;
    const SUMMARY: &'static str = R::SUMMARY;
    const SOURCE: &'static str = R::SOURCE;
    type Params = R::Params;
    type State = State<R::Memory>;
    type Group = ();

    fn needs(_: &R::Params) -> Signals {
        R::NEEDS
    }

    fn group(_: &R::Params) {}

    fn start(params: &R::Params, path: &Path) -> State<R::Memory> {
        State { window: Window::start(params.as_ref(), path), memory: R::start(params, path) }
    }

    #[inline]
    fn step(params: &R::Params, mut state: State<R::Memory>, _: Table<'_, ()>, event: &Event) -> State<R::Memory> {
        let base = params.as_ref();
        let now = event.now;
        if let Some(rtt) = event.rtt() {
            R::sampled(params, &mut state.memory, now, &rtt);
        }
        match &event.what {
            What::Acked(acked) => {
                let mut units = state.window.credit(base, acked);
                if base.growth == Growth::Packets {
                    let mut steps = 0;
                    while units > 1.0 && steps < MAX_STEPS {
                        Self::grow(params, &mut state, now, 1.0);
                        units -= 1.0;
                        steps += 1;
                    }
                }
                if units > 0.0 {
                    Self::grow(params, &mut state, now, units);
                }
            }
            What::Marked(marked) => Self::congestion(params, &mut state, now, marked.newest_sent_at),
            What::Lost(lost) => Self::congestion(params, &mut state, now, lost.newest_sent_at),
            What::PersistentCongestion(_) => {
                let keep = R::timeout(params, &mut state.memory, &state.window, now);
                state.window.timeout(base, keep);
            }
            What::SpuriousLoss(_) => {
                if state.window.undo() {
                    R::undone(params, &mut state.memory, &state.window);
                }
            }
            What::Mtu(mtu) => {
                let before = state.window.mtu;
                state.window.resize(base, *mtu);
                R::resized(&mut state.memory, before / state.window.mtu);
            }
            What::Idle(idle) => Self::idle(params, &mut state, idle),
            _ => {}
        }
        state
    }

    #[inline]
    fn decide(_: &R::Params, state: &State<R::Memory>, _: View<'_, ()>) -> Decision {
        state.window.decision()
    }

    fn inspect(
        params: &R::Params,
        state: &State<R::Memory>,
        _: View<'_, ()>,
        visit: &mut dyn FnMut(&'static str, f64),
    ) {
        visit("window", state.window.cwnd);
        R::inspect(params, &state.memory, &state.window, visit);
    }
}
