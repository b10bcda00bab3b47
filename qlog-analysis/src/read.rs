//! Reading traces: any framing, any compression, any generation of names, in a stream.
//!
//! [`read`] cuts a file into blocks of whole records, reads blocks on all the cores it may
//! use, and hands over [`Batch`]es in the order of the file. Memory is that of a few
//! blocks, whatever the size of the file. A record that cannot be read costs that record
//! and is counted.

use std::io::{self, Read};

use crate::model::{Batch, Framing, Trace};

mod array;
pub(crate) mod block;
mod contained;
pub(crate) mod encoding;
mod event;
#[cfg(feature = "files")]
mod file;
mod http;
mod input;
pub(crate) mod netlog;
mod packet;
mod recovery;
pub(crate) mod sequence;
pub(crate) mod state;
mod units;
#[cfg(feature = "ruzstd")]
mod zstd_frames;

#[cfg(feature = "files")]
pub use file::{Search, is_stream, open, open_raw};
pub use input::{Input, Limits, TooLarge};
pub use netlog::Check;

use block::Piece;
use state::ReadState;

/// What of a trace is wanted, and how hard to work for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Read the frames of packets.
    pub frames: bool,
    /// Keep the numbers that controllers tell of themselves.
    pub state_variables: bool,
    /// Threads to read with; 0 is one a core. Without the feature `parallel`, always one.
    pub jobs: usize,
    /// Units to read values in.
    pub units: UnitSource,
}

/// Whose word is taken for the units of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum UnitSource {
    /// The events', where they show that the trace is wrong ([`Trace::units`]).
    #[default]
    Evidence,
    /// What the trace declares, or the schema has.
    Declared,
}

impl Default for Options {
    fn default() -> Self {
        Options { frames: true, state_variables: false, jobs: 0, units: UnitSource::Evidence }
    }
}

/// What came of reading a file.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Summary {
    /// How the file is put together.
    pub framing: Framing,
    /// Traces, in the order of the file.
    pub traces: Vec<Trace>,
    /// Bytes read, after decompression.
    pub bytes: u64,
    /// Number of records that are events.
    pub events: u64,
    /// Records that could not be read.
    pub bad_records: u64,
    /// Events of connections beyond those that were followed
    /// ([`crate::connections::MAX_CONNECTIONS`]), where connections were.
    pub unfollowed: u64,
    /// Of a network log: what Chromium counted, against what the events add up to.
    pub checks: Vec<Check>,
}

impl Summary {
    /// What a user should know: how many records could not be read, which connections are left out,
    /// which totals disagree with the events. A sentence each.
    #[must_use]
    pub fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        if self.bad_records > 0 {
            doubts.push(format!("{} records could not be read; `windlass qlog lint` says why", self.bad_records));
        }
        if self.unfollowed > 0 {
            let (most, events) = (crate::connections::MAX_CONNECTIONS, self.unfollowed);
            doubts.push(format!("it has more than {most} connections; {events} events of further ones are left out"));
        }
        for check in self.checks.iter().filter(|check| !check.agrees()) {
            let (connection, counter, reported) = (&check.connection, check.counter, check.reported);
            let found = check.counted.map_or_else(|| "none".to_owned(), |found| found.to_string());
            doubts.push(format!("{connection}: Chromium counted {reported} {counter}, its events have {found}"));
        }
        doubts
    }
}

/// Why a file could not be read at all.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file could not be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The input is not qlog; the text says what it is.
    #[error("no qlog: {0}")]
    NotQlog(String),
    /// The input is empty.
    #[error("nothing is in it; a qlog file begins with a header")]
    Empty,
    /// Who was reading wants no more.
    #[error("{0}")]
    Stopped(String),
}

/// Reads a qlog file from `input` and hands over what is in it, in order.
///
/// `visit` gets each batch with what is known of its trace by then. A file whose header
/// comes after the events (as some JSON writers sort fields) is understood as far as the
/// events themselves tell; [`Summary::traces`] has all that was said.
///
/// # Errors
/// If the input cannot be read, is no qlog, or `visit` fails.
pub fn read(
    input: impl Read,
    options: &Options,
    visit: &mut dyn FnMut(&Trace, Batch) -> Result<(), ReadError>,
) -> Result<Summary, ReadError> {
    let mut reading = Reading { state: ReadState::new(*options), summary: Summary::default(), visit };
    let bytes = sequence::split(input, &mut |piece| reading.piece(piece))?;
    reading.finish()?;
    reading.summary.bytes = bytes;
    (reading.summary.traces, reading.summary.checks) = reading.state.into_traces();
    Ok(reading.summary)
}

struct Reading<'a> {
    state: ReadState,
    summary: Summary,
    visit: &'a mut dyn FnMut(&Trace, Batch) -> Result<(), ReadError>,
}

impl Reading<'_> {
    fn piece(&mut self, piece: Piece) -> Result<(), ReadError> {
        match piece {
            Piece::Framing(framing) => self.summary.framing = framing,
            Piece::Header { trace, text } => {
                self.flush()?;
                self.state.header(trace, &text, self.summary.framing)?;
            }
            Piece::Block(block) => {
                if self.state.push(block) {
                    self.flush()?;
                }
            }
        }
        Ok(())
    }

    /// Reads the blocks that wait, together, and hands over what is in them.
    fn flush(&mut self) -> Result<(), ReadError> {
        let blocks = self.state.take();
        if blocks.is_empty() {
            return Ok(());
        }
        let batches: Vec<Batch> = if let Some(netlog) = &mut self.state.netlog {
            blocks.iter().map(|block| netlog.read(block)).collect()
        } else {
            self.state.read(&blocks)
        };
        for batch in batches {
            self.hand_over(batch)?;
        }
        self.state.recycle(blocks);
        Ok(())
    }

    fn hand_over(&mut self, mut batch: Batch) -> Result<(), ReadError> {
        self.state.complete(&mut batch);
        self.summary.events += batch.events.len() as u64;
        self.summary.bad_records += batch.bad_records;
        (self.visit)(self.state.trace(batch.trace), batch)
    }

    /// What was still to be put together when the file ended.
    fn finish(&mut self) -> Result<(), ReadError> {
        self.flush()?;
        match self.state.netlog.as_mut().map(netlog::Netlog::finish) {
            Some(batch) if !batch.events.is_empty() => self.hand_over(batch),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
