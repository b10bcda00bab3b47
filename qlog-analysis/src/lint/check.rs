//! Checks headers and events by the rules.

use std::io;

use serde_json::{Map, Value};
use windlass_qlog::Profile;

use super::{Place, Report, Rule};

mod event;
mod frames;
mod header;
mod metrics;
mod packet;
mod value;

/// Layout of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Framing {
    /// A JSON text sequence (`RFC 7464`).
    Sequence,
    /// A JSON record per line.
    Lines,
    /// One JSON document.
    Contained,
}

/// Everything a lint remembers of a file.
#[derive(Debug)]
pub(super) struct Checker {
    pub report: Report,
    pub framing: Framing,
    /// The first bytes of the file.
    pub head: Vec<u8>,
    /// Whether it turned out to be a Chromium network log.
    pub netlog: bool,
    profile: Profile,
    at: Place,
    /// True once the header was read.
    header: bool,
    /// Whether it is of a draft before 02, which qvis reads with other eyes, as far as known.
    legacy: Option<bool>,
    /// The header is of a draft before the file schemas.
    old: bool,
    trace: TraceState,
}

/// State of checking one trace.
#[derive(Debug, Default)]
struct TraceState {
    /// Names of the columns of array events.
    columns: Vec<String>,
    /// Milliseconds a unit of time is worth; 0 before the header is read.
    unit: f64,
    /// Times count from the event before.
    delta: bool,
    /// True if the vantage point is the network.
    network: bool,
    /// Whether the vantage point is the server; `None` if the header has none.
    server: Option<bool>,
    events: u64,
    /// The latest time so far, ms.
    latest: Option<f64>,
    /// Time of the first event, ms; `None` before it.
    first: Option<f64>,
    /// Whether the first event had a group_id.
    grouped: Option<bool>,
    /// Private and standard namespaces, with where they first appear.
    namespaces: Vec<(String, Place)>,
    /// Schemas the header lists; `None` where it lists none, which is a finding of its own.
    schemas: Option<Vec<String>>,
    flight: packet::Flight,
    rtt: metrics::RttWatch,
    views: frames::Views,
}

/// Namespaces remembered; a file with more is hostile.
const NAMESPACES: usize = 256;

impl Checker {
    pub fn new(profile: Profile) -> Self {
        Checker {
            report: Report::new(profile),
            framing: Framing::Contained,
            head: Vec::new(),
            netlog: false,
            profile,
            at: Place::default(),
            header: false,
            legacy: None,
            old: false,
            trace: TraceState::default(),
        }
    }

    /// Sets the place of the following findings.
    pub fn at(&mut self, place: Place) {
        self.at = place;
        self.report.records = self.report.records.max(place.record);
    }

    fn add(&mut self, rule: Rule, message: impl FnOnce() -> String) {
        self.report.add(rule, self.at, message);
    }

    fn is_legacy(&self) -> bool {
        self.legacy == Some(true)
    }

    fn ietf(&self) -> bool {
        self.profile == Profile::Ietf
    }

    /// Reports that the file cannot be read further.
    pub fn unreadable(&mut self, error: &io::Error) {
        self.add(Rule::FileRead, || format!("reading failed: {error}"));
    }

    /// A record that begins on `line` is not JSON.
    pub fn not_json(&mut self, place: Place, line: u64, error: &serde_json::Error) {
        let line = line + (error.line() as u64).saturating_sub(1);
        self.report.add(Rule::RecordJson, Place { line, ..place }, || format!("not JSON: {error}"));
    }

    /// A record has no separator before it; qvis wants none in its own line format.
    pub fn not_separated(&mut self, place: Place) {
        if self.ietf() {
            self.report.add(Rule::RecordSeparator, place, || "the record has no separator before it".to_owned());
        }
    }

    /// One record of a sequence or of lines: the header first, then events.
    pub fn record(&mut self, value: Value, place: Place) {
        if std::mem::replace(&mut self.header, true) {
            self.event(&value, place);
            return;
        }
        let Value::Object(map) = &value else {
            self.add(Rule::RecordObject, || "the header is no object".to_owned());
            return;
        };
        let is_event = map.contains_key("time") && map.contains_key("name");
        if is_event {
            self.add(Rule::TraceMissing, || "the file begins with an event instead of a header".to_owned());
            self.event(&value, place);
            return;
        }
        self.top(map);
        match map.get("trace") {
            Some(Value::Object(trace)) => {
                self.trace_so_far(trace);
                self.trace_header(trace);
            }
            Some(_) => self.add(Rule::TraceMissing, || "trace is no object".to_owned()),
            None => self.add(Rule::TraceMissing, || "the header has no trace".to_owned()),
        }
    }

    /// A trace of plain JSON is over.
    pub fn trace(&mut self, fields: &Map<String, Value>) {
        if fields.contains_key("error_description") {
            return;
        }
        self.trace_header(fields);
        self.end_of_trace();
    }

    fn end_of_trace(&mut self) {
        if self.trace.events == 0 {
            self.add(Rule::NoEvents, || "the trace has no events".to_owned());
        }
        if self.trace.flight.sent == 0 {
            self.add(Rule::NoPackets, || "no packet_sent has a length".to_owned());
        }
        self.end_of_metrics();
        self.end_of_views();
        self.check_namespaces();
        self.trace = TraceState::default();
    }

    /// Checks what only the end of the file shows, and reports.
    pub fn finish(mut self) -> Report {
        let nothing = [Rule::FileEmpty, Rule::NotQlog].iter().any(|rule| self.report.counts.contains_key(rule));
        if self.framing != Framing::Contained && self.header && !nothing {
            self.end_of_trace();
        }
        if self.framing == Framing::Contained {
            self.report.records = self.report.events;
        }
        self.report
    }
}
