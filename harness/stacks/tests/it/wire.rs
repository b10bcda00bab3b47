//! Real stacks on real sockets: what must come of it whatever the machine does. Nothing is
//! said about how long anything takes, and bounds are wide: the clocks are real.

use windlass_adapter::step::{Entry, Steps};
use windlass_controllers::{EventKind, Time};
use windlass_simulator::outcome::Outcome;
use windlass_simulator::scenario::Scenario;
use windlass_stacks::payload::{Source, hex};
use windlass_stacks::testkit::Logs;
use windlass_stacks::wire::Report;
use windlass_stacks::{OpenLog, RunError, noq, quinn};

/// Runs a scenario on real sockets.
type RunLive = fn(&Scenario, &mut OpenLog<'_>, &dyn Fn(Time) -> bool) -> Result<Report, RunError>;

/// Every stack that runs on real sockets.
const STACKS: &[(&str, RunLive)] = &[
    ("quinn", quinn::run_live),
    ("noq", noq::run_live),
    #[cfg(feature = "s2n-quic")]
    ("s2n-quic", windlass_stacks::s2n::run_live),
];

/// 10 Mbit/s, 20 ms, room for two BDPs.
const LINK: &str = "duration_s = 2\nsample_ms = 100\n[dumbbell]\nrate_mbps = 10\nrtt_ms = 20\nbuffer_bdp = 2\n";

fn scenario(text: &str) -> Scenario {
    Scenario::read("test", text, None).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs one scenario at a time.
fn run(stack: RunLive, scenario: &Scenario) -> Result<(Outcome, Logs), RunError> {
    let _machine = crate::exclusive();
    let logs = Logs::default();
    let report = stack(scenario, &mut |flow| logs.open(flow), &|_| false)?;
    println!("the link was {:.3} ms late (99th percentile); {} refused", report.late_p99_ms, report.refused);
    Ok((report.outcome, logs))
}

/// The hash of the first `bytes` of a flow's payload.
fn hash(seed: u64, flow: &str, bytes: u64) -> String {
    let mut source = Source::new(seed, flow);
    while source.made() < bytes {
        source.take(bytes - source.made());
    }
    source.finish(bytes).map(|hash| hex(&hash)).unwrap()
}

#[test]
fn a_transfer_with_losses_arrives_whole() {
    let link = LINK.replace("duration_s = 2", "duration_s = 60");
    let text = format!("{link}loss_percent = 1\n[[flow]]\ncontroller = \"cubic\"\ntransfer_bytes = 700_000");
    for (name, stack) in STACKS {
        let scenario = scenario(&text);
        let (outcome, _) = run(*stack, &scenario).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(outcome.stack, format!("{name}-wire"));
        let flow = &outcome.flows[0];
        assert!(flow.completed, "{flow:?}");
        assert_eq!(flow.sha256, Some(hash(scenario.seed, "flow1", 700_000)), "{name}");
        let queue = &outcome.queues[0];
        // The link lost some, and the stack noticed.
        assert!(queue.packets_lost_at_random > 0 && flow.packets_lost > 0, "{name}: {outcome:?}");
        // The run ended with the flow, and the network's rest is there all the same.
        assert!(flow.stop_s < 60.0 && queue.utilisation < 0.05, "{name}: {outcome:?}");
        assert_eq!((outcome.duration_s, queue.series.time_s.len()), (60.0, 600), "{name}");
    }
}

#[test]
fn a_link_is_used_and_never_exceeded() {
    // A handshake that loses its first packet, in the first flow's queue, takes a second more.
    let link = LINK.replace("duration_s = 2", "duration_s = 6");
    let text = format!(
        "{link}[[flow]]\nname = \"first\"\ncontroller = \"cubic\"
         [[flow]]\nname = \"second\"\ncontroller = \"reno\"\nstart_s = 0.5\nstop_s = 5.5"
    );
    for (name, stack) in STACKS {
        let scenario = scenario(&text);
        let (outcome, _) = run(*stack, &scenario).unwrap_or_else(|error| panic!("{name}: {error}"));
        let queue = &outcome.queues[0];
        assert!((0.4..=1.0).contains(&queue.utilisation), "{name}: {queue:?}");
        assert!(queue.max_packets <= queue.limit_packets.ceil(), "{name}: {queue:?}");
        assert_eq!(queue.series.time_s.len(), 60);
        let megabits: f64 = outcome.flows.iter().map(|flow| flow.goodput_mbps * (flow.stop_s - flow.start_s)).sum();
        assert!((18.0..60.0).contains(&megabits), "{name}: {outcome:?}");
        for flow in &outcome.flows {
            // The way there and back, less the rounding of clocks.
            assert!(flow.rtt_min_ms.is_some_and(|ms| ms > 19.9), "{name}: {flow:?}");
            assert!(flow.packets_sent > 100 && flow.cwnd_mean_packets > 1.0, "{name}: {flow:?}");
            assert!(flow.sha256.is_some());
        }
        let second = &outcome.flows[1];
        assert!(second.start_s >= 0.5 && second.stop_s <= 5.5 && !second.completed, "{name}: {second:?}");
    }
}

/// Marks are set by the link on packets whose sender set ECT(0), cross two real sockets, are
/// counted by the receiver, echoed, and reach the controller; and only where asked for.
#[test]
fn marks_reach_the_controller() {
    let queue = "queue = { kind = \"step\", threshold_packets = 10 }\n";
    let text = format!("{LINK}{queue}[[flow]]\ncontroller = \"reno\"\n");
    for (name, stack) in STACKS {
        let (outcome, logs) = run(*stack, &scenario(&format!("{text}ecn = true"))).unwrap();
        assert!(outcome.queues[0].packets_marked > 0, "{name}: {outcome:?}");
        assert!(outcome.flows[0].packets_marked > 0, "{name}: {outcome:?}");
        assert!(outcome.flows[0].congestion_events > 0, "{name}: {outcome:?}");
        let log = logs.of("flow1").unwrap();
        let marked = Steps::new(&log[..])
            .filter(|entry| matches!(entry, Ok(Entry::Step(step, _)) if matches!(step.event.kind, EventKind::EcnCe(_))))
            .count();
        assert!(marked > 0, "{name}");

        let (outcome, _) = run(*stack, &scenario(&format!("{text}ecn = false"))).unwrap();
        assert_eq!(outcome.queues[0].packets_marked, 0, "{name}: {outcome:?}");
    }
}

/// A stack's own controller is measured as ours are.
#[test]
fn the_stacks_own_controllers_run_too() {
    for (name, stack) in STACKS {
        let scenario = scenario(&format!("{LINK}[[flow]]\ncontroller = \"native:cubic\""));
        let (outcome, _) = run(*stack, &scenario).unwrap_or_else(|error| panic!("{name}: {error}"));
        let flow = &outcome.flows[0];
        assert!(flow.rtt_mean_ms.is_some_and(|ms| (19.9..200.0).contains(&ms)), "{name}: {flow:?}");
        assert!(flow.cwnd_mean_packets > 5.0 && flow.goodput_mbps > 2.0, "{name}: {flow:?}");
        assert!(flow.sha256.is_some());
    }
}

#[test]
fn what_cannot_be_done_is_refused() {
    let drops = format!("{LINK}[[flow]]\ncontroller = \"reno\"\ndrop_packets = [3]");
    let small = format!("{LINK}[[flow]]\ncontroller = \"reno\"\npacket_bytes = 600");
    for (name, stack) in STACKS {
        for (text, reason) in [(&drops, "drop_packets"), (&small, "packet_bytes is 600")] {
            let error = run(*stack, &scenario(text)).unwrap_err().to_string();
            assert!(error.contains(reason), "{name}: {error}");
        }
    }
}
