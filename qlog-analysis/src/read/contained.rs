//! One JSON document that contains its traces, read as it comes.
//!
//! Only the brackets are looked at here: each event is cut out as it stands, and what else
//! is said of a trace or of the file is handed over as an object of its own. A document
//! that breaks off gives what came before.

use memchr::memchr2;

use super::ReadError;
use super::block::{Block, HEADER, LONGEST, Piece};
use super::sequence::Window;
use crate::model::Framing;

type Emit<'a> = dyn FnMut(Piece) -> Result<(), ReadError> + 'a;

/// Kind of a file that begins with an object.
pub(super) enum Start {
    /// A document, which was read to its end.
    Document {
        /// Error in its JSON.
        damage: Option<String>,
    },
    /// The first of many records, which is the header.
    Lines {
        /// Its text.
        header: Vec<u8>,
        /// Whether it breaks off.
        cut: bool,
    },
}

/// An object as it is put together again.
#[derive(Default)]
struct Fields(Vec<u8>);

impl Fields {
    /// A field, unless there is no room for it.
    fn add(&mut self, key: &[u8], value: &[u8]) {
        if self.0.len() + key.len() + value.len() > HEADER {
            return;
        }
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        self.0.push(b'"');
        self.0.extend_from_slice(key);
        self.0.extend_from_slice(b"\":");
        self.0.extend_from_slice(value);
    }

    fn take(&mut self) -> Vec<u8> {
        let mut text = std::mem::take(&mut self.0);
        if text.is_empty() {
            text.push(b'{');
        }
        text.push(b'}');
        text
    }
}

/// Reads the document that begins in `window`.
pub(super) fn split(window: &mut Window<'_>, emit: &mut Emit<'_>) -> Result<Start, ReadError> {
    // Some traces are wrapped in a line of JavaScript.
    let mut passed = 0;
    while window.peek()? != Some(b'{') {
        if window.peek()?.is_none() || passed > 4096 {
            return Err(ReadError::NotQlog("it does not begin with a JSON object".to_owned()));
        }
        window.at += 1;
        passed += 1;
    }
    let mut document =
        Document { window, emit, traces: 0, framing: None, fields: Fields::default(), cut: false, junk: 0 };
    document.top()?;
    // Documents that were appended to each other.
    while document.framing == Some(Framing::Contained) && document.another()? {
        let text = document.fields.take();
        (document.emit)(Piece::Header { trace: None, text })?;
        (document.emit)(Piece::Document)?;
        document.top()?;
    }
    let damage = document.damage(passed > 0)?;
    let Document { framing, mut fields, cut, .. } = document;
    if framing.is_some() {
        let text = fields.take();
        emit(Piece::Header { trace: None, text })?;
        return Ok(Start::Document { damage });
    }
    Ok(Start::Lines { header: fields.take(), cut })
}

struct Document<'a, 'r, 'e> {
    window: &'a mut Window<'r>,
    emit: &'a mut Emit<'e>,
    traces: u32,
    framing: Option<Framing>,
    fields: Fields,
    /// Whether it breaks off.
    cut: bool,
    /// Bytes that stand where JSON has none.
    junk: u64,
}

/// What follows a value of an object or array: a comma or its end.
enum After {
    More,
    End,
}

impl Document<'_, '_, '_> {
    fn is(&mut self, framing: Framing) -> Result<(), ReadError> {
        if self.framing.is_none() {
            self.framing = Some(framing);
            (self.emit)(Piece::Framing(framing))?;
        }
        Ok(())
    }

    /// Whether a document follows.
    fn another(&mut self) -> Result<bool, ReadError> {
        let complete = !self.cut;
        let follows = self.blank()? == Some(b'{');
        self.cut = !complete;
        Ok(complete && follows)
    }

    /// What is wrong with it as JSON, after its end; something may follow where it is `wrapped`.
    fn damage(&mut self, wrapped: bool) -> Result<Option<String>, ReadError> {
        if self.framing.is_none() {
            return Ok(None);
        }
        Ok(if self.cut {
            Some("the document breaks off".to_owned())
        } else if self.junk > 0 {
            Some(format!("{} bytes of the document stand where JSON has none", self.junk))
        } else {
            self.blank()?
                .filter(|_| !wrapped)
                .map(|_| "the document has an end, and what follows is not read".to_owned())
        })
    }

    /// Reads the outermost object.
    fn top(&mut self) -> Result<(), ReadError> {
        self.window.at += 1;
        while let Some(key) = self.key()? {
            match key.as_slice() {
                b"traces" | b"connections" if self.blank()? == Some(b'[') => {
                    self.is(Framing::Contained)?;
                    let text = self.fields.take();
                    self.fields = Fields::default();
                    (self.emit)(Piece::Header { trace: None, text })?;
                    self.array(&mut |document| document.trace())?;
                }
                b"events" if self.blank()? == Some(b'[') => {
                    let netlog = self.framing == Some(Framing::Netlog);
                    self.is(if netlog { Framing::Netlog } else { Framing::Contained })?;
                    let text = self.fields.take();
                    self.fields = Fields::default();
                    let index = self.traces;
                    self.traces += 1;
                    (self.emit)(Piece::Header { trace: Some(index), text })?;
                    self.events(index)?;
                }
                _ => {
                    if key == b"constants" {
                        self.is(Framing::Netlog)?;
                    }
                    let mut value = Vec::new();
                    self.value(&mut value)?;
                    self.fields.add(&key, &value);
                }
            }
            if matches!(self.after(b'}')?, After::End) {
                break;
            }
        }
        Ok(())
    }

    fn trace(&mut self) -> Result<(), ReadError> {
        let index = self.traces;
        self.traces += 1;
        if self.blank()? != Some(b'{') {
            return self.value(&mut Vec::new());
        }
        self.window.at += 1;
        let mut fields = Fields::default();
        while let Some(key) = self.key()? {
            if key == b"events" && self.blank()? == Some(b'[') {
                (self.emit)(Piece::Header { trace: Some(index), text: fields.take() })?;
                fields = Fields::default();
                self.events(index)?;
            } else {
                let mut value = Vec::new();
                self.value(&mut value)?;
                fields.add(&key, &value);
            }
            if matches!(self.after(b'}')?, After::End) {
                break;
            }
        }
        (self.emit)(Piece::Header { trace: Some(index), text: fields.take() })
    }

    fn events(&mut self, trace: u32) -> Result<(), ReadError> {
        let mut block = Block::new(trace, 1);
        self.array(&mut |document| {
            let from = block.text.len();
            document.value(&mut block.text)?;
            block.bounds.push((from as u32, block.text.len() as u32));
            if block.text.len() >= block.target() {
                let next = Block::new(trace, block.next());
                (document.emit)(Piece::Block(std::mem::replace(&mut block, next)))?;
            }
            Ok(())
        })?;
        if block.bounds.is_empty() { Ok(()) } else { (self.emit)(Piece::Block(block)) }
    }

    /// Visits the elements of an array; ends early where the document does.
    fn array(&mut self, visit: &mut dyn FnMut(&mut Self) -> Result<(), ReadError>) -> Result<(), ReadError> {
        self.window.at += 1;
        loop {
            match self.blank()? {
                Some(b']') => {
                    self.window.at += 1;
                    return Ok(());
                }
                None => return Ok(()),
                Some(_) => {}
            }
            visit(self)?;
            if matches!(self.after(b']')?, After::End) {
                return Ok(());
            }
        }
    }

    /// The next byte that is no white space, which stays.
    fn blank(&mut self) -> Result<Option<u8>, ReadError> {
        while let Some(byte) = self.window.peek()? {
            if !byte.is_ascii_whitespace() {
                return Ok(Some(byte));
            }
            self.window.at += 1;
        }
        self.cut = true;
        Ok(None)
    }

    /// The next key, up to its colon; `None` at the end of the object or document.
    fn key(&mut self) -> Result<Option<Vec<u8>>, ReadError> {
        loop {
            match self.blank()? {
                Some(b'}') => {
                    self.window.at += 1;
                    return Ok(None);
                }
                Some(b'"') => break,
                // What is neither key nor end is passed over: the rest may still be read.
                Some(_) => {
                    self.window.at += 1;
                    self.junk += 1;
                }
                None => return Ok(None),
            }
        }
        let mut key = Vec::new();
        self.string(&mut key)?;
        if self.blank()? == Some(b':') {
            self.window.at += 1;
        }
        key.pop();
        if !key.is_empty() {
            key.remove(0);
        }
        Ok(Some(key))
    }

    /// Passes over a comma, or over `close`.
    fn after(&mut self, close: u8) -> Result<After, ReadError> {
        while let Some(byte) = self.blank()? {
            if byte == close {
                self.window.at += 1;
                return Ok(After::End);
            }
            if byte == b',' {
                self.window.at += 1;
                return Ok(After::More);
            }
            if matches!(byte, b'"' | b'{' | b'[') {
                // A comma was forgotten.
                self.junk += 1;
                return Ok(After::More);
            }
            self.window.at += 1;
            self.junk += 1;
        }
        Ok(After::End)
    }

    /// Moves one value into `out`, at most [`LONGEST`] bytes of it.
    fn value(&mut self, out: &mut Vec<u8>) -> Result<(), ReadError> {
        let begin = out.len();
        self.blank()?;
        let mut depth = 0_u32;
        loop {
            let Some(byte) = self.window.peek()? else { return Ok(()) };
            match byte {
                b'"' => {
                    self.string(out)?;
                    if depth == 0 {
                        return Ok(());
                    }
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    if depth == 0 {
                        return Ok(());
                    }
                    depth -= 1;
                    if depth == 0 {
                        out.push(byte);
                        self.window.at += 1;
                        return Ok(());
                    }
                }
                b',' if depth == 0 => return Ok(()),
                byte if depth == 0 && byte.is_ascii_whitespace() => return Ok(()),
                _ => {}
            }
            let rest = self.window.rest();
            let plain = rest[1..].iter().position(|byte| matches!(byte, b'"' | b'{' | b'[' | b'}' | b']'));
            let plain = if depth == 0 { 1 } else { 1 + plain.unwrap_or(rest.len() - 1) };
            if out.len() - begin < LONGEST {
                out.extend_from_slice(&rest[..plain]);
            }
            self.window.at += plain;
        }
    }

    /// Moves a string with its quotes into `out`.
    fn string(&mut self, out: &mut Vec<u8>) -> Result<(), ReadError> {
        let begin = out.len();
        out.push(b'"');
        self.window.at += 1;
        loop {
            if self.window.peek()?.is_none() {
                return Ok(());
            }
            let rest = self.window.rest();
            let found = memchr2(b'"', b'\\', rest);
            let plain = found.unwrap_or(rest.len());
            if out.len() - begin < LONGEST {
                out.extend_from_slice(&rest[..plain]);
            }
            let special = found.map(|at| rest[at]);
            self.window.at += plain;
            if let Some(byte) = special {
                out.push(byte);
                self.window.at += 1;
                if byte == b'"' {
                    return Ok(());
                }
                if let Some(escaped) = self.window.peek()? {
                    out.push(escaped);
                    self.window.at += 1;
                }
            }
        }
    }
}
