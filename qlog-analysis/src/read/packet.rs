//! Packets: sent, received, lost, dropped.

use super::Options;
use super::encoding::Encoding;
use crate::json::{Cursor, Malformed};
use crate::model::{Batch, EventKind, FlowControl, FlowControlKind, Packet, PacketType, PathAck, Stream};

/// Stands for a path that is not logged, until the event's is known ([`super::event::push`]).
pub(super) const NOT_LOGGED: u32 = u32::MAX;

/// Reads the data of a packet event; its place in the table.
pub(super) fn read(
    value: &mut Cursor<'_>,
    encoding: &Encoding,
    options: &Options,
    batch: &mut Batch,
) -> Result<u32, Malformed> {
    let (packet, _) = fields(value, encoding, options, batch)?;
    batch.packets.push(packet);
    Ok(batch.packets.len() as u32 - 1)
}

/// Reads a packet that was lost. mvfst logs several in one event, without their numbers.
pub(super) fn lost(
    value: &mut Cursor<'_>,
    encoding: &Encoding,
    options: &Options,
    batch: &mut Batch,
) -> Result<EventKind, Malformed> {
    let (packet, together) = fields(value, encoding, options, batch)?;
    if let (None, Some(packets)) = (packet.number, together) {
        return Ok(EventKind::PacketsLost(u32::try_from(packets).unwrap_or(u32::MAX)));
    }
    batch.packets.push(packet);
    Ok(EventKind::PacketLost(batch.packets.len() as u32 - 1))
}

/// Reads numbers of packets that were acknowledged; their place in the table.
pub(super) fn acked(value: &mut Cursor<'_>, batch: &mut Batch) -> Result<u32, Malformed> {
    let first = batch.ranges.len();
    let mut packet = Packet { acks: true, path: NOT_LOGGED, ..Packet::default() };
    value.object(|key, value| {
        match key {
            b"packet_number_space" => kind(value, &mut packet)?,
            b"packet_numbers" if value.peek() == Some(b'[') => ranges(value, false, batch)?,
            b"path_id" => packet.path = path(value)?,
            _ => value.skip()?,
        }
        Ok(())
    })?;
    packet.ranges = (first as u32, (batch.ranges.len() - first) as u32);
    batch.packets.push(packet);
    Ok(batch.packets.len() as u32 - 1)
}

/// A path's number.
pub(super) fn path(value: &mut Cursor<'_>) -> Result<u32, Malformed> {
    Ok(value.whole()?.map_or(NOT_LOGGED, |path| u32::try_from(path).unwrap_or(NOT_LOGGED).min(NOT_LOGGED - 1)))
}

/// Reads a packet's fields; also the number of packets where the event is about several.
fn fields(
    value: &mut Cursor<'_>,
    encoding: &Encoding,
    options: &Options,
    batch: &mut Batch,
) -> Result<(Packet, Option<u64>), Malformed> {
    let mut packet = Packet { kind: PacketType::Unknown, path: NOT_LOGGED, ..Packet::default() };
    let mut together = None;
    value.object(|key, value| {
        match key {
            b"header" => header(value, &mut packet, batch)?,
            b"raw" if value.peek() == Some(b'{') => raw(value, &mut packet)?,
            b"frames" if options.frames && value.peek() == Some(b'[') => {
                frames(value, encoding, &mut packet, batch)?;
            }
            b"packet_type" | b"type" => kind(value, &mut packet)?,
            b"packet_number" | b"packet_nr" => packet.number = value.whole()?.or(packet.number),
            b"packet_size" | b"size" => size(value, &mut packet)?,
            // erlang_quic's place for it.
            b"length" if packet.bytes.is_none() => size(value, &mut packet)?,
            b"lost_packets" => together = value.whole()?,
            b"trigger" => packet.trigger = value.word()?.map(|word| batch.names.add(&String::from_utf8_lossy(word))),
            b"path_id" => packet.path = path(value)?,
            _ => value.skip()?,
        }
        Ok(())
    })?;
    Ok((packet, together))
}

fn header(value: &mut Cursor<'_>, packet: &mut Packet, batch: &mut Batch) -> Result<(), Malformed> {
    value.object(|key, value| {
        match key {
            b"packet_type" | b"type" => kind(value, packet),
            b"packet_number" => {
                packet.number = value.whole()?.or(packet.number);
                Ok(())
            }
            b"packet_size" => size(value, packet),
            b"path_id" => {
                packet.path = path(value)?;
                Ok(())
            }
            b"version" if batch.quic_version.is_none() => version(value, batch),
            // quinn's place for the packet's size.
            b"length" if packet.bytes.is_none() => size(value, packet),
            _ => value.skip(),
        }
    })
}

/// Reads the version of QUIC, whose digits aioquic writes as a number.
pub(super) fn version(value: &mut Cursor<'_>, batch: &mut Batch) -> Result<(), Malformed> {
    if value.peek() == Some(b'"') {
        let text = value.string()?.unwrap_or_default();
        batch.set_version(&text);
    } else if let Some(number) = value.whole()? {
        batch.set_version(&format!("{number:08x}"));
    }
    Ok(())
}

fn raw(value: &mut Cursor<'_>, packet: &mut Packet) -> Result<(), Malformed> {
    value.object(|key, value| if key == b"length" { size(value, packet) } else { value.skip() })
}

fn size(value: &mut Cursor<'_>, packet: &mut Packet) -> Result<(), Malformed> {
    if let Some(bytes) = value.whole()? {
        packet.bytes = u32::try_from(bytes).ok();
    }
    Ok(())
}

fn kind(value: &mut Cursor<'_>, packet: &mut Packet) -> Result<(), Malformed> {
    if let Some(word) = value.word()? {
        packet.kind = kind_of(word);
    }
    Ok(())
}

/// A packet type in the words of any version.
fn kind_of(word: &[u8]) -> PacketType {
    match word {
        b"1RTT" | b"onertt" | b"1rtt" | b"short" | b"SHORT_HEADER" | b"short_header" => PacketType::OneRtt,
        b"initial" | b"INITIAL" => PacketType::Initial,
        b"handshake" | b"HANDSHAKE" => PacketType::Handshake,
        b"0RTT" | b"zerortt" | b"0rtt" => PacketType::ZeroRtt,
        b"retry" | b"version_negotiation" | b"stateless_reset" => PacketType::Unnumbered,
        _ => PacketType::Unknown,
    }
}

/// Ranges of one ACK frame that are kept. A frame that fits into a packet of 64 KiB has no
/// more than half of that.
const RANGES: usize = 1 << 15;

/// Fields of a frame, read before its type is known.
#[derive(Default)]
struct Frame<'a> {
    kind: Option<&'a [u8]>,
    id: Option<u64>,
    offset: Option<u64>,
    length: Option<u64>,
    fin: bool,
    ack_delay: Option<i64>,
    ce: Option<u64>,
    path: Option<u32>,
    /// The limit of a flow control frame.
    limit: Option<u64>,
    unidirectional: bool,
    /// First of the ranges, and how many.
    ranges: (usize, usize),
}

/// Reads the frames of `packet`.
fn frames(
    value: &mut Cursor<'_>,
    encoding: &Encoding,
    packet: &mut Packet,
    batch: &mut Batch,
) -> Result<(), Malformed> {
    let first_stream = batch.streams.len();
    let first_range = batch.ranges.len();
    let first_limit = batch.flow_control.len();
    let first_path_ack = batch.path_acks.len();
    let mut eliciting = false;
    value.array(|value| {
        if value.peek() != Some(b'{') {
            return value.skip();
        }
        let frame = frame(value, encoding, batch)?;
        let kind = frame.kind.unwrap_or_default();
        packet.frames.add(kind);
        match kind {
            b"ack" | b"ACK" => {
                packet.acks = true;
                packet.ack_delay = frame.ack_delay;
                packet.ce = frame.ce;
                return Ok(());
            }
            b"path_ack" | b"PATH_ACK" | b"ack_mp" | b"ACK_MP" | b"mp_ack" | b"MP_ACK" => {
                let first = batch.path_ranges.len();
                batch.path_ranges.extend(batch.ranges.drain(frame.ranges.0..));
                let ranges = (first as u32, (batch.path_ranges.len() - first) as u32);
                batch
                    .path_acks
                    .push(PathAck { path: frame.path.filter(|&path| path != NOT_LOGGED).unwrap_or(0), ranges });
                return Ok(());
            }
            b"stream" | b"STREAM" => batch.streams.push(Stream {
                id: frame.id.unwrap_or(0),
                offset: frame.offset.unwrap_or(0),
                length: frame.length.unwrap_or(0),
                fin: frame.fin,
            }),
            b"padding" | b"PADDING" | b"connection_close" | b"CONNECTION_CLOSE" => return Ok(()),
            other => {
                if let Some(kind) = flow_control(other, frame.unidirectional) {
                    batch.flow_control.push(FlowControl { kind, stream: frame.id, limit: frame.limit });
                }
            }
        }
        eliciting = true;
        // Ranges are the packet's only if they are an ACK's.
        batch.ranges.truncate(frame.ranges.0);
        Ok(())
    })?;
    packet.ack_eliciting = Some(eliciting);
    packet.path_acks = (first_path_ack as u32, (batch.path_acks.len() - first_path_ack) as u32);
    packet.ranges = (first_range as u32, (batch.ranges.len() - first_range) as u32);
    packet.streams = (first_stream as u32, (batch.streams.len() - first_stream) as u32);
    packet.flow_control = (first_limit as u32, (batch.flow_control.len() - first_limit) as u32);
    Ok(())
}

/// Reads frames logged without their packet; of them, limits stay in the batch.
pub(super) fn lone_frames(value: &mut Cursor<'_>, encoding: &Encoding, batch: &mut Batch) -> Result<(), Malformed> {
    let (streams, ranges, acks) = (batch.streams.len(), batch.ranges.len(), batch.path_acks.len());
    let mut packet = Packet::default();
    value.object(|key, value| match key {
        b"frames" if value.peek() == Some(b'[') => frames(value, encoding, &mut packet, batch),
        _ => value.skip(),
    })?;
    batch.streams.truncate(streams);
    batch.ranges.truncate(ranges);
    batch.path_acks.truncate(acks);
    Ok(())
}

/// Kind of a flow control frame; `None` for others.
fn flow_control(kind: &[u8], unidirectional: bool) -> Option<FlowControlKind> {
    let of = |bidi, uni| if unidirectional { uni } else { bidi };
    Some(match kind {
        b"max_data" | b"MAX_DATA" => FlowControlKind::MaxData,
        b"max_stream_data" | b"MAX_STREAM_DATA" => FlowControlKind::MaxStreamData,
        b"max_streams" | b"MAX_STREAMS" => of(FlowControlKind::MaxStreamsBidi, FlowControlKind::MaxStreamsUni),
        b"data_blocked" | b"DATA_BLOCKED" => FlowControlKind::DataBlocked,
        b"stream_data_blocked" | b"STREAM_DATA_BLOCKED" => FlowControlKind::StreamDataBlocked,
        b"streams_blocked" | b"STREAMS_BLOCKED" => {
            of(FlowControlKind::StreamsBlockedBidi, FlowControlKind::StreamsBlockedUni)
        }
        _ => return None,
    })
}

fn frame<'a>(value: &mut Cursor<'a>, encoding: &Encoding, batch: &mut Batch) -> Result<Frame<'a>, Malformed> {
    let mut frame = Frame { ranges: (batch.ranges.len(), 0), ..Frame::default() };
    value.object(|key, value| {
        match key {
            b"frame_type" | b"type" => frame.kind = value.word()?,
            b"stream_id" | b"id" => frame.id = value.whole()?,
            b"offset" => frame.offset = value.whole()?,
            b"length" | b"payload_length" => frame.length = value.whole()?.or(frame.length),
            b"raw" if value.peek() == Some(b'{') => {
                value.object(|key, value| match key {
                    b"length" if frame.length.is_none() => {
                        frame.length = value.whole()?;
                        Ok(())
                    }
                    b"payload_length" => {
                        frame.length = value.whole()?.or(frame.length);
                        Ok(())
                    }
                    _ => value.skip(),
                })?;
            }
            b"path_id" | b"path_identifier" => frame.path = Some(path(value)?),
            b"fin" => frame.fin = value.flag()? == Some(true),
            b"ack_delay" => frame.ack_delay = value.decimal()?.and_then(|delay| delay.scaled(encoding.rtt_places)),
            b"ce" => frame.ce = value.whole()?,
            b"maximum" | b"limit" => frame.limit = value.whole()?,
            b"stream_type" => frame.unidirectional = value.word()? == Some(b"unidirectional"),
            b"acked_ranges" | b"ack_ranges" | b"blocks" if value.peek() == Some(b'[') => {
                ranges(value, encoding.half_open, batch)?
            }
            _ => value.skip()?,
        }
        Ok(())
    })?;
    Ok(frame)
}

/// Reads acknowledged ranges: `[lowest, highest]`, `[number]` or a bare number, or `[lowest, highest + 1]` if they are
/// `half_open`. They are only ever kept as ranges: a hostile one may span any number of packets.
pub(super) fn ranges(value: &mut Cursor<'_>, half_open: bool, batch: &mut Batch) -> Result<(), Malformed> {
    let mut kept = 0;
    value.array(|value| {
        let mut ends = [None; 2];
        if value.peek() == Some(b'[') {
            let mut index = 0;
            value.array(|value| {
                let end = value.whole()?;
                if let Some(place) = ends.get_mut(index) {
                    *place = end;
                }
                index += 1;
                Ok(())
            })?;
        } else {
            ends[0] = value.whole()?;
        }
        match (ends, kept < RANGES) {
            ([Some(one), other], true) => {
                let other = other.unwrap_or(one);
                let (low, high) = (one.min(other), one.max(other));
                batch.ranges.push((low, if half_open { high.saturating_sub(1).max(low) } else { high }));
                kept += 1;
            }
            ([Some(_), _], false) => batch.count_unknown("acked_ranges beyond 32768"),
            _ => batch.count_unknown("acked_ranges"),
        }
        Ok(())
    })
}
