//! [`MsQuic`] as a stack of the harness. MsQuic has threads and a clock of its own, so it runs over UDP
//! sockets only.

#![forbid(unsafe_code)]

mod control;
mod ends;
mod program;

use windlass_controllers::{Signals, Time};
use windlass_simulator::outcome::Outcome;
use windlass_simulator::scenario::Scenario;
use windlass_stacks::stack::Stack;
use windlass_stacks::{OpenLog, RunError};

pub use program::run as run_live;

/// MsQuic at both ends of every flow.
#[derive(Clone, Copy, Debug)]
pub struct MsQuic;

impl Stack for MsQuic {
    fn name(&self) -> &'static str {
        windlass_msquic::STACK
    }

    fn live_name(&self) -> &'static str {
        "msquic-wire"
    }

    fn provides(&self) -> Signals {
        windlass_msquic::AT_MOST
    }

    fn natives(&self) -> &'static [&'static str] {
        control::NATIVES
    }

    fn virtual_time(&self) -> bool {
        false
    }

    fn run_live(
        &self,
        scenario: &Scenario,
        log: &mut OpenLog<'_>,
        stop: &dyn Fn(Time) -> bool,
    ) -> Result<Outcome, RunError> {
        run_live(scenario, log, stop).map(|report| report.outcome)
    }
}
