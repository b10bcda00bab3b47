//! Rules of frames.

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
