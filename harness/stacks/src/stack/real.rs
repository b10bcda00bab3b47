//! A scenario with a real stack, logged.

use windlass_controllers::Time;

use super::kinds::RunError;
use super::logs::Logs;
use crate::wire::Report;
use crate::{Log, LogOf};
use windlass_simulator::outcome::Outcome;
use windlass_simulator::scenario::{FlowSpec, Scenario};
use windlass_simulator::sim::QlogSettings;

/// What runs a scenario with one of the stacks.
pub type Run = fn(&Scenario, &mut LogOf<'_>, &dyn Fn(Time) -> bool) -> Result<Outcome, crate::RunError>;

/// The same on real sockets.
pub type RunLive = fn(&Scenario, &mut LogOf<'_>, &dyn Fn(Time) -> bool) -> Result<Report, crate::RunError>;

/// Runs `scenario` on real sockets.
///
/// # Errors
/// Stopped, or something went wrong.
pub(super) fn run_live(
    live: RunLive,
    scenario: &Scenario,
    logs: Option<&mut Logs>,
    stop: &dyn Fn(Time) -> bool,
) -> Result<Outcome, RunError> {
    let stack = |scenario: &Scenario, log: &mut LogOf<'_>, stop: &dyn Fn(Time) -> bool| {
        live(scenario, log, stop).map(|report| report.outcome)
    };
    run(stack, scenario, logs, stop)
}

/// Runs `scenario` with a stack at both ends.
///
/// # Errors
/// Stopped, or something went wrong.
pub(super) fn run(
    stack: impl FnOnce(&Scenario, &mut LogOf<'_>, &dyn Fn(Time) -> bool) -> Result<Outcome, crate::RunError>,
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
    stack(scenario, &mut log, stop).map_err(|error| match error {
        crate::RunError::Stopped => RunError::Stopped,
        other => RunError::Failed(other.to_string()),
    })
}
