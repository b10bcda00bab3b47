//! A run of a cell, and what is read off its outcome.

use serde::{Deserialize, Serialize};

use windlass_controllers::Time;
use windlass_simulator::outcome::Outcome;
use windlass_simulator::scenario::Scenario;
use windlass_stacks::RunError;
use windlass_stacks::stack::Runner;

use super::{Cell, Failure, Reading};

/// What was read off the run of a cell.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Measured<T> {
    /// It ran.
    Run(T),
    /// The stack cannot run it, failed, or does not measure what is asked.
    Not {
        /// Why.
        not_run: String,
    },
}

/// Why a cell has no outcome.
#[derive(thiserror::Error)]
pub enum NoOutcome {
    /// It cannot be run.
    #[error("{0}")]
    CannotRun(String),
    /// It was run, and failed.
    #[error(transparent)]
    Failed(RunError),
}

impl std::fmt::Debug for NoOutcome {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// The scenario of `cell` with its controller and seed, and the stack that runs it.
///
/// # Errors
/// The scenario has a mistake, there is no such stack, or it cannot run a controller; the text says so.
pub fn prepared(cell: &Cell) -> Result<(Scenario, Runner), String> {
    let scenario = Scenario::read(&cell.name, &cell.scenario, Some(&cell.controller)).map_err(|e| e.to_string())?;
    let scenario = Scenario { seed: cell.seed, ..scenario };
    let stack = Runner::called(&cell.stack).ok_or_else(|| format!("unknown stack {:?}", cell.stack))?;
    scenario.flows.iter().try_for_each(|flow| stack.check(&flow.control, &flow.controller))?;
    Ok((scenario, stack))
}

/// Runs `cell`, and reads it off: by `of` its outcome, by `not` why it has none. `stop` gets the part of the run that is
/// done, 0 to 1, and returns whether to give up.
///
/// # Errors
/// Stopped.
pub fn read_off<T>(
    cell: &Cell,
    stop: &dyn Fn(f64) -> bool,
    of: impl FnOnce(&Scenario, &Outcome) -> T,
    not: impl FnOnce(NoOutcome) -> T,
) -> Result<Reading<T>, Failure> {
    let (scenario, stack) = match prepared(cell) {
        Ok(both) => both,
        Err(reason) => return Ok(Reading { read: not(NoOutcome::CannotRun(reason)), packets: 0 }),
    };
    let stopped = |now: Time| stop(now.0 as f64 / scenario.duration.0 as f64);
    match stack.run(&scenario, None, &stopped) {
        Ok(outcome) => {
            let packets = outcome.flows.iter().map(|flow| flow.packets_sent).sum();
            Ok(Reading { read: of(&scenario, &outcome), packets })
        }
        Err(RunError::Stopped) => Err(Failure::Stopped),
        Err(error) => Ok(Reading { read: not(NoOutcome::Failed(error)), packets: 0 }),
    }
}

/// Runs `cell`, and reads it off by `of`, whose error is why an outcome does not tell. `stop` as for [`read_off`].
///
/// # Errors
/// Stopped. Whatever else goes wrong is part of what is read.
pub fn measured<T>(
    cell: &Cell,
    stop: &dyn Fn(f64) -> bool,
    of: impl FnOnce(&Outcome) -> Result<T, String>,
) -> Result<Reading<Measured<T>>, Failure> {
    let not = |not_run| Measured::Not { not_run };
    read_off(cell, stop, |_, outcome| of(outcome).map_or_else(not, Measured::Run), |reason| not(reason.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It is a result, not an error, so that the others of its command are run.
    #[test]
    fn a_cell_that_cannot_be_run_is_read_as_the_reason() {
        let cell = Cell {
            name: "none".to_owned(),
            scenario: "duration_s = 0".to_owned(),
            file: String::new(),
            controller: "reno".to_owned(),
            stack: "sim".to_owned(),
            seed: 1,
            reads: "reason".to_owned(),
            work: 1,
        };
        let read = read_off(&cell, &|_| false, |_, _| String::new(), |reason| reason.to_string()).map(|it| it.read);
        assert!(read.is_ok_and(|reason| reason.contains("duration_s")));
    }
}
