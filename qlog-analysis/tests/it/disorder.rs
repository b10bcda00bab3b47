//! Files in disorder: reference traces with members permuted, cut, appended, torn, with another clock, encoding or
//! unit, or on other paths. The measures are the same, or a doubt is reported, or the file is refused; other numbers
//! without a doubt are a failure.
//!
//! `WINDLASS_DISORDER=N` tries N files instead of 500 and prints the table of `docs/disorder.md`.

use std::collections::BTreeMap;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Map, Value, json};
use windlass_qlog_analysis::metrics::Measured;

use crate::reference;

/// A sequence of numbers from a seed (xorshift64*).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() >> 33) as usize % end.max(1)
    }
}

/// A trace as records with the header first.
#[derive(Clone)]
struct Trace {
    name: String,
    records: Vec<Value>,
}

/// Framing of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Framing {
    Sequence,
    Lines,
    Document,
}

/// Traces of the simulator and of quinn, and the transfer of the other tests.
fn references() -> Vec<Trace> {
    let mut all = vec![("transfer".to_owned(), String::from_utf8(reference::plain("aa")).unwrap())];
    for name in ["ietf-simulator.sqlog", "ietf-quinn.sqlog", "03-quinn.sqlog", "03-quinn-lines.qlog"] {
        let text = std::fs::read_to_string(crate::read_recorded::own().join(name)).unwrap();
        all.push((name.to_owned(), text));
    }
    let records = |text: &str| {
        let lines = text.lines().map(|line| line.trim_start_matches('\u{1e}')).filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    let mut traces: Vec<Trace> = all.into_iter().map(|(name, text)| Trace { name, records: records(&text) }).collect();
    for trace in &mut traces {
        // A header on two lines becomes one, so that it fits into a document.
        if trace.records[1].get("time").is_none() {
            let about = trace.records.remove(1);
            trace.records[0]["trace"] = about;
        }
    }
    traces
}

/// An object with its members in another order, all the way down.
fn permuted(value: &Value, random: &mut Random, out: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut keys: Vec<&String> = fields.keys().collect();
            for last in (1..keys.len()).rev() {
                keys.swap(last, random.below(last + 1));
            }
            out.push('{');
            for (index, key) in keys.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                permuted(&fields[*key], random, out);
            }
            out.push('}');
        }
        Value::Array(elements) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                permuted(element, random, out);
            }
            out.push(']');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

/// The document that holds a trace.
fn document(trace: &Trace) -> Value {
    let mut top: Map<String, Value> = trace.records[0].as_object().unwrap().clone();
    let mut inner = top.remove("trace").unwrap_or_else(|| json!({}));
    inner["events"] = trace.records[1..].into();
    top.insert("traces".to_owned(), json!([inner]));
    Value::Object(top)
}

fn written(trace: &Trace, framing: Framing, mut value: impl FnMut(&Value) -> String) -> Vec<u8> {
    match framing {
        Framing::Document => value(&document(trace)).into_bytes(),
        Framing::Lines => trace.records.iter().map(|record| value(record) + "\n").collect::<String>().into_bytes(),
        Framing::Sequence => {
            trace.records.iter().map(|record| format!("\u{1e}{}\n", value(record))).collect::<String>().into_bytes()
        }
    }
}

fn as_it_is(trace: &Trace, framing: Framing) -> Vec<u8> {
    written(trace, framing, Value::to_string)
}

/// What is done to a trace, and the files that must give the same numbers: none where only a doubt will do.
struct Disorder {
    bytes: Vec<u8>,
    same_as: Option<Vec<u8>>,
    /// Measures that are others by right.
    but: &'static [&'static str],
}

const KINDS: [&str; 14] = [
    "members permuted",
    "cut at a byte",
    "gzip cut at a byte",
    "appended to another",
    "torn by two writers",
    "clock shifted",
    "clock set back",
    "clock set forward",
    "UTF-16",
    "BOM, CRLF",
    "gzip in members",
    "units changed and said",
    "on another path",
    "split into paths",
];

/// How stacks say which path a packet is on, and what is acknowledged there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Paths {
    /// `path_id` in headers, `path` as a text on events, `path_ack`: picoquic.
    PathAck,
    /// `path` as a number on events, `ack_mp`: xquic.
    AckMp,
    /// `path_id` in headers and metrics, `tuple` on packets, nothing on losses, half-open ranges in `path_ack`: noq.
    Tuple,
}

/// Packets of one direction and number space, dealt out to two paths.
#[derive(Default)]
struct Dealt {
    /// The path of each packet and its number there.
    packets: Vec<(u64, u64)>,
    next: [u64; 2],
}

impl Dealt {
    fn of(&mut self, number: u64, random: &mut Random) -> (u64, u64) {
        while self.packets.len() as u64 <= number {
            // The first packets are those of the path that the connection begins on.
            let path = if self.packets.len() < 3 { 0 } else { random.below(2) };
            self.packets.push((path as u64, self.next[path]));
            self.next[path] += 1;
        }
        self.packets[number as usize]
    }

    /// The ranges of each path in those of an ACK frame.
    fn ranges(&mut self, frame: &Value, half_open: bool, random: &mut Random) -> [Vec<Value>; 2] {
        let mut numbers: [Vec<u64>; 2] = Default::default();
        for range in frame["acked_ranges"].as_array().into_iter().flatten() {
            let ends = range.as_array().unwrap();
            for number in ends[0].as_u64().unwrap()..=ends[ends.len() - 1].as_u64().unwrap() {
                let (path, number) = self.of(number, random);
                numbers[path as usize].push(number);
            }
        }
        numbers.map(|mut numbers| {
            numbers.sort_unstable();
            let runs = numbers.chunk_by(|one, next| *next == one + 1);
            runs.map(|run| json!([run[0], run[run.len() - 1] + u64::from(half_open)])).collect()
        })
    }
}

/// The trace with its 1-RTT packets on two paths, each with numbers of its own; losses and ACKs are about those. What
/// is about the whole connection stays with the first.
fn split(trace: &Trace, writing: Paths, random: &mut Random) -> Trace {
    let mut split = trace.clone();
    let (mut sent, mut received) = (Dealt::default(), Dealt::default());
    for record in split.records.iter_mut().skip(1) {
        let kind = record["name"].as_str().unwrap().rsplit(':').next().unwrap().to_owned();
        let mut on = 0;
        if record["data"]["header"]["packet_type"] != "1RTT" && writing == Paths::Tuple {
            let frames = record["data"].get_mut("frames").and_then(Value::as_array_mut);
            for range in frames.into_iter().flatten().filter_map(|frame| frame.get_mut("acked_ranges")) {
                range.as_array_mut().unwrap().iter_mut().for_each(opened);
            }
        }
        if record["data"]["header"]["packet_type"] == "1RTT" {
            let (own, other) =
                if kind == "packet_received" { (&mut received, &mut sent) } else { (&mut sent, &mut received) };
            let number = record["data"]["header"]["packet_number"].as_u64().unwrap();
            let (path, number) = own.of(number, random);
            on = path;
            record["data"]["header"]["packet_number"] = number.into();
            let Some(Value::Array(frames)) = record["data"].get_mut("frames") else {
                label(record, &kind, on, writing);
                continue;
            };
            let of_paths = frames.drain(..).flat_map(|frame| {
                if frame["frame_type"] != "ack" {
                    return vec![frame];
                }
                let ranges = other.ranges(&frame, writing == Paths::Tuple, random);
                let acks = ranges.into_iter().zip(0..).filter(|(ranges, _)| !ranges.is_empty());
                let kind = if writing == Paths::AckMp { "ack_mp" } else { "path_ack" };
                acks.map(|(ranges, path): (_, u64)| {
                    let mut ack = frame.clone();
                    ack["frame_type"] = kind.into();
                    ack["path_id"] = path.into();
                    ack["acked_ranges"] = ranges.into();
                    ack
                })
                .collect()
            });
            *frames = of_paths.collect::<Vec<_>>();
        }
        label(record, &kind, on, writing);
    }
    split
}

/// A range of an ACK frame in half-open form.
fn opened(range: &mut Value) {
    let ends = range.as_array().unwrap();
    *range = json!([ends[0], ends[ends.len() - 1].as_u64().unwrap() + 1]);
}

/// The trace with a handshake before it, each of whose packets is acknowledged as the newest.
fn with_handshake(trace: &Trace) -> Trace {
    let mut begun = trace.clone();
    let mut at = 1;
    for (kind, number) in [("initial", 0), ("initial", 1), ("handshake", 0)] {
        let header = json!({"packet_type": kind, "packet_number": number});
        let crypto = json!({"frame_type": "crypto", "offset": 0, "length": 200});
        let ack = json!({"frame_type": "ack", "ack_delay": 0, "acked_ranges": [[0, number]]});
        for (name, frame) in [("packet_sent", crypto), ("packet_received", ack)] {
            let data = json!({"header": header, "raw": {"length": 1200}, "frames": [frame]});
            let event = json!({"time": trace.records[1]["time"], "name": format!("quic:{name}"), "data": data});
            begun.records.insert(at, event);
            at += 1;
        }
    }
    begun
}

/// Says that an event is about `path`.
fn label(record: &mut Value, kind: &str, path: u64, writing: Paths) {
    let packet = kind.starts_with("packet_");
    let metrics = kind.ends_with("metrics_updated");
    match writing {
        Paths::PathAck if packet || metrics => {
            record["path"] = path.to_string().into();
            if packet {
                record["data"]["header"]["path_id"] = path.into();
            }
        }
        Paths::AckMp if packet || metrics => record["path"] = path.into(),
        Paths::Tuple if kind == "packet_lost" => {}
        Paths::Tuple if packet => {
            record["tuple"] = format!("p{path}").into();
            record["data"]["header"]["path_id"] = path.into();
        }
        Paths::Tuple if metrics => record["data"]["path_id"] = path.into(),
        _ => {}
    }
}

fn disorder(kind: &str, trace: &Trace, other: &Trace, framing: Framing, random: &mut Random) -> Disorder {
    let plain = as_it_is(trace, framing);
    let same = |bytes: Vec<u8>| Disorder { bytes, same_as: Some(as_it_is(trace, framing)), but: &[] };
    let gzip = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let with_times = |change: &dyn Fn(usize, f64) -> f64| {
        let mut trace = trace.clone();
        for (index, record) in trace.records.iter_mut().enumerate().skip(1) {
            let time = record["time"].as_f64().unwrap();
            record["time"] = change(index, time).into();
        }
        as_it_is(&trace, framing)
    };
    match kind {
        "members permuted" => same(written(trace, framing, |value| {
            let mut text = String::new();
            permuted(value, random, &mut text);
            text
        })),
        "cut at a byte" => {
            let bytes = plain[..random.below(plain.len())].to_vec();
            // Of records, those that are whole are a trace of their own.
            let whole = bytes.iter().rposition(|byte| *byte == b'\n').map(|end| bytes[..=end].to_vec());
            // The newline may be all that is missing.
            let complete = plain[bytes.len()] == b'\n';
            let same_as = if complete { Some([&bytes[..], b"\n"].concat()) } else { whole };
            Disorder { bytes, same_as: same_as.filter(|_| framing != Framing::Document), but: &[] }
        }
        "gzip cut at a byte" => {
            let bytes = gzip(&plain);
            Disorder { bytes: bytes[..random.below(bytes.len())].to_vec(), same_as: None, but: &[] }
        }
        "appended to another" => same([as_it_is(other, framing), plain].concat()),
        "torn by two writers" => {
            let (mut bytes, mut rest) = (Vec::new(), [plain, as_it_is(other, framing)]);
            while rest.iter().any(|left| !left.is_empty()) {
                for left in &mut rest {
                    let length = (1 + random.below(600)).min(left.len());
                    bytes.extend(left.drain(..length));
                }
            }
            Disorder { bytes, same_as: None, but: &[] }
        }
        "clock shifted" => {
            let shift = random.below(7_200_000) as f64;
            same(with_times(&|_, time| time + shift))
        }
        "clock set back" | "clock set forward" => {
            let at = 2 + random.below(trace.records.len() - 3);
            let by = 1000.0 * (1200 + random.below(100_000)) as f64 + random.below(1000) as f64;
            let by = if kind == "clock set back" { -by } else { by };
            same(with_times(&|index, time| 2e8 + time + if index >= at { by } else { 0.0 }))
        }
        "UTF-16" => {
            let little = random.below(2) == 0;
            let text = format!("\u{feff}{}", String::from_utf8(plain).unwrap());
            let units = text.encode_utf16();
            same(units.flat_map(|unit| if little { unit.to_le_bytes() } else { unit.to_be_bytes() }).collect())
        }
        "BOM, CRLF" => {
            let text = String::from_utf8(plain).unwrap().replace('\n', "\r\n");
            same(format!("\u{feff}{text}").into_bytes())
        }
        "gzip in members" => {
            let at = random.below(plain.len());
            same([gzip(&plain[..at]), gzip(&plain[at..])].concat())
        }
        "units changed and said" => {
            let mut before = 0.0;
            let mut changed = trace.clone();
            let about = &mut changed.records[0]["trace"];
            if random.below(2) == 0 {
                about["configuration"] = json!({"time_units": "us"});
                changed.records.iter_mut().skip(1).for_each(|record| {
                    micros(record);
                    let time = record["time"].as_f64().unwrap();
                    record["time"] = (time * 1000.0).into();
                });
            } else {
                about["common_fields"]["time_format"] = "delta".into();
                changed.records.iter_mut().skip(1).for_each(|record| {
                    let time = record["time"].as_f64().unwrap();
                    record["time"] = (time - before).into();
                    before = time;
                });
            }
            same(as_it_is(&changed, framing))
        }
        "on another path" => {
            let path = 1 + random.below(5);
            let mut changed = trace.clone();
            changed.records.iter_mut().skip(1).for_each(|record| record["path"] = path.into());
            same(as_it_is(&changed, framing))
        }
        "split into paths" => {
            let writing = [Paths::PathAck, Paths::AckMp, Paths::Tuple][random.below(3)];
            // A handshake shows how ranges are written.
            let begun = if writing == Paths::Tuple { with_handshake(trace) } else { trace.clone() };
            let bytes = as_it_is(&split(&begun, writing, random), framing);
            // Each path has a least RTT of its own, above which there is queueing; and before the first logged loss, losses
            // are inferred path by path.
            let but: &[&str] = if trace.name == "transfer" { &["queueing", "in_flight"] } else { &["queueing"] };
            Disorder { bytes, same_as: Some(as_it_is(&begun, framing)), but }
        }
        other => panic!("{other}"),
    }
}

/// Writes the delays of an event in microseconds.
fn micros(value: &mut Value) {
    const DELAYS: [&str; 5] = ["latest_rtt", "min_rtt", "smoothed_rtt", "rtt_variance", "ack_delay"];
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value.as_f64().filter(|_| DELAYS.contains(&key.as_str())) {
                    Some(ms) => *value = (ms * 1000.0).into(),
                    None => micros(value),
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(micros),
        _ => {}
    }
}

/// Whether two values are the same but for the last digits of fractions.
fn alike(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len() && one.iter().all(|(key, value)| other.get(key).is_some_and(|it| alike(value, it)))
        }
        (Value::Number(one), Value::Number(other)) => {
            let (one, other) = (one.as_f64().unwrap(), other.as_f64().unwrap());
            (one - other).abs() <= 1e-6 + 1e-6 * one.abs().max(other.abs())
        }
        (one, other) => one == other,
    }
}

fn measures(one: &Measured) -> Value {
    serde_json::to_value(&one.measures).unwrap()
}

/// Result of reading a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Outcome {
    Same,
    Warned,
    Silent,
}

/// Result of reading a file, and which measures are not the same.
fn outcome(disorder: &Disorder) -> (Outcome, Vec<String>) {
    let Ok((summary, found)) = reference::measured(&disorder.bytes) else { return (Outcome::Warned, Vec::new()) };
    // The trace that was changed is the last one of its file.
    let expected = disorder.same_as.as_ref().and_then(|bytes| reference::measured(bytes).ok());
    let Some((_, expected)) = expected else {
        let silent = summary.doubts().is_empty();
        return (if silent { Outcome::Silent } else { Outcome::Warned }, vec!["all".to_owned()]);
    };
    let [one, other] = [expected.last(), found.last()].map(|one| one.map_or(Value::Null, measures));
    let keys = one.as_object().into_iter().flatten().map(|(key, _)| key);
    let differs = |key: &&String| !disorder.but.contains(&key.as_str()) && !alike(&one[*key], &other[*key]);
    let others: Vec<String> =
        keys.filter(differs).map(|key| format!("{key}: {}, not {}", other[key], one[key])).collect();
    let outcome = match (others.is_empty() && one.is_null() == other.is_null(), summary.doubts().is_empty()) {
        (true, _) => Outcome::Same,
        (false, false) => Outcome::Warned,
        (false, true) => Outcome::Silent,
    };
    (outcome, others)
}

#[test]
fn no_disorder_gives_other_numbers_in_silence() {
    let files = std::env::var("WINDLASS_DISORDER").ok().map(|text| text.parse().expect("a number of files"));
    let references = references();
    let mut table: BTreeMap<&str, [u64; 3]> = BTreeMap::new();
    let mut wrong = Vec::new();
    for index in 0..files.unwrap_or(500_usize) {
        let kind = KINDS[index % KINDS.len()];
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (index as u64 + 1) << 8);
        let (one, other) = (random.below(references.len()), random.below(references.len()));
        let framing = [Framing::Sequence, Framing::Lines, Framing::Document][random.below(3)];
        let disorder = disorder(kind, &references[one], &references[other], framing, &mut random);
        let (outcome, others) = outcome(&disorder);
        table.entry(kind).or_default()[outcome as usize] += 1;
        if outcome == Outcome::Silent {
            wrong.push(format!("file {index}: {kind}, {framing:?}, {}: {others:?}", references[one].name));
        }
    }
    if files.is_some() {
        println!("| disorder | files | same | warned | silent |\n|---|---|---|---|---|");
        for kind in KINDS {
            let [same, warned, silent] = table.get(kind).copied().unwrap_or_default();
            println!("| {kind} | {} | {same} | {warned} | {silent} |", same + warned + silent);
        }
    }
    assert!(wrong.is_empty(), "{} files are silent: {:#?}", wrong.len(), &wrong[..wrong.len().min(20)]);
    // What only changes the way of writing changes no number.
    for kind in ["members permuted", "clock shifted", "BOM, CRLF", "gzip in members", "on another path"] {
        let [same, warned, _] = table[kind];
        assert!(same > 0 && warned == 0, "{kind}: {same} the same, {warned} warned");
    }
}
