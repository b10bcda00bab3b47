//! Traces without anything that names their controller, and identification of their controllers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde_json::Value;
use windlass_qlog::Profile;
use windlass_qlog_analysis::metrics::{LimitedTimes, measure};
use windlass_qlog_analysis::read::Options;
use windlass_stacks::stack::{LogDetail, LogSettings, Runner};

use crate::evaluation::{Job, Source, execute};
use crate::replay::{Identified, ReplayError, identify};
use crate::results::Status;

/// The scenarios that controllers are identified on.
pub const SCENARIOS: [&str; 5] = ["clean-link", "random-loss", "shallow-buffer", "deep-buffer", "ecn-queue"];

/// Identifies the controller of `trace`.
pub fn look(trace: &[u8]) -> Identified {
    identify(&|| Ok::<_, ReplayError>(trace), None).unwrap()
}

/// Where in the list `controller` is named, from 0.
pub fn place(found: &Identified, controller: &str) -> usize {
    found.guesses.iter().position(|guess| guess.controllers.iter().any(|name| name == controller)).unwrap()
}

/// The name in the catalogue of what a stack calls `native`.
pub(super) fn ours(native: &str) -> &str {
    match native {
        "newreno" => "reno",
        "bbr2" | "bbr3" => "bbr",
        other => other,
    }
}

/// Identifies the native controllers of `stacks` and prints the table of the documentation.
/// Returns the cases whose best guess is wrong, and the number of cases.
pub fn natives(stacks: &[Runner]) -> (Vec<String>, usize) {
    let mut cases = Vec::new();
    for stack in stacks.iter().copied() {
        for native in stack.natives() {
            for scenario in SCENARIOS {
                cases.push((stack, *native, scenario));
            }
        }
    }
    let found: Vec<_> = cases
        .par_iter()
        .map(|(stack, native, scenario)| trace(scenario, &format!("native:{native}"), *stack).map(|t| look(&t)))
        .collect();
    let mut wrong = Vec::new();
    println!("| stack | controller | {} |", SCENARIOS.join(" | "));
    println!("|---|---|{}", "---|".repeat(SCENARIOS.len()));
    for (row, cases) in found.chunks(SCENARIOS.len()).zip(cases.chunks(SCENARIOS.len())) {
        let (stack, native, _) = cases[0];
        let mut cells = Vec::new();
        for (found, (_, _, scenario)) in row.iter().zip(cases) {
            let Some(found) = found else { panic!("{} cannot run {native} on {scenario}", stack.name()) };
            let at = place(found, ours(native));
            let better = if at > 0 { format!(" after {}", found.guesses[0].controllers[0]) } else { String::new() };
            cells.push(format!("{}: {:.0}{better}", at + 1, found.guesses[at].score));
            if at > 0 {
                wrong.push(format!("{} {native} on {scenario}", stack.name()));
            }
        }
        println!("| {} | {native} | {} |", stack.name(), cells.join(" | "));
    }
    println!("\n{} of {} right", cases.len() - wrong.len(), cases.len());
    (wrong, cases.len())
}

/// The first flow of `scenario` with `controller` on `stack`, as a plain trace; none if the
/// stack cannot run it.
pub fn trace(scenario: &str, controller: &str, stack: Runner) -> Option<Vec<u8>> {
    logged(&Source::builtin(scenario).unwrap(), controller, stack).map(|text| strip(&text))
}

/// The log of the first flow of `source` with `controller` on `stack`; none if the stack cannot run it.
pub fn logged(source: &Source, controller: &str, stack: Runner) -> Option<String> {
    logged_as(Profile::Ietf, source, controller, stack)
}

/// The same in the schema version of `profile`.
pub fn logged_as(profile: Profile, source: &Source, controller: &str, stack: Runner) -> Option<String> {
    let place = tempfile::tempdir().unwrap();
    let settings = LogSettings { detail: LogDetail::Packets, profile };
    let job = Job { source, controller: Some(controller), stack, seed: None, threads: 1 };
    let run = execute(&job, Some((settings, place.path())), &|_| false).unwrap();
    assert!(run.status != Status::Failed, "{controller} on {}, {}: {:?}", source.name, stack.name(), run.reason);
    let file = run.qlogs.first()?;
    let file = place.path().join(Path::new(file).strip_prefix("qlog").unwrap());
    Some(std::fs::read_to_string(file).unwrap())
}

/// What limited the sender of the first flow of `text`, a scenario, and its goodput, Mbit/s.
pub fn limits(text: &str, controller: &str, stack: Runner) -> (LimitedTimes, f64) {
    let source = Source { name: "limits".to_owned(), file: "limits".to_owned(), text: text.to_owned() };
    let log = logged(&source, controller, stack).unwrap();
    let (_, found) = measure(log.as_bytes(), &Options::default()).unwrap();
    (found[0].measures.limited.unwrap(), found[0].measures.goodput.unwrap())
}

/// What the receiver of `trace`, a sender's plain trace, would have logged of its packets, each received when the ACK
/// that acknowledged it came: the way back takes the same time for all.
pub fn received(trace: &[u8]) -> Vec<u8> {
    let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
    let mut plain = Vec::new();
    let text = String::from_utf8_lossy(trace).into_owned();
    for (number, record) in text.split('\u{1e}').filter(|record| !record.is_empty()).enumerate() {
        let value: Value = serde_json::from_str(record).unwrap();
        let (data, name) = (&value["data"], value["name"].as_str().unwrap_or_default());
        let mut put = |value: &Value| {
            plain.push(0x1e);
            plain.extend_from_slice(value.to_string().as_bytes());
            plain.push(b'\n');
        };
        let packet = &data["header"]["packet_number"];
        match name.rsplit('_').next() {
            _ if number == 0 => {
                let mut header = value.clone();
                header["trace"]["vantage_point"] = serde_json::json!({"type": "server"});
                put(&header);
            }
            // The client's first Initial, and the answer, show the RTT.
            Some("sent" | "received") if data["header"]["packet_type"] != "1RTT" => put(&value),
            Some("sent") => {
                sizes.insert(packet.as_u64().unwrap(), data["raw"]["length"].as_u64().unwrap());
            }
            Some("received") => {
                let frames = data["frames"].as_array().unwrap();
                let ranges = frames.iter().filter_map(|frame| frame["acked_ranges"].as_array()).flatten();
                let mut fresh = BTreeMap::new();
                for range in ranges {
                    let ends = [&range[0], range.as_array().unwrap().last().unwrap()].map(|end| end.as_u64().unwrap());
                    let numbers: Vec<u64> = sizes.range(ends[0]..=ends[1]).map(|(number, _)| *number).collect();
                    fresh.extend(numbers.into_iter().filter_map(|number| Some((number, sizes.remove(&number)?))));
                }
                for (number, bytes) in fresh {
                    put(&serde_json::json!({"time": value["time"], "name": "quic:packet_received", "data": {
                        "header": {"packet_type": "1RTT", "packet_number": number},
                        "raw": {"length": bytes},
                        "frames": [{"frame_type": "stream", "stream_id": 0, "offset": 0, "raw": {"payload_length": 1}}],
                    }}));
                }
            }
            _ => {}
        }
    }
    plain
}

/// `text`, a JSON text sequence of ours, without anything that names its writer.
fn strip(text: &str) -> Vec<u8> {
    let mut plain = Vec::new();
    for (number, record) in text.split('\u{1e}').filter(|record| !record.is_empty()).enumerate() {
        let mut value: Value = serde_json::from_str(record).unwrap();
        if number == 0 {
            strip_header(&mut value);
        }
        let name = value.get("name").and_then(Value::as_str).unwrap_or_default();
        if name.starts_with("windlass:") || name.ends_with("recovery_parameters_set") {
            continue;
        }
        plain.push(0x1e);
        plain.extend_from_slice(value.to_string().as_bytes());
        plain.push(b'\n');
    }
    let text = String::from_utf8_lossy(&plain);
    assert!(!text.contains("windlass") && !text.contains("controller"), "{}", &text[..1000.min(text.len())]);
    plain
}

fn strip_header(header: &mut Value) {
    for place in ["", "/trace"] {
        let Some(fields) = header.pointer_mut(place).and_then(Value::as_object_mut) else { continue };
        fields.remove("title");
        fields.remove("description");
        fields.remove("common_fields");
        fields.remove("event_schemas");
        if let Some(point) = fields.get_mut("vantage_point").and_then(Value::as_object_mut) {
            point.remove("name");
        }
    }
}

/// The directory `WINDLASS_TRACES` names, or `shared/traces` beside the workspace.
#[must_use]
pub fn recorded_traces() -> PathBuf {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces"));
    std::env::var_os("WINDLASS_TRACES").map_or_else(beside, PathBuf::from)
}
