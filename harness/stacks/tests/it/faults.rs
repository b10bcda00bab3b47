//! Random faults on every stack, and stacks with a planted bug, which the same schedules find.

use windlass_network::{Change, FaultKind, Set};
use windlass_simulator::scenario::Scenario;
use windlass_simulator::schedule::{Abilities, Kind, Schedule, Trouble};
use windlass_stacks::noq::Noq;
use windlass_stacks::quinn::Quinn;
use windlass_stacks::stack::{Runner, Stack, Variant};
use windlass_stacks::testkit::faults::{Known, examine, explain, shrink, survive};

/// Schedules of every stack; `ci/nightly` runs 10 000.
const SCHEDULES: u64 = 200;

#[test]
fn quinn_survives_faults() {
    let _machine = crate::shared();
    survive(Runner::new(&Quinn), SCHEDULES, Abilities::ALL, &QUINN_GETS_STUCK);
}

#[test]
fn noq_survives_faults() {
    let _machine = crate::shared();
    let abilities = Abilities { rebinding: false, ..Abilities::ALL };
    survive(Runner::new(&Noq), SCHEDULES, abilities, &[]);
}

/// quinn-proto 0.11.19 does not come back from these; both are of `Connection::poll_transmit` in `connection/mod.rs`, which
/// has the congestion window keep back what is no probe, whole packets with the ACKs in them.
///
/// * 1324: on a path it has not validated a receiver puts a PATH_CHALLENGE, and padding, into every packet, but takes an ACK
///   with one for not ack-eliciting, since it asks before it adds it. Those packets fill the window, and no probe
///   timeout runs for them (`set_loss_detection_timer`). If the ACKs of them are lost, HANDSHAKE_DONE has to be sent
///   once more and finds no room, and with it nothing at all.
/// * 4157: a client's Finished is lost, and its window is full of data that the receiver cannot read before it has it.
///   Found lost, it waits for the window; the probe timeouts are those of the data.
const QUINN_GETS_STUCK: [Known; 2] = [
    Known { seed: 1324, controller: "westwood", reason: "not done after" },
    Known { seed: 4157, controller: "ctcp", reason: "nothing arrived for" },
];

/// Once quinn comes back from one, this fails, and it is to be taken off the list.
#[test]
fn quinn_gets_stuck_where_its_window_is_full_of_unacknowledged_data() {
    let _machine = crate::shared();
    for Known { seed, controller, reason } in QUINN_GETS_STUCK {
        let error = examine(Runner::new(&Quinn), &Schedule::random(seed, controller, Abilities::ALL)).unwrap_err();
        assert!(error.contains(reason), "{seed}: {error}");
    }
}

/// HANDSHAKE_DONE is lost, so that noq's client probes in the Handshake space as well, whose timeout is the earlier one.
/// noq-proto 1.4.0 sends nothing in the Data space with it, which RFC 9002 §6.2.4 says it should, and each doubles the
/// data's own timeout. Its own controllers run into it; none of the 10 000 schedules, each with one controller, does.
/// Once noq probes with data beside its handshake, this fails, and is to go.
#[test]
fn noq_moves_late_where_the_probes_of_its_handshake_double_the_timeout_of_its_data() {
    let _machine = crate::shared();
    for controller in ["native:newreno", "native:cubic"] {
        let abilities = Abilities { rebinding: false, ..Abilities::ALL };
        let error = examine(Runner::new(&Noq), &Schedule::random(8225, controller, abilities)).unwrap_err();
        assert!(error.contains("nothing arrived for"), "{controller}: {error}");
    }
}

/// Schedules that were survived and found not to be, each by a rule of the run or by the network.
#[test]
fn what_is_no_failure_of_a_stack_is_not_taken_for_one() {
    let _machine = crate::shared();
    let quinn = |seed, controller| examine(Runner::new(&Quinn), &Schedule::random(seed, controller, Abilities::ALL));
    // The receiver may send nothing to an address from which three small probes came (RFC 9000 §8.1).
    assert_eq!(quinn(2973, "native:cubic"), Ok(()));
    // A packet came in place of another's copy, so that packets seemed to overtake each other for ever.
    assert_eq!(quinn(3499, "native:bbr"), Ok(()));
    // The receiver's clock jumps, and with it its backoff.
    assert_eq!(quinn(4463, "aimd"), Ok(()));
    // Duplicates restart no idle timer; a clock that jumps beyond the idle timeout ends the connection.
    assert_eq!(quinn(3059, "cubic-2005"), Ok(()));
    for (stack, [first, second]) in
        [(Runner::new(&Quinn), ["reno", "dca-c"]), (Runner::new(&Noq), ["vegas", "highspeed"])]
    {
        let abilities = Abilities { rebinding: stack.name() == "quinn", ..Abilities::ALL };
        assert_eq!(examine(stack, &Schedule::random(3500, first, abilities)), Ok(()));
        assert_eq!(examine(stack, &Schedule::random(4381, second, abilities)), Ok(()));
    }
}

/// Reordering has the sender take packets for lost, and it sends them once more before anything new.
#[cfg(feature = "s2n-quic")]
#[test]
fn retransmissions_of_what_had_arrived_are_signs_of_life() {
    let _machine = crate::shared();
    let abilities = Abilities { clock_jumps: false, ..Abilities::ALL };
    let schedule = Schedule::random(2785, "cocoon", abilities);
    assert_eq!(examine(Runner::new(&windlass_stacks::s2n::S2nQuic), &schedule), Ok(()));
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
    survive(Runner::new(&windlass_stacks::s2n::S2nQuic), SCHEDULES, abilities, &[]);
}

/// quinn, but that it sends nothing any more once CE marks have come in a storm.
static STALLS: Variant = Variant::new(&Quinn, |scenario, log, stop| {
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
});

#[test]
fn a_stack_that_stalls_is_found_and_shrunk_to_the_fault_it_stalls_at() {
    let _machine = crate::shared();
    let stack = Runner::new(&STALLS);
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
