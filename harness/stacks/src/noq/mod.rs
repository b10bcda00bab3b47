//! noq 1.4, a fork of [quinn](super::quinn), sans-I/O under virtual time by the same driver.

mod shim;

/// The API of quinn in noq's types.
mod api {
    use noq as asynchronous;
    use noq_proto as proto;

    use super::{Noq, shim};

    crate::quinn_api::implement_quinn_api!(Noq);
}

use windlass_controllers::{Signals, Time};
use windlass_simulator::outcome::Outcome;
use windlass_simulator::scenario::Scenario;

use crate::quinn_api::{self, Driver};
use crate::stack::Stack;
use crate::wire::Report;
use crate::{OpenLog, RunError};

pub use shim::NATIVES;

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

    fn run(
        &self,
        scenario: &Scenario,
        log: &mut OpenLog<'_>,
        stop: &dyn Fn(Time) -> bool,
    ) -> Result<Outcome, RunError> {
        Driver::<Noq>::run(scenario, log, stop)
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

/// Runs a scenario over UDP sockets, and says how late its link was besides.
///
/// # Errors
/// Those of [`Stack::run_live`].
pub fn run_live(scenario: &Scenario, log: &mut OpenLog<'_>, stop: &dyn Fn(Time) -> bool) -> Result<Report, RunError> {
    quinn_api::run_live::<Noq>(scenario, log, stop)
}
