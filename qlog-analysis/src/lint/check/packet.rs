//! Rules of packets sent, received and lost.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Checker;
use super::value::{Object, integer, shown};
use crate::lint::{Rule, names};

/// The type and number of a packet, as far as they are logged.
pub(super) struct Header<'a> {
    pub kind: Option<&'a str>,
    pub number: Option<u64>,
}

/// Packets remembered in each packet number space.
const REMEMBERED: usize = 1 << 20;

/// Packets sent in a trace and not yet acknowledged, and how many were.
#[derive(Debug, Default)]
pub(super) struct Flight {
    /// Packets sent whose length is logged.
    pub sent: u64,
    /// Numbers in acknowledged ranges, each as often as it is named.
    pub acknowledged: u64,
    /// Unacknowledged packets with their send times, ms, by packet number space.
    spaces: [Space; 3],
}

#[derive(Debug, Default)]
struct Space {
    flying: BTreeMap<u64, f64>,
    largest: Option<u64>,
}

fn space(kind: Option<&str>) -> Option<usize> {
    match kind? {
        "initial" => Some(0),
        "handshake" => Some(1),
        "0RTT" | "1RTT" => Some(2),
        _ => None,
    }
}

impl Flight {
    /// A packet left at `now`, ms.
    pub fn send(&mut self, kind: Option<&str>, number: Option<u64>, now: f64, measured: bool) {
        self.sent += u64::from(measured);
        let (Some(space), Some(number)) = (space(kind), number) else { return };
        let space = &mut self.spaces[space];
        space.flying.insert(number, now);
        space.largest = space.largest.max(Some(number));
        if space.flying.len() > REMEMBERED {
            space.flying.pop_first();
        }
    }

    /// Packets were acknowledged at `now`, ms. Gives the RTT of the largest, ms, if it is
    /// newly acknowledged, and whether the largest was sent at all. That is taken for granted
    /// where no packet of the space was.
    pub fn acknowledge(
        &mut self,
        kind: Option<&str>,
        ranges: impl Iterator<Item = (u64, u64)>,
        largest: u64,
        now: f64,
    ) -> (Option<f64>, bool) {
        let Some(space) = space(kind) else { return (None, true) };
        let space = &mut self.spaces[space];
        let Some(sent) = space.largest else { return (None, true) };
        let rtt = space.flying.get(&largest).map(|departed| now - departed);
        for (low, high) in ranges {
            while let Some((&number, _)) = space.flying.range(low..=high).next() {
                space.flying.remove(&number);
            }
        }
        (rtt, largest <= sent)
    }
}

impl Checker {
    /// The header of a packet, which has to be there if `required`.
    fn header<'a>(&mut self, data: &'a Object, required: bool) -> Header<'a> {
        let header = self.object(data, "header");
        if required && header.is_none() && !data.contains_key("header") {
            self.required(data, "header");
        }
        let mut kind = header.and_then(|header| self.text(header, "packet_type"));
        if kind.is_none() && data.contains_key("packet_type") {
            kind = data.get("packet_type").and_then(Value::as_str);
            if self.ietf() {
                self.outdated(data, "packet_type", "header.packet_type");
            } else if !self.is_legacy() {
                self.add(Rule::PacketTypePlace, || "packet_type stands in data".to_owned());
            }
        } else if let Some(header) = header.filter(|header| required && !header.contains_key("packet_type")) {
            self.required(header, "packet_type");
        }
        if let Some(name) = kind.filter(|kind| !names::PACKET_TYPES.contains(kind)) {
            self.add(Rule::FieldType, || format!("packet_type is {name:?}; expected one of {:?}", names::PACKET_TYPES));
        }
        let number = header.and_then(|header| self.integer(header, "packet_number"));
        let numbered = matches!(kind, Some("initial" | "handshake" | "0RTT" | "1RTT"));
        if let Some(header) = header.filter(|_| required && numbered) {
            self.required(header, "packet_number");
        }
        Header { kind, number }
    }

    /// The bytes of a packet, if logged.
    fn length(&mut self, data: &Object) -> Option<u64> {
        let raw = self.object(data, "raw");
        let length = raw.and_then(|raw| self.integer(raw, "length")).filter(|&length| length > 0);
        if let Some(raw) = raw {
            self.integer(raw, "payload_length");
        }
        let header = data.get("header").and_then(Value::as_object);
        let in_header = header.and_then(|header| header.get("packet_size")).and_then(integer).filter(|&size| size > 0);
        if let Some(header) = header.filter(|header| header.contains_key("packet_size")) {
            if self.ietf() {
                self.outdated(header, "packet_size", "raw.length");
            } else if !self.is_legacy() {
                self.add(Rule::PacketSizePlace, || "packet_size stands in the header".to_owned());
            }
        }
        if length.is_none() && in_header.is_none() {
            let raw = data.get("raw").map_or("missing".to_owned(), shown);
            self.add(Rule::RawLength, || format!("raw is {raw}, so the packet has no length"));
        }
        length.or(in_header)
    }

    /// A packet sent or received.
    pub(super) fn packet(&mut self, data: &Object, sent: bool) {
        let header = self.header(data, true);
        let length = self.length(data);
        if sent {
            self.trigger(data, names::SEND_TRIGGERS);
            let now = self.trace.latest.unwrap_or(0.0);
            self.trace.flight.send(header.kind, header.number, now, length.is_some());
        }
        let frames = self.list(data, "frames");
        if frames.is_some_and(<[Value]>::is_empty) && !self.is_legacy() {
            self.add(Rule::FramesEmpty, || "frames is an empty list".to_owned());
        }
        self.packet_room(data, length, frames.unwrap_or_default());
        for frame in frames.unwrap_or_default() {
            self.frame(frame, &header, sent);
        }
    }

    /// Checks the header and trigger of `recovery:packet_lost`.
    pub(super) fn lost(&mut self, data: &Object) {
        let header = self.header(data, false);
        if header.number.is_none() {
            self.add(Rule::LostHeader, || "header.packet_number is missing".to_owned());
        }
        self.trigger(data, names::LOSS_TRIGGERS);
    }

    fn trigger(&mut self, data: &Object, known: &[&str]) {
        if let Some(trigger) = self.text(data, "trigger").filter(|trigger| !known.contains(trigger)) {
            self.add(Rule::Trigger, || format!("trigger is {trigger:?}; expected one of {known:?}"));
        }
    }
}
