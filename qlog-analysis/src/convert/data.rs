//! The data of events: into the form of the IETF's schema, and from it into that of 0.3.

use std::borrow::Cow;

use windlass_qlog::MAX_SAFE_INTEGER;

use super::Omitted;
use super::node::{Node, millis};
use crate::model::{SchemaVersion, Unbounded};
use crate::read::encoding::Encoding;

/// Bytes that qvis takes for a packet's header and its authentication tag, beside a byte each frame.
const HEADER: u64 = 4;
const TAG: u64 = 16;

/// Delays that a trace may write in another unit than milliseconds.
const DELAYS: [&str; 7] =
    ["min_rtt", "smoothed_rtt", "latest_rtt", "rtt_variance", "rttvar", "ack_delay", "initial_rtt"];

/// Whether an event of this kind is about a packet.
pub(super) fn is_packet(kind: &str) -> bool {
    matches!(kind, "packet_sent" | "packet_received" | "packet_lost" | "packet_dropped" | "packet_buffered")
}

/// Brings the data of an event into the IETF form; `kind` is its name there.
pub(super) fn to_ietf(kind: &str, data: &mut Node<'_>, schema_version: SchemaVersion, encoding: &Encoding) {
    if schema_version != SchemaVersion::Ietf {
        numbers(data);
    }
    match kind {
        "recovery_metrics_updated" => {
            data.rename("cwnd", "congestion_window");
            data.rename("current_cwnd", "congestion_window");
            if let Some(limited) = data.get_mut("app_limited")
                && let Some(word) = limited.text()
            {
                *limited = Node::Scalar(Cow::Borrowed(if word.starts_with(b"app_l") { b"true" } else { b"false" }));
            }
            for name in ["ssthresh", "pacing_rate", "congestion_window"] {
                let field = if name == "ssthresh" { Unbounded::Ssthresh } else { Unbounded::Other };
                if data.get(name).and_then(Node::whole).is_some_and(|number| field.is_none(number)) {
                    data.take(name);
                }
            }
            if encoding.pacing_factor != 1
                && let Some(rate) = data.get_mut("pacing_rate")
                && let Some(bytes) = rate.whole()
            {
                *rate = Node::number(bytes.saturating_mul(encoding.pacing_factor));
            }
            data.rename("rttvar", "rtt_variance");
            delays(data, encoding);
        }
        "recovery_parameters_set" => delays(data, encoding),
        "parameters_set" => data.rename("owner", "initiator"),
        "mtu_updated" if !data.has("new") => data.rename("mtu", "new"),
        kind if is_packet(kind) => packet_to_ietf(data, encoding),
        _ => {}
    }
}

/// Renames the fields of mvfst's event for several losses to those of ours.
pub(super) fn losses(data: &mut Node<'_>) {
    data.rename("lost_packets", "packets");
    data.rename("lost_bytes", "bytes");
    data.rename("largest_lost_packet_num", "newest_packet_number");
}

/// Numbers that drafts wrote as texts become numbers again.
fn numbers(node: &mut Node<'_>) {
    const WORDS: [&str; 23] = [
        "ack_delay",
        "acked_ranges",
        "bytes_in_flight",
        "ce",
        "congestion_window",
        "cwnd",
        "ect0",
        "ect1",
        "error_code",
        "final_size",
        "latest_rtt",
        "length",
        "limit",
        "maximum",
        "min_rtt",
        "offset",
        "packet_number",
        "packet_size",
        "payload_length",
        "rtt_variance",
        "smoothed_rtt",
        "ssthresh",
        "stream_id",
    ];
    match node {
        Node::Object(fields) => {
            for (key, value) in fields {
                match std::str::from_utf8(key) {
                    Ok(key) if WORDS.binary_search(&key).is_ok() => bare(value),
                    _ => numbers(value),
                }
            }
        }
        Node::Array(elements) => elements.iter_mut().for_each(numbers),
        Node::Scalar(_) => {}
    }
}

/// A number as a text, or a list of such, without the quotes; one that JSON would not keep
/// exact stays.
fn bare(node: &mut Node<'_>) {
    match node {
        Node::Array(elements) => elements.iter_mut().for_each(bare),
        Node::Scalar(_) => {
            let Some(text) = node.text().map(<[u8]>::to_vec) else { return };
            let plain = text.first().is_some_and(|first| first.is_ascii_digit())
                && !(text.len() > 1 && text[0] == b'0' && text[1].is_ascii_digit())
                && text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
                && text.iter().filter(|byte| **byte == b'.').count() <= 1
                && text.last() != Some(&b'.');
            if plain && node.whole().is_none_or(|number| number <= MAX_SAFE_INTEGER) {
                *node = Node::Scalar(Cow::Owned(text));
            }
        }
        Node::Object(_) => {}
    }
}

/// Writes delays in milliseconds.
fn delays(node: &mut Node<'_>, encoding: &Encoding) {
    if encoding.rtt_places == 6 {
        return;
    }
    for key in DELAYS {
        let Some(value) = node.get_mut(key) else { continue };
        if let Some(ns) = value.decimal().and_then(|delay| delay.scaled(encoding.rtt_places)) {
            let mut text = Vec::new();
            millis(ns, &mut text);
            *value = Node::Scalar(Cow::Owned(text));
        }
    }
}

/// A packet type as the schema spells it.
fn packet_type(word: &[u8]) -> Option<&'static str> {
    Some(match word {
        b"onertt" | b"1rtt" | b"short" => "1RTT",
        b"zerortt" | b"0rtt" => "0RTT",
        b"INITIAL" => "initial",
        b"HANDSHAKE" => "handshake",
        b"UNKNOWN" => "unknown",
        _ => return None,
    })
}

fn packet_to_ietf(data: &mut Node<'_>, encoding: &Encoding) {
    let known: [&[u8]; 6] = [b"initial", b"handshake", b"0RTT", b"1RTT", b"retry", b"version_negotiation"];
    let is_type =
        |node: &Node<'_>| node.text().is_some_and(|word| known.contains(&word) || packet_type(word).is_some());
    if data.get("type").is_some_and(is_type) {
        data.rename("type", "packet_type");
    }
    data.rename("packet_nr", "packet_number");
    for (old, new) in [("packet_type", "packet_type"), ("packet_number", "packet_number")] {
        let Some(value) = data.take(old) else { continue };
        if !matches!(data.get("header"), Some(Node::Object(_))) {
            data.set_first("header", Node::empty());
        }
        if let Some(header) = data.get_mut("header").filter(|header| !header.has(new)) {
            header.set(new, value);
        }
    }
    let mut size = data.take("packet_size").or_else(|| data.take("length"));
    if let Some(header) = data.get_mut("header") {
        if let Some(word) = header.get("packet_type").and_then(Node::text).and_then(packet_type) {
            header.set("packet_type", Node::word(word));
        }
        // The second is where quinn has it.
        size = header.take("packet_size").or(size).or_else(|| header.take("length"));
    }
    if let Some(size) = size {
        match data.get_mut("raw") {
            Some(raw @ Node::Object(_)) if raw.has("length") => {}
            Some(raw @ Node::Object(_)) => raw.set_first("length", size),
            _ => after_header(data, "raw", Node::Object(vec![(Cow::Borrowed(b"length"), size)])),
        }
    }
    if let Some(Node::Array(frames)) = data.get_mut("frames") {
        frames.iter_mut().for_each(|frame| frame_to_ietf(frame, encoding));
    }
}

/// Puts a field behind the header.
fn after_header<'a>(data: &mut Node<'a>, key: &'static str, value: Node<'a>) {
    data.take(key);
    let Node::Object(fields) = data else { return };
    let at = fields.iter().position(|(name, _)| **name == *b"header").map_or(0, |at| at + 1);
    fields.insert(at, (Cow::Borrowed(key.as_bytes()), value));
}

fn frame_to_ietf(frame: &mut Node<'_>, encoding: &Encoding) {
    frame.rename("type", "frame_type");
    let kind = frame.get("frame_type").and_then(Node::text).map(|kind| kind.to_ascii_lowercase()).unwrap_or_default();
    if frame.get("frame_type").and_then(Node::text).is_some_and(|word| word != kind.as_slice()) {
        frame.set("frame_type", Node::word(&String::from_utf8_lossy(&kind)));
    }
    delays(frame, encoding);
    match kind.as_slice() {
        b"stream" | b"crypto" | b"datagram" => {
            if kind == b"stream" && frame.has("id") {
                frame.rename("id", "stream_id");
                if let Some(id) = frame.get_mut("stream_id") {
                    bare(id);
                }
            }
            length_in(frame, "length");
            if kind == b"crypto" {
                wire_length(frame);
            }
        }
        b"padding" => length_in(frame, "payload_length"),
        b"ack" | b"path_ack" | b"ack_mp" | b"mp_ack" => {
            frame.rename("ack_ranges", "acked_ranges");
            if let Some(Node::Array(ranges)) = frame.get_mut("acked_ranges") {
                if encoding.half_open {
                    ranges.iter_mut().for_each(closed);
                }
                ranges.iter_mut().for_each(one_or_two);
            }
        }
        _ => {}
    }
    if frame.has("error_code") && !frame.has("error") && matches!(kind.as_slice(), b"reset_stream" | b"stop_sending") {
        let Node::Object(fields) = frame else { return };
        let at = fields.iter().position(|(name, _)| **name == *b"error_code").unwrap_or(0);
        fields.insert(at, (Cow::Borrowed(b"error"), Node::word("unknown")));
    }
}

/// The length of a frame's data, which older drafts have beside it, into `raw`.
fn length_in(frame: &mut Node<'_>, key: &'static str) {
    let Some(length) = frame.get("length").cloned() else { return };
    if matches!(frame.get("raw"), Some(Node::Object(_))) {
        frame.take("length");
        if let Some(raw) = frame.get_mut("raw").filter(|raw| !raw.has(key)) {
            raw.set_first(key, length);
        }
    } else {
        frame.take("raw");
        frame.replace("length", "raw", Node::Object(vec![(Cow::Borrowed(key.as_bytes()), length)]));
    }
}

/// A CRYPTO frame always has the length of its data (RFC 9000 §19.6), which the draft wants in `raw.length`
/// (draft-ietf-quic-qlog-quic-events, CryptoFrame); quiche has it as `raw.payload_length` alone.
fn wire_length(frame: &mut Node<'_>) {
    if let Some(raw) = frame.get_mut("raw").filter(|raw| !raw.has("length"))
        && let Some(length) = raw.get("payload_length").cloned()
    {
        raw.set_first("length", length);
    }
}

/// A range that ends before its second number ends with it.
fn closed(range: &mut Node<'_>) {
    if let Node::Array(ends) = range
        && let [low, high] = &mut ends[..]
        && let (Some(first), Some(end)) = (low.whole(), high.whole())
    {
        *high = Node::number(end.saturating_sub(1).max(first));
    }
}

/// A range of one number is that number alone.
fn one_or_two(range: &mut Node<'_>) {
    match range {
        Node::Scalar(_) => *range = Node::Array(vec![range.clone()]),
        Node::Array(ends) if ends.len() == 2 && ends[0].whole().is_some() && ends[0].whole() == ends[1].whole() => {
            ends.pop();
        }
        _ => {}
    }
}

/// Brings data of the IETF form into that of 0.3, but for acknowledged ranges. Returns false
/// if the event is not worth writing.
pub(super) fn to_v03(kind: &str, data: &mut Node<'_>, omitted: &mut Omitted) -> bool {
    match kind {
        "recovery_metrics_updated" => data.rename("congestion_window", "cwnd"),
        "parameters_set" => data.rename("initiator", "owner"),
        kind if is_packet(kind) => return packet_to_v03(kind, data, omitted),
        _ => {}
    }
    true
}

/// Brings an HTTP/3 frame into the IETF form, which has one name for its length.
pub(super) fn http_to_ietf(data: &mut Node<'_>) {
    if !data.has("length") {
        data.rename("byte_length", "length");
    }
    data.take("byte_length");
    numbers(data);
}

/// Gives an HTTP/3 frame its length under the name that qvis looks for.
pub(super) fn http_to_v03(data: &mut Node<'_>) {
    if let Some(length) = data.get("length").filter(|_| !data.has("byte_length")).cloned() {
        data.set("byte_length", length);
    }
}

fn packet_to_v03(kind: &str, data: &mut Node<'_>, omitted: &mut Omitted) -> bool {
    let (mut carried, mut frames_with_data) = (0_u64, 0);
    // qvis' packetization view looks at the first frame of every list.
    if matches!(data.get("frames"), Some(Node::Array(frames)) if frames.is_empty()) {
        data.take("frames");
    }
    if let Some(Node::Array(frames)) = data.get_mut("frames") {
        for frame in frames {
            let bytes = frame_to_v03(frame);
            frames_with_data += u64::from(bytes > 0);
            carried = carried.saturating_add(bytes);
        }
    }
    if kind == "packet_lost" && data.get("header").and_then(|header| header.get("packet_number")).is_none() {
        omitted.add("lost packets without a number, which qvis does not draw");
        return false;
    }
    if !matches!(kind, "packet_sent" | "packet_received") {
        return true;
    }
    // qvis believes this before the whole length, though a stack may count it without the authentication tag.
    let payload = data.get("raw").and_then(|raw| raw.get("payload_length")).and_then(Node::whole);
    if payload.is_some_and(|payload| payload < carried.saturating_add(frames_with_data + TAG))
        && let Some(raw) = data.get_mut("raw")
    {
        raw.take("payload_length");
        omitted.add("lengths of payloads without room for the frames in them");
    }
    let length = data.get("raw").and_then(|raw| raw.get("length")).and_then(Node::whole).filter(|&length| length > 0);
    if length.is_some() {
        return true;
    }
    if carried == 0 {
        omitted.add("packets without a length, which qvis leaves out");
        return false;
    }
    omitted.add("lengths of packets, for which the least now stands that has room for their data");
    let least = carried.saturating_add(HEADER + TAG + frames_with_data);
    if let Some(raw @ Node::Object(_)) = data.get_mut("raw") {
        raw.set_first("length", Node::number(least));
    } else {
        after_header(data, "raw", Node::Object(vec![(Cow::Borrowed(b"length"), Node::number(least))]));
    }
    true
}

/// Gives a frame the form of 0.3. Returns its bytes of data, by its own account.
fn frame_to_v03(frame: &mut Node<'_>) -> u64 {
    let kind = frame.get("frame_type").and_then(Node::text).unwrap_or_default().to_vec();
    let mut carried = 0;
    match kind.as_slice() {
        b"stream" | b"crypto" | b"datagram" => {
            length_out(frame, &["payload_length", "length"]);
            match frame.get("length").and_then(Node::whole) {
                Some(length) => carried = length,
                None => frame.set("length", Node::number(0)),
            }
        }
        b"padding" => {
            length_out(frame, &["payload_length", "length"]);
            carried = frame.get("length").and_then(Node::whole).unwrap_or(0);
        }
        _ => {}
    }
    if frame.has("error_code") && frame.get("error").is_some_and(|error| error.is("unknown")) {
        frame.take("error");
    }
    carried
}

/// The length of a frame's data out of `raw`, where it is the only thing in it.
fn length_out(frame: &mut Node<'_>, keys: &[&str]) {
    if frame.has("length") {
        return;
    }
    let Some(raw) = frame.get("raw") else { return };
    let Some(length) = keys.iter().find_map(|key| raw.get(key)).cloned() else { return };
    if raw.fields().len() == 1 {
        frame.replace("raw", "length", length);
    } else {
        frame.set("length", length);
    }
}
