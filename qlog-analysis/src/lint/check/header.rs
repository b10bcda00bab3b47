//! Rules of headers.

use serde_json::Value;
use windlass_qlog::{EVENT_SCHEMA_PREFIX, FILE_SCHEMA_CONTAINED, FILE_SCHEMA_SEQUENTIAL, MEDIA_TYPE_SEQUENTIAL};

use super::value::{Object, shown};
use super::{Checker, Framing};
use crate::lint::{Rule, names};

/// Versions qvis reads in any form.
const QVIS_VERSIONS: &[&str] = &["draft-02", "draft-02-RC1", "qlog-03-WIP", "0.3"];
/// Versions qvis reads in plain JSON only.
const QVIS_LEGACY: &[&str] = &["0.1", "draft-00", "draft-01", "draft-02-wip"];

impl Checker {
    /// The fields of the top so far, before the traces of plain JSON.
    pub fn top_so_far(&mut self, fields: &Object) {
        let version = fields.get("qlog_version").and_then(Value::as_str);
        self.legacy = version.map(|version| QVIS_LEGACY.contains(&version));
        self.old = fields.contains_key("qlog_version") && !fields.contains_key("file_schema");
    }

    /// The fields of the top.
    pub fn top(&mut self, fields: &Object) {
        self.header = true;
        self.top_so_far(fields);
        if self.ietf() {
            self.top_ietf(fields);
        } else {
            self.top_qvis(fields);
        }
    }

    fn top_ietf(&mut self, fields: &Object) {
        if self.old {
            let version = shown(&fields["qlog_version"]);
            self.add(Rule::HeaderOld, || format!("the header is of qlog_version {version}"));
            return;
        }
        let (schema, media) = match self.framing {
            Framing::Sequence | Framing::Lines => (FILE_SCHEMA_SEQUENTIAL, MEDIA_TYPE_SEQUENTIAL),
            Framing::Contained => (FILE_SCHEMA_CONTAINED, "application/qlog+json"),
        };
        match fields.get("file_schema").map(|value| value.as_str().ok_or(value)) {
            Some(Ok(text)) if text == schema => {}
            Some(Ok(text)) if is_absolute(text) && !text.starts_with("urn:ietf:params:qlog:") => {}
            Some(Ok(text)) => self.add(Rule::FileSchema, || format!("file_schema is {text:?}; expected {schema:?}")),
            Some(Err(value)) => self.add(Rule::FileSchema, || format!("file_schema is {}, no text", shown(value))),
            None => self.add(Rule::FileSchema, || "file_schema is missing".to_owned()),
        }
        match fields.get("serialization_format").map(|value| value.as_str().ok_or(value)) {
            Some(Ok(text)) if text.eq_ignore_ascii_case(media) => {}
            Some(Ok(text)) => {
                let message = || format!("serialization_format is {text:?}; expected {media:?}");
                self.add(Rule::SerializationFormat, message);
            }
            Some(Err(value)) => {
                self.add(Rule::SerializationFormat, || format!("serialization_format is {}, no text", shown(value)));
            }
            None => self.add(Rule::SerializationFormat, || "serialization_format is missing".to_owned()),
        }
        self.identified(fields, &["file_schema", "serialization_format"], 256);
        self.leftovers(fields, &["qlog_version", "qlog_format", "protocol_type", "protocol_types", "summary"]);
    }

    fn top_qvis(&mut self, fields: &Object) {
        if !fields.contains_key("qlog_version") && fields.contains_key("file_schema") {
            self.add(Rule::HeaderNew, || "the header has file_schema and no qlog_version".to_owned());
            return;
        }
        match fields.get("qlog_version") {
            Some(Value::String(version)) if QVIS_VERSIONS.contains(&version.as_str()) => {}
            Some(Value::String(version))
                if QVIS_LEGACY.contains(&version.as_str()) && self.framing == Framing::Contained =>
            {
                return;
            }
            Some(value) => self.add(Rule::QlogVersion, || format!("qlog_version is {}", shown(value))),
            None => self.add(Rule::QlogVersion, || "qlog_version is missing".to_owned()),
        }
        let format = match self.framing {
            Framing::Sequence => "JSON-SEQ",
            Framing::Lines => "NDJSON",
            Framing::Contained => "JSON",
        };
        match fields.get("qlog_format") {
            Some(Value::String(text)) if text == format => {}
            Some(value) => {
                self.add(Rule::QlogFormat, || format!("qlog_format is {}; expected {format:?}", shown(value)));
            }
            None => self.add(Rule::QlogFormat, || format!("qlog_format is missing; expected {format:?}")),
        }
        self.identified(fields, &["qlog_version", "qlog_format"], 1024);
    }

    /// Checks that the named fields end within the first `bytes` of the file.
    fn identified(&mut self, fields: &Object, names: &[&str], bytes: usize) {
        let head = String::from_utf8_lossy(&self.head[..self.head.len().min(bytes)]).into_owned();
        for name in names {
            let Some(Value::String(text)) = fields.get(*name) else { continue };
            let key = format!("\"{name}\"");
            let found = head.split_once(&key).is_some_and(|(_, rest)| rest.contains(&format!("\"{text}\"")));
            if !found && !text.contains(['"', '\\']) {
                self.add(Rule::HeaderLate, || format!("{name} is not within the first {bytes} bytes"));
            }
        }
    }

    fn leftovers(&mut self, fields: &Object, names: &[&str]) {
        for name in names.iter().filter(|name| fields.contains_key(**name)) {
            self.add(Rule::HeaderLeftover, || format!("{name} is of an earlier draft"));
        }
    }

    /// The fields of a trace so far, before the events of plain JSON: what events are read by.
    pub fn trace_so_far(&mut self, fields: &Object) {
        let common = fields.get("common_fields").and_then(Value::as_object);
        let configuration = fields.get("configuration").and_then(Value::as_object);
        let trace = &mut self.trace;
        if let Some(Value::Array(columns)) = fields.get("event_fields") {
            trace.columns = columns.iter().map(|name| name.as_str().unwrap_or_default().to_owned()).collect();
        }
        let unit = configuration.and_then(|fields| fields.get("time_units")).and_then(Value::as_str);
        if self.legacy.is_none() && !trace.columns.is_empty() {
            self.legacy = Some(true);
        }
        let trace = &mut self.trace;
        trace.unit = if unit == Some("us") { 1e-3 } else { 1.0 };
        let format = common.and_then(|fields| fields.get("time_format")).and_then(Value::as_str);
        trace.delta = matches!(format, Some("relative_to_previous_event" | "delta"))
            || trace.columns.iter().any(|name| name == "delta_time");
        let vantage = fields.get("vantage_point").and_then(|value| value.get("type")).and_then(Value::as_str);
        trace.network = vantage == Some("network");
        trace.server = vantage
            .filter(|vantage| matches!(*vantage, "client" | "server" | "network"))
            .map(|vantage| vantage == "server");
    }

    /// The fields of a trace. Its namespaces are known by now in plain JSON, and come
    /// later otherwise.
    pub(super) fn trace_header(&mut self, fields: &Object) {
        let vantage = fields.get("vantage_point").and_then(|value| value.get("type"));
        if !matches!(vantage.and_then(Value::as_str), Some("client" | "server" | "network")) {
            let shown = vantage.map_or("missing".to_owned(), shown);
            self.add(Rule::VantagePoint, || format!("vantage_point.type is {shown}"));
        }
        let empty = Object::new();
        let common = self.object(fields, "common_fields").unwrap_or(&empty);
        if self.ietf() {
            self.trace_ietf(fields, common);
        } else {
            self.trace_qvis(common);
        }
    }

    fn trace_ietf(&mut self, fields: &Object, common: &Object) {
        if self.old {
            return;
        }
        self.schemas(fields);
        self.leftovers(fields, &["configuration", "protocol_type", "protocol_types", "event_fields"]);
        self.leftovers(common, &["protocol_type", "protocol_types"]);
        if let Some(value) = common.get("time_format")
            && !matches!(value.as_str(), Some("relative_to_epoch" | "relative_to_previous_event"))
        {
            self.add(Rule::TimeFormat, || format!("time_format is {}", shown(value)));
        }
        let Some(value) = common.get("reference_time") else { return };
        let Some(reference) = value.as_object() else {
            self.add(Rule::ReferenceTime, || format!("reference_time is {}, no object", shown(value)));
            return;
        };
        let clock = reference.get("clock_type").map_or(Some("system"), Value::as_str);
        match (clock, reference.get("epoch").and_then(Value::as_str)) {
            (Some("monotonic"), Some("unknown")) => {}
            (Some("monotonic"), _) => {
                self.add(Rule::ReferenceTime, || "a monotonic clock needs the epoch \"unknown\"".to_owned());
            }
            (Some(_), Some("unknown")) => {}
            (Some(_), Some(epoch)) if is_date(epoch) => {}
            (Some(_), Some(epoch)) => self.add(Rule::ReferenceTime, || format!("epoch is {epoch:?}, no RFC 3339 date")),
            (Some(_), None) => self.add(Rule::ReferenceTime, || "reference_time has no epoch".to_owned()),
            (None, _) => self.add(Rule::ReferenceTime, || "clock_type is no text".to_owned()),
        }
    }

    fn schemas(&mut self, fields: &Object) {
        let list = fields.get("event_schemas").and_then(Value::as_array);
        let Some(list) = list.filter(|list| !list.is_empty()) else {
            let shown = fields.get("event_schemas").map_or("missing".to_owned(), shown);
            self.add(Rule::EventSchemas, || format!("event_schemas is {shown}"));
            self.trace.schemas = None;
            return;
        };
        let mut schemas = Vec::new();
        for value in list {
            match value.as_str() {
                Some(uri) if !is_absolute(uri) => {
                    self.add(Rule::SchemaUri, || format!("{uri:?} is no absolute URI"));
                    continue;
                }
                Some(uri) => {
                    if uri.strip_prefix(EVENT_SCHEMA_PREFIX).is_some_and(|rest| standard(rest) == rest) {
                        self.add(Rule::SchemaUri, || format!("{uri:?} has no draft number, and there is no RFC"));
                    }
                    schemas.push(uri.to_owned());
                }
                None => {
                    self.add(Rule::EventSchemas, || format!("event_schemas has {}, no text", shown(value)));
                }
            }
        }
        self.trace.schemas = Some(schemas);
    }

    fn trace_qvis(&mut self, common: &Object) {
        let format = common.get("time_format");
        if let Some(value) = format
            && !self.is_legacy()
            && !matches!(value.as_str(), Some("absolute" | "relative" | "delta"))
        {
            self.add(Rule::TimeFormat, || format!("time_format is {}", shown(value)));
        }
        if format.and_then(Value::as_str) == Some("relative") {
            let reference = common.get("reference_time");
            let number = match reference {
                Some(Value::Number(_)) => true,
                Some(Value::String(text)) => text.parse::<f64>().is_ok(),
                _ => false,
            };
            if !number {
                let shown = reference.map_or("missing".to_owned(), shown);
                self.add(Rule::ReferenceTime, || format!("reference_time is {shown}; expected a number"));
            }
        }
    }

    /// Reports namespaces that no schema covers.
    pub(super) fn check_namespaces(&mut self) {
        let namespaces = std::mem::take(&mut self.trace.namespaces);
        let Some(schemas) = self.trace.schemas.take() else { return };
        for (namespace, place) in namespaces {
            let is_standard = names::standard(&namespace).is_some();
            let listed = schemas.iter().any(|uri| match uri.strip_prefix(EVENT_SCHEMA_PREFIX) {
                Some(rest) => standard(rest) == namespace,
                None => !is_standard && uri.split(['/', ':', '#', '.', '?', '=']).any(|part| part == namespace),
            });
            if !listed {
                let rule = if is_standard { Rule::SchemaUnlisted } else { Rule::NamespaceUnlisted };
                self.report.add(rule, place, || format!("no event schema is listed for the namespace {namespace:?}"));
            }
        }
    }
}

/// The namespace in what follows the prefix of a standard schema: without extension and
/// draft number.
fn standard(rest: &str) -> &str {
    let name = rest.split('#').next().unwrap_or(rest);
    match name.rsplit_once('-') {
        Some((name, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    }
}

/// Whether a text is an absolute URI (`RFC 3986 §4.3`), by its scheme.
fn is_absolute(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        && !rest.is_empty()
        && !rest.contains(|c: char| c.is_whitespace() || c.is_control())
}

/// Whether a text has the form of an RFC 3339 date and time.
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let pattern = b"0000-00-00T00:00:00";
    bytes.len() > pattern.len()
        && bytes.iter().zip(pattern).all(|(&byte, &wanted)| match wanted {
            b'0' => byte.is_ascii_digit(),
            b'T' => matches!(byte, b'T' | b't' | b' '),
            other => byte == other,
        })
        && bytes[pattern.len()..].iter().all(|byte| byte.is_ascii_digit() || b".Zz+-:".contains(byte))
        && (text.ends_with(['Z', 'z']) || text[pattern.len()..].contains(['+', '-']))
}
