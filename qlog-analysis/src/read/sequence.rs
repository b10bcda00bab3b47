//! JSON text sequences, and records on lines of their own.

use std::io::{self, Read};

use memchr::memchr;
use windlass_qlog::RECORD_SEPARATOR;

use super::ReadError;
use super::block::{BLOCK, Block, LONGEST, Piece};
use super::contained::{self, Start};
use crate::model::Framing;

type Emit<'a> = dyn FnMut(Piece) -> Result<(), ReadError> + 'a;

/// Bytes of a stream that are looked at, with more to come.
pub(crate) struct Window<R> {
    reader: R,
    pub(crate) text: Vec<u8>,
    /// What before was done with.
    pub(crate) at: usize,
    pub(crate) ended: bool,
    /// Bytes read since the start.
    pub(crate) total: u64,
}

impl<R: Read> Window<R> {
    pub(crate) fn new(reader: R) -> Self {
        Window { reader, text: Vec::new(), at: 0, ended: false, total: 0 }
    }

    /// Reads more, at least one byte if there is one.
    pub(crate) fn fill(&mut self) -> io::Result<()> {
        if self.at > 0 {
            self.text.drain(..self.at);
            self.at = 0;
        }
        let length = self.text.len();
        self.text.resize(length + BLOCK, 0);
        let mut read = 0;
        while read < BLOCK {
            match self.reader.read(&mut self.text[length + read..]) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(bytes) => read += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.text.truncate(length + read);
        self.total += read as u64;
        Ok(())
    }

    /// Bytes not yet cut into records.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.text[self.at..]
    }

    /// The next byte, which stays.
    pub(crate) fn peek(&mut self) -> io::Result<Option<u8>> {
        while self.at >= self.text.len() && !self.ended {
            self.fill()?;
        }
        Ok(self.text.get(self.at).copied())
    }
}

/// Cuts a file into pieces. Returns how many bytes it had.
pub(crate) fn split(reader: impl Read, emit: &mut Emit<'_>) -> Result<u64, ReadError> {
    let mut window = Window::new(reader);
    while window.peek()?.is_some_and(|byte| byte.is_ascii_whitespace() || matches!(byte, 0xef | 0xbb | 0xbf)) {
        window.at += 1;
    }
    match window.peek()? {
        None => return Err(ReadError::Empty),
        Some(RECORD_SEPARATOR) => {
            emit(Piece::Framing(Framing::Sequence))?;
            records(&mut window, RECORD_SEPARATOR, None, emit)?;
        }
        Some(_) => match contained::split(&mut window, emit)? {
            Start::Document => {}
            Start::Lines(header) => {
                emit(Piece::Framing(Framing::Lines))?;
                records(&mut window, b'\n', Some(header), emit)?;
            }
        },
    }
    Ok(window.total)
}

/// Records that end with `delimiter`, after `header` or with the header as the first of them.
/// A second line that describes the trace belongs to the header.
fn records<R: Read>(
    window: &mut Window<R>,
    delimiter: u8,
    mut header: Option<Vec<u8>>,
    emit: &mut Emit<'_>,
) -> Result<(), ReadError> {
    let mut next = if header.is_some() { 2 } else { 1 };
    let mut started = false;
    loop {
        let mut block = Block::new(0, next);
        let end = cut(window, delimiter, &mut block)?;
        next = block.next();
        if !started {
            if header.is_none() {
                header = take_first(&mut block);
            }
            // Whether the header goes on is known by the record after it, or the end.
            if let (Some(first), true) = (&mut header, end || !block.bounds.is_empty()) {
                if let Some(trace) = block.bounds.first().map(|&(from, to)| &block.text[from as usize..to as usize])
                    && describes_trace(trace)
                    && let Some(joined) = with_trace(first, trace)
                {
                    *first = joined;
                    take_first(&mut block);
                }
                emit(Piece::Header { trace: Some(0), text: std::mem::take(first) })?;
                started = true;
            }
        }
        if !block.bounds.is_empty() {
            emit(Piece::Block(block))?;
        }
        if end {
            return Ok(());
        }
    }
}

/// Takes the first record out of `block`, which then begins with the next one.
fn take_first(block: &mut Block) -> Option<Vec<u8>> {
    if block.bounds.is_empty() {
        return None;
    }
    let (from, to) = block.bounds.remove(0);
    block.first += 1;
    Some(block.text[from as usize..to as usize].to_vec())
}

/// Whether `record` is no event but what a header says of its trace, as quicX writes it on a
/// line of its own.
fn describes_trace(record: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Keys {
        time: Option<serde::de::IgnoredAny>,
        name: Option<serde::de::IgnoredAny>,
        vantage_point: Option<serde::de::IgnoredAny>,
        common_fields: Option<serde::de::IgnoredAny>,
        configuration: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_slice::<Keys>(record).is_ok_and(|keys| {
        let event = keys.time.is_some() || keys.name.is_some();
        !event && (keys.vantage_point.is_some() || keys.common_fields.is_some() || keys.configuration.is_some())
    })
}

/// The header with `trace` in its place; `None` if the header has one already or is no object.
fn with_trace(header: &[u8], trace: &[u8]) -> Option<Vec<u8>> {
    #[derive(serde::Deserialize)]
    struct Keys {
        trace: Option<serde::de::IgnoredAny>,
    }
    let keys: Keys = serde_json::from_slice(header).ok()?;
    let open = header.trim_ascii_end().strip_suffix(b"}")?;
    if keys.trace.is_some() {
        return None;
    }
    let comma: &[u8] = if open.trim_ascii_end().ends_with(b"{") { b"" } else { b"," };
    Some([open, comma, b"\"trace\":", trace, b"}"].concat())
}

/// Moves whole records from the window into `block`. Says whether that was the end.
fn cut<R: Read>(window: &mut Window<R>, delimiter: u8, block: &mut Block) -> io::Result<bool> {
    while window.rest().len() < BLOCK && !window.ended {
        window.fill()?;
    }
    let last = loop {
        if let Some(last) = memchr::memrchr(delimiter, window.rest())
            && (last > 0 || window.ended)
        {
            break last + 1;
        }
        if window.ended || window.rest().len() > LONGEST {
            break window.rest().len();
        }
        window.fill()?;
    };
    let end = if window.ended { window.rest().len() } else { last };
    block.text.extend_from_slice(&window.rest()[..end]);
    window.at += end;
    let mut from = 0;
    while from < block.text.len() {
        let length = memchr(delimiter, &block.text[from..]).unwrap_or(block.text.len() - from);
        let record = &block.text[from..from + length];
        let begins = record.iter().position(|byte| !byte.is_ascii_whitespace() && *byte != RECORD_SEPARATOR);
        if let Some(begins) = begins {
            let length = begins + record[begins..].trim_ascii_end().len();
            block.bounds.push(((from + begins) as u32, (from + length) as u32));
        }
        from += length + 1;
    }
    Ok(window.ended)
}
