//! A stack that runs scenarios otherwise.

use windlass_controllers::{Signals, Time};
use windlass_simulator::outcome::Outcome;
use windlass_simulator::scenario::Scenario;

use super::Stack;
use crate::driver::log::{OpenLog, RunError};

/// What [`Stack::run`] and [`Stack::run_live`] are but for the stack.
type Run = fn(&Scenario, &mut OpenLog<'_>, &dyn Fn(Time) -> bool) -> Result<Outcome, RunError>;

/// A stack but for its run: with another log, a measurement around it, a fault for a test to find.
///
/// It runs in virtual time only, or over UDP sockets only where the stack has no virtual time.
#[derive(Clone, Copy)]
pub struct Variant {
    stack: &'static dyn Stack,
    run: Run,
}

impl Variant {
    /// `stack` with `run` in place of its own.
    #[must_use]
    pub const fn new(stack: &'static dyn Stack, run: Run) -> Variant {
        Variant { stack, run }
    }
}

impl Stack for Variant {
    fn name(&self) -> &'static str {
        self.stack.name()
    }

    fn live_name(&self) -> &'static str {
        self.stack.live_name()
    }

    fn provides(&self) -> Signals {
        self.stack.provides()
    }

    fn natives(&self) -> &'static [&'static str] {
        self.stack.natives()
    }

    fn virtual_time(&self) -> bool {
        self.stack.virtual_time()
    }

    fn sockets(&self) -> bool {
        !self.virtual_time()
    }

    fn run(
        &self,
        scenario: &Scenario,
        log: &mut OpenLog<'_>,
        stop: &dyn Fn(Time) -> bool,
    ) -> Result<Outcome, RunError> {
        if self.virtual_time() { (self.run)(scenario, log, stop) } else { Err(RunError::NoVirtualTime(self.name())) }
    }

    fn run_live(
        &self,
        scenario: &Scenario,
        log: &mut OpenLog<'_>,
        stop: &dyn Fn(Time) -> bool,
    ) -> Result<Outcome, RunError> {
        if self.sockets() { (self.run)(scenario, log, stop) } else { Err(RunError::NoSockets(self.name())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quinn::Quinn;
    use crate::stack::Runner;

    static STOPPED: Variant = Variant::new(&Quinn, |_, _, _| Err(RunError::Stopped));

    #[test]
    fn a_variant_is_called_like_its_stack_and_runs_by_itself() {
        let runner = Runner::new(&STOPPED);
        assert_eq!((runner, runner.natives()), (Runner::new(&Quinn), Quinn.natives()));
        // Over sockets it would be the stack, or its run in another time than it is of.
        assert_eq!(runner.live(), None);
        let text = "duration_s = 1\n[dumbbell]\nrate_mbps = 1\nrtt_ms = 10\n[[flow]]\ncontroller = \"reno\"\n";
        let scenario = Scenario::read("test", text, None).unwrap();
        assert!(matches!(runner.run(&scenario, None, &|_| false), Err(RunError::Stopped)));
    }
}
