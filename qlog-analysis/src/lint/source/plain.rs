//! Plain JSON, in which traces contain their events, and JSON with a record a line.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use windlass_qlog::RECORD_SEPARATOR;

use crate::lint::check::{Checker, Framing};
use crate::lint::{Place, Rule};

/// A reader that counts lines. The JSON parser takes single bytes from it.
struct Lines<R> {
    reader: R,
    line: Rc<Cell<u64>>,
}

impl<R: BufRead> Read for Lines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        let newlines = buffer[..read].iter().filter(|&&byte| byte == b'\n').count();
        self.line.set(self.line.get() + newlines as u64);
        Ok(read)
    }
}

impl<R: BufRead> Lines<R> {
    /// The next byte that is `wanted`, which stays; those before it are passed over.
    fn seek(&mut self, wanted: impl Fn(u8) -> bool) -> io::Result<Option<u8>> {
        loop {
            let Some(&byte) = self.reader.fill_buf()?.first() else { return Ok(None) };
            if wanted(byte) {
                return Ok(Some(byte));
            }
            self.line.set(self.line.get() + u64::from(byte == b'\n'));
            self.reader.consume(1);
        }
    }
}

fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, 0xef | 0xbb | 0xbf)
}

/// Reads one JSON document, or a record a line.
pub(super) fn read<R: BufRead>(reader: R, checker: &mut Checker) -> io::Result<()> {
    let line = Rc::new(Cell::new(1));
    let mut reader = Lines { reader, line: Rc::clone(&line) };
    reader.seek(|byte| !is_blank(byte))?;
    let first = Place { record: 1, line: line.get() };
    let mut document = Document { checker, line: Rc::clone(&line), traces: false };
    let result = (&mut document).deserialize(&mut serde_json::Deserializer::from_reader(&mut reader));
    let traces = document.traces;
    match result {
        Ok(header) if traces => {
            checker.at(Place { record: 0, line: first.line });
            checker.top(&header);
            return Ok(());
        }
        Ok(header) => {
            checker.framing = Framing::Lines;
            checker.record(Value::Object(header), first);
        }
        Err(error) if error.is_io() => return Err(error.into()),
        Err(_) if checker.netlog => return Ok(()),
        Err(error) => {
            let place = Place { record: 0, line: line.get() };
            if error.is_data() {
                checker.report.add(Rule::RecordObject, place, || format!("the file is no qlog object: {error}"));
            } else {
                checker.not_json(place, 1, &error);
            }
            // One bad line among others, or a document that is damaged for good?
            if traces || reader.seek(|byte| byte == b'\n')?.is_none() {
                return Ok(());
            }
            if !matches!(reader.seek(|byte| !is_blank(byte))?, Some(b'{' | RECORD_SEPARATOR)) {
                return Ok(());
            }
            checker.framing = Framing::Lines;
        }
    }
    lines(&mut reader, checker)
}

/// A record a line, after the first.
fn lines<R: BufRead>(reader: &mut Lines<R>, checker: &mut Checker) -> io::Result<()> {
    let mut record = 1;
    loop {
        let mut next = reader.seek(|byte| !is_blank(byte))?;
        let separated = next == Some(RECORD_SEPARATOR);
        if separated {
            next = reader.seek(|byte| !is_blank(byte) && byte != RECORD_SEPARATOR)?;
        }
        if next.is_none() {
            return Ok(());
        }
        record += 1;
        let place = Place { record, line: reader.line.get() };
        checker.at(place);
        if !separated {
            checker.not_separated(place);
        }
        match Value::deserialize(&mut serde_json::Deserializer::from_reader(&mut *reader)) {
            Ok(value) => checker.record(value, place),
            Err(error) if error.is_io() => return Err(error.into()),
            Err(error) => {
                checker.not_json(place, place.line, &error);
                // The parser may have taken the newline itself.
                if reader.line.get() == place.line {
                    reader.seek(|byte| byte == b'\n')?;
                }
            }
        }
    }
}

/// The first JSON value of a file: all of a plain file, or the header of one with a record
/// a line.
struct Document<'a> {
    checker: &'a mut Checker,
    line: Rc<Cell<u64>>,
    /// True once `traces` was read.
    traces: bool,
}

impl<'de> DeserializeSeed<'de> for &mut Document<'_> {
    type Value = Map<String, Value>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Document<'_> {
    type Value = Map<String, Value>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a qlog file, which is an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "traces" => {
                    self.traces = true;
                    self.checker.framing = Framing::Contained;
                    self.checker.top_so_far(&fields);
                    map.next_value_seed(Traces(self))?;
                    fields.insert(key, Value::Null);
                }
                "constants" => {
                    self.checker.netlog = true;
                    let place = Place { record: 0, line: self.line.get() };
                    let message = || "the file is a Chromium network log".to_owned();
                    self.checker.report.add(Rule::NotQlog, place, message);
                    return Err(A::Error::custom("a Chromium network log"));
                }
                _ => {
                    fields.insert(key, map.next_value()?);
                }
            }
        }
        Ok(fields)
    }
}

/// The traces of a file.
struct Traces<'a, 'b>(&'a mut Document<'b>);

impl<'de> DeserializeSeed<'de> for Traces<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Traces<'_, '_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of traces")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut traces: A) -> Result<(), A::Error> {
        while traces.next_element_seed(Trace(self.0))?.is_some() {}
        Ok(())
    }
}

struct Trace<'a, 'b>(&'a mut Document<'b>);

impl<'de> DeserializeSeed<'de> for Trace<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Trace<'_, '_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a trace, which is an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let place = Place { record: 0, line: self.0.line.get() };
        let mut fields = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if key == "events" {
                self.0.checker.trace_so_far(&fields);
                map.next_value_seed(Events(self.0))?;
                fields.insert(key, Value::Null);
            } else {
                fields.insert(key, map.next_value()?);
            }
        }
        self.0.checker.at(place);
        self.0.checker.trace(&fields);
        Ok(())
    }
}

/// The events of a trace.
struct Events<'a, 'b>(&'a mut Document<'b>);

impl<'de> DeserializeSeed<'de> for Events<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Events<'_, '_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of events")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut events: A) -> Result<(), A::Error> {
        let mut record = 0;
        while let Some((line, event)) = events.next_element_seed(Event(&self.0.line))? {
            record += 1;
            let place = Place { record, line };
            self.0.checker.at(place);
            self.0.checker.event(&event, place);
        }
        Ok(())
    }
}

/// One event, with the line it begins on.
struct Event<'a>(&'a Cell<u64>);

impl<'de> DeserializeSeed<'de> for Event<'_> {
    type Value = (u64, Value);
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(u64, Value), D::Error> {
        let line = self.0.get();
        Ok((line, Value::deserialize(deserializer)?))
    }
}
