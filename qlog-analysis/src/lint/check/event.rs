//! Rules of every event: its time, its name, its data.

use std::borrow::Cow;

use serde_json::Value;

use super::value::{Object, shown};
use super::{Checker, Framing, NAMESPACES};
use crate::lint::{Place, Rule, names};
use crate::model::TransportParameters;

/// Columns of array events where the trace does not name them.
const COLUMNS: [&str; 4] = ["relative_time", "category", "event", "data"];

/// An event of any schema version.
#[derive(Default)]
struct Parts<'a> {
    time: Option<&'a Value>,
    name: Option<&'a str>,
    category: Option<&'a str>,
    kind: Option<&'a str>,
    data: Option<&'a Value>,
    grouped: bool,
}

impl<'a> Parts<'a> {
    fn set(&mut self, field: &str, value: &'a Value) {
        match field {
            "time" | "relative_time" | "delta_time" => self.time = Some(value),
            "name" => self.name = value.as_str(),
            "category" => self.category = value.as_str(),
            "event" | "event_type" | "type" => self.kind = value.as_str(),
            "data" => self.data = Some(value),
            "group_id" => self.grouped = true,
            _ => {}
        }
    }

    /// Namespace and kind, from a full name or from category and kind.
    fn split(&self) -> Option<(&'a str, &'a str)> {
        let full = self.name.and_then(|name| name.split_once(':'));
        full.or_else(|| self.category.zip(self.kind.or(self.name))).filter(|(a, b)| !a.is_empty() && !b.is_empty())
    }
}

impl Checker {
    /// Checks an event's name, time and data; `place` is where findings point.
    pub fn event(&mut self, value: &Value, place: Place) {
        let mut parts = Parts::default();
        match value {
            // Left by a trailing comma, and passed over by tools.
            Value::Object(fields) if fields.is_empty() && self.framing == Framing::Contained => return,
            Value::Array(fields) if fields.is_empty() && self.framing == Framing::Contained => return,
            Value::Object(fields) => fields.iter().for_each(|(name, value)| parts.set(name, value)),
            Value::Array(fields) => {
                if !self.is_legacy() || self.ietf() {
                    self.add(Rule::EventForm, || format!("the event is the array {}", shown(value)));
                }
                let columns = &self.trace.columns;
                for (i, value) in fields.iter().enumerate() {
                    let column =
                        if columns.is_empty() { COLUMNS.get(i).copied() } else { columns.get(i).map(String::as_str) };
                    parts.set(column.unwrap_or_default(), value);
                }
            }
            other => {
                self.add(Rule::RecordObject, || format!("the event is {}", shown(other)));
                return;
            }
        }
        self.report.events += 1;
        self.trace.events += 1;
        self.group(parts.grouped);
        self.time(parts.time);
        let names = parts.split();
        // An array has its name in two columns, and qvis reads an object that does, too.
        let full = parts.name.is_some_and(|name| name.contains(':'));
        if names.is_none() || !full && self.ietf() && value.is_object() {
            let name = parts.name.or(parts.kind).map_or(Cow::Borrowed("missing"), |name| format!("{name:?}").into());
            self.add(Rule::EventName, || format!("name is {name}"));
        }
        let data = parts.data.and_then(Value::as_object);
        if data.is_none() {
            let shown = parts.data.map_or("missing".to_owned(), shown);
            self.add(Rule::EventData, || format!("data is {shown}"));
        }
        let Some((namespace, kind)) = names else { return };
        self.name(namespace, kind, place);
        if let Some(data) = data {
            self.field_case(data);
            self.data(namespace, kind, data);
        }
    }

    fn group(&mut self, grouped: bool) {
        let first = *self.trace.grouped.get_or_insert(grouped);
        if first != grouped {
            let message = if first {
                "the event has no group_id, the first has one"
            } else {
                "the event has a group_id, the first has none"
            };
            self.add(Rule::GroupId, || message.to_owned());
        }
    }

    /// Takes the time of an event; `trace.latest` is then the latest so far.
    fn time(&mut self, value: Option<&Value>) {
        let number = match value {
            Some(Value::Number(number)) => number.as_f64(),
            Some(Value::String(text)) => text.parse().ok().filter(|time: &f64| time.is_finite()),
            _ => None,
        };
        // qvis reads texts too.
        if number.is_none() || self.ietf() && value.is_some_and(Value::is_string) {
            let shown = value.map_or("missing".to_owned(), shown);
            self.add(Rule::EventTime, || format!("time is {shown}"));
        }
        let Some(number) = number else { return };
        let trace = &mut self.trace;
        let unit = if trace.unit > 0.0 { trace.unit } else { 1.0 };
        let before = trace.latest;
        let now = number * unit + if trace.delta { before.unwrap_or(0.0) } else { 0.0 };
        trace.first.get_or_insert(now);
        trace.latest = Some(before.map_or(now, |before| before.max(now)));
        if let Some(before) = before.filter(|before| now < *before) {
            self.add(Rule::TimeOrder, || format!("time {now} comes after {before}"));
        }
        if now < 0.0 {
            self.add(Rule::TimeNegative, || format!("time is {now}"));
        }
    }

    fn name(&mut self, namespace: &str, kind: &str, place: Place) {
        if !self.ietf() {
            if let Some(old) = names::v03_name(namespace, kind) {
                self.add(Rule::NameNew, || format!("{namespace}:{kind} is {old} in version 0.3"));
            } else if names::standard(namespace).is_some_and(|_| namespace == "quic") {
                self.add(Rule::NameNew, || format!("{namespace}:{kind} is not in version 0.3"));
            }
            return;
        }
        let known = names::standard(namespace);
        if known.is_none() && names::is_pre_ietf(namespace) {
            match names::ietf_name(namespace, kind) {
                Some(new) => self.add(Rule::NameOld, || format!("{namespace}:{kind} is now {new}")),
                None => self.add(Rule::NameOld, || format!("{namespace}:{kind} is of an earlier draft")),
            }
            return;
        }
        if known.is_some_and(|kinds| !kinds.contains(&kind)) {
            self.add(Rule::NameUnknown, || format!("the namespace {namespace} has no event {kind:?}"));
        }
        let namespaces = &mut self.trace.namespaces;
        if namespaces.len() < NAMESPACES && !namespaces.iter().any(|(known, _)| known == namespace) {
            namespaces.push((namespace.to_owned(), place));
        }
    }

    fn field_case(&mut self, data: &Object) {
        if let Some(name) = data.keys().find(|name| name.contains(|c: char| c.is_ascii_uppercase())) {
            self.add(Rule::FieldCase, || format!("the field {name:?} has upper-case letters"));
        }
    }

    /// The data of an event, by what it is in either schema version.
    fn data(&mut self, namespace: &str, kind: &str, data: &Object) {
        let quic = namespace == "quic";
        match (namespace, kind) {
            ("quic" | "transport", "packet_sent") => self.packet(data, true),
            ("quic" | "transport", "packet_received") => self.packet(data, false),
            ("quic" | "recovery", "packet_lost") => self.lost(data),
            ("quic", "recovery_metrics_updated") | ("recovery", "metrics_updated") => self.metrics(data),
            ("quic" | "recovery", "congestion_state_updated") => {
                self.required(data, "new");
                for name in ["old", "new", "trigger"] {
                    self.text(data, name);
                }
            }
            ("quic", "recovery_parameters_set") | ("recovery", "parameters_set") => {
                self.recovery_parameters(data, quic)
            }
            ("quic" | "transport", "parameters_set") => self.parameters(data),
            ("quic" | "connectivity", "mtu_updated") => {
                self.required(data, "new");
                for name in ["old", "new"] {
                    self.integer(data, name);
                }
            }
            _ => {}
        }
    }

    fn recovery_parameters(&mut self, data: &Object, quic: bool) {
        if quic {
            self.required(data, "timer_granularity");
        }
        for name in [
            "reordering_threshold",
            "timer_granularity",
            "max_datagram_size",
            "initial_congestion_window",
            "minimum_congestion_window",
            "persistent_congestion_threshold",
        ] {
            self.integer(data, name);
        }
        for name in ["time_threshold", "initial_rtt", "loss_reduction_factor"] {
            self.number(data, name);
        }
    }

    fn parameters(&mut self, data: &Object) {
        if self.ietf() {
            self.outdated(data, "owner", "initiator");
        }
        for name in [
            "max_idle_timeout",
            "max_udp_payload_size",
            "ack_delay_exponent",
            "max_ack_delay",
            "active_connection_id_limit",
        ]
        .into_iter()
        .chain(TransportParameters::NAMES)
        {
            self.integer(data, name);
        }
    }
}
