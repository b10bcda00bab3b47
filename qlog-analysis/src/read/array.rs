//! Events as arrays, whose elements a list of fields names: the form of the drafts before
//! 02, and of the traces before the drafts with their upper-case names.

use super::Options;
use super::encoding::{Encoding, Role};
use super::event::{self, Kind};
use super::packet;
use super::recovery;
use crate::json::{Cursor, Malformed};
use crate::model::{Batch, EventKind, FlowControl, FlowControlKind, Name, Packet, PacketType, Stream};

/// The elements of an event that matter.
#[derive(Default)]
struct Elements<'a> {
    time: Option<i64>,
    category: &'a [u8],
    kind: &'a [u8],
    trigger: &'a [u8],
    group: Name,
    path: u32,
    data: Option<&'a [u8]>,
}

/// Reads an array event into the tables of `batch`.
pub(super) fn read(
    cursor: &mut Cursor<'_>,
    encoding: &Encoding,
    options: &Options,
    batch: &mut Batch,
) -> Result<(), Malformed> {
    let mut elements = Elements { path: packet::NOT_LOGGED, ..Elements::default() };
    let mut index = 0;
    cursor.array(|value| {
        let role = encoding.fields.get(index).copied().unwrap_or(Role::Other);
        index += 1;
        match role {
            Role::Time => {
                elements.time = value.decimal()?.and_then(|time| encoding.time(time));
            }
            Role::Category => elements.category = value.word()?.unwrap_or_default(),
            Role::Type => elements.kind = value.word()?.unwrap_or_default(),
            Role::Trigger => elements.trigger = value.word()?.unwrap_or_default(),
            Role::Group => {
                elements.group = value.string()?.map_or(Name::default(), |group| batch.names.add(&group));
            }
            Role::Path => elements.path = packet::path(value)?,
            Role::Data => elements.data = Some(value.raw()?),
            Role::Other => value.skip()?,
        }
        Ok(())
    })?;
    let Some(time) = elements.time else { return Err(Malformed { at: 1, expected: "an event with a time" }) };
    if elements.kind.is_empty() {
        return Err(Malformed { at: 1, expected: "an event with a name" });
    }
    let mut data = Cursor::new(elements.data.filter(|data| data.starts_with(b"{")).unwrap_or(b"{}"));
    let kind = if encoding.pre_draft && elements.category.first().is_some_and(u8::is_ascii_uppercase) {
        ancient(&elements, &mut data, encoding, options, batch)?
    } else {
        // Some traces of the first draft, and mvfst's, have names in upper case.
        let mut name = [elements.category, b":", elements.kind].concat();
        name.make_ascii_lowercase();
        event::data(Kind::of(&name), &name, &mut data, encoding, options, batch)?
    };
    event::push(time, elements.group, kind, elements.path, batch);
    Ok(())
}

/// Events from before the drafts: a frame or a metric each, with its trigger.
fn ancient(
    elements: &Elements<'_>,
    data: &mut Cursor<'_>,
    encoding: &Encoding,
    options: &Options,
    batch: &mut Batch,
) -> Result<EventKind, Malformed> {
    let sent = elements.trigger == b"PACKET_TX";
    match elements.kind {
        b"BYTES_IN_FLIGHT_UPDATE" | b"CWND_UPDATE" | b"RTT_UPDATE" | b"METRIC_UPDATE" => {
            Ok(EventKind::MetricsUpdated(recovery::metrics(data, encoding, options, batch)?))
        }
        b"PACKET_LOST" | b"STREAM_NEW" | b"ACK_NEW" => {
            let packet = frame(data, encoding, batch)?;
            batch.packets.push(packet);
            let index = batch.packets.len() as u32 - 1;
            Ok(match (elements.kind, sent) {
                (b"PACKET_LOST", _) => EventKind::PacketLost(index),
                (_, true) => EventKind::PacketSent(index),
                (_, false) => EventKind::PacketReceived(index),
            })
        }
        b"MAXDATA_NEW" | b"MAXSTREAMDATA_NEW" => {
            let limit = limit(data)?;
            batch.flow_control.push(limit);
            let index = batch.flow_control.len() as u32 - 1;
            Ok(if sent { EventKind::FlowControlSent(index) } else { EventKind::FlowControlReceived(index) })
        }
        _ => {
            data.skip()?;
            let name = [elements.category, b":", elements.kind].concat();
            Ok(EventKind::Other(event::other(&name, batch)))
        }
    }
}

/// The limit in a frame.
fn limit(data: &mut Cursor<'_>) -> Result<FlowControl, Malformed> {
    let mut found = FlowControl { kind: FlowControlKind::MaxData, stream: None, limit: None };
    data.object(|key, value| {
        match key {
            b"max_data" => found.limit = value.whole()?,
            b"max_stream_data" => {
                found.kind = FlowControlKind::MaxStreamData;
                found.limit = value.whole()?;
            }
            b"stream_id" => found.stream = value.whole()?,
            _ => value.skip()?,
        }
        Ok(())
    })?;
    Ok(found)
}

/// The packet of a frame.
fn frame(data: &mut Cursor<'_>, encoding: &Encoding, batch: &mut Batch) -> Result<Packet, Malformed> {
    let mut packet = Packet { kind: PacketType::OneRtt, ..Packet::default() };
    let mut stream = Stream { id: 0, offset: 0, length: 0, fin: false };
    let mut carries = false;
    let first = batch.ranges.len();
    data.object(|key, value| {
        match key {
            b"packet_nr" => packet.number = value.whole()?,
            b"blocks" if value.peek() == Some(b'[') => {
                packet.acks = true;
                packet::ranges(value, false, batch)?;
            }
            b"ack_delay" => packet.ack_delay = value.decimal()?.and_then(|delay| delay.scaled(encoding.rtt_places)),
            b"stream_id" => {
                carries = true;
                stream.id = value.whole()?.unwrap_or(0);
            }
            b"offset" => stream.offset = value.whole()?.unwrap_or(0),
            b"length" => stream.length = value.whole()?.unwrap_or(0),
            b"final_frame" => stream.fin = value.flag()? == Some(true),
            _ => value.skip()?,
        }
        Ok(())
    })?;
    packet.ranges = (first as u32, (batch.ranges.len() - first) as u32);
    packet.ack_eliciting = Some(carries);
    if packet.acks {
        packet.frames.add(b"ack");
    }
    if carries {
        packet.frames.add(b"stream");
    }
    packet.streams = (batch.streams.len() as u32, u32::from(carries));
    if carries {
        batch.streams.push(stream);
    }
    Ok(packet)
}
