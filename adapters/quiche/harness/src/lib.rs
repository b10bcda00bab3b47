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
//! let outcome = windlass_quiche_harness::run(&scenario, &mut |_| Ok(None)).unwrap();
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

use std::io;

use outcome::Outcome;
use quiche::external::{clock, ecn, random};
use scenario::{FlowSpec, Scenario};
use stacks::{Log, RunError};
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
    run: Some(run_unless),
    live: Some(live::run_unless),
};

/// Runs a scenario from beginning to end. `log` says where the log of each flow goes, if
/// anywhere.
///
/// # Errors
/// quiche cannot run a flow, or a flow failed.
pub fn run(
    scenario: &Scenario,
    log: &mut dyn FnMut(&FlowSpec) -> io::Result<Option<Log>>,
) -> Result<Outcome, RunError> {
    run_unless(scenario, log, &|_| false)
}

/// [`run`], telling `stop` now and then how far it is, which says whether to give up.
///
/// # Errors
/// Those of [`run`], and [`RunError::Stopped`].
pub fn run_unless(
    scenario: &Scenario,
    log: &mut dyn FnMut(&FlowSpec) -> io::Result<Option<Log>>,
    stop: &dyn Fn(Time) -> bool,
) -> Result<Outcome, RunError> {
    // Whoever drives the ends sets the codepoints, so controllers may count on marks.
    windlass_quiche::sets_ect();
    random::tell(Some(scenario.seed));
    let _until_the_end = Told;
    sans_io::run_unless(scenario, log, stop)
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
