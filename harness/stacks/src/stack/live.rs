//! Stacks on real sockets.

use windlass_controllers::Time;

use super::guest::Guest;
use super::kinds::{RunError, Stack};
use super::logs::Logs;
use super::real;
use windlass_simulator::outcome::Outcome;
use windlass_simulator::scenario::Scenario;

/// A stack that runs on real sockets too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Live {
    /// quinn 0.11.
    Quinn,
    /// noq 1.4.
    Noq,
    /// s2n-quic 1.91.
    #[cfg(feature = "s2n-quic")]
    S2nQuic,
    /// One this program brought along.
    Guest(&'static Guest),
}

impl Live {
    /// All of this crate's.
    const ALL: &[Live] = &[
        Live::Quinn,
        Live::Noq,
        #[cfg(feature = "s2n-quic")]
        Live::S2nQuic,
    ];

    /// All of them: this crate's, and those the program brought along.
    #[must_use]
    pub fn all() -> Vec<Live> {
        let guests = Guest::all().into_iter().filter(|guest| guest.live.is_some());
        Live::ALL.iter().copied().chain(guests.map(Live::Guest)).collect()
    }

    /// What it is called in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Live::Quinn => "quinn-wire",
            Live::Noq => "noq-wire",
            #[cfg(feature = "s2n-quic")]
            Live::S2nQuic => "s2n-quic-wire",
            Live::Guest(guest) => guest.wire_name,
        }
    }

    /// The same stack under virtual time.
    #[must_use]
    pub fn stack(self) -> Stack {
        match self {
            Live::Quinn => Stack::Quinn,
            Live::Noq => Stack::Noq,
            #[cfg(feature = "s2n-quic")]
            Live::S2nQuic => Stack::S2nQuic,
            Live::Guest(guest) => Stack::Guest(guest),
        }
    }

    /// The stack under virtual time `stack`, on real sockets.
    #[must_use]
    pub fn of(stack: Stack) -> Option<Live> {
        Live::all().into_iter().find(|live| live.stack() == stack)
    }

    /// Runs `scenario` in real time.
    ///
    /// # Errors
    /// It was told to stop, or something went wrong.
    pub(super) fn run(
        self,
        scenario: &Scenario,
        logs: Option<&mut Logs>,
        stop: &dyn Fn(Time) -> bool,
    ) -> Result<Outcome, RunError> {
        match self {
            Live::Quinn => real::run_live(crate::quinn::live::run, scenario, logs, stop),
            Live::Noq => real::run_live(crate::noq::live::run, scenario, logs, stop),
            #[cfg(feature = "s2n-quic")]
            Live::S2nQuic => real::run_live(crate::s2n::live::run, scenario, logs, stop),
            Live::Guest(guest) => match guest.live {
                Some(run) => real::run_live(run, scenario, logs, stop),
                None => Err(RunError::Failed(format!("{} does not run on real sockets", guest.name))),
            },
        }
    }
}
