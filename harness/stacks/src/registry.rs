//! The stacks this process knows: those of this crate, and those a program registers.

use std::fmt;
use std::sync::{PoisonError, RwLock};

use windlass_adapter::require;
use windlass_controllers::{Signals, Time};
use windlass_simulator::outcome::Outcome;
use windlass_simulator::scenario::{Control, FlowSpec, Scenario};

use crate::driver::log::RunError;
use crate::driver::native::NoNative;
use crate::stack::{Logs, Simulator, Stack};

/// A stack, in virtual time or over UDP sockets. Two are equal if results call them the same.
#[derive(Clone, Copy)]
pub struct Runner {
    stack: &'static dyn Stack,
    live: bool,
}

/// The stacks of this crate.
static BUILTIN: &[Runner] = &[
    Runner::SIMULATOR,
    Runner::new(&crate::quinn::Quinn),
    Runner::new(&crate::noq::Noq),
    #[cfg(feature = "s2n-quic")]
    Runner::new(&crate::s2n::S2nQuic),
];

static REGISTERED: RwLock<Vec<Runner>> = RwLock::new(Vec::new());

/// Makes `stack` known to this process by its name, after the stacks of this crate.
pub fn register(stack: &'static dyn Stack) {
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    let runner = Runner::new(stack);
    if !registered.contains(&runner) {
        registered.push(runner);
    }
}

impl Runner {
    /// The packet simulator, in virtual time.
    pub const SIMULATOR: Runner = Runner::new(&Simulator);

    /// Runs `stack` in virtual time.
    #[must_use]
    pub const fn new(stack: &'static dyn Stack) -> Runner {
        Runner { stack, live: false }
    }

    /// The stacks of this crate, in virtual time.
    #[must_use]
    pub fn builtin() -> &'static [Runner] {
        BUILTIN
    }

    /// All stacks a user can name: those of this crate, then those [`register`]ed.
    #[must_use]
    pub fn all() -> Vec<Runner> {
        let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
        BUILTIN.iter().chain(registered.iter()).copied().collect()
    }

    /// The stack a user calls `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Runner> {
        Runner::all().into_iter().find(|runner| runner.name() == name)
    }

    /// The stack that results call `name`, in virtual time or over UDP sockets.
    #[must_use]
    pub fn called(name: &str) -> Option<Runner> {
        let live = || Runner::all().into_iter().filter_map(Runner::live).find(|runner| runner.name() == name);
        Runner::named(name).or_else(live)
    }

    /// The same stack over UDP sockets; `None` if it has none.
    #[must_use]
    pub fn live(self) -> Option<Runner> {
        self.stack.sockets().then_some(Runner { live: true, ..self })
    }

    /// The stack in virtual time, or over UDP sockets if it has no virtual time.
    #[must_use]
    pub fn preferred(self) -> Runner {
        if self.stack.virtual_time() { self } else { self.live().unwrap_or(self) }
    }

    /// Name of the stack, as in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        if self.live { self.stack.live_name() } else { self.stack.name() }
    }

    /// The signals it gives a controller.
    #[must_use]
    pub fn provides(self) -> Signals {
        self.stack.provides()
    }

    /// Its own controllers: what a user types after `native:`.
    #[must_use]
    pub fn natives(self) -> &'static [&'static str] {
        self.stack.natives()
    }

    /// Checks that it can run `control`, which the user called `text`.
    ///
    /// # Errors
    /// It lacks a signal, or has no such controller of its own.
    pub fn check(self, control: &Control, text: &str) -> Result<(), String> {
        match control {
            Control::Named(algorithm) => {
                require(algorithm, text, self.name(), self.provides()).map_err(|error| error.to_string())
            }
            Control::Native(name) if self.natives().contains(&name.as_str()) => Ok(()),
            Control::Native(name) => {
                Err(NoNative { stack: self.name(), name: name.clone(), known: self.natives() }.to_string())
            }
        }
    }

    /// Runs `scenario` with logs in `logs`, if given. `stop` is called now and then with the time reached; it
    /// returns true to give up.
    ///
    /// # Errors
    /// Those of [`Stack::run`] or [`Stack::run_live`].
    pub fn run(
        self,
        scenario: &Scenario,
        mut logs: Option<&mut Logs>,
        stop: &dyn Fn(Time) -> bool,
    ) -> Result<Outcome, RunError> {
        let mut log = |flow: &FlowSpec| logs.as_deref_mut().map(|logs| logs.log(flow)).transpose();
        if self.live { self.stack.run_live(scenario, &mut log, stop) } else { self.stack.run(scenario, &mut log, stop) }
    }
}

impl PartialEq for Runner {
    fn eq(&self, other: &Runner) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Runner {}

impl fmt::Debug for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::log::OpenLog;

    /// A stack that has sockets only.
    struct LiveOnly;

    impl Stack for LiveOnly {
        fn name(&self) -> &'static str {
            "visitor"
        }
        fn live_name(&self) -> &'static str {
            "visitor-wire"
        }
        fn provides(&self) -> Signals {
            Signals::ACKS
        }
        fn natives(&self) -> &'static [&'static str] {
            &["own"]
        }
        fn virtual_time(&self) -> bool {
            false
        }
        fn run_live(&self, _: &Scenario, _: &mut OpenLog<'_>, _: &dyn Fn(Time) -> bool) -> Result<Outcome, RunError> {
            Err(RunError::Stopped)
        }
    }

    #[test]
    fn a_registered_stack_is_one_like_the_others() {
        register(&LiveOnly);
        register(&LiveOnly);
        assert_eq!(Runner::all().iter().filter(|runner| runner.name() == "visitor").count(), 1);
        let runner = Runner::named("visitor").unwrap();
        assert!(!Runner::builtin().contains(&runner));
        assert_eq!((runner.provides(), runner.natives()), (Signals::ACKS, &["own"][..]));
        let live = runner.live().unwrap();
        assert_eq!((live.name(), live.provides()), ("visitor-wire", Signals::ACKS));
        assert_eq!(["visitor", "visitor-wire", "visitor-air"].map(Runner::called), [Some(runner), Some(live), None]);
        // What has no virtual time runs in real time.
        assert_eq!(runner.preferred(), live);
        let text = "duration_s = 1\n[dumbbell]\nrate_mbps = 1\nrtt_ms = 10\n[[flow]]\ncontroller = \"reno\"\n";
        let scenario = Scenario::read("test", text, None).unwrap();
        let error = runner.run(&scenario, None, &|_| false).unwrap_err().to_string();
        assert_eq!(error, "visitor has no virtual time; give --wire for real sockets");
        assert!(matches!(live.run(&scenario, None, &|_| false), Err(RunError::Stopped)));
    }

    #[test]
    fn the_simulator_has_no_sockets_and_every_other_stack_of_this_crate_has_both() {
        assert_eq!(Runner::SIMULATOR.live(), None);
        for runner in &Runner::builtin()[1..] {
            assert_eq!(runner.preferred(), *runner);
            assert_eq!(runner.live().unwrap().name(), format!("{}-wire", runner.name()));
        }
    }
}
