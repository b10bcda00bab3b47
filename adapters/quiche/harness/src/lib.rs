//! quiche 0.30 among the stacks of windlass' harness: its real connections with real TLS over
//! the network model the simulator uses, under virtual time or on real sockets.
//! `docs/quiche.md` says what is exact in that.
//!
//! ```
//! use windlass::{evaluation::Stack, scenario::Scenario};
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
//! let outcome = windlass_quiche_harness::run(&scenario, &mut |_| Ok(None), &|_| false).unwrap();
//! assert!(outcome.queues[0].utilisation > 0.9);
//! assert!(outcome.flows[0].sha256.is_some());
//! ```

#![forbid(unsafe_code)]

// The harness' sources that are compiled against each stack of one kin speak of it as their
// own crate.
use windlass::{measure, net, outcome, scenario, stacks};

mod choice;
mod config;
mod dialect;
mod end;
mod flow;
mod live;
mod proto;
#[path = "../../../../harness/src/stacks/sans_io/running.rs"]
mod running;
#[allow(dead_code, reason = "a run needs to be told of chance first")]
#[path = "../../../../harness/src/stacks/sans_io/run.rs"]
mod sans_io;
mod setup;
mod tls;
mod watch;

use outcome::Outcome;
use quiche::external::{clock, ecn, random};
use scenario::Scenario;
use stacks::{LogOf, RunError};
use windlass::evaluation::Guest;
use windlass_controllers::Time;

pub use choice::NATIVES;
pub use live::run as run_live;

/// quiche as a stack of the harness.
pub static QUICHE: Guest = Guest {
    name: dialect::STACK,
    wire_name: "quiche-wire",
    provides: windlass_quiche::PROVIDES_WITH_ECT,
    natives: NATIVES,
    run: Some(run),
    live: Some(live::run),
};

/// Runs a scenario from beginning to end. `log` says where the log of each flow goes, if
/// anywhere. `stop` is told now and then how far the run is, and says whether to give up.
///
/// # Errors
/// quiche cannot run a flow, a flow failed, or it was told to stop.
pub fn run(scenario: &Scenario, log: &mut LogOf<'_>, stop: &dyn Fn(Time) -> bool) -> Result<Outcome, RunError> {
    // Whoever drives the ends sets the codepoints, so controllers may count on marks.
    windlass_quiche::sets_ect();
    random::tell(Some(scenario.seed));
    let _until_the_end = Told;
    sans_io::run(scenario, log, stop)
}

/// What this thread was told of time and chance, until dropped.
struct Told;

impl Drop for Told {
    fn drop(&mut self) {
        clock::tell(None);
        random::tell(None);
        ecn::tell(ecn::Codepoint::NotEct);
    }
}
