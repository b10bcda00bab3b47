//! Seeds of each reader, from the project's own writers: nothing here is a recorded trace.

use std::io::Write;

use windlass_adapter::qlog::Level;
use windlass_qlog::{Detail, Profile};
use windlass_simulator::scenario::BUILTIN;
use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim::{QlogSettings, Simulation};

/// Bytes of a trace that a seed begins and ends with, about.
const PIECE: usize = 6_000;

const SCENE: &str = r#"
duration_s = 1.5
[dumbbell]
rate_mbps = 2
rtt_ms = 30
buffer_packets = 12
queue = { kind = "red", min_th_packets = 4, max_th_packets = 9 }
[[flow]]
controller = "under-test"
ecn = true
"#;

/// A flow of the simulator as our writer writes it.
fn trace(controller: &str, profile: Profile, level: Level) -> String {
    let scenario = Scenario::read("seed", SCENE, Some(controller)).expect("a sound scenario");
    let mut simulation = Simulation::new(&scenario).expect("a sound scenario");
    let trace = simulation.qlog(0, Vec::new(), QlogSettings { profile, detail: Detail::Packets, level });
    let _ = simulation.finish();
    let bytes = trace.finish().expect("memory takes all").expect("nobody else has it");
    String::from_utf8(bytes).expect("JSON is UTF-8")
}

/// The records of a trace: all of its beginning, and as much of its middle.
fn records(text: &str) -> Vec<&str> {
    let all: Vec<&str> = text.split('\u{1e}').map(str::trim_end).filter(|record| !record.is_empty()).collect();
    let mut kept = Vec::new();
    for from in [0, all.len() / 2] {
        let mut bytes = 0;
        for record in &all[from..] {
            bytes += record.len();
            if bytes > PIECE {
                break;
            }
            kept.push(*record);
        }
    }
    kept
}

fn sequence(text: &str) -> Vec<u8> {
    records(text).iter().map(|record| format!("\u{1e}{record}\n")).collect::<String>().into_bytes()
}

fn lines(text: &str) -> Vec<u8> {
    records(text).iter().map(|record| format!("{record}\n")).collect::<String>().into_bytes()
}

/// The same events in one document, its header as the drafts before the IETF era have it.
fn contained(text: &str) -> Vec<u8> {
    let events = records(text)[1..].join(",");
    let document = format!(
        "{{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON\",\"traces\":[{{\"vantage_point\":{{\"type\":\"server\"}},\
         \"common_fields\":{{\"time_format\":\"relative\",\"reference_time\":0}},\"events\":[{events}]}}]}}"
    );
    document.into_bytes()
}

/// The same events as arrays, as in drafts before 02.
fn arrays() -> Vec<u8> {
    let mut events = String::new();
    for number in 0..40_u32 {
        let time = number * 1500;
        events.push_str(&format!(
            "[{time},\"transport\",\"packet_sent\",{{\"packet_type\":\"1RTT\",\"header\":{{\"packet_number\":\"{number}\",\
             \"packet_size\":1200}},\"frames\":[{{\"frame_type\":\"stream\",\"stream_id\":\"0\",\"offset\":\"{}\",\
             \"length\":\"1160\"}}]}}],[{},\"transport\",\"packet_received\",{{\"packet_type\":\"1RTT\",\"header\":\
             {{\"packet_number\":\"{number}\"}},\"frames\":[{{\"frame_type\":\"ack\",\"ack_delay\":\"12\",\
             \"acked_ranges\":[[\"0\",\"{number}\"]],\"ect0\":\"1\",\"ce\":\"{}\"}}]}}],[{},\"recovery\",\
             \"metrics_updated\",{{\"cwnd\":{},\"bytes_in_flight\":1200,\"latest_rtt\":1000}}],",
            number * 1160,
            time + 1000,
            number / 9,
            time + 1001,
            12_000 + number * 40
        ));
    }
    events.push_str("[61000,\"recovery\",\"packet_lost\",\"time_threshold\",{\"packet_number\":\"39\"}]");
    format!(
        "{{\"qlog_version\":\"draft-01\",\"traces\":[{{\"configuration\":{{\"time_units\":\"us\"}},\"event_fields\":\
         [\"relative_time\",\"category\",\"event\",\"data\"],\"events\":[{events}]}}]}}"
    )
    .into_bytes()
}

/// Events under the names of the fuzz target's constants.
fn netlog() -> Vec<u8> {
    let event = |time: u32, kind: u32, params: &str| {
        format!("{{\"time\":\"{time}\",\"type\":{kind},\"source\":{{\"id\":7,\"type\":1}},\"params\":{params}}}")
    };
    let mut events = vec![event(1000, 10, "{\"congestion_control_type\":\"CUBIC_BYTES\"}")];
    for number in 1..30 {
        let time = 1000 + number * 5;
        let stream = format!("{{\"stream_id\":4,\"offset\":{},\"length\":1200,\"fin\":false}}", number * 1200);
        events.push(event(time, 8, &stream));
        let sent = format!(
            "{{\"packet_number\":{number},\"size\":1250,\"sent_time_us\":{},\"encryption_level\":\"ENCRYPTION_FORWARD_SECURE\",\
             \"transmission_type\":\"NOT_RETRANSMISSION\"}}",
            u64::from(time) * 1000
        );
        events.push(event(time, 2, &sent));
        events.push(event(time + 3, 4, "{\"size\":42}"));
        events.push(event(time + 3, 5, &format!("{{\"packet_number\":{number}}}")));
        let ack = format!(
            "{{\"largest_observed\":{number},\"smallest_observed\":1,\"delta_time_largest_observed_us\":25,\
             \"missing_packets\":[3],\"received_packet_times\":[]}}"
        );
        events.push(event(time + 3, 7, &ack));
    }
    events.push(event(1300, 3, "{\"packet_number\":3,\"detection_time_us\":1300000,\"transmission_type\":\"x\"}"));
    format!("{}]}}", events.join(",\n")).into_bytes()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory takes all");
    encoder.finish().expect("memory takes all")
}

fn config() -> Vec<Vec<u8>> {
    [
        "controller = \"cubic\"\n",
        "controller = \"tcp-k:k=4\"\nrecord = { dir = \"qlog\", level = \"steps\" }\n\
         [[for]]\nto = \"10.0.0.0/8\"\ncontroller = \"ledbat\"\n[[for]]\nto = \"*.example.net\"\ncontroller = \"a-tcp-p\"\ngroup = \"peer\"\n",
        "controller = \"reno:iw=0\"\nunknown = [1, 2.5, true, 1979-05-27]\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

/// The seeds of the reader called `name`.
pub fn seeds(name: &str) -> Vec<Vec<u8>> {
    let plain = || trace("cubic", Profile::Ietf, Level::Recovery);
    let old = || trace("dctcp", Profile::Qvis, Level::Recovery);
    let steps = || trace("bbr", Profile::Ietf, Level::Steps);
    let grouped = || trace("tcp-p", Profile::Ietf, Level::Steps);
    match name {
        "contained" => vec![contained(&plain()), contained(&old()), arrays()],
        "sequence" => vec![sequence(&plain()), sequence(&old()), sequence(&steps())],
        "lines" => vec![lines(&plain()), lines(&old())],
        "netlog" => vec![netlog()],
        "compressed" => {
            let bytes = sequence(&plain());
            let zstd = zstd::stream::encode_all(bytes.as_slice(), 1).expect("memory takes all");
            vec![gzip(&bytes), zstd, [gzip(&bytes), gzip(b"\n")].concat()]
        }
        "lint" => vec![sequence(&plain()), sequence(&old()), contained(&old()), arrays(), lines(&plain())],
        "recorded" => vec![sequence(&steps()), sequence(&grouped()), lines(&steps())],
        "replay" => vec![sequence(&plain()), contained(&old()), arrays()],
        "scenario" => BUILTIN.iter().map(|scenario| scenario.text.as_bytes().to_vec()).collect(),
        "config" => config(),
        "convert" => vec![sequence(&plain()), sequence(&old()), contained(&old()), arrays(), netlog()],
        "report" => vec![sequence(&plain()), contained(&old()), netlog()],
        "comparison" => vec![[sequence(&plain()), b"\x1e".to_vec(), sequence(&steps())].concat(), contained(&old())],
        "frames" => frames(),
        "controller" => controllers(),
        name if name.ends_with("_calls") => {
            (0..8).map(|seed| windlass_adapter_testkit::calls::bytes_of(seed, 64 << (seed % 4))).collect()
        }
        _ => Vec::new(),
    }
}

/// Packets' payloads (`RFC 9000 §19`): an ACK with counts, a crypto and a stream frame, a close; a datagram
/// and padding; the other frames one after the other.
fn frames() -> Vec<Vec<u8>> {
    let acks = [&[3, 0x40, 90, 25, 2, 4, 1, 3, 0, 9, 40, 0, 2][..], &[6, 0, 3, 1, 2, 3, 0x0a, 4, 2, 7, 7]].concat();
    let others = [&[4, 0, 1, 2, 5, 0, 1, 0x10, 0x41, 0, 0x11, 4, 9, 0x12, 1, 0x14, 1, 0x15, 4, 1, 0x19, 0, 0x1e][..]];
    let close = [&[1, 0x30][..], &[9; 20], &[0x1c, 1, 6, 2, 8, 8]].concat();
    let padded = [&[1][..], &[0; 1100]].concat();
    vec![acks, others.concat(), close, padded]
}

/// Controllers as users type them: each, and each with its document's values.
fn controllers() -> Vec<Vec<u8>> {
    let all = windlass_controllers::Algorithm::ALL.iter();
    all.flat_map(|entry| [entry.name.to_owned(), format!("{}:profile=paper,iw=3", entry.name)].map(String::into_bytes))
        .collect()
}
