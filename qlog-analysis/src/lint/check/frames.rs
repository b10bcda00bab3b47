//! Rules of frames, and what qvis' multiplexing and packetization views need of a trace.

use std::collections::HashMap;

use serde_json::Value;

use super::Checker;
use super::packet::Header;
use super::value::{Object, integer, shown};
use crate::lint::Rule;
use crate::model::FrameTypes;

/// More numbers than this in one acknowledged range, or
const SPAN: u64 = 1_000_000;
/// more than this in all ranges of a trace, and qvis stands still for minutes.
const SPANS: u64 = 100_000_000;

impl Checker {
    /// A frame of a packet.
    pub(super) fn frame(&mut self, frame: &Value, packet: &Header<'_>, sent: bool) {
        let kind = frame.get("frame_type").and_then(Value::as_str);
        let (Some(kind), Some(fields)) = (kind, frame.as_object()) else {
            self.add(Rule::FrameType, || format!("the frame {} has no frame_type", shown(frame)));
            return;
        };
        if !FrameTypes::NAMES.contains(&kind) {
            self.add(Rule::FrameType, || format!("frame_type {kind:?} is unknown"));
        }
        match kind {
            "ack" => self.ack(fields, packet, sent),
            "crypto" | "stream" | "datagram" => {
                self.data_frame(kind, fields);
                if let Some(id) = fields.get("stream_id").and_then(integer).filter(|_| kind == "stream") {
                    self.stream_data(id, sent);
                }
            }
            "max_data" | "max_stream_data" | "max_streams" => {
                self.integer(fields, "maximum");
            }
            _ => {}
        }
    }

    fn data_frame(&mut self, kind: &str, fields: &Object) {
        self.integer(fields, "offset");
        self.integer(fields, "stream_id");
        let raw = self.object(fields, "raw");
        let in_raw = raw.and_then(|raw| self.integer(raw, "length"));
        let direct = self.integer(fields, "length");
        let missing = if self.ietf() {
            self.outdated(fields, "length", "raw.length");
            // A stream or datagram frame may go without a length on the wire.
            kind == "crypto" && in_raw.is_none() && direct.is_none()
        } else {
            direct.is_none()
        };
        if missing {
            let place = if self.ietf() { "raw.length" } else { "length" };
            self.add(Rule::FrameLength, || format!("the {kind} frame has no {place}"));
        }
    }

    fn ack(&mut self, fields: &Object, packet: &Header<'_>, sent: bool) {
        self.number(fields, "ack_delay");
        for name in ["ect0", "ect1", "ce"] {
            self.integer(fields, name);
        }
        let mut largest = None;
        for range in self.list(fields, "acked_ranges").unwrap_or_default() {
            let Some((low, high)) = ends(range) else {
                self.add(Rule::AckRange, || format!("acked_ranges has {}", shown(range)));
                continue;
            };
            let numbers = u64::try_from(high - low + 1).unwrap_or(u64::MAX);
            if low < 0 {
                self.add(Rule::AckRange, || format!("acked_ranges has {}", shown(range)));
            }
            let flight = &mut self.trace.flight;
            let before = flight.acknowledged;
            flight.acknowledged = before.saturating_add(numbers);
            if numbers > SPAN {
                self.add(Rule::AckSpan, || format!("the range [{low}, {high}] spans {numbers} numbers"));
            } else if before <= SPANS && before.saturating_add(numbers) > SPANS {
                self.add(Rule::AckSpan, || format!("the ranges so far span more than {SPANS} numbers"));
            }
            largest = largest.max(u64::try_from(high).ok());
        }
        if sent || self.trace.network {
            return;
        }
        let Some(largest) = largest else { return };
        let now = self.trace.latest.unwrap_or(0.0);
        let ranges = fields["acked_ranges"].as_array().into_iter().flatten().filter_map(numbers);
        let (rtt, known) = self.trace.flight.acknowledge(packet.kind, ranges, largest, now);
        if !known {
            self.add(Rule::AckUnsent, || format!("packet {largest} is acknowledged and was not sent"));
        }
        self.trace.rtt.observe(rtt, now);
    }
}

/// The ends of an acknowledged range; a hostile one may be negative, and qvis visits it
/// all the same.
fn ends(range: &Value) -> Option<(i128, i128)> {
    let end = |value: &Value| integer(value).map(i128::from).or_else(|| value.as_i64().map(i128::from));
    let range = range.as_array()?;
    let low = end(range.first()?)?;
    let high = range.get(1).map_or(Some(low), end)?;
    (range.len() <= 2 && low <= high).then_some((low, high))
}

/// The packet numbers of an acknowledged range.
fn numbers(range: &Value) -> Option<(u64, u64)> {
    let (low, high) = ends(range)?;
    Some((u64::try_from(low).ok()?, u64::try_from(high).ok()?))
}

/// Streams remembered.
const STREAMS: usize = 1 << 12;

/// Bytes that qvis takes for a packet's header where the payload's length is not logged, and for its authentication tag.
const HEADER: u64 = 4;
const TAG: u64 = 16;

/// Stream data of a trace, as far as qvis looks at them.
#[derive(Debug, Default)]
pub(super) struct Views {
    /// A stream that has data, of those the view does not draw.
    other: Option<u64>,
    /// Whether there are data that it draws.
    drawn: bool,
    /// Streams that a client opened for requests, and whether the first data of each were the request.
    requests: HashMap<u64, bool>,
}

impl Checker {
    /// A stream frame of a packet. qvis draws what a server sends and what anyone else receives, on streams that a
    /// client opens in both directions; without a vantage point it draws none.
    pub(super) fn stream_data(&mut self, id: u64, sent: bool) {
        let Some(server) = self.trace.server else { return };
        let views = &mut self.trace.views;
        if id.is_multiple_of(4) {
            views.drawn |= sent == server;
            if views.requests.len() < STREAMS {
                views.requests.entry(id).or_insert(sent != server);
            }
        }
        if !id.is_multiple_of(4) || sent != server {
            views.other.get_or_insert(id);
        }
    }

    /// That a packet has room for the data in it, a frame header of a byte each, as qvis reckons.
    pub(super) fn packet_room(&mut self, data: &Object, length: Option<u64>, frames: &[Value]) {
        let payload =
            data.get("raw").and_then(|raw| raw.get("payload_length")).and_then(integer).filter(|&length| length > 0);
        let streams = frames.iter().filter(|frame| frame.get("frame_type").and_then(Value::as_str) == Some("stream"));
        let carried = streams.map(|frame| frame.get("length").and_then(integer).unwrap_or(0).saturating_add(1));
        let carried = carried.fold(0_u64, u64::saturating_add);
        let room = payload.or(length.map(|length| length.saturating_sub(HEADER))).map(|room| room.saturating_sub(TAG));
        if let Some(room) = room.filter(|&room| carried > room) {
            self.add(Rule::PacketRoom, || {
                format!("a packet with room for {room} bytes has stream frames of {carried}")
            });
        }
    }

    /// Reports faults that only the end of a trace shows.
    pub(super) fn end_of_views(&mut self) {
        let views = std::mem::take(&mut self.trace.views);
        if let Some(id) = views.other.filter(|_| !views.drawn) {
            let way = if self.trace.server == Some(true) { "sent" } else { "received" };
            self.add(Rule::RequestStreams, || format!("data is on stream {id}, and none {way} on streams 0, 4, 8, …"));
        }
        let late = views.requests.values().filter(|&&first| !first).count();
        // Of a single stream qvis draws no waterfall.
        if late > 0 && views.requests.len() > 1 {
            let all = views.requests.len();
            self.add(Rule::RequestFirst, || format!("of {all} request streams {late} begin with something else"));
        }
    }
}
