//! Listening to a flow's decisions.

use windlass_controllers::{Decision, Event};

/// Gives every private fact of a controller's state to a visitor; see
/// [`Controller::inspect`](windlass_controllers::Controller::inspect).
pub type Facts<'a> = dyn Fn(&mut dyn FnMut(&'static str, f64)) + 'a;

/// Hears of every event of a flow and the decision it led to.
pub trait Recorder: Send + Sync {
    /// `event` was taken and `decision` holds from now on. `facts` reads the
    /// controller's private state; it costs nothing unless called.
    fn record(&mut self, event: &Event, decision: &Decision, facts: &Facts<'_>);
}
