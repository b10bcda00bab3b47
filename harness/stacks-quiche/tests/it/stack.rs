//! Tests every stack has to pass, and ECN, dropped packets and native controllers on quiche. Two processes, each with its
//! own keys and random TLS messages, come to the same results to the bit: several connections that share a bottleneck
//! with losses, marks, cross traffic and receivers that delay their ACKs, ours and quiche's own.

use std::path::Path;

use crate::quiche;

use serde_json::Value;
use windlass_adapter::step::{Entry, Steps};
use windlass_controllers::EventKind;
use windlass_lab::evaluation::Source;
use windlass_lab::testkit::logged;
use windlass_qlog::Profile;
use windlass_simulator::outcome::{FlowOutcome, Outcome};
use windlass_simulator::scenario::Scenario;
use windlass_simulator::schedule::{Abilities, Schedule};
use windlass_stacks::stack::{LogDetail, LogSettings, Logs};
use windlass_stacks::testkit::careful_resume::{fills_in_half_the_time, retreats_on_a_path_that_shrank};
use windlass_stacks::testkit::faults::{examine, survive};
use windlass_stacks::testkit::{busy_link, fixed_windows, matrix, record_steps, twice};
use windlass_stacks_quiche::Quiche;

fn run(text: &str) -> Outcome {
    let scenario = Scenario::read("test", text, None).unwrap_or_else(|error| panic!("{error}"));
    quiche().run(&scenario, None, &|_| false).unwrap_or_else(|error| panic!("{error:?}"))
}

/// 10 Mbit/s, 40 ms, a BDP of buffer.
const LINK: &str = "duration_s = 10\n[dumbbell]\nrate_mbps = 10\nrtt_ms = 40\nbuffer_bdp = 1\n";

#[test]
fn goodput_is_a_window_per_round_trip() {
    fixed_windows(quiche());
}

#[test]
fn a_second_transfer_fills_the_path_in_half_the_time_of_the_first() {
    fills_in_half_the_time(&Quiche);
}

#[test]
fn on_a_path_that_shrank_tenfold_it_retreats() {
    retreats_on_a_path_that_shrank(&Quiche);
}

#[test]
fn every_controller_moves_everything_whole_through_all_that_a_path_can_do() {
    matrix(quiche());
}

#[test]
fn a_receive_window_and_a_slow_writer_limit_a_sender_as_they_say() {
    let text = |keys: &str| {
        format!(
            "duration_s = 6\n[dumbbell]\nrate_mbps = 20\nrtt_ms = 80\nbuffer_bdp = 1\n\
             [[flow]]\nname = \"flow\"\ncontroller = \"cubic\"\n{keys}\n"
        )
    };
    let goodput = |keys: &str| run(&text(keys)).flows[0].goodput_mbps;
    let narrow = goodput("receive_window_bytes = 8_000");
    assert!((0.2..0.81).contains(&narrow), "at most 8 kB in 80 ms, 0.8 Mbit/s, not {narrow}");
    let slow = goodput("application_mbps = 1");
    assert!((0.9..1.05).contains(&slow), "{slow}");
    let wide = goodput("receive_window_bytes = 4_000_000");
    assert!(wide > 10.0, "{wide}");
    let scenario = Scenario::read("test", &text("requests = 2"), None).unwrap_or_else(|error| panic!("{error}"));
    let refused = quiche().run(&scenario, None, &|_| false).unwrap_err().to_string();
    assert!(refused.starts_with("flow \"flow\": quiche has no requests: its data flows from"), "{refused}");
}

#[test]
fn a_video_takes_as_long_as_in_the_simulator() {
    let video = "[[flow]]\ncontroller = \"cubic\"\napplication_mbps = 1\nframes_per_s = 25\nkey_frame_every = 50\n";
    let text = format!("{LINK}{video}");
    let of = |mut outcome: Outcome| outcome.flows.remove(0).frames.unwrap();
    let ours = of(windlass_simulator::sim::run(&Scenario::read("test", &text, None).unwrap()).unwrap());
    let theirs = of(run(&text));
    assert!(ours.written - theirs.written <= 4 && theirs.written - theirs.delivered <= 3, "{theirs:?}");
    let [theirs, ours] = [theirs, ours].map(|frames| frames.delay_median_ms.unwrap());
    assert!((theirs - ours).abs() < 8.0, "{theirs} and {ours} ms");
}

/// 200 random schedules of faults; `ci/nightly` runs 10 000.
#[test]
fn quiche_survives_faults() {
    survive(quiche(), 200, Abilities { rebinding: false, ..Abilities::ALL }, &[]);
}

/// Schedules that were survived and found not to be, each by a rule of the run.
#[test]
fn what_is_no_failure_of_quiche_is_not_taken_for_one() {
    let schedule = |seed, controller| {
        let abilities = Abilities { rebinding: false, ..Abilities::ALL };
        examine(quiche(), &Schedule::random(seed, controller, abilities))
    };
    // The receiver's only RTT sample is of an ACK that was lost and sent once more, and its probe timeout long.
    assert_eq!(schedule(801, "fast"), Ok(()));
    // The backoff of the handshake goes on where its keys are discarded.
    for (seed, controller) in [
        (1028, "cubic-2005"),
        (1538, "scalable"),
        (2641, "ctcp"),
        (2904, "aimd"),
        (3290, "cubic-2005"),
        (3515, "a-tcp-p"),
        (3809, "nf-tcp-prime"),
        (4058, "multcp"),
        (4452, "dca-c"),
        (4842, "dca-c"),
    ] {
        assert_eq!(schedule(seed, controller), Ok(()), "{seed}");
    }
    // A server whose first datagram is damaged accepts the client's next.
    assert_eq!((schedule(3357, "a-tcp"), schedule(4304, "cubic-2005")), (Ok(()), Ok(())));
    // A clock that jumps beyond the idle timeout ends the connection.
    assert_eq!((schedule(3500, "prague"), schedule(4381, "cubic")), (Ok(()), Ok(())));
}

/// quiche 0.30 does not always come back where its peer's address changes with the first data: a path whose validation
/// failed stays `Failed` (`Path::on_loss_detection_timeout`), though the peer is there and nowhere else. Once it does,
/// this fails, and its schedules are to have rebindings.
#[test]
fn quiche_gets_stuck_where_an_address_changes_with_the_first_data() {
    let controllers = [(16, "tcp-africa"), (47, "dual"), (103, "tri-s"), (167, "cocoon")];
    let reason = |(seed, controller)| examine(quiche(), &Schedule::random(seed, controller, Abilities::ALL)).err();
    let reasons: Vec<String> = controllers.into_iter().filter_map(reason).collect();
    let still = |reason: &String| reason.contains("nothing arrived for") || reason.contains("not done after");
    assert!(!reasons.is_empty() && reasons.iter().all(still), "{reasons:?}");
}

/// The network marks packets that the program sent with a codepoint; quiche counts them at the other
/// end and echoes the counts in ACK frames; the controller gets each mark once.
#[test]
fn marks_reach_the_controller_one_by_one() {
    let text = format!("{LINK}queue = {{ kind = \"step\", threshold_packets = 10 }}\n[[flow]]\ncontroller = \"dctcp\"");
    let scenario = Scenario::read("marks", &text, None).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let settings = LogSettings { detail: LogDetail::Steps, profile: Profile::Ietf };
    let mut logs = Logs::create(settings, directory.path(), "marks", "", "quiche").unwrap();
    let outcome = quiche().run(&scenario, Some(&mut logs), &|_| false).unwrap();
    let flow = &outcome.flows[0];
    let log = std::fs::read(directory.path().join("marks/own@quiche/flow1.sqlog")).unwrap();
    let reported: u64 = Steps::new(&log[..])
        .filter_map(|entry| match entry.unwrap() {
            Entry::Step(step, _) => match step.event.kind {
                EventKind::EcnCe(marked) => Some(u64::from(marked.packets)),
                _ => None,
            },
            Entry::Start(..) => None,
        })
        .sum();
    assert!(flow.packets_marked > 100, "{}", flow.packets_marked);
    // The ACKs of the last round trip may be under way.
    assert!(
        (flow.packets_marked - 40..=flow.packets_marked).contains(&reported),
        "{reported} of {}",
        flow.packets_marked
    );
    assert!(flow.goodput_mbps > 8.5, "{} Mbit/s", flow.goodput_mbps);
}

/// quiche's own controllers ignore marks: their packets are dropped where others' are marked.
#[test]
fn controllers_that_ignore_marks_get_none() {
    for controller in ["native:reno", "native:cubic"] {
        let outcome = run(&format!(
            "{LINK}queue = {{ kind = \"step\", threshold_packets = 10 }}\n[[flow]]\ncontroller = \"{controller}\""
        ));
        assert_eq!(outcome.queues[0].packets_marked, 0, "{controller}");
        assert!(outcome.flows[0].packets_lost > 0, "{controller}");
    }
}

#[test]
fn named_data_packets_never_leave() {
    for controller in ["reno", "native:reno"] {
        let transfer = |keys: &str| {
            let text = format!("{LINK}[[flow]]\ncontroller = \"{controller}\"\ntransfer_bytes = 100_000\n{keys}");
            run(&text).flows.remove(0)
        };
        assert_eq!(transfer("").packets_lost, 0);
        let flow = transfer("drop_packets = [5, 6, 30]");
        assert!(flow.completed && flow.sha256.is_some());
        assert_eq!(flow.packets_lost, 3, "{controller}");
    }
}

#[test]
fn several_connections_share_a_bottleneck() {
    let flow = |name: &str| format!("[[flow]]\nname = \"{name}\"\ncontroller = \"cubic\"\n");
    let link = LINK.replace("duration_s = 10", "duration_s = 30");
    let outcome = run(&format!("{link}{}{}{}", flow("one"), flow("two"), flow("three")));
    let total: f64 = outcome.flows.iter().map(|flow| flow.goodput_mbps).sum();
    assert!((9.0..10.0).contains(&total), "{total}");
    assert!(outcome.flows.iter().all(|flow| flow.goodput_mbps > 1.5 && flow.sha256.is_some()), "{outcome:?}");
}

#[test]
fn our_cubic_is_no_worse_than_its_own() {
    let flow = |controller: &str| -> FlowOutcome {
        let link = LINK.replace("duration_s = 10", "duration_s = 30");
        run(&format!("{link}[[flow]]\ncontroller = \"{controller}\"")).flows.remove(0)
    };
    let (ours, own) = (flow("cubic"), flow("native:cubic"));
    println!("{:.3} Mbit/s, its own {:.3}", ours.goodput_mbps, own.goodput_mbps);
    assert!(ours.goodput_mbps >= 0.98 * own.goodput_mbps, "{} Mbit/s, its own {}", ours.goodput_mbps, own.goodput_mbps);
}

#[test]
fn every_native_controller_runs_and_others_are_refused() {
    for name in ["reno", "cubic", "bbr2"] {
        let outcome = run(&format!("{LINK}[[flow]]\ncontroller = \"native:{name}\""));
        let flow = &outcome.flows[0];
        assert!(flow.goodput_mbps > 7.0 && flow.rtt_mean_ms.is_some_and(|rtt| rtt > 40.0), "{name}: {flow:?}");
        assert!(flow.cwnd_mean_packets > 20.0, "{name}: {flow:?}");
    }
    let text = format!("{LINK}[[flow]]\ncontroller = \"native:vegas\"");
    let scenario = Scenario::read("test", &text, None).unwrap();
    let error = quiche().run(&scenario, None, &|_| false).unwrap_err().to_string();
    assert!(error.contains("expected native:reno, native:cubic, native:bbr2"), "{error}");
}

/// While a probe is due quiche takes whatever is written: ten flows that lose most of what they start with write some
/// windows, not all that flow control allows.
#[test]
fn what_a_probe_lets_in_is_bounded() {
    let text = "duration_s = 684\nsample_ms = 3420\npacket_bytes = 8972\n[dumbbell]\nrate_mbps = 0.064\nrtt_ms = 50\nbuffer_packets = 4\n\
                [[dumbbell.fault]]\nkind = \"reordering\"\nat_s = 0\nfor_ms = 684000\npercent = 5\nby_ms = 12.5\n\
                [[flow]]\ncontroller = \"reno\"\ncount = 10\nstagger_s = 1\n";
    let outcome = run(text);
    assert!(outcome.flows.iter().any(|flow| flow.packets_lost > 0));
    assert_eq!(outcome.flows.len(), 10);
}

/// A flow that is paced below its window is asked for more data with every ACK: what waits is some windows, not all that it will ever send.
#[test]
fn what_waits_below_a_pacing_rate_is_bounded() {
    let text = LINK.to_owned() + "[[flow]]\ncontroller = \"under-test\"\n";
    let source = Source { name: "waits".to_owned(), file: "waits".to_owned(), text };
    let log = logged(&source, "native:bbr2", quiche()).unwrap();
    let moved = log
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line.trim_start_matches('\u{1e}')).ok())
        .filter(|event| event["name"] == "quic:stream_data_moved" && event["data"]["from"] == "application");
    let length = |event: &Value| event["data"]["raw"]["length"].as_u64().unwrap();
    let handed_over: u64 = moved.map(|event| length(&event)).sum();
    // 10 Mbit/s for 10 s.
    assert!((10_000_000..16_000_000).contains(&handed_over), "{handed_over} bytes");
}

const BUSY: &str = "
[[flow]]
controller = \"cubic\"
ecn = true
ack = \"delayed\"
[[flow]]
controller = \"nf-tcp:fallback=on\"
ecn = true
start_s = 0.5
[[flow]]
controller = \"native:cubic\"
start_s = 1
[[flow]]
controller = \"native:bbr2\"
ack = \"delayed\"
start_s = 2
";

#[test]
fn two_processes_come_to_the_same() {
    let logs = ["repeats/own@quiche/flow1.sqlog", "repeats/own@quiche/flow2.sqlog"].map(|file| (file, 100_000));
    let files = logs.into_iter().chain([("outcome.json", 10_000)]);
    twice("stack::two_processes_come_to_the_same", write_results, files);
}

fn write_results(directory: &Path) {
    let outcome = record_steps(quiche(), &busy_link(BUSY), directory);
    for flow in &outcome.flows[..4] {
        assert!(flow.goodput_mbps > 0.2 && flow.packets_lost > 0 && flow.sha256.is_some(), "{flow:?}");
        assert!(flow.rtt_mean_ms.is_some_and(|rtt| rtt > 40.0) && flow.cwnd_mean_packets > 2.0, "{flow:?}");
    }
    assert!(outcome.flows[0].packets_marked > 0, "{:?}", outcome.flows[0]);
    std::fs::write(directory.join("outcome.json"), serde_json::to_string(&outcome).unwrap()).unwrap();
}
