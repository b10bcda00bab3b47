//! Flow control (`RFC 9000 §4`) and the types of frames in a trace.

use std::fmt;

/// What a limit is of, and whether it is granted or met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlowControlKind {
    /// `MAX_DATA`: bytes of all streams together.
    MaxData,
    /// `MAX_STREAM_DATA`: bytes of one stream.
    MaxStreamData,
    /// `MAX_STREAMS`: bidirectional streams.
    MaxStreamsBidi,
    /// `MAX_STREAMS`: unidirectional streams.
    MaxStreamsUni,
    /// `DATA_BLOCKED`.
    DataBlocked,
    /// `STREAM_DATA_BLOCKED`.
    StreamDataBlocked,
    /// `STREAMS_BLOCKED`: bidirectional streams.
    StreamsBlockedBidi,
    /// `STREAMS_BLOCKED`: unidirectional streams.
    StreamsBlockedUni,
}

impl FlowControlKind {
    /// The frame type, as qlog spells it.
    #[must_use]
    pub const fn frame_type(self) -> &'static str {
        match self {
            FlowControlKind::MaxData => "max_data",
            FlowControlKind::MaxStreamData => "max_stream_data",
            FlowControlKind::MaxStreamsBidi | FlowControlKind::MaxStreamsUni => "max_streams",
            FlowControlKind::DataBlocked => "data_blocked",
            FlowControlKind::StreamDataBlocked => "stream_data_blocked",
            FlowControlKind::StreamsBlockedBidi | FlowControlKind::StreamsBlockedUni => "streams_blocked",
        }
    }

    /// Whether it is a `…_BLOCKED` frame: the limit keeps its sender from sending.
    #[must_use]
    pub const fn is_blocked(self) -> bool {
        matches!(
            self,
            FlowControlKind::DataBlocked
                | FlowControlKind::StreamDataBlocked
                | FlowControlKind::StreamsBlockedBidi
                | FlowControlKind::StreamsBlockedUni
        )
    }

    /// Whether it is about unidirectional streams; `None` if it is not about a number of streams.
    #[must_use]
    pub const fn unidirectional(self) -> Option<bool> {
        match self {
            FlowControlKind::MaxStreamsBidi | FlowControlKind::StreamsBlockedBidi => Some(false),
            FlowControlKind::MaxStreamsUni | FlowControlKind::StreamsBlockedUni => Some(true),
            _ => None,
        }
    }
}

/// A limit that an endpoint grants, or is blocked by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowControl {
    /// Kind of the limit.
    pub kind: FlowControlKind,
    /// The stream; `None` for the connection.
    pub stream: Option<u64>,
    /// Bytes, or streams; `None` if it is not logged.
    pub limit: Option<u64>,
}

impl fmt::Display for FlowControl {
    /// The frame with its fields: `max_stream_data stream_id=4 limit=9000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.frame_type())?;
        if let Some(unidirectional) = self.kind.unidirectional() {
            write!(f, " stream_type={}", if unidirectional { "unidirectional" } else { "bidirectional" })?;
        }
        if let Some(stream) = self.stream {
            write!(f, " stream_id={stream}")?;
        }
        self.limit.map_or(Ok(()), |limit| write!(f, " limit={limit}"))
    }
}

/// Flow control limits among an endpoint's transport parameters (`RFC 9000 §18.2`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TransportParameters {
    /// Whether they are the other end's.
    pub remote: bool,
    /// `initial_max_data`, bytes.
    pub max_data: Option<u64>,
    /// `initial_max_stream_data_bidi_local`, bytes: streams that the endpoint itself opens.
    pub max_stream_data_bidi_local: Option<u64>,
    /// `initial_max_stream_data_bidi_remote`, bytes: streams that its peer opens.
    pub max_stream_data_bidi_remote: Option<u64>,
    /// `initial_max_stream_data_uni`, bytes.
    pub max_stream_data_uni: Option<u64>,
    /// `initial_max_streams_bidi`.
    pub max_streams_bidi: Option<u64>,
    /// `initial_max_streams_uni`.
    pub max_streams_uni: Option<u64>,
}

impl fmt::Display for TransportParameters {
    /// Whose they are, and their fields: `remote initial_max_data=9000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.remote { "remote" } else { "local" })?;
        self.limits().try_for_each(|(name, limit)| write!(f, " {name}={limit}"))
    }
}

impl TransportParameters {
    /// Names of the limits, as qlog and tshark have them.
    pub(crate) const NAMES: [&str; 6] = [
        "initial_max_data",
        "initial_max_stream_data_bidi_local",
        "initial_max_stream_data_bidi_remote",
        "initial_max_stream_data_uni",
        "initial_max_streams_bidi",
        "initial_max_streams_uni",
    ];

    /// The place of a limit by its name.
    pub(crate) fn limit(&mut self, name: &[u8]) -> Option<&mut Option<u64>> {
        Some(match name {
            b"initial_max_data" => &mut self.max_data,
            b"initial_max_stream_data_bidi_local" => &mut self.max_stream_data_bidi_local,
            b"initial_max_stream_data_bidi_remote" => &mut self.max_stream_data_bidi_remote,
            b"initial_max_stream_data_uni" => &mut self.max_stream_data_uni,
            b"initial_max_streams_bidi" => &mut self.max_streams_bidi,
            b"initial_max_streams_uni" => &mut self.max_streams_uni,
            _ => return None,
        })
    }

    /// The limits that are logged, by name.
    pub fn limits(&self) -> impl Iterator<Item = (&'static str, u64)> {
        [
            ("initial_max_data", self.max_data),
            ("initial_max_stream_data_bidi_local", self.max_stream_data_bidi_local),
            ("initial_max_stream_data_bidi_remote", self.max_stream_data_bidi_remote),
            ("initial_max_stream_data_uni", self.max_stream_data_uni),
            ("initial_max_streams_bidi", self.max_streams_bidi),
            ("initial_max_streams_uni", self.max_streams_uni),
        ]
        .into_iter()
        .filter_map(|(name, limit)| Some((name, limit?)))
    }
}

/// The frame types of a packet, each once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FrameTypes(u32);

impl FrameTypes {
    /// Names in qlog's spelling, of the schemas and of `draft-ietf-quic-ack-frequency`, in the order they are
    /// listed; the last stands for all others.
    pub const NAMES: [&'static str; 24] = [
        "padding",
        "ping",
        "ack",
        "reset_stream",
        "stop_sending",
        "crypto",
        "new_token",
        "stream",
        "max_data",
        "max_stream_data",
        "max_streams",
        "data_blocked",
        "stream_data_blocked",
        "streams_blocked",
        "new_connection_id",
        "retire_connection_id",
        "path_challenge",
        "path_response",
        "connection_close",
        "handshake_done",
        "datagram",
        "reset_stream_at",
        "ack_frequency",
        "unknown",
    ];

    /// Adds a type by its name, in either case.
    pub(crate) fn add(&mut self, name: &[u8]) {
        let index = match name {
            b"stream" => 7,
            b"ack" => 2,
            other => {
                let known = Self::NAMES.iter().position(|known| known.as_bytes().eq_ignore_ascii_case(other));
                known.unwrap_or(Self::NAMES.len() - 1)
            }
        };
        self.0 |= 1 << index;
    }

    /// The types, by name.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.into_iter().enumerate().filter(move |(index, _)| self.0 & 1 << index != 0).map(|(_, name)| name)
    }

    /// A bit a type, in the order of [`FrameTypes::NAMES`], the lowest first.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// True if no frame is logged.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_types_are_known_in_either_case() {
        let mut types = FrameTypes::default();
        for name in [&b"STREAM"[..], b"ack", b"max_data", b"something_new", b"stream"] {
            types.add(name);
        }
        assert_eq!(types.names().collect::<Vec<_>>(), ["ack", "stream", "max_data", "unknown"]);
    }
}
