//! A datagram in tshark's JSON: its packets and their frames.
//!
//! Keys repeat, a frame each, so that the text is visited rather than kept. Numbers are texts, decimal or, in some
//! versions, hexadecimal.

use std::fmt::Write;

use super::{Cursor, Malformed};
use crate::model::TransportParameters;

/// A datagram.
#[derive(Default, Debug)]
pub(super) struct Datagram {
    /// Time of capture, ns since 1970.
    pub(super) time: i64,
    /// Address and port it came from.
    pub(super) source: String,
    /// Address and port it went to.
    pub(super) destination: String,
    pub(super) packets: Vec<Packet>,
}

/// A packet of QUIC.
#[derive(Default, Debug)]
pub(super) struct Packet {
    /// tshark's number of the connection.
    pub(super) connection: Option<u64>,
    /// Its size, bytes.
    pub(super) bytes: Option<u64>,
    /// Destination connection ID, hexadecimal digits.
    pub(super) destination_id: Option<String>,
    /// Packet number; `None` if it was not decrypted.
    pub(super) number: Option<u64>,
    /// Type of a long header, and whether the version is 2, which counts types differently (`RFC 9369 §3.2`).
    long: Option<u64>,
    version_2: bool,
    /// The version of a long header.
    version: Option<u64>,
    version_negotiation: bool,
    /// Whether it is no packet but what fills the datagram behind the last one (`RFC 9000 §14.1`, `§12.2`).
    padding: bool,
    frames: Vec<String>,
    /// Flow control limits among transport parameters, as JSON fields, each with a comma before it.
    pub(super) parameters: Option<String>,
}

impl Packet {
    /// qlog's name of its type.
    fn kind(&self) -> &'static str {
        const TYPES: [&str; 4] = ["initial", "0RTT", "handshake", "retry"];
        match self.long {
            _ if self.version_negotiation => "version_negotiation",
            Some(kind) => TYPES[(if self.version_2 { kind + 3 } else { kind }) as usize % 4],
            None => "1RTT",
        }
    }

    /// Whether it is an Initial packet.
    pub(super) fn initial(&self) -> bool {
        self.kind() == "initial"
    }

    /// Whether its type has no packet number.
    pub(super) fn unnumbered(&self) -> bool {
        matches!(self.kind(), "retry" | "version_negotiation")
    }

    /// The data of its event.
    pub(super) fn json(&self) -> String {
        // A packet of a known type would have to have its number.
        let kind = if self.number.is_none() && !self.unnumbered() { "unknown" } else { self.kind() };
        let mut json = format!("{{\"header\":{{\"packet_type\":\"{kind}\"");
        if let Some(number) = self.number {
            let _ = write!(json, ",\"packet_number\":{number}");
        }
        // Version Negotiation packets have 0 in its place.
        if let Some(version) = self.version.filter(|&version| version != 0) {
            let _ = write!(json, ",\"version\":\"{version:08x}\"");
        }
        json.push('}');
        if let Some(bytes) = self.bytes {
            let _ = write!(json, ",\"raw\":{{\"length\":{bytes}}}");
        }
        if self.number.is_some() {
            let _ = write!(json, ",\"frames\":[{}]", self.frames.join(","));
        }
        json.push('}');
        json
    }
}

/// Reads a datagram.
pub(super) fn read(text: &[u8]) -> Result<Datagram, Malformed> {
    let mut datagram = Datagram::default();
    let (mut ports, mut hosts) = ([0_u64; 2], [String::new(), String::new()]);
    let mut cursor = Cursor::new(text);
    cursor.object(|key, value| match key {
        b"_source" if value.peek() == Some(b'{') => value.object(|key, value| match key {
            b"layers" if value.peek() == Some(b'{') => value.object(|key, value| {
                match key {
                    b"frame" => {
                        let time = value.field(&[b"frame.time_epoch"], Cursor::decimal)?;
                        datagram.time = time.and_then(|time| time.scaled(9)).unwrap_or(0);
                    }
                    // The layers of a tunnel come first, and the innermost counts.
                    b"ip" | b"ipv6" => value.object(|key, value| {
                        match key {
                            b"ip.src" | b"ipv6.src" => hosts[0] = text_of(value)?,
                            b"ip.dst" | b"ipv6.dst" => hosts[1] = text_of(value)?,
                            _ => value.skip()?,
                        }
                        Ok(())
                    })?,
                    b"udp" => value.object(|key, value| {
                        match key {
                            b"udp.srcport" => ports[0] = value.whole()?.unwrap_or(0),
                            b"udp.dstport" => ports[1] = value.whole()?.unwrap_or(0),
                            _ => value.skip()?,
                        }
                        Ok(())
                    })?,
                    b"quic" if value.peek() == Some(b'{') => {
                        datagram.packets.extend(Some(packet(value)?).filter(|packet| !packet.padding));
                    }
                    _ => value.skip()?,
                }
                Ok(())
            }),
            _ => value.skip(),
        }),
        _ => value.skip(),
    })?;
    let [source, destination] = [0, 1].map(|i| format!("{}:{}", hosts[i], ports[i]));
    (datagram.source, datagram.destination) = (source, destination);
    Ok(datagram)
}

fn text_of(value: &mut Cursor<'_>) -> Result<String, Malformed> {
    Ok(value.string()?.unwrap_or_default().into_owned())
}

/// A number, decimal or hexadecimal.
fn number(value: &mut Cursor<'_>) -> Result<Option<u64>, Malformed> {
    if value.peek() != Some(b'"') {
        return value.whole();
    }
    let text = text_of(value)?;
    Ok(match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    })
}

fn packet(value: &mut Cursor<'_>) -> Result<Packet, Malformed> {
    let mut packet = Packet::default();
    fields(value, &mut packet)?;
    Ok(packet)
}

/// The fields of a packet, those of its header's parts too.
fn fields(value: &mut Cursor<'_>, packet: &mut Packet) -> Result<(), Malformed> {
    value.object(|key, value| {
        match key {
            b"quic.connection.number" => packet.connection = number(value)?,
            b"quic.packet_length" => packet.bytes = number(value)?,
            b"quic.long.packet_type" => packet.long = number(value)?,
            b"quic.long.packet_type_v2" => {
                packet.long = number(value)?;
                packet.version_2 = true;
            }
            b"quic.version" => packet.version = number(value)?,
            b"quic.vn.unused" => packet.version_negotiation = text_of(value).map(|_| true)?,
            b"quic.packet_number" => packet.number = number(value)?,
            b"quic.dcid" => packet.destination_id = Some(text_of(value)?.replace(':', "")),
            b"quic.frame" if value.peek() == Some(b'{') => {
                let frame = frame(value, &mut packet.parameters)?;
                packet.frames.push(frame);
            }
            b"quic.coalesced_padding_data" => packet.padding = text_of(value).map(|_| true)?,
            b"QUIC Connection information" | b"quic.short" | b"_ws.expert" if value.peek() == Some(b'{') => {
                fields(value, packet)?
            }
            _ => value.skip()?,
        }
        Ok(())
    })
}

/// Fields of a frame, read before its type is known.
#[derive(Default)]
struct Fields {
    kind: Option<u64>,
    stream: Option<u64>,
    offset: Option<u64>,
    length: Option<u64>,
    /// A limit, an error code, a largest number.
    value: Option<u64>,
    final_size: Option<u64>,
    /// The first range, then gap and range in turn.
    ranges: Vec<u64>,
    ecn: [Option<u64>; 3],
    ack_delay: Option<u64>,
}

/// Reads a frame; its qlog.
fn frame(value: &mut Cursor<'_>, parameters: &mut Option<String>) -> Result<String, Malformed> {
    let mut read = Fields::default();
    value.object(|key, value| {
        match key {
            b"quic.frame_type" => read.kind = number(value)?,
            b"quic.padding_length" | b"quic.crypto.length" | b"quic.stream.length" | b"quic.dg.length" => {
                read.length = number(value)?;
            }
            // Without a length a frame ends with its packet.
            b"quic.stream_data" | b"quic.dg" => {
                let bytes = (text_of(value)?.len() as u64).div_ceil(3);
                read.length = read.length.or(Some(bytes));
            }
            b"quic.stream.stream_id"
            | b"quic.msd.stream_id"
            | b"quic.sdb.stream_id"
            | b"quic.rsts.stream_id"
            | b"quic.ss.stream_id" => read.stream = number(value)?,
            b"quic.stream.offset" | b"quic.crypto.offset" => read.offset = number(value)?,
            b"quic.md.maximum_data"
            | b"quic.msd.maximum_stream_data"
            | b"quic.ms.max_streams"
            | b"quic.sb.stream_data_limit"
            | b"quic.sib.stream_limit"
            | b"quic.rsts.application_error_code"
            | b"quic.ss.application_error_code"
            | b"quic.ack.largest_acknowledged" => read.value = number(value)?,
            b"quic.rsts.final_size" => read.final_size = number(value)?,
            b"quic.ack.first_ack_range" | b"quic.ack.gap" | b"quic.ack.ack_range" => {
                read.ranges.extend(number(value)?);
            }
            b"quic.ack.ect0_count" => read.ecn[0] = number(value)?,
            b"quic.ack.ect1_count" => read.ecn[1] = number(value)?,
            b"quic.ack.ecn_ce_count" => read.ecn[2] = number(value)?,
            b"quic.ack.ack_delay" => read.ack_delay = number(value)?,
            b"tls" if value.peek() == Some(b'{') => limits(value, parameters)?,
            _ => value.skip()?,
        }
        Ok(())
    })?;
    Ok(json(&read))
}

/// Transport parameters in TLS messages, however deep.
fn limits(value: &mut Cursor<'_>, parameters: &mut Option<String>) -> Result<(), Malformed> {
    value.object(|key, value| {
        let name = key.strip_prefix(b"tls.quic.parameter.");
        let limit = name.and_then(|name| TransportParameters::NAMES.into_iter().find(|limit| limit.as_bytes() == name));
        match (limit, value.peek()) {
            (Some(limit), _) => {
                if let Some(number) = number(value)? {
                    let _ = write!(parameters.get_or_insert_default(), ",\"{limit}\":{number}");
                }
            }
            (None, Some(b'{')) => limits(value, parameters)?,
            _ => value.skip()?,
        }
        Ok(())
    })
}

/// A frame as qlog has it.
fn json(read: &Fields) -> String {
    let Some(kind) = read.kind else { return r#"{"frame_type":"unknown"}"#.to_owned() };
    let mut json = String::from("{\"frame_type\":");
    let mut put = |name: &str, fields: &[(&str, Option<u64>)]| {
        let _ = write!(json, "\"{name}\"");
        for (key, value) in fields {
            if let Some(value) = value {
                let _ = write!(json, ",\"{key}\":{value}");
            }
        }
    };
    let stream = ("stream_id", read.stream);
    let direction = |odd: bool| if odd { "unidirectional" } else { "bidirectional" };
    let mut tail = String::new();
    match kind {
        0 => put("padding", &[]),
        1 => put("ping", &[]),
        2 | 3 => {
            put("ack", &[]);
            // Exponents other than RFC 9000's default are in transport parameters, which few captures have.
            if let Some(delay) = read.ack_delay.filter(|&delay| delay < 1 << 40) {
                let ns = delay * 8000;
                let _ = write!(tail, ",\"ack_delay\":{}.{:06}", ns / 1_000_000, ns % 1_000_000);
            }
            let ranges = ranges(read.value, &read.ranges);
            if !ranges.is_empty() {
                let _ = write!(tail, ",\"acked_ranges\":[{}]", ranges.join(","));
            }
            for (name, count) in ["ect0", "ect1", "ce"].into_iter().zip(read.ecn) {
                if let Some(count) = count {
                    let _ = write!(tail, ",\"{name}\":{count}");
                }
            }
        }
        4 => {
            put("reset_stream", &[stream]);
            let _ = write!(tail, ",\"error\":\"unknown\",\"error_code\":{}", read.value.unwrap_or(0));
            let _ = write!(tail, ",\"final_size\":{}", read.final_size.unwrap_or(0));
        }
        5 => {
            put("stop_sending", &[stream]);
            let _ = write!(tail, ",\"error\":\"unknown\",\"error_code\":{}", read.value.unwrap_or(0));
        }
        6 => put("crypto", &[("offset", Some(read.offset.unwrap_or(0)))]),
        7 => put("new_token", &[]),
        8..=15 => {
            put("stream", &[stream, ("offset", Some(read.offset.unwrap_or(0)))]);
            if kind & 1 == 1 {
                tail.push_str(",\"fin\":true");
            }
        }
        0x10 => put("max_data", &[("maximum", read.value)]),
        0x11 => put("max_stream_data", &[stream, ("maximum", read.value)]),
        0x12 | 0x13 => {
            put("max_streams", &[("maximum", read.value)]);
            let _ = write!(tail, ",\"stream_type\":\"{}\"", direction(kind == 0x13));
        }
        0x14 => put("data_blocked", &[("limit", read.value)]),
        0x15 => put("stream_data_blocked", &[stream, ("limit", read.value)]),
        0x16 | 0x17 => {
            put("streams_blocked", &[("limit", read.value)]);
            let _ = write!(tail, ",\"stream_type\":\"{}\"", direction(kind == 0x17));
        }
        0x18 => put("new_connection_id", &[]),
        0x19 => put("retire_connection_id", &[]),
        0x1a => put("path_challenge", &[]),
        0x1b => put("path_response", &[]),
        0x1c | 0x1d => put("connection_close", &[]),
        0x1e => put("handshake_done", &[]),
        0x30 | 0x31 => put("datagram", &[]),
        _ => put("unknown", &[]),
    }
    let length = match kind {
        0 => read.length.map(|length| ("payload_length", length)),
        6 | 8..=15 | 0x30 | 0x31 => Some(("length", read.length.unwrap_or(0))),
        _ => None,
    };
    if let Some((key, length)) = length {
        let _ = write!(tail, ",\"raw\":{{\"{key}\":{length}}}");
    }
    json.push_str(&tail);
    json.push('}');
    json
}

/// Acknowledged ranges from the largest number, the first range, and gaps and ranges in turn (`RFC 9000 §19.3.1`).
fn ranges(largest: Option<u64>, encoded: &[u64]) -> Vec<String> {
    let mut found = Vec::new();
    let (Some(mut high), Some((first, rest))) = (largest, encoded.split_first()) else { return found };
    let mut length = *first;
    let mut rest = rest.chunks_exact(2);
    loop {
        let Some(low) = high.checked_sub(length) else { return found };
        found.push(if low == high { format!("[{low}]") } else { format!("[{low},{high}]") });
        let Some([gap, next]) = rest.next() else { return found };
        let Some(next_high) = low.checked_sub(gap.saturating_add(2)) else { return found };
        (high, length) = (next_high, *next);
    }
}
