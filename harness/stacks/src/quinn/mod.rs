//! quinn 0.11, sans-I/O, under virtual time: real connections with real TLS over the
//! network model the simulator uses. `docs/quinn.md` says what is exact in that, and where
//! it differs from the simulator.
//!
//! ```
//! use windlass_simulator::scenario::Scenario;
//! use windlass_stacks::quinn::Quinn;
//! use windlass_stacks::stack::Stack;
//!
//! let text = "
//!     duration_s = 2
//!     [dumbbell]
//!     rate_mbps = 10
//!     rtt_ms = 20
//!     buffer_bdp = 1
//!     [[flow]]
//!     controller = \"reno\"
//! ";
//! let scenario = Scenario::read("inline", text, None).unwrap();
//! let outcome = Quinn.run(&scenario, &mut |_| Ok(None), &|_| false).unwrap();
//! assert!(outcome.queues[0].utilisation > 0.9);
//! assert!(outcome.flows[0].sha256.is_some());
//! ```

mod shim;

/// The API of quinn in quinn's types.
mod api {
    use quinn as asynchronous;
    use quinn_proto as proto;

    use super::{Quinn, shim};

    crate::quinn_api::implement_quinn_api!(Quinn);
}

use windlass_controllers::Time;
use windlass_simulator::scenario::Scenario;

use crate::quinn_api;
use crate::wire::Report;
use crate::{OpenLog, RunError};

pub use shim::NATIVES;

/// quinn 0.11 as a stack.
#[derive(Clone, Copy, Debug)]
pub struct Quinn;

/// Runs a scenario over UDP sockets, and says how late its link was besides.
///
/// # Errors
/// Those of [`Stack::run_live`](crate::stack::Stack::run_live).
pub fn run_live(scenario: &Scenario, log: &mut OpenLog<'_>, stop: &dyn Fn(Time) -> bool) -> Result<Report, RunError> {
    quinn_api::run_live::<Quinn>(scenario, log, stop)
}
