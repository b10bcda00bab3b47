//! Stacks that run scenarios: the simulator, which is here, and real ones behind one trait.

mod logs;
mod variant;

use crate::driver::log::{OpenLog, RunError};

use windlass_controllers::{Signals, Span, Time};
use windlass_simulator::outcome::Outcome;
use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim::Simulation;

pub use crate::registry::{Runner, register};
pub use logs::{LogDetail, LogSettings, Logs, QLOG_DIR};
pub use variant::Variant;

/// A stack: the packet simulator, or a QUIC implementation at both ends of every flow.
///
/// A stack has virtual time, UDP sockets, or both: it implements [`run`](Stack::run),
/// [`run_live`](Stack::run_live), or both, and says so with [`virtual_time`](Stack::virtual_time) and
/// [`sockets`](Stack::sockets). Programs with stacks of their own [`register`] them.
pub trait Stack: Sync {
    /// Its name in `--stack`: `quinn`.
    fn name(&self) -> &'static str;

    /// What results of runs over UDP sockets call it: `quinn-wire`.
    fn live_name(&self) -> &'static str;

    /// The signals it gives a controller.
    fn provides(&self) -> Signals;

    /// Its own controllers: what a user types after `native:`.
    fn natives(&self) -> &'static [&'static str];

    /// Whether it runs in virtual time.
    fn virtual_time(&self) -> bool {
        true
    }

    /// Whether it runs in real time over UDP sockets.
    fn sockets(&self) -> bool {
        true
    }

    /// Runs `scenario` in virtual time. `log` gives the writer of each flow's log, if any. `stop` is called
    /// now and then with the time reached; it returns true to give up.
    ///
    /// # Errors
    /// It has no virtual time, cannot run a flow, a flow failed, a log could not be written, or it was stopped.
    fn run(
        &self,
        scenario: &Scenario,
        log: &mut OpenLog<'_>,
        stop: &dyn Fn(Time) -> bool,
    ) -> Result<Outcome, RunError> {
        let (_, _, _) = (scenario, log, stop);
        Err(RunError::NoVirtualTime(self.name()))
    }

    /// Runs `scenario` in real time over UDP sockets, through a userspace link that is the network model.
    ///
    /// # Errors
    /// It has no sockets, or as for [`run`](Stack::run).
    fn run_live(
        &self,
        scenario: &Scenario,
        log: &mut OpenLog<'_>,
        stop: &dyn Fn(Time) -> bool,
    ) -> Result<Outcome, RunError> {
        let (_, _, _) = (scenario, log, stop);
        Err(RunError::NoSockets(self.name()))
    }
}

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
