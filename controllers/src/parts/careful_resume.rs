//! Careful resume (`RFC 9959`): a flow goes on with half of the window that an earlier one had on the same path, and takes
//! that back where the path has become another.
//!
//! [`CarefulResume`] stands beside a controller of any kind that takes [`EventKind::WindowSet`] in: it sees what the
//! controller sees, says with which window the controller goes on, and paces what is not validated. [`Resuming`] is the
//! state of both. Of this no controller knows, and a flow that has nothing to resume carries nothing of it. What to
//! resume is a fact of the path ([`Path::saved`]).
//!
//! Readings, where the text leaves a choice:
//! * `PipeSize` (§3.3) is the flight on entry and what is acknowledged beyond it, so that the packets in flight on entry do
//!   not count twice: 29 + 34 of the example in appendix B.4.
//! * On congestion the controller responds from `PipeSize`, not from the window that was never validated; a curve that
//!   aims at the window before the response, as CUBIC's, would return to it. Then the window is at most half of
//!   `PipeSize` (§3.5).
//! * Where the saved window is all that the path carried, slow start goes no further: it ends at the saved window, as with
//!   a cached threshold (`RFC 9040 §6.1`). Doubled once more, it would lose as much as it had won.
//! * `Beta` is 0.5, from which only GCC differs, whose own is 0.85 (§3.5 allows for 0.5 to 1, and names CUBIC's 0.7).
//! * An RTT of more than ten times the saved one ends reconnaissance, as one of less than half does (§4.2.1).
//! * Where a stack does not report packets sent, the unvalidated ones are those sent until the phase is over, and the
//!   phase begins with the ACK that confirms the path.

mod observation;

pub use observation::Observation;
pub(crate) use observation::{FreshWindow, KnownBdp, ResumedBbr};

use crate::event::{PacketSent, RttSample, WindowSet};
use crate::{ConfiguredController, Decision, Event, EventKind, Path, SavedPath, Span, Table, Time, View};

/// `Beta` (`RFC 9959 §3.5`).
const BETA: f64 = 0.5;
/// The path is another where the RTT is more than so many times the saved one (`RFC 9959 §4.2.1`).
const MAX_RTT_RATIO: u64 = 10;
/// The window resumed is at most this part of the saved one (`RFC 9959 §3.3`).
const JUMP_DIVISOR: u64 = 2;

/// Phases, as qlog names them (`draft-ietf-tsvwg-careful-resume-qlog §4`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ResumePhase {
    /// The window is the controller's; the path is not confirmed, or the window is not used (`RFC 9959 §3.2`).
    Reconnaissance = 0,
    /// Packets leave beyond the controller's own window (§3.3).
    Unvalidated = 1,
    /// Those packets are under way (§3.4).
    Validating = 2,
    /// Some of them met congestion (§3.5).
    SafeRetreat = 3,
    /// Careful resume is over (§3.7).
    Normal = 4,
}

/// Why a phase began, as qlog names it (`draft-ietf-tsvwg-careful-resume-qlog §3.2`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ResumeTrigger {
    /// The flow began, or the window to resume is no larger than the one it has.
    None = 0,
    /// The path is confirmed and the window used.
    CongestionWindowLimited = 1,
    /// The unvalidated phase lasted for an RTT.
    RttExceeded = 2,
    /// The first unvalidated packet was acknowledged.
    FirstUnvalidatedPacketAcknowledged = 3,
    /// The window resumed is full.
    LastUnvalidatedPacketSent = 4,
    /// The last unvalidated packet was acknowledged.
    LastUnvalidatedPacketAcknowledged = 5,
    /// The RTT is another than the saved one.
    RttNotValidated = 6,
    /// Less was sent than the window before would have let.
    RateLimited = 7,
    /// The RTT became another among unvalidated packets.
    PathChanged = 8,
    /// Packets were lost.
    PacketLoss = 9,
    /// Packets were marked.
    EcnCe = 10,
    /// The last unvalidated packet, or a later one, was acknowledged after congestion.
    ExitRecovery = 11,
}

macro_rules! names {
    ($kind:ident { $($variant:ident = $name:literal),+ $(,)? }) => {
        impl $kind {
            const ALL: &'static [$kind] = &[$($kind::$variant),+];

            /// The name in qlog.
            #[must_use]
            pub const fn qlog_name(self) -> &'static str {
                match self {
                    $($kind::$variant => $name),+
                }
            }

            /// That of a state variable, as [`CarefulResume::inspect`] gives it.
            #[must_use]
            pub fn of(variable: f64) -> Option<$kind> {
                $kind::ALL.iter().copied().find(|kind| f64::from(*kind as u8) == variable)
            }
        }
    };
}

names!(ResumePhase {
    Reconnaissance = "reconnaissance",
    Unvalidated = "unvalidated",
    Validating = "validating",
    SafeRetreat = "safe_retreat",
    Normal = "normal",
});
names!(ResumeTrigger {
    None = "",
    CongestionWindowLimited = "congestion_window_limited",
    RttExceeded = "rtt_exceeded",
    FirstUnvalidatedPacketAcknowledged = "first_unvalidated_packet_acknowledged",
    LastUnvalidatedPacketSent = "last_unvalidated_packet_sent",
    LastUnvalidatedPacketAcknowledged = "last_unvalidated_packet_acknowledged",
    RttNotValidated = "rtt_not_validated",
    RateLimited = "rate_limited",
    PathChanged = "path_changed",
    PacketLoss = "packet_loss",
    EcnCe = "ECN_CE",
    ExitRecovery = "exit_recovery",
});

/// Names of the state variables of [`CarefulResume`].
pub mod variables {
    /// [`ResumePhase`](super::ResumePhase) as a number.
    pub const PHASE: &str = "careful_resume_phase";
    /// [`ResumeTrigger`](super::ResumeTrigger) of the phase as a number.
    pub const TRIGGER: &str = "careful_resume_trigger";
    /// `PipeSize`, bytes; the flight before the unvalidated phase.
    pub const PIPE_SIZE: &str = "pipesize_bytes";
    /// Number of the first packet of the unvalidated phase, where the stack reports it.
    pub const FIRST_UNVALIDATED: &str = "first_unvalidated_packet";
    /// Number of the last, by now.
    pub const LAST_UNVALIDATED: &str = "last_unvalidated_packet";
}

/// Careful resume of one flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CarefulResume {
    saved: SavedPath,
    phase: ResumePhase,
    trigger: ResumeTrigger,
    /// Initial window, bytes.
    initial_window: u64,
    /// The smallest RTT, and the latest; `None` before the first sample.
    rtt: Option<(Span, Span)>,
    /// Bytes acknowledged since the flow began; from the unvalidated phase on, since that did.
    acked: u64,
    /// Nothing that the flow sent first is left unacknowledged.
    is_confirmed: bool,
    /// Bytes in flight, as far as events say.
    in_flight: u64,
    /// `flight_size` when the unvalidated phase began.
    flight_on_entry: u64,
    mtu: u64,
    /// `jump_cwnd`, bytes.
    jump: u64,
    /// The window is no larger in the safe retreat, bytes.
    most: u64,
    /// When the unvalidated phase began.
    entered: Time,
    /// When the latest packet left; `None` where the stack does not report it.
    last_sent: Option<Time>,
    /// When the last unvalidated packet left.
    last_unvalidated: Time,
    /// Number of the latest packet while it needs to know of them; then of the last unvalidated one.
    newest: Option<u64>,
    /// The same when the unvalidated phase began.
    newest_on_entry: Option<u64>,
}

impl CarefulResume {
    /// Of a flow that starts on a path of datagrams of `mtu` bytes with a window of `initial_window` bytes.
    #[must_use]
    pub fn new(saved: SavedPath, initial_window: u64, mtu: u32) -> CarefulResume {
        CarefulResume {
            saved,
            phase: ResumePhase::Reconnaissance,
            trigger: ResumeTrigger::None,
            initial_window,
            rtt: None,
            acked: 0,
            is_confirmed: false,
            in_flight: 0,
            flight_on_entry: 0,
            mtu: u64::from(mtu),
            jump: saved.max_jump.min(saved.cwnd / JUMP_DIVISOR),
            most: u64::MAX,
            entered: Time::ZERO,
            last_sent: None,
            last_unvalidated: Time::ZERO,
            newest: None,
            newest_on_entry: None,
        }
    }

    /// The phase.
    #[must_use]
    pub fn phase(&self) -> ResumePhase {
        self.phase
    }

    /// Whether it needs to know of packets that leave.
    #[must_use]
    pub fn wants_packet_sent(&self) -> bool {
        matches!(self.phase, ResumePhase::Reconnaissance | ResumePhase::Unvalidated)
    }

    /// `PipeSize` (`RFC 9959 §2.4`), bytes.
    #[must_use]
    pub fn pipe_size(&self) -> u64 {
        match self.phase {
            ResumePhase::Reconnaissance => self.in_flight,
            _ => self.acked.max(self.flight_on_entry),
        }
    }

    fn enter(&mut self, phase: ResumePhase, trigger: ResumeTrigger) {
        (self.phase, self.trigger) = (phase, trigger);
    }

    fn is_unvalidated(&self) -> bool {
        matches!(self.phase, ResumePhase::Unvalidated | ResumePhase::Validating)
    }

    /// What `event` is congestion by, if it is.
    fn congestion(event: &Event) -> Option<ResumeTrigger> {
        match event.kind {
            EventKind::PacketsLost(_) | EventKind::PersistentCongestion(_) => Some(ResumeTrigger::PacketLoss),
            EventKind::EcnCe(_) => Some(ResumeTrigger::EcnCe),
            _ => None,
        }
    }

    /// Before the controller takes `event` in: the window that it responds from.
    fn before(&self, event: &Event) -> Option<WindowSet> {
        let responds = self.is_unvalidated() && Self::congestion(event).is_some();
        responds.then(|| WindowSet::new(self.pipe_size()))
    }

    /// After the controller, whose window is `cwnd` bytes by now, took `event` in: the window that it goes on with.
    fn after(&mut self, event: &Event, cwnd: u64) -> Option<WindowSet> {
        self.in_flight = event.in_flight().unwrap_or(self.in_flight);
        if let EventKind::MtuUpdated(mtu) = event.kind {
            self.mtu = u64::from(mtu);
        }
        if let Some(sample) = event.rtt() {
            let least = self.rtt.map_or(sample.latest, |(least, _)| least.min(sample.latest));
            self.rtt = Some((least, sample.latest));
        }
        match &event.kind {
            EventKind::PacketSent(sent) if self.wants_packet_sent() => {
                self.last_sent = Some(event.now);
                self.newest = sent.pn.or(self.newest);
            }
            EventKind::PacketsAcked(acked) => self.acked = self.acked.saturating_add(acked.bytes),
            _ => {}
        }
        match self.phase {
            ResumePhase::Reconnaissance => self.reconnoitre(event, cwnd),
            ResumePhase::Unvalidated => self.unvalidated(event, cwnd),
            ResumePhase::Validating => self.validate(event, cwnd),
            ResumePhase::SafeRetreat => self.retreat(event, cwnd),
            ResumePhase::Normal => None,
        }
    }

    /// `RFC 9959 §3.2`.
    fn reconnoitre(&mut self, event: &Event, cwnd: u64) -> Option<WindowSet> {
        if let Some(trigger) = Self::congestion(event) {
            self.enter(ResumePhase::Normal, trigger);
            return None;
        }
        let (least, latest) = self.rtt?;
        if self.is_too_small(least) {
            self.enter(ResumePhase::Normal, ResumeTrigger::RttNotValidated);
            return None;
        }
        let is_limited = match &event.kind {
            EventKind::PacketsAcked(acked) => {
                self.is_confirmed |= self.acked >= self.initial_window || acked.in_flight == 0;
                !acked.app_limited
            }
            EventKind::PacketSent(PacketSent { app_limited: false, .. }) => self.is_full(cwnd),
            _ => false,
        };
        if !self.is_confirmed || !is_limited {
            return None;
        }
        if least.0 > self.saved.rtt.0.saturating_mul(MAX_RTT_RATIO) || latest == Span::ZERO {
            self.enter(ResumePhase::Normal, ResumeTrigger::RttNotValidated);
            return None;
        }
        if self.jump <= cwnd {
            self.enter(ResumePhase::Normal, ResumeTrigger::None);
            return None;
        }
        self.enter(ResumePhase::Unvalidated, ResumeTrigger::CongestionWindowLimited);
        (self.flight_on_entry, self.acked, self.entered) = (self.in_flight, 0, event.now);
        self.newest_on_entry = self.newest;
        Some(WindowSet::new(self.jump))
    }

    /// Whether an RTT of `rtt` is so small that the saved path is another (`RFC 9959 §3.2`).
    fn is_too_small(&self, rtt: Span) -> bool {
        rtt.0 <= self.saved.rtt.0 / 2
    }

    /// Whether no other packet fits into a window of `cwnd` bytes (`RFC 9959 §3.3`).
    fn is_full(&self, cwnd: u64) -> bool {
        self.in_flight.saturating_add(self.mtu) > cwnd
    }

    /// `RFC 9959 §3.3`.
    fn unvalidated(&mut self, event: &Event, cwnd: u64) -> Option<WindowSet> {
        if let Some(trigger) = Self::congestion(event) {
            return self.begin_retreat(event, cwnd, trigger);
        }
        if event.rtt().is_some_and(|sample| self.is_too_small(sample.latest)) {
            return self.begin_retreat(event, cwnd, ResumeTrigger::PathChanged);
        }
        let first_acked = matches!(&event.kind, EventKind::PacketsAcked(acked) if acked.newest_sent_at > self.entered);
        let trigger = if first_acked {
            ResumeTrigger::FirstUnvalidatedPacketAcknowledged
        } else if matches!(event.kind, EventKind::PacketSent(_)) && self.is_full(self.jump) {
            ResumeTrigger::LastUnvalidatedPacketSent
        } else if event.now > self.ends_at() {
            ResumeTrigger::RttExceeded
        } else {
            return (cwnd != self.jump).then(|| WindowSet::new(self.jump));
        };
        if self.in_flight < self.initial_window || self.in_flight <= self.pipe_size() {
            self.enter(ResumePhase::Normal, ResumeTrigger::RateLimited);
            return Some(WindowSet::new(self.pipe_size().max(self.initial_window)));
        }
        self.last_unvalidated = self.last_sent.unwrap_or(event.now);
        self.enter(ResumePhase::Validating, trigger);
        Some(WindowSet::new(self.in_flight))
    }

    /// An RTT after the unvalidated phase began.
    fn ends_at(&self) -> Time {
        self.entered + self.rtt.map_or(Span::ZERO, |(_, latest)| latest)
    }

    /// `RFC 9959 §3.4`.
    fn validate(&mut self, event: &Event, cwnd: u64) -> Option<WindowSet> {
        if let Some(trigger) = Self::congestion(event) {
            return self.begin_retreat(event, cwnd, trigger);
        }
        if self.is_last_acked(event) {
            self.enter(ResumePhase::Normal, ResumeTrigger::LastUnvalidatedPacketAcknowledged);
            return self.saved.is_full.then(|| WindowSet::new(cwnd).with_ssthresh(Some(self.saved.cwnd.max(cwnd))));
        }
        None
    }

    /// Whether `event` acknowledges the last unvalidated packet or a later one.
    fn is_last_acked(&self, event: &Event) -> bool {
        matches!(&event.kind, EventKind::PacketsAcked(acked) if acked.newest_sent_at >= self.last_unvalidated)
    }

    /// On entry of the safe retreat (`RFC 9959 §3.5, §3.6`).
    fn begin_retreat(&mut self, event: &Event, cwnd: u64, trigger: ResumeTrigger) -> Option<WindowSet> {
        if self.phase == ResumePhase::Unvalidated {
            self.last_unvalidated = self.last_sent.unwrap_or(event.now);
        }
        if let EventKind::PersistentCongestion(_) = event.kind {
            self.enter(ResumePhase::Normal, trigger);
            return None;
        }
        self.enter(ResumePhase::SafeRetreat, trigger);
        self.most = cwnd.min(self.pipe_size() / 2);
        Some(WindowSet::new(self.most))
    }

    /// `RFC 9959 §3.5`.
    fn retreat(&mut self, event: &Event, cwnd: u64) -> Option<WindowSet> {
        if let EventKind::PersistentCongestion(_) = event.kind {
            self.enter(ResumePhase::Normal, ResumeTrigger::PacketLoss);
            return None;
        }
        if self.is_last_acked(event) {
            self.enter(ResumePhase::Normal, ResumeTrigger::ExitRecovery);
            let pipe_size = self.pipe_size();
            let ssthresh = (pipe_size as f64 * BETA) as u64;
            let to = WindowSet::new(cwnd.min(self.most)).with_ssthresh(Some(ssthresh));
            return Some(to.with_pipe_size(Some(pipe_size)));
        }
        // The controller's smallest window may be a larger one.
        (cwnd > self.most).then(|| WindowSet::new(self.most))
    }

    /// Adds to the controller's `decision` what the phase asks for: packets beyond its own window leave evenly, at most
    /// the window in the current RTT (`RFC 9959 §3.3, §4.3.2`).
    fn complete(&self, decision: &mut Decision) {
        let Some((_, current)) = self.rtt.filter(|_| self.phase == ResumePhase::Unvalidated) else { return };
        let rate = u128::from(self.jump) * 8_000_000_000 / u128::from(current.0.max(1));
        decision.pacing_rate = Some(u64::try_from(rate).unwrap_or(u64::MAX));
        let after = self.ends_at() + Span(1);
        decision.wake_at = Some(decision.wake_at.map_or(after, |at| at.min(after)));
    }

    /// Names the state variables worth logging.
    pub fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit(variables::PHASE, f64::from(self.phase as u8));
        visit(variables::TRIGGER, f64::from(self.trigger as u8));
        visit(variables::PIPE_SIZE, self.pipe_size() as f64);
        if let Some((before, newest)) = self.newest_on_entry.zip(self.newest).filter(|(before, newest)| before < newest)
        {
            visit(variables::FIRST_UNVALIDATED, before as f64 + 1.0);
            visit(variables::LAST_UNVALIDATED, newest as f64);
        }
    }
}

/// The state of a flow that resumes: that of its controller, and of careful resume beside it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Resuming<S> {
    /// The controller's.
    pub state: S,
    /// That of careful resume.
    pub resume: CarefulResume,
}

impl<S> Resuming<S> {
    /// A flow of `controller` on `path`; `None` where there is nothing to resume, or the controller would not.
    pub fn start<C: ConfiguredController<State = S>>(controller: &C, path: &Path) -> Option<Resuming<S>> {
        let saved = path.saved.filter(|_| resumes(controller))?;
        let state = controller.start(path);
        let initial_window = controller.decide(&state, View::solo(&controller.group())).cwnd;
        Some(Resuming { state, resume: CarefulResume::new(saved, initial_window, path.mtu) })
    }

    /// Whether careful resume is over, so that the controller's state alone goes on.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.resume.phase == ResumePhase::Normal
    }

    /// Takes `event` into both; see [`Controller::step`](crate::Controller::step).
    pub fn step<C: ConfiguredController<State = S>>(
        &mut self,
        controller: &C,
        group: Table<'_, C::Group>,
        event: &Event,
    ) {
        let Table { shared, members, me } = group;
        let Resuming { state, resume } = self;
        let mut step = |state: &mut S, event: &Event| {
            controller.step(state, Table { shared: &mut *shared, members: &mut *members, me }, event);
            controller.decide(state, View { shared: &*shared, members: &*members, me }).cwnd
        };
        let set = |to| Event::new(event.now, EventKind::WindowSet(to));
        if let Some(to) = resume.before(event) {
            step(state, &set(to));
        }
        let cwnd = step(state, event);
        if let Some(to) = resume.after(event, cwnd) {
            step(state, &set(to));
        }
    }

    /// What the flow may do now.
    pub fn decide<C: ConfiguredController<State = S>>(&self, controller: &C, group: View<'_, C::Group>) -> Decision {
        let mut decision = controller.decide(&self.state, group);
        self.resume.complete(&mut decision);
        decision
    }

    /// The state variables of both; see [`Controller::inspect`](crate::Controller::inspect).
    pub fn inspect<C: ConfiguredController<State = S>>(
        &self,
        controller: &C,
        group: View<'_, C::Group>,
        visit: &mut dyn FnMut(&'static str, f64),
    ) {
        controller.inspect(&self.state, group, visit);
        self.resume.inspect(visit);
    }
}

/// Whether flows of `controller` can resume: whether it goes on with a window that is set.
#[must_use]
pub fn resumes<C: ConfiguredController>(controller: &C) -> bool {
    let mut group = controller.group();
    let path = Path::new(Time::ZERO, 1200, 0);
    let mut state = controller.start(&path);
    let rtt = Span::from_millis(100);
    let cwnd = 2 * controller.decide(&state, View::solo(&group)).cwnd;
    for kind in [EventKind::RttSampled(RttSample::new(rtt, rtt, rtt, rtt)), EventKind::WindowSet(WindowSet::new(cwnd))]
    {
        controller.step(&mut state, Table::solo(&mut group), &Event::new(path.now + rtt, kind));
    }
    controller.decide(&state, View::solo(&group)).cwnd.abs_diff(cwnd) <= u64::from(path.mtu)
}

#[cfg(test)]
mod tests;
