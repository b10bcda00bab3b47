//! A scenario in the packet simulator, logged.

use std::io;

use windlass_controllers::{Span, Time};

use super::kinds::RunError;
use super::logs::Logs;
use windlass_simulator::outcome::Outcome;
use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim::{QlogSettings, Simulation};

/// Simulated time between two looks at whether to stop.
const LOOK: Span = Span::from_millis(50);

/// Runs `scenario` in the simulator.
///
/// # Errors
/// Stopped, or a log could not be written.
pub(super) fn run(
    scenario: &Scenario,
    logs: Option<&mut Logs>,
    stop: &dyn Fn(Time) -> bool,
) -> Result<Outcome, RunError> {
    let mut simulation = Simulation::new(scenario).map_err(|error| RunError::Failed(error.to_string()))?;
    let unwritable = |error: io::Error| RunError::Failed(format!("cannot write qlog: {error}"));
    let mut traces = Vec::new();
    if let Some(logs) = logs {
        let settings = logs.settings();
        let settings = QlogSettings { profile: settings.profile, detail: settings.detail(), level: settings.level() };
        for (number, flow) in scenario.flows.iter().enumerate() {
            let file = logs.open(&flow.name).map_err(unwritable)?;
            traces.push(simulation.qlog(number, file, settings));
        }
    }
    let mut until = simulation.now();
    while until < scenario.end() {
        if stop(until) {
            return Err(RunError::Stopped);
        }
        until += LOOK;
        simulation.run_until(until);
    }
    let outcome = simulation.finish();
    for trace in traces {
        trace.finish().map_err(unwritable)?;
    }
    Ok(outcome)
}
