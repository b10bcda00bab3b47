//! What can run a scenario.

use windlass_controllers::Signals;

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
