//! One flow during one event: what a scheme's rules work on, and the order in which they
//! are asked.

use super::GroupRules;
use crate::event::{EcnCe, IdleRestart, PacketsAcked, PacketsLost};
use crate::parts::base::Growth;
use crate::parts::slow_start::{HyStart, SlowStart, limited_divisor};
use crate::parts::window::{Reduction, Window};
use crate::{Event, EventKind, Member, Table, Time, View};

/// Packet-by-packet growth handles at most this many packets one by one; the rest of
/// an ACK that large counts as one.
const MAX_STEPS: u32 = 1024;

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
    /// When the latest ACK or the end of the latest idle period was heard of.
    pub(super) heard: &'a mut Time,
    /// What its first slow start has seen.
    pub(super) hystart: &'a mut HyStart,
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

    /// Siblings for which `to` names a window, in packets, get it where it is the smaller
    /// one. A response that took from siblings cannot be taken back (`spec: cho §2.3, §11`).
    pub fn take_from_siblings(&mut self, to: impl Fn(&Member) -> Option<f64>) {
        let (now, floor) = (self.now, self.params.as_ref().min_window);
        let mut taken = false;
        for member in self.siblings() {
            if let Some(cwnd) = to(member) {
                member.scale(cwnd, floor, now);
                taken = true;
            }
        }
        if taken {
            self.window.discard_undo();
        }
    }

    /// Takes a congestion response.
    pub fn respond(&mut self, mut cut: Reduction) {
        let base = self.params.as_ref();
        // spec: sharma §1.6: the platform's own first reduction is a halving.
        if self.window.halves_first(base) {
            cut = Reduction::to(0.5, self.window.cwnd);
        }
        self.window.reduce(base, self.now, cut);
    }

    /// Takes a congestion response that moves the threshold and leaves the window.
    pub fn hold(&mut self, ssthresh: f64) {
        self.window.reduce_threshold(self.now, ssthresh);
    }

    #[inline(always)]
    fn grow(&mut self, units: f64) {
        let base = self.params.as_ref();
        if base.lss > 0.0 && !self.window.reduced {
            return self.grow_limited(units);
        }
        let added = if self.window.in_slow_start() { self.slow_start(units) } else { R::increase(self, units) };
        self.window.grow(base, added);
    }

    /// Whether HyStart++ watches: only the first slow start of a flow (`RFC 9406 §4.3`).
    #[inline]
    fn is_watched(&self) -> bool {
        let base = self.params.as_ref();
        base.slow_start == SlowStart::HyStart && !self.window.ever_reduced && self.window.ssthresh == base.ssthresh
    }

    /// Packets to add for `units` acknowledged in slow start.
    #[inline]
    fn slow_start(&mut self, units: f64) -> f64 {
        let added = R::slow_start(self, units);
        if self.is_watched() { self.hystart.share(added, self.params.as_ref().hystart_l) } else { added }
    }

    /// Shows an ACK to HyStart++, which may end slow start at the window of now.
    fn watch(&mut self, acked: &PacketsAcked) {
        if self.hystart.acked(self.now, acked.newest_sent_at, acked.rtt.map(|rtt| rtt.latest)) {
            self.window.ssthresh = self.window.cwnd;
        }
    }

    /// Growth under limited slow start (`RFC 3742`; `spec: sharma §1.7`).
    #[inline]
    fn grow_limited(&mut self, units: f64) {
        let base = self.params.as_ref();
        let divisor = limited_divisor(base.lss, self.window.cwnd);
        let added = if self.window.in_slow_start() {
            let added = self.slow_start(units);
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

    /// Packet-by-packet growth; returns what is left for one last step. The rarer kind,
    /// kept out of the way of the other.
    #[inline]
    fn grow_by_packets(&mut self, units: f64) -> f64 {
        let Flow { params, window, memory, group, now, event, heard, hystart } = self;
        // By parts: a flow somebody points to has to be in memory whenever it grows.
        let seen = (*now, *event, &mut **heard, &mut **hystart);
        Self::rebuilt(params, window, memory, (group.shared, group.members, group.me), seen, units)
    }

    #[inline(never)]
    fn rebuilt(
        params: &R::Params,
        window: &mut Window,
        memory: &mut R::Memory,
        (shared, members, me): (&mut R::Shared, &mut [Member], usize),
        (now, event, heard, hystart): (Time, &Event, &mut Time, &mut HyStart),
        mut units: f64,
    ) -> f64 {
        let group = Table { shared, members, me };
        let mut flow = Flow::<R> { params, window, memory, group, now, event, heard, hystart };
        let mut steps = 0;
        while units > 1.0 && steps < MAX_STEPS {
            flow.grow(1.0);
            units -= 1.0;
            steps += 1;
        }
        units
    }

    #[inline]
    fn acknowledged(&mut self, acked: &PacketsAcked) {
        let base = self.params.as_ref();
        if acked.app_limited {
            R::paused(self, self.now.since(*self.heard));
        }
        *self.heard = self.now;
        let mut units = self.window.acked_packets(base, acked);
        if units > 0.0 && self.rolls_back() {
            units = 0.0;
        }
        if base.growth == Growth::Packets && units > 1.0 {
            units = self.grow_by_packets(units);
        }
        if units > 0.0 {
            self.grow(units);
        }
        if self.window.in_slow_start() && self.is_watched() {
            self.watch(acked);
        }
    }

    /// Whether the event brings congestion that deserves a response of its own.
    #[inline]
    fn is_news(&self) -> bool {
        match self.event.kind {
            EventKind::EcnCe(EcnCe { newest_sent_at, .. })
            | EventKind::PacketsLost(PacketsLost { newest_sent_at, .. }) => {
                self.window.recovery.accepts(newest_sent_at)
            }
            _ => false,
        }
    }

    fn timeout(&mut self) {
        let ssthresh = R::timeout(self);
        self.window.start_over(self.params.as_ref(), ssthresh);
    }

    fn undo(&mut self) -> bool {
        let undone = self.window.undo();
        if undone {
            R::undone(self);
        }
        undone
    }

    /// Takes the latest response back if it answered too little. Returns whether it did.
    #[inline]
    fn rolls_back(&mut self) -> bool {
        let part = R::rollback(self.params);
        part > 0.0 && self.window.lost_little(part) && self.undo()
    }

    fn resize(&mut self, mtu: u32) {
        let before = self.window.mtu;
        self.window.resize(self.params.as_ref(), mtu);
        R::resized(self, before / self.window.mtu);
    }

    fn idle(&mut self, idle: &IdleRestart) {
        R::paused(self, idle.idle);
        *self.heard = self.now;
        if self.window.idle(self.params.as_ref(), idle) {
            R::restarted(self);
        }
    }

    /// One event; `verdict` is somebody else's on whether it brings new congestion.
    #[inline]
    pub(super) fn take(&mut self, verdict: Option<bool>) {
        R::heard(self, self.event);
        if verdict.unwrap_or_else(|| self.is_news()) {
            R::congestion(self);
        } else {
            self.advance();
        }
        if R::rollback(self.params) > 0.0 {
            self.window.count_lost(&self.event.kind);
        }
    }

    /// Everything an event means apart from congestion.
    #[inline]
    fn advance(&mut self) {
        match &self.event.kind {
            EventKind::PacketsAcked(acked) => self.acknowledged(acked),
            EventKind::PersistentCongestion(_) => self.timeout(),
            EventKind::SpuriousLoss(_) => {
                self.undo();
            }
            EventKind::MtuUpdated(mtu) => self.resize(*mtu),
            EventKind::IdleRestart(idle) => self.idle(idle),
            _ => {}
        }
    }
}

/// Sum of the group's windows in the order of the table, with `own` for the flow's own.
pub(super) fn total<G>(group: &View<'_, G>, own: f64) -> f64 {
    if group.members.is_empty() {
        return own;
    }
    group.members.iter().enumerate().fold(0.0, |sum, (i, member)| sum + if i == group.me { own } else { member.cwnd })
}
