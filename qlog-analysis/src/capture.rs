//! Captures of packets as qlog: what `tshark -T json` prints of a pcap file, with the keys of its connections.
//!
//! tshark prints every datagram, its packets, and, where they could be decrypted, their numbers and frames.
//! [`events`] writes an event a packet while it reads; [`Capture::qlog`] makes a trace of them, taken at
//! `network`, that counts the packets of the end with more bytes as sent. No packet is kept.

use std::collections::HashMap;
use std::io::{self, BufRead, Read, Write};

use crate::json::{Cursor, Malformed};

mod frames;

use frames::{Datagram, Packet};

/// Layers of tshark that [`events`] reads: the value of its option `-J`.
pub const LAYERS: &str = "frame ip ipv6 udp quic tls";

/// Bytes of one datagram in tshark's JSON: a datagram has 64 KiB, each byte of which it prints thrice, with three characters.
const MOST_BYTES: usize = 4 << 20;

/// Connections whose ends are remembered.
const CONNECTIONS: usize = 1 << 16;

/// First bytes of pcap, in both byte orders, with times in microseconds and nanoseconds, and of pcapng.
const MAGICS: [[u8; 4]; 5] = [
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0x4d, 0x3c, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x0a, 0x0d, 0x0d, 0x0a],
];

/// Whether a file that begins with `first` is a capture.
#[must_use]
pub fn is_capture(first: &[u8]) -> bool {
    MAGICS.iter().any(|magic| first.starts_with(magic))
}

/// Error of reading a capture.
#[derive(thiserror::Error)]
pub enum CaptureError {
    /// tshark's output could not be read, or events not written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The input is not what tshark prints.
    #[error("datagram {datagram} in tshark's JSON, byte {}: expected {}", error.at, error.expected)]
    Json {
        /// Number of the datagram in the capture, from 1.
        datagram: u64,
        /// The place and what was expected.
        error: Malformed,
    },
    /// A datagram is longer than any can be.
    #[error("datagram {0} in tshark's JSON is longer than {MOST_BYTES} bytes")]
    Long(u64),
}

/// An end of a connection, as far as a capture shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Client,
    Server,
}

/// A connection of a capture.
#[derive(Debug)]
struct Connection {
    /// What it is called: the client's first destination connection ID where its first packet is there.
    name: String,
    /// The server's address and port.
    server: String,
}

/// Counts of a capture.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Capture {
    /// Packets of QUIC.
    pub packets: u64,
    /// Those of them that could not be decrypted: their numbers and frames are not known.
    pub encrypted: u64,
    /// Datagrams of anything else.
    pub other: u64,
    /// Connections.
    pub connections: u64,
    /// Bytes of packets of clients, and of servers.
    pub bytes: [u64; 2],
}

/// Reads what `tshark -T json -J` [`LAYERS`] prints and writes its packets to `out`, for [`Capture::qlog`].
///
/// # Errors
/// If either fails, or `json` is something else.
pub fn events(mut json: impl BufRead, out: &mut impl Write) -> Result<Capture, CaptureError> {
    let mut capture = Capture::default();
    let mut connections: HashMap<u64, Connection> = HashMap::new();
    let mut text = Vec::new();
    let mut number = 0;
    while next(&mut json, &mut text, number + 1)? {
        number += 1;
        let datagram = frames::read(&text).map_err(|error| CaptureError::Json { datagram: number, error })?;
        if datagram.packets.is_empty() {
            capture.other += 1;
            continue;
        }
        // Coalesced packets after the first name no connection.
        let id = datagram.packets.iter().find_map(|packet| packet.connection).unwrap_or(u64::MAX);
        if !connections.contains_key(&id) {
            capture.connections += 1;
            if connections.len() < CONNECTIONS {
                connections.insert(id, connection(id, &datagram));
            }
        }
        let Some(connection) = connections.get(&id) else {
            capture.other += 1;
            continue;
        };
        let side = if datagram.source == connection.server { Side::Server } else { Side::Client };
        for packet in &datagram.packets {
            capture.packets += 1;
            capture.encrypted += u64::from(packet.number.is_none() && !packet.unnumbered());
            capture.bytes[side as usize] += packet.bytes.unwrap_or(0);
            write(&datagram, packet, side, &connection.name, out)?;
        }
    }
    Ok(capture)
}

/// Who is who in a connection whose first datagram is `datagram`.
fn connection(id: u64, datagram: &Datagram) -> Connection {
    let first = &datagram.packets[0];
    let port = |address: &str| address.rsplit(':').next().and_then(|port| port.parse::<u16>().ok()).unwrap_or(0);
    // A client begins. In what was captured later, servers have the lower port.
    let from_client = first.initial() || port(&datagram.source) > port(&datagram.destination);
    let server = if from_client { &datagram.destination } else { &datagram.source };
    let name = match &first.destination_id {
        Some(id) if first.initial() => id.clone(),
        _ => format!("connection {id}"),
    };
    Connection { name, server: server.clone() }
}

/// Writes the packet as an event without its name: a letter for who sent it, time, connection and data.
fn write(datagram: &Datagram, packet: &Packet, side: Side, name: &str, out: &mut impl Write) -> io::Result<()> {
    let letter = if side == Side::Client { 'c' } else { 's' };
    let (ms, ns) = (datagram.time / 1_000_000, datagram.time % 1_000_000);
    let group = serde_json::Value::from(name);
    writeln!(out, "{letter}{{\"time\":{ms}.{ns:06},\"group_id\":{group},\"data\":{}}}", packet.json())?;
    match &packet.parameters {
        Some(parameters) => writeln!(
            out,
            "{}{{\"time\":{ms}.{ns:06},\"group_id\":{group},\"data\":{{{parameters}}}}}",
            letter.to_ascii_uppercase()
        ),
        None => Ok(()),
    }
}

/// Reads the next object of the array into `text`; false at the end.
fn next(json: &mut impl BufRead, text: &mut Vec<u8>, number: u64) -> Result<bool, CaptureError> {
    text.clear();
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    loop {
        let chunk = json.fill_buf()?;
        if chunk.is_empty() {
            // A truncated capture: its complete packets count.
            return Ok(false);
        }
        let mut taken = chunk.len();
        let mut done = false;
        for (at, &byte) in chunk.iter().enumerate() {
            if depth == 0 && byte != b'{' {
                continue;
            }
            if depth == 0 {
                text.clear();
            }
            text.push(byte);
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quoted => escaped = true,
                b'"' => quoted = !quoted,
                b'{' if !quoted => depth += 1,
                b'}' if !quoted => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                taken = at + 1;
                done = true;
                break;
            }
        }
        json.consume(taken);
        if text.len() > MOST_BYTES {
            return Err(CaptureError::Long(number));
        }
        if done {
            return Ok(true);
        }
    }
}

impl Capture {
    /// The trace of the packets that [`events`] wrote, a JSON text sequence called `title`.
    #[must_use]
    pub fn qlog<R: BufRead>(&self, title: &str, events: R) -> impl Read + use<R> {
        let flow = if self.bytes[1] > self.bytes[0] { "server" } else { "client" };
        let title = serde_json::Value::from(title);
        let header = format!(
            "\u{1e}{{\"file_schema\":\"{}\",\"serialization_format\":\"{}\",\"title\":{title},\"trace\":{{\"title\":{title},\
             \"vantage_point\":{{\"name\":\"capture\",\"type\":\"network\",\"flow\":\"{flow}\"}},\
             \"common_fields\":{{\"time_format\":\"relative_to_epoch\",\
             \"reference_time\":{{\"clock_type\":\"system\",\"epoch\":\"1970-01-01T00:00:00.000Z\"}}}},\
             \"event_schemas\":[\"{}\"]}}}}\n",
            windlass_qlog::FILE_SCHEMA_SEQUENTIAL,
            windlass_qlog::MEDIA_TYPE_SEQUENTIAL,
            windlass_qlog::QUIC_EVENTS,
        );
        io::Cursor::new(header.into_bytes()).chain(Named {
            events,
            sender: flow.as_bytes()[0],
            line: Vec::new(),
            at: 0,
        })
    }
}

/// Gives each event its name: whether it was sent or received depends on whose packets count as sent.
struct Named<R> {
    events: R,
    sender: u8,
    line: Vec<u8>,
    at: usize,
}

impl<R: BufRead> Read for Named<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.line.len() {
            let mut event = Vec::new();
            if self.events.read_until(b'\n', &mut event)? == 0 {
                return Ok(0);
            }
            let from = event[0];
            let ours = from.to_ascii_lowercase() == self.sender;
            let name = match (from.is_ascii_uppercase(), ours) {
                (true, _) => "quic:parameters_set",
                (false, true) => "quic:packet_sent",
                (false, false) => "quic:packet_received",
            };
            self.line = format!("\u{1e}{{\"name\":\"{name}\",").into_bytes();
            self.line.extend_from_slice(&event[2..]);
            if from.is_ascii_uppercase() {
                let marker = b"\"data\":{";
                let at = self.line.windows(marker.len()).rposition(|part| part == marker);
                if let Some(at) = at {
                    let whose = if ours { &b"\"initiator\":\"local\""[..] } else { b"\"initiator\":\"remote\"" };
                    self.line.splice(at + marker.len()..at + marker.len(), whose.iter().copied());
                }
            }
            self.at = 0;
        }
        let bytes = buffer.len().min(self.line.len() - self.at);
        buffer[..bytes].copy_from_slice(&self.line[self.at..self.at + bytes]);
        self.at += bytes;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests;
