//! One algorithm, two rules: every scheme that grows per acknowledged packet and
//! shrinks once per congestion event is this skeleton with its own increase and
//! decrease.

use core::fmt::Debug;
use core::marker::PhantomData;

use crate::event::{PacketsAcked, RttSample};
use crate::parts::base::Base;
use crate::parts::grouped::{Flow, GroupRules, Grouped};
use crate::parts::window::{Reduction, Window};
use crate::{Event, EventKind, Info, Parameters, Path, Signals, Span, Time, View};

pub use crate::parts::grouped::State;

/// What distinguishes one loss-based scheme from another.
pub trait Rules: Debug + Send + Sync + 'static {
    /// Name, summary, source and fallback.
    const INFO: Info;
    /// See [`Controller::needs`](crate::Controller::needs).
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS);
    /// Parameters; `()` beside the shared ones is not possible, see [`Params`](Self::Params).
    type Params: Parameters + AsRef<Base>;
    /// What the scheme remembers besides its window.
    type Memory: Copy + PartialEq + Debug + Send + Sync + 'static;

    /// See [`Controller::needs`](crate::Controller::needs), for schemes where it depends on
    /// the parameters.
    fn needs(_: &Self::Params) -> Signals {
        Self::NEEDS
    }

    /// Memory of a new flow.
    fn start(params: &Self::Params, path: &Path) -> Self::Memory;

    /// Any event, before anything is made of it.
    fn heard(params: &Self::Params, memory: &mut Self::Memory, window: &Window, event: &Event) {
        let _ = (params, memory, window, event);
    }

    /// An RTT sample arrived, in recovery or not.
    fn sampled(params: &Self::Params, memory: &mut Self::Memory, now: Time, rtt: &RttSample) {
        let _ = (params, memory, now, rtt);
    }

    /// An ACK arrived, its sample taken in and nothing grown yet, in recovery or not: here
    /// a scheme that heeds more than losses lowers its window by itself.
    fn acknowledged(
        params: &Self::Params,
        memory: &mut Self::Memory,
        window: &mut Window,
        now: Time,
        acked: &PacketsAcked,
    ) {
        let _ = (params, memory, window, now, acked);
    }

    /// Packets to add for `units` acknowledged in congestion avoidance.
    fn increase(params: &Self::Params, memory: &mut Self::Memory, window: &Window, now: Time, units: f64) -> f64;

    /// Packets to add for `units` acknowledged in slow start.
    fn slow_start(params: &Self::Params, memory: &mut Self::Memory, window: &Window, now: Time, units: f64) -> f64 {
        let _ = (params, memory, window, now);
        units
    }

    /// The response to the congestion `event` brings, at window `window`.
    fn decrease(params: &Self::Params, memory: &mut Self::Memory, window: &Window, event: &Event) -> Reduction;

    /// Persistent congestion; returns the fraction of the window the threshold keeps.
    fn timeout(params: &Self::Params, memory: &mut Self::Memory, window: &Window, event: &Event) -> f64 {
        let _ = (params, memory, window, event);
        0.5
    }

    /// See [`GroupRules::rollback`].
    #[inline]
    fn rollback(_: &Self::Params) -> f64 {
        0.0
    }

    /// The latest response was taken back; `window` is the restored one.
    fn undone(params: &Self::Params, memory: &mut Self::Memory, window: &Window) {
        let _ = (params, memory, window);
    }

    /// The `span` before `now` is time in which the flow could not grow: it was idle or
    /// limited by the application.
    fn paused(params: &Self::Params, memory: &mut Self::Memory, now: Time, span: Span) {
        let _ = (params, memory, now, span);
    }

    /// The window fell back to the initial one because the flow was idle.
    fn restarted(params: &Self::Params, memory: &mut Self::Memory, window: &Window) {
        let _ = (params, memory, window);
    }

    /// The datagram size changed; window-valued memory is multiplied by `ratio`.
    fn resized(memory: &mut Self::Memory, ratio: f64) {
        let _ = (memory, ratio);
    }

    /// See [`Controller::inspect`](crate::Controller::inspect).
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
pub type LossBased<R> = Grouped<Alone<R>>;

/// The rules of a scheme that knows no group.
#[derive(Debug)]
pub struct Alone<R>(PhantomData<R>);

impl<R: Rules> GroupRules for Alone<R> {
    const INFO: Info = R::INFO;
    const NEEDS: Signals = R::NEEDS;
    type Params = R::Params;
    type Memory = R::Memory;
    type Shared = ();

    fn needs(params: &R::Params) -> Signals {
        R::needs(params)
    }

    fn shared(_: &R::Params) {}

    fn start(params: &R::Params, path: &Path) -> R::Memory {
        R::start(params, path)
    }

    #[inline]
    fn heard(flow: &mut Flow<'_, Self>, event: &Event) {
        R::heard(flow.params, flow.memory, flow.window, event);
        if let Some(rtt) = event.rtt() {
            R::sampled(flow.params, flow.memory, flow.now, &rtt);
        }
        if let EventKind::PacketsAcked(acked) = &event.kind {
            R::acknowledged(flow.params, flow.memory, flow.window, flow.now, acked);
        }
    }

    #[inline]
    fn slow_start(flow: &mut Flow<'_, Self>, units: f64) -> f64 {
        R::slow_start(flow.params, flow.memory, flow.window, flow.now, units)
    }

    #[inline(always)]
    fn increase(flow: &mut Flow<'_, Self>, units: f64) -> f64 {
        R::increase(flow.params, flow.memory, flow.window, flow.now, units)
    }

    fn congestion(flow: &mut Flow<'_, Self>) {
        let cut = R::decrease(flow.params, flow.memory, flow.window, flow.event);
        flow.respond(cut);
    }

    fn timeout(flow: &mut Flow<'_, Self>) -> f64 {
        R::timeout(flow.params, flow.memory, flow.window, flow.event) * flow.window.cwnd
    }

    #[inline]
    fn rollback(params: &R::Params) -> f64 {
        R::rollback(params)
    }

    fn undone(flow: &mut Flow<'_, Self>) {
        R::undone(flow.params, flow.memory, flow.window);
    }

    fn paused(flow: &mut Flow<'_, Self>, span: Span) {
        R::paused(flow.params, flow.memory, flow.now, span);
    }

    fn restarted(flow: &mut Flow<'_, Self>) {
        R::restarted(flow.params, flow.memory, flow.window);
    }

    fn resized(flow: &mut Flow<'_, Self>, ratio: f64) {
        R::resized(flow.memory, ratio);
    }

    fn inspect(
        params: &R::Params,
        memory: &R::Memory,
        window: &Window,
        _: View<'_, ()>,
        visit: &mut dyn FnMut(&'static str, f64),
    ) {
        R::inspect(params, memory, window, visit);
    }
}

#[cfg(test)]
mod tests;
