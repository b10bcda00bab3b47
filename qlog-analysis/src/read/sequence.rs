//! JSON text sequences, and records on lines of their own.

use std::io::{self, Read};

use memchr::memchr;
use windlass_qlog::RECORD_SEPARATOR;

use super::ReadError;
use super::block::{BLOCK, Block, LONGEST, Piece};
use super::contained::{self, Start};
use crate::model::Form;

type Emit<'a> = dyn FnMut(Piece) -> Result<(), ReadError> + 'a;

/// Bytes of a stream that are looked at, with more to come.
pub(crate) struct Window<R> {
    reader: R,
    pub(crate) text: Vec<u8>,
    /// What before was done with.
    pub(crate) at: usize,
    pub(crate) ended: bool,
    /// Bytes read altogether.
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

    /// What is looked at.
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
            emit(Piece::Form(Form::Sequence))?;
            records(&mut window, RECORD_SEPARATOR, 1, emit)?;
        }
        Some(_) => match contained::split(&mut window, emit)? {
            Start::Document => {}
            Start::Lines(header) => {
                emit(Piece::Form(Form::Lines))?;
                emit(Piece::Header { trace: Some(0), text: header })?;
                records(&mut window, b'\n', 2, emit)?;
            }
        },
    }
    Ok(window.total)
}

/// Records that end with `delimiter`, the first of them the header if it is number 1.
fn records<R: Read>(window: &mut Window<R>, delimiter: u8, first: u64, emit: &mut Emit<'_>) -> Result<(), ReadError> {
    let mut next = first;
    loop {
        let mut block = Block::new(0, next);
        let end = cut(window, delimiter, &mut block)?;
        if next == 1 && !block.bounds.is_empty() {
            let (from, to) = block.bounds.remove(0);
            block.first = 2;
            emit(Piece::Header { trace: Some(0), text: block.text[from as usize..to as usize].to_vec() })?;
        }
        next = block.next();
        if !block.bounds.is_empty() {
            emit(Piece::Block(block))?;
        }
        if end {
            return Ok(());
        }
    }
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
