//! quinn 0.11, sans-I/O, under virtual time: real connections with real TLS over the
//! network model the simulator uses. `docs/quinn.md` says what is exact in that, and where
//! it differs from the simulator.
//!
//! ```
//! use windlass_simulator::scenario::Scenario;
//! use windlass_stacks as stacks;
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
//! let outcome = stacks::quinn::run(&scenario, &mut |_| Ok(None), &|_| false).unwrap();
//! assert!(outcome.queues[0].utilisation > 0.9);
//! assert!(outcome.flows[0].sha256.is_some());
//! ```

use quinn as asynchronous;
use quinn_proto as proto;

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

/// quinn 0.11.
#[derive(Clone, Copy, Debug)]
pub struct Quinn;

impl Stack for Quinn {
    fn name(&self) -> &'static str {
        windlass_quinn::STACK
    }

    fn live_name(&self) -> &'static str {
        "quinn-wire"
    }

    fn provides(&self) -> Signals {
        windlass_quinn::PROVIDES
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
