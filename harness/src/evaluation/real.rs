//! A scenario with a real stack, logged.

use std::io;

use windlass_controllers::Time;

use super::logs::Logs;
use super::stack::RunError;
use crate::outcome::Outcome;
use crate::scenario::{FlowSpec, Scenario};
use crate::sim::QlogSettings;
use crate::stacks::{self, Log};

/// What runs a scenario with one of the stacks.
pub type RunUnless = fn(
    &Scenario,
    &mut dyn FnMut(&FlowSpec) -> io::Result<Option<Log>>,
    &dyn Fn(Time) -> bool,
) -> Result<Outcome, stacks::RunError>;

/// Runs `scenario` with a stack at both ends.
///
/// # Errors
/// Stopped, or something went wrong.
pub(super) fn run(
    run_unless: RunUnless,
    scenario: &Scenario,
    mut logs: Option<&mut Logs>,
    stop: &dyn Fn(Time) -> bool,
) -> Result<Outcome, RunError> {
    let mut log = |flow: &FlowSpec| {
        let Some(logs) = logs.as_deref_mut() else { return Ok(None) };
        let settings = logs.settings();
        let output = Box::new(logs.open(&flow.name)?);
        let settings = QlogSettings { profile: settings.profile, detail: settings.detail(), level: settings.level() };
        Ok(Some(Log { output, settings }))
    };
    run_unless(scenario, &mut log, stop).map_err(|error| match error {
        stacks::RunError::Stopped => RunError::Stopped,
        other => RunError::Failed(other.to_string()),
    })
}
