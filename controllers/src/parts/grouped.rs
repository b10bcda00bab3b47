//! The skeleton of every window scheme, in a group or alone: events in, growth per
//! acknowledged packet, one response per congestion event.
//!
//! A scheme that needs [`GROUPS`](Signals::GROUPS) keeps its window in the group's table,
//! where siblings may lower it: each step takes it from there, works on the flow's own
//! copy and puts it back (`spec: cho §2.2, §2.3`). Outside a group the copy is all there
//! is. A scheme without groups ([`loss_based`](crate::parts::loss_based)) never looks at
//! the table.

use core::fmt::Debug;
use core::marker::PhantomData;

use crate::parts::base::Base;
use crate::parts::slow_start::{HyStart, SlowStart};
use crate::parts::window::Window;
use crate::{Controller, Decision, Event, EventKind, Info, Member, Parameters, Path, Signals, Span, Table, Time, View};

mod flow;

pub use flow::Flow;
use flow::total;

/// What distinguishes one window scheme from another.
pub trait GroupRules: Debug + Send + Sync + Sized + 'static {
    /// Name, summary, source and fallback.
    const INFO: Info;
    /// See [`Controller::needs`].
    const NEEDS: Signals;
    /// See [`Controller::Params`].
    type Params: Parameters + AsRef<Base>;
    /// What a flow remembers besides its window.
    type Memory: Copy + PartialEq + Debug + Send + Sync + 'static;
    /// What the group shares besides its members' windows.
    type Shared: Copy + PartialEq + Debug + Send + Sync + 'static;

    /// See [`Controller::needs`], for schemes where it depends on the parameters.
    fn needs(_: &Self::Params) -> Signals {
        Self::NEEDS
    }

    /// Shared facts of a new group.
    fn shared(params: &Self::Params) -> Self::Shared;

    /// Memory of a new flow.
    fn start(params: &Self::Params, path: &Path) -> Self::Memory;

    /// Any event, before the skeleton makes anything of it: RTT samples, delay rules,
    /// detectors (`spec: cho §1.7`).
    fn heard(flow: &mut Flow<'_, Self>, event: &Event) {
        let _ = (flow, event);
    }

    /// Packets to add for `units` acknowledged in slow start.
    fn slow_start(flow: &mut Flow<'_, Self>, units: f64) -> f64 {
        let _ = flow;
        units
    }

    /// Packets to add for `units` acknowledged in congestion avoidance.
    fn increase(flow: &mut Flow<'_, Self>, units: f64) -> f64;

    /// The response to a congestion event, the first of its flight: [`Flow::respond`] or
    /// [`Flow::hold`], and what siblings have to give.
    fn congestion(flow: &mut Flow<'_, Self>);

    /// Persistent congestion; returns the new threshold.
    fn timeout(flow: &mut Flow<'_, Self>) -> f64 {
        0.5 * flow.window.cwnd
    }

    /// Part of the window of which less may be lost without a lasting response: recovery over, it
    /// is taken back by the first ACK that would grow such a window. 0 never does.
    #[inline]
    fn rollback(_: &Self::Params) -> f64 {
        0.0
    }

    /// The latest response was taken back; the window is the restored one.
    fn undone(flow: &mut Flow<'_, Self>) {
        let _ = flow;
    }

    /// The `span` before now is time in which the flow could not grow: it was idle or
    /// limited by the application.
    fn paused(flow: &mut Flow<'_, Self>, span: Span) {
        let _ = (flow, span);
    }

    /// The window fell back to the initial one because the flow was idle.
    fn restarted(flow: &mut Flow<'_, Self>) {
        let _ = flow;
    }

    /// The datagram size changed; window-valued memory is multiplied by `ratio`.
    fn resized(flow: &mut Flow<'_, Self>, ratio: f64) {
        let _ = (flow, ratio);
    }

    /// Says of a decision what the window does not tell: codepoints, pacing.
    #[inline]
    fn finish(params: &Self::Params, memory: &Self::Memory, window: &Window, decision: &mut Decision) {
        let _ = (params, memory, window, decision);
    }

    /// See [`Controller::inspect`]; `window` is the one in force.
    fn inspect(
        params: &Self::Params,
        memory: &Self::Memory,
        window: &Window,
        group: View<'_, Self::Shared>,
        visit: &mut dyn FnMut(&'static str, f64),
    ) {
        let _ = (params, memory, window, group, visit);
    }
}

/// A window scheme made of `R`.
#[derive(Debug)]
pub struct Grouped<R>(PhantomData<R>);

/// State of one flow of a window scheme.
// In this order, so that what every acknowledgement needs lies together.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct State<M> {
    /// When the latest ACK or the end of the latest idle period was heard of.
    pub heard: Time,
    /// The window; in a group, as the flow's latest event left it.
    pub window: Window,
    /// What the scheme remembers besides.
    pub memory: M,
    /// What the first slow start has seen.
    pub hystart: HyStart,
}

/// Takes the window from the table. An entry the flow has not filled yet says nothing.
fn follow(window: &mut Window, member: Option<&Member>) {
    let Some(member) = member.filter(|member| member.cwnd > 0.0) else { return };
    if member.cwnd != window.cwnd {
        // What a sibling took is not given back (spec: cho §11).
        window.discard_undo();
    }
    window.cwnd = member.cwnd;
    window.ssthresh = member.ssthresh;
}

impl<R: GroupRules> Grouped<R> {
    /// Whether the flow's window is in the table.
    #[inline]
    fn is_member(members: &[Member], me: usize) -> bool {
        R::NEEDS.contains(Signals::GROUPS) && me < members.len()
    }

    /// The window in force, and the group it is in.
    #[inline]
    fn look<'a>(state: &State<R::Memory>, group: View<'a, R::Shared>) -> (Window, View<'a, R::Shared>) {
        let mut window = state.window;
        if !Self::is_member(group.members, group.me) {
            return (window, View::solo(group.shared));
        }
        follow(&mut window, group.members.get(group.me));
        (window, group)
    }

    fn enter(state: &mut State<R::Memory>, member: &mut Member, event: &Event) {
        if matches!(event.kind, EventKind::Joined) {
            *member = Member::new(member.id);
        }
        follow(&mut state.window, Some(member));
    }

    /// What comes rarely, kept out of the way of acknowledgements.
    #[cold]
    fn turn(
        params: &R::Params,
        state: &mut State<R::Memory>,
        shared: &mut R::Shared,
        members: &mut [Member],
        me: usize,
        event: &Event,
    ) {
        Self::take(params, state, Table { shared, members, me }, event);
    }

    #[inline(always)]
    fn take(params: &R::Params, state: &mut State<R::Memory>, group: Table<'_, R::Shared>, event: &Event) {
        let Table { shared, members, me } = group;
        let members = if Self::is_member(members, me) { members } else { &mut [] };
        if let Some(member) = members.get_mut(me) {
            Self::enter(state, member, event);
        }
        let State { window, memory, heard, hystart } = state;
        let group = Table { shared, members: &mut *members, me };
        Flow::<R> { params, window, memory, group, now: event.now, event, heard, hystart }.take(None);
        if let Some(member) = members.get_mut(me) {
            Self::leave(state, member, event);
        }
    }

    fn leave(state: &State<R::Memory>, member: &mut Member, event: &Event) {
        member.cwnd = state.window.cwnd;
        member.ssthresh = state.window.ssthresh;
        member.in_flight = event.in_flight().unwrap_or(member.in_flight);
    }
}

impl<R: GroupRules<Shared = ()>> Grouped<R> {
    /// One step of a flow outside any group whose verdict on congestion is not the
    /// skeleton's but a detector's.
    #[inline]
    pub fn judged(params: &R::Params, state: &mut State<R::Memory>, event: &Event, congested: bool) {
        let State { window, memory, heard, hystart } = state;
        let mut shared = ();
        let group = Table::solo(&mut shared);
        Flow::<R> { params, window, memory, group, now: event.now, event, heard, hystart }.take(Some(congested));
    }
}

impl<R: GroupRules> Controller for Grouped<R> {
    const INFO: Info = R::INFO;
    type Params = R::Params;
    type State = State<R::Memory>;
    type Group = R::Shared;

    fn needs(params: &R::Params) -> Signals {
        let watch = params.as_ref().slow_start == SlowStart::HyStart;
        R::needs(params) | if watch { Signals::RTT } else { Signals::NONE }
    }

    fn group(params: &R::Params) -> R::Shared {
        R::shared(params)
    }

    fn start(params: &R::Params, path: &Path) -> State<R::Memory> {
        State {
            window: Window::start(params.as_ref(), path),
            memory: R::start(params, path),
            heard: path.now,
            hystart: HyStart::default(),
        }
    }

    #[inline]
    fn step(params: &R::Params, state: &mut State<R::Memory>, group: Table<'_, R::Shared>, event: &Event) {
        if matches!(event.kind, EventKind::PacketsAcked(_)) {
            Self::take(params, state, group, event);
        } else {
            // By parts: a table handed on would be in memory whatever comes.
            Self::turn(params, state, group.shared, group.members, group.me, event);
        }
    }

    #[inline]
    fn decide(params: &R::Params, state: &State<R::Memory>, group: View<'_, R::Shared>) -> Decision {
        let window = Self::look(state, group).0;
        let mut decision = window.decision();
        R::finish(params, &state.memory, &window, &mut decision);
        decision
    }

    fn inspect(
        params: &R::Params,
        state: &State<R::Memory>,
        group: View<'_, R::Shared>,
        visit: &mut dyn FnMut(&'static str, f64),
    ) {
        let (window, group) = Self::look(state, group);
        visit("window", window.cwnd);
        if !group.members.is_empty() {
            visit("group_size", group.members.len() as f64);
            visit("group_window", total(&group, window.cwnd));
        }
        if state.hystart.is_conservative() && window.in_slow_start() {
            visit("conservative_slow_start", 1.0);
        }
        R::inspect(params, &state.memory, &window, group, visit);
    }
}
