//! Reading traces: any framing, any compression, any generation of names, in a stream.
//!
//! [`read`] cuts a file into blocks of whole records, reads blocks on all the cores it may
//! use, and hands over [`Batch`]es in the order of the file. Memory is that of a few
//! blocks, whatever the size of the file. A record that cannot be read costs that record
//! and is counted.

use std::io::{self, Read};
use std::sync::Arc;

use crate::model::{Batch, Framing, Trace};

#[cfg(feature = "parallel")]
mod ahead;
mod array;
pub(crate) mod block;
pub(crate) mod clock;
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
pub use input::{Damaged, Input, Limits, TooLarge};
pub use netlog::Check;

#[cfg(feature = "parallel")]
use ahead::Ahead;
use block::{Block, Piece};
use state::{Header, ReadState};

/// Connections of a file that are followed. Events of further ones are counted
/// ([`Summary::unfollowed`]), so that memory stays bounded whatever a file holds.
pub const MAX_CONNECTIONS: usize = 2048;

/// The least datagram that a path of QUIC takes, bytes (`RFC 9000 §14`): windows of bytes hold two
/// (`RFC 9002 §7.2`). Fewer windows than this say nothing.
const DATAGRAM: u64 = 1200;
const WINDOWS: u64 = 10;

/// Parts of a trace to read, and threads to read it with.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// Read the frames of packets.
    pub frames: bool,
    /// Keep the state variables that controllers log.
    pub state_variables: bool,
    /// Threads to read with; 0 is one a core. Without the feature `parallel`, always one.
    pub jobs: usize,
    /// Units to read values in.
    pub units: UnitSource,
    /// Headers of the file's traces, where it was read before ([`ReadError::Late`]).
    pub headers: Headers,
    /// Events to keep as they stand in the file ([`Batch::records`]).
    pub records: Records,
}

/// Events that are kept as they stand in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Records {
    /// None.
    #[default]
    None,
    /// All but packets sent and received.
    WithoutPackets,
    /// All.
    All,
}

impl Records {
    /// Whether an event is kept that is about a packet, or about none.
    pub(crate) fn keeps(self, of_packet: bool) -> bool {
        self == Records::All || self == Records::WithoutPackets && !of_packet
    }
}

/// Headers of a file's traces, known before it is read; none by default.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Headers(Option<Arc<Vec<Header>>>);

/// Source of the units of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum UnitSource {
    /// The events', where they show that the trace is wrong ([`Trace::units`]).
    #[default]
    Evidence,
    /// The trace's declaration, or the schema.
    Declared,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            frames: true,
            state_variables: false,
            jobs: 0,
            units: UnitSource::Evidence,
            headers: Headers::default(),
            records: Records::None,
        }
    }
}

/// Result of reading a file.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Summary {
    /// Framing of the file.
    pub framing: Framing,
    /// Traces, in the order of the file.
    pub traces: Vec<Trace>,
    /// Bytes read, after decompression.
    pub bytes: u64,
    /// Number of records that are events.
    pub events: u64,
    /// Records that could not be read.
    pub bad_records: u64,
    /// Reason why the file is incomplete: it was cut, or a part is no JSON.
    pub damage: Option<String>,
    /// Events of connections beyond those that were followed
    /// ([`MAX_CONNECTIONS`]), where connections were.
    pub unfollowed: u64,
    /// Of a network log: what Chromium counted, against what the events add up to.
    pub checks: Vec<Check>,
}

impl Summary {
    /// Doubts for the user, a sentence each: records that could not be read, connections left out,
    /// totals that disagree with the events.
    #[must_use]
    pub fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        if let Some(damage) = &self.damage {
            doubts.push(format!("{damage}; what could be read of it is taken"));
        }
        if self.bad_records > 0 {
            let records = plural(self.bad_records, "record");
            doubts.push(format!("{records} could not be read; `windlass qlog lint` says why"));
        }
        for trace in &self.traces {
            let which = if self.traces.len() > 1 { format!("trace {}: ", trace.index) } else { String::new() };
            let units = trace.units.named().map(|(values, unit)| {
                format!("its {values} are in {unit} by its events, and read as such (--units declared takes its word)")
            });
            let losses = Some(trace.pathless_losses).filter(|&losses| losses > 0);
            let losses = losses.map(|losses| match losses {
                1 => "a loss does not say which of its paths it is on, and counts as one of path 0".to_owned(),
                _ => format!("{losses} losses do not say which of its paths they are on, and count as those of path 0"),
            });
            let (logged, largest) = trace.windows;
            let windows = (logged >= WINDOWS && largest < DATAGRAM).then(|| {
                format!("none of its congestion windows is larger than {largest}: they may be in packets, and are read as bytes")
            });
            doubts.extend(
                units.chain(losses).chain(windows).chain(trace.clock.doubts()).map(|doubt| format!("{which}{doubt}")),
            );
        }
        if self.unfollowed > 0 {
            let (most, events) = (MAX_CONNECTIONS, self.unfollowed);
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

/// A count with the noun it counts.
#[must_use]
pub fn plural(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Error of reading a file.
#[derive(thiserror::Error)]
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
    /// Behind its events it says how they are to be read (`common_fields`, units, the order of fields); reading it
    /// a second time with these headers honours that ([`twice`]).
    #[error("it says behind its events how they are to be read, and it can be read only once; give it as a file")]
    Late(Headers),
    /// The caller stopped the reading; the text is its reason.
    #[error("{0}")]
    Stopped(String),
}

/// Reads a qlog file from `input` and hands over what is in it, in order.
///
/// `visit` gets each batch with its trace's header as known by then; [`Summary::traces`] has the complete headers.
///
/// # Errors
/// If the input cannot be read, is no qlog, or `visit` fails. [`ReadError::Late`] where what stands behind events
/// changes their meaning.
pub fn read(
    mut input: impl Read,
    options: &Options,
    visit: &mut dyn FnMut(&Trace, Batch) -> Result<(), ReadError>,
) -> Result<Summary, ReadError> {
    read_from(&mut input, options, visit)
}

/// [`read`], of one type for all inputs: it is compiled here and once, however a program that calls it is.
fn read_from(
    input: &mut dyn Read,
    options: &Options,
    visit: &mut dyn FnMut(&Trace, Batch) -> Result<(), ReadError>,
) -> Result<Summary, ReadError> {
    let mut reading = Reading { state: ReadState::new(options), summary: Summary::default(), visit };
    let ended = sequence::split(input, &mut |piece| reading.piece(piece))?;
    reading.finish()?;
    if reading.state.is_late() {
        return Err(ReadError::Late(reading.state.headers()));
    }
    (reading.summary.bytes, reading.summary.damage) = (ended.bytes, ended.damage);
    (reading.summary.traces, reading.summary.checks) = reading.state.into_traces();
    Ok(reading.summary)
}

/// Calls `read` with what `open` opens, and where members behind the events say how to read those, once more with
/// them: the members of a JSON object may stand in any order.
///
/// # Errors
/// Those of `open` and `read`.
pub fn twice<R: Read, T, E: From<ReadError>>(
    open: impl Fn() -> Result<R, E>,
    options: &Options,
    mut read: impl FnMut(R, &Options) -> Result<T, ReadError>,
) -> Result<T, E> {
    let done = match read(open()?, options) {
        Err(ReadError::Late(headers)) => read(open()?, &Options { headers, ..options.clone() }),
        done => done,
    };
    done.map_err(E::from)
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
                // The first block of a trace waits for what may follow it.
                if !self.state.is_waiting_for(trace) {
                    self.flush()?;
                }
                self.state.header(trace, &text, self.summary.framing)?;
            }
            Piece::Document => {
                self.flush()?;
                self.state.document();
            }
            // What was read has to be read again, so only headers still count.
            Piece::Block(_) if self.state.is_late() => {}
            Piece::Block(block) => self.block(block)?,
        }
        Ok(())
    }

    fn block(&mut self, block: Block) -> Result<(), ReadError> {
        if self.state.is_waiting_for(None) {
            self.flush()?;
        }
        if self.state.is_first(&block) {
            return if self.state.wait(block) { self.flush() } else { Ok(()) };
        }
        #[cfg(feature = "parallel")]
        let Some(block) = self.state.read_ahead(block) else {
            while let Some(batch) = self.state.ahead.as_mut().and_then(Ahead::take_of_many) {
                self.hand_over(batch)?;
            }
            return Ok(());
        };
        let batch = self.state.read(&block);
        self.hand_over(batch)
    }

    /// Hands over what is in the blocks that were cut so far.
    fn flush(&mut self) -> Result<(), ReadError> {
        #[cfg(feature = "parallel")]
        while let Some(batch) = self.state.ahead.as_mut().and_then(Ahead::take) {
            self.hand_over(batch)?;
        }
        match self.state.take_first() {
            Some(block) => {
                let batch = self.state.read(&block);
                self.hand_over(batch)
            }
            None => Ok(()),
        }
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
