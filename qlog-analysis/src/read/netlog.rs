//! Chromium's network log: the packets of its QUIC sessions, put together again.
//!
//! Chromium logs a packet in pieces: first the frames it sends, then the packet they went
//! into; first a packet received, then its header, then its frames. Times are milliseconds,
//! but those of packets sent and lost microseconds. Packet numbers are unique over all
//! spaces. What the constants of a file do not name is counted, and a file that breaks off
//! gives what came before.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};

use super::Records;
use super::block::{self, Block};
use crate::json::{Cursor, Malformed};
use crate::model::{
    Batch, Event, EventKind, FlowControl, FlowControlKind, HttpField, HttpFrame, HttpFrameKind, Name, Packet,
    PacketType, Stream, TransportParameters,
};

mod session;

use session::Session;

/// Sessions that are followed at a time. Beyond, the one with the lowest number is over.
const SESSIONS: usize = 1024;

/// The events about packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Session,
    Configured,
    Sent,
    Lost,
    Received,
    Header,
    AckSent,
    AckReceived,
    StreamSent,
    StreamReceived,
    /// A limit, or that one is met: `WINDOW_UPDATE`, `BLOCKED`, `MAX_STREAMS`, `STREAMS_BLOCKED`.
    LimitSent(Limit),
    LimitReceived(Limit),
    /// Transport parameters, as a text; whether they are the server's.
    Parameters(bool),
    /// An HTTP/3 frame; whether it was sent.
    Http(HttpFrameKind, bool),
    /// A frame that asks for an acknowledgement and holds nothing we keep.
    OtherSent,
    OtherReceived,
    /// Ends the session: what follows is not counted.
    Closing,
    /// Something of a session without a packet of its own.
    Quiet,
}

/// Kind of a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Limit {
    Data,
    Blocked,
    Streams,
    StreamsBlocked,
}

impl Kind {
    /// Whether an event is a packet or a part of one.
    fn is_of_packet(self) -> bool {
        use Kind::{Closing, Configured, Http, Lost, Parameters, Quiet, Session};
        !matches!(self, Session | Configured | Lost | Parameters(_) | Http(..) | Closing | Quiet)
    }

    fn of(name: &str) -> Option<Kind> {
        let rest = name.strip_prefix("QUIC_SESSION");
        Some(match rest {
            _ if name == "QUIC_CONGESTION_CONTROL_CONFIGURED" => Kind::Configured,
            _ if name == "HTTP3_HEADERS_SENT" => Kind::Http(HttpFrameKind::Headers, true),
            _ if name == "HTTP3_HEADERS_DECODED" => Kind::Http(HttpFrameKind::Headers, false),
            _ if name == "HTTP3_DATA_SENT" => Kind::Http(HttpFrameKind::Data, true),
            _ if name == "HTTP3_DATA_FRAME_RECEIVED" => Kind::Http(HttpFrameKind::Data, false),
            _ if name == "HTTP3_PRIORITY_UPDATE_SENT" => Kind::Http(HttpFrameKind::PriorityUpdate(0), true),
            _ if name == "HTTP3_PRIORITY_UPDATE_RECEIVED" => Kind::Http(HttpFrameKind::PriorityUpdate(0), false),
            Some("") => Kind::Session,
            Some("_PACKET_SENT") => Kind::Sent,
            Some("_PACKET_LOST") => Kind::Lost,
            Some("_PACKET_RECEIVED") => Kind::Received,
            Some("_UNAUTHENTICATED_PACKET_HEADER_RECEIVED") => Kind::Header,
            Some("_ACK_FRAME_SENT") => Kind::AckSent,
            Some("_ACK_FRAME_RECEIVED") => Kind::AckReceived,
            Some("_STREAM_FRAME_SENT") => Kind::StreamSent,
            Some("_STREAM_FRAME_RECEIVED") => Kind::StreamReceived,
            Some("_WINDOW_UPDATE_FRAME_SENT") => Kind::LimitSent(Limit::Data),
            Some("_WINDOW_UPDATE_FRAME_RECEIVED") => Kind::LimitReceived(Limit::Data),
            Some("_BLOCKED_FRAME_SENT") => Kind::LimitSent(Limit::Blocked),
            Some("_BLOCKED_FRAME_RECEIVED") => Kind::LimitReceived(Limit::Blocked),
            Some("_MAX_STREAMS_FRAME_SENT") => Kind::LimitSent(Limit::Streams),
            Some("_MAX_STREAMS_FRAME_RECEIVED") => Kind::LimitReceived(Limit::Streams),
            Some("_STREAMS_BLOCKED_FRAME_SENT") => Kind::LimitSent(Limit::StreamsBlocked),
            Some("_STREAMS_BLOCKED_FRAME_RECEIVED") => Kind::LimitReceived(Limit::StreamsBlocked),
            Some("_TRANSPORT_PARAMETERS_SENT") => Kind::Parameters(false),
            Some("_TRANSPORT_PARAMETERS_RECEIVED") => Kind::Parameters(true),
            Some("_CONNECTION_CLOSE_FRAME_SENT") => Kind::Closing,
            Some("_PADDING_FRAME_SENT" | "_PADDING_FRAME_RECEIVED") => Kind::Quiet,
            Some("_CONNECTION_CLOSE_FRAME_RECEIVED") => Kind::Quiet,
            Some(rest) if rest.ends_with("_FRAME_SENT") => Kind::OtherSent,
            Some(rest) if rest.ends_with("_FRAME_RECEIVED") => Kind::OtherReceived,
            Some(_) => Kind::Quiet,
            None => return None,
        })
    }
}

/// Reads the events of one network log, in order.
#[derive(Debug, Default)]
pub(crate) struct Netlog {
    /// What the numbers of event types mean: name and, where it matters, kind.
    types: HashMap<u64, (String, Option<Kind>)>,
    /// The number of the source type of QUIC sessions.
    session_type: Option<u64>,
    sessions: BTreeMap<u64, Session>,
    last: i64,
    /// Chromium's own counts of the sessions open at the end, if logged.
    polled: Vec<Value>,
    checks: Vec<Check>,
}

/// A total that Chromium counted, and what the events add up to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    /// Name of the connection.
    pub connection: String,
    /// Name of the counter.
    pub counter: &'static str,
    /// Count among the events; `None` if they have no such connection.
    pub counted: Option<u64>,
    /// Chromium's own count.
    pub reported: u64,
}

impl Check {
    /// True if both counts are equal.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.counted == Some(self.reported)
    }
}

/// The parts of an event.
#[derive(Default)]
struct Parts<'a> {
    time: Option<i64>,
    kind: Option<u64>,
    source: Option<u64>,
    source_type: Option<u64>,
    params: &'a [u8],
}

impl Netlog {
    /// A reader that goes by the constants of a file.
    pub(crate) fn new(constants: &Map<String, Value>) -> Self {
        let numbers = |key: &str| constants.get(key).and_then(Value::as_object).into_iter().flatten();
        let types = numbers("logEventTypes")
            .filter_map(|(name, number)| Some((number.as_u64()?, (name.clone(), Kind::of(name)))))
            .collect();
        let session_type = numbers("logSourceType").find(|(name, _)| *name == "QUIC_SESSION");
        let session_type = session_type.and_then(|(_, number)| number.as_u64());
        Netlog { types, session_type, ..Netlog::default() }
    }

    /// Takes what stands under `polledData`: state of the browser when the log ended. In it,
    /// `quicInfo.sessions` are the QUIC sessions that were open then. A browser with several
    /// profiles or none (`--headless`) writes a list of states.
    pub(crate) fn polled(&mut self, data: &Value) {
        if let Value::Array(states) = data {
            states.iter().filter(|state| state.is_object()).for_each(|state| self.polled(state));
            return;
        }
        let sessions = data.get("quicInfo").and_then(|info| info.get("sessions")).and_then(Value::as_array);
        self.polled.extend(sessions.into_iter().flatten().cloned());
    }

    /// What Chromium counted against what the events add up to; complete when the log is.
    pub(crate) fn into_checks(self) -> Vec<Check> {
        self.checks
    }

    fn check(&mut self, sessions: &[(u64, Session)]) {
        for polled in &self.polled {
            let id = polled.get("connection_id").and_then(Value::as_str).unwrap_or_default();
            let totals =
                sessions.iter().find(|(_, session)| session.is_called(id)).map(|(_, session)| session.totals());
            for (index, counter) in ["packets_sent", "packets_received", "packets_lost"].into_iter().enumerate() {
                let Some(reported) = polled.get(counter).and_then(Value::as_u64) else { continue };
                let counted = totals.map(|totals| totals[index]);
                self.checks.push(Check { connection: id.to_owned(), counter, counted, reported });
            }
        }
    }

    /// Reads the events of a block, and keeps those of `records` as they stand.
    pub(crate) fn read(&mut self, block: &Block, records: Records) -> Batch {
        let mut batch = Batch { trace: block.trace, ..Batch::default() };
        for (record, text) in block.records() {
            if let Err(malformed) = self.event(text, records, &mut batch) {
                batch.add_bad_record(record, malformed);
            }
        }
        batch
    }

    /// The packets that were not complete when the log ended.
    pub(crate) fn finish(&mut self) -> Batch {
        let mut batch = Batch::default();
        let sessions: Vec<(u64, Session)> = std::mem::take(&mut self.sessions).into_iter().collect();
        self.check(&sessions);
        for (_, mut session) in sessions {
            session.finish_received(self.last, &mut batch);
        }
        batch
    }

    fn event(&mut self, text: &[u8], records: Records, batch: &mut Batch) -> Result<(), Malformed> {
        let mut parts = Parts::default();
        let mut cursor = Cursor::new(text);
        cursor.object(|key, value| {
            match key {
                b"time" => parts.time = value.decimal()?.and_then(|time| time.scaled(6)),
                b"type" => parts.kind = value.whole()?,
                b"params" => parts.params = value.raw()?,
                b"source" if value.peek() == Some(b'{') => value.object(|key, value| {
                    match key {
                        b"id" => parts.source = value.whole()?,
                        b"type" => parts.source_type = value.whole()?,
                        _ => value.skip()?,
                    }
                    Ok(())
                })?,
                _ => value.skip()?,
            }
            Ok(())
        })?;
        cursor.end()?;
        let (Some(time), Some(number), Some(source)) = (parts.time, parts.kind, parts.source) else {
            // Sources of certificate verifiers have numbers below zero.
            if parts.time.is_some() && parts.source_type.is_some() && parts.source_type != self.session_type {
                return Ok(());
            }
            return Err(Malformed { at: 0, expected: "an event with time, type and source" });
        };
        let Some((name, kind)) = self.types.get(&number) else {
            batch.count_unknown(&format!("event type {number}"));
            return Ok(());
        };
        if self.session_type.is_some() && parts.source_type != self.session_type {
            // Of requests, sockets, name resolution: no matter of ours.
            return Ok(());
        }
        let params = if parts.params.starts_with(b"{") { parts.params } else { b"{}" };
        let now = time.max(self.last);
        if self.sessions.len() >= SESSIONS
            && !self.sessions.contains_key(&source)
            && let Some((_, mut oldest)) = self.sessions.pop_first()
        {
            oldest.finish_received(self.last, batch);
        }
        let session = self.sessions.entry(source).or_insert_with(|| Session::new(source));
        self.last = session.event(*kind, name, now, &mut Cursor::new(params), batch)?.max(now);
        let of_packet = kind.is_some_and(Kind::is_of_packet);
        if records.keeps(of_packet) {
            let group = session.group(batch);
            block::keep_part((now, group), name, of_packet, params, batch);
        }
        Ok(())
    }
}
