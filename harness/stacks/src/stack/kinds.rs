//! What can run a scenario.

use windlass_adapter::require;
use windlass_controllers::{Signals, Time};

use super::guest::Guest;
use super::live::Live;
use super::logs::Logs;
use super::{real, simulated};
use crate::driver::native::NoNative;
use windlass_simulator::outcome::Outcome;
use windlass_simulator::scenario::{Control, Scenario};

/// Something that runs a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// The packet simulator.
    Sim,
    /// quinn 0.11 under virtual time.
    Quinn,
    /// noq 1.4 under virtual time.
    Noq,
    /// s2n-quic 1.91 under virtual time.
    #[cfg(feature = "s2n-quic")]
    S2nQuic,
    /// One this program brought along.
    Guest(&'static Guest),
    /// A real stack in real time, on real sockets.
    Wire(Live),
}

impl Stack {
    /// All of this crate's that run in their own time.
    pub const ALL: &[Stack] = &[
        Stack::Sim,
        Stack::Quinn,
        Stack::Noq,
        #[cfg(feature = "s2n-quic")]
        Stack::S2nQuic,
    ];

    /// All a user can name: this crate's, and those the program brought along.
    #[must_use]
    pub fn all() -> Vec<Stack> {
        Stack::ALL.iter().copied().chain(Guest::all().into_iter().map(Stack::Guest)).collect()
    }

    /// The stack itself, or, if it has no virtual time, on real sockets.
    #[must_use]
    pub fn in_its_own_time(self) -> Stack {
        match self {
            Stack::Guest(guest) if guest.run.is_none() => Live::of(self).map_or(self, Stack::Wire),
            stack => stack,
        }
    }

    /// What a user types.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Stack::Sim => "sim",
            Stack::Quinn => windlass_quinn::STACK,
            Stack::Noq => windlass_noq::STACK,
            #[cfg(feature = "s2n-quic")]
            Stack::S2nQuic => windlass_s2n_quic::STACK,
            Stack::Guest(guest) => guest.name,
            Stack::Wire(live) => live.name(),
        }
    }

    /// The stack a user typed.
    #[must_use]
    pub fn named(name: &str) -> Option<Stack> {
        Stack::all().into_iter().find(|stack| stack.name() == name)
    }

    /// The signals it gives a controller.
    #[must_use]
    pub fn provides(self) -> Signals {
        match self {
            Stack::Sim => Signals::ALL,
            Stack::Quinn => windlass_quinn::PROVIDES,
            Stack::Noq => windlass_noq::PROVIDES,
            #[cfg(feature = "s2n-quic")]
            Stack::S2nQuic => windlass_s2n_quic::PROVIDES,
            Stack::Guest(guest) => guest.provides,
            Stack::Wire(live) => live.stack().provides(),
        }
    }

    /// Its own controllers: what a user types after `native:`.
    #[must_use]
    pub fn natives(self) -> &'static [&'static str] {
        match self {
            Stack::Sim => &[],
            Stack::Quinn => crate::quinn::NATIVES,
            Stack::Noq => crate::noq::NATIVES,
            #[cfg(feature = "s2n-quic")]
            Stack::S2nQuic => crate::s2n::NATIVES,
            Stack::Guest(guest) => guest.natives,
            Stack::Wire(live) => live.stack().natives(),
        }
    }

    /// Checks that it can run `control`, which the user called `text`.
    ///
    /// # Errors
    /// It lacks a signal, or has no such controller of its own.
    pub fn check(self, control: &Control, text: &str) -> Result<(), String> {
        match control {
            Control::Catalogue(algorithm) => {
                require(algorithm, text, self.name(), self.provides()).map_err(|error| error.to_string())
            }
            Control::Native(name) if self.natives().contains(&name.as_str()) => Ok(()),
            Control::Native(name) => {
                Err(NoNative { stack: self.name(), name: name.clone(), known: self.natives() }.to_string())
            }
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
            Stack::Quinn => real::run(crate::quinn::run, scenario, logs, stop),
            Stack::Noq => real::run(crate::noq::run, scenario, logs, stop),
            #[cfg(feature = "s2n-quic")]
            Stack::S2nQuic => real::run(crate::s2n::run, scenario, logs, stop),
            Stack::Guest(guest) => match guest.run {
                Some(run) => real::run(run, scenario, logs, stop),
                None => {
                    Err(RunError::Failed(format!("{} has no virtual time; give --wire for real sockets", guest.name)))
                }
            },
            Stack::Wire(live) => live.run(scenario, logs, stop),
        }
    }
}
