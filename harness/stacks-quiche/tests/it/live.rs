//! quiche over UDP sockets. The clocks are real, so bounds are wide and no duration is tested.

use std::sync::{Mutex, PoisonError};

use windlass_simulator::outcome::Outcome;
use windlass_simulator::scenario::Scenario;
use windlass_stacks_quiche::run_live;

/// 10 Mbit/s, 20 ms, room for two BDPs.
const LINK: &str = "duration_s = 2\nsample_ms = 100\n[dumbbell]\nrate_mbps = 10\nrtt_ms = 20\nbuffer_bdp = 2\n";

/// Runs one scenario at a time: they share the machine.
fn run(text: &str) -> Outcome {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let scenario = Scenario::read("test", text, None).unwrap_or_else(|error| panic!("{error}"));
    let report = run_live(&scenario, &mut |_| Ok(None), &|_| false).unwrap_or_else(|error| panic!("{error}"));
    println!("the link was {:.3} ms late (99th percentile)", report.late_p99_ms);
    report.outcome
}

#[test]
fn a_transfer_with_losses_arrives_whole() {
    // It ends with the transfer.
    let text = LINK.replace("duration_s = 2", "duration_s = 60");
    let text = format!("{text}loss_percent = 1\n[[flow]]\ncontroller = \"cubic\"\ntransfer_bytes = 700_000");
    let outcome = run(&text);
    assert_eq!(outcome.stack, "quiche-wire");
    let flow = &outcome.flows[0];
    assert!(flow.completed && flow.sha256.is_some(), "{} Mbit/s", flow.goodput_mbps);
    assert!(outcome.queues[0].packets_lost_at_random > 0 && flow.packets_lost > 0);
}

#[test]
fn ours_and_its_own_share_a_link() {
    // A handshake that loses its first packet, in the first flow's queue, takes a second more.
    let link = LINK.replace("duration_s = 2", "duration_s = 6");
    let outcome = run(&format!(
        "{link}[[flow]]\ncontroller = \"cubic\"\n[[flow]]\ncontroller = \"native:cubic\"\nstart_s = 0.5\nstop_s = 5.5"
    ));
    assert!((0.3..=1.0).contains(&outcome.queues[0].utilisation), "{}", outcome.queues[0].utilisation);
    for flow in &outcome.flows {
        assert!(flow.rtt_min_ms.is_some_and(|ms| ms > 19.9), "{:?}", flow.rtt_min_ms);
        assert!(flow.packets_sent > 50 && flow.cwnd_mean_packets > 1.0 && flow.sha256.is_some());
    }
}

/// Marks are set by the link on packets the program marked as capable, cross two real sockets,
/// are passed to quiche, counted, echoed, and reach the controller.
#[test]
fn marks_reach_the_controller() {
    let queue = "queue = { kind = \"step\", threshold_packets = 10 }\n";
    let outcome = run(&format!("{LINK}{queue}[[flow]]\ncontroller = \"dctcp\""));
    let flow = &outcome.flows[0];
    assert!(outcome.queues[0].packets_marked > 0 && flow.packets_marked > 0 && flow.congestion_events > 0);
}
