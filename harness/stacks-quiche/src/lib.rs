//! quiche 0.30 as a stack of windlass' harness: its real connections with real TLS over the
//! network model the simulator uses, under virtual time or over UDP sockets. `docs/quiche.md`
//! says what is exact in that.
//!
//! ```
//! use windlass_simulator::scenario::Scenario;
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
//! let outcome = windlass_stacks_quiche::run(&scenario, &mut |_| Ok(None), &|_| false).unwrap();
//! assert!(outcome.queues[0].utilisation > 0.9);
//! assert!(outcome.flows[0].sha256.is_some());
//! ```

mod config;
mod controller;
mod end;
mod flow;
mod live;
mod setup;

use quiche::harness::{clock, random};
use windlass_controllers::{Signals, Time};
use windlass_simulator::outcome::Outcome;
use windlass_simulator::scenario::Scenario;
use windlass_stacks::stack::{Stack, Variant};
use windlass_stacks::{OpenLog, RunError, sans_io};

pub use controller::NATIVES;
pub use live::run as run_live;

/// quiche 0.30. Programs register it with `windlass_stacks::stack::register`.
#[derive(Clone, Copy, Debug)]
pub struct Quiche;

impl Stack for Quiche {
    fn name(&self) -> &'static str {
        windlass_quiche::STACK
    }

    fn live_name(&self) -> &'static str {
        "quiche-wire"
    }

    fn provides(&self) -> Signals {
        windlass_quiche::PROVIDES_WITH_ECT
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
        run(scenario, log, stop)
    }

    fn run_live(
        &self,
        scenario: &Scenario,
        log: &mut OpenLog<'_>,
        stop: &dyn Fn(Time) -> bool,
    ) -> Result<Outcome, RunError> {
        live::run(scenario, log, stop).map(|report| report.outcome)
    }
}

/// The same in virtual time, where logs with packets and without steps are quiche's own of every controller: those of
/// [`Quiche`] have no packets for controllers of ours, and these no states.
pub static OWN_LOGS: Variant = Variant::new(&Quiche, |scenario, log, stop| run_with(true, scenario, log, stop));

/// Runs a scenario under virtual time. `log` opens the log of each flow, if it is to have one.
/// `stop` is called now and then with the virtual time, and returns whether to give up.
///
/// # Errors
/// quiche cannot run a flow, a flow failed, or `stop` said so.
pub fn run(scenario: &Scenario, log: &mut OpenLog<'_>, stop: &dyn Fn(Time) -> bool) -> Result<Outcome, RunError> {
    run_with(false, scenario, log, stop)
}

fn run_with(
    own_logs: bool,
    scenario: &Scenario,
    log: &mut OpenLog<'_>,
    stop: &dyn Fn(Time) -> bool,
) -> Result<Outcome, RunError> {
    // The driver sets the codepoints, so controllers may count on marks.
    windlass_quiche::sets_ect();
    random::seed(Some(scenario.seed));
    let _reset = ResetOnDrop;
    let tls = config::tls().map_err(RunError::Tls)?;
    sans_io::run(&setup::Driver { tls, own_logs }, scenario, log, stop)
}

/// Returns this thread's clock and randomness to the system's when dropped.
struct ResetOnDrop;

impl Drop for ResetOnDrop {
    fn drop(&mut self) {
        clock::set(None);
        random::seed(None);
    }
}
