//! Zeros on their way.

use std::sync::{Mutex, OnceLock};

use windlass_msquic_endpoint::Stream;

use crate::{AHEAD, CHUNK, lock};

/// Zeros, a chunk at most.
static DATA: [u8; CHUNK] = [0; CHUNK];

/// A stream and what is still to be sent on it.
#[derive(Default)]
pub(crate) struct Outgoing {
    stream: OnceLock<Stream>,
    /// `None` before the beginning and after the end.
    left: Mutex<Option<u64>>,
}

impl Outgoing {
    /// Takes the stream, once.
    pub(crate) fn take(&self, stream: Stream) {
        let _ = self.stream.set(stream);
    }

    /// Begins to send so many bytes.
    pub(crate) fn begin(&self, bytes: u64) {
        *lock(&self.left) = Some(bytes);
        for _ in 0..AHEAD {
            self.more();
        }
    }

    /// Sends the next piece, with the last one the end.
    pub(crate) fn more(&self) {
        let mut left = lock(&self.left);
        let (Some(stream), Some(bytes)) = (self.stream.get(), *left) else { return };
        let length = usize::try_from(bytes).map_or(CHUNK, |bytes| bytes.min(CHUNK));
        let rest = bytes - length as u64;
        *left = Some(rest).filter(|rest| *rest > 0);
        if stream.send(&DATA[..length], rest == 0).is_err() {
            *left = None;
        }
    }

    /// Sends `bytes` before everything else.
    pub(crate) fn head(&self, bytes: [u8; 8]) {
        if let Some(stream) = self.stream.get() {
            let _ = stream.send(bytes, false);
        }
    }

    /// Gives the stream up.
    pub(crate) fn abort(&self) {
        if let Some(stream) = self.stream.get() {
            stream.abort();
        }
    }
}
