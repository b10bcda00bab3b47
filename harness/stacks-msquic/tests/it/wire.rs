//! Runs of MsQuic that must succeed on a machine with other work: no test depends on how long anything
//! takes, and bounds are wide.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use windlass_adapter::replay::{Outcome, replay};
use windlass_adapter::step::{Entry, Steps};
use windlass_controllers::{Algorithm, Event, EventKind};
use windlass_simulator::outcome::Outcome as RunOutcome;
use windlass_simulator::scenario::Scenario;
use windlass_stacks::RunError;
use windlass_stacks::stack::{Runner, Stack};
use windlass_stacks::testkit::Logs;
use windlass_stacks::testkit::faults::survive_live;
use windlass_stacks_msquic::MsQuic;

/// 10 Mbit/s, 40 ms, room for two BDPs.
const LINK: &str = "duration_s = 3\nsample_ms = 100\n[dumbbell]\nrate_mbps = 10\nrtt_ms = 40\nbuffer_bdp = 2\n";

fn scenario(text: &str) -> Scenario {
    Scenario::read("test", text, None).unwrap_or_else(|error| panic!("{error}"))
}

/// The events of the flow's controller.
fn events(logs: &Logs, flow: &str) -> Vec<Event> {
    let log = logs.of(flow).unwrap();
    let step = |entry| match entry {
        Ok(Entry::Step(step, _)) => Some(step.event),
        _ => None,
    };
    Steps::new(&log[..]).filter_map(step).collect()
}

fn run_any(scenario: &Scenario) -> Result<(RunOutcome, Logs), RunError> {
    let logs = Logs::default();
    let outcome = MsQuic.run_live(scenario, &mut |flow| logs.open(flow), &|_| false)?;
    Ok((outcome, logs))
}

/// Held while a scenario runs: they share the machine.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs one scenario at a time.
fn run(text: &str) -> (RunOutcome, Logs) {
    let _turn = turn();
    run_any(&scenario(text)).unwrap_or_else(|error| panic!("{error}"))
}

/// A fixed window is the number of bytes in flight in each round trip, of so many milliseconds that a busy machine keeps up.
#[test]
fn a_fixed_window_makes_its_goodput() {
    const RTT_MS: u32 = 160;
    for packets in [20, 40, 80, 160] {
        let controller = windlass_controllers::fixed_window::catalogue(packets).unwrap().to_string();
        let text = format!(
            "duration_s = 4\n[dumbbell]\nrate_mbps = 100\nrtt_ms = {RTT_MS}\nbuffer_bdp = 2\n\
             [[flow]]\ncontroller = {controller:?}\npacket_bytes = 1400"
        );
        let window_bits = f64::from(packets) * 1400.0 * 8.0;
        let most_mbps = window_bits / 1e3 / f64::from(RTT_MS);
        // A busy machine may end a run before its handshake, and its pauses delay acknowledgements without showing in the RTT: then
        // another run counts.
        let filled = (0..5).any(|_| {
            let (outcome, logs) = run(&text);
            let flow = &outcome.flows[0];
            let Some(rtt) = flow.rtt_mean_ms else { return false };
            // Per measured round trip, which other work of the machine makes longer.
            let share = flow.goodput_mbps * 1e3 * rtt / window_bits;
            println!(
                "{packets} packets: {:.3} Mbit/s, RTT {rtt:.2} ms, {share:.3} of the window each, at most {:.3} Mbit/s",
                flow.goodput_mbps, most_mbps
            );
            assert!((flow.cwnd_mean_packets - f64::from(packets)).abs() < 1e-6, "{flow:?}");
            let acked = events(&logs, "flow1").into_iter().filter_map(|event| match event.kind {
                EventKind::PacketsAcked(acked) => Some(acked.in_flight_before),
                _ => None,
            });
            let mut in_flight: Vec<u64> = acked.collect();
            in_flight.sort_unstable();
            let median = in_flight[in_flight.len() / 2];
            assert!(flow.goodput_mbps <= most_mbps, "{flow:?}");
            assert!(share <= 1.01, "{packets}: {share:.3} of the window: {flow:?}");
            // A sender with enough to send fills its window.
            println!("{median} bytes in flight");
            share >= 0.5 && median.abs_diff(u64::from(packets) * 1400) <= 1400
        });
        assert!(
            filled,
            "{packets}: in five runs the window was not full, or less than half of it arrived in a round trip"
        );
    }
}

#[test]
fn marks_are_counted_one_by_one() {
    let queue = "queue = { kind = \"step\", threshold_packets = 10 }\n";
    // Where the machine is so busy that the queue stays short, there is little to count, and where it is busy at the end, many
    // of the last marks are on their way when the run ends: then another run counts.
    let counted = (0..5).any(|_| {
        let (outcome, logs) = run(&format!("{LINK}{queue}[[flow]]\ncontroller = \"dctcp\"\necn = true"));
        let reported: u64 = events(&logs, "flow1")
            .iter()
            .map(|event| if let EventKind::EcnCe(marked) = event.kind { u64::from(marked.packets) } else { 0 })
            .sum();
        let marked = outcome.queues[0].packets_marked;
        println!("{reported} of {marked} marks reported");
        assert!(reported <= marked, "{reported} of {marked} marks reported");
        reported > 20 && reported * 10 >= marked * 8
    });
    assert!(counted, "in five runs hardly a mark, or less than four fifths of them reported");
    let (outcome, logs) = run(&format!("{LINK}{queue}[[flow]]\ncontroller = \"reno\"\necn = false"));
    assert_eq!(outcome.queues[0].packets_marked, 0);
    assert!(!events(&logs, "flow1").iter().any(|event| matches!(event.kind, EventKind::EcnCe(_))));
}

/// With a queue on the forward path only, the forward delay grows.
#[test]
fn one_way_delays_are_the_paths() {
    let (_, logs) = run(&format!("{LINK}[[flow]]\ncontroller = \"reno\""));
    let acked = events(&logs, "flow1").into_iter().filter_map(|event| match event.kind {
        EventKind::PacketsAcked(acked) => Some(acked),
        _ => None,
    });
    let delays: Vec<(i64, i64)> =
        acked.filter_map(|acked| acked.one_way).map(|one_way| (one_way.forward, one_way.backward)).collect();
    assert!(delays.len() > 50, "{}", delays.len());
    let span = |of: fn(&(i64, i64)) -> i64| {
        let mut all: Vec<i64> = delays.iter().map(of).collect();
        all.sort_unstable();
        (all[0] as f64 / 1e6, all[all.len() / 2] as f64 / 1e6)
    };
    let ((forward, forward_median), (backward, backward_median)) = (span(|delay| delay.0), span(|delay| delay.1));
    println!("forward {forward:.3} to {forward_median:.3} ms, backward {backward:.3} to {backward_median:.3} ms");
    // The clocks of the two ends differ, so only changes of a delay have a meaning.
    let (forth, back) = (forward_median - forward, backward_median - backward);
    assert!(forth > 5.0, "no queue on the forward path: {forth:.3} ms");
    assert!(back < forth, "the queue is on the forward path, {forth:.3} ms, not on the way back, {back:.3} ms");
}

#[test]
fn controllers_of_one_way_delay_run_on_their_signal() {
    for controller in ["enhanced-vegas", "tcp-lp", "ledbat"] {
        // They yield to delays that other work of the machine causes; the run ends with the transfer.
        let link = LINK.replace("duration_s = 3", "duration_s = 60");
        let (outcome, logs) = run(&format!("{link}[[flow]]\ncontroller = {controller:?}\ntransfer_bytes = 300_000"));
        assert!(outcome.flows[0].completed, "{controller}: {:?}", outcome.flows[0]);
        let has_delay = |event: &Event| matches!(event.kind, EventKind::PacketsAcked(acked) if acked.one_way.is_some());
        assert!(events(&logs, "flow1").iter().any(has_delay), "{controller}");
    }
}

#[test]
fn spurious_losses_are_reported() {
    let gap_ms = 1248.0 * 8.0 / 10e3;
    let link = format!("{LINK}jitter_ms = {}\nreorder = true\n", 6.0 * gap_ms);
    let (outcome, logs) = run(&format!("{link}[[flow]]\ncontroller = \"cubic\""));
    let events = events(&logs, "flow1");
    let spurious = events.iter().filter(|event| matches!(event.kind, EventKind::SpuriousLoss(_))).count();
    assert!(spurious > 0, "{} losses, none spurious: {:?}", outcome.flows[0].packets_lost, outcome.flows[0]);
}

#[test]
fn a_blackout_is_persistent_congestion() {
    // A busy machine may need a second for the handshake, and its larger RTTs make probes rare. Two
    // seconds carry no more than 2.5 MB, and the run ends with the transfer.
    let link = LINK.replace("duration_s = 3", "duration_s = 60");
    let changes = "[[dumbbell.change]]\nat_s = 2\nloss_percent = 100\n\
        [[dumbbell.change]]\nat_s = 7\nloss_percent = 0\n";
    let (outcome, logs) = run(&format!("{link}{changes}[[flow]]\ncontroller = \"reno\"\ntransfer_bytes = 3_000_000"));
    assert!(outcome.flows[0].completed, "{:?}", outcome.flows[0]);
    let events = events(&logs, "flow1");
    assert!(
        events.iter().any(|event| matches!(event.kind, EventKind::PersistentCongestion(_))),
        "{:?}",
        outcome.flows[0]
    );
    let after = events.iter().filter(|event| event.now.0 > 7_000_000_000);
    assert!(
        after.filter(|event| matches!(event.kind, EventKind::PacketsAcked(_))).count() > 10,
        "{:?}",
        outcome.flows[0]
    );
}

#[test]
fn larger_datagrams_are_events() {
    let (_, logs) = run(&format!("{LINK}[[flow]]\ncontroller = \"reno\"\ndiscover_packet_bytes = 1472"));
    let sizes: Vec<u32> = events(&logs, "flow1")
        .iter()
        .filter_map(|event| if let EventKind::MtuUpdated(bytes) = event.kind { Some(bytes) } else { None })
        .collect();
    assert_eq!(sizes.last(), Some(&1472), "{sizes:?}");
}

/// Recordings of MsQuic's connections replay to the same decisions, bit for bit.
#[test]
fn a_log_replays() {
    let (_, logs) = run(&format!("{LINK}loss_percent = 1\n[[flow]]\ncontroller = \"a-tcp\""));
    let log = logs.of("flow1").unwrap();
    let outcomes = replay(vec![&log[..]]);
    assert!(matches!(&outcomes[..], [Outcome::Equal { steps: 100.., .. }]), "{outcomes:?}");
}

#[test]
fn msquics_own_controllers_run_too() {
    for controller in ["native:cubic", "native:bbr"] {
        let (outcome, _) = run(&format!("{LINK}[[flow]]\ncontroller = {controller:?}"));
        let flow = &outcome.flows[0];
        assert!(flow.rtt_mean_ms.is_some_and(|ms| (39.9..400.0).contains(&ms)), "{controller}: {flow:?}");
        assert!(flow.cwnd_mean_packets > 5.0 && flow.goodput_mbps > 2.0, "{controller}: {flow:?}");
    }
    let error = run_any(&scenario(&format!("{LINK}[[flow]]\ncontroller = \"native:vegas\""))).unwrap_err();
    assert!(error.to_string().contains("expected native:cubic, native:bbr"), "{error}");
}

/// Every controller that MsQuic has the signals for completes a transfer over every kind of path; the
/// run compares the hashes of the data sent and received. With `WINDLASS_MSQUIC_PATHS=1` each
/// controller has one of the paths, in turns.
#[test]
fn every_controller_carries_everything_whole() {
    const PATHS: [(&str, &str, &str, &str); 5] = [
        ("loss", "loss_percent = 2\n", "", ""),
        ("marks", "queue = { kind = \"step\", threshold_packets = 10 }\n", "", "ecn = true"),
        ("reordering", "jitter_ms = 3\nreorder = true\n", "", ""),
        (
            "blackout",
            "",
            "[[dumbbell.change]]\nat_s = 0.3\nloss_percent = 100\n[[dumbbell.change]]\nat_s = 0.8\nloss_percent = 0\n",
            "",
        ),
        ("capacity", "", "[[dumbbell.change]]\nat_s = 0.3\nrate_mbps = 3\n", ""),
    ];
    let names = Algorithm::ALL.iter().map(|entry| (entry.name, (entry.default)().needs()));
    let able: Vec<&str> = names.filter(|(_, needs)| MsQuic.provides().contains(*needs)).map(|(name, _)| name).collect();
    let paths = std::env::var("WINDLASS_MSQUIC_PATHS").map_or(PATHS.len(), |paths| paths.parse().unwrap());
    let of = |(place, name)| (0..paths).map(move |path| (name, &PATHS[(place + path) % PATHS.len()]));
    let cells: Vec<(&str, _)> = able.iter().copied().enumerate().flat_map(of).collect();
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let examine = || {
        while let Some((name, (path, link, changes, keys))) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
            // NICE yields to losses and to a busy machine.
            let bytes = if *name == "nice" { 30_000 } else { 200_000 };
            let text = format!(
                "duration_s = 60\nsample_ms = 1000\n[dumbbell]\nrate_mbps = 10\nrtt_ms = 20\nbuffer_bdp = 2\n{link}\
                 {changes}[[flow]]\ncontroller = {name:?}\ntransfer_bytes = {bytes}\n{keys}"
            );
            let complain = |kind: String| wrong.lock().unwrap().push(format!("{name}, {path}: {kind}"));
            match run_any(&scenario(&text)) {
                Ok((outcome, _)) => {
                    let flow = &outcome.flows[0];
                    if !flow.completed || flow.sha256.is_none() {
                        complain(format!("not done at {:.3} Mbit/s", flow.goodput_mbps));
                    }
                }
                Err(error) => complain(error.to_string()),
            }
        }
    };
    std::thread::scope(|scope| (0..32).for_each(|_| drop(scope.spawn(examine))));
    println!("{} controllers over {paths} of {} paths each", able.len(), PATHS.len());
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Random faults of the path. MsQuic has no virtual time, so these few run for seconds each and assert outcomes only.
#[test]
fn msquic_survives_faults() {
    let _turn = turn();
    survive_live(Runner::new(&MsQuic).preferred(), 6, &["reno", "cubic", "bbr", "tcp-p", "native:cubic", "native:bbr"]);
}

/// Flows that start one after another while the way back loses everything from the middle of some handshakes on: their servers lose
/// HANDSHAKE_DONE and all its repetitions, which is persistent congestion to MsQuic's CUBIC.
#[test]
#[ignore = "a_server_sends_again_after_persistent_congestion runs it"]
fn servers_have_persistent_congestion() {
    std::thread::scope(|scope| {
        for flow in 0..12 {
            scope.spawn(move || {
                let start = 0.2 + 0.05 * f64::from(flow);
                let text = format!(
                    "duration_s = 100\nsample_ms = 1000\n[dumbbell]\nrate_mbps = 10\nrtt_ms = 200\nbuffer_bdp = 2\n\
                     [dumbbell.back]\n[[dumbbell.back.change]]\nat_s = 0.6\nloss_percent = 100\n\
                     [[dumbbell.back.change]]\nat_s = 6\nloss_percent = 0\n\
                     [[flow]]\ncontroller = \"reno\"\ntransfer_bytes = 50_000\nstart_s = {start}"
                );
                let (outcome, _) = run_any(&scenario(&text)).unwrap_or_else(|error| panic!("start {start}: {error}"));
                assert!(outcome.flows[0].completed, "start {start}: {:?}", outcome.flows[0]);
            });
        }
    });
}

/// MsQuic reads memory that it has not written where it decides how a server sends on after persistent congestion
/// (`adapters/msquic/sys/c/route.c`). Here that memory is 0xfe, by which MsQuic of itself never sends again.
#[test]
fn a_server_sends_again_after_persistent_congestion() {
    let _turn = turn();
    let name = "wire::servers_have_persistent_congestion";
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--ignored"])
        .env("MALLOC_PERTURB_", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}

/// The second of two transfers to one peer goes on with what the first observed, and both arrive whole: the run checks their hashes.
#[test]
fn a_second_transfer_resumes_what_the_first_observed() {
    for controller in ["cubic", "reno", "bbr"] {
        let flow = |name: &str, start: u32| {
            format!(
                "[[flow]]\nname = {name:?}\ncontroller = {controller:?}\nresume = \"peer\"\nstart_s = {start}\n\
                 transfer_bytes = 1_500_000\n"
            )
        };
        let text = format!(
            "duration_s = 60\nsample_ms = 100\n[dumbbell]\nrate_mbps = 20\nrtt_ms = 100\nbuffer_bdp = 4\n{}{}",
            flow("first", 0),
            flow("second", 4)
        );
        // Where the machine is so busy that the first is not over before the second begins, or that the window is not used,
        // another run counts.
        let resumed = (0..5).any(|_| {
            let (outcome, logs) = run(&text);
            for flow in &outcome.flows {
                assert!(flow.completed && flow.sha256.is_some(), "{controller}: {flow:?}");
            }
            let log = |flow: &str| String::from_utf8(logs.of(flow).unwrap()).unwrap();
            let phases = "\"quic:careful_resume_phase_updated\"";
            assert!(!log("first").contains(phases), "{controller}: there was nothing to resume");
            println!("{controller}: {} phases", log("second").matches(phases).count());
            log("second").contains("\"new\":\"unvalidated\"")
        });
        assert!(resumed, "{controller}: in five runs the second transfer resumed nothing");
    }
}
