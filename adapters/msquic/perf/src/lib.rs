//! A client and a server that measure MsQuic with a protocol like the QUIC performance protocol
//! (`draft-banks-quic-performance`). The first eight bytes of a stream, big endian, are the number of
//! bytes the client requests. It sends any number of bytes after them and finishes; then the server
//! sends the number requested and finishes. Uploads, downloads and requests differ only in the two
//! numbers.

#![forbid(unsafe_code)]

mod client;
mod server;

use std::fmt;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use windlass_msquic_endpoint::Stream;

pub use client::{Measurement, Plan, run};
pub use server::{Server, serve};

/// ALPN identifier of the protocol (`draft-banks-quic-performance`).
pub const ALPN: &str = "perf";

/// Bytes handed to MsQuic at once.
const CHUNK: usize = 1 << 16;
/// Sends before the first is acknowledged.
const MAX_SENDS: usize = 128;
/// Longest time without an event before a measurement fails.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Why a measurement failed, for printing.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(pub String);

impl fmt::Debug for Error {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Error {}

impl From<windlass_msquic_endpoint::Error> for Error {
    fn from(error: windlass_msquic_endpoint::Error) -> Self {
        Error(error.to_string())
    }
}

/// The id of a controller of the catalogue, or of `native:cubic` or `native:bbr`.
///
/// # Errors
/// There is no such controller, or MsQuic has no room for it.
pub fn algorithm_id(controller: &str) -> Result<u16, Error> {
    match controller {
        "native:cubic" => Ok(0),
        "native:bbr" => Ok(1),
        controller => windlass_msquic::register(controller).map_err(|error| Error(error.to_string())),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The data of a send.
static DATA: [u8; CHUNK] = [0; CHUNK];

/// A stream and the number of bytes still to be sent on it.
#[derive(Default)]
pub(crate) struct SendStream {
    stream: OnceLock<Stream>,
    /// `None` before the first send and after the last.
    left: Mutex<Option<u64>>,
}

impl SendStream {
    pub(crate) fn set_stream(&self, stream: Stream) {
        let _ = self.stream.set(stream);
    }

    /// Begins to send `bytes` bytes.
    pub(crate) fn begin(&self, bytes: u64) {
        *lock(&self.left) = Some(bytes);
        for _ in 0..MAX_SENDS {
            self.send_next();
        }
    }

    /// Sends the next chunk; the last one finishes the stream.
    pub(crate) fn send_next(&self) {
        let mut left = lock(&self.left);
        let (Some(stream), Some(bytes)) = (self.stream.get(), *left) else { return };
        let length = usize::try_from(bytes).map_or(CHUNK, |bytes| bytes.min(CHUNK));
        let rest = bytes - length as u64;
        *left = Some(rest).filter(|rest| *rest > 0);
        if stream.send(&DATA[..length], rest == 0).is_err() {
            *left = None;
        }
    }

    /// Sends the number of bytes requested.
    pub(crate) fn send_request(&self, bytes: [u8; 8]) {
        if let Some(stream) = self.stream.get() {
            let _ = stream.send(bytes, false);
        }
    }

    pub(crate) fn abort(&self) {
        if let Some(stream) = self.stream.get() {
            stream.abort();
        }
    }
}
