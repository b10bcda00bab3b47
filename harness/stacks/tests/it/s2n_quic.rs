//! s2n-quic under virtual time: it repeats to the bit, its controllers govern, its logs
//! hold water.
#![cfg(feature = "s2n-quic")]

use std::path::Path;

use serde_json::Value;
use windlass_adapter::step::{Entry, Steps};
use windlass_controllers::{Algorithm, Table, View, fixed_window};
use windlass_qlog::Profile;
use windlass_qlog_analysis::lint::lint;
use windlass_qlog_analysis::metrics::measure;
use windlass_qlog_analysis::read::Options;
use windlass_simulator::outcome::{FlowOutcome, Outcome};
use windlass_simulator::scenario::Scenario;
use windlass_stacks::s2n::S2nQuic;
use windlass_stacks::stack::Stack;
use windlass_stacks::testkit::{Logs, busy_link, twice};

/// 10 Mbit/s, 40 ms, room for a BDP.
const LINK: &str = "[dumbbell]\nrate_mbps = 10\nrtt_ms = 40\nbuffer_bdp = 1\n";

fn scenario(duration: f64, link: &str, flows: &str) -> Scenario {
    read(&format!("duration_s = {duration}\nseed = 9\n{link}\n{flows}"))
}

fn read(text: &str) -> Scenario {
    Scenario::read("test", text, None).unwrap_or_else(|error| panic!("{error}"))
}

fn run_one(scenario: &Scenario) -> FlowOutcome {
    let mut outcome = S2nQuic.run(scenario, &mut |_| Ok(None), &|_| false).unwrap_or_else(|error| panic!("{error}"));
    outcome.flows.remove(0)
}

/// The outcome and the logs of all flows, one after the other.
fn logged(scenario: &Scenario) -> (Outcome, Vec<Vec<u8>>) {
    let logs = Logs::default();
    let outcome =
        S2nQuic.run(scenario, &mut |flow| logs.open(flow), &|_| false).unwrap_or_else(|error| panic!("{error}"));
    let written = outcome.flows.iter().filter_map(|flow| logs.of(&flow.name)).collect();
    (outcome, written)
}

/// The events called `name` in a log.
fn named(log: &[u8], name: &str) -> Vec<Value> {
    let records = log.split(|byte| *byte == 0x1e).filter(|record| !record.is_empty());
    let events = records.map(|record| serde_json::from_slice::<Value>(record).unwrap());
    events.filter(|event| event["name"] == name).collect()
}

const FLOWS: &str = "
[[flow]]
name = \"a\"
controller = \"cubic\"
ecn = true
[[flow]]
name = \"b\"
controller = \"tcp-p\"
group = \"g\"
start_s = 0.5
[[flow]]
name = \"c\"
controller = \"tcp-p\"
group = \"g\"
start_s = 1
stop_s = 4
";

#[test]
fn a_video_takes_as_long_as_in_the_simulator() {
    let video = "[[flow]]\ncontroller = \"cubic\"\napplication_mbps = 1\nframes_per_s = 25\nkey_frame_every = 50\n";
    let scenario = scenario(6.0, LINK, video);
    let of = |mut outcome: Outcome| outcome.flows.remove(0).frames.unwrap();
    let ours = of(windlass_simulator::sim::run(&scenario).unwrap());
    let theirs = of(S2nQuic.run(&scenario, &mut |_| Ok(None), &|_| false).unwrap());
    assert!(ours.written - theirs.written <= 4 && theirs.written - theirs.delivered <= 3, "{theirs:?}");
    let [theirs, ours] = [theirs, ours].map(|frames| frames.delay_median_ms.unwrap());
    assert!((theirs - ours).abs() < 8.0, "{theirs} and {ours} ms");
}

#[test]
fn a_client_that_asks_for_chunks_sees_what_one_in_the_simulator_does() {
    let flow = "[[flow]]\ncontroller = \"cubic\"\nvideo = { chunk_s = 0.5, rates_mbps = [0.5, 1, 2], buffer_s = 2 }\n";
    let scenario = scenario(6.0, LINK, flow);
    let of = |mut outcome: Outcome| outcome.flows.remove(0).video.unwrap();
    let ours = of(windlass_simulator::sim::run(&scenario).unwrap());
    let theirs = of(S2nQuic.run(&scenario, &mut |_| Ok(None), &|_| false).unwrap());
    assert!(ours.chunks - theirs.chunks <= 1 && (ours.stalls, theirs.stalls) == (0, 0), "{ours:?}, {theirs:?}");
    assert!((ours.rate_mbps.unwrap() - theirs.rate_mbps.unwrap()).abs() < 0.3, "{ours:?}, {theirs:?}");
}

#[test]
fn groups_of_objects_are_refused_for_their_streams_have_no_priorities() {
    let media = "[[flow]]\nname = \"m\"\ncontroller = \"cubic\"\napplication_mbps = 4\nframes_per_s = 25\nkey_frame_every = 50\n\
                 group_order = \"descending\"\n";
    let error = S2nQuic.run(&scenario(6.0, LINK, media), &mut |_| Ok(None), &|_| false).unwrap_err().to_string();
    assert!(error.contains("\"m\"") && error.contains("group_order"), "{error}");
    assert!(error.contains("streams with priorities, which s2n-quic's API has not"), "{error}");
}

#[test]
fn two_processes_write_the_same_logs() {
    let _machine = crate::shared();
    let write = |directory: &Path| {
        let (outcome, logs) = logged(&read(&busy_link(FLOWS)));
        let first = &outcome.flows[0];
        assert!(first.packets_marked > 0 && first.packets_lost > 0, "{first:?}");
        // Addresses and connection IDs, too, which s2n-quic would draw at random.
        for log in &logs {
            let started = named(log, "quic:connection_started");
            let id = |end: &str| started[0]["data"][end]["connection_ids"][0].as_str().map(str::len);
            assert_eq!((started.len(), id("local"), id("remote")), (1, Some(32), Some(16)), "{started:?}");
            // The server tells its client by which ID it was first addressed (RFC 9000 §7.3).
            let parameters = named(log, "quic:parameters_set");
            let told = |one: &Value| one["data"]["original_destination_connection_id"].as_str().map(str::len);
            assert!(parameters.iter().any(|one| told(one) >= Some(16)), "{parameters:?}");
        }
        std::fs::write(directory.join("logs"), logs.concat()).unwrap();
    };
    twice("s2n_quic::two_processes_write_the_same_logs", write, [("logs", 300_000)]);
}

// A receiver of s2n-quic's acknowledges every tenth packet: a window of ten waits for its
// timer whenever the sender leaves out a packet number.
#[test]
fn a_fixed_window_is_what_travels() {
    let _machine = crate::shared();
    // 100 Mbit/s, 40 ms: nothing but the window limits.
    for window in [10, 20, 40, 80, 160] {
        let controller = fixed_window::catalogue(window).unwrap();
        let link = "[dumbbell]\nrate_mbps = 100\nrtt_ms = 40\nbuffer_bdp = 1\n";
        let flow = run_one(&scenario(10.0, link, &format!("[[flow]]\ncontroller = \"{controller}\"")));
        // Of 1200 bytes some 37 are QUIC's own.
        let expected = f64::from(window) * 1163.0 * 8.0 / 40.0e3;
        let off = flow.goodput_mbps / expected - 1.0;
        println!("window {window}: {:.3} Mbit/s, {:+.1} %", flow.goodput_mbps, off * 100.0);
        assert!(off.abs() < 0.05, "window {window}: {:.3} Mbit/s, expected {expected:.3}", flow.goodput_mbps);
    }
}

/// Every 10 to 100 RTTs it marks a packet itself (RFC 9002 §8.3), which ACKs count like the network's.
#[test]
fn marks_of_its_own_are_none_of_the_network() {
    let _machine = crate::shared();
    let marks = |link: &str| {
        let (outcome, logs) = logged(&scenario(10.0, link, "[[flow]]\ncontroller = \"cubic\"\necn = true\n"));
        let (_, found) = measure(&logs[0][..], &Options::default()).unwrap();
        let text = String::from_utf8_lossy(&logs[0]);
        assert!(text.contains("\"ce\":1"), "it marked none itself");
        (outcome.flows[0].packets_marked, found[0].measures.marks.unwrap())
    };
    assert_eq!(marks(LINK), (0, 0), "the link marks none");
    let (marked, told) = marks(&format!("{LINK}queue = {{ kind = \"step\", threshold_packets = 10 }}\n"));
    assert!(marked > 5 && told.abs_diff(marked) <= 1, "the link marked {marked}, of which the log has {told}");
}

#[test]
fn what_is_recorded_passes_the_lint_and_replays_to_the_bit() {
    let _machine = crate::shared();
    let (outcome, logs) = logged(&scenario(5.0, LINK, "[[flow]]\ncontroller = \"cubic\"\n"));
    assert!(outcome.flows[0].packets_lost > 0);
    let report = lint(&logs[0][..], Profile::Ietf);
    assert!(report.is_clean(), "{report}");
    let steps = Steps::new(&logs[0][..]);
    let (mut state, mut count) = (None, 0);
    // As the adapter has it.
    let controller = "cubic:hystart_samples=eights";
    let algorithm: Algorithm = controller.parse().unwrap();
    let mut group = algorithm.group();
    for entry in steps {
        match entry.unwrap() {
            Entry::Start(start) => {
                assert_eq!(start.controller, controller);
                let fresh = algorithm.start(&start.path);
                assert_eq!(algorithm.decide(&fresh, View::solo(&group)), start.decision);
                state = Some(fresh);
            }
            Entry::Step(step, _) => {
                let state = state.as_mut().unwrap();
                algorithm.step(state, Table::solo(&mut group), &step.event);
                assert_eq!(algorithm.decide(state, View::solo(&group)), step.decision);
                count += 1;
            }
        }
    }
    assert!(count > 300, "{count} steps");
    let text = String::from_utf8(logs[0].clone()).unwrap();
    for name in ["packet_sent", "packet_received", "packet_lost", "parameters_set", "congestion_state_updated"] {
        assert!(text.contains(&format!("quic:{name}")), "no {name}");
    }
}

#[test]
fn the_stacks_own_controllers_run_beside_ours() {
    let _machine = crate::shared();
    let flows = "
        [[flow]]
        name = \"ours\"
        controller = \"cubic\"
        [[flow]]
        name = \"cubic\"
        controller = \"native:cubic\"
        [[flow]]
        name = \"bbr\"
        controller = \"native:bbr\"
    ";
    let (outcome, logs) = logged(&scenario(10.0, LINK, flows));
    for (flow, log) in outcome.flows.iter().zip(logs) {
        assert!(flow.goodput_mbps > 0.5 && flow.cwnd_mean_packets > 2.0 && flow.rtt_min_ms > Some(40.0), "{flow:?}");
        let report = lint(&log[..], Profile::Ietf);
        assert!(report.is_clean(), "{}: {report}", flow.name);
        assert!(String::from_utf8(log).unwrap().contains("\"congestion_controller\":\""), "{}", flow.name);
    }
}

/// Vegas subtracts the ACK delay from its samples; s2n-quic has it only in its smoothed RTT, and of it
/// an eighth.
#[test]
fn an_ack_that_was_held_is_no_queue() {
    let _machine = crate::shared();
    let link = "[dumbbell]\nrate_mbps = 20\nrtt_ms = 40\nbuffer_bdp = 1\n";
    let goodput = |keys: &str| {
        run_one(&scenario(10.0, link, &format!("[[flow]]\nack = \"delayed\"\ncontroller = \"vegas{keys}\"")))
            .goodput_mbps
    };
    let (vegas, deaf) = (goodput(""), goodput(":max_ack_delay=0"));
    assert!(vegas > 5.0 && deaf < 3.0, "{vegas} Mbit/s, without the delays {deaf}");
}

#[test]
fn named_data_packets_never_leave() {
    let _machine = crate::shared();
    let flow = "[[flow]]\ncontroller = \"reno\"\ntransfer_bytes = 200_000\ndrop_packets = [20, 21, 50]";
    let (outcome, logs) = logged(&scenario(10.0, LINK, flow));
    assert!(outcome.flows[0].completed && outcome.flows[0].packets_lost == 3, "{:?}", outcome.flows[0]);
    let is_data = |event: &&Value| {
        event["data"]["frames"].as_array().unwrap().iter().any(|frame| frame["frame_type"] == "stream")
    };
    let number = |event: &Value| event["data"]["header"]["packet_number"].as_u64().unwrap();
    let sent: Vec<u64> = named(&logs[0], "quic:packet_sent").iter().filter(is_data).map(number).collect();
    let lost: Vec<u64> = named(&logs[0], "quic:packet_lost").iter().map(number).collect();
    assert_eq!(lost, [sent[20], sent[21], sent[50]]);
}

#[test]
fn a_change_of_the_datagram_size_is_reported_once() {
    let _machine = crate::shared();
    let flow = "[[flow]]\ncontroller = \"vegas\"\ndiscover_packet_bytes = 4000";
    let (_, logs) = logged(&scenario(3.0, LINK, flow));
    let size = |event: &Value, key: &str| event["data"][key].as_u64();
    let changes = named(&logs[0], "quic:mtu_updated");
    assert!(changes.len() > 4 && changes.last().and_then(|event| size(event, "new")) > Some(3900), "{changes:?}");
    let mut before = Some(1200);
    for event in &changes {
        assert_eq!(size(event, "old"), before, "{changes:?}");
        before = size(event, "new");
    }
}

/// Beside dynamic flows, and in a group whose weight changes.
#[test]
fn a_run_with_dynamic_flows_and_changing_groups_repeats() {
    let _machine = crate::shared();
    let flows = "
        [[flow]]
        controller = \"tcp-p\"
        group = \"g\"
        [[flow]]
        controller = \"tcp-p\"
        group = \"g\"
        stop_s = 10
        [[flow]]
        name = \"burst\"
        controller = \"cubic\"
        count = 3
        transfer_bytes = 100_000
        arrivals = { every_s = 2, times = 3 }
        [[web]]
        controller = \"reno\"
        sessions = 2
        session_gap_s = 1
        pages = 2
        objects = 3
        [[group]]
        name = \"g\"
        [[group.change]]
        at_s = 4
        k = 4
    ";
    let run = || logged(&scenario(12.0, LINK, flows));
    let (first, logs) = run();
    let (second, again) = run();
    assert_eq!((&first, &logs), (&second, &again));
    assert_eq!(logs.len(), 2, "dynamic flows have no logs");
    let transfers: Vec<_> = first.flows.iter().filter_map(|flow| flow.transfers).collect();
    assert_eq!(transfers.iter().map(|set| (set.started, set.completed)).collect::<Vec<_>>(), [(9, 9), (12, 12)]);
}

#[test]
fn a_group_has_the_weight_it_is_given() {
    let _machine = crate::shared();
    let goodput = |controller: &str, change: &str| {
        let flows = format!(
            "[[flow]]\ncontroller = \"{controller}\"\ngroup = \"g\"\ncount = 2\n\
             [[flow]]\nname = \"single\"\ncontroller = \"reno\"\n[[group]]\nname = \"g\"\n{change}"
        );
        let outcome = S2nQuic.run(&scenario(10.0, LINK, &flows), &mut |_| Ok(None), &|_| false).unwrap();
        outcome.flows.iter().map(|flow| flow.goodput_mbps).collect::<Vec<_>>()
    };
    let always = goodput("tcp-p:k=4", "");
    assert_eq!(goodput("tcp-p", "[[group.change]]\nat_s = 0\nk = 4"), always);
    let later = goodput("tcp-p", "[[group.change]]\nat_s = 5\nk = 4");
    let never = goodput("tcp-p", "");
    assert!(always[2] < later[2] && later[2] < never[2], "{always:?} {later:?} {never:?}");
}

#[test]
fn every_controller_s2n_quic_can_run_transfers_whatever_the_path_does() {
    let _machine = crate::shared();
    let paths = [
        ("clean", "[dumbbell]\nrate_mbps = 20\nrtt_ms = 40\nbuffer_bdp = 1\n", ""),
        ("1 % loss", "[dumbbell]\nrate_mbps = 20\nrtt_ms = 40\nbuffer_bdp = 1\nloss_percent = 1\n", ""),
        (
            "ECN",
            "[dumbbell]\nrate_mbps = 20\nrtt_ms = 40\nbuffer_bdp = 2\nqueue = { kind = \"step\", threshold_packets = 20 }\n",
            "ecn = true\n",
        ),
    ];
    let mut failures = Vec::new();
    for entry in Algorithm::ALL {
        for (name, link, keys) in paths {
            let flow = format!("[[flow]]\ncontroller = \"{}\"\ntransfer_bytes = 1000000\n{keys}", entry.name);
            match S2nQuic.run(&scenario(60.0, link, &flow), &mut |_| Ok(None), &|_| false) {
                Ok(outcome) if outcome.flows[0].stop_s < 60.0 => {}
                Ok(outcome) => failures.push(format!("{} on {name}: not done, {:?}", entry.name, outcome.flows[0])),
                Err(error) if error.to_string().contains("s2n-quic does not report") => {}
                Err(error) => failures.push(format!("{} on {name}: {error}", entry.name)),
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
