//! A client and a server that measure MsQuic, in the spirit of the QUIC performance protocol
//! (`draft-banks-quic-performance`): a client says in the first eight bytes of a stream, big
//! endian, how many bytes it wants, may send as many as it likes, and ends its side; then the
//! server answers with that many and ends its own. Uploads, downloads and requests are the
//! same thing with different numbers.

#![forbid(unsafe_code)]

mod client;
mod outgoing;
mod server;

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use client::{Measured, Plan, run};
pub use server::{Serving, serve};

/// The protocol's name (`draft-banks-quic-performance`).
pub const ALPN: &str = "perf";

/// Bytes handed to MsQuic at a time.
const CHUNK: usize = 1 << 16;
/// Chunks MsQuic has ahead of what was acknowledged.
const AHEAD: usize = 128;
/// How long nothing may happen.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why a measurement failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failed(pub String);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Failed {}

impl From<windlass_msquic_endpoint::Failed> for Failed {
    fn from(error: windlass_msquic_endpoint::Failed) -> Self {
        Failed(error.to_string())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
