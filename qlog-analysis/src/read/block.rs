//! Whole records, cut from a file; and events as they stand in it, for who wants to see all of them.

use super::encoding::{Encoding, Role, truncated};
use super::{Options, Records, event};
use crate::json::{Cursor, Malformed};
use crate::model::{Batch, Event, EventKind, Framing, Name, Record};

/// Bytes of records read at once: so few that what is in them stays in a processor's cache, and its memory with the process.
pub(crate) const BLOCK: usize = 1 << 18;

/// The same of a trace's first records, which show how all are to be read.
const FIRST: usize = 1 << 20;

/// A record longer than this is no record of ours; bytes.
pub(crate) const LONGEST: usize = 1 << 24;

/// Largest header, and largest text of one, bytes; the rest is skipped.
pub(crate) const HEADER: usize = 1 << 22;

/// A piece of a file.
pub(crate) enum Piece {
    /// Framing of the file; the first piece.
    Framing(Framing),
    /// A part of the header of a trace: a JSON object. Later parts add to earlier ones.
    Header {
        /// Index of the trace; `None` for all.
        trace: Option<u32>,
        /// Text of the object.
        text: Vec<u8>,
    },
    /// Another document begins, of which no trace was handed over.
    Document,
    /// Records to be parsed.
    Block(Block),
}

/// Some records of one trace.
#[derive(Default, Debug)]
pub(crate) struct Block {
    pub(crate) trace: u32,
    /// The number of the first record, from 1.
    pub(crate) first: u64,
    pub(crate) text: Vec<u8>,
    /// Start and end of each record in `text`.
    pub(crate) bounds: Vec<(u32, u32)>,
}

impl Block {
    pub(crate) fn new(trace: u32, first: u64) -> Self {
        Block { trace, first, ..Block::default() }
    }

    /// Each record with its line number.
    pub(crate) fn records(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let first = self.first;
        let records = self.bounds.iter().zip(first..);
        records.map(|(&(from, to), number)| (number, &self.text[from as usize..to as usize]))
    }

    /// Takes the first record out.
    pub(crate) fn take_first(&mut self) -> Option<Vec<u8>> {
        if self.bounds.is_empty() {
            return None;
        }
        let (from, to) = self.bounds.remove(0);
        self.first += 1;
        Some(self.text[from as usize..to as usize].to_vec())
    }

    /// The records from the one at `from` to before the one at `to`, of another trace.
    pub(crate) fn part(&self, from: usize, to: usize, trace: u32) -> Block {
        let records = &self.bounds[from..to];
        let (begin, end) = records.first().zip(records.last()).map_or((0, 0), |(first, last)| (first.0, last.1));
        Block {
            trace,
            first: self.first + from as u64,
            text: self.text[begin as usize..end as usize].to_vec(),
            bounds: records.iter().map(|(from, to)| (from - begin, to - begin)).collect(),
        }
    }

    /// The number of the record after the last.
    pub(crate) fn next(&self) -> u64 {
        self.first + self.bounds.len() as u64
    }

    /// Bytes that it should have.
    pub(crate) fn target(&self) -> usize {
        // The header may be the first record.
        if self.first <= 2 { FIRST } else { BLOCK }
    }
}

/// The lengths of a batch's tables.
struct Lengths([usize; 15]);

impl Lengths {
    fn of(batch: &Batch) -> Self {
        Lengths([
            batch.events.len(),
            batch.packets.len(),
            batch.ranges.len(),
            batch.streams.len(),
            batch.metrics.len(),
            batch.states.len(),
            batch.state_variables.len(),
            batch.peers.len(),
            batch.flow_control.len(),
            batch.parameters.len(),
            batch.http.len(),
            batch.fields.len(),
            batch.path_acks.len(),
            batch.path_ranges.len(),
            batch.pathless.len(),
        ])
    }

    /// Takes back what was added since.
    fn restore(&self, batch: &mut Batch) {
        batch.events.truncate(self.0[0]);
        batch.packets.truncate(self.0[1]);
        batch.ranges.truncate(self.0[2]);
        batch.streams.truncate(self.0[3]);
        batch.metrics.truncate(self.0[4]);
        batch.states.truncate(self.0[5]);
        batch.state_variables.truncate(self.0[6]);
        batch.peers.truncate(self.0[7]);
        batch.flow_control.truncate(self.0[8]);
        batch.parameters.truncate(self.0[9]);
        batch.http.truncate(self.0[10]);
        batch.fields.truncate(self.0[11]);
        batch.path_acks.truncate(self.0[12]);
        batch.path_ranges.truncate(self.0[13]);
        batch.pathless.truncate(self.0[14]);
    }
}

/// Reads the records of a block.
pub(crate) fn read(block: &Block, encoding: &Encoding, options: &Options) -> Batch {
    let mut batch = Batch { trace: block.trace, ..Batch::default() };
    batch.events.reserve(block.bounds.len());
    let mut clock = 0_i64;
    for (number, text) in block.records() {
        let lengths = Lengths::of(&batch);
        if let Err(malformed) = event::read(text, encoding, options, &mut batch) {
            lengths.restore(&mut batch);
            batch.add_bad_record(number, malformed);
            continue;
        }
        keep(text, encoding, options.records, &mut batch);
        if encoding.delta
            && let Some(event) = batch.events.get_mut(lengths.0[0])
        {
            clock = clock.saturating_add(event.time);
            event.time = clock;
        }
    }
    batch
}

/// Bytes of an event's data that are kept.
const DATA: usize = 2048;

/// Keeps `text`, the latest event of `batch`, if it is one of `records`.
fn keep(text: &[u8], encoding: &Encoding, records: Records, batch: &mut Batch) {
    let Some(last) = batch.events.last() else { return };
    let of_packet = matches!(last.kind, EventKind::PacketSent(_) | EventKind::PacketReceived(_));
    if !records.keeps(of_packet) {
        return;
    }
    let Ok((name, data)) = name_and_data(text, encoding) else { return };
    let name = batch.names.add(&String::from_utf8_lossy(&name));
    batch.records.push(kept(None, batch.events.len() as u32 - 1, name, of_packet, data));
}

/// Keeps an event of a network log, which is none of the batch's.
pub(super) fn keep_part(own: (i64, Name), name: &str, of_packet: bool, data: &[u8], batch: &mut Batch) {
    let name = batch.names.add(name);
    batch.records.push(kept(Some(own), 0, name, of_packet, data));
}

fn kept(own: Option<(i64, Name)>, event: u32, name: Name, of_packet: bool, data: &[u8]) -> Record {
    // Of what is longer, twice as much holds as many characters.
    let text = String::from_utf8_lossy(&data[..data.len().min(2 * DATA)]);
    Record { own, event, name, of_packet, data: truncated(&text, DATA).into() }
}

/// The name and the data of an event.
fn name_and_data<'a>(text: &'a [u8], encoding: &Encoding) -> Result<(Vec<u8>, &'a [u8]), Malformed> {
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
