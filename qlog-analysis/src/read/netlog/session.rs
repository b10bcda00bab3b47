//! One QUIC session: frames gathered into the packets they belong to.

use std::collections::HashMap;

use super::{
    Batch, Cursor, Event, EventKind, FlowControl, FlowControlKind, HttpField, HttpFrame, HttpFrameKind, Kind, Limit,
    Malformed, Name, Packet, PacketType, Stream, TransportParameters,
};

/// Packets whose type is remembered for when they are lost.
const REMEMBERED: usize = 1 << 14;

/// Missing packets of one ACK that are looked at, ranges and data frames of one packet.
const MISSING: usize = 1 << 15;

/// Losses, and HTTP/3 frames, that wait for the packet that showed them.
const WAITING: usize = 1 << 12;

/// The first unidirectional stream of a client (`RFC 9000 §2.1`).
const CONTROL: u64 = 2;

/// Header fields of one HTTP/3 frame that are kept.
const FIELDS: usize = 256;

/// Parts of a packet that is not complete.
#[derive(Debug, Default)]
struct Gathered {
    packet: Packet,
    ranges: Vec<(u64, u64)>,
    streams: Vec<Stream>,
    limits: Vec<FlowControl>,
    eliciting: bool,
}

impl Gathered {
    fn carries(&mut self, frame: Stream) {
        if self.streams.len() < MISSING {
            self.streams.push(frame);
        }
    }

    /// A frame that asks for an acknowledgement.
    fn elicits(&mut self, frame_type: &[u8]) {
        self.packet.frames.add(frame_type);
        self.eliciting = true;
    }

    fn limits(&mut self, limit: FlowControl) {
        self.elicits(limit.kind.frame_type().as_bytes());
        if self.limits.len() < MISSING {
            self.limits.push(limit);
        }
    }

    fn acknowledges(&mut self, range: (u64, u64)) {
        if self.ranges.len() < MISSING {
            self.ranges.push(range);
        }
    }

    /// Writes the packet into the tables; its place.
    fn write(self, batch: &mut Batch) -> u32 {
        let first_range = batch.ranges.len() as u32;
        let first_stream = batch.streams.len() as u32;
        let first_limit = batch.flow_control.len() as u32;
        let mut packet = self.packet;
        packet.flow_control = (first_limit, self.limits.len() as u32);
        packet.ranges = (first_range, self.ranges.len() as u32);
        packet.streams = (first_stream, self.streams.len() as u32);
        packet.ack_eliciting = Some(self.eliciting);
        batch.ranges.extend(self.ranges);
        batch.streams.extend(self.streams);
        batch.flow_control.extend(self.limits);
        batch.packets.push(packet);
        batch.packets.len() as u32 - 1
    }
}

/// An HTTP/3 frame that waits for the packet it came in.
#[derive(Debug)]
struct Http {
    kind: HttpFrameKind,
    sent: bool,
    stream: u64,
    length: Option<u64>,
    fields: Vec<(String, String)>,
}

/// A QUIC session of the log.
#[derive(Debug)]
pub(super) struct Session {
    id: String,
    /// The frames of the packet that is sent next.
    sending: Gathered,
    /// The packet received last, until the next.
    receiving: Option<(i64, Gathered)>,
    /// Bytes of the datagram received last, until a packet of it is known.
    datagram: Option<u32>,
    /// Packets found lost since then, and when: Chromium logs them before the ACK.
    losses: Vec<(i64, Packet)>,
    /// HTTP/3 frames since then, and when: Chromium logs a packet while it reads it.
    http: Vec<(i64, Http)>,
    /// Types of packets sent, by number.
    sent: HashMap<u64, PacketType>,
    /// The connection ID the server goes by, which Chromium's totals name.
    server: String,
    /// Packets sent, datagrams received, packets lost.
    counted: [u64; 3],
    /// Whether Chromium has closed it.
    closed: bool,
}

impl Session {
    pub(super) fn new(source: u64) -> Self {
        Session {
            id: format!("session-{source}"),
            sending: Gathered::default(),
            receiving: None,
            datagram: None,
            losses: Vec::new(),
            http: Vec::new(),
            sent: HashMap::new(),
            server: String::new(),
            counted: [0; 3],
            closed: false,
        }
    }

    /// Whether one of its connection IDs is `id`.
    pub(super) fn is_called(&self, id: &str) -> bool {
        self.id == id || self.server == id
    }

    /// Packets sent, datagrams received and packets lost before it was closed.
    pub(super) fn totals(&self) -> [u64; 3] {
        self.counted
    }

    fn count(&mut self, index: usize) {
        self.counted[index] += u64::from(!self.closed);
    }

    pub(super) fn group(&self, batch: &mut Batch) -> Name {
        batch.names.add(&self.id)
    }

    fn push(&self, time: i64, kind: EventKind, batch: &mut Batch) {
        let group = self.group(batch);
        batch.events.push(Event { time, group, kind });
    }

    /// Takes one event. Returns the time logged in it, if more exact than `now`.
    pub(super) fn event(
        &mut self,
        kind: Option<Kind>,
        name: &str,
        now: i64,
        params: &mut Cursor<'_>,
        batch: &mut Batch,
    ) -> Result<i64, Malformed> {
        match kind {
            Some(Kind::Session) => self.begin(now, name, params, batch)?,
            Some(Kind::Configured) => {
                let controller = params.field(&[b"congestion_control_type"], Cursor::string)?;
                if let Some(controller) = controller {
                    let controller = batch.names.add(&controller);
                    self.push(now, EventKind::Controller(controller), batch);
                }
            }
            Some(Kind::Sent) => return self.packet_sent(now, params, batch),
            Some(Kind::Lost) => return self.lost(now, params, batch),
            Some(Kind::Received) => {
                self.count(1);
                self.finish_received(now, batch);
                self.datagram = params.field(&[b"size"], Cursor::whole)?.and_then(|bytes| u32::try_from(bytes).ok());
            }
            Some(Kind::Header) => self.header(now, params, batch)?,
            Some(Kind::AckSent) => {
                self.sending.packet.acks = true;
                self.sending.packet.frames.add(b"ack");
            }
            Some(Kind::AckReceived) => self.acked(params)?,
            Some(Kind::StreamSent) => {
                self.sending.carries(stream(params)?);
                self.sending.elicits(b"stream");
            }
            Some(Kind::StreamReceived) => {
                let frame = stream(params)?;
                if let Some((_, received)) = &mut self.receiving {
                    received.carries(frame);
                    received.elicits(b"stream");
                }
            }
            Some(Kind::LimitSent(of)) => self.sending.limits(limit(of, params)?),
            Some(Kind::LimitReceived(of)) => {
                let limit = limit(of, params)?;
                if let Some((_, received)) = &mut self.receiving {
                    received.limits(limit);
                }
            }
            Some(Kind::Parameters(remote)) => {
                let text = params.field(&[b"quic_transport_parameters"], Cursor::string)?.unwrap_or_default();
                batch.parameters.push(parameters(&text, remote));
                self.push(now, EventKind::TransportParameters(batch.parameters.len() as u32 - 1), batch);
            }
            Some(Kind::Http(kind, sent)) => self.http(now, kind, sent, params, batch)?,
            Some(Kind::OtherSent) => self.sending.elicits(&frame_type(name)),
            Some(Kind::OtherReceived) => {
                if let Some((_, received)) = &mut self.receiving {
                    received.elicits(&frame_type(name));
                }
            }
            Some(Kind::Closing | Kind::Quiet) | None => {
                self.closed |= kind == Some(Kind::Closing);
                let name = batch.names.add(name);
                self.push(now, EventKind::Other(name), batch);
            }
        }
        Ok(now)
    }

    /// The event with the session's connection ID.
    fn begin(&mut self, now: i64, name: &str, params: &mut Cursor<'_>, batch: &mut Batch) -> Result<(), Malformed> {
        let (mut id, mut host, mut port, mut version) = (None, None, None, None);
        params.object(|key, value| {
            match key {
                b"connection_id" => id = value.string()?.filter(|id| !id.is_empty()),
                b"host" => host = value.string()?,
                b"port" => port = value.whole()?,
                b"version" => version = value.string()?,
                _ => value.skip()?,
            }
            Ok(())
        })?;
        batch.set_version(&version.unwrap_or_default());
        // A session's end has the same name, without these.
        let Some(id) = id else { return Ok(()) };
        self.id = id.into_owned();
        if let Some(host) = host {
            batch.add_peer(&port.map_or_else(|| host.to_string(), |port| format!("{host}:{port}")), "");
        }
        let name = batch.names.add(name);
        self.push(now, EventKind::Other(name), batch);
        Ok(())
    }

    fn packet_sent(&mut self, now: i64, params: &mut Cursor<'_>, batch: &mut Batch) -> Result<i64, Malformed> {
        self.count(0);
        // Chromium is through with a packet before it sends what answers it.
        self.close_received(now, batch);
        let mut gathered = std::mem::take(&mut self.sending);
        let mut time = now;
        params.object(|key, value| {
            match key {
                b"packet_number" => gathered.packet.number = value.whole()?,
                b"size" => gathered.packet.bytes = value.whole()?.and_then(|bytes| u32::try_from(bytes).ok()),
                b"sent_time_us" => time = exact(value, now)?,
                b"encryption_level" => {
                    gathered.packet.kind = match value.word()?.unwrap_or_default() {
                        b"ENCRYPTION_INITIAL" => PacketType::Initial,
                        b"ENCRYPTION_HANDSHAKE" => PacketType::Handshake,
                        b"ENCRYPTION_ZERO_RTT" => PacketType::ZeroRtt,
                        b"ENCRYPTION_FORWARD_SECURE" => PacketType::OneRtt,
                        _ => PacketType::Unknown,
                    };
                }
                b"transmission_type" => {
                    let word = value.string()?.filter(|word| word != "NOT_RETRANSMISSION");
                    gathered.packet.trigger = word.map(|word| batch.names.add(&word));
                }
                _ => value.skip()?,
            }
            Ok(())
        })?;
        if let Some(number) = gathered.packet.number {
            if self.sent.len() >= REMEMBERED {
                self.sent.retain(|&other, _| other.saturating_add(REMEMBERED as u64 / 2) > number);
                if self.sent.len() >= REMEMBERED {
                    self.sent.clear();
                }
            }
            self.sent.insert(number, gathered.packet.kind);
        }
        let index = gathered.write(batch);
        self.push(time, EventKind::PacketSent(index), batch);
        Ok(time)
    }

    fn lost(&mut self, now: i64, params: &mut Cursor<'_>, batch: &mut Batch) -> Result<i64, Malformed> {
        self.count(2);
        let mut packet = Packet { kind: PacketType::Unknown, ..Packet::default() };
        let mut time = now;
        params.object(|key, value| {
            match key {
                b"packet_number" => packet.number = value.whole()?,
                b"detection_time_us" => time = exact(value, now)?,
                _ => value.skip()?,
            }
            Ok(())
        })?;
        if let Some(&kind) = packet.number.and_then(|number| self.sent.get(&number)) {
            packet.kind = kind;
        }
        self.losses.push((time, packet));
        if self.receiving.is_none() || self.losses.len() >= WAITING {
            self.write_losses(batch);
        }
        Ok(time)
    }

    fn http(
        &mut self,
        now: i64,
        mut kind: HttpFrameKind,
        sent: bool,
        params: &mut Cursor<'_>,
        batch: &mut Batch,
    ) -> Result<(), Malformed> {
        let (mut stream, mut length, mut fields) = (None, None, Vec::new());
        params.object(|key, value| {
            match key {
                b"stream_id" => stream = value.whole()?,
                b"payload_length" => length = value.whole()?,
                b"prioritized_element_id" => {
                    if let (HttpFrameKind::PriorityUpdate(of), Some(prioritized)) = (&mut kind, value.whole()?) {
                        *of = prioritized;
                        // The control stream is not logged; it is the first that a client opens.
                        stream = Some(CONTROL);
                    }
                }
                b"priority_field_value" => {
                    let priority = value.string()?.unwrap_or_default();
                    fields.push(("priority".to_owned(), priority.into_owned()));
                }
                b"headers" if value.peek() == Some(b'[') => value.array(|value| {
                    let field = value.string()?.unwrap_or_default();
                    // The first colon may be a pseudo-header's.
                    if let Some((name, value)) = field.split_once(": ")
                        && fields.len() < FIELDS
                    {
                        fields.push((name.to_owned(), value.to_owned()));
                    }
                    Ok(())
                })?,
                _ => value.skip()?,
            }
            Ok(())
        })?;
        let Some(stream) = stream else { return Ok(()) };
        self.http.push((now, Http { kind, sent, stream, length, fields }));
        if self.receiving.is_none() || self.http.len() >= WAITING {
            self.write_http(batch);
        }
        Ok(())
    }

    fn write_http(&mut self, batch: &mut Batch) {
        for (time, Http { kind, sent, stream, length, fields }) in std::mem::take(&mut self.http) {
            let first = batch.fields.len() as u32;
            for (name, value) in &fields {
                let field = HttpField { name: batch.names.add(name), value: batch.names.add(value) };
                batch.fields.push(field);
            }
            batch.http.push(HttpFrame { kind, stream, length, fields: (first, fields.len() as u32) });
            let index = batch.http.len() as u32 - 1;
            let event = if sent { EventKind::HttpFrameCreated(index) } else { EventKind::HttpFrameParsed(index) };
            self.push(time, event, batch);
        }
    }

    fn write_losses(&mut self, batch: &mut Batch) {
        for (time, packet) in std::mem::take(&mut self.losses) {
            batch.packets.push(packet);
            self.push(time, EventKind::PacketLost(batch.packets.len() as u32 - 1), batch);
        }
    }

    /// A packet of the datagram received last begins.
    fn header(&mut self, now: i64, params: &mut Cursor<'_>, batch: &mut Batch) -> Result<(), Malformed> {
        let datagram = self.datagram.take();
        self.finish_received(now, batch);
        let mut packet = Packet { bytes: datagram, ..Packet::default() };
        let server = &mut self.server;
        params.object(|key, value| {
            match key {
                b"packet_number" => packet.number = value.whole()?,
                b"connection_id" => {
                    let id = value.word()?.unwrap_or_default();
                    if id != server.as_bytes() {
                        *server = String::from_utf8_lossy(id).into_owned();
                    }
                }
                b"long_header_type" => {
                    packet.kind = match value.word()?.unwrap_or_default() {
                        b"INITIAL" => PacketType::Initial,
                        b"HANDSHAKE" => PacketType::Handshake,
                        b"ZERO_RTT_PROTECTED" => PacketType::ZeroRtt,
                        _ => PacketType::Unnumbered,
                    };
                }
                _ => value.skip()?,
            }
            Ok(())
        })?;
        self.receiving = Some((now, Gathered { packet, ..Gathered::default() }));
        Ok(())
    }

    /// The datagram received last has no more packets, and its last packet no more frames.
    pub(super) fn finish_received(&mut self, now: i64, batch: &mut Batch) {
        self.close_received(now, batch);
        self.datagram = None;
    }

    /// The packet received last has no more frames. What it showed to be lost comes after it.
    fn close_received(&mut self, now: i64, batch: &mut Batch) {
        if let Some((time, received)) = self.receiving.take() {
            let index = received.write(batch);
            self.push(time.min(now), EventKind::PacketReceived(index), batch);
        }
        self.write_http(batch);
        self.write_losses(batch);
    }

    fn acked(&mut self, params: &mut Cursor<'_>) -> Result<(), Malformed> {
        let (mut largest, mut smallest, mut delay) = (None, None, None);
        let mut missing = Vec::new();
        params.object(|key, value| {
            match key {
                b"largest_observed" => largest = value.whole()?,
                b"smallest_observed" => smallest = value.whole()?,
                b"delta_time_largest_observed_us" => delay = value.decimal()?.and_then(|delay| delay.scaled(3)),
                b"missing_packets" if value.peek() == Some(b'[') => value.array(|value| {
                    if let Some(number) = value.whole()?
                        && missing.len() < MISSING
                    {
                        missing.push(number);
                    }
                    Ok(())
                })?,
                _ => value.skip()?,
            }
            Ok(())
        })?;
        let (Some(largest), Some((_, received))) = (largest, &mut self.receiving) else { return Ok(()) };
        received.packet.acks = true;
        received.packet.frames.add(b"ack");
        received.packet.ack_delay = delay;
        missing.sort_unstable();
        let mut from = smallest.unwrap_or(largest);
        for gap in missing.into_iter().filter(|&gap| gap <= largest) {
            if gap > from {
                received.acknowledges((from, gap - 1));
            }
            from = from.max(gap.saturating_add(1));
        }
        if from <= largest {
            received.acknowledges((from, largest));
        }
        Ok(())
    }
}

/// A time in microseconds if it is within a second of `now`, the event's milliseconds; otherwise `now`.
fn exact(value: &mut Cursor<'_>, now: i64) -> Result<i64, Malformed> {
    let exact = value.decimal()?.and_then(|time| time.scaled(3));
    Ok(exact.filter(|exact| exact.abs_diff(now) < 1_000_000_000).unwrap_or(now))
}

/// The frame type that an event's name holds, as qlog has it.
fn frame_type(name: &str) -> Vec<u8> {
    let rest = name.strip_prefix("QUIC_SESSION_").unwrap_or(name);
    let rest = rest.split_once("_FRAME").map_or(rest, |(kind, _)| kind);
    match rest {
        "RST_STREAM" => b"reset_stream".to_vec(),
        "MESSAGE" => b"datagram".to_vec(),
        other => other.to_ascii_lowercase().into_bytes(),
    }
}

/// A limit, or that one is met. The connection is the stream -1, or the largest number of 32 bits.
fn limit(of: Limit, params: &mut Cursor<'_>) -> Result<FlowControl, Malformed> {
    let (mut stream, mut bytes, mut streams, mut unidirectional) = (None, None, None, false);
    params.object(|key, value| {
        match key {
            b"stream_id" => stream = value.whole()?.filter(|&id| id < u64::from(u32::MAX)),
            b"byte_offset" => bytes = value.whole()?,
            b"stream_count" => streams = value.whole()?,
            b"is_unidirectional" => unidirectional = value.flag()? == Some(true),
            _ => value.skip()?,
        }
        Ok(())
    })?;
    let pick = |one, other, second: bool| if second { other } else { one };
    let (kind, limit) = match of {
        Limit::Data => (pick(FlowControlKind::MaxData, FlowControlKind::MaxStreamData, stream.is_some()), bytes),
        Limit::Blocked => {
            (pick(FlowControlKind::DataBlocked, FlowControlKind::StreamDataBlocked, stream.is_some()), bytes)
        }
        Limit::Streams => {
            (pick(FlowControlKind::MaxStreamsBidi, FlowControlKind::MaxStreamsUni, unidirectional), streams)
        }
        Limit::StreamsBlocked => {
            (pick(FlowControlKind::StreamsBlockedBidi, FlowControlKind::StreamsBlockedUni, unidirectional), streams)
        }
    };
    let of_streams = matches!(of, Limit::Streams | Limit::StreamsBlocked);
    Ok(FlowControl { kind, stream: stream.filter(|_| !of_streams), limit })
}

/// The limits in Chromium's text of transport parameters: names, each with its value after it.
fn parameters(text: &str, remote: bool) -> TransportParameters {
    let mut found = TransportParameters { remote, ..TransportParameters::default() };
    let mut words = text.split([' ', '[', ']']).peekable();
    while let Some(word) = words.next() {
        if let (Some(limit), Some(value)) = (found.limit(word.as_bytes()), words.peek()) {
            *limit = value.parse().ok();
        }
    }
    found
}

fn stream(params: &mut Cursor<'_>) -> Result<Stream, Malformed> {
    let mut frame = Stream { id: 0, offset: 0, length: 0, fin: false };
    params.object(|key, value| {
        match key {
            b"stream_id" => frame.id = value.whole()?.unwrap_or(0),
            b"offset" => frame.offset = value.whole()?.unwrap_or(0),
            b"length" => frame.length = value.whole()?.unwrap_or(0),
            b"fin" => frame.fin = value.flag()? == Some(true),
            _ => value.skip()?,
        }
        Ok(())
    })?;
    Ok(frame)
}
