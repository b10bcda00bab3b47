//! JSON text sequences, and records on lines of their own.

use std::io::{self, Read};

use memchr::memchr;
use windlass_qlog::RECORD_SEPARATOR;

use super::ReadError;
use super::block::{BLOCK, Block, LONGEST, Piece};
use super::contained::{self, Start};
use super::input::Damaged;
use crate::model::Framing;

type Emit<'a> = dyn FnMut(Piece) -> Result<(), ReadError> + 'a;

/// Bytes of a stream that are looked at, with more to come.
pub(crate) struct Window<'r> {
    reader: &'r mut dyn Read,
    pub(crate) text: Vec<u8>,
    /// Offset of the first byte of `text` not yet consumed.
    pub(crate) at: usize,
    pub(crate) ended: bool,
    /// Bytes read since the start.
    pub(crate) total: u64,
    /// Error that ended the stream early.
    pub(crate) damage: Option<String>,
}

impl<'r> Window<'r> {
    pub(crate) fn new(reader: &'r mut dyn Read) -> Self {
        Window { reader, text: Vec::new(), at: 0, ended: false, total: 0, damage: None }
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
                Err(error) => {
                    let damage = error.get_ref().and_then(|inner| inner.downcast_ref::<Damaged>());
                    self.damage = damage.filter(|_| self.total + read as u64 > 0).map(ToString::to_string);
                    if self.damage.is_none() {
                        return Err(error);
                    }
                    self.ended = true;
                    break;
                }
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

/// End of a file.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Ended {
    /// Bytes read.
    pub(crate) bytes: u64,
    /// Reason why the file is incomplete.
    pub(crate) damage: Option<String>,
}

/// Cuts a file into pieces.
pub(crate) fn split(reader: &mut dyn Read, emit: &mut Emit<'_>) -> Result<Ended, ReadError> {
    let mut window = Window::new(reader);
    window.peek()?;
    if crate::capture::is_capture(window.rest()) {
        let message = "it is a capture of packets, which tshark decodes; `windlass qlog convert CAPTURE --out TRACE.sqlog` \
            makes a trace of it, with `--keys FILE` also what is encrypted in it";
        return Err(ReadError::NotQlog(message.to_owned()));
    }
    while window.peek()?.is_some_and(|byte| byte.is_ascii_whitespace() || matches!(byte, 0xef | 0xbb | 0xbf)) {
        window.at += 1;
    }
    let mut wrong = None;
    window.peek()?;
    if matches!(window.rest(), [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) {
        let message = "it is UTF-16, and JSON is UTF-8 (`RFC 8259 §8.1`); `iconv -f UTF-16 -t UTF-8` makes it so";
        return Err(ReadError::NotQlog(message.to_owned()));
    }
    match window.peek()? {
        None => return Err(ReadError::Empty),
        Some(RECORD_SEPARATOR) => {
            emit(Piece::Framing(Framing::Sequence))?;
            records(&mut window, RECORD_SEPARATOR, None, emit)?;
        }
        Some(_) => match contained::split(&mut window, emit)? {
            Start::Document { damage } => wrong = damage,
            Start::Lines { header, cut } => {
                wrong = cut.then(|| "the header breaks off".to_owned());
                emit(Piece::Framing(Framing::Lines))?;
                records(&mut window, b'\n', Some(header), emit)?;
            }
        },
    }
    let damage = window.damage.or(wrong);
    Ok(Ended { bytes: window.total, damage })
}

/// Records that end with `delimiter`, after `header` or with the header as the first of them. A header among them
/// begins another trace, as in files that were appended to each other.
fn records(
    window: &mut Window<'_>,
    delimiter: u8,
    header: Option<Vec<u8>>,
    emit: &mut Emit<'_>,
) -> Result<(), ReadError> {
    let mut next = if header.is_some() { 2 } else { 1 };
    let mut trace = 0;
    let mut begun = header.is_some();
    if let Some(text) = header {
        emit(Piece::Header { trace: Some(trace), text })?;
    }
    loop {
        let mut block = Block::new(trace, next);
        let end = cut(window, delimiter, &mut block)?;
        next = block.next();
        if !begun && let Some(text) = block.take_first() {
            begun = true;
            emit(Piece::Header { trace: Some(trace), text })?;
        }
        let mut from = 0;
        for (at, part) in header_records(&block) {
            if at > from {
                emit(Piece::Block(block.part(from, at, trace)))?;
            }
            let (begin, end) = block.bounds[at];
            let text = &block.text[begin as usize..end as usize];
            let text = if part == HeaderPart::Trace { [b"{\"trace\":", text, b"}"].concat() } else { text.to_vec() };
            trace += u32::from(part == HeaderPart::Whole);
            emit(Piece::Header { trace: Some(trace), text })?;
            from = at + 1;
        }
        if from > 0 {
            block = block.part(from, block.bounds.len(), trace);
        }
        if !block.bounds.is_empty() {
            emit(Piece::Block(block))?;
        }
        if end {
            return Ok(());
        }
    }
}

/// A record that is no event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum HeaderPart {
    /// The header at the start of a file.
    Whole,
    /// The value of a header's `trace`, as quicX writes it on a line of its own.
    Trace,
}

/// The records of `block` that are parts of headers.
fn header_records(block: &Block) -> Vec<(usize, HeaderPart)> {
    let part = |(at, &(begin, end)): (usize, &(u32, u32))| {
        let record = &block.text[begin as usize..end as usize];
        if is_event(record) { None } else { header_part(record).map(|part| (at, part)) }
    };
    block.bounds.iter().enumerate().filter_map(part).collect()
}

/// Whether the first key of a record is one that headers do not have, or an array. Few records are looked at beyond it.
fn is_event(record: &[u8]) -> bool {
    const KEYS: [&[u8]; 9] =
        [b"time", b"name", b"data", b"group_id", b"path", b"category", b"type", b"relative_time", b"delta_time"];
    let Some(rest) = record.strip_prefix(b"{") else { return true };
    let Some(key) = rest.trim_ascii_start().strip_prefix(b"\"") else { return false };
    KEYS.iter().any(|event| key.starts_with(event))
}

/// Reads a record that is no event.
fn header_part(record: &[u8]) -> Option<HeaderPart> {
    #[derive(serde::Deserialize)]
    struct Keys {
        time: Option<serde::de::IgnoredAny>,
        name: Option<serde::de::IgnoredAny>,
        qlog_version: Option<serde::de::IgnoredAny>,
        file_schema: Option<serde::de::IgnoredAny>,
        vantage_point: Option<serde::de::IgnoredAny>,
        common_fields: Option<serde::de::IgnoredAny>,
    }
    let keys = serde_json::from_slice::<Keys>(record).ok().filter(|keys| keys.time.is_none() && keys.name.is_none())?;
    if keys.qlog_version.is_some() || keys.file_schema.is_some() {
        return Some(HeaderPart::Whole);
    }
    (keys.vantage_point.is_some() || keys.common_fields.is_some()).then_some(HeaderPart::Trace)
}

/// Moves whole records from the window into `block`. Says whether that was the end.
fn cut(window: &mut Window<'_>, delimiter: u8, block: &mut Block) -> io::Result<bool> {
    while window.rest().len() < block.target() && !window.ended {
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
