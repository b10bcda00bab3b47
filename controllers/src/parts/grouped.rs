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

use crate::event::{Idle, Lost, Marked};
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

    /// Persistent congestion; returns the fraction of the window the threshold keeps.
    fn timeout(flow: &mut Flow<'_, Self>) -> f64 {
        let _ = flow;
        0.5
    }

    /// The latest response was taken back; the window is the restored one.
    fn undone(flow: &mut Flow<'_, Self>) {
        let _ = flow;
    }

    /// Time passed (`span`) in which the flow could not grow.
    fn paused(flow: &mut Flow<'_, Self>, span: Span) {
        let _ = (flow, span);
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
        let added = if self.window.in_slow_start() {
            match limited_divisor(base.lss, self.window.cwnd) {
                Some(r) if self.window.cwnd >= base.lss => units / r,
                _ => R::slow_start(self, units),
            }
        } else {
            let added = R::increase(self, units);
            // A floor under the scheme's own increment until its first reduction.
            match limited_divisor(base.lss, self.window.cwnd) {
                Some(r) if !self.window.reduced => added.max(units / r),
                _ => added,
            }
        };
        self.window.grow(base, added);
    }

    /// Whether the event brings congestion that deserves a response of its own.
    #[inline]
    fn is_news(&self, event: &Event) -> bool {
        match event.what {
            What::Marked(Marked { newest_sent_at, .. }) | What::Lost(Lost { newest_sent_at, .. }) => {
                self.window.epoch.accepts(newest_sent_at)
            }
            _ => false,
        }
    }

    fn undo(&mut self) {
        if self.window.undo() {
            R::undone(self);
        }
    }

    fn idle(&mut self, idle: &Idle) {
        self.window.idle(self.params.as_ref(), idle);
        R::paused(self, idle.idle);
    }

    /// One event; `verdict` is somebody else's on whether it brings new congestion.
    #[inline]
    fn take(&mut self, event: &Event, verdict: Option<bool>) {
        R::heard(self, event);
        if verdict.unwrap_or_else(|| self.is_news(event)) {
            R::congestion(self);
        } else {
            self.advance(event);
        }
    }

    /// Everything an event means apart from congestion.
    #[inline]
    fn advance(&mut self, event: &Event) {
        let base = self.params.as_ref();
        match &event.what {
            What::Acked(acked) => {
                let mut units = self.window.credit(base, acked);
                if base.growth == Growth::Packets {
                    let mut steps = 0;
                    while units > 1.0 && steps < MAX_STEPS {
                        self.grow(1.0);
                        units -= 1.0;
                        steps += 1;
                    }
                }
                if units > 0.0 {
                    self.grow(units);
                }
            }
            What::PersistentCongestion(_) => {
                let keep = R::timeout(self);
                self.window.timeout(base, keep);
            }
            What::SpuriousLoss(_) => self.undo(),
            What::Mtu(mtu) => {
                let before = self.window.mtu;
                self.window.resize(base, *mtu);
                R::resized(self, before / self.window.mtu);
            }
            What::Idle(idle) => self.idle(idle),
            _ => {}
        }
    }
}

/// Sum of the group's windows in the order of the table, with `own` for the flow's own.
fn total<G>(group: &View<'_, G>, own: f64) -> f64 {
    if group.members.get(group.me).is_none() {
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
    const SHARES: bool = R::NEEDS.contains(Signals::GROUPS);

    /// The window in force.
    fn window(state: &State<R::Memory>, group: &View<'_, R::Shared>) -> Window {
        let mut window = state.window;
        if Self::SHARES {
            follow(&mut window, group.members.get(group.me));
        }
        window
    }

    fn enter(state: &mut State<R::Memory>, member: &mut Member, event: &Event) {
        if event.what == What::Joined {
            *member = Member::new(member.id);
        }
        follow(&mut state.window, Some(member));
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
        let State { window, memory } = state;
        let mut shared = ();
        let group = Table::solo(&mut shared);
        Flow::<R> { params, window, memory, group, now: event.now }.take(event, Some(congested));
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
        State { window: Window::start(params.as_ref(), path), memory: R::start(params, path) }
    }

    #[inline]
    fn step(
        params: &R::Params,
        mut state: State<R::Memory>,
        group: Table<'_, R::Shared>,
        event: &Event,
    ) -> State<R::Memory> {
        let Table { shared, members, me } = group;
        let members = if Self::SHARES { members } else { &mut [] };
        if let Some(member) = members.get_mut(me) {
            Self::enter(&mut state, member, event);
        }
        let State { window, memory } = &mut state;
        let group = Table { shared, members: &mut *members, me };
        Flow::<R> { params, window, memory, group, now: event.now }.take(event, None);
        if let Some(member) = members.get_mut(me) {
            Self::leave(&state, member, event);
        }
        state
    }

    #[inline]
    fn decide(_: &R::Params, state: &State<R::Memory>, group: View<'_, R::Shared>) -> Decision {
        Self::window(state, &group).decision()
    }

    fn inspect(
        params: &R::Params,
        state: &State<R::Memory>,
        group: View<'_, R::Shared>,
        visit: &mut dyn FnMut(&'static str, f64),
    ) {
        let window = Self::window(state, &group);
        visit("window", window.cwnd);
        if Self::SHARES {
            visit("group_size", group.members.len().max(1) as f64);
            visit("group_window", total(&group, window.cwnd));
        }
        R::inspect(params, &state.memory, &window, group, visit);
    }
}
