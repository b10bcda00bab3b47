//! A `windlass_flow`: a path whose controller may panic.

use std::ffi::{CStr, CString};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use windlass_adapter::{FellBack, Guarded, NamedController};
use windlass_controllers::ConfiguredController;

use crate::definition::{Definition, NewPath};
use windlass_abi as abi;
use windlass_adapter::stack_path::{Invalid, StackPath};

/// Why a call has no effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// An argument is out of its range.
    Invalid,
    /// The controller panicked, in this call or before.
    Panicked,
}

impl From<Invalid> for Failure {
    fn from(_: Invalid) -> Failure {
        Failure::Invalid
    }
}

/// A `windlass_flow`: a path until its controller panics, and its last decision from then on.
#[derive(Debug)]
pub struct GuardedFlow<C: ConfiguredController = NamedController> {
    path: Guarded<StackPath<C>>,
    last: abi::Decision,
    name: CString,
    /// The name before the fallback, to which the stack may hold a pointer.
    former: Option<CString>,
    definition: Option<Arc<Definition>>,
}

impl GuardedFlow {
    /// A flow of `definition` on `path`.
    #[must_use]
    pub fn start(definition: Arc<Definition>, path: &NewPath<'_>) -> Self {
        let (flow, text) = definition.start(path);
        let flow = StackPath::new(flow, path.now, path.mtu, definition.signals());
        let mut guarded = GuardedFlow::new(flow, &text);
        guarded.definition = Some(definition);
        guarded
    }

    /// Starts anew on another path.
    ///
    /// # Errors
    /// The controller panicked.
    pub fn restart(&mut self, path: &NewPath<'_>) -> Result<(), Failure> {
        let Some(definition) = self.definition.clone() else { return Err(Failure::Panicked) };
        let started = catch_unwind(AssertUnwindSafe(|| GuardedFlow::start(definition, path)));
        // What is replaced leaves its group after the other has joined, so that the group lives on.
        *self = started.map_err(|_| self.ended())?;
        Ok(())
    }
}

impl<C: ConfiguredController> GuardedFlow<C> {
    /// Guards `path`, whose controller is `text` as a user types it.
    #[must_use]
    pub fn new(path: StackPath<C>, text: &str) -> Self {
        let last = path.decision();
        // No name has a NUL in it.
        let name = CString::new(text).unwrap_or_default();
        GuardedFlow { last, path: Guarded::new(path), name, former: None, definition: None }
    }

    /// The controller as a user types it.
    #[must_use]
    pub fn name(&self) -> &CStr {
        &self.name
    }

    /// Passes an event to the path.
    ///
    /// # Errors
    /// The event is invalid, or the controller panicked, now or before.
    pub fn on_event(&mut self, event: impl FnOnce(&mut StackPath<C>) -> Result<(), Invalid>) -> Result<(), Failure> {
        let done = self.path.call_mut(|path| {
            event(path)?;
            let fell_back = path.fall_back();
            Ok::<_, Invalid>((path.decision(), fell_back))
        });
        let (decided, fell_back) = done.map_err(|_| self.ended())??;
        self.last = decided;
        if let Some(fell_back) = fell_back {
            self.fell_back(fell_back);
        }
        Ok(())
    }

    /// Writes the line to standard error, where a failure is ignored, and takes the name of the controller.
    #[cold]
    fn fell_back(&mut self, fell_back: FellBack) {
        let _ = writeln!(std::io::stderr(), "windlass: {}", fell_back.line);
        if let Some(name) = fell_back.controller.and_then(|name| CString::new(name).ok()) {
            self.former = Some(std::mem::replace(&mut self.name, name));
        }
    }

    /// The estimated send rate; all zero after a panic.
    #[must_use]
    pub fn send_rate(&self) -> abi::SendRate {
        self.path.call(StackPath::send_rate).unwrap_or_default()
    }

    /// What the sender may do; after a panic the last decision, flagged as such.
    pub fn decision(&mut self) -> abi::Decision {
        if self.last.flags & abi::decision::SHARED != 0 {
            // A failure shows in the flags.
            let _ = self.on_event(|_| Ok(()));
        }
        self.last
    }

    #[cold]
    fn ended(&mut self) -> Failure {
        self.path.end();
        self.last.flags = abi::decision::ENDED;
        Failure::Panicked
    }
}

#[cfg(test)]
mod tests {
    use windlass_adapter::Flow;
    use windlass_controllers::{Decision, Event, Info, Path, Signals, Table, Time, View};

    use super::*;

    #[derive(Clone, Debug)]
    struct Fragile;

    impl ConfiguredController for Fragile {
        type State = ();
        type Group = ();

        fn info(&self) -> Info {
            Info { name: "fragile", summary: "panics at every event", source: "this test", fallback: None }
        }
        fn needs(&self) -> Signals {
            Signals::NONE
        }
        fn wants_packet_sent(&self) -> bool {
            false
        }
        fn group(&self) {}
        fn start(&self, _: &Path) {}
        fn step(&self, (): &mut (), _: Table<'_, ()>, _: &Event) {
            panic!("on purpose");
        }
        fn decide(&self, (): &(), _: View<'_, ()>) -> Decision {
            Decision::new(7000)
        }
        fn inspect(&self, (): &(), _: View<'_, ()>, _: &mut dyn FnMut(&'static str, f64)) {}
    }

    #[test]
    fn after_a_panic_the_last_decision_stays_in_force() {
        let flow = Flow::ungrouped(Fragile, &Path::new(Time(0), 1000, 0));
        let mut flow = GuardedFlow::new(StackPath::new(flow, Time(0), 1000, 0), "fragile");
        assert_eq!((flow.decision().cwnd, flow.decision().flags), (7000, 0));
        assert_eq!(flow.on_event(|path| path.on_mtu(1, 0)), Err(Failure::Invalid));
        let timer = |path: &mut StackPath<Fragile>| {
            path.on_timer(1);
            Ok(())
        };
        assert_eq!(flow.on_event(timer), Err(Failure::Panicked));
        assert_eq!(flow.on_event(timer), Err(Failure::Panicked), "it does not panic again");
        assert_eq!((flow.decision().cwnd, flow.decision().flags), (7000, abi::decision::ENDED));
        assert_eq!(flow.name(), c"fragile");
    }
}
