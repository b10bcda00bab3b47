//! A cell, and the name that its content gives it.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Hash of all sources that the numbers of a simulated run depend on.
pub const CODE: &str = env!("WINDLASS_CODE");

/// Hash of the further sources that the numbers of real stacks depend on.
const STACK_CODE: &str = env!("WINDLASS_STACK_CODE");

/// One run, and what is read off it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Cell {
    /// What messages call it; not part of its content.
    pub name: String,
    /// The scenario as TOML; its own seed is not used.
    pub scenario: String,
    /// The controller of the flows under test; empty for the scenario's own.
    pub controller: String,
    /// The stack that runs it; `sim` is the simulator.
    pub stack: String,
    /// Seed of all random numbers.
    pub seed: u64,
    /// What is read off, with all its parameters: cells of equal texts read the same.
    pub reads: String,
    /// Estimated work, in any unit that all cells of a command share; not part of its content.
    pub work: u64,
}

impl Cell {
    /// The hash of everything that decides what the run yields, code included. Cells of several questions that are the
    /// same run share it.
    #[must_use]
    pub fn key(&self) -> String {
        let mut hash = Sha256::new();
        let stack_code = if self.stack == "sim" { "" } else { STACK_CODE };
        let seed = self.seed.to_string();
        for part in [&self.scenario, &self.controller, &self.stack, &seed, &self.reads, CODE, stack_code] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }
}
