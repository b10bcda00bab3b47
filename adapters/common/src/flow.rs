//! One flow: an algorithm, its state, its membership in a group, the decision in force, the recorder of its events.

use std::fmt;
use std::hash::Hash;
use std::mem::offset_of;
use std::ops::Range;
use std::sync::Arc;

use windlass_controllers::{ConfiguredController, Decision, Event, EventKind, Path, Table, Time, View};

use crate::group::Membership;
use crate::{GroupStep, Groups, NamedController, SendRate, SendRateMeter};

/// Gives every state variable of a controller to a visitor, by name; see
/// [`Controller::inspect`](windlass_controllers::Controller::inspect).
pub type StateVariables<'a> = dyn Fn(&mut dyn FnMut(&'static str, f64)) + 'a;

/// Gets every event of a flow and the decision it led to.
pub trait Recorder: Send + Sync {
    /// The event that [`record`](Self::record) gets next was a grouped flow's, and its
    /// step was `step`.
    fn on_group_step(&mut self, step: GroupStep) {
        let _ = step;
    }

    /// `event` was taken and `decision` holds from now on. `state_variables` reads the
    /// controller's private state; it costs nothing unless called.
    fn record(&mut self, event: &Event, decision: &Decision, state_variables: &StateVariables<'_>);
}

/// Several recorders of one flow, in their order.
impl<const N: usize> Recorder for [Box<dyn Recorder>; N] {
    fn on_group_step(&mut self, step: GroupStep) {
        self.iter_mut().for_each(|recorder| recorder.on_group_step(step));
    }

    fn record(&mut self, event: &Event, decision: &Decision, state_variables: &StateVariables<'_>) {
        self.iter_mut().for_each(|recorder| recorder.record(event, decision, state_variables));
    }
}

/// One flow of an algorithm.
///
/// A clone of a flow (a path that moved) starts from the same state and shares its
/// membership: it is no second member. A clone has no recorder.
// In this order, so that what an event needs lies together: the tags of the catalogue's controller
// and group are at their ends, those of its states at their beginnings.
#[repr(C)]
pub struct Flow<C: ConfiguredController = NamedController> {
    controller: C,
    recorder: Option<Box<dyn Recorder>>,
    last: Time,
    /// The version of its group the decision was made in.
    version: u64,
    decision: Decision,
    place: Place<C>,
    state: C::State,
    send_rate: SendRateMeter,
}

enum Place<C: ConfiguredController> {
    Ungrouped(C::Group),
    Grouped(Arc<Membership<C>>),
}

impl<C: ConfiguredController> Flow<C> {
    /// Where in its memory lies what most events touch, for a host of many flows that has the processor fetch it before:
    /// from the controller's tag to the beginning of the state, and the estimate of the send rate.
    #[doc(hidden)]
    pub const ON_EVENT: [Range<usize>; 2] = [
        offset_of!(Self, recorder) - size_of::<u64>()..offset_of!(Self, state) + 128,
        offset_of!(Self, send_rate)..size_of::<Self>(),
    ];

    /// A flow outside any group.
    pub fn ungrouped(controller: C, path: &Path) -> Self {
        let place = Place::Ungrouped(controller.group());
        Self::start(controller, path, place)
    }

    /// A flow outside any group that sends every event and decision to `recorder`.
    pub fn ungrouped_with(controller: C, path: &Path, recorder: Option<Box<dyn Recorder>>) -> Self {
        let mut flow = Self::ungrouped(controller, path);
        flow.recorder = recorder;
        flow
    }

    /// A flow that joins the group of `key`.
    pub fn grouped<K: Hash + Eq>(controller: C, path: &Path, groups: &Groups<C, K>, key: K) -> Self {
        Self::grouped_with(controller, path, groups, key, None)
    }

    /// A flow that joins the group of `key` and sends every event and decision to
    /// `recorder`, the joining among them.
    pub fn grouped_with<K: Hash + Eq>(
        controller: C,
        path: &Path,
        groups: &Groups<C, K>,
        key: K,
        recorder: Option<Box<dyn Recorder>>,
    ) -> Self {
        let place = Place::Grouped(groups.join(&controller, key));
        let mut flow = Self::start(controller, path, place);
        flow.recorder = recorder;
        flow.on_event(&Event::new(path.now, EventKind::Joined));
        flow
    }

    fn start(controller: C, path: &Path, place: Place<C>) -> Self {
        let state = controller.start(path);
        let decision = match &place {
            Place::Ungrouped(group) => controller.decide(&state, View::solo(group)),
            Place::Grouped(_) => controller.decide(&state, View::solo(&controller.group())),
        };
        Flow {
            controller,
            state,
            place,
            decision,
            version: 0,
            last: path.now,
            recorder: None,
            send_rate: SendRateMeter::default(),
        }
    }

    /// Sends every event and decision from now on to `recorder` too. A grouped flow that
    /// is to be replayed needs [`grouped_with`](Self::grouped_with).
    pub fn record(&mut self, recorder: Box<dyn Recorder>) {
        self.recorder = Some(recorder);
    }

    pub(crate) fn is_recorded(&self) -> bool {
        self.recorder.is_some()
    }

    /// Takes an event and returns the decision that now holds.
    #[inline(always)]
    pub fn on_event(&mut self, event: &Event) -> &Decision {
        self.last = event.now;
        let step = match &mut self.place {
            Place::Ungrouped(group) => {
                self.controller.step_and_decide(&mut self.state, Table::solo(group), event, &mut self.decision);
                None
            }
            Place::Grouped(_) => self.grouped_step(event),
        };
        self.send_rate.on_event(event);
        if self.recorder.is_some() {
            self.report(event, step);
        }
        &self.decision
    }

    /// A grouped flow's step.
    #[inline(never)]
    fn grouped_step(&mut self, event: &Event) -> Option<GroupStep> {
        let Place::Grouped(membership) = &self.place else { return None };
        let mut group = membership.change().expect("no event of a member occurs inside Groups::with");
        self.controller.step_and_decide(&mut self.state, group.table(membership.id()), event, &mut self.decision);
        self.version = group.version();
        Some(group.next_step(membership.id()))
    }

    #[cold]
    fn report(&mut self, event: &Event, step: Option<GroupStep>) {
        if let Some(mut recorder) = self.recorder.take() {
            if let Some(step) = step {
                recorder.on_group_step(step);
            }
            recorder.record(event, &self.decision, &|visit| self.inspect(visit));
            self.recorder = Some(recorder);
        }
    }

    /// The decision in force. A sibling may have lowered a grouped flow's window since
    /// the last event, so ask again before sending. Inside [`Groups::with`] of its group it is that of the last event.
    #[must_use]
    #[inline]
    pub fn decision(&self) -> Decision {
        self.with_decision(|decision| *decision)
    }

    /// The window in force, bytes; [`Decision::cwnd`] without the rest.
    #[must_use]
    #[inline]
    pub fn cwnd(&self) -> u64 {
        self.with_decision(|decision| decision.cwnd)
    }

    /// What `look` wants of the [`decision`](Self::decision), which is not copied.
    #[inline]
    pub fn with_decision<R>(&self, read: impl FnOnce(&Decision) -> R) -> R {
        match &self.place {
            // Nothing happened in the group since.
            Place::Grouped(membership) if membership.version() != self.version => {
                read(self.decide_again(membership).as_ref().unwrap_or(&self.decision))
            }
            _ => read(&self.decision),
        }
    }

    #[inline(never)]
    fn decide_again(&self, membership: &Membership<C>) -> Option<Decision> {
        Some(self.controller.decide(&self.state, membership.lock()?.view(membership.id())))
    }

    /// The rate at which the flow's next data leave and arrive, as of its latest event; `None` before the first RTT sample.
    #[must_use]
    pub fn send_rate(&self) -> Option<SendRate> {
        self.with_decision(|decision| self.send_rate.estimate(decision))
    }

    /// Whether the flow is in a group, whose other members may lower its window.
    #[must_use]
    #[inline]
    pub fn is_grouped(&self) -> bool {
        matches!(self.place, Place::Grouped(_))
    }

    /// Start of the latest recovery period; what [`AckedPackets::add`](crate::AckedPackets::add) asks for.
    #[must_use]
    #[inline]
    pub fn recovery_start(&self) -> Option<Time> {
        self.decision.recovery_start
    }

    /// Whether events of packets sent have to be delivered. Once they have not, they never have again.
    #[must_use]
    pub fn wants_packet_sent(&self) -> bool {
        self.controller.wants_packet_sent_in(&self.state)
    }

    /// The configured controller the flow runs.
    #[must_use]
    pub fn controller(&self) -> &C {
        &self.controller
    }

    /// The controller's state after the latest event.
    #[must_use]
    pub fn state(&self) -> &C::State {
        &self.state
    }

    /// Visits the state variables of the controller by name; inside [`Groups::with`] of its group, none.
    pub fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        match &self.place {
            Place::Ungrouped(group) => self.controller.inspect(&self.state, View::solo(group), visit),
            Place::Grouped(membership) => {
                if let Some(group) = membership.lock() {
                    self.controller.inspect(&self.state, group.view(membership.id()), visit);
                }
            }
        }
    }
}

impl<C: ConfiguredController> Clone for Flow<C> {
    fn clone(&self) -> Self {
        let place = match &self.place {
            Place::Ungrouped(group) => Place::Ungrouped(group.clone()),
            Place::Grouped(membership) => {
                membership.hold();
                Place::Grouped(Arc::clone(membership))
            }
        };
        Flow {
            controller: self.controller.clone(),
            state: self.state.clone(),
            place,
            decision: self.decision,
            version: self.version,
            last: self.last,
            recorder: None,
            send_rate: self.send_rate,
        }
    }
}

/// The last holder of a membership gives its controller the event `Left` first.
impl<C: ConfiguredController> Drop for Flow<C> {
    fn drop(&mut self) {
        let Place::Grouped(membership) = &self.place else { return };
        // Inside `Groups::with` the membership ends without the event.
        if membership.release() && membership.lock().is_some() {
            self.on_event(&Event::new(self.last, EventKind::Left));
        }
    }
}

impl<C: ConfiguredController> fmt::Debug for Flow<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flow")
            .field("controller", &self.controller)
            .field("state", &self.state)
            .field("decision", &self.decision)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_controllers::event::PacketsLost;

    const PATH: Path = Path::new(Time::ZERO, 1200, 1);

    fn loss(now: u64) -> Event {
        let lost = PacketsLost::new(1200, 1, Time(now - 1), 10_800).with_in_flight_before(12_000);
        Event::new(Time(now), EventKind::PacketsLost(lost))
    }

    #[test]
    fn a_group_lives_as_long_as_its_members() {
        let groups = Groups::<NamedController, u8>::default();
        let reno = NamedController::named("reno").unwrap();
        let first = Flow::grouped(reno, &PATH, &groups, 1);
        let second = Flow::grouped(reno, &PATH, &groups, 1);
        let clone = second.clone();
        assert_eq!(groups.with(&1, |group| group.members().len()), Some(2));
        drop(second);
        assert_eq!(groups.with(&1, |group| group.members().len()), Some(2), "the clone keeps the membership");
        drop(clone);
        assert_eq!(groups.with(&1, |group| group.members().len()), Some(1));
        drop(first);
        assert!(groups.is_empty());
    }

    #[test]
    fn a_recorder_gets_every_step() {
        struct Count(std::sync::mpsc::Sender<u64>);
        impl Recorder for Count {
            fn record(&mut self, _: &Event, decision: &Decision, variables: &crate::StateVariables<'_>) {
                let mut seen = 0;
                variables(&mut |_, _| seen += 1);
                assert!(seen > 0);
                self.0.send(decision.cwnd).unwrap();
            }
        }
        let (sender, receiver) = std::sync::mpsc::channel();
        let mut flow = Flow::ungrouped(NamedController::named("reno").unwrap(), &PATH);
        flow.record(Box::new(Count(sender)));
        let cwnd = flow.on_event(&loss(5)).cwnd;
        assert_eq!(cwnd, 6000);
        assert_eq!(receiver.recv().unwrap(), cwnd);
    }
}
