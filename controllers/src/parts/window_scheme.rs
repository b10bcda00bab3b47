//! What distinguishes one window scheme from another, and the flow its rules work on.
//!
//! A window scheme grows per acknowledged packet and responds once per congestion event. To
//! write one is to implement [`WindowScheme`]: two rules are enough, everything else has the
//! standard's as default. [`WindowController`](crate::parts::window_controller::WindowController)
//! makes a controller of it, start-up ([`start_up`](crate::parts::start_up)) and recovery
//! ([`recovery`](crate::parts::recovery)) included.

use core::fmt::Debug;
use core::ops::Deref;

use crate::event::{EcnCe, IdleRestart, PacketsAcked, PacketsLost, RttSample};
use crate::parts::backstop::{Backstop, Settings};
use crate::parts::base::Base;
use crate::parts::base_delay::BaseDelay;
use crate::parts::limits::{Growth, Limits};
use crate::parts::recovery::{Reduction, Response};
use crate::parts::start_up::StartUp;
use crate::parts::window::Window;
use crate::{Decision, Event, EventKind, Info, Member, Parameters, Path, Signals, Span, Table, Time, View};

/// Packet-by-packet growth handles at most this many packets one by one; the rest of
/// an ACK that large counts as one.
const MAX_STEPS: u32 = 1024;

/// A window scheme: what a window adds per ACK and gives up on congestion.
pub trait WindowScheme: Debug + Send + Sync + Sized + 'static {
    /// See [`Controller::INFO`](crate::Controller::INFO).
    const INFO: Info;
    /// See [`Controller::needs`](crate::Controller::needs). With [`GROUPS`](Signals::GROUPS) the
    /// window is kept in the group's table, where siblings may lower it.
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS);
    /// The scheme's parameters, those of every window scheme ([`Base`]) among them.
    type Params: Parameters + AsRef<Base>;
    /// What a flow keeps besides its window; `()` for a scheme that needs nothing else.
    type State: Copy + PartialEq + Debug + Default + Send + Sync + 'static;
    /// What a group shares besides its members' windows; `()` without groups.
    type Group: Copy + PartialEq + Debug + Default + Send + Sync + 'static;

    /// See [`Controller::needs`](crate::Controller::needs), for schemes where it depends on
    /// the parameters.
    fn needs(_: &Self::Params) -> Signals {
        Self::NEEDS
    }

    /// Shared state of a new group.
    fn group(params: &Self::Params) -> Self::Group {
        let _ = params;
        Self::Group::default()
    }

    /// State of a new flow.
    fn start(params: &Self::Params, path: &Path) -> Self::State {
        let _ = (params, path);
        Self::State::default()
    }

    /// What losses bound the window by, for schemes whose growth is not ruled by loss.
    #[inline]
    fn backstop<'a>(params: &'a Self::Params, state: &'a mut Self::State) -> Option<(&'a Settings, &'a mut Backstop)> {
        let _ = (params, state);
        None
    }

    /// Whether losses bound the window, by the [`backstop`](Self::backstop).
    #[inline]
    fn is_bounded(state: &Self::State) -> bool {
        let _ = state;
        false
    }

    /// The path's least delay, for schemes that leave part of the window unused to look for it.
    #[inline]
    fn base_delay(state: &Self::State) -> Option<&BaseDelay> {
        let _ = state;
        None
    }

    /// Any event, before anything is made of it: delay rules, detectors (`spec: cho §1.7`).
    fn on_event(flow: &mut Flow<'_, Self>) {
        let _ = flow;
    }

    /// An RTT sample arrived, by itself or with an ACK, in recovery or not.
    fn on_rtt_sample(flow: &mut Flow<'_, Self>, rtt: &RttSample) {
        let _ = (flow, rtt);
    }

    /// An ACK frame arrived, its sample taken in and nothing grown yet, in recovery or not:
    /// here a scheme that answers delay lowers its window. Returns whether the frame may grow it.
    #[inline]
    fn on_packets_acked(flow: &mut Flow<'_, Self>, acked: &PacketsAcked) -> bool {
        let _ = (flow, acked);
        true
    }

    /// Packets to add for `acked` packets in slow start.
    fn on_ack_in_slow_start(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        let _ = flow;
        acked
    }

    /// Packets to add for `acked` packets in congestion avoidance.
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64;

    /// The window after congestion, the first of its flight, packets.
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response;

    /// The window is reduced by [`on_congestion`](Self::on_congestion): what siblings have to give.
    fn on_reduced(flow: &mut Flow<'_, Self>) {
        let _ = flow;
    }

    /// Start-up's own reduction, of several steps, is over: the window is what [`on_congestion`](Self::on_congestion)
    /// would have made of `full` packets, whatever it was when congestion struck.
    fn on_start_up_reduced(flow: &mut Flow<'_, Self>, full: f64) {
        let _ = (flow, full);
    }

    /// Persistent congestion; returns the new threshold, packets, which counts unless the flight
    /// was [answered](Flow::answered).
    fn on_persistent_congestion(flow: &mut Flow<'_, Self>) -> f64 {
        0.5 * flow.cwnd
    }

    /// The latest response was taken back; the window is the restored one.
    fn on_spurious_loss(flow: &mut Flow<'_, Self>) {
        let _ = flow;
    }

    /// For the `span` before now the window was not used (`RFC 9002 §7.8`): the flow was idle
    /// or limited by its application.
    fn on_underutilized(flow: &mut Flow<'_, Self>, span: Span) {
        let _ = (flow, span);
    }

    /// The window fell back to the initial one because the flow was idle.
    fn on_idle_restart(flow: &mut Flow<'_, Self>) {
        let _ = flow;
    }

    /// The datagram size changed; state in packets is multiplied by `ratio`.
    fn on_mtu_update(flow: &mut Flow<'_, Self>, ratio: f64) {
        let _ = (flow, ratio);
    }

    /// Sets in a decision what the window does not say: codepoints, pacing.
    #[inline]
    fn complete_decision(params: &Self::Params, state: &Self::State, window: &Window, decision: &mut Decision) {
        let _ = (params, state, window, decision);
    }

    /// See [`Controller::inspect`](crate::Controller::inspect); `window` is the one in force.
    fn inspect(
        params: &Self::Params,
        state: &Self::State,
        window: &Window,
        group: View<'_, Self::Group>,
        visit: &mut dyn FnMut(&'static str, f64),
    ) {
        let _ = (params, state, window, group, visit);
    }
}

/// One flow of `S` during one event. It reads as its [`Window`]: `flow.cwnd`, `flow.ssthresh`.
#[derive(Debug)]
pub struct Flow<'a, S: WindowScheme> {
    /// Parameters of the scheme.
    pub params: &'a S::Params,
    /// Window, threshold and recovery period.
    pub window: &'a mut Window,
    /// What the scheme keeps besides.
    pub state: &'a mut S::State,
    /// Its group. Its own entry is put right after the event.
    pub group: Table<'a, S::Group>,
    /// Time of the event.
    pub now: Time,
    /// The event of this step.
    pub event: &'a Event,
    /// When the latest ACK or the end of the latest idle period was reported.
    pub(super) last_ack: &'a mut Time,
    pub(super) start_up: &'a mut StartUp,
}

impl<S: WindowScheme> Deref for Flow<'_, S> {
    type Target = Window;

    #[inline(always)]
    fn deref(&self) -> &Window {
        self.window
    }
}

impl<S: WindowScheme> Flow<'_, S> {
    /// How many flows the group has; 1 outside a group.
    #[must_use]
    pub fn group_size(&self) -> usize {
        self.group.members.len().max(1)
    }

    /// The flow's own entry; `None` outside a group.
    #[must_use]
    pub fn member(&self) -> Option<&Member> {
        self.group.members.get(self.group.me)
    }

    /// Sum of the group's windows, in the order of the table (`spec: cho §2.3 g_cwnd`).
    #[must_use]
    pub fn group_cwnd(&self) -> f64 {
        group_cwnd(&self.group.view(), self.window.cwnd)
    }

    /// The members other than this flow, in the order of the table.
    pub fn siblings(&mut self) -> impl Iterator<Item = &mut Member> {
        let me = self.group.me;
        self.group.members.iter_mut().enumerate().filter(move |(i, _)| *i != me).map(|(_, member)| member)
    }

    /// Siblings for which `to` names a window, in packets, get it where it is the smaller
    /// one. A response that lowered siblings cannot be taken back (`spec: cho §2.3, §11`).
    pub fn lower_siblings(&mut self, to: impl Fn(&Member) -> Option<f64>) {
        let (now, floor) = (self.now, self.limits().min_window);
        let mut lowered = false;
        for member in self.siblings() {
            if let Some(cwnd) = to(member) {
                member.scale(cwnd, floor, now);
                lowered = true;
            }
        }
        if lowered {
            self.window.discard_undo();
        }
    }

    #[inline]
    fn limits(&self) -> &Limits {
        &self.params.as_ref().limits
    }

    /// What start-up makes of the `added` packets that the scheme would add for `acked` ones.
    #[inline(always)]
    fn started_up(&self, acked: f64, added: f64) -> f64 {
        let Base { limits, start_up } = self.params.as_ref();
        self.start_up.on_ack(start_up, limits, self.window, self.event, acked, added)
    }

    fn respond(&mut self) {
        match S::on_congestion(&mut self.reborrow()) {
            Response::Reduce(reduction) => {
                let Base { limits, start_up } = self.params.as_ref();
                // spec: sharma §1.6: the platform's own first reduction is a halving.
                let halves = start_up.halves_first(self.window);
                let reduction = if halves { Reduction::to(0.5 * self.window.cwnd) } else { reduction };
                let reduction = self.start_up.on_congestion(limits, self.window, reduction);
                self.window.reduce(limits, self.now, reduction);
                S::on_reduced(&mut self.reborrow());
            }
            Response::LowerThreshold(ssthresh) => self.window.lower_threshold(self.now, ssthresh),
            Response::None => {}
        }
    }

    /// Takes the latest response back. Returns whether anything was restored.
    pub fn undo(&mut self) -> bool {
        let undone = self.window.undo();
        self.restore(undone)
    }

    /// Lowers the window to `to` packets, not below the smallest one, without a congestion
    /// response.
    pub fn lower(&mut self, to: f64) {
        self.window.lower(&self.params.as_ref().limits, to);
    }

    /// The same flow for the rules of `T`, whose state is a part of this scheme's.
    #[inline(always)]
    pub fn with_scheme<T>(&mut self, state: impl FnOnce(&mut S::State) -> &mut T::State) -> Flow<'_, T>
    where
        T: WindowScheme<Params = S::Params, Group = S::Group>,
    {
        let Flow { params, window, state: own, group, now, event, last_ack, start_up } = self;
        let group = Table { shared: &mut *group.shared, members: &mut *group.members, me: group.me };
        Flow { params, window, state: state(own), group, now: *now, event, last_ack, start_up }
    }

    /// The same flow once more. A flow that a function points to has to be in memory: what is not
    /// inlined gets one of its own, so that this one can stay in registers.
    #[inline(always)]
    fn reborrow(&mut self) -> Flow<'_, S> {
        let Flow { params, window, state, group, now, event, last_ack, start_up } = self;
        let group = Table { shared: &mut *group.shared, members: &mut *group.members, me: group.me };
        Flow { params, window, state, group, now: *now, event, last_ack, start_up }
    }

    /// Whether the event is persistent congestion of packets that were all sent before the latest
    /// response: the window starts over, the threshold stays (`RFC 9002 §7.3.2, §B.8`).
    #[must_use]
    pub fn answered(&self) -> bool {
        let EventKind::PersistentCongestion(lost) = &self.event.kind else { return false };
        !self.limits().timeout_reduces_again && !self.window.recovery.accepts(lost.newest_sent_at)
    }

    #[inline(always)]
    fn grow(&mut self, acked: f64) {
        if self.window.in_slow_start() {
            let added = S::on_ack_in_slow_start(self, acked);
            let added = self.started_up(acked, added);
            if acked > 1.0 && self.window.cwnd + added > self.window.ssthresh {
                self.reborrow().grow_past_threshold(acked, added);
            } else {
                self.window.grow(&self.params.as_ref().limits, added);
            }
        } else {
            self.avoid_congestion(acked);
        }
    }

    #[inline(always)]
    fn avoid_congestion(&mut self, acked: f64) {
        let added = S::on_ack(self, acked);
        let Base { limits, start_up } = self.params.as_ref();
        let added = start_up.limited(self.window, acked, added);
        self.window.grow(limits, added);
    }

    /// One ACK of several packets is slow start up to the threshold and congestion avoidance from
    /// there (`RFC 9002 §B.5`, which goes packet by packet).
    #[cold]
    #[inline(never)]
    fn grow_past_threshold(&mut self, acked: f64, added: f64) {
        let rest = self.window.grow_to_threshold(&self.params.as_ref().limits, acked, added);
        if rest > 0.0 {
            self.avoid_congestion(rest);
        }
    }

    /// Packet-by-packet growth; returns what is left for one last step. The rarer kind,
    /// kept out of the way of the other.
    #[inline]
    fn grow_by_packets(&mut self, acked: f64) -> f64 {
        let Flow { params, window, state, group, now, event, last_ack, start_up } = self;
        let event = (*now, *event, &mut **last_ack, &mut **start_up);
        Self::grow_by_parts(params, window, state, (group.shared, group.members, group.me), event, acked)
    }

    /// By parts, so that the flow here is not in memory either.
    #[inline(never)]
    fn grow_by_parts(
        params: &S::Params,
        window: &mut Window,
        state: &mut S::State,
        (shared, members, me): (&mut S::Group, &mut [Member], usize),
        (now, event, last_ack, start_up): (Time, &Event, &mut Time, &mut StartUp),
        mut acked: f64,
    ) -> f64 {
        let group = Table { shared, members, me };
        let mut flow = Flow::<S> { params, window, state, group, now, event, last_ack, start_up };
        let mut steps = 0;
        while acked > 1.0 && steps < MAX_STEPS {
            flow.grow(1.0);
            acked -= 1.0;
            steps += 1;
        }
        acked
    }

    /// An ACK frame grows the window, if `may_grow`.
    #[inline(always)]
    fn grow_by_ack(&mut self, acked: &PacketsAcked, may_grow: bool) {
        let limits = &self.params.as_ref().limits;
        if acked.app_limited {
            let span = self.now.since(*self.last_ack);
            S::on_underutilized(&mut self.reborrow(), span);
        }
        *self.last_ack = self.now;
        let mut packets = self.window.acked_packets(limits, acked);
        if !may_grow {
            return;
        }
        if limits.growth == Growth::Packets && packets > 1.0 {
            packets = self.grow_by_packets(packets);
        }
        if packets > 0.0 {
            self.grow(packets);
        }
    }

    /// Whether the event brings congestion that deserves a response of its own.
    #[inline]
    fn is_congestion(&self) -> bool {
        match self.event.kind {
            EventKind::EcnCe(EcnCe { newest_sent_at, .. })
            | EventKind::PacketsLost(PacketsLost { newest_sent_at, .. }) => {
                self.window.recovery.accepts(newest_sent_at)
            }
            _ => false,
        }
    }

    fn start_over(&mut self) {
        let answered = self.answered();
        let ssthresh = S::on_persistent_congestion(self);
        let ssthresh = if answered { self.window.ssthresh } else { ssthresh };
        self.window.start_over(&self.params.as_ref().limits, ssthresh);
    }

    fn restore(&mut self, undone: bool) -> bool {
        if undone {
            S::on_spurious_loss(self);
        }
        undone
    }

    fn update_mtu(&mut self, mtu: u32) {
        let before = self.window.mtu;
        self.window.resize(&self.params.as_ref().limits, mtu);
        S::on_mtu_update(self, before / self.window.mtu);
    }

    fn restart_after_idle(&mut self, idle: &IdleRestart) {
        // ACKs came since the latest packet left, and grew the window.
        let span = idle.idle.min(self.now.since(*self.last_ack));
        S::on_underutilized(self, span);
        *self.last_ack = self.now;
        if self.window.idle(&self.params.as_ref().limits, idle) {
            S::on_idle_restart(self);
        }
    }

    /// Takes the event in. `congestion` is somebody else's finding whether it brings new
    /// congestion, `None` leaves that to losses and marks.
    // A function of its own would be handed the flow in memory.
    #[inline(always)]
    pub(super) fn handle(&mut self, congestion: Option<bool>) {
        if let Some((settings, backstop)) = S::backstop(self.params, self.state) {
            backstop.on_event(settings, &self.params.as_ref().limits, self.window, self.event);
        }
        S::on_event(&mut self.reborrow());
        if let Some(rtt) = self.event.rtt() {
            S::on_rtt_sample(&mut self.reborrow(), &rtt);
        }
        let may_grow = match &self.event.kind {
            EventKind::PacketsAcked(acked) => S::on_packets_acked(&mut self.reborrow(), acked),
            _ => false,
        };
        if congestion.unwrap_or_else(|| self.is_congestion()) {
            self.reborrow().respond();
            if let EventKind::EcnCe(_) = self.event.kind {
                self.window.discard_undo();
            }
        } else {
            self.handle_without_congestion(may_grow);
        }
        let Base { limits, start_up } = self.params.as_ref();
        if let Some(next) = self.start_up.on_event(start_up, limits, self.window, self.event) {
            self.window.start_up_at(limits, next.to);
            if let Some(full) = next.reduced_from {
                S::on_start_up_reduced(&mut self.reborrow(), full);
            }
        }
        if let Some((_, backstop)) = S::backstop(self.params, self.state) {
            backstop.hold(&self.params.as_ref().limits, self.window);
        }
    }

    #[inline(always)]
    fn handle_without_congestion(&mut self, may_grow: bool) {
        match &self.event.kind {
            EventKind::PacketsAcked(acked) => self.grow_by_ack(acked, may_grow),
            EventKind::PersistentCongestion(_) => self.reborrow().start_over(),
            EventKind::EcnCe(_) => self.window.discard_undo(),
            EventKind::SpuriousLoss(spurious) => {
                let undone = self.window.on_spurious_loss(spurious);
                self.reborrow().restore(undone);
            }
            EventKind::MtuUpdated(mtu) => self.reborrow().update_mtu(*mtu),
            EventKind::IdleRestart(idle) => self.reborrow().restart_after_idle(idle),
            EventKind::WindowSet(to) => self.window.set(&self.params.as_ref().limits, to),
            _ => {}
        }
    }
}

/// Sum of the group's windows in the order of the table, with `own` for the flow's own.
pub(super) fn group_cwnd<G>(group: &View<'_, G>, own: f64) -> f64 {
    if group.members.is_empty() {
        return own;
    }
    group.members.iter().enumerate().fold(0.0, |sum, (i, member)| sum + if i == group.me { own } else { member.cwnd })
}
