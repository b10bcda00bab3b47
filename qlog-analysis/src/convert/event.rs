//! One event of any schema version, taken apart as far as it needs to be.

use crate::json::{Cursor, Malformed};
use crate::read::encoding::{Encoding, Role};

/// An event. Values are the text they are written with.
#[derive(Debug)]
pub(super) struct RawEvent<'a> {
    /// Time, ns of the trace's clock; since the event before where the trace counts so.
    pub(super) time: i64,
    /// Its name, with a namespace.
    pub(super) name: String,
    pub(super) group: Option<&'a [u8]>,
    pub(super) data: &'a [u8],
    /// Members of the event beside the data.
    pub(super) rest: Vec<(&'a [u8], &'a [u8])>,
}

/// Reads an event of a record.
pub(super) fn read<'a>(text: &'a [u8], encoding: &Encoding) -> Result<RawEvent<'a>, Malformed> {
    let mut cursor = Cursor::new(text);
    let mut time = None;
    let mut parts: [&[u8]; 3] = [b"", b"", b""];
    let mut event = RawEvent { time: 0, name: String::new(), group: None, data: b"{}", rest: Vec::new() };
    let mut take = |role: Role, key: &'a [u8], value: &mut Cursor<'a>| -> Result<(), Malformed> {
        match role {
            Role::Time => time = value.decimal()?.and_then(|time| encoding.time(time)),
            Role::Category => parts[0] = value.word()?.unwrap_or_default(),
            Role::Type if key == b"name" => parts[2] = value.word()?.unwrap_or_default(),
            Role::Type => parts[1] = value.word()?.unwrap_or_default(),
            Role::Group => event.group = Some(value.raw()?),
            Role::Data => event.data = Some(value.raw()?).filter(|data| data.starts_with(b"{")).unwrap_or(b"{}"),
            Role::Path | Role::Trigger | Role::Other => {
                let value = value.raw()?;
                // Path 0 and an empty trigger are left out.
                if role != Role::Path || value != b"0" {
                    event.rest.push((key, value));
                }
            }
        }
        Ok(())
    };
    if cursor.peek() == Some(b'[') {
        let mut index = 0;
        cursor.array(|value| {
            let role = encoding.fields.get(index).copied().unwrap_or(Role::Other);
            index += 1;
            let key: &[u8] = match role {
                Role::Path => b"path_id",
                Role::Trigger => b"trigger",
                _ => b"",
            };
            take(role, key, value)
        })?;
    } else {
        cursor.object(|key, value| {
            let role = match key {
                b"time" | b"relative_time" | b"delta_time" => Role::Time,
                b"name" | b"type" | b"event" | b"event_type" => Role::Type,
                b"category" => Role::Category,
                b"data" => Role::Data,
                b"group_id" | b"ODCID" | b"odcid" => Role::Group,
                _ => Role::Other,
            };
            take(role, key, value)
        })?;
    }
    cursor.end()?;
    let Some(time) = time else { return Err(Malformed { at: 0, expected: "an event with a time" }) };
    let [category, kind, name] = parts.map(String::from_utf8_lossy);
    event.time = time;
    event.name = match (category.as_ref(), kind.as_ref(), name.as_ref()) {
        (_, "", "") => return Err(Malformed { at: 0, expected: "an event with a name" }),
        (_, _, name) if name.contains(':') => name.to_owned(),
        ("", kind, "") if kind.contains(':') => kind.to_owned(),
        (category, kind, name) => {
            let category = if category.is_empty() { "unknown" } else { category };
            format!("{category}:{}", if name.is_empty() { kind } else { name })
        }
    };
    if event.name.starts_with(|first: char| first.is_ascii_uppercase()) {
        event.name.make_ascii_lowercase();
    }
    if let Some(name) = renamed(&event.name) {
        event.name = name.to_owned();
    }
    Ok(event)
}

/// What an event of mvfst's or erlang_quic's own is called elsewhere.
fn renamed(name: &str) -> Option<&'static str> {
    Some(match name {
        "metric_update:congestion_metric_update" | "app_limited_update:app_limited_update" => {
            "recovery:metrics_updated"
        }
        "quic:metrics_updated" => "quic:recovery_metrics_updated",
        "loss:packets_lost" => "windlass:lost",
        _ => return None,
    })
}

/// Cuts a name into namespace and event type.
pub(super) fn split(name: &str) -> (&str, &str) {
    name.split_once(':').unwrap_or(("unknown", name))
}
