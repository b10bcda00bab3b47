//! What is measured of the traces that stacks write in the harness and of recorded ones, against a count that has nothing
//! of ours, `ci/reading/count.py`; of the harness's also against what the scenario makes of it.
//! And traces of flows that answer requests, as a server's of HTTP do: what qvis' views need, and where their data are.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use windlass_lab::evaluation::Source;
use windlass_lab::testkit::{limits, logged, logged_as, recorded_traces};
use windlass_qlog_analysis::lint::{Profile, Rule, lint};
use windlass_qlog_analysis::metrics::{Measured, measure};
use windlass_qlog_analysis::read::{Options, ReadError, open, twice};
use windlass_stacks::stack::Runner;

const SCENARIO: &str = "duration_s = 2\n[dumbbell]\nrate_mbps = 8\nrtt_ms = 40\nbuffer_bdp = 0.5\nloss_percent = 1\n\
    [[flow]]\nname = \"flow\"\ncontroller = \"under-test\"\n";

/// What the first flow of a scenario on 20 Mbit/s and 40 ms was limited by, percent: window, application, flow control, pacer.
fn limited(stack: Runner, flow: &str, link: &str) -> [f64; 4] {
    let text = format!(
        "duration_s = 6\n[dumbbell]\nrate_mbps = 20\nrtt_ms = 40\nbuffer_bdp = 1\n{link}\n\
         [[flow]]\nname = \"flow\"\ncontroller = \"under-test\"\n{flow}\n"
    );
    let controller = if flow.contains("transfer") { "cubic:iw=64" } else { "cubic" };
    let (times, _) = limits(&text, controller, stack);
    [times.window, times.application, times.flow_control, times.pacer]
}

/// A transfer without end is limited by window and pacer, on any path; an answer smaller than the window by the
/// application, until it has come.
#[test]
fn what_limits_a_sender_is_what_the_scenario_makes_of_it() {
    for stack in Runner::builtin().iter().copied() {
        for link in ["", "loss_percent = 1"] {
            let [window, application, flow_control, pacer] = limited(stack, "", link);
            let text = format!("{} {link}: {window} {application} {flow_control} {pacer}", stack.name());
            assert!(application < 10.0 && flow_control == 0.0 && window + pacer > 90.0, "{text}");
        }
        let [window, application, flow_control, pacer] = limited(stack, "transfer_bytes = 60_000", "");
        let text = format!("{} answer: {window} {application} {flow_control} {pacer}", stack.name());
        assert!(application > 60.0 && flow_control == 0.0, "{text}");
    }
}

/// Behind a window far smaller than the path holds, a round trip carries a window; the sender waits for the receiver's
/// word. A window that is larger than what the path holds limits nothing.
#[test]
fn a_receive_window_limits_a_sender_as_its_size_says() {
    for stack in Runner::builtin().iter().copied().filter(|runner| *runner != Runner::SIMULATOR) {
        let text = |window: u64| {
            format!(
                "duration_s = 6\n[dumbbell]\nrate_mbps = 20\nrtt_ms = 80\nbuffer_bdp = 1\n\
                 [[flow]]\nname = \"flow\"\ncontroller = \"under-test\"\nreceive_window_bytes = {window}\n"
            )
        };
        // The path holds 200 kB.
        let (limited, goodput) = limits(&text(20_000), "cubic", stack);
        assert!(limited.flow_control > 80.0 && limited.application < 5.0, "{}: {limited:?}", stack.name());
        assert!((1.6..2.4).contains(&goodput), "{}: 20 kB in 80 ms are 2 Mbit/s, not {goodput}", stack.name());
        let (limited, _) = limits(&text(4_000_000), "cubic", stack);
        assert!(limited.window + limited.pacer > 90.0 && limited.flow_control < 1.0, "{}: {limited:?}", stack.name());
    }
}

/// An application that writes 1 Mbit/s to a path of 20 is what limits the sender.
#[test]
fn a_slow_writer_limits_a_sender_itself() {
    for stack in Runner::builtin().iter().copied().filter(|runner| *runner != Runner::SIMULATOR) {
        let [window, application, flow_control, pacer] = limited(stack, "application_mbps = 1", "");
        let text = format!("{}: {window} {application} {flow_control} {pacer}", stack.name());
        assert!(application > 90.0 && flow_control == 0.0, "{text}");
    }
}

#[test]
fn an_independent_count_of_every_stack_s_traces_agrees() {
    let place = tempfile::tempdir().unwrap();
    let source = Source { name: "count".to_owned(), file: "count".to_owned(), text: SCENARIO.to_owned() };
    let mut files = Vec::new();
    for stack in Runner::builtin().iter().copied() {
        let natives = stack.natives().iter().map(|name| format!("native:{name}"));
        for controller in natives.chain(["cubic".to_owned()]) {
            let log = logged(&source, &controller, stack).unwrap();
            let path = place.path().join(format!("{}-{}.sqlog", stack.name(), controller.replace(':', "-")));
            std::fs::write(&path, log).unwrap();
            files.push(path);
        }
    }
    for (path, found) in files.iter().zip(counted(&files)) {
        let sent = found[0].measures.packets_sent;
        assert!(sent.is_some_and(|sent| sent > 200), "{}: {sent:?}", path.display());
    }
}

#[test]
fn an_independent_count_of_recorded_traces_agrees() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../qlog-analysis/tests/traces");
    let mut files = Vec::new();
    for folder in [own, recorded_traces()] {
        let Ok(entries) = folder.read_dir() else {
            println!("skipped: there are no recorded traces at {}", folder.display());
            continue;
        };
        files.extend(entries.map(|entry| entry.unwrap().path()));
    }
    // The script reads no Zstandard.
    files.retain(|path| path.extension().is_none_or(|end| end != "md" && end != "zst"));
    files.sort();
    let connections: usize = counted(&files).iter().map(Vec::len).sum();
    assert!(connections >= 14, "only {connections} connections");
}

/// What is measured of `files`, which the script has to find as well.
fn counted(files: &[PathBuf]) -> Vec<Vec<Measured>> {
    let open = |path: &Path| open(path).map_err(ReadError::from);
    let measured = files.iter().map(|path| twice(|| open(path), &Options::default(), measure).unwrap().1);
    let measured: Vec<Vec<Measured>> = measured.collect();
    let of_file = |found: &Vec<Measured>| Value::from(found.iter().map(|one| one.to_json("")).collect::<Vec<_>>());
    let ours: String = measured.iter().map(|found| format!("{}\n", of_file(found))).collect();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ci/reading/count.py");
    let mut count = Command::new("python3");
    count.arg(script).arg("--compare").args(files).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut count = count.spawn().expect("python3 runs");
    count.stdin.take().unwrap().write_all(ours.as_bytes()).unwrap();
    let output = count.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    measured
}

/// `requests` of 200 kB each over a path with loss, and what of a simulated packet is QUIC's own.
fn source(requests: u64) -> Source {
    let text = format!(
        "duration_s = 10\nheader_bytes = 33\n[dumbbell]\nrate_mbps = 8\nrtt_ms = 40\nbuffer_bdp = 1\nloss_percent = 0.5\n\
         [[flow]]\nname = \"flow\"\ncontroller = \"under-test\"\nrequests = {requests}\ntransfer_bytes = {}\n",
        200_000 * requests
    );
    Source { name: "answers".to_owned(), file: "answers".to_owned(), text }
}

const VIEWS: [Rule; 3] = [Rule::PacketRoom, Rule::RequestStreams, Rule::RequestFirst];

#[test]
fn answers_to_requests_leave_no_view_of_qvis_empty() {
    for stack in Runner::builtin().iter().copied() {
        let log = logged_as(windlass_qlog::Profile::Qvis, &source(4), "cubic", stack).unwrap();
        let report = lint(log.as_bytes(), Profile::Qvis);
        assert!(report.counts.is_empty(), "{}: {:?}", stack.name(), report.findings);
        // What a client would log of the same, the other way round, is not what qvis draws of a server.
        let turned = log.replace("packet_sent", "packet_x").replace("packet_received", "packet_sent");
        let report = lint(turned.replace("packet_x", "packet_received").as_bytes(), Profile::Qvis);
        assert!(VIEWS.iter().any(|rule| report.counts.contains_key(rule)), "{}: {:?}", stack.name(), report.counts);
    }
}

/// Every byte of every answer is sent on the stream of its request, and the answers take turns.
#[test]
fn each_request_has_its_answer_on_its_stream() {
    for stack in Runner::builtin().iter().copied() {
        let log = logged(&source(3), "reno", stack).unwrap();
        assert_eq!(log, logged(&source(3), "reno", stack).unwrap(), "{}: equal runs give equal bytes", stack.name());
        let (mut asked, mut ends, mut order) = (BTreeSet::new(), BTreeMap::<u64, u64>::new(), Vec::new());
        for record in log.split('\u{1e}').filter(|record| !record.is_empty()) {
            let event: serde_json::Value = serde_json::from_str(record).unwrap();
            let sent = event["name"] == "quic:packet_sent";
            for frame in event["data"]["frames"].as_array().into_iter().flatten() {
                let Some(id) = frame["stream_id"].as_u64().filter(|_| frame["frame_type"] == "stream") else {
                    continue;
                };
                let field = |name: &str| frame[name].as_u64().or(frame["raw"][name].as_u64()).unwrap();
                if sent {
                    assert!(asked.contains(&id), "{}: stream {id} is answered unasked", stack.name());
                    let end = ends.entry(id).or_default();
                    *end = (field("offset") + field("length")).max(*end);
                    order.push(id);
                } else if event["name"] == "quic:packet_received" {
                    asked.insert(id);
                }
            }
        }
        assert_eq!(asked, BTreeSet::from([0, 4, 8]), "{}", stack.name());
        assert_eq!(ends.values().sum::<u64>(), 600_000, "{}: {ends:?}", stack.name());
        let turns = order.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(turns > order.len() / 8, "{}: {turns} turns of {} frames", stack.name(), order.len());
    }
}
