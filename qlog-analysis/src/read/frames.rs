//! The frames of a packet: what they acknowledge and what data they carry.

use super::dialect::Dialect;
use crate::json::{Cursor, Malformed};
use crate::model::{Batch, Packet, Stream};

/// Ranges of one ACK frame that are kept. A frame that fits into a packet of 64 KiB has no
/// more than half of that.
const RANGES: usize = 1 << 15;

/// What is read of a frame before its type is known.
#[derive(Default)]
struct Frame<'a> {
    kind: Option<&'a [u8]>,
    id: Option<u64>,
    offset: Option<u64>,
    length: Option<u64>,
    fin: bool,
    ack_delay: Option<i64>,
    ce: Option<u64>,
    /// First of the ranges, and how many.
    ranges: (usize, usize),
}

/// Reads the frames of `packet`.
pub(super) fn read(
    value: &mut Cursor<'_>,
    dialect: &Dialect,
    packet: &mut Packet,
    batch: &mut Batch,
) -> Result<(), Malformed> {
    let first_stream = batch.streams.len();
    let first_range = batch.ranges.len();
    let mut eliciting = false;
    value.array(|value| {
        if value.peek() != Some(b'{') {
            return value.skip();
        }
        let frame = frame(value, dialect, batch)?;
        match frame.kind.unwrap_or_default() {
            b"ack" | b"ACK" => {
                packet.acks = true;
                packet.ack_delay = frame.ack_delay;
                packet.ce = frame.ce;
                return Ok(());
            }
            b"stream" | b"STREAM" => batch.streams.push(Stream {
                id: frame.id.unwrap_or(0),
                offset: frame.offset.unwrap_or(0),
                length: frame.length.unwrap_or(0),
                fin: frame.fin,
            }),
            b"padding" | b"PADDING" | b"connection_close" | b"CONNECTION_CLOSE" => return Ok(()),
            _ => {}
        }
        eliciting = true;
        // Ranges are the packet's only if they are an ACK's.
        batch.ranges.truncate(frame.ranges.0);
        Ok(())
    })?;
    packet.ack_eliciting = Some(eliciting);
    packet.ranges = (first_range as u32, (batch.ranges.len() - first_range) as u32);
    packet.streams = (first_stream as u32, (batch.streams.len() - first_stream) as u32);
    Ok(())
}

fn frame<'a>(value: &mut Cursor<'a>, dialect: &Dialect, batch: &mut Batch) -> Result<Frame<'a>, Malformed> {
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
            b"fin" => frame.fin = value.flag()? == Some(true),
            b"ack_delay" => frame.ack_delay = value.decimal()?.and_then(|delay| delay.scaled(dialect.rtt_places)),
            b"ce" => frame.ce = value.whole()?,
            b"acked_ranges" | b"blocks" if value.peek() == Some(b'[') => ranges(value, batch)?,
            _ => value.skip()?,
        }
        Ok(())
    })?;
    Ok(frame)
}

/// Reads acknowledged ranges: `[lowest, highest]`, `[number]` or a bare number. They are
/// only ever kept as ranges: a hostile one may span any number of packets.
pub(super) fn ranges(value: &mut Cursor<'_>, batch: &mut Batch) -> Result<(), Malformed> {
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
                batch.ranges.push((one.min(other), one.max(other)));
                kept += 1;
            }
            ([Some(_), _], false) => batch.not_known("acked_ranges beyond 32768"),
            _ => batch.not_known("acked_ranges"),
        }
        Ok(())
    })
}
