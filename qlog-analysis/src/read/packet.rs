//! Packets: sent, received, lost, dropped.

use super::Options;
use super::dialect::Dialect;
use super::frames;
use crate::json::{Cursor, Malformed};
use crate::model::{Batch, Packet, PacketType};

/// Reads the data of a packet event; its place in the table.
pub(super) fn read(
    value: &mut Cursor<'_>,
    dialect: &Dialect,
    options: &Options,
    batch: &mut Batch,
) -> Result<u32, Malformed> {
    let mut packet = Packet { kind: PacketType::Unknown, ..Packet::default() };
    value.object(|key, value| {
        match key {
            b"header" => header(value, &mut packet)?,
            b"raw" if value.peek() == Some(b'{') => raw(value, &mut packet)?,
            b"frames" if options.frames && value.peek() == Some(b'[') => {
                frames::read(value, dialect, &mut packet, batch)?;
            }
            b"packet_type" | b"type" => kind(value, &mut packet)?,
            b"packet_number" | b"packet_nr" => packet.number = value.whole()?.or(packet.number),
            b"packet_size" | b"size" => size(value, &mut packet)?,
            b"trigger" => packet.trigger = value.word()?.map(|word| batch.names.add(&String::from_utf8_lossy(word))),
            b"path_id" => packet.path = value.whole()?.map_or(0, |path| u32::try_from(path).unwrap_or(u32::MAX)),
            _ => value.skip()?,
        }
        Ok(())
    })?;
    batch.packets.push(packet);
    Ok(batch.packets.len() as u32 - 1)
}

fn header(value: &mut Cursor<'_>, packet: &mut Packet) -> Result<(), Malformed> {
    value.object(|key, value| {
        match key {
            b"packet_type" | b"type" => kind(value, packet),
            b"packet_number" => {
                packet.number = value.whole()?.or(packet.number);
                Ok(())
            }
            b"packet_size" => size(value, packet),
            // quinn's place for the packet's size.
            b"length" if packet.bytes.is_none() => size(value, packet),
            _ => value.skip(),
        }
    })
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
        b"1RTT" | b"onertt" | b"1rtt" | b"short" => PacketType::OneRtt,
        b"initial" | b"INITIAL" => PacketType::Initial,
        b"handshake" | b"HANDSHAKE" => PacketType::Handshake,
        b"0RTT" | b"zerortt" | b"0rtt" => PacketType::ZeroRtt,
        b"retry" | b"version_negotiation" | b"stateless_reset" => PacketType::Unnumbered,
        _ => PacketType::Unknown,
    }
}
