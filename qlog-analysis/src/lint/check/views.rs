//! What qvis' multiplexing and packetization views need of a trace.

use std::collections::HashMap;

use serde_json::Value;

use super::Checker;
use super::value::{Object, integer};
use crate::lint::Rule;

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
