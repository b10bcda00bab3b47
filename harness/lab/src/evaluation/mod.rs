//! One run of a controller through a scenario on a stack, from the scenario's text to its
//! results.

mod scenarios;

use std::path::Path;

use windlass_controllers::Time;

use crate::results::{Run, Status};
use windlass_simulator::scenario::Scenario;
use windlass_stacks::RunError;
use windlass_stacks::stack::{LogSettings, Logs, Runner};

use scenarios::base_rtt;
pub use scenarios::{Source, scene};

/// A scenario with a controller on a stack.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The scenario as text; errors in it become part of the result.
    pub source: &'a Source,
    /// The controller of the flows under test; `None` for the scenario's own.
    pub controller: Option<&'a str>,
    /// The stack that runs it, the simulator included.
    pub stack: Runner,
    /// Seed; `None` for the scenario's own.
    pub seed: Option<u64>,
    /// Threads that the run may use, where its stack can.
    pub threads: usize,
}

/// The run was asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

impl Job<'_> {
    /// Why the stack cannot run the controllers of `scenario`, if so.
    #[must_use]
    pub fn unsupported(&self, scenario: &Scenario) -> Option<String> {
        scenario.flows.iter().find_map(|flow| self.stack.check(&flow.control, &flow.controller).err())
    }
}

/// Carries out a job. With `logs`, the qlog of each flow goes into that directory. `watch`
/// gets the part of the run that is done, 0 to 1, and returns whether to give up.
///
/// # Errors
/// `watch` said so; whatever else goes wrong is part of the [`Run`].
pub fn execute(job: &Job<'_>, logs: Option<(LogSettings, &Path)>, watch: &dyn Fn(f64) -> bool) -> Result<Run, Stopped> {
    let controller = job.controller.unwrap_or_default();
    let without = |scenario: &str, status, reason| {
        Ok(Run::without_results(scenario, controller, job.stack.name(), status, reason))
    };
    let mut scenario = match job.source.read(job.controller) {
        Ok(scenario) => scenario,
        Err(error) => return without(&job.source.name, Status::Failed, error.to_string()),
    };
    if let Some(reason) = job.unsupported(&scenario) {
        return without(&scenario.name, Status::Unsupported, reason);
    }
    let made = logs
        .map(|(settings, dir)| Logs::create(settings, dir, &scenario.name, controller, job.stack.name()))
        .transpose();
    let mut logs = match made {
        Ok(logs) => logs,
        Err(error) => return without(&scenario.name, Status::Failed, format!("cannot write qlog: {error}")),
    };
    scenario.seed = job.seed.unwrap_or(scenario.seed);
    scenario.threads = job.threads;
    let stop = |now: Time| watch(now.0 as f64 / scenario.duration.0.max(1) as f64);
    match job.stack.run(&scenario, logs.as_mut(), &stop) {
        Ok(outcome) => {
            let base_rtt = base_rtt(&scenario).map(|rtt| rtt.millis());
            Ok(Run::done(controller, base_rtt, outcome, logs.map(|logs| logs.paths()).unwrap_or_default()))
        }
        Err(RunError::Stopped) => Err(Stopped),
        Err(error) => without(&scenario.name, Status::Failed, error.to_string()),
    }
}
