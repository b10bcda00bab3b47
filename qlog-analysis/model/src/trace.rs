//! Writing one flow.

use std::io::{self, Write};

use serde::Serialize;

use crate::acked::Acknowledged;
use crate::json::Json;
use crate::schema::Names;
use crate::{Metrics, Profile};

mod header;
mod packets;
mod recovery;

pub use header::{End, Header, Vantage};

/// Bytes gathered before they go to the file.
const CHUNK: usize = 1 << 16;

/// Detail in which a flow is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Detail {
    /// Every packet and every change of a metric.
    #[default]
    Packets,
    /// Metrics, congestion states, losses. Metrics come at most once in this many
    /// nanoseconds, except before a change of state, and where the window or the
    /// threshold answers a loss or a change of state. In the qvis profile one
    /// packet sent per such time is kept, for qvis' time axis ends with the last packet.
    Recovery {
        /// Nanoseconds between two records of metrics.
        every_ns: u64,
    },
}

/// Writes one flow to `W` as a JSON text sequence.
///
/// Times are nanoseconds since an origin of the caller's choice and never go back: an
/// earlier time is written as the latest one so far, and counted. The first error of
/// `W` ends the writing and is what [`Trace::finish`] returns.
#[derive(Debug)]
pub struct Trace<W: Write> {
    writer: Option<W>,
    error: Option<io::Error>,
    json: Json,
    names: &'static Names,
    profile: Profile,
    detail: Detail,
    origin: u64,
    /// Time of the latest record, before the origin is subtracted.
    now: u64,
    late: u64,
    records: u64,
    /// Metrics as the file has them.
    written: Metrics,
    /// Metrics as last written.
    latest: Metrics,
    /// Time of the latest metrics written, ns.
    metrics_at: Option<u64>,
    /// Whether the next metrics are written at once if the window changes.
    urgent: bool,
    /// When a packet was last written under [`Detail::Recovery`].
    packet_at: Option<u64>,
    state: Option<String>,
    acknowledged: [Acknowledged; 3],
}

impl<W: Write> Trace<W> {
    /// Writes the header to `writer`.
    pub fn new(writer: W, profile: Profile, detail: Detail, header: &Header<'_>) -> Self {
        let mut trace = Trace {
            writer: Some(writer),
            error: None,
            json: Json { bytes: Vec::with_capacity(CHUNK + CHUNK / 4) },
            names: profile.names(),
            profile,
            detail,
            origin: header.origin_ns,
            now: header.origin_ns,
            late: 0,
            records: 0,
            written: Metrics::default(),
            latest: Metrics::default(),
            metrics_at: None,
            urgent: false,
            packet_at: None,
            state: None,
            acknowledged: Default::default(),
        };
        trace.header(header);
        trace
    }

    /// An event of a schema of our own: `name` begins with `windlass:`, `data` becomes
    /// a JSON object, and both need no escaping. Whatever [`Detail`], it is written.
    pub fn private<T: Serialize + ?Sized>(&mut self, now_ns: u64, name: &'static str, data: &T) {
        self.begin_bare(now_ns, name);
        self.json.raw("\"");
        self.json.value("data", data);
        self.json.raw("}\n");
        self.close_record();
    }

    /// Number of records after the header.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records
    }

    /// How many records came with an earlier time than the one before.
    #[must_use]
    pub fn late(&self) -> u64 {
        self.late
    }

    /// The schema version written.
    #[must_use]
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// Writes what is still held back and gives the writer back.
    ///
    /// # Errors
    /// The first error the writer returned.
    pub fn finish(mut self) -> io::Result<W> {
        self.flush_metrics(self.now);
        self.flush()?;
        self.writer.take().ok_or_else(|| io::Error::other("the trace has no writer"))
    }

    #[inline]
    fn begin(&mut self, now_ns: u64, name: &str) {
        self.begin_bare(now_ns, name);
        self.json.raw("\",\"data\":{");
    }

    /// Up to the end of the name, but for the quotation mark.
    #[inline]
    fn begin_bare(&mut self, now_ns: u64, name: &str) {
        if now_ns < self.now {
            self.late += 1;
        } else {
            self.now = now_ns;
        }
        self.json.field_millis("\u{1e}{\"time\":", self.now - self.origin);
        self.json.raw(",\"name\":\"");
        self.json.raw(name);
    }

    #[inline]
    fn end(&mut self) {
        self.json.raw("}}\n");
        self.close_record();
    }

    #[inline]
    fn close_record(&mut self) {
        self.records += 1;
        if self.json.bytes.len() >= CHUNK {
            self.write_out();
        }
    }

    fn write_out(&mut self) {
        if let (None, Some(writer)) = (&self.error, &mut self.writer) {
            self.error = writer.write_all(&self.json.bytes).err();
        }
        self.json.bytes.clear();
    }

    /// Hands everything written so far to the writer and flushes it.
    ///
    /// # Errors
    /// The first error the writer returned; nothing is written after it.
    pub fn flush(&mut self) -> io::Result<()> {
        self.write_out();
        if let (None, Some(writer)) = (&self.error, &mut self.writer) {
            self.error = writer.flush().err();
        }
        match &self.error {
            Some(error) => Err(io::Error::new(error.kind(), error.to_string())),
            None => Ok(()),
        }
    }
}

/// A trace that was not finished keeps what was written; its last error is lost.
impl<W: Write> Drop for Trace<W> {
    fn drop(&mut self) {
        if self.writer.is_some() {
            self.flush_metrics(self.now);
            let _ = self.flush();
        }
    }
}
