//! A small transfer, written as traces of several forms: 17 packets of which three are lost, over 64.1 ms.

use serde_json::{Value, json};
use windlass_qlog_analysis::metrics::{Measured, measure};
use windlass_qlog_analysis::read::{Input, Options, ReadError, Summary, twice};

/// An event of the transfer; `time` in ms.
#[derive(Clone, PartialEq, Debug)]
pub struct LoggedEvent {
    pub time: f64,
    pub name: &'static str,
    pub data: Value,
}

/// The header's schema and the trace's fields.
pub const VERSION: &str = "0.3";

/// A packet each 2 ms, an ACK 20 ms after each; of packets 5, 6 and 9 the data are sent again.
pub fn transfer() -> Vec<LoggedEvent> {
    let mut all = Vec::new();
    let mut add = |time: f64, name: &'static str, data: Value| all.push(LoggedEvent { time, name, data });
    let sent = |number: u64, piece: u64| {
        json!({"header": {"packet_type": "1RTT", "packet_number": number}, "raw": {"length": 1200},
            "frames": [{"frame_type": "stream", "stream_id": 0, "offset": piece * 1150, "length": 1150}]})
    };
    for number in 0..14 {
        add(2.0 * number as f64, "transport:packet_sent", sent(number, number));
    }
    for (number, piece, time) in [(14, 5, 36.1), (15, 6, 38.1), (16, 9, 44.1)] {
        add(time - 0.05, "recovery:packet_lost", json!({"header": {"packet_type": "1RTT", "packet_number": piece}}));
        add(time, "transport:packet_sent", sent(number, piece));
    }
    let acked = [0, 1, 2, 3, 4, 7, 8, 10, 11, 12, 13, 14, 15, 16];
    let times = [20.0, 22.0, 24.0, 26.0, 28.0, 34.0, 36.0, 40.0, 42.0, 44.0, 46.0, 56.1, 58.1, 64.1];
    let mut cwnd = 12_000;
    for (index, (number, time)) in acked.into_iter().zip(times).enumerate() {
        let mut ranges: Vec<[u64; 2]> = Vec::new();
        for &one in acked.iter().filter(|&&one| one <= number) {
            match ranges.first_mut() {
                Some(range) if range[1] + 1 == one => range[1] = one,
                _ => ranges.insert(0, [one, one]),
            }
        }
        let ack = json!({"header": {"packet_type": "1RTT", "packet_number": index}, "raw": {"length": 40},
            "frames": [{"frame_type": "ack", "ack_delay": 0, "acked_ranges": ranges}]});
        add(time, "transport:packet_received", ack);
        cwnd = if index == 7 { 11_400 } else { cwnd + 1200 };
        let metrics = json!({"cwnd": cwnd, "latest_rtt": 20.0, "min_rtt": 20.0, "smoothed_rtt": 20.0});
        add(time, "recovery:metrics_updated", metrics);
    }
    all.sort_by(|one, other| one.time.total_cmp(&other.time));
    all
}

/// An event as an object.
pub fn object(logged: &LoggedEvent) -> Value {
    json!({"time": logged.time, "name": logged.name, "data": logged.data})
}

/// A JSON text sequence whose trace has these fields.
pub fn sequence(trace: &Value, events: &[Value]) -> Vec<u8> {
    let header = json!({"qlog_version": VERSION, "qlog_format": "JSON-SEQ", "trace": trace});
    let records = std::iter::once(&header).chain(events);
    records.map(|record| format!("\u{1e}{record}\n")).collect::<String>().into_bytes()
}

/// The fields of a trace seen at the sender, of a connection.
pub fn trace(connection: &str) -> Value {
    json!({"vantage_point": {"type": "server"},
        "common_fields": {"time_format": "relative", "reference_time": 0, "ODCID": connection}})
}

/// The transfer as a JSON text sequence.
pub fn plain(connection: &str) -> Vec<u8> {
    sequence(&trace(connection), &transfer().iter().map(object).collect::<Vec<_>>())
}

/// The commands' measures of a file.
pub fn measured(bytes: &[u8]) -> Result<(Summary, Vec<Measured>), ReadError> {
    let options = Options { jobs: 1, ..Options::default() };
    twice(|| Input::new(bytes).map_err(ReadError::from), &options, measure)
}

/// The one connection of a file, and what is doubtful about it.
pub fn one(bytes: &[u8]) -> (Measured, Vec<String>) {
    let (summary, mut found) = measured(bytes).unwrap();
    assert_eq!(found.len(), 1, "{:?}", found.iter().map(|one| &one.group).collect::<Vec<_>>());
    (found.remove(0), summary.doubts())
}

/// That `got` is `expected` to so many decimals.
#[track_caller]
pub fn assert_near(got: Option<f64>, expected: f64, decimals: i32) {
    let got = got.expect("a value");
    assert!((got - expected).abs() <= 0.5 * 10_f64.powi(-decimals), "{got}, expected {expected}");
}
