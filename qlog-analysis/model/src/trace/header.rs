//! The header of a file.

use std::io::Write;
use std::net::SocketAddr;

use super::Trace;
use crate::Profile;
use crate::schema::{FILE_SCHEMA_SEQUENTIAL, MEDIA_TYPE_SEQUENTIAL, QUIC_EVENTS, WINDLASS_EVENTS};

/// Vantage point of a trace.
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

/// The header of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Header<'a> {
    /// Name of the trace, as it shows in tools.
    pub title: &'a str,
    /// Description of the trace, a sentence; may be empty.
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

/// One end of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct End<'a> {
    /// Its address.
    pub address: SocketAddr,
    /// The connection ID that packets to it carry; may be empty.
    pub connection_id: &'a [u8],
}

impl<W: Write> Trace<W> {
    /// The connection begins between these ends (`draft-ietf-quic-qlog-quic-events-13`, connection_started). By the connection IDs, the logs of both ends are
    /// known to be of one connection: what is local in one is remote in the other.
    pub fn connection_started(&mut self, now_ns: u64, local: End<'_>, remote: End<'_>) {
        self.begin(now_ns, self.names.connection_started);
        for (end, name, old) in [(local, "local", "src"), (remote, "remote", "dst")] {
            let version = if end.address.is_ipv4() { "v4" } else { "v6" };
            let id: String = end.connection_id.iter().map(|byte| format!("{byte:02x}")).collect();
            let (ip, port) = (end.address.ip().to_string(), u64::from(end.address.port()));
            let json = &mut self.json;
            match self.profile {
                Profile::Ietf => {
                    json.key(name);
                    json.raw("{");
                    json.text(&format!("ip_{version}"), &ip);
                    json.integer(&format!("port_{version}"), port);
                    json.value("connection_ids", &[id]);
                    json.raw("}");
                }
                Profile::Qvis => {
                    json.text(&format!("{old}_ip"), &ip);
                    json.integer(&format!("{old}_port"), port);
                    json.text(&format!("{old}_cid"), &id);
                }
            }
        }
        self.end();
    }

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

#[cfg(test)]
mod tests {
    use crate::Detail;

    use super::*;

    #[test]
    fn a_connection_begins_between_two_addresses() {
        let started = |profile| {
            let mut trace = Trace::new(Vec::new(), profile, Detail::Packets, &Header::default());
            let end = |address: &str, connection_id| End { address: address.parse().unwrap(), connection_id };
            trace.connection_started(0, end("192.0.2.1:443", &[1, 0xab]), end("[2001:db8::7]:4433", &[]));
            String::from_utf8(trace.finish().unwrap()).unwrap().lines().last().unwrap().to_owned()
        };
        assert_eq!(
            started(Profile::Ietf),
            "\u{1e}{\"time\":0,\"name\":\"quic:connection_started\",\"data\":{\"local\":{\"ip_v4\":\"192.0.2.1\",\"port_v4\":443,\
             \"connection_ids\":[\"01ab\"]},\"remote\":{\"ip_v6\":\"2001:db8::7\",\"port_v6\":4433,\"connection_ids\":[\"\"]}}}"
        );
        assert_eq!(
            started(Profile::Qvis),
            "\u{1e}{\"time\":0,\"name\":\"connectivity:connection_started\",\"data\":{\"src_ip\":\"192.0.2.1\",\"src_port\":443,\
             \"src_cid\":\"01ab\",\"dst_ip\":\"2001:db8::7\",\"dst_port\":4433,\"dst_cid\":\"\"}}"
        );
    }
}
