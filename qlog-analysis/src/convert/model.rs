//! Events of the model as events of the IETF's schema, for files that have none: Chromium's
//! network logs, and traces from before the drafts.
//!
//! Chromium logs no metrics. Bytes in flight and RTTs are rebuilt from the packets: what was
//! sent, asks for an ACK and is neither acknowledged nor lost; and the time from sending
//! the largest packet that an ACK newly names to the ACK's arrival, smoothed as `RFC 9002 §5`
//! says, the delay of the ACK left in.

use std::collections::BTreeMap;

use super::Omitted;
use super::node::millis;
use crate::flight::{Flight, PacketStatus, Sent};
use crate::model::{Batch, Event, EventKind, FlowControl, Metrics, Name, Packet, PacketType};

/// Packets of one event that are written as acknowledged.
const ACKED: usize = 1 << 16;

/// Takes an event: its name, connection and data.
type EmitEvent<'a> = dyn FnMut(&str, Option<&[u8]>, &[u8]) + 'a;

/// State rebuilt for one connection.
#[derive(Default, Debug)]
struct Rebuilt {
    flights: BTreeMap<(PacketType, u32), Flight<()>>,
    in_flight: u64,
    smoothed: Option<i64>,
    least: Option<i64>,
}

/// Writes events of a model.
#[derive(Default, Debug)]
pub(super) struct Writer {
    /// Whether metrics are rebuilt, since the file has none.
    rebuild: bool,
    connections: BTreeMap<String, Rebuilt>,
}

impl Writer {
    pub(super) fn new(rebuild: bool) -> Self {
        Writer { rebuild, ..Writer::default() }
    }

    /// Hands over the events equivalent to `event`, each as its name, connection and
    /// data; of one path alone if that is named, with whether the event belongs to it: ACKs of its packets may arrive on
    /// another.
    pub(super) fn events(
        &mut self,
        batch: &Batch,
        event: &Event,
        of: Option<(u32, bool)>,
        omitted: &mut Omitted,
        emit: &mut EmitEvent<'_>,
    ) {
        if let Some((path, false)) = of {
            let EventKind::PacketReceived(index) = event.kind else { return };
            if batch.path_acks_of(&batch.packets[index as usize]).iter().all(|ack| ack.path != path) {
                return;
            }
            omitted.add("separate paths: a packet that arrived on another stands in both traces for its ACK");
        }
        let group = match batch.name(event.group) {
            "" => None,
            group => Some(super::survey::group_text(group)),
        };
        let mut data = Object::default();
        let name = match event.kind {
            EventKind::PacketSent(index)
            | EventKind::PacketReceived(index)
            | EventKind::PacketLost(index)
            | EventKind::PacketDropped(index) => {
                packet(&batch.packets[index as usize], batch, of, &mut data);
                match event.kind {
                    EventKind::PacketSent(_) => "quic:packet_sent",
                    EventKind::PacketReceived(_) => "quic:packet_received",
                    EventKind::PacketLost(_) => "quic:packet_lost",
                    _ => "quic:packet_dropped",
                }
            }
            EventKind::MetricsUpdated(index) => {
                metrics(&batch.metrics[index as usize], &mut data);
                "quic:recovery_metrics_updated"
            }
            EventKind::CongestionState(index) => {
                let state = &batch.states[index as usize];
                data.text("new", batch.name(state.new));
                if let Some(trigger) = state.trigger {
                    data.text("trigger", batch.name(trigger));
                }
                "quic:congestion_state_updated"
            }
            EventKind::Controller(name) => {
                data.text("congestion_controller", batch.name(name));
                data.raw("timer_granularity", "1");
                "quic:recovery_parameters_set"
            }
            EventKind::MtuUpdated(bytes) => {
                data.number("new", bytes.into());
                "quic:mtu_updated"
            }
            EventKind::TransportParameters(index) => {
                let parameters = &batch.parameters[index as usize];
                data.text("initiator", if parameters.remote { "remote" } else { "local" });
                parameters.limits().for_each(|(name, limit)| data.number(name, limit));
                "quic:parameters_set"
            }
            EventKind::FlowControlSent(index) | EventKind::FlowControlReceived(index) => {
                data.raw("frames", &format!("[{}]", flow_control(&batch.flow_control[index as usize])));
                match event.kind {
                    EventKind::FlowControlSent(_) => "quic:frames_created",
                    _ => "quic:frames_parsed",
                }
            }
            EventKind::HttpFrameCreated(index) | EventKind::HttpFrameParsed(index) => {
                let name = match event.kind {
                    EventKind::HttpFrameCreated(_) => "http3:frame_created",
                    _ => "http3:frame_parsed",
                };
                let json = batch.http_frame_json(&batch.http[index as usize]);
                return emit(name, group.as_deref(), json.as_bytes());
            }
            EventKind::PacketsAcked(index) => {
                let packet = &batch.packets[index as usize];
                let numbers: Vec<String> = batch
                    .ranges_of(packet)
                    .iter()
                    .flat_map(|&(low, high)| low..=high)
                    .take(ACKED)
                    .map(|one| one.to_string())
                    .collect();
                data.raw("packet_numbers", &format!("[{}]", numbers.join(",")));
                "quic:packets_acked"
            }
            EventKind::Migrated => {
                data.text("new", "migration_complete");
                "quic:migration_state_updated"
            }
            EventKind::EcnCe(_) | EventKind::PacketsLost(_) | EventKind::SpuriousLoss | EventKind::DataDelivered(_) => {
                return;
            }
            EventKind::Other(name) => return omitted.add(&format!("events {}", batch.name(name))),
        };
        emit(name, group.as_deref(), data.close());
        if self.rebuild
            && let Some(changed) = self.rebuilt(batch, event)
        {
            let mut data = Object::default();
            metrics(&changed, &mut data);
            emit("quic:recovery_metrics_updated", group.as_deref(), data.close());
        }
    }

    /// Metrics that an event changes.
    fn rebuilt(&mut self, batch: &Batch, event: &Event) -> Option<Metrics> {
        let connection = self.connections.entry(batch.name(event.group).to_owned()).or_default();
        let before = connection.in_flight;
        let mut changed = Metrics::default();
        match event.kind {
            EventKind::PacketSent(index) => connection.sent(event.time, &batch.packets[index as usize]),
            EventKind::PacketLost(index) => connection.lost(&batch.packets[index as usize]),
            EventKind::PacketReceived(index) => {
                let packet = &batch.packets[index as usize];
                connection.acked(event.time, packet, batch.ranges_of(packet), &mut changed);
            }
            _ => return None,
        }
        if connection.in_flight != before {
            changed.bytes_in_flight = Some(connection.in_flight);
        }
        (changed != Metrics::default()).then_some(changed)
    }
}

impl Rebuilt {
    fn flight(&mut self, packet: &Packet) -> &mut Flight<()> {
        self.flights.entry((packet.kind.space(), packet.path)).or_default()
    }

    fn sent(&mut self, time: i64, packet: &Packet) {
        let (Some(number), Some(bytes)) = (packet.number, packet.bytes) else { return };
        if packet.ack_eliciting == Some(false) {
            return;
        }
        self.flight(packet).sent(number, Sent { time, bytes, status: PacketStatus::InFlight, extra: () });
        self.in_flight = self.in_flight.saturating_add(bytes.into());
    }

    fn lost(&mut self, packet: &Packet) {
        let Some(number) = packet.number else { return };
        let Some(sent) = self.flight(packet).get(number) else { return };
        if std::mem::replace(&mut sent.status, PacketStatus::Lost) == PacketStatus::InFlight {
            let bytes = sent.bytes;
            self.in_flight = self.in_flight.saturating_sub(bytes.into());
        } else {
            sent.status = PacketStatus::Acked;
        }
    }

    fn acked(&mut self, now: i64, packet: &Packet, ranges: &[(u64, u64)], changed: &mut Metrics) {
        let flight = self.flight(packet);
        let largest = ranges.iter().map(|range| range.1).max();
        let sample = largest.and_then(|largest| flight.get(largest));
        let sample =
            sample.filter(|sent| sent.status == PacketStatus::InFlight).map(|sent| now.saturating_sub(sent.time));
        let mut gone = 0_u64;
        for &range in ranges {
            flight.range(range, |_, sent| {
                if std::mem::replace(&mut sent.status, PacketStatus::Acked) == PacketStatus::InFlight {
                    gone += u64::from(sent.bytes);
                }
                true
            });
        }
        self.in_flight = self.in_flight.saturating_sub(gone);
        let Some(sample) = sample.filter(|&sample| sample > 0) else { return };
        let smoothed = self.smoothed.map_or(sample, |smoothed| smoothed + (sample - smoothed) / 8);
        let least = self.least.map_or(sample, |least| least.min(sample));
        (self.smoothed, self.least) = (Some(smoothed), Some(least));
        changed.latest_rtt = Some(sample);
        changed.smoothed_rtt = Some(smoothed);
        changed.min_rtt = Some(least);
    }
}

/// A JSON object being written.
#[derive(Default, Debug)]
struct Object(Vec<u8>);

impl Object {
    fn key(&mut self, key: &str) {
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        self.0.extend_from_slice(format!("\"{key}\":").as_bytes());
    }

    fn raw(&mut self, key: &str, value: &str) {
        self.key(key);
        self.0.extend_from_slice(value.as_bytes());
    }

    fn text(&mut self, key: &str, value: &str) {
        self.raw(key, &serde_json::Value::from(value).to_string());
    }

    fn number(&mut self, key: &str, value: u64) {
        self.key(key);
        super::node::Node::number(value).write(&mut self.0);
    }

    fn delay(&mut self, key: &str, ns: i64) {
        self.key(key);
        millis(ns, &mut self.0);
    }

    fn close(&mut self) -> &[u8] {
        if self.0.is_empty() {
            self.0.push(b'{');
        }
        self.0.push(b'}');
        &self.0
    }
}

/// Frame types that are written with their fields, and padding, whose length is not kept.
const WRITTEN: [&str; 12] = [
    "padding",
    "ack",
    "path_ack",
    "ack_mp",
    "mp_ack",
    "stream",
    "max_data",
    "max_stream_data",
    "max_streams",
    "data_blocked",
    "stream_data_blocked",
    "streams_blocked",
];

/// A flow control frame.
fn flow_control(limit: &FlowControl) -> String {
    let mut frame = Object::default();
    frame.text("frame_type", limit.kind.frame_type());
    if let Some(unidirectional) = limit.kind.unidirectional() {
        frame.text("stream_type", if unidirectional { "unidirectional" } else { "bidirectional" });
    }
    if let Some(stream) = limit.stream {
        frame.number("stream_id", stream);
    }
    if let Some(bytes) = limit.limit {
        frame.number(if limit.kind.is_blocked() { "limit" } else { "maximum" }, bytes);
    }
    String::from_utf8_lossy(frame.close()).into_owned()
}

/// An ACK frame; of one path's packets if it names that.
fn ack(packet: &Packet, path: Option<u32>, ranges: &[(u64, u64)]) -> String {
    let mut ack = Object::default();
    ack.text("frame_type", if path.is_some() { "path_ack" } else { "ack" });
    if let Some(path) = path {
        ack.number("path_id", path.into());
    }
    if let Some(delay) = packet.ack_delay {
        ack.delay("ack_delay", delay);
    }
    let ranges = ranges.iter();
    let ranges: Vec<String> =
        ranges.map(|&(low, high)| if low == high { format!("[{low}]") } else { format!("[{low},{high}]") }).collect();
    if !ranges.is_empty() {
        ack.raw("acked_ranges", &format!("[{}]", ranges.join(",")));
    }
    if let Some(ce) = packet.ce {
        ack.number("ce", ce);
    }
    String::from_utf8_lossy(ack.close()).into_owned()
}

/// A packet; of one path alone if that is named, with whether the packet is on it.
fn packet(packet: &Packet, batch: &Batch, of: Option<(u32, bool)>, data: &mut Object) {
    let mut header = Object::default();
    // A packet of a known type would have to have its number.
    if packet.number.is_none() {
        header.text("packet_type", PacketType::Unknown.name());
    } else if packet.kind != PacketType::Unnumbered {
        header.text("packet_type", packet.kind.name());
    }
    if let Some(number) = packet.number {
        header.number("packet_number", number);
    }
    data.raw("header", &String::from_utf8_lossy(header.close()));
    if let Some(bytes) = packet.bytes {
        data.raw("raw", &format!("{{\"length\":{bytes}}}"));
    }
    let mut frames: Vec<String> = Vec::new();
    let on = of.is_none_or(|(_, on)| on);
    if packet.acks && on {
        frames.push(ack(packet, None, batch.ranges_of(packet)));
    }
    for path_ack in batch.path_acks_of(packet) {
        let ranges = batch.ranges_of_path_ack(path_ack);
        match of {
            None => frames.push(ack(packet, Some(path_ack.path), ranges)),
            Some((path, _)) if path == path_ack.path => frames.push(ack(packet, None, ranges)),
            Some(_) => {}
        }
    }
    for stream in batch.streams_of(packet).iter().filter(|_| on) {
        let mut frame = Object::default();
        frame.text("frame_type", "stream");
        frame.number("stream_id", stream.id);
        frame.number("offset", stream.offset);
        if stream.fin {
            frame.raw("fin", "true");
        }
        frame.raw("raw", &format!("{{\"length\":{}}}", stream.length));
        frames.push(String::from_utf8_lossy(frame.close()).into_owned());
    }
    frames.extend(batch.flow_control_of(packet).iter().filter(|_| on).map(flow_control));
    for name in packet.frames.names().filter(|name| on && !WRITTEN.contains(name)) {
        // Of a crypto frame the schema wants the length, which the model does not keep.
        let name = if name == "crypto" { "unknown" } else { name };
        frames.push(format!("{{\"frame_type\":\"{name}\"}}"));
    }
    if packet.ack_eliciting.is_some() {
        data.raw("frames", &format!("[{}]", frames.join(",")));
    }
    trigger(packet.trigger, batch, data);
}

/// Why a packet was sent or lost, where the schema has a word for it.
fn trigger(trigger: Option<Name>, batch: &Batch, data: &mut Object) {
    let word = trigger.map(|name| batch.name(name)).map(|word| match word {
        "PTO_RETRANSMISSION" => "pto_probe",
        "LOSS_RETRANSMISSION" => "retransmit_reordered",
        "HANDSHAKE_RETRANSMISSION" => "retransmit_crypto",
        other => other,
    });
    if let Some(word) = word {
        data.text("trigger", word);
    }
}

fn metrics(metrics: &Metrics, data: &mut Object) {
    let sizes = [
        ("congestion_window", metrics.cwnd),
        ("ssthresh", metrics.ssthresh),
        ("bytes_in_flight", metrics.bytes_in_flight),
        ("packets_in_flight", metrics.packets_in_flight),
        ("pacing_rate", metrics.pacing_rate),
        ("pto_count", metrics.pto_count.map(u64::from)),
    ];
    for (key, value) in sizes {
        if let Some(value) = value {
            data.number(key, value);
        }
    }
    let delays = [
        ("latest_rtt", metrics.latest_rtt),
        ("smoothed_rtt", metrics.smoothed_rtt),
        ("min_rtt", metrics.min_rtt),
        ("rtt_variance", metrics.rtt_variance),
    ];
    for (key, value) in delays {
        if let Some(value) = value {
            data.delay(key, value);
        }
    }
    if let Some(limited) = metrics.app_limited {
        data.raw("app_limited", if limited { "true" } else { "false" });
    }
}
