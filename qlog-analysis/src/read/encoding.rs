//! Encoding of a trace's events and header, in any schema version.

use serde_json::{Map, Value};

use crate::json::Decimal;
use crate::model::{SchemaVersion, Trace, Vantage};

/// Meaning of an element of an array event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Time,
    Category,
    Type,
    Trigger,
    Data,
    Path,
    Group,
    Other,
}

impl Role {
    pub(crate) fn of(field: &str) -> Self {
        match field.to_ascii_lowercase().as_str() {
            "time" | "relative_time" | "delta_time" => Role::Time,
            "category" => Role::Category,
            "event" | "event_type" | "type" | "name" => Role::Type,
            "trigger" => Role::Trigger,
            "data" => Role::Data,
            "path_id" | "path" => Role::Path,
            "group_id" | "odcid" => Role::Group,
            _ => Role::Other,
        }
    }
}

/// Encoding of a trace's events.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Encoding {
    /// Decimal places from the unit of times to nanoseconds.
    pub(crate) time_places: i32,
    /// Whether thousandths of times are written without leading zeros ([`super::units::unpadded`]).
    pub(crate) unpadded: bool,
    /// Whether acknowledged ranges end before their second number ([`super::units::half_open`]).
    pub(crate) half_open: bool,
    /// Decimal places from the unit of RTTs to nanoseconds.
    pub(crate) rtt_places: i32,
    /// Whether a time counts from the event before.
    pub(crate) delta: bool,
    /// Meaning of each element of array events.
    pub(crate) fields: Vec<Role>,
    /// Whether the trace was taken at the end that accepted the connection.
    pub(crate) accepts: bool,
    /// Whether events are of the form before the drafts.
    pub(crate) pre_draft: bool,
    /// Factor from logged pacing rates to bit/s.
    pub(crate) pacing_factor: u64,
}

impl Default for Encoding {
    fn default() -> Self {
        // The order of the drafts that had array events.
        let fields = vec![Role::Time, Role::Category, Role::Type, Role::Trigger, Role::Data];
        Encoding {
            time_places: 6,
            unpadded: false,
            half_open: false,
            rtt_places: 6,
            delta: false,
            fields,
            accepts: false,
            pre_draft: false,
            pacing_factor: 1,
        }
    }
}

impl Encoding {
    /// The time that an event has, ns.
    #[inline]
    pub(crate) fn time(&self, written: Decimal<'_>) -> Option<i64> {
        if self.unpadded { written.unpadded(self.time_places) } else { written.scaled(self.time_places) }
    }
}

/// Fields that only qlog files have, one of which every file has.
const MARKS: [&str; 8] = [
    "qlog_version",
    "qlog_format",
    "file_schema",
    "serialization_format",
    "trace",
    "traces",
    "event_fields",
    "vantage_point",
];

/// Whether an object is a header of a qlog file.
pub(super) fn is_qlog(fields: &Map<String, Value>) -> bool {
    MARKS.iter().any(|mark| fields.contains_key(*mark))
}

/// Applies `fields`, an object of the header.
pub(super) fn apply(fields: &Map<String, Value>, trace: &mut Trace, encoding: &mut Encoding) {
    let text = |key: &str| fields.get(key).and_then(text_of);
    if let Some(schema) = text("file_schema") {
        trace.schema_version = SchemaVersion::Ietf;
        trace.version = schema;
    } else if let Some(version) = text("qlog_version") {
        trace.schema_version = match version.as_str() {
            "0.1" => SchemaVersion::PreDraft,
            "draft-00" | "draft-01" => SchemaVersion::Draft01,
            _ => SchemaVersion::V03,
        };
        trace.version = version;
    }
    encoding.pre_draft = trace.schema_version == SchemaVersion::PreDraft;
    if let Some(title) = text("title").filter(|title| !title.is_empty()) {
        trace.title = title;
    }
    if let Some(description) = text("description").filter(|description| !description.is_empty()) {
        trace.description = description;
    }
    if let Some(connection) = text("connectionid") {
        trace.group = connection;
    }
    match fields.get("vantage_point").or_else(|| fields.get("vantagepoint")) {
        Some(Value::Object(point)) => {
            let word = |key: &str| point.get(key).and_then(Value::as_str);
            trace.vantage = word("type").map_or(Vantage::Unknown, vantage);
            trace.flow = word("flow").map_or(Vantage::Unknown, vantage);
            trace.implementation = short(word("name").unwrap_or_default());
        }
        Some(Value::String(point)) => trace.vantage = vantage(point),
        _ => {}
    }
    encoding.accepts = trace.vantage == Vantage::Server;
    if let Some(units) = fields.get("configuration").and_then(|configuration| configuration.get("time_units")) {
        let places = match units.as_str() {
            Some("us") => 3,
            Some("ns") => 0,
            Some("s") => 9,
            _ => 6,
        };
        encoding.time_places = places;
        encoding.rtt_places = places;
    }
    if let Some(Value::Object(common)) = fields.get("common_fields") {
        if let Some(group) = ["group_id", "ODCID", "odcid"].iter().find_map(|key| common.get(*key)).and_then(text_of) {
            trace.group = group;
        }
        if let Some(format) = common.get("time_format").and_then(Value::as_str) {
            encoding.delta = matches!(format, "delta" | "relative_to_previous_event");
        }
    }
    if let Some(Value::Array(names)) = fields.get("event_fields").or_else(|| fields.get("fields")) {
        let names = names.iter().map(|name| name.as_str().unwrap_or_default());
        encoding.delta |= names.clone().any(|name| name.eq_ignore_ascii_case("delta_time"));
        encoding.fields = names.map(Role::of).collect();
    }
    if let Some(Value::Object(inner)) = fields.get("trace") {
        apply(inner, trace, encoding);
    }
}

fn vantage(word: &str) -> Vantage {
    match word.to_ascii_lowercase().as_str() {
        "client" => Vantage::Client,
        "server" => Vantage::Server,
        "network" => Vantage::Network,
        _ => Vantage::Unknown,
    }
}

/// Bytes of a text of the header that are kept.
const TEXT: usize = 4096;

pub(super) fn short(text: &str) -> String {
    truncated(text, TEXT).to_owned()
}

/// The first `most` bytes of `text`, or fewer where they would end within a character.
pub(crate) fn truncated(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(short(text)),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
