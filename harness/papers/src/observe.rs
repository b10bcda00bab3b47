//! One run of a cell, on the simulator or a real stack.

use std::sync::OnceLock;

use sha2::{Digest, Sha256};
use windlass_controllers::Span;
use windlass_lab::grid::{self, Reading};
use windlass_simulator::scenario::{Scenario, ScenarioError};
use windlass_stacks::RunError;
use windlass_stacks::stack::Runner;

use super::cell::{Cell, Measured};
use super::time_series::TimeSeries;
use super::watch::{WatchError, watch};

/// What is read off a run is decided by these sources; scenarios are hashed by their text.
const SOURCES: [&str; 7] = [
    include_str!("observe.rs"),
    include_str!("time_series.rs"),
    include_str!("watch.rs"),
    include_str!("documents/arumaithurai/measures.rs"),
    include_str!("documents/chan/measures.rs"),
    include_str!("documents/cho/measures.rs"),
    include_str!("documents/sharma/measures.rs"),
];

/// Hash of all sources that the numbers of an experiment on the simulator depend on.
#[must_use]
pub fn code() -> &'static str {
    static HASH: OnceLock<String> = OnceLock::new();
    HASH.get_or_init(|| {
        let hash =
            SOURCES.iter().fold(Sha256::new().chain_update(grid::CODE), |hash, source| hash.chain_update(source));
        hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    })
}

/// The record of a run that is done: what was measured, curves of the first repetition only.
pub type Record = grid::Record<Measured>;

/// The store of such records.
pub type ResultCache = grid::Store<Measured>;

/// Smallest UDP payload of a path that carries QUIC, bytes.
const QUIC_BYTES: u64 = 1200;

/// Why a run has no record.
#[derive(thiserror::Error)]
pub enum ObserveError {
    /// The run went wrong or was stopped.
    #[error(transparent)]
    Run(#[from] WatchError),
    /// The scenario cannot be read.
    #[error(transparent)]
    Scenario(Box<ScenarioError>),
    /// A real stack could not run it, as the text says.
    #[error("{0}")]
    Stack(String),
}

impl std::fmt::Debug for ObserveError {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl Cell {
    /// The run with `seed` on `stack`, as the grid names it. Its work is in thousands of packets.
    #[must_use]
    pub fn run(&self, seed: u64, stack: &str) -> grid::Cell {
        grid::Cell {
            name: format!("{} seed {seed}", self.name),
            scenario: self.scenario.clone(),
            file: String::new(),
            controller: String::new(),
            stack: stack.to_owned(),
            seed,
            reads: format!("{} of {} every {} ms by {}", self.measure.name, self.bottleneck, self.step_ms, code()),
            // A run has a cost besides its packets.
            work: 1 + (self.packets() / 1e3) as u64,
        }
    }

    /// The scenario as `stack` runs it: real stacks have no packets below 1200 bytes (`RFC 9000 §14.1`), so theirs are
    /// larger on links of the same rate.
    ///
    /// # Errors
    /// It has mistakes.
    pub fn scenario_on(&self, stack: Runner) -> Result<Scenario, ScenarioError> {
        if stack == Runner::SIMULATOR {
            return Scenario::read(&self.name, &self.scenario, None);
        }
        let line = |line: &str| {
            let size: Option<u64> = line.strip_prefix("packet_bytes = ").and_then(|size| size.parse().ok());
            if size.is_some_and(|size| size < QUIC_BYTES) {
                format!("packet_bytes = {QUIC_BYTES}\n")
            } else {
                format!("{line}\n")
            }
        };
        let text: String = self.scenario.lines().map(line).collect();
        Scenario::read(&self.name, &text, None)
    }
}

/// Runs `cell` with `seed` on `stack` and reads its measure off. `stop` gets the part of the run that is done, 0 to 1,
/// and returns whether to give up.
///
/// # Errors
/// Stopped; the scenario cannot be read or run; the run violates an invariant or shows an artefact.
pub fn observe(
    cell: &Cell,
    seed: u64,
    stack: Runner,
    stop: &dyn Fn(f64) -> bool,
) -> Result<Reading<Measured>, ObserveError> {
    let read = cell.scenario_on(stack).map_err(|error| ObserveError::Scenario(Box::new(error)))?;
    let step = Span((cell.step_ms * 1e6).round() as u64);
    let scenario = Scenario { seed, name: cell.name.clone(), ..read };
    let series = if stack == Runner::SIMULATOR {
        watch(&scenario, cell.bottleneck, step, cell.measure.state_variables, stop)?
    } else {
        let scenario = Scenario { sample: step, ..scenario };
        let end = scenario.duration.secs();
        let outcome =
            stack.run(&scenario, None, &|now| stop(now.0 as f64 / 1e9 / end)).map_err(|error| match error {
                RunError::Stopped => ObserveError::Run(WatchError::Stopped),
                error => ObserveError::Stack(format!("{}, seed {seed}: {error}", cell.name)),
            })?;
        TimeSeries::of_outcome(outcome, &scenario, cell.bottleneck)
    };
    let mut read = (cell.measure.read)(&series);
    // Not a number: the stack does not provide it.
    read.quantities.retain(|quantity| quantity.value.is_finite());
    Ok(Reading { read, packets: series.outcome.flows.iter().map(|flow| flow.packets_sent).sum() })
}
