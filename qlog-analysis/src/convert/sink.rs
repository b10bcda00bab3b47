//! Writer of events: framed, and in order of time.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::OutputFraming;
use super::node::{Node, field, millis};

/// Bytes of events that wait for earlier ones.
const WAITING: usize = 1 << 26;

/// Bytes gathered before they are written.
const CHUNK: usize = 1 << 16;

/// Writes the traces of one output file.
pub(super) struct Sink<'w> {
    out: &'w mut dyn Write,
    buffer: Vec<u8>,
    framing: OutputFraming,
    waiting: BTreeMap<(i64, u64), Vec<u8>>,
    bytes: usize,
    number: u64,
    /// The time of the event written last.
    last: i64,
    traces: u64,
    written: u64,
    /// Events that came so late that their time was changed.
    pub(super) late: u64,
}

impl<'w> Sink<'w> {
    pub(super) fn new(out: &'w mut dyn Write, framing: OutputFraming) -> Self {
        Sink {
            out,
            buffer: Vec::new(),
            framing,
            waiting: BTreeMap::new(),
            bytes: 0,
            number: 0,
            last: i64::MIN,
            traces: 0,
            written: 0,
            late: 0,
        }
    }

    /// Begins a file of several traces.
    pub(super) fn begin_file(&mut self, top: &Node<'_>) {
        if self.framing == OutputFraming::Contained {
            self.open(top);
            self.buffer.extend_from_slice(b"\"traces\":[");
        }
    }

    /// Begins a trace; `top` is what stands above it.
    pub(super) fn begin_trace(&mut self, top: &Node<'_>, header: &Node<'_>) {
        match self.framing {
            OutputFraming::Sequence => {
                self.buffer.push(windlass_qlog::RECORD_SEPARATOR);
                self.open(top);
                field(b"trace", header, &mut self.buffer);
                self.buffer.extend_from_slice(b"}\n");
            }
            OutputFraming::Contained => {
                self.buffer.extend_from_slice(if self.traces > 0 { b",\n" } else { b"\n" });
                self.open(header);
                self.buffer.extend_from_slice(b"\"events\":[");
            }
        }
        self.traces += 1;
        self.written = 0;
        self.last = i64::MIN;
    }

    /// An object that is not closed, ready for another field.
    fn open(&mut self, node: &Node<'_>) {
        node.write(&mut self.buffer);
        self.buffer.pop();
        if !node.fields().is_empty() {
            self.buffer.push(b',');
        }
    }

    /// Takes an event: what stands after its time.
    pub(super) fn event(&mut self, time: i64, body: Vec<u8>) -> io::Result<()> {
        self.bytes += body.len() + 64;
        self.waiting.insert((time, self.number), body);
        self.number += 1;
        while self.bytes > WAITING {
            self.first()?;
        }
        Ok(())
    }

    fn first(&mut self) -> io::Result<()> {
        let Some(((time, _), body)) = self.waiting.pop_first() else {
            self.bytes = 0;
            return Ok(());
        };
        self.bytes -= body.len() + 64;
        self.late += u64::from(time < self.last);
        self.write(time.max(self.last), &body)
    }

    fn write(&mut self, time: i64, body: &[u8]) -> io::Result<()> {
        self.last = time;
        match self.framing {
            OutputFraming::Sequence => self.buffer.push(windlass_qlog::RECORD_SEPARATOR),
            OutputFraming::Contained => self.buffer.extend_from_slice(if self.written > 0 { b",\n" } else { b"\n" }),
        }
        self.written += 1;
        self.buffer.extend_from_slice(b"{\"time\":");
        millis(time, &mut self.buffer);
        self.buffer.push(b',');
        self.buffer.extend_from_slice(body);
        self.buffer.push(b'}');
        if self.framing == OutputFraming::Sequence {
            self.buffer.push(b'\n');
        }
        if self.buffer.len() >= CHUNK {
            self.flush()?;
        }
        Ok(())
    }

    pub(super) fn end_trace(&mut self) -> io::Result<()> {
        while !self.waiting.is_empty() {
            self.first()?;
        }
        if self.framing == OutputFraming::Contained {
            self.buffer.extend_from_slice(b"\n]}");
        }
        self.flush()
    }

    pub(super) fn end_file(&mut self) -> io::Result<()> {
        if self.framing == OutputFraming::Contained {
            self.buffer.extend_from_slice(b"\n]}\n");
        }
        self.flush()?;
        self.out.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}
