//! noq 1.4, sans-I/O, under virtual time: the driver is that of [quinn](super::quinn), of
//! which noq is a fork, compiled against noq's names.

use noq as asynchronous;
use noq_proto as proto;

#[path = "../sans_io/config.rs"]
mod config;
mod dialect;
#[path = "../sans_io/end.rs"]
mod end;
#[path = "../sans_io/flow.rs"]
mod flow;
#[path = "../sans_io/live.rs"]
pub mod live;
#[path = "../sans_io/run.rs"]
mod run;
#[path = "../sans_io/running.rs"]
mod running;
#[path = "../sans_io/setup.rs"]
mod setup;
#[path = "../sans_io/tap.rs"]
mod tap;
#[path = "../sans_io/tls.rs"]
mod tls;
#[path = "../sans_io/watched.rs"]
mod watched;

use windlass_controllers::{Signals, Time};
use windlass_simulator::outcome::Outcome;
use windlass_simulator::scenario::Scenario;

use crate::stack::Stack;
use crate::{LogOf, RunError};

pub use dialect::NATIVES;
pub use run::run;

/// noq 1.4.
#[derive(Clone, Copy, Debug)]
pub struct Noq;

impl Stack for Noq {
    fn name(&self) -> &'static str {
        windlass_noq::STACK
    }

    fn live_name(&self) -> &'static str {
        "noq-wire"
    }

    fn provides(&self) -> Signals {
        windlass_noq::PROVIDES
    }

    fn natives(&self) -> &'static [&'static str] {
        NATIVES
    }

    fn run(&self, scenario: &Scenario, log: &mut LogOf<'_>, stop: &dyn Fn(Time) -> bool) -> Result<Outcome, RunError> {
        run(scenario, log, stop)
    }

    fn run_live(
        &self,
        scenario: &Scenario,
        log: &mut LogOf<'_>,
        stop: &dyn Fn(Time) -> bool,
    ) -> Result<Outcome, RunError> {
        live::run(scenario, log, stop).map(|report| report.outcome)
    }
}

#[cfg(test)]
#[path = "../sans_io/tests.rs"]
mod tests;
