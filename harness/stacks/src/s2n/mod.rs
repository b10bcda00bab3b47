//! s2n-quic 1.91 under virtual time: its real client and server with real TLS over the
//! network model the simulator uses. `docs/s2n-quic.md` says what is exact in that, and
//! where it differs from quinn.
//!
//! ```
//! use windlass_simulator::scenario::Scenario;
//! use windlass_stacks::s2n::S2nQuic;
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
//! let outcome = S2nQuic.run(&scenario, &mut |_| Ok(None), &|_| false).unwrap();
//! assert!(outcome.queues[0].utilisation > 0.9);
//! assert!(outcome.flows[0].sha256.is_some());
//! ```

mod clock;
mod config;
mod ends;
mod flow;
mod live;
mod native;
mod observe;
mod run;
mod transfer;
mod world;

use windlass_controllers::{Signals, Time};
use windlass_simulator::outcome::Outcome;
use windlass_simulator::scenario::Scenario;

use crate::stack::Stack;
use crate::{OpenLog, RunError};

pub use config::NATIVES;
pub use live::run as run_live;

/// s2n-quic 1.91 as a stack.
#[derive(Clone, Copy, Debug)]
pub struct S2nQuic;

impl Stack for S2nQuic {
    fn name(&self) -> &'static str {
        windlass_s2n_quic::STACK
    }

    fn live_name(&self) -> &'static str {
        "s2n-quic-wire"
    }

    fn provides(&self) -> Signals {
        windlass_s2n_quic::PROVIDES
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
        run::run(scenario, log, stop)
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
