//! Recorders of a flow's events and decisions.

use windlass_controllers::{Decision, Event};

/// Gives every state variable of a controller to a visitor, by name; see
/// [`Controller::inspect`](windlass_controllers::Controller::inspect).
pub type StateVariables<'a> = dyn Fn(&mut dyn FnMut(&'static str, f64)) + 'a;

/// When in the life of its group a flow took a step: the result of a grouped flow
/// depends on the order of the whole group's steps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "qlog", derive(serde::Serialize, serde::Deserialize))]
pub struct GroupStep {
    /// Number of the group within its [`Groups`](crate::Groups), in the order they were created.
    pub group: u64,
    /// Number of steps that the group's flows took before this one.
    pub step: u64,
    /// The flow's [`Member::id`](windlass_controllers::Member::id).
    pub member: u64,
}

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
