//! noq 1.4, a fork of [quinn](super::quinn), sans-I/O under virtual time by the same driver.

mod shim;

/// The API of quinn in noq's types.
mod api {
    use noq as asynchronous;
    use noq_proto as proto;

    use super::{Noq, shim};

    crate::quinn_api::implement_quinn_api!(Noq);
}

use windlass_controllers::Time;
use windlass_simulator::scenario::Scenario;

use crate::quinn_api;
use crate::wire::Report;
use crate::{OpenLog, RunError};

pub use shim::NATIVES;

/// noq 1.4 as a stack.
#[derive(Clone, Copy, Debug)]
pub struct Noq;

/// Runs a scenario over UDP sockets, and says how late its link was besides.
///
/// # Errors
/// Those of [`Stack::run_live`](crate::stack::Stack::run_live).
pub fn run_live(scenario: &Scenario, log: &mut OpenLog<'_>, stop: &dyn Fn(Time) -> bool) -> Result<Report, RunError> {
    quinn_api::run_live::<Noq>(scenario, log, stop)
}
