//! Splitting a file into its records.

use std::io::{self, BufRead};

use crate::RECORD_SEPARATOR;

/// Longest record kept by default, bytes.
const LIMIT: usize = 1 << 26;

/// One record, without its separator and surrounding white space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record<'a> {
    /// Its place in the file, from 1.
    pub number: u64,
    /// The line it begins on, from 1.
    pub line: u64,
    /// Its text; empty if there was nothing, cut off if it is `oversize`.
    pub text: &'a [u8],
    /// Whether a record separator stood before it.
    pub separated: bool,
    /// Whether a newline stood after it (`RFC 7464 §2.4`: without one it may be cut off).
    pub terminated: bool,
    /// Whether it was longer than the limit.
    pub oversize: bool,
}

/// Separation of records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framing {
    /// JSON text sequences (`RFC 7464`): a separator before each record.
    Sequence,
    /// A JSON record per line.
    Lines,
}

/// Reads records one by one from a JSON text sequence, or from lines where the file does
/// not begin with a separator. Memory is that of the longest record.
#[derive(Debug)]
pub struct Records<R> {
    reader: R,
    framing: Option<Framing>,
    buffer: Vec<u8>,
    limit: usize,
    number: u64,
    /// The line the next byte is on.
    line: u64,
    separated: bool,
    done: bool,
}

impl<R: BufRead> Records<R> {
    /// Reads records from `reader`.
    pub fn new(reader: R) -> Self {
        Records {
            reader,
            framing: None,
            buffer: Vec::new(),
            limit: LIMIT,
            number: 0,
            line: 1,
            separated: false,
            done: false,
        }
    }

    /// Cuts off records longer than `bytes`.
    #[must_use]
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Framing of the file.
    ///
    /// # Errors
    /// The reader's.
    pub fn framing(&mut self) -> io::Result<Framing> {
        if let Some(framing) = self.framing {
            return Ok(framing);
        }
        let framing = loop {
            let bytes = fill(&mut self.reader)?;
            let blank = blanks(bytes);
            let first = bytes.get(blank).copied();
            self.line += newlines(&bytes[..blank]);
            let empty = bytes.is_empty();
            self.reader.consume(blank);
            match first {
                Some(RECORD_SEPARATOR) => {
                    self.reader.consume(1);
                    self.separated = true;
                    break Framing::Sequence;
                }
                Some(_) => break Framing::Lines,
                None if empty => break Framing::Lines,
                None => {}
            }
        };
        self.framing = Some(framing);
        Ok(framing)
    }

    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// The reader's.
    #[allow(clippy::should_implement_trait, reason = "a record borrows the reader's buffer")]
    pub fn next(&mut self) -> io::Result<Option<Record<'_>>> {
        let delimiter = match self.framing()? {
            Framing::Sequence => RECORD_SEPARATOR,
            Framing::Lines => b'\n',
        };
        loop {
            if self.done {
                return Ok(None);
            }
            let begins = self.line;
            let mut separated = self.separated;
            self.buffer.clear();
            let (length, delimited) = self.take_until(delimiter)?;
            self.done = !delimited;
            self.separated = delimited && delimiter == RECORD_SEPARATOR;
            let oversize = length > self.limit;
            let newline = if delimiter == b'\n' { delimited } else { self.buffer.ends_with(b"\n") };
            let mut from = blanks(&self.buffer);
            if delimiter == b'\n' && self.buffer.get(from) == Some(&RECORD_SEPARATOR) {
                separated = true;
                from += 1 + blanks(&self.buffer[from + 1..]);
            }
            let line = begins + newlines(&self.buffer[..from]);
            let length = self.buffer[from..].trim_ascii_end().len();
            if length == 0 && (self.done || delimiter == b'\n') {
                continue;
            }
            self.number += 1;
            let text = &self.buffer[from..from + length];
            return Ok(Some(Record {
                number: self.number,
                line,
                text,
                separated,
                terminated: newline && !oversize,
                oversize,
            }));
        }
    }

    /// Moves bytes up to `delimiter` into the buffer, at most `limit` of them. Says how
    /// many there were and whether the delimiter was there.
    fn take_until(&mut self, delimiter: u8) -> io::Result<(usize, bool)> {
        let mut length = 0;
        loop {
            let bytes = fill(&mut self.reader)?;
            if bytes.is_empty() {
                return Ok((length, false));
            }
            let end = bytes.iter().position(|&byte| byte == delimiter);
            let part = &bytes[..end.unwrap_or(bytes.len())];
            let room = self.limit.saturating_sub(self.buffer.len());
            self.buffer.extend_from_slice(&part[..part.len().min(room)]);
            self.line += newlines(part) + u64::from(delimiter == b'\n' && end.is_some());
            length += part.len();
            let consumed = part.len() + usize::from(end.is_some());
            self.reader.consume(consumed);
            if end.is_some() {
                return Ok((length, true));
            }
        }
    }
}

fn fill<R: BufRead>(reader: &mut R) -> io::Result<&[u8]> {
    loop {
        match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            // Asked again because a borrow cannot leave a loop that goes on.
            Ok(_) => return reader.fill_buf(),
        }
    }
}

/// How many bytes of white space or byte order mark `bytes` begins with.
fn blanks(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_whitespace() || matches!(byte, 0xef | 0xbb | 0xbf)).count()
}

fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    type Seen = (u64, u64, String, bool, bool, bool);

    fn split(text: &str, capacity: usize, limit: usize) -> (Framing, Vec<Seen>) {
        let mut records = Records::new(BufReader::with_capacity(capacity, text.as_bytes())).limit(limit);
        let framing = records.framing().unwrap();
        let mut seen = Vec::new();
        while let Some(record) = records.next().unwrap() {
            let text = String::from_utf8_lossy(record.text).into_owned();
            seen.push((record.number, record.line, text, record.separated, record.terminated, record.oversize));
        }
        (framing, seen)
    }

    fn seen(number: u64, line: u64, text: &str, separated: bool, terminated: bool, oversize: bool) -> Seen {
        (number, line, text.to_owned(), separated, terminated, oversize)
    }

    #[test]
    fn a_sequence_is_split_at_its_separators() {
        for capacity in [1, 2, 3, 7, 4096] {
            let (framing, records) = split("\n\x1e{\n 1}\n\x1e\n{2}\x1e{3}\n", capacity, 100);
            assert_eq!(framing, Framing::Sequence);
            assert_eq!(
                records,
                [
                    seen(1, 2, "{\n 1}", true, true, false),
                    seen(2, 5, "{2}", true, false, false),
                    seen(3, 5, "{3}", true, true, false)
                ]
            );
        }
    }

    #[test]
    fn an_empty_record_counts_but_not_an_empty_end() {
        let (_, records) = split("\x1e\x1e{1}\n\x1e\n", 10, 100);
        assert_eq!(records, [seen(1, 1, "", true, false, false), seen(2, 1, "{1}", true, true, false)]);
    }

    #[test]
    fn lines_are_records_without_separators() {
        for capacity in [1, 2, 4096] {
            let (framing, records) = split("\u{feff}{1}\n\n\x1e{2}\n{3}", capacity, 100);
            assert_eq!(framing, Framing::Lines);
            assert_eq!(
                records,
                [
                    seen(1, 1, "{1}", false, true, false),
                    seen(2, 3, "{2}", true, true, false),
                    seen(3, 4, "{3}", false, false, false)
                ]
            );
        }
    }

    #[test]
    fn a_record_over_the_limit_is_cut_and_the_next_one_whole() {
        for capacity in [1, 3, 4096] {
            let (_, records) = split("\x1e123456789\n\x1e{2}\n", capacity, 4);
            assert_eq!(records, [seen(1, 1, "1234", true, false, true), seen(2, 2, "{2}", true, true, false)]);
        }
    }

    #[test]
    fn nothing_gives_nothing() {
        for text in ["", "\n \n", "\u{feff}"] {
            assert_eq!(split(text, 8, 100), (Framing::Lines, vec![]));
        }
        assert_eq!(split("\x1e", 8, 100), (Framing::Sequence, vec![]));
    }
}
