//! Headers of files and traces.

use std::borrow::Cow;

use windlass_qlog::{
    EVENT_SCHEMA_PREFIX, FILE_SCHEMA_CONTAINED, FILE_SCHEMA_SEQUENTIAL, MEDIA_TYPE_SEQUENTIAL, Profile, QUIC_EVENTS,
    SCHEMA_URI, WINDLASS, WINDLASS_EVENTS,
};

use super::node::{Node, millis};
use super::survey::Surveyed;
use super::{Omitted, OutputFraming};
use crate::model::{SchemaVersion, Vantage};

/// Media type of qlog in plain JSON.
const MEDIA_TYPE_CONTAINED: &str = "application/qlog+json";

/// Fields that identify a file, and those that only earlier drafts have.
const IDENTIFYING: [&str; 4] = ["file_schema", "serialization_format", "qlog_version", "qlog_format"];
const EARLIER: [&str; 4] = ["protocol_type", "protocol_types", "summary", "configuration"];

/// The top of a file, without its traces; `source` is what the source says there.
pub(super) fn top(
    source: Node<'static>,
    profile: Profile,
    framing: OutputFraming,
    omitted: &mut Omitted,
) -> Node<'static> {
    let (names, values) = match (profile, framing) {
        (Profile::Ietf, OutputFraming::Sequence) => {
            (&IDENTIFYING[..2], [FILE_SCHEMA_SEQUENTIAL, MEDIA_TYPE_SEQUENTIAL])
        }
        (Profile::Ietf, OutputFraming::Contained) => (&IDENTIFYING[..2], [FILE_SCHEMA_CONTAINED, MEDIA_TYPE_CONTAINED]),
        (Profile::Qvis, OutputFraming::Sequence) => (&IDENTIFYING[2..], ["0.3", "JSON-SEQ"]),
        (Profile::Qvis, OutputFraming::Contained) => (&IDENTIFYING[2..], ["0.3", "JSON"]),
    };
    let mut top = source;
    for name in IDENTIFYING.iter().chain(&["traces", "trace", "events", "connections"]) {
        while top.take(name).is_some() {}
    }
    leave_out(&mut top, &EARLIER, omitted);
    for (name, value) in names.iter().zip(values).rev() {
        top.set_first(name, Node::word(value));
    }
    top
}

fn leave_out(node: &mut Node<'_>, names: &[&str], omitted: &mut Omitted) {
    for name in names {
        // Offsets of zero and units say nothing more once times are milliseconds.
        if let Some(gone) = node.take(name) {
            let says = |(key, value): &(Cow<'_, [u8]>, Node<'_>)| {
                !matches!(key.as_ref(), b"time_units") && value.decimal().is_none_or(|number| number.to_f64() != 0.0)
            };
            if *name != "configuration" || gone.fields().iter().any(says) {
                omitted.add(&format!("the header's {name}"));
            }
        }
    }
}

/// The header of a trace.
pub(super) fn trace(surveyed: &Surveyed, profile: Profile, omitted: &mut Omitted) -> Node<'static> {
    let mut header = surveyed.header.clone();
    for name in ["events", "event_fields", "fields", "connectionid", "starttime"].iter().chain(&IDENTIFYING) {
        while header.take(name).is_some() {}
    }
    leave_out(&mut header, &EARLIER, omitted);
    header.take("vantagepoint");
    header.set("vantage_point", vantage(surveyed));
    let mut common = header.get("common_fields").cloned().unwrap_or(Node::empty());
    leave_out(&mut common, &EARLIER, omitted);
    match profile {
        Profile::Ietf => {
            common.rename("ODCID", "group_id");
            common.rename("odcid", "group_id");
            if !common.has("group_id") && surveyed.groups.is_empty() && !surveyed.trace.group.is_empty() {
                common.set_first("group_id", Node::word(&surveyed.trace.group));
            }
            common_ietf(&mut common, surveyed, omitted);
            header.set("common_fields", common);
            header.set("event_schemas", schemas(&surveyed.header, surveyed, omitted));
        }
        Profile::Qvis => {
            common.rename("group_id", "ODCID");
            common.rename("odcid", "ODCID");
            group(&mut common, surveyed);
            common_qvis(&mut common, surveyed, omitted);
            header.set("common_fields", common);
            if let Some(Node::Array(schemas)) = header.take("event_schemas") {
                let ours = |schema: &Node<'_>| {
                    let text = schema.text().unwrap_or_default();
                    text == WINDLASS_EVENTS.as_bytes() || text.starts_with(EVENT_SCHEMA_PREFIX.as_bytes())
                };
                schemas.iter().filter(|schema| !ours(schema)).for_each(|_| omitted.add("URIs of event schemas"));
            }
        }
    }
    header
}

/// Names the connection once for all events, where that can be.
fn group(common: &mut Node<'static>, surveyed: &Surveyed) {
    if let Some(single) = single_group(surveyed) {
        common.take("ODCID");
        common.set_first("ODCID", Node::Scalar(Cow::Owned(single.clone())));
    } else if !common.has("ODCID") && surveyed.groups.is_empty() && !surveyed.trace.group.is_empty() {
        common.set_first("ODCID", Node::word(&surveyed.trace.group));
    }
}

/// The one connection that all events name, as it is written.
pub(super) fn single_group(surveyed: &Surveyed) -> Option<&Vec<u8>> {
    surveyed.groups.iter().next().filter(|_| surveyed.groups.len() == 1 && !surveyed.ungrouped)
}

fn vantage(surveyed: &Surveyed) -> Node<'static> {
    let trace = &surveyed.trace;
    let mut point = match surveyed.header.get("vantage_point") {
        Some(point @ Node::Object(_)) => point.clone(),
        _ => Node::empty(),
    };
    if point.get("name").is_none() && !trace.implementation.is_empty() {
        point.set("name", Node::word(&trace.implementation));
    }
    let word = point.get("type").and_then(Node::text);
    if word != Some(trace.vantage.name().as_bytes()) {
        point.set("type", Node::word(trace.vantage.name()));
    }
    if trace.flow != Vantage::Unknown && point.get("flow").is_some_and(|flow| !flow.is(trace.flow.name())) {
        point.set("flow", Node::word(trace.flow.name()));
    }
    point
}

fn is_null(node: &Node<'_>) -> bool {
    matches!(node, Node::Scalar(text) if **text == *b"0" || **text == *b"\"0\"" || **text == *b"null")
}

fn common_ietf(common: &mut Node<'static>, surveyed: &Surveyed, omitted: &mut Omitted) {
    let is_ietf = surveyed.trace.schema_version == SchemaVersion::Ietf;
    if is_ietf && !common.has("time_format") && !common.has("reference_time") {
        return;
    }
    common.set("time_format", Node::word("relative_to_epoch"));
    if is_ietf && matches!(common.get("reference_time"), Some(Node::Object(_))) {
        return;
    }
    let (clock, epoch) =
        if surveyed.is_absolute() { ("system", "1970-01-01T00:00:00.000Z") } else { ("monotonic", "unknown") };
    if !surveyed.is_absolute() && common.get("reference_time").is_some_and(|time| !is_null(time)) {
        omitted.add("the header's reference_time");
    }
    let parts = [("clock_type", clock), ("epoch", epoch)];
    let parts = parts.map(|(key, value)| (Cow::Borrowed(key.as_bytes()), Node::word(value)));
    common.set("reference_time", Node::Object(parts.into()));
}

fn common_qvis(common: &mut Node<'static>, surveyed: &Surveyed, omitted: &mut Omitted) {
    common.set("time_format", Node::word("relative"));
    if surveyed.is_absolute() {
        let mut text = Vec::new();
        millis(origin(surveyed, Profile::Qvis), &mut text);
        common.set("reference_time", Node::Scalar(Cow::Owned(text)));
        return;
    }
    match common.get("reference_time") {
        Some(Node::Scalar(_)) if common.get("reference_time").and_then(Node::decimal).is_some() => {}
        Some(reference) => {
            // A clock without a beginning is what no reference time says.
            let plain =
                reference.get("epoch").is_some_and(|epoch| epoch.is("unknown")) && reference.fields().len() <= 2;
            if !plain {
                omitted.add("the header's reference_time");
            }
            common.set("reference_time", Node::number(0));
        }
        None => common.set("reference_time", Node::number(0)),
    }
}

/// What is subtracted from the times of a trace, ns: qvis' axes begin at zero.
pub(super) fn origin(surveyed: &Surveyed, profile: Profile) -> i64 {
    let first = surveyed.first.filter(|_| profile == Profile::Qvis && surveyed.is_absolute());
    first.map_or(0, |first| first - first.rem_euclid(1_000_000))
}

/// The schemas of all namespaces: those that the file names, and what it does not name.
fn schemas(header: &Node<'static>, surveyed: &Surveyed, omitted: &mut Omitted) -> Node<'static> {
    let mut uris: Vec<String> = Vec::new();
    if let Some(Node::Array(listed)) = header.get("event_schemas") {
        let texts = listed.iter().filter_map(|uri| uri.text());
        uris.extend(texts.map(|uri| String::from_utf8_lossy(uri).into_owned()));
    }
    let covers = |uris: &[String], namespace: &str| {
        uris.iter().any(|uri| match uri.strip_prefix(EVENT_SCHEMA_PREFIX) {
            Some(rest) => rest == namespace || rest.strip_prefix(namespace).is_some_and(|rest| rest.starts_with('-')),
            None => uri.split(['/', ':', '#', '.', '?', '=']).any(|part| part == namespace),
        })
    };
    if !covers(&uris, "quic") {
        uris.insert(0, QUIC_EVENTS.to_owned());
    }
    for namespace in &surveyed.namespaces {
        if covers(&uris, namespace) {
            continue;
        }
        uris.push(match namespace.as_str() {
            WINDLASS => WINDLASS_EVENTS.to_owned(),
            "http3" | "loglevel" | "simulation" => format!("{EVENT_SCHEMA_PREFIX}{namespace}-13"),
            other if other.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)) => {
                format!("{SCHEMA_URI}unnamed/{other}")
            }
            _ => {
                omitted.add("names of event schemas that fit into no URI");
                continue;
            }
        });
    }
    Node::Array(uris.iter().map(|uri| Node::word(uri)).collect())
}
