//! The packet simulator as a stack.

use windlass_controllers::{Signals, Span, Time};
use windlass_simulator::outcome::Outcome;
use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim::Simulation;

use super::Stack;
use crate::driver::log::{OpenLog, RunError};

/// Simulated time between two calls of `stop`.
const STOP_CHECK_INTERVAL: Span = Span::from_millis(50);

/// The packet simulator as a stack.
#[derive(Clone, Copy, Debug)]
pub struct Simulator;

impl Stack for Simulator {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn live_name(&self) -> &'static str {
        "sim"
    }

    fn provides(&self) -> Signals {
        Signals::ALL
    }

    fn natives(&self) -> &'static [&'static str] {
        &[]
    }

    fn sockets(&self) -> bool {
        false
    }

    fn run(
        &self,
        scenario: &Scenario,
        log: &mut OpenLog<'_>,
        stop: &dyn Fn(Time) -> bool,
    ) -> Result<Outcome, RunError> {
        let mut simulation = Simulation::new(scenario)?;
        let mut traces = Vec::new();
        for (number, flow) in scenario.flows.iter().enumerate() {
            if let Some(log) = log(flow).map_err(RunError::Qlog)? {
                traces.push(simulation.qlog(number, log.output, log.settings));
            }
        }
        let mut until = simulation.now();
        while until < scenario.end() {
            if stop(until) {
                return Err(RunError::Stopped);
            }
            until += STOP_CHECK_INTERVAL;
            simulation.run_until(until);
            simulation.check().map_err(RunError::Runaway)?;
        }
        let outcome = simulation.finish();
        for trace in traces {
            trace.finish().map_err(RunError::Qlog)?;
        }
        Ok(outcome)
    }
}
