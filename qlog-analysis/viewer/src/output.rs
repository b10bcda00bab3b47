//! Messages to the page: JSON objects on lines of their own, each followed by as many bytes as its `bytes` says.

use std::io::{self, Write};

use serde::Serialize;

/// Bytes that are written at once.
const BUFFER: usize = 1 << 18;

/// Writes messages for the page.
pub(crate) struct Output<W: Write>(io::BufWriter<W>);

impl<W: Write> Output<W> {
    pub(crate) fn new(writer: W) -> Self {
        Output(io::BufWriter::with_capacity(BUFFER, writer))
    }

    /// A message without bytes. It leaves at once.
    pub(crate) fn message(&mut self, message: &impl Serialize) -> io::Result<()> {
        self.header(message)?;
        self.0.flush()
    }

    /// A message whose `bytes` says how many bytes follow. The caller writes them, then
    /// [flushes](Output::flush).
    pub(crate) fn header(&mut self, message: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.0, message)?;
        self.0.write_all(b"\n")
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    /// Numbers as the page's typed arrays hold them.
    pub(crate) fn numbers(&mut self, numbers: impl Iterator<Item = f64>) -> io::Result<()> {
        numbers.into_iter().try_for_each(|number| self.0.write_all(&number.to_le_bytes()))
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The messages in what was written, each with its bytes.
#[cfg(test)]
pub(crate) fn messages(mut written: &[u8]) -> Vec<(serde_json::Value, Vec<u8>)> {
    let mut messages = Vec::new();
    while !written.is_empty() {
        let end = written.iter().position(|&byte| byte == b'\n').expect("a message ends with a newline");
        let message: serde_json::Value = serde_json::from_slice(&written[..end]).unwrap();
        let bytes = message["bytes"].as_u64().unwrap_or(0) as usize;
        messages.push((message, written[end + 1..][..bytes].to_vec()));
        written = &written[end + 1 + bytes..];
    }
    messages
}
