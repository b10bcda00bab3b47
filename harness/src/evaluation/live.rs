//! Stacks on real sockets.

use windlass_controllers::Time;

use super::logs::Logs;
use super::real;
use super::stack::{RunError, Stack};
use crate::outcome::Outcome;
use crate::scenario::Scenario;
use crate::stacks;

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
}

impl Live {
    /// All of them.
    pub const ALL: &[Live] = &[
        Live::Quinn,
        Live::Noq,
        #[cfg(feature = "s2n-quic")]
        Live::S2nQuic,
    ];

    /// What it is called in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Live::Quinn => "quinn-wire",
            Live::Noq => "noq-wire",
            #[cfg(feature = "s2n-quic")]
            Live::S2nQuic => "s2n-quic-wire",
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
        }
    }

    /// The stack under virtual time `stack`, on real sockets.
    #[must_use]
    pub fn of(stack: Stack) -> Option<Live> {
        Live::ALL.iter().copied().find(|live| live.stack() == stack)
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
            Live::Quinn => real::run(stacks::quinn::live::run_unless, scenario, logs, stop),
            Live::Noq => real::run(stacks::noq::live::run_unless, scenario, logs, stop),
            #[cfg(feature = "s2n-quic")]
            Live::S2nQuic => real::run(stacks::s2n::live::run_unless, scenario, logs, stop),
        }
    }
}
