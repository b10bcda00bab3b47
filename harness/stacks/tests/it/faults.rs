//! Random faults on every stack, and stacks with a planted bug, which the same schedules find.

use windlass_controllers::{Signals, Time};
use windlass_network::{Change, FaultKind, Set};
use windlass_simulator::outcome::Outcome;
use windlass_simulator::scenario::Scenario;
use windlass_simulator::schedule::{Abilities, Kind, Schedule, Trouble};
use windlass_stacks::noq::Noq;
use windlass_stacks::quinn::Quinn;
use windlass_stacks::stack::{Runner, Stack};
use windlass_stacks::testkit::faults::{examine, explain, shrink, survive};
use windlass_stacks::{OpenLog, RunError};

/// Schedules of every stack; `ci/nightly` runs 10 000.
const SCHEDULES: u64 = 200;

#[test]
fn quinn_survives_faults() {
    let _machine = crate::shared();
    survive(Runner::new(&Quinn), SCHEDULES, Abilities::ALL);
}

#[test]
fn noq_survives_faults() {
    let _machine = crate::shared();
    let abilities = Abilities { rebinding: false, ..Abilities::ALL };
    survive(Runner::new(&Noq), SCHEDULES, abilities);
}

/// noq-proto 1.4.0 does not come back where the path goes wrong while it validates a new address of its peer; quinn
/// does. In `connection/mod.rs`, `Connection::migrate` keeps the path before only if it was *not* validated, against
/// its comment; so when `PathTimer::PathValidationFailed` fires, `handle_timeout` has no path to go back to, forgets the
/// challenges and stops the timer that would send another, and `scheduling_info` sends no frames of the Data space, ACKs
/// among them, on a path that is not validated. Once noq does, this fails, and its schedules are to have rebindings.
#[test]
fn noq_gets_stuck_where_the_validation_of_an_address_is_lost() {
    let _machine = crate::shared();
    let stuck = |stack: Runner| {
        let seeds = [0, 20, 39, 69, 96, 99, 172].into_iter();
        let reasons = seeds.filter_map(|seed| examine(stack, &Schedule::random(seed, "reno", Abilities::ALL)).err());
        reasons.collect::<Vec<String>>()
    };
    let reasons = stuck(Runner::new(&Noq));
    let still = |reason: &String| reason.contains("nothing arrived for") || reason.contains("not done after");
    assert!(!reasons.is_empty() && reasons.iter().all(still), "{reasons:?}");
    assert_eq!(stuck(Runner::new(&Quinn)), [""; 0]);
}

#[cfg(feature = "s2n-quic")]
#[test]
fn s2n_quic_survives_faults() {
    let _machine = crate::shared();
    let abilities = Abilities { clock_jumps: false, ..Abilities::ALL };
    survive(Runner::new(&windlass_stacks::s2n::S2nQuic), SCHEDULES, abilities);
}

/// quinn, but that it sends nothing any more once CE marks have come in a storm.
struct Stalls;

impl Stack for Stalls {
    fn name(&self) -> &'static str {
        "stalls"
    }
    fn live_name(&self) -> &'static str {
        "stalls-wire"
    }
    fn provides(&self) -> Signals {
        Quinn.provides()
    }
    fn natives(&self) -> &'static [&'static str] {
        &[]
    }
    fn run(
        &self,
        scenario: &Scenario,
        log: &mut OpenLog<'_>,
        stop: &dyn Fn(Time) -> bool,
    ) -> Result<Outcome, RunError> {
        let mut scenario = scenario.clone();
        let faults = &mut scenario.topology.links[0].faults;
        // The watch does not know of what is no fault of the scenario, as it knows nothing of a stack's inside.
        let storm = faults.iter().find(|fault| matches!(fault.kind, FaultKind::CeStorm { .. })).copied();
        if let Some(storm) = storm {
            for link in &mut scenario.topology.links {
                let set = Set { loss: Some(1.0), ..Set::default() };
                link.changes.push(Change { at: storm.until, set });
            }
        }
        Quinn.run(&scenario, log, stop)
    }
}

#[test]
fn a_stack_that_stalls_is_found_and_shrunk_to_the_fault_it_stalls_at() {
    let _machine = crate::shared();
    let stack = Runner::new(&Stalls);
    let failing = (0..200).map(|seed| Schedule::random(seed, "cubic", Abilities::ALL)).find_map(|schedule| {
        let reason = (schedule.faults.len() > 2).then(|| examine(stack, &schedule).err()).flatten()?;
        // What was under way at the fault's end may still arrive; then the transfer is not done in the end.
        reason.contains("nothing arrived for").then_some((schedule, reason))
    });
    let (schedule, reason) = failing.expect("no schedule finds it");
    let shrunk = shrink(stack, &schedule, &reason);
    let [fault] = shrunk.faults[..] else { panic!("{shrunk:?}") };
    assert!(matches!(fault.kind, Kind::Path { trouble: Trouble::CeStorm, .. }), "{shrunk:?}");
    // What is printed is a scenario file that fails again, and that the stack without the bug survives.
    let text = explain(stack, &schedule, &reason);
    let (_, file) = text.split_once("\n\n").unwrap();
    let scenario = Scenario::read("printed", file, None).unwrap();
    assert!(stack.run(&scenario, None, &|_| false).unwrap_err().to_string().contains("nothing arrived for"));
    assert!(Runner::new(&Quinn).run(&scenario, None, &|_| false).is_ok());
}
