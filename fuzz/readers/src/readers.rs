//! Every reader on any bytes at all. None may panic, hang or take more memory than its
//! input warrants; what it returns is of no interest.
//!
//! The fuzz targets run these, and so do the plain tests on the seeds and on what fuzzing
//! found (`fuzz/readers/tests/it/main.rs`).

use std::io::Read;

use windlass_adapter::Frames;
use windlass_adapter::config::Config;
use windlass_adapter::replay::replay;
use windlass_controllers::Algorithm;
use windlass_qlog_analysis::convert::{ConvertError, OutputFraming, Source, Target, convert as converted, count};
use windlass_qlog_analysis::lint::{Profile, lint};
use windlass_qlog_analysis::metrics::measure;
use windlass_qlog_analysis::read::{Input, Options};

/// Decompressed bytes that are read at most, for a bomb is no mistake of a reader.
const MOST: u64 = 1 << 22;

/// A header that makes records on lines of what follows it.
pub const LINES: &str = "{\"qlog_version\":\"0.3\",\"qlog_format\":\"NDJSON\",\"trace\":{}}\n";

/// A header that makes a JSON text sequence of what follows it.
pub const SEQUENCE: &str = "\u{1e}{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON-SEQ\",\"trace\":{}}\n";

fn read_all(input: impl Read) {
    let options = Options { jobs: 1, state_variables: true, frames: true, ..Options::default() };
    let _ = measure(input, &options);
}

/// A JSON document, or whatever its first byte makes of it.
pub fn contained(data: &[u8]) {
    read_all(data);
}

/// A JSON text sequence, with and without its own header.
pub fn sequence(data: &[u8]) {
    read_all([b"\x1e", data].concat().as_slice());
    read_all([SEQUENCE.as_bytes(), data].concat().as_slice());
}

/// Cuts lines into records.
pub fn lines(data: &[u8]) {
    read_all([LINES.as_bytes(), data].concat().as_slice());
}

/// A network log: events under Chromium's names, or a whole file.
pub fn netlog(data: &[u8]) {
    read_all(data);
    read_all([NETLOG.as_bytes(), data].concat().as_slice());
}

/// The beginning of a network log.
pub const NETLOG: &str = r#"{"constants":{"logEventTypes":{"QUIC_SESSION":1,"QUIC_SESSION_PACKET_SENT":2,
"QUIC_SESSION_PACKET_LOST":3,"QUIC_SESSION_PACKET_RECEIVED":4,"QUIC_SESSION_UNAUTHENTICATED_PACKET_HEADER_RECEIVED":5,
"QUIC_SESSION_ACK_FRAME_SENT":6,"QUIC_SESSION_ACK_FRAME_RECEIVED":7,"QUIC_SESSION_STREAM_FRAME_SENT":8,
"QUIC_SESSION_STREAM_FRAME_RECEIVED":9,"QUIC_CONGESTION_CONTROL_CONFIGURED":10},"logSourceType":{"QUIC_SESSION":1},
"logFormatVersion":1},"events":["#;

/// Decompresses gzip and Zstandard, and passes anything else.
pub fn compressed(data: &[u8]) {
    const GZIP: &[u8] = &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
    for before in [&[][..], GZIP, ZSTD] {
        let data = [before, data].concat();
        if let Ok(input) = Input::new(data.as_slice()) {
            read_all(input.take(MOST));
        }
    }
}

/// The lint, against both profiles.
pub fn both_profiles(data: &[u8]) {
    for profile in [Profile::Ietf, Profile::Qvis] {
        let report = lint(data, profile);
        let _ = report.to_string();
    }
}

/// Our recorder's logs, one and two of them.
pub fn recorded(data: &[u8]) {
    let _ = replay(vec![data]);
    let (one, other) = data.split_at(data.len() / 2);
    let _ = replay(vec![one, other]);
}

/// A trace in every other form, which can be read again.
pub fn convert(data: &[u8]) {
    let sources: [&dyn Source; 1] = [&Memory(data)];
    for profile in [windlass_qlog::Profile::Ietf, windlass_qlog::Profile::Qvis] {
        let traces = count(&sources, profile).unwrap_or(0);
        for framing in [OutputFraming::Sequence, OutputFraming::Contained] {
            let only = (framing == OutputFraming::Sequence).then_some(0);
            let target = Target { profile, framing, only, ..Target::default() };
            let mut once = Vec::new();
            match converted(&sources, target, &mut once) {
                Ok(_) => {}
                Err(ConvertError::NoTrace { .. } | ConvertError::Read { .. }) => continue,
                Err(error) => panic!("{traces} traces: {error}"),
            }
            // What was written can be read, and converted again.
            let mut again = Vec::new();
            converted(&[&Memory(&once)], target, &mut again).expect("what was written can be read");
        }
    }
}

/// A trace in memory.
struct Memory<'a>(&'a [u8]);

impl Source for Memory<'_> {
    fn open(&self) -> std::io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(self.0))
    }
}

/// The frames of a packet, and what a log makes of them.
pub fn frames(data: &[u8]) {
    let mut frames = Frames::default();
    frames.ack_delay_exponent(data.first().copied().unwrap_or(3).into());
    frames.read(data);
    let acknowledged = frames.acknowledged().iter().all(|(low, high)| low <= high);
    assert!(acknowledged, "{:?}", frames.acknowledged());
    let _ = (frames.logged().count(), frames.probes_mtu());
}

/// A controller as a user types it. One that can be read is written so that it can be read again.
pub fn controller(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(read) = Algorithm::read(text) else { return };
    let written = read.to_string();
    assert_eq!(Algorithm::read(&written), Ok(read), "{written}");
}

/// Reads a configuration file of the adapters.
pub fn config(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = Config::parse("fuzz", text);
    }
}
