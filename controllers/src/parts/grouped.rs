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

use crate::event::{Acked, Idle, Lost, Marked};
use crate::parts::base::{Base, Growth};
use crate::parts::window::{Cut, Window};
use crate::{Controller, Decision, Event, Member, Parameters, Path, Signals, Span, Table, Time, View, What};

/// Packet-by-packet growth handles at most this many packets one by one; the rest of
/// an ACK that large counts as one.
const MAX_STEPS: u32 = 1024;

/// What distinguishes one window scheme from another.
pub trait GroupRules: Debug + Send + Sync + Sized + 'static {
    /// See [`Controller::NAME`].
    const NAME: &'static str;
    /// See [`Controller::SUMMARY`].
    const SUMMARY: &'static str;
    /// See [`Controller::SOURCE`].
    const SOURCE: &'static str;
    /// See [`Controller::needs`].
    const NEEDS: Signals;
    /// See [`Controller::Params`].
    type Params: Parameters + AsRef<Base>;
    /// What a flow remembers besides its window.
    type Memory: Copy + PartialEq + Debug + Send + Sync + 'static;
    /// What the group shares besides its members' windows.
    type Shared: Copy + PartialEq + Debug + Send + Sync + 'static;

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
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct State<M> {
    /// The window; in a group, as the flow's latest event left it.
    pub window: Window,
    /// What the scheme remembers besides.
    pub memory: M,
    /// When the latest ACK or the end of the latest idle period was heard of.
    pub heard: Time,
}

/// One flow during one event.
#[derive(Debug)]
pub struct Flow<'a, R: GroupRules> {
    /// The scheme's parameters.
    pub params: &'a R::Params,
    /// The flow's window.
    pub window: &'a mut Window,
    /// What it remembers besides.
    pub memory: &'a mut R::Memory,
    /// Its group. Its own entry is put right after the event.
    pub group: Table<'a, R::Shared>,
    /// Now.
    pub now: Time,
    /// The event.
    pub event: &'a Event,
    heard: &'a mut Time,
}

/// Limited slow start's divisor, `floor(cwnd / (max_ssthresh/2))`; none below 1
/// (`RFC 3742 §2`; `spec: sharma §1.7`).
#[must_use]
pub fn limited_divisor(lss: f64, cwnd: f64) -> Option<f64> {
    if lss <= 0.0 {
        return None;
    }
    let r = (cwnd / (0.5 * lss)) as u32;
    (r >= 1).then(|| f64::from(r))
}

impl<R: GroupRules> Flow<'_, R> {
    /// How many flows the group has; 1 outside a group.
    #[must_use]
    pub fn size(&self) -> usize {
        self.group.members.len().max(1)
    }

    /// The flow's own entry; none outside a group.
    #[must_use]
    pub fn member(&self) -> Option<&Member> {
        self.group.members.get(self.group.me)
    }

    /// Sum of the group's windows, in the order of the table (`spec: cho §2.3 g_cwnd`).
    #[must_use]
    pub fn total(&self) -> f64 {
        total(&self.group.view(), self.window.cwnd)
    }

    /// The members other than this flow, in the order of the table.
    pub fn siblings(&mut self) -> impl Iterator<Item = &mut Member> {
        let me = self.group.me;
        self.group.members.iter_mut().enumerate().filter(move |(i, _)| *i != me).map(|(_, member)| member)
    }

    /// Takes a congestion response.
    pub fn respond(&mut self, mut cut: Cut) {
        let base = self.params.as_ref();
        // spec: sharma §1.6: the platform's own first reduction is a halving.
        if base.first_halving && (!self.window.ever_reduced || self.window.in_slow_start()) {
            cut = Cut::to(0.5, self.window.cwnd);
        }
        self.window.cut(base, self.now, cut);
    }

    /// Takes a congestion response that moves the threshold and leaves the window.
    pub fn hold(&mut self, ssthresh: f64) {
        self.window.hold(self.now, ssthresh);
    }

    #[inline]
    fn grow(&mut self, units: f64) {
        let base = self.params.as_ref();
        if base.lss > 0.0 && !self.window.reduced {
            return self.grow_limited(units);
        }
        let added = if self.window.in_slow_start() { R::slow_start(self, units) } else { R::increase(self, units) };
        self.window.grow(base, added);
    }

    /// Growth under limited slow start (`RFC 3742`; `spec: sharma §1.7`).
    #[inline]
    fn grow_limited(&mut self, units: f64) {
        let base = self.params.as_ref();
        let divisor = limited_divisor(base.lss, self.window.cwnd);
        let added = if self.window.in_slow_start() {
            let added = R::slow_start(self, units);
            match divisor {
                Some(r) if self.window.cwnd >= base.lss => added.min(units / r),
                _ => added,
            }
        } else {
            let added = R::increase(self, units);
            // A floor under the scheme's own increment until its first reduction.
            divisor.map_or(added, |r| added.max(units / r))
        };
        self.window.grow(base, added);
    }

    /// Packet-by-packet growth; returns what is left for one last step.
    #[inline]
    fn grow_by_packets(&mut self, mut units: f64) -> f64 {
        let mut steps = 0;
        while units > 1.0 && steps < MAX_STEPS {
            self.grow(1.0);
            units -= 1.0;
            steps += 1;
        }
        units
    }

    #[inline]
    fn acknowledged(&mut self, acked: &Acked) {
        let base = self.params.as_ref();
        if acked.app_limited {
            R::paused(self, self.now.since(*self.heard));
        }
        *self.heard = self.now;
        let mut units = self.window.credit(base, acked);
        if base.growth == Growth::Packets {
            units = self.grow_by_packets(units);
        }
        if units > 0.0 {
            self.grow(units);
        }
    }

    /// Whether the event brings congestion that deserves a response of its own.
    #[inline]
    fn is_news(&self) -> bool {
        match self.event.what {
            What::Marked(Marked { newest_sent_at, .. }) | What::Lost(Lost { newest_sent_at, .. }) => {
                self.window.epoch.accepts(newest_sent_at)
            }
            _ => false,
        }
    }

    fn timeout(&mut self) {
        let ssthresh = R::timeout(self);
        self.window.start_over(self.params.as_ref(), ssthresh);
    }

    fn undo(&mut self) {
        if self.window.undo() {
            R::undone(self);
        }
    }

    fn resize(&mut self, mtu: u32) {
        let before = self.window.mtu;
        self.window.resize(self.params.as_ref(), mtu);
        R::resized(self, before / self.window.mtu);
    }

    fn idle(&mut self, idle: &Idle) {
        R::paused(self, idle.idle);
        *self.heard = self.now;
        if self.window.idle(self.params.as_ref(), idle) {
            R::restarted(self);
        }
    }

    /// One event; `verdict` is somebody else's on whether it brings new congestion.
    #[inline]
    fn take(&mut self, verdict: Option<bool>) {
        R::heard(self, self.event);
        if verdict.unwrap_or_else(|| self.is_news()) {
            R::congestion(self);
        } else {
            self.advance();
        }
    }

    /// Everything an event means apart from congestion.
    #[inline]
    fn advance(&mut self) {
        match &self.event.what {
            What::Acked(acked) => self.acknowledged(acked),
            What::PersistentCongestion(_) => self.timeout(),
            What::SpuriousLoss(_) => self.undo(),
            What::Mtu(mtu) => self.resize(*mtu),
            What::Idle(idle) => self.idle(idle),
            _ => {}
        }
    }
}

/// Sum of the group's windows in the order of the table, with `own` for the flow's own.
fn total<G>(group: &View<'_, G>, own: f64) -> f64 {
    if group.members.is_empty() {
        return own;
    }
    group.members.iter().enumerate().fold(0.0, |sum, (i, member)| sum + if i == group.me { own } else { member.cwnd })
}

/// Takes the window from the table. An entry the flow has not filled yet says nothing.
fn follow(window: &mut Window, member: Option<&Member>) {
    let Some(member) = member.filter(|member| member.cwnd > 0.0) else { return };
    if member.cwnd != window.cwnd {
        // What a sibling took is not given back (spec: cho §11).
        window.settle();
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
        if matches!(event.what, What::Joined) {
            *member = Member::new(member.id);
        }
        follow(&mut state.window, Some(member));
    }

    /// What comes rarely, kept out of the way of acknowledgements.
    #[cold]
    fn turn(params: &R::Params, state: &mut State<R::Memory>, group: Table<'_, R::Shared>, event: &Event) {
        Self::take(params, state, group, event);
    }

    #[inline]
    fn take(params: &R::Params, state: &mut State<R::Memory>, group: Table<'_, R::Shared>, event: &Event) {
        let Table { shared, members, me } = group;
        let members = if Self::is_member(members, me) { members } else { &mut [] };
        if let Some(member) = members.get_mut(me) {
            Self::enter(state, member, event);
        }
        let State { window, memory, heard } = state;
        let group = Table { shared, members: &mut *members, me };
        Flow::<R> { params, window, memory, group, now: event.now, event, heard }.take(None);
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
        let State { window, memory, heard } = state;
        let mut shared = ();
        let group = Table::solo(&mut shared);
        Flow::<R> { params, window, memory, group, now: event.now, event, heard }.take(Some(congested));
    }
}

impl<R: GroupRules> Controller for Grouped<R> {
    const NAME: &'static str = R::NAME;
    const SUMMARY: &'static str = R::SUMMARY;
    const SOURCE: &'static str = R::SOURCE;
    type Params = R::Params;
    type State = State<R::Memory>;
    type Group = R::Shared;

    fn needs(_: &R::Params) -> Signals {
        R::NEEDS
    }

    fn group(params: &R::Params) -> R::Shared {
        R::shared(params)
    }

    fn start(params: &R::Params, path: &Path) -> State<R::Memory> {
        State { window: Window::start(params.as_ref(), path), memory: R::start(params, path), heard: path.now }
    }

    #[inline]
    fn step(
        params: &R::Params,
        mut state: State<R::Memory>,
        group: Table<'_, R::Shared>,
        event: &Event,
    ) -> State<R::Memory> {
        Self::advance(params, &mut state, group, event);
        state
    }

    #[inline]
    fn advance(params: &R::Params, state: &mut State<R::Memory>, group: Table<'_, R::Shared>, event: &Event) {
        if matches!(event.what, What::Acked(_)) {
            Self::take(params, state, group, event);
        } else {
            Self::turn(params, state, group, event);
        }
    }

    #[inline]
    fn decide(_: &R::Params, state: &State<R::Memory>, group: View<'_, R::Shared>) -> Decision {
        Self::look(state, group).0.decision()
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
        R::inspect(params, &state.memory, &window, group, visit);
    }
}
