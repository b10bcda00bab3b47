//! Packets and their frames.

/// Type of a QUIC packet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
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
}

impl PacketType {
    /// The name in qlog; the same in both profiles.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            PacketType::Initial => "initial",
            PacketType::Handshake => "handshake",
            PacketType::ZeroRtt => "0RTT",
            PacketType::OneRtt => "1RTT",
        }
    }
}

/// A packet as qlog's `packet_sent` and `packet_received` describe it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// Its type, which also names its packet number space.
    pub kind: PacketType,
    /// Packet number, in its packet number space.
    pub number: u64,
    /// Its size, bytes, header and authentication tag included.
    pub bytes: u64,
    /// Why it was sent, if not simply because there was something to send.
    pub trigger: Option<SendTrigger>,
}

impl Packet {
    /// A 1-RTT packet sent for no special reason.
    #[must_use]
    pub const fn one_rtt(number: u64, bytes: u64) -> Packet {
        Packet { kind: PacketType::OneRtt, number, bytes, trigger: None }
    }
}

/// Trigger of sending a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendTrigger {
    /// Retransmission of what the packet threshold found lost (`RFC 9002 §6.1.1`).
    RetransmitReordered,
    /// Retransmission of what the time threshold found lost (`RFC 9002 §6.1.2`).
    RetransmitTimeout,
    /// Probe timeout (`RFC 9002 §6.2.4`).
    PtoProbe,
    /// Probe of a congestion controller, such as a train.
    CcBandwidthProbe,
}

impl SendTrigger {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            SendTrigger::RetransmitReordered => "retransmit_reordered",
            SendTrigger::RetransmitTimeout => "retransmit_timeout",
            SendTrigger::PtoProbe => "pto_probe",
            SendTrigger::CcBandwidthProbe => "cc_bandwidth_probe",
        }
    }
}

/// Rule by which a packet was declared lost (`RFC 9002 §6.1`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossTrigger {
    /// Enough later packets were acknowledged.
    ReorderingThreshold,
    /// A later packet was acknowledged and enough time passed.
    TimeThreshold,
    /// A probe timeout took it for lost.
    PtoExpired,
}

impl LossTrigger {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            LossTrigger::ReorderingThreshold => "reordering_threshold",
            LossTrigger::TimeThreshold => "time_threshold",
            LossTrigger::PtoExpired => "pto_expired",
        }
    }
}

/// A frame in a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Frame<'a> {
    /// PADDING (`RFC 9000 §19.1`).
    Padding {
        /// Number of bytes.
        length: u64,
    },
    /// PING (`RFC 9000 §19.2`).
    Ping,
    /// ACK (`RFC 9000 §19.3`).
    Ack(Ack<'a>),
    /// CRYPTO (`RFC 9000 §19.6`).
    Crypto {
        /// Offset in the crypto stream, bytes.
        offset: u64,
        /// Bytes of CRYPTO data.
        length: u64,
    },
    /// STREAM (`RFC 9000 §19.8`).
    Stream {
        /// Stream ID.
        id: u64,
        /// Offset in the stream, bytes.
        offset: u64,
        /// Bytes of stream data.
        length: u64,
        /// Whether the stream ends with it.
        fin: bool,
    },
    /// MAX_DATA (`RFC 9000 §19.9`).
    MaxData {
        /// Bytes the peer may send on the connection.
        maximum: u64,
    },
    /// MAX_STREAM_DATA (`RFC 9000 §19.10`).
    MaxStreamData {
        /// Stream ID.
        id: u64,
        /// Bytes the peer may send on the stream.
        maximum: u64,
    },
    /// DATAGRAM (`RFC 9221`).
    Datagram {
        /// Bytes of the datagram.
        length: u64,
    },
    /// HANDSHAKE_DONE (`RFC 9000 §19.20`).
    HandshakeDone,
    /// RESET_STREAM (`RFC 9000 §19.4`).
    ResetStream {
        /// Stream ID.
        id: u64,
        /// The application's error code.
        error_code: u64,
        /// Final size of the stream, bytes.
        final_size: u64,
    },
    /// STOP_SENDING (`RFC 9000 §19.5`).
    StopSending {
        /// Stream ID.
        id: u64,
        /// The application's error code.
        error_code: u64,
    },
    /// MAX_STREAMS (`RFC 9000 §19.11`).
    MaxStreams {
        /// Whether it counts bidirectional streams.
        bidirectional: bool,
        /// Streams the peer may open.
        maximum: u64,
    },
    /// DATA_BLOCKED (`RFC 9000 §19.12`).
    DataBlocked {
        /// Bytes the sender may send on the connection.
        limit: u64,
    },
    /// STREAM_DATA_BLOCKED (`RFC 9000 §19.13`).
    StreamDataBlocked {
        /// Stream ID.
        id: u64,
        /// Bytes the sender may send on it.
        limit: u64,
    },
    /// STREAMS_BLOCKED (`RFC 9000 §19.14`).
    StreamsBlocked {
        /// Whether it is about bidirectional streams.
        bidirectional: bool,
        /// Streams the sender may open.
        limit: u64,
    },
    /// PATH_CHALLENGE (`RFC 9000 §19.17`).
    PathChallenge,
    /// PATH_RESPONSE (`RFC 9000 §19.18`).
    PathResponse,
    /// CONNECTION_CLOSE (`RFC 9000 §19.19`).
    ConnectionClose,
}

/// An ACK frame (`RFC 9000 §19.3`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ack<'a> {
    /// How long the receiver says it held the ACK, ns, where the stack reports it.
    pub delay_ns: Option<u64>,
    /// Packet numbers acknowledged: lowest and highest of each range, both included,
    /// in any order.
    pub ranges: &'a [(u64, u64)],
    /// Packets received so far by ECN codepoint, if the frame has them.
    pub ecn: Option<EcnCounts>,
}

/// Packets received so far by ECN codepoint (`RFC 9000 §19.3.2`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EcnCounts {
    /// Count of packets with ECT(0).
    pub ect0: u64,
    /// Count of packets with ECT(1).
    pub ect1: u64,
    /// Count of packets with CE.
    pub ce: u64,
}
