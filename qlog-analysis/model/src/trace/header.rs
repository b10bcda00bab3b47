//! What stands at the top of a file.

use std::io::Write;

use super::Trace;
use crate::Profile;
use crate::schema::{FILE_SCHEMA_SEQUENTIAL, MEDIA_TYPE_SEQUENTIAL, QUIC_EVENTS, WINDLASS_EVENTS};

/// Where a trace was taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Vantage {
    /// At the endpoint that opened the connection.
    Client,
    /// At the endpoint that accepted it; our senders are servers.
    #[default]
    Server,
    /// A point on the path between client and server.
    Network,
}

/// What stands at the top of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Header<'a> {
    /// Name of the trace, as it shows in tools.
    pub title: &'a str,
    /// What the trace is, in a sentence; may be empty.
    pub description: &'a str,
    /// The vantage point of the trace.
    pub vantage: Vantage,
    /// Name of that place; may be empty.
    pub name: &'a str,
    /// Identifies the connection among traces; may be empty.
    pub group_id: &'a str,
    /// Subtracted from every time, so that the trace begins near zero; ns.
    pub origin_ns: u64,
}

impl<W: Write> Trace<W> {
    pub(super) fn header(&mut self, header: &Header<'_>) {
        let json = &mut self.json;
        json.raw("\u{1e}");
        json.raw("{");
        match self.profile {
            Profile::Ietf => {
                json.word("file_schema", FILE_SCHEMA_SEQUENTIAL);
                json.word("serialization_format", MEDIA_TYPE_SEQUENTIAL);
            }
            Profile::Qvis => {
                json.word("qlog_version", "0.3");
                json.word("qlog_format", "JSON-SEQ");
            }
        }
        json.text("title", header.title);
        if !header.description.is_empty() {
            json.text("description", header.description);
        }
        json.key("trace");
        json.raw("{");
        json.text("title", header.title);
        json.key("vantage_point");
        json.raw("{");
        if !header.name.is_empty() {
            json.text("name", header.name);
        }
        json.word(
            "type",
            match header.vantage {
                Vantage::Client => "client",
                Vantage::Server => "server",
                Vantage::Network => "network",
            },
        );
        json.raw("}");
        json.key("common_fields");
        json.raw("{");
        match self.profile {
            Profile::Ietf => {
                if !header.group_id.is_empty() {
                    json.text("group_id", header.group_id);
                }
                json.word("time_format", "relative_to_epoch");
                json.key("reference_time");
                json.raw(r#"{"clock_type":"monotonic","epoch":"unknown"}}"#);
                json.key("event_schemas");
                json.raw("[\"");
                json.raw(QUIC_EVENTS);
                json.raw("\",\"");
                json.raw(WINDLASS_EVENTS);
                json.raw("\"]}");
            }
            Profile::Qvis => {
                if !header.group_id.is_empty() {
                    json.text("ODCID", header.group_id);
                }
                json.word("time_format", "relative");
                json.integer("reference_time", 0);
                json.raw("}}");
            }
        }
        json.raw("}\n");
    }
}
