//! What can run a scenario.

use windlass_controllers::{Signals, Time};

use super::logs::Logs;
use super::{quinn, simulated};
use crate::outcome::Outcome;
use crate::scenario::Scenario;

/// Something that runs a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// The packet simulator.
    Sim,
    /// quinn 0.11 under virtual time.
    Quinn,
}

impl Stack {
    /// All of them.
    pub const ALL: [Stack; 2] = [Stack::Sim, Stack::Quinn];

    /// What a user types.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Stack::Sim => "sim",
            Stack::Quinn => windlass_quinn::STACK,
        }
    }

    /// The stack a user typed.
    #[must_use]
    pub fn named(name: &str) -> Option<Stack> {
        Stack::ALL.into_iter().find(|stack| stack.name() == name)
    }

    /// The signals it gives a controller.
    #[must_use]
    pub fn provides(self) -> Signals {
        match self {
            Stack::Sim => Signals::ALL,
            Stack::Quinn => windlass_quinn::PROVIDES,
        }
    }
}

/// Why a run ended before its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// It was asked to.
    Stopped,
    /// Something went wrong.
    Failed(String),
}

impl Stack {
    /// Runs `scenario`; `stop` is told now and then how far the run is, and says
    /// whether to give up.
    ///
    /// # Errors
    /// It was told to stop, or something went wrong.
    pub fn run(
        self,
        scenario: &Scenario,
        logs: Option<&mut Logs>,
        stop: &dyn Fn(Time) -> bool,
    ) -> Result<Outcome, RunError> {
        match self {
            Stack::Sim => simulated::run(scenario, logs, stop),
            Stack::Quinn => quinn::run(scenario, logs, stop),
        }
    }
}
