//! Events as they stand in the file, for who wants to see all of them.

use super::Records;
use super::encoding::{Encoding, Role, truncated};
use crate::json::{Cursor, Malformed};
use crate::model::{Batch, Event, EventKind, Name, Record};

/// Bytes of an event's data that are kept.
const DATA: usize = 2048;

/// Keeps `text`, the latest event of `batch`, if it is one of `records`.
pub(super) fn keep(text: &[u8], encoding: &Encoding, records: Records, batch: &mut Batch) {
    let Some(last) = batch.events.last() else { return };
    let of_packet = matches!(last.kind, EventKind::PacketSent(_) | EventKind::PacketReceived(_));
    if !records.keeps(of_packet) {
        return;
    }
    let Ok((name, data)) = parts(text, encoding) else { return };
    let name = batch.names.add(&String::from_utf8_lossy(&name));
    batch.records.push(record(None, batch.events.len() as u32 - 1, name, of_packet, data));
}

/// Keeps an event of a network log, which is none of the batch's.
pub(super) fn keep_part(own: (i64, Name), name: &str, of_packet: bool, data: &[u8], batch: &mut Batch) {
    let name = batch.names.add(name);
    batch.records.push(record(Some(own), 0, name, of_packet, data));
}

fn record(own: Option<(i64, Name)>, event: u32, name: Name, of_packet: bool, data: &[u8]) -> Record {
    // Of what is longer, twice as much holds as many characters.
    let text = String::from_utf8_lossy(&data[..data.len().min(2 * DATA)]);
    Record { own, event, name, of_packet, data: truncated(&text, DATA).into() }
}

/// The name and the data of an event.
fn parts<'a>(text: &'a [u8], encoding: &Encoding) -> Result<(Vec<u8>, &'a [u8]), Malformed> {
    let (mut category, mut name, mut data): (&[u8], &[u8], &[u8]) = (b"", b"", b"{}");
    let mut cursor = Cursor::new(text);
    if cursor.peek() == Some(b'[') {
        let mut index = 0;
        cursor.array(|value| {
            let role = encoding.fields.get(index).copied().unwrap_or(Role::Other);
            index += 1;
            match role {
                Role::Category => category = value.word()?.unwrap_or_default(),
                Role::Type => name = value.word()?.unwrap_or_default(),
                Role::Data => data = value.raw()?,
                _ => value.skip()?,
            }
            Ok(())
        })?;
    } else {
        cursor.object(|key, value| {
            match key {
                b"name" => name = value.word()?.unwrap_or_default(),
                b"type" | b"event" | b"event_type" if name.is_empty() => name = value.word()?.unwrap_or_default(),
                b"category" => category = value.word()?.unwrap_or_default(),
                b"data" => data = value.raw()?,
                _ => value.skip()?,
            }
            Ok(())
        })?;
    }
    let name = if category.is_empty() { name.to_vec() } else { [category, b":", name].concat() };
    Ok((name, data))
}

impl Batch {
    /// When a record was logged, and of which connection.
    #[must_use]
    pub fn moment_of(&self, record: &Record) -> (i64, Name) {
        let of_event = || self.events.get(record.event as usize).map(|&Event { time, group, .. }| (time, group));
        record.own.or_else(of_event).unwrap_or_default()
    }
}
