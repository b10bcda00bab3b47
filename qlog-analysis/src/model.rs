//! Events of a trace, whatever schema version and stack wrote them.
//!
//! Events come in [`Batch`]es of one trace each: one row an event in `events`, in the order
//! of the file, and its data in a table of its kind. Times are whole nanoseconds of
//! the trace's clock, sizes bytes, rates bit/s. What is not logged is `None`;
//! numbers that stand for infinity are left out. Events of other kinds keep their name,
//! and fields that no table holds are counted.

use std::collections::{BTreeMap, HashMap};

use crate::json::Malformed;

mod flow_control;
mod http;
mod trace;

pub use flow_control::{FlowControl, FlowControlKind, FrameTypes, TransportParameters};
pub use http::{HttpField, HttpFrame, HttpFrameKind};
pub use trace::{ClockFaults, Framing, Recorded, SchemaVersion, Trace, Units, Vantage};

/// Bad records of a batch that are kept; the others are counted.
const KEPT: usize = 20;

/// Events of one trace, in the order of the file.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Batch {
    /// The trace of the file they belong to, from 0.
    pub trace: u32,
    /// Where the trace was taken, as far as its header says so before these events.
    pub vantage: Vantage,
    /// Schema version of the trace's names.
    pub schema_version: SchemaVersion,
    /// The events of the batch, in the order of the trace.
    pub events: Vec<Event>,
    /// Packets sent, received, lost, dropped.
    pub packets: Vec<Packet>,
    /// Acknowledged ranges of the packets' ACK frames, both ends included, lower end first.
    pub ranges: Vec<(u64, u64)>,
    /// ACK frames that name the path whose packets they are about.
    pub path_acks: Vec<PathAck>,
    /// Acknowledged ranges of those, as [`Batch::ranges`].
    pub path_ranges: Vec<(u64, u64)>,
    /// Data frames of the packets.
    pub streams: Vec<Stream>,
    /// Flow control limits in packets and events.
    pub flow_control: Vec<FlowControl>,
    /// Transport parameters, at the index their events hold.
    pub parameters: Vec<TransportParameters>,
    /// HTTP/3 frames, at the index their events hold.
    pub http: Vec<HttpFrame>,
    /// Header fields of HTTP/3 frames.
    pub fields: Vec<HttpField>,
    /// Recovery metrics, at the index their events hold.
    pub metrics: Vec<Metrics>,
    /// Changes of the congestion state, from the second on with the trigger.
    pub states: Vec<State>,
    /// State variables that a controller logs.
    pub state_variables: Vec<StateVariable>,
    /// The first version of QUIC logged in the batch.
    pub quic_version: Option<Name>,
    /// Addresses of the other end, but for repetitions.
    pub peers: Vec<Peer>,
    /// Events as they stand in the file, where those are asked for.
    pub records: Vec<Record>,
    /// Whether any event is on another path than 0.
    pub on_paths: bool,
    /// Indices of losses among the events that name no path.
    pub pathless: Vec<u32>,
    /// The texts that names stand for.
    pub names: Names,
    /// What was not understood: names of fields, how often each was met.
    pub unknown: BTreeMap<Name, u64>,
    /// Records that could not be read.
    pub bad: Vec<BadRecord>,
    /// Number of records that could not be read; only the first few are kept.
    pub bad_records: u64,
}

/// An event of a connection.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Event {
    /// Time, ns of the trace's clock.
    pub time: i64,
    /// Which connection, where a trace has several (`group_id`); a name.
    pub group: Name,
    /// Event type, and the index of its data.
    pub kind: EventKind,
}

/// The kinds of events; an index is one of the table named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventKind {
    /// A packet left: [`Batch::packets`].
    PacketSent(u32),
    /// A packet came: [`Batch::packets`].
    PacketReceived(u32),
    /// A packet was declared lost: [`Batch::packets`].
    PacketLost(u32),
    /// A packet was dropped unread: [`Batch::packets`].
    PacketDropped(u32),
    /// Recovery metrics changed: [`Batch::metrics`].
    MetricsUpdated(u32),
    /// The congestion state changed: [`Batch::states`].
    CongestionState(u32),
    /// Name of the congestion controller.
    Controller(Name),
    /// Packets were reported CE-marked; how many.
    EcnCe(u32),
    /// Packets were acknowledged, logged without the packet of the ACK frame: [`Batch::packets`], its ranges.
    PacketsAcked(u32),
    /// Packets declared lost together, logged without their numbers; how many.
    PacketsLost(u32),
    /// A congestion response turned out to be unfounded, or a lost packet arrived.
    SpuriousLoss,
    /// The connection went over to another path, whose number is not logged.
    Migrated,
    /// The datagram size changed; bytes.
    MtuUpdated(u32),
    /// Bytes were delivered to the application.
    DataDelivered(u32),
    /// Transport parameters were sent or received: [`Batch::parameters`].
    TransportParameters(u32),
    /// A flow control limit that this end sent, logged without its packet: [`Batch::flow_control`].
    FlowControlSent(u32),
    /// A flow control limit that the other end sent, logged without its packet: [`Batch::flow_control`].
    FlowControlReceived(u32),
    /// An HTTP/3 frame was created to be sent: [`Batch::http`].
    HttpFrameCreated(u32),
    /// An HTTP/3 frame was parsed that came: [`Batch::http`].
    HttpFrameParsed(u32),
    /// An event of another type, with its name.
    Other(Name),
}

/// Packet types, which are also packet number spaces but for 0-RTT.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum PacketType {
    /// Initial (`RFC 9000 §17.2.2`).
    Initial,
    /// Handshake (`RFC 9000 §17.2.4`).
    Handshake,
    /// 0-RTT (`RFC 9000 §17.2.3`).
    ZeroRtt,
    /// 1-RTT (`RFC 9000 §17.3.1`).
    #[default]
    OneRtt,
    /// Retry, version negotiation, stateless reset: packets without a number.
    Unnumbered,
    /// Not logged, or of an unknown name.
    Unknown,
}

impl PacketType {
    /// qlog's spelling (`initial`, `1RTT`).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            PacketType::Initial => "initial",
            PacketType::Handshake => "handshake",
            PacketType::ZeroRtt => "0RTT",
            PacketType::OneRtt => "1RTT",
            PacketType::Unnumbered => "unnumbered",
            PacketType::Unknown => "unknown",
        }
    }

    /// The packet number space: 0-RTT and 1-RTT packets share one (`RFC 9000 §12.3`). Packets
    /// of unknown type count as 1-RTT, which nearly all are.
    #[must_use]
    pub const fn space(self) -> PacketType {
        match self {
            PacketType::ZeroRtt | PacketType::Unknown => PacketType::OneRtt,
            other => other,
        }
    }
}

/// A packet as an event describes it.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Packet {
    /// Packet type.
    pub kind: PacketType,
    /// Packet number; `None` if the event does not say.
    pub number: Option<u64>,
    /// Size, bytes; `None` if the event does not say.
    pub bytes: Option<u32>,
    /// Whether any frame asks for an ACK; `None` if frames are not logged.
    pub ack_eliciting: Option<bool>,
    /// Whether it holds an ACK frame.
    pub acks: bool,
    /// Acknowledged ranges, a part of [`Batch::ranges`]: first and number.
    pub ranges: (u32, u32),
    /// ACK frames that name their path, a part of [`Batch::path_acks`]: first and number.
    pub path_acks: (u32, u32),
    /// The receiver's delay of the ACK, ns.
    pub ack_delay: Option<i64>,
    /// CE-marked packets reported so far by the ACK.
    pub ce: Option<u64>,
    /// Its data frames, a part of [`Batch::streams`]: first and number.
    pub streams: (u32, u32),
    /// Its flow control frames, a part of [`Batch::flow_control`]: first and number.
    pub flow_control: (u32, u32),
    /// The types of its frames; none if they are not logged.
    pub frames: FrameTypes,
    /// Trigger of sending, losing or dropping it, as logged.
    pub trigger: Option<Name>,
    /// The path, where there are several.
    pub path: u32,
}

/// An ACK frame of one path (`draft-ietf-quic-multipath §4.1`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathAck {
    /// The path whose packets it acknowledges.
    pub path: u32,
    /// Acknowledged ranges, a part of [`Batch::path_ranges`]: first and number.
    pub ranges: (u32, u32),
}

/// A data frame of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stream {
    /// Stream ID.
    pub id: u64,
    /// Offset of its data, bytes.
    pub offset: u64,
    /// Bytes of the range.
    pub length: u64,
    /// Whether the stream ends with them.
    pub fin: bool,
}

/// `kInitialRtt` (`RFC 9002 §6.2.2`), ns.
pub const INITIAL_RTT: i64 = 333_000_000;

/// Distinguishes measured RTTs from the initial RTT, which some stacks log as a sample before there is any.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MeasuredRtts {
    any: bool,
}

impl MeasuredRtts {
    /// An ACK yields an RTT: from now on every logged RTT counts as measured.
    pub fn sampled(&mut self) {
        self.any = true;
    }

    /// `metrics`, the next of a connection, without the initial RTT.
    #[must_use]
    pub fn of(&mut self, metrics: &Metrics) -> Metrics {
        let mut metrics = *metrics;
        if self.any {
            return metrics;
        }
        let measured = |rtt: Option<i64>| rtt.is_some_and(|rtt| rtt > 0 && rtt != INITIAL_RTT);
        self.any = measured(metrics.latest_rtt) || metrics.latest_rtt.is_none() && measured(metrics.min_rtt);
        if !self.any {
            for rtt in [&mut metrics.latest_rtt, &mut metrics.min_rtt, &mut metrics.smoothed_rtt] {
                *rtt = rtt.filter(|&rtt| rtt != INITIAL_RTT);
            }
            metrics.rtt_variance = metrics.rtt_variance.filter(|&rtt| rtt != INITIAL_RTT / 2);
        }
        metrics
    }
}

/// Fields of metrics whose largest numbers stand for none, as stacks log them:
///
/// | field | number | of |
/// | --- | --- | --- |
/// | slow start threshold | 2⁶⁴ − 1 | quinn, noq, quiche |
/// | | 2⁶² and what follows | varints and signed numbers |
/// | | 2³² − 1 | loggers with 32-bit numbers |
/// | pacing rate | 2⁶¹ − 1 | quiche before its first decision: 2⁶⁴ − 1 bit/s, in bytes |
/// | | 2⁶⁴ − 1 | the same of those that log bits |
/// | congestion window | 2⁶¹ − 1 and what follows | windows without a bound |
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unbounded {
    /// The slow start threshold.
    Ssthresh,
    /// Pacing rates, in whatever unit, and congestion windows.
    Other,
}

impl Unbounded {
    /// Whether `number` stands for none.
    pub(crate) fn is_none(self, number: u64) -> bool {
        match self {
            Unbounded::Ssthresh => number >= 1 << 62 || number == u64::from(u32::MAX),
            Unbounded::Other => number >= u64::MAX >> 3,
        }
    }
}

/// Recovery metrics of one event; `None` for those it does not mention.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Metrics {
    /// Congestion window, bytes.
    pub cwnd: Option<u64>,
    /// Slow start threshold, bytes; `None` also where it is infinite.
    pub ssthresh: Option<u64>,
    /// Bytes in flight.
    pub bytes_in_flight: Option<u64>,
    /// Packets in flight.
    pub packets_in_flight: Option<u64>,
    /// Minimum RTT, ns.
    pub min_rtt: Option<i64>,
    /// Smoothed RTT, ns.
    pub smoothed_rtt: Option<i64>,
    /// Latest RTT sample, ns.
    pub latest_rtt: Option<i64>,
    /// RTT variation, ns.
    pub rtt_variance: Option<i64>,
    /// Pacing rate, bit/s.
    pub pacing_rate: Option<u64>,
    /// Probe timeouts in a row.
    pub pto_count: Option<u32>,
    /// Whether the sender has too little to send.
    pub app_limited: Option<bool>,
    /// Packets declared lost since the connection began.
    pub lost_packets: Option<u64>,
    /// The path, where there are several.
    pub path: u32,
}

/// A change of the congestion state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct State {
    /// The new state, as qlog names it where it has a name for it.
    pub new: Name,
    /// `trigger` of the event; `None` if it has none.
    pub trigger: Option<Name>,
}

/// A number of a controller's own.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StateVariable {
    /// Its event: an index into [`Batch::events`].
    pub event: u32,
    /// Name as logged.
    pub name: Name,
    /// Its value; NaN if it is none.
    pub value: f64,
}

/// Address of the other end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Peer {
    /// Its event: an index into [`Batch::events`].
    pub event: u32,
    /// Its address and port, or its host.
    pub address: Name,
    /// This end's address and port; empty if not logged.
    pub local: Name,
}

/// An event as it stands in the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// Time and connection where it is none of [`Batch::events`]: network logs tell of packets in pieces.
    pub own: Option<(i64, Name)>,
    /// Otherwise the index of its event.
    pub event: u32,
    /// Its name, with the namespace or category that the trace writes.
    pub name: Name,
    /// Whether it is about a packet that was sent or received, or a part of one.
    pub of_packet: bool,
    /// Its data, JSON; the beginning of what is long.
    pub data: Box<str>,
}

/// A record that could not be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadRecord {
    /// Its place in the file, from 1; the events of a contained trace are counted.
    pub record: u64,
    /// The byte and what was expected there.
    pub reason: String,
}

impl Batch {
    /// The acknowledged ranges of a packet.
    #[must_use]
    pub fn ranges_of(&self, packet: &Packet) -> &[(u64, u64)] {
        part(&self.ranges, packet.ranges)
    }

    /// The ACK frames of a packet that name their path.
    #[must_use]
    pub fn path_acks_of(&self, packet: &Packet) -> &[PathAck] {
        part(&self.path_acks, packet.path_acks)
    }

    /// The acknowledged ranges of such a frame.
    #[must_use]
    pub fn ranges_of_path_ack(&self, ack: &PathAck) -> &[(u64, u64)] {
        part(&self.path_ranges, ack.ranges)
    }

    /// The data frames of a packet.
    #[must_use]
    pub fn streams_of(&self, packet: &Packet) -> &[Stream] {
        part(&self.streams, packet.streams)
    }

    /// The flow control frames of a packet.
    #[must_use]
    pub fn flow_control_of(&self, packet: &Packet) -> &[FlowControl] {
        part(&self.flow_control, packet.flow_control)
    }

    /// Counts a record that could not be read, and keeps it if it is among the first.
    pub(crate) fn add_bad_record(&mut self, record: u64, Malformed { at, expected }: Malformed) {
        self.bad_records += 1;
        if self.bad.len() < KEPT {
            self.bad.push(BadRecord { record, reason: format!("byte {}: expected {expected}", at + 1) });
        }
    }

    /// Adds the address of the other end, of the event that is added next.
    pub(crate) fn add_peer(&mut self, address: &str, local: &str) {
        let (address, local) = (self.names.add(address), self.names.add(local));
        self.peers.push(Peer { event: self.events.len() as u32, address, local });
    }

    /// Keeps the first version of QUIC.
    pub(crate) fn set_version(&mut self, version: &str) {
        if self.quic_version.is_none() && !version.is_empty() {
            self.quic_version = Some(self.names.add(version));
        }
    }

    /// Removes the address of the latest event if the one before it, of the same connection, is equal.
    #[inline]
    pub(crate) fn join_peers(&mut self) {
        if self.peers.len() < 2 {
            return;
        }
        let [.., before, last] = self.peers[..] else { return };
        let group = |peer: Peer| self.events.get(peer.event as usize).map(|event| event.group);
        if last.event as usize + 1 == self.events.len()
            && (before.address, before.local) == (last.address, last.local)
            && group(before) == group(last)
        {
            self.peers.pop();
        }
    }

    /// Counts a field or event that no table holds.
    pub fn count_unknown(&mut self, name: &str) {
        let name = self.names.add(name);
        *self.unknown.entry(name).or_default() += 1;
    }

    /// The text of a name.
    #[must_use]
    pub fn name(&self, name: Name) -> &str {
        self.names.get(name)
    }
}

fn part<T>(all: &[T], (first, number): (u32, u32)) -> &[T] {
    all.get(first as usize..first as usize + number as usize).unwrap_or_default()
}

/// A text of a batch; 0 is the empty one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Name(u32);

impl Name {
    /// Its place among the names of its batch, from 0.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The texts of a batch.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Names {
    texts: Vec<Box<str>>,
    known: HashMap<Box<str>, Name>,
}

impl Names {
    /// The name of a text, which is kept if it is new.
    pub fn add(&mut self, text: &str) -> Name {
        if text.is_empty() {
            return Name(0);
        }
        if let Some(&name) = self.known.get(text) {
            return name;
        }
        self.texts.push(text.into());
        let name = Name(self.texts.len() as u32);
        self.known.insert(text.into(), name);
        name
    }

    /// The text of a name.
    #[must_use]
    pub fn get(&self, name: Name) -> &str {
        (name.0 as usize).checked_sub(1).and_then(|index| self.texts.get(index)).map_or("", |text| text)
    }
}
