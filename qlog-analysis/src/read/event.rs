//! One event, in any form.

use super::dialect::Dialect;
use super::packet;
use super::peer;
use super::recovery;
use super::{Options, array};
use crate::json::{Cursor, Malformed};
use crate::model::{Batch, Event, EventKind, Name};

/// What an event is about, by the part of its name after the namespace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Sent,
    Received,
    Lost,
    Dropped,
    Metrics,
    State,
    Parameters,
    Mtu,
    Moved,
    /// Tells where the other end is.
    Peer,
    /// Of our own namespace.
    Started,
    Stepped,
    Losses,
    Marked,
    Spurious,
    Other,
}

impl Kind {
    pub(super) fn of(name: &[u8]) -> Self {
        let (space, kind) = match memchr::memchr(b':', name) {
            Some(colon) => (&name[..colon], &name[colon + 1..]),
            None => (&b""[..], name),
        };
        match (space, kind) {
            (b"windlass", b"started") => Kind::Started,
            (b"windlass", b"stepped") => Kind::Stepped,
            (b"windlass", b"lost") => Kind::Losses,
            (b"windlass", b"marked") => Kind::Marked,
            (b"windlass", b"spurious_loss") => Kind::Spurious,
            (_, b"packet_sent") => Kind::Sent,
            (_, b"packet_received") => Kind::Received,
            (_, b"packet_lost") => Kind::Lost,
            (_, b"packet_dropped") => Kind::Dropped,
            (_, b"metrics_updated" | b"metric_update" | b"recovery_metrics_updated") => Kind::Metrics,
            (_, b"congestion_state_updated") => Kind::State,
            (_, b"recovery_parameters_set") => Kind::Parameters,
            (b"recovery", b"parameters_set") => Kind::Parameters,
            (_, b"mtu_updated") => Kind::Mtu,
            (_, b"stream_data_moved" | b"data_moved") => Kind::Moved,
            (_, b"connection_started" | b"tuple_assigned" | b"datagram_received" | b"datagram_sent") => Kind::Peer,
            _ => Kind::Other,
        }
    }
}

/// Reads one event into the tables of `batch`.
pub(super) fn read(text: &[u8], dialect: &Dialect, options: &Options, batch: &mut Batch) -> Result<(), Malformed> {
    let mut cursor = Cursor::new(text);
    if cursor.peek() == Some(b'[') {
        array::read(&mut cursor, dialect, options, batch)?;
    } else {
        object(&mut cursor, dialect, options, batch)?;
    }
    cursor.end()
}

fn object(cursor: &mut Cursor<'_>, dialect: &Dialect, options: &Options, batch: &mut Batch) -> Result<(), Malformed> {
    let mut time = None;
    let mut name: Option<&[u8]> = None;
    let mut category: Option<&[u8]> = None;
    let mut group = Name::default();
    let mut path = 0;
    let mut late: Option<&[u8]> = None;
    let mut kind = None;
    cursor.object(|key, value| {
        match key {
            b"time" | b"relative_time" | b"delta_time" => {
                time = value.decimal()?.and_then(|time| time.scaled(dialect.time_places));
            }
            b"name" => name = value.word()?,
            b"type" | b"event" | b"event_type" => name = name.or(value.word()?),
            b"category" => category = value.word()?,
            b"data" => match name {
                Some(name) if category.is_none() => {
                    kind = Some(data(Kind::of(name), name, value, dialect, options, batch)?);
                }
                _ => late = Some(value.raw()?),
            },
            b"group_id" | b"ODCID" => {
                let text = value.string()?;
                group = text.map_or(Name::default(), |text| batch.names.add(&text));
            }
            b"path" | b"path_id" => path = value.whole()?.unwrap_or(0),
            _ => value.skip()?,
        }
        Ok(())
    })?;
    let (Some(time), Some(name)) = (time, name) else {
        let expected = if time.is_none() { "an event with a time" } else { "an event with a name" };
        return Err(Malformed { at: 0, expected });
    };
    let kind = match (kind, late) {
        (Some(kind), _) => kind,
        (None, Some(late)) => {
            let mut cursor = Cursor::new(late);
            let kind = match category {
                Some(category) => Kind::of(&[category, b":", name].concat()),
                None => Kind::of(name),
            };
            data(kind, name, &mut cursor, dialect, options, batch)?
        }
        (None, None) => data(Kind::of(name), name, &mut Cursor::new(b"{}"), dialect, options, batch)?,
    };
    push(time, group, kind, path, batch);
    Ok(())
}

/// Adds an event whose tables were filled.
pub(super) fn push(time: i64, group: Name, kind: EventKind, path: u64, batch: &mut Batch) {
    if path > 0 {
        let path = u32::try_from(path).unwrap_or(u32::MAX);
        match kind {
            EventKind::Sent(index) | EventKind::Received(index) | EventKind::Lost(index) => {
                batch.packets[index as usize].path = path
            }
            EventKind::Metrics(index) => batch.metrics[index as usize].path = path,
            _ => {}
        }
    }
    batch.events.push(Event { time, group, kind });
}

/// Reads the data of an event into their table.
pub(super) fn data(
    kind: Kind,
    name: &[u8],
    value: &mut Cursor<'_>,
    dialect: &Dialect,
    options: &Options,
    batch: &mut Batch,
) -> Result<EventKind, Malformed> {
    let packet = |value: &mut Cursor<'_>, batch: &mut Batch| packet::read(value, dialect, options, batch);
    Ok(match kind {
        Kind::Sent => EventKind::Sent(packet(value, batch)?),
        Kind::Received => EventKind::Received(packet(value, batch)?),
        Kind::Lost => EventKind::Lost(packet(value, batch)?),
        Kind::Dropped => EventKind::Dropped(packet(value, batch)?),
        Kind::Metrics => EventKind::Metrics(recovery::metrics(value, dialect, options, batch)?),
        Kind::State => EventKind::State(recovery::state(value, batch)?),
        Kind::Parameters | Kind::Started => match recovery::controller(value, batch)? {
            Some(controller) => EventKind::Controller(controller),
            None => EventKind::Other(other(name, batch)),
        },
        Kind::Mtu => EventKind::Mtu(number(value, &[b"new", b"mtu"])?),
        Kind::Moved => recovery::moved(value, name, batch)?,
        Kind::Losses => EventKind::Losses(number(value, &[b"packets"])?),
        Kind::Marked => EventKind::Marked(number(value, &[b"packets"])?),
        Kind::Spurious => {
            value.skip()?;
            EventKind::Spurious
        }
        Kind::Stepped => {
            recovery::facts(value, options, batch)?;
            EventKind::Other(other(name, batch))
        }
        Kind::Peer => {
            if let Some(address) = peer::read(name, value, dialect)? {
                batch.met(&address);
            }
            EventKind::Other(other(name, batch))
        }
        Kind::Other => {
            value.skip()?;
            EventKind::Other(other(name, batch))
        }
    })
}

/// The name of an event that has no table.
pub(super) fn other(name: &[u8], batch: &mut Batch) -> Name {
    batch.names.add(&String::from_utf8_lossy(name))
}

/// The first whole number under one of `keys`, 0 if there is none.
fn number(value: &mut Cursor<'_>, keys: &[&[u8]]) -> Result<u32, Malformed> {
    let found = value.field(keys, Cursor::whole)?;
    Ok(found.map_or(0, |number| u32::try_from(number).unwrap_or(u32::MAX)))
}
