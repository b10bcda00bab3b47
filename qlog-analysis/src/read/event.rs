//! One event, in any form.

use super::encoding::Encoding;
use super::http;
use super::packet;
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
    Acked,
    Dropped,
    Metrics,
    State,
    Parameters,
    TransportParameters,
    FramesSent,
    FramesReceived,
    HttpCreated,
    HttpParsed,
    Migration,
    /// Has the version of QUIC.
    Version,
    Mtu,
    Moved,
    /// Has the address of the other end.
    Peer,
    /// `windlass:started`; the next four are of that namespace too.
    Started,
    Stepped,
    Losses,
    Marked,
    Spurious,
    Other,
}

impl Kind {
    pub(super) fn of(name: &[u8]) -> Self {
        // It comes within few bytes, sooner than a vector search begins.
        let (space, kind) = match name.iter().position(|&byte| byte == b':') {
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
            (_, b"packets_acked") => Kind::Acked,
            (_, b"packet_dropped") => Kind::Dropped,
            (_, b"metrics_updated" | b"metric_update" | b"recovery_metrics_updated") => Kind::Metrics,
            // mvfst's.
            (_, b"congestion_metric_update" | b"app_limited_update") => Kind::Metrics,
            (_, b"packets_lost") => Kind::Losses,
            (_, b"congestion_state_updated") => Kind::State,
            (_, b"recovery_parameters_set") => Kind::Parameters,
            (b"recovery", b"parameters_set") => Kind::Parameters,
            (b"transport" | b"quic", b"parameters_set") => Kind::TransportParameters,
            (b"quic", b"frames_created") => Kind::FramesSent,
            (b"quic", b"frames_parsed") => Kind::FramesReceived,
            // Drafts and stacks name the namespace differently.
            (b"http3" | b"http" | b"h3", b"frame_created") => Kind::HttpCreated,
            (b"http3" | b"http" | b"h3", b"frame_parsed") => Kind::HttpParsed,
            (_, b"migration_state_updated") => Kind::Migration,
            (_, b"version_information") => Kind::Version,
            (_, b"mtu_updated") => Kind::Mtu,
            (_, b"stream_data_moved" | b"data_moved") => Kind::Moved,
            (
                _,
                b"connection_started" | b"tuple_assigned" | b"path_assigned" | b"datagram_received" | b"datagram_sent",
            ) => Kind::Peer,
            _ => Kind::Other,
        }
    }
}

/// Reads one event into the tables of `batch`.
pub(super) fn read(text: &[u8], encoding: &Encoding, options: &Options, batch: &mut Batch) -> Result<(), Malformed> {
    let mut cursor = Cursor::new(text);
    if cursor.peek() == Some(b'[') {
        array::read(&mut cursor, encoding, options, batch)?;
    } else {
        object(&mut cursor, encoding, options, batch)?;
    }
    cursor.end()
}

fn object(cursor: &mut Cursor<'_>, encoding: &Encoding, options: &Options, batch: &mut Batch) -> Result<(), Malformed> {
    let mut time = None;
    let mut name: Option<&[u8]> = None;
    let mut category: Option<&[u8]> = None;
    let mut group = Name::default();
    let mut path = packet::NOT_LOGGED;
    let mut late: Option<&[u8]> = None;
    let mut kind = None;
    cursor.object(|key, value| {
        match key {
            b"time" | b"relative_time" | b"delta_time" => {
                time = value.decimal()?.and_then(|time| encoding.time(time));
            }
            b"name" => name = value.word()?,
            b"type" | b"event" | b"event_type" => name = name.or(value.word()?),
            b"category" => category = value.word()?,
            b"data" => match name {
                Some(name) if category.is_none() => {
                    kind = Some(data(Kind::of(name), name, value, encoding, options, batch)?);
                }
                _ => late = Some(value.raw()?),
            },
            b"group_id" | b"ODCID" | b"odcid" => {
                let text = value.string()?;
                group = text.map_or(Name::default(), |text| batch.names.add(&text));
            }
            b"path" | b"path_id" | b"tuple" => path = path_of(value)?,
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
            data(kind, name, &mut cursor, encoding, options, batch)?
        }
        (None, None) => data(Kind::of(name), name, &mut Cursor::new(b"{}"), encoding, options, batch)?,
    };
    push(time, group, kind, path, batch);
    Ok(())
}

/// The number of a path: as it stands, or one that its name alone has.
fn path_of(value: &mut Cursor<'_>) -> Result<u32, Malformed> {
    if value.peek() != Some(b'"') {
        return packet::path(value);
    }
    let name = value.string()?.unwrap_or_default();
    let number = if name.is_empty() { Ok(0) } else { name.parse::<u32>() };
    // FNV-1a, below the numbers that stand for migrations.
    let hash = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    Ok(number.unwrap_or_else(|_| name.bytes().fold(0x811c_9dc5, hash) >> 3 | 1 << 28))
}

/// Adds an event whose tables were filled. The path in its data takes precedence over `path`, which may be the name of
/// addresses (`tuple`).
pub(super) fn push(time: i64, group: Name, kind: EventKind, path: u32, batch: &mut Batch) {
    let of = match kind {
        EventKind::PacketSent(index)
        | EventKind::PacketReceived(index)
        | EventKind::PacketLost(index)
        | EventKind::PacketDropped(index)
        | EventKind::PacketsAcked(index) => Some(&mut batch.packets[index as usize].path),
        EventKind::MetricsUpdated(index) => Some(&mut batch.metrics[index as usize].path),
        _ => None,
    };
    if let Some(of) = of {
        if *of == packet::NOT_LOGGED {
            *of = if path == packet::NOT_LOGGED { 0 } else { path };
            if path == packet::NOT_LOGGED && matches!(kind, EventKind::PacketLost(_)) {
                batch.pathless.push(batch.events.len() as u32);
            }
        }
        batch.on_paths |= *of > 0;
    }
    batch.events.push(Event { time, group, kind });
    batch.join_peers();
}

/// Reads the data of an event into their table.
pub(super) fn data(
    kind: Kind,
    name: &[u8],
    value: &mut Cursor<'_>,
    encoding: &Encoding,
    options: &Options,
    batch: &mut Batch,
) -> Result<EventKind, Malformed> {
    let packet = |value: &mut Cursor<'_>, batch: &mut Batch| packet::read(value, encoding, options, batch);
    Ok(match kind {
        Kind::Sent => EventKind::PacketSent(packet(value, batch)?),
        Kind::Received => EventKind::PacketReceived(packet(value, batch)?),
        Kind::Lost => packet::lost(value, encoding, options, batch)?,
        Kind::Acked => EventKind::PacketsAcked(packet::acked(value, batch)?),
        Kind::Dropped => EventKind::PacketDropped(packet(value, batch)?),
        Kind::Metrics => EventKind::MetricsUpdated(recovery::metrics(value, encoding, options, batch)?),
        Kind::State => recovery::state(value, name, batch)?,
        Kind::Parameters | Kind::Started => match recovery::controller(value, batch)? {
            Some(controller) => EventKind::Controller(controller),
            None => EventKind::Other(other(name, batch)),
        },
        Kind::TransportParameters => EventKind::TransportParameters(recovery::parameters(value, batch)?),
        Kind::FramesSent | Kind::FramesReceived => {
            // Of frames without their packet, a limit is of interest.
            let limits = batch.flow_control.len();
            packet::lone_frames(value, encoding, batch)?;
            batch.flow_control.truncate(limits + 1);
            match (batch.flow_control.len() > limits, kind) {
                (false, _) => EventKind::Other(other(name, batch)),
                (true, Kind::FramesSent) => EventKind::FlowControlSent(limits as u32),
                (true, _) => EventKind::FlowControlReceived(limits as u32),
            }
        }
        Kind::HttpCreated | Kind::HttpParsed => match (http::frame(value, batch)?, kind) {
            (None, _) => EventKind::Other(other(name, batch)),
            (Some(index), Kind::HttpCreated) => EventKind::HttpFrameCreated(index),
            (Some(index), _) => EventKind::HttpFrameParsed(index),
        },
        Kind::Migration => match value.field(&[b"new"], Cursor::word)? {
            // As the drafts spell it.
            Some(b"migration_complete") => EventKind::Migrated,
            _ => EventKind::Other(other(name, batch)),
        },
        Kind::Mtu => EventKind::MtuUpdated(number(value, &[b"new", b"mtu"])?),
        Kind::Moved => recovery::moved(value, name, batch)?,
        Kind::Losses => EventKind::PacketsLost(number(value, &[b"packets", b"lost_packets"])?),
        Kind::Marked => EventKind::EcnCe(number(value, &[b"packets"])?),
        Kind::Spurious => {
            value.skip()?;
            EventKind::SpuriousLoss
        }
        Kind::Stepped => {
            recovery::state_variables(value, options, batch)?;
            EventKind::Other(other(name, batch))
        }
        Kind::Version => {
            value.object(|key, value| match key {
                b"chosen_version" => packet::version(value, batch),
                _ => value.skip(),
            })?;
            EventKind::Other(other(name, batch))
        }
        Kind::Peer => {
            if let (Some(remote), local) = addresses(name, value, encoding)? {
                batch.add_peer(&remote, &local.unwrap_or_default());
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

/// The parts of an address, as far as logged.
#[derive(Default)]
struct Address {
    host: Option<String>,
    port: Option<u64>,
}

impl Address {
    fn text(&self) -> Option<String> {
        let host = self.host.as_deref().filter(|host| !host.is_empty())?;
        Some(match self.port {
            Some(port) if host.contains(':') => format!("[{host}]:{port}"),
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        })
    }
}

/// The addresses in the data of an event about a connection, a path or a datagram: the other end's, and this end's.
/// Drafts before the IETF's call the two ends source and destination: the source is who opened the connection.
fn addresses(
    name: &[u8],
    value: &mut Cursor<'_>,
    encoding: &Encoding,
) -> Result<(Option<String>, Option<String>), Malformed> {
    let mut ends = [Address::default(), Address::default()];
    let (mut source, mut destination) = (Address::default(), Address::default());
    let host = |value: &mut Cursor<'_>| value.string().map(|text| text.map(|text| text.into_owned()));
    value.object(|key, value| {
        let end = match key {
            b"remote" | b"tuple_remote" | b"path_remote" => 0,
            b"local" | b"tuple_local" | b"path_local" => 1,
            b"addr_from" => usize::from(name.ends_with(b"_sent")),
            b"addr_to" => usize::from(!name.ends_with(b"_sent")),
            _ => 2,
        };
        match key {
            _ if end < 2 && value.peek() == Some(b'{') => ends[end] = address(value)?,
            b"src_ip" => source.host = host(value)?,
            b"src_port" => source.port = value.whole()?,
            b"dst_ip" => destination.host = host(value)?,
            b"dst_port" => destination.port = value.whole()?,
            _ => value.skip()?,
        }
        Ok(())
    })?;
    let [remote, local] = ends;
    let (theirs, ours) = if encoding.accepts { (source, destination) } else { (destination, source) };
    Ok((remote.text().or(theirs.text()), local.text().or(ours.text())))
}

fn address(value: &mut Cursor<'_>) -> Result<Address, Malformed> {
    let mut address = Address::default();
    value.object(|key, value| {
        match key {
            b"ip_v4" | b"ip_v6" | b"ip" => address.host = value.string()?.map(|text| text.into_owned()),
            b"port_v4" | b"port_v6" | b"port" => address.port = value.whole()?,
            _ => value.skip()?,
        }
        Ok(())
    })?;
    Ok(address)
}
