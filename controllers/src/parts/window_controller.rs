//! The controller made of a window scheme, in a group or alone.
//!
//! A scheme that needs [`GROUPS`](Signals::GROUPS) keeps its window in the group's table,
//! where siblings may lower it: each step takes it from there, works on the flow's own
//! copy and puts it back (`spec: cho §2.2, §2.3`). Outside a group the copy is all there
//! is. A scheme without groups never looks at the table.

use core::fmt::Debug;
use core::marker::PhantomData;

use crate::parts::start_up::StartUp;
use crate::parts::window::Window;
use crate::parts::window_scheme::{Flow, WindowScheme, group_cwnd};
use crate::{Controller, Decision, Event, EventKind, Info, Member, Path, Signals, Table, Time, View};

/// The controller of the window scheme `S`.
#[derive(Debug)]
pub struct WindowController<S>(PhantomData<S>);

/// State of one flow of a window scheme.
// In this order, so that what every acknowledgement needs lies together.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct State<T> {
    /// When the latest ACK or the end of the latest idle period was reported.
    pub last_ack: Time,
    /// The window; in a group, as the flow's latest event left it.
    pub window: Window,
    /// What the scheme keeps besides.
    pub scheme: T,
    /// How the window is started up.
    pub start_up: StartUp,
}

/// Takes the window from the table. An entry the flow has not filled yet says nothing.
fn read_window(window: &mut Window, member: Option<&Member>) {
    let Some(member) = member.filter(|member| member.cwnd > 0.0) else { return };
    if member.cwnd != window.cwnd {
        // What a sibling took is not given back (spec: cho §11).
        window.discard_undo();
    }
    window.cwnd = member.cwnd;
    window.ssthresh = member.ssthresh;
}

impl<S: WindowScheme> WindowController<S> {
    /// Whether the flow's window is in the table.
    #[inline]
    fn is_member(members: &[Member], me: usize) -> bool {
        S::NEEDS.contains(Signals::GROUPS) && me < members.len()
    }

    /// The window in force, and the group it is in.
    #[inline]
    fn window_in_force<'a>(state: &State<S::State>, group: View<'a, S::Group>) -> (Window, View<'a, S::Group>) {
        let mut window = state.window;
        if !Self::is_member(group.members, group.me) {
            return (window, View::solo(group.shared));
        }
        read_window(&mut window, group.members.get(group.me));
        (window, group)
    }

    fn read_table(state: &mut State<S::State>, member: &mut Member, event: &Event) {
        if matches!(event.kind, EventKind::Joined) {
            *member = Member::new(member.id);
        }
        read_window(&mut state.window, Some(member));
    }

    /// What comes rarely, kept out of the way of acknowledgements.
    #[cold]
    fn handle_rare(
        params: &S::Params,
        state: &mut State<S::State>,
        shared: &mut S::Group,
        members: &mut [Member],
        me: usize,
        event: &Event,
    ) {
        Self::handle(params, state, Table { shared, members, me }, event);
    }

    #[inline(always)]
    fn handle(params: &S::Params, state: &mut State<S::State>, group: Table<'_, S::Group>, event: &Event) {
        let Table { shared, members, me } = group;
        let members = if Self::is_member(members, me) { members } else { &mut [] };
        if let Some(member) = members.get_mut(me) {
            Self::read_table(state, member, event);
        }
        let State { last_ack, window, scheme, start_up } = state;
        let group = Table { shared, members: &mut *members, me };
        Flow::<S> { params, window, state: scheme, group, now: event.now, event, last_ack, start_up }.handle(None);
        if let Some(member) = members.get_mut(me) {
            Self::write_table(state, member, event);
        }
    }

    fn write_table(state: &State<S::State>, member: &mut Member, event: &Event) {
        member.cwnd = state.window.cwnd;
        member.ssthresh = state.window.ssthresh;
        member.in_flight = event.in_flight().unwrap_or(member.in_flight);
    }
}

impl<S: WindowScheme<Group = ()>> WindowController<S> {
    /// One step of a flow outside any group where a detector has found whether the event
    /// brings new congestion.
    #[inline]
    pub fn step_with_detector(params: &S::Params, state: &mut State<S::State>, event: &Event, congestion: bool) {
        if matches!(event.kind, EventKind::PacketsAcked(_)) && !congestion {
            Self::handle_detected(params, state, event, false);
        } else {
            Self::handle_rare_detected(params, state, event, congestion);
        }
    }

    /// As [`handle_rare`](Self::handle_rare).
    #[cold]
    fn handle_rare_detected(params: &S::Params, state: &mut State<S::State>, event: &Event, congestion: bool) {
        Self::handle_detected(params, state, event, congestion);
    }

    #[inline(always)]
    fn handle_detected(params: &S::Params, state: &mut State<S::State>, event: &Event, congestion: bool) {
        let State { last_ack, window, scheme, start_up } = state;
        let mut shared = ();
        let group = Table::solo(&mut shared);
        Flow::<S> { params, window, state: scheme, group, now: event.now, event, last_ack, start_up }
            .handle(Some(congestion));
    }
}

impl<S: WindowScheme> Controller for WindowController<S> {
    const INFO: Info = S::INFO;
    type Params = S::Params;
    type State = State<S::State>;
    type Group = S::Group;

    fn needs(params: &S::Params) -> Signals {
        S::needs(params) | params.as_ref().start_up.needs()
    }

    fn group(params: &S::Params) -> S::Group {
        S::group(params)
    }

    fn start(params: &S::Params, path: &Path) -> State<S::State> {
        State {
            window: Window::start(&params.as_ref().limits, path),
            scheme: S::start(params, path),
            last_ack: path.now,
            start_up: StartUp::start(&params.as_ref().start_up),
        }
    }

    #[inline]
    fn step(params: &S::Params, state: &mut State<S::State>, group: Table<'_, S::Group>, event: &Event) {
        if matches!(event.kind, EventKind::PacketsAcked(_)) {
            Self::handle(params, state, group, event);
        } else {
            // By parts: a table handed on would be in memory whatever comes.
            Self::handle_rare(params, state, group.shared, group.members, group.me, event);
        }
    }

    #[inline]
    fn decide(params: &S::Params, state: &State<S::State>, group: View<'_, S::Group>) -> Decision {
        let window = Self::window_in_force(state, group).0;
        let mut decision = window.decision();
        if let Some(base_delay) = S::base_delay(&state.scheme) {
            base_delay.hold(params.as_ref().limits.min_window * window.mtu, &mut decision);
        }
        S::complete_decision(params, &state.scheme, &window, &mut decision);
        decision
    }

    fn inspect(
        params: &S::Params,
        state: &State<S::State>,
        group: View<'_, S::Group>,
        visit: &mut dyn FnMut(&'static str, f64),
    ) {
        let (window, group) = Self::window_in_force(state, group);
        visit("window", window.cwnd);
        if !group.members.is_empty() {
            visit("group_size", group.members.len() as f64);
            visit("group_window", group_cwnd(&group, window.cwnd));
        }
        state.start_up.inspect(&window, visit);
        S::inspect(params, &state.scheme, &window, group, visit);
    }
}

#[cfg(test)]
mod tests;
