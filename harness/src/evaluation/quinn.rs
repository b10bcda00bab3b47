//! A scenario with quinn, logged.

use windlass_controllers::Time;

use super::logs::Logs;
use super::stack::RunError;
use crate::outcome::Outcome;
use crate::scenario::{FlowSpec, Scenario};
use crate::sim::QlogSettings;
use crate::stacks::quinn::{self, Log};

/// Runs `scenario` with quinn at both ends.
///
/// # Errors
/// Stopped, or something went wrong.
pub(super) fn run(
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
    quinn::run_unless(scenario, &mut log, stop).map_err(|error| match error {
        quinn::RunError::Stopped => RunError::Stopped,
        other => RunError::Failed(other.to_string()),
    })
}
