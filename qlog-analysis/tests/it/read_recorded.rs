//! Traces recorded by many implementations: where they lie, if they are at hand, and what is read of them
//! against an independent count in Python, and against what their list says is in them.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use windlass_qlog_analysis::model::{Event, EventKind, Metrics};
use windlass_qlog_analysis::read::{Input, Options, ReadError, open, read, twice};

/// The directory `WINDLASS_TRACES` names, or `shared/traces` beside the workspace.
pub fn folder() -> PathBuf {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/traces"));
    std::env::var_os("WINDLASS_TRACES").map_or_else(beside, PathBuf::from)
}

/// Small traces of our own, in this repository.
pub fn own() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/traces"))
}

/// The folder of recorded traces; says so where there is none.
pub fn at_hand() -> Option<PathBuf> {
    let folder = folder();
    let there = folder.join("MANIFEST.md").exists();
    if !there {
        println!("skipped: there are no recorded traces at {}; our own are read", folder.display());
    }
    there.then_some(folder)
}

/// Our own traces, and the recorded ones where they are at hand.
pub fn all() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in [Some(own()), at_hand()].into_iter().flatten() {
        files.extend(folder.read_dir().unwrap().map(|entry| entry.unwrap().path()));
    }
    files.retain(|path| path.extension().is_none_or(|ending| ending != "md"));
    files.sort();
    assert!(files.len() >= 15, "only {} traces", files.len());
    files
}

fn opened(path: &Path) -> Result<Input<Box<dyn Read + Send>>, ReadError> {
    Ok(open(path)?)
}

/// A lone clone has these: every framing, schema version and compression.
#[test]
fn own_traces_are_read_whole() {
    let folder = own();
    let list = std::fs::read_to_string(folder.join("MANIFEST.md")).unwrap();
    let rows: Vec<Vec<&str>> =
        list.lines().skip(8).map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect();
    let mut seen = std::collections::BTreeSet::new();
    for row in &rows {
        let [name, framing, schema, events, packets] = row[..] else { panic!("{row:?}") };
        for jobs in [1, 2] {
            let mut sent = 0;
            let options = Options { jobs, ..Options::default() };
            let summary = read(open(&folder.join(name)).unwrap(), &options, &mut |_, batch| {
                sent += batch.events.iter().filter(|event| matches!(event.kind, EventKind::PacketSent(_))).count();
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(summary.framing.name(), framing, "{name}");
            assert_eq!(summary.traces[0].schema_version.name(), schema, "{name}");
            assert_eq!((summary.events.to_string().as_str(), summary.bad_records), (events, 0), "{name}");
            if packets != "–" {
                assert_eq!(sent.to_string(), packets, "{name}");
            }
        }
        seen.insert((framing, schema));
    }
    let files = own().read_dir().unwrap().count();
    assert_eq!(files, rows.len() + 1, "every file is in the list");
    for expected in [
        ("JSON", "prespec"),
        ("JSON", "draft-01"),
        ("JSON", "0.3"),
        ("JSON", "ietf"),
        ("JSON-SEQ", "0.3"),
        ("JSON-SEQ", "ietf"),
        ("NDJSON", "0.3"),
        ("netlog", "netlog"),
    ] {
        assert!(seen.contains(&expected), "no trace of {expected:?}");
    }
}

/// Counts events, and of each recovery metric the values, with nothing of ours.
const COUNT: &str = r#"
import json, re, sys
from collections import Counter
text = open(sys.argv[1], encoding="utf-8-sig").read()
count, metrics = 0, Counter()
infinite = lambda threshold: int(threshold) >= 1 << 62 or int(threshold) == (1 << 32) - 1
def event(e):
    global count
    count += 1
    for part in (e if isinstance(e, list) else [e.get("data")]):
        if isinstance(part, dict):
            metrics.update(k for k in part if k in sys.argv[2:] and not (k == "ssthresh" and infinite(part[k])))
if text.startswith("\x1e"):
    for record in text.split("\x1e")[2:]:
        event(json.loads(record))
else:
    text = re.sub(r",(\s*[\]}])", r"\1", text[text.index("{"):].rstrip().rstrip(";"))
    document = json.loads(text)
    for trace in document.get("traces", document.get("connections")):
        for e in trace["events"]:
            event(e)
print(count, *(f"{k}={v}" for k, v in sorted(metrics.items())))
"#;

const FIELDS: [&str; 10] = [
    "bytes_in_flight",
    "cwnd",
    "congestion_window",
    "latest_rtt",
    "min_rtt",
    "smoothed_rtt",
    "pacing_rate",
    "packets_in_flight",
    "pto_count",
    "ssthresh",
];

fn counted(path: &Path) -> (u64, BTreeMap<String, u64>) {
    let output = Command::new("python3").arg("-c").arg(COUNT).arg(path).args(FIELDS).output().expect("python3 runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut words = text.split_whitespace();
    let events = words.next().unwrap().parse().unwrap();
    let mut metrics = BTreeMap::new();
    for word in words {
        let (name, count) = word.split_once('=').unwrap();
        let name = if name == "congestion_window" { "cwnd" } else { name };
        *metrics.entry(name.to_owned()).or_default() += count.parse::<u64>().unwrap();
    }
    (events, metrics)
}

fn add(metrics: &Metrics, counts: &mut BTreeMap<String, u64>) {
    for (name, there) in [
        ("bytes_in_flight", metrics.bytes_in_flight.is_some()),
        ("cwnd", metrics.cwnd.is_some()),
        ("latest_rtt", metrics.latest_rtt.is_some()),
        ("min_rtt", metrics.min_rtt.is_some()),
        ("smoothed_rtt", metrics.smoothed_rtt.is_some()),
        ("pacing_rate", metrics.pacing_rate.is_some()),
        ("packets_in_flight", metrics.packets_in_flight.is_some()),
        ("pto_count", metrics.pto_count.is_some()),
        ("ssthresh", metrics.ssthresh.is_some()),
    ] {
        if there {
            *counts.entry(name.to_owned()).or_default() += 1;
        }
    }
}

#[test]
fn every_trace_is_read_whole() {
    let Some(folder) = at_hand() else { return };
    let mut files = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // The script counts plain files of whole records.
        if name == "MANIFEST.md" || name.contains("netlog") || name.ends_with(".gz") {
            continue;
        }
        files += 1;
        for jobs in [1, 2] {
            let options = Options { jobs, state_variables: true, ..Options::default() };
            let (summary, metrics) = twice(
                || opened(&path),
                &options,
                |input, options| {
                    let mut metrics = BTreeMap::new();
                    let summary = read(input, options, &mut |_, batch| {
                        for event in &batch.events {
                            if let EventKind::MetricsUpdated(index) = event.kind {
                                add(&batch.metrics[index as usize], &mut metrics);
                            }
                        }
                        Ok(())
                    })?;
                    Ok((summary, metrics))
                },
            )
            .unwrap_or_else(|error| panic!("{name}: {error}"));
            let (events, expected) = counted(&path);
            assert_eq!(summary.events, events, "{name}");
            assert_eq!(summary.bad_records, 0, "{name}");
            assert_eq!(metrics, expected, "{name}");
        }
    }
    assert!(files >= 16, "only {files} traces were found");
}

/// What `MANIFEST.md` says of each file: how many events, and of each metric how many values.
fn listed(folder: &Path) -> Vec<(String, u64, BTreeMap<String, u64>)> {
    let list = std::fs::read_to_string(folder.join("MANIFEST.md")).unwrap();
    let rows = list.lines().filter_map(|line| {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let (name, events, metrics) = (cells.get(1)?, cells.get(6)?.parse().ok()?, cells.get(7)?);
        let metrics = metrics
            .split([' ', ','])
            .filter_map(|word| word.split_once(':'))
            .filter_map(|(name, count)| Some((name.to_owned(), count.parse().ok()?)))
            .collect();
        Some(((*name).to_owned(), events, metrics))
    });
    rows.collect()
}

#[test]
fn what_is_listed_of_a_trace_is_in_it() {
    let Some(folder) = at_hand() else { return };
    let mut checked = 0;
    for (name, events, metrics) in listed(&folder) {
        let path = folder.join(&name);
        if name.contains("netlog") || !path.exists() {
            continue;
        }
        let (summary, found, lost) = twice(
            || opened(&path),
            &Options::default(),
            |input, options| {
                let (mut found, mut lost) = (BTreeMap::new(), 0);
                let is_lost = |event: &&Event| matches!(event.kind, EventKind::PacketLost(_));
                let summary = read(input, options, &mut |_, batch| {
                    batch.metrics.iter().for_each(|metrics| add(metrics, &mut found));
                    lost += batch.events.iter().filter(is_lost).count() as u64;
                    Ok(())
                })?;
                Ok((summary, found, lost))
            },
        )
        .unwrap();
        assert_eq!(summary.events, events, "{name}");
        for (metric, count) in metrics {
            match metric.as_str() {
                // The list counts lower-case names only.
                "lost" => assert!(lost >= count, "{name}: {lost} losses of {count}"),
                "BAD" => {}
                // Values that stand for infinity are none.
                "ssthresh" => assert!(found.get("ssthresh").is_some_and(|found| *found <= count), "{name}"),
                metric => {
                    let metric = if metric == "congestion_window" { "cwnd" } else { metric };
                    assert!(found.get(metric).is_some_and(|found| *found >= count), "{name}: {metric}: {found:?}");
                    checked += 1;
                }
            }
        }
    }
    assert!(checked >= 40, "only {checked} metrics were compared");
}

/// Counts packets of the sessions of a network log, with nothing of ours.
const COUNT_NETLOG: &str = r#"
import json, sys
log = json.load(open(sys.argv[1]))
names = {v: k for k, v in log["constants"]["logEventTypes"].items()}
session = log["constants"]["logSourceType"]["QUIC_SESSION"]
events = [e for e in log["events"] if e["source"]["type"] == session]
count = lambda name: sum(names[e["type"]] == "QUIC_SESSION_" + name for e in events)
data = sum(e["params"]["length"] for e in events if names[e["type"]] == "QUIC_SESSION_STREAM_FRAME_SENT")
print(count("PACKET_SENT"), count("PACKET_LOST"), count("UNAUTHENTICATED_PACKET_HEADER_RECEIVED"),
      count("ACK_FRAME_RECEIVED"), data)
"#;

#[test]
fn a_network_log_is_read_whole() {
    let Some(folder) = at_hand() else { return };
    let path = folder.join("chromium156-sample-small.netlog.json");
    let mut counts = [0_u64; 5];
    let summary = read(open(&path).unwrap(), &Options::default(), &mut |_, batch| {
        for event in &batch.events {
            match event.kind {
                EventKind::PacketSent(index) => {
                    counts[0] += 1;
                    let packet = &batch.packets[index as usize];
                    counts[4] += batch.streams_of(packet).iter().map(|frame| frame.length).sum::<u64>();
                }
                EventKind::PacketLost(_) => counts[1] += 1,
                EventKind::PacketReceived(index) => {
                    counts[2] += 1;
                    counts[3] += u64::from(batch.packets[index as usize].acks);
                }
                _ => {}
            }
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(summary.bad_records, 0);
    assert_eq!(summary.traces[0].controller, "CUBIC_BYTES");
    let output = Command::new("python3").arg("-c").arg(COUNT_NETLOG).arg(&path).output().expect("python3 runs");
    let expected: Vec<u64> =
        String::from_utf8(output.stdout).unwrap().split_whitespace().map(|word| word.parse().unwrap()).collect();
    assert_eq!(counts.to_vec(), expected);
}

/// The sample with what Chromium itself counted of a session. The sample has none, for its
/// session was closed when the log ended; with it, the check has something to hold.
fn polled(packets: [u64; 3], id: &str) -> Option<Vec<windlass_qlog_analysis::read::Check>> {
    let text = std::fs::read_to_string(at_hand()?.join("chromium156-sample-small.netlog.json")).unwrap();
    let (before, after) = text.rsplit_once("\"polledData\":").unwrap();
    let rest = after.trim_start().strip_prefix("[]").expect("no totals in the sample");
    let [sent, received, lost] = packets;
    let totals = format!(
        r#"{{"quicInfo":{{"sessions":[{{"connection_id":"{id}","packets_sent":{sent},"packets_received":{received},"packets_lost":{lost}}}]}}}}"#
    );
    let log = format!("{before}\"polledData\":{totals}{rest}");
    let summary = read(log.as_bytes(), &Options::default(), &mut |_, _| Ok(())).unwrap();
    Some(summary.checks)
}

#[test]
fn totals_that_chromium_counted_are_held_against_its_events() {
    // The 350th packet closes the session, and was sent after the totals were logged.
    let Some(checks) = polled([349, 103, 7], "51e443a76f01f66d") else { return };
    assert_eq!(checks.len(), 3);
    assert!(checks.iter().all(|check| check.agrees()), "{checks:?}");
    let checks = polled([351, 103, 9], "51e443a76f01f66d").unwrap();
    let wrong: Vec<_> = checks
        .iter()
        .filter(|check| !check.agrees())
        .map(|check| (check.counter, check.counted, check.reported))
        .collect();
    assert_eq!(wrong, [("packets_sent", Some(349), 351), ("packets_lost", Some(7), 9)]);
    let unknown = polled([1, 1, 1], "0123").unwrap();
    assert!(unknown.iter().all(|check| check.counted.is_none()), "{unknown:?}");
}
