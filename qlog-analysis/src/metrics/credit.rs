//! Flow control of one direction: the limits the receiver grants, and the data sent against
//! them (`RFC 9000 §4`).

use std::collections::HashMap;

use crate::model::{FlowControl, FlowControlKind, Stream, TransportParameters};

/// Streams whose offsets are remembered; the data of further ones are not counted.
const STREAMS: usize = 1 << 14;

/// Flow control state of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct StreamCredit {
    /// Largest offset of its data so far, bytes.
    offset: u64,
    /// The largest `MAX_STREAM_DATA`, bytes.
    limit: Option<u64>,
    /// Whether all of its data were sent.
    ended: bool,
}

/// Limits and data of one direction.
#[derive(Clone, Debug, Default)]
pub(super) struct Credit {
    connection: Option<u64>,
    used: u64,
    initial: TransportParameters,
    /// Whether the sender is the client; `None` if the trace does not say.
    sender_is_client: Option<bool>,
    streams: HashMap<u64, StreamCredit>,
    /// The stream whose data were sent last; `streams` does not have it as it is now.
    latest: Option<(u64, StreamCredit)>,
    /// The stream that has most data, and how many bytes.
    largest: (u64, u64),
}

impl Credit {
    pub(super) fn sender_is_client(&mut self, client: bool) {
        self.sender_is_client = Some(client);
    }

    /// The receiver's transport parameters.
    pub(super) fn parameters(&mut self, parameters: &TransportParameters) {
        self.connection = self.connection.max(parameters.max_data);
        self.initial = *parameters;
    }

    /// A limit that the receiver granted.
    pub(super) fn grant(&mut self, limit: &FlowControl) {
        match (limit.kind, limit.stream) {
            (FlowControlKind::MaxData, _) => self.connection = self.connection.max(limit.limit),
            (FlowControlKind::MaxStreamData, Some(id)) => {
                if let Some(stream) = self.stream_mut(id) {
                    stream.limit = stream.limit.max(limit.limit);
                }
            }
            _ => {}
        }
    }

    /// Data were sent.
    pub(super) fn data(&mut self, frame: &Stream) {
        let end = frame.offset.saturating_add(frame.length);
        let Some(stream) = self.stream_mut(frame.id) else { return };
        stream.ended |= frame.fin;
        let more = end.saturating_sub(stream.offset);
        stream.offset += more;
        self.used = self.used.saturating_add(more);
        if end > self.largest.1 {
            self.largest = (frame.id, end);
        }
    }

    /// The stream, which becomes the latest; `None` if there are too many.
    fn stream_mut(&mut self, id: u64) -> Option<&mut StreamCredit> {
        if self.latest.is_none_or(|latest| latest.0 != id) {
            if !self.streams.contains_key(&id) && self.streams.len() >= STREAMS {
                return None;
            }
            if let Some((before, stream)) = self.latest.take() {
                self.streams.insert(before, stream);
            }
            self.latest = Some((id, self.streams.get(&id).copied().unwrap_or_default()));
        }
        self.latest.as_mut().map(|(_, stream)| stream)
    }

    /// The limit that a stream has by the transport parameters.
    fn initial(&self, id: u64) -> Option<u64> {
        let TransportParameters { max_stream_data_bidi_local: local, max_stream_data_bidi_remote: remote, .. } =
            self.initial;
        if id & 2 != 0 {
            return self.initial.max_stream_data_uni;
        }
        match self.sender_is_client {
            // The receiver's word for its own streams is `local`.
            Some(client) => {
                if (id & 1 == 0) == client {
                    remote
                } else {
                    local
                }
            }
            None => local.filter(|_| local == remote),
        }
    }

    fn limit_of(&self, id: u64, stream: StreamCredit) -> Option<u64> {
        stream.limit.max(self.initial(id))
    }

    /// Whether the connection, or the stream sent on last, is at its limit.
    pub(super) fn blocked(&self) -> bool {
        if self.connection.is_some_and(|limit| self.used >= limit) {
            return true;
        }
        self.latest.is_some_and(|(id, stream)| {
            !stream.ended && stream.offset > 0 && self.limit_of(id, stream).is_some_and(|limit| stream.offset >= limit)
        })
    }

    /// The limit of the connection, bytes.
    pub(super) fn connection(&self) -> Option<u64> {
        self.connection
    }

    /// Bytes of all streams that count against the connection's limit.
    pub(super) fn used(&self) -> u64 {
        self.used
    }

    /// Limit and bytes sent of the stream that has most data.
    pub(super) fn largest_stream(&self) -> (Option<u64>, u64) {
        let (id, bytes) = self.largest;
        let stream = match self.latest {
            Some((latest, stream)) if latest == id => stream,
            _ => self.streams.get(&id).copied().unwrap_or_default(),
        };
        (if bytes > 0 { self.limit_of(id, stream) } else { None }, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(id: u64, offset: u64, length: u64) -> Stream {
        Stream { id, offset, length, fin: false }
    }

    fn granted(kind: FlowControlKind, stream: Option<u64>, limit: u64) -> FlowControl {
        FlowControl { kind, stream, limit: Some(limit) }
    }

    #[test]
    fn a_sender_is_blocked_at_either_limit() {
        let mut credit = Credit::default();
        credit.sender_is_client(false);
        credit.parameters(&TransportParameters {
            remote: true,
            max_data: Some(3000),
            max_stream_data_bidi_local: Some(1000),
            max_stream_data_bidi_remote: Some(9000),
            ..TransportParameters::default()
        });
        credit.data(&data(0, 0, 999));
        assert!(!credit.blocked());
        credit.data(&data(0, 0, 1000));
        assert!(credit.blocked(), "a stream that the client opened has the client's local limit");
        assert_eq!((credit.used(), credit.largest_stream()), (1000, (Some(1000), 1000)), "data sent again count once");
        credit.grant(&granted(FlowControlKind::MaxStreamData, Some(0), 5000));
        assert!(!credit.blocked());
        credit.data(&data(0, 1000, 1500));
        credit.data(&data(4, 0, 500));
        assert!(credit.blocked(), "3000 bytes of the connection");
        credit.grant(&granted(FlowControlKind::MaxData, None, 4000));
        assert!(!credit.blocked());
        assert_eq!(credit.largest_stream(), (Some(5000), 2500));
        assert_eq!(credit.connection(), Some(4000));
    }
}
