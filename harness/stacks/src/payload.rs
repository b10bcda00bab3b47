//! Application bytes a transfer can be checked by: random but repeatable on one end,
//! hashed on both.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use sha2::{Digest, Sha256};
use windlass_network::Stream;
pub use windlass_simulator::measure::{Hash, hex};

/// Bytes made at a time.
const CHUNK: usize = 1 << 15;

/// The sending end: an endless stream of bytes that depends on a seed and a name only.
#[derive(Debug)]
pub struct Source {
    random: Stream,
    /// Bytes handed out and not hashed yet.
    unhashed: VecDeque<Bytes>,
    made: u64,
    hashed: u64,
    hash: Sha256,
}

impl Source {
    /// The stream of `name` in the run with `seed`.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Source {
        Source {
            random: Stream::new(seed, &format!("payload {name}")),
            unhashed: VecDeque::new(),
            made: 0,
            hashed: 0,
            hash: Sha256::new(),
        }
    }

    /// Bytes handed out so far.
    #[must_use]
    pub fn made(&self) -> u64 {
        self.made
    }

    /// The next bytes, at most `limit` of them.
    pub fn take(&mut self, limit: u64) -> Bytes {
        let mut chunk = vec![0; CHUNK.min(usize::try_from(limit).unwrap_or(CHUNK))];
        self.random.fill(&mut chunk);
        let chunk = Bytes::from(chunk);
        self.made += chunk.len() as u64;
        self.unhashed.push_back(chunk.clone());
        chunk
    }

    /// Hashes what was handed out up to `offset`, which then need not be kept.
    pub fn confirm(&mut self, offset: u64) {
        while self.hashed < offset
            && let Some(chunk) = self.unhashed.front_mut()
        {
            let length = chunk.len().min(usize::try_from(offset - self.hashed).unwrap_or(usize::MAX));
            self.hash.update(chunk.split_to(length));
            self.hashed += length as u64;
            if chunk.is_empty() {
                self.unhashed.pop_front();
            }
        }
    }

    /// The hash of the first `length` bytes; `None` if fewer were handed out or more
    /// were confirmed.
    #[must_use]
    pub fn finish(mut self, length: u64) -> Option<Hash> {
        self.confirm(length);
        (self.hashed == length).then(|| self.hash.finalize().into())
    }
}

/// Checks and counts what the receiving end reads.
#[derive(Debug, Default)]
pub struct Sink {
    received: u64,
    in_order: u64,
    /// What came before its turn, by offset.
    early: BTreeMap<u64, Bytes>,
    hash: Sha256,
}

impl Sink {
    /// Takes bytes at `offset`; every byte is to be handed in once, in any order.
    pub fn take(&mut self, offset: u64, bytes: Bytes) {
        self.received += bytes.len() as u64;
        if offset != self.in_order {
            self.early.insert(offset, bytes);
            return;
        }
        self.append(&bytes);
        while let Some(entry) = self.early.first_entry()
            && *entry.key() == self.in_order
        {
            let bytes = entry.remove();
            self.append(&bytes);
        }
    }

    fn append(&mut self, bytes: &Bytes) {
        self.hash.update(bytes);
        self.in_order += bytes.len() as u64;
    }

    /// Bytes received, in order or not.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Bytes received without a gap before them.
    #[must_use]
    pub fn in_order(&self) -> u64 {
        self.in_order
    }

    /// The hash of what was received without a gap before it.
    #[must_use]
    pub fn finish(self) -> Hash {
        self.hash.finalize().into()
    }
}

/// The hash of what `sink` received without a gap before it.
///
/// # Errors
/// The first so many bytes of `source` are others.
pub fn check(source: Source, sink: Sink) -> Result<Hash, String> {
    let length = sink.in_order();
    let received = sink.finish();
    if source.finish(length) != Some(received) {
        return Err(format!("the first {length} bytes received are not those sent"));
    }
    Ok(received)
}

#[cfg(test)]
mod tests;
