//! The sending end's bytes. Runs of a process often send the same ones, since they depend on a seed and a name alone: the evaluation
//! sends each stream again for every controller. What several may send is made once, and hashed once.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use sha2::{Digest, Sha256};
use windlass_network::Stream;
use windlass_simulator::measure::Hash;

use crate::driver::sender_log::lock;

/// Bytes made at a time.
pub(super) const CHUNK: usize = 1 << 15;
/// Bytes kept for runs to come and for those under way; what is beyond is made by each run for itself.
const KEPT: usize = 1 << 27;
/// Bytes of a random number: a piece of others takes the last one for itself.
const WORD: usize = 4;
/// The most streams of which something is kept.
const STREAMS_KEPT: usize = 256;

/// Streams that runs share, the one begun last at the end.
static STREAMS: Mutex<Vec<Arc<Made>>> = Mutex::new(Vec::new());
/// Bytes that all of them keep.
static MADE: AtomicUsize = AtomicUsize::new(0);

/// The beginning of a stream, in whole chunks.
#[derive(Debug)]
struct Made {
    seed: u64,
    name: String,
    chunks: Mutex<Chunks>,
    /// The state of the hash before each chunk, as far as it was asked for.
    hashes: Mutex<Vec<Sha256>>,
}

#[derive(Debug)]
struct Chunks {
    random: Stream,
    made: Vec<Bytes>,
}

impl Made {
    /// The beginning of the stream of `name` in runs with `seed`; `None` where there are too many others.
    fn of(seed: u64, name: &str) -> Option<Arc<Made>> {
        let mut streams = lock(&STREAMS);
        let known = streams.iter().position(|made| made.seed == seed && made.name == name);
        let made = match known {
            Some(place) => streams.remove(place),
            None if streams.len() == STREAMS_KEPT && !forget(&mut streams) => return None,
            None => Arc::new(Made {
                seed,
                name: name.to_owned(),
                chunks: Mutex::new(Chunks { random: random(seed, name), made: Vec::new() }),
                hashes: Mutex::new(vec![Sha256::new()]),
            }),
        };
        streams.push(Arc::clone(&made));
        Some(made)
    }

    /// Chunk `number`, which is no later than the next to be made; `None` where there is no room for it.
    fn chunk(&self, number: usize) -> Option<Bytes> {
        if let Some(chunk) = lock(&self.chunks).made.get(number) {
            return Some(chunk.clone());
        }
        while MADE.load(Ordering::Relaxed) + CHUNK > KEPT {
            if !forget(&mut lock(&STREAMS)) {
                return None;
            }
        }
        let mut chunks = lock(&self.chunks);
        if number == chunks.made.len() {
            let mut chunk = vec![0; CHUNK];
            chunks.random.fill(&mut chunk);
            chunks.made.push(chunk.into());
            MADE.fetch_add(CHUNK, Ordering::Relaxed);
        }
        chunks.made.get(number).cloned()
    }

    /// `bytes` from `offset` on, at most a chunk; `None` where there is no room for them.
    fn piece(&self, offset: u64, bytes: usize) -> Option<Bytes> {
        let (number, from) = place(offset);
        let chunk = self.chunk(number)?;
        if from + bytes <= CHUNK {
            return Some(chunk.slice(from..from + bytes));
        }
        let rest = self.chunk(number + 1)?;
        Some([&chunk[from..], &rest[..from + bytes - CHUNK]].concat().into())
    }

    /// The state of the hash before `offset`, up to which chunks were made.
    fn hash(&self, offset: u64) -> Sha256 {
        let (number, from) = place(offset);
        let mut hashes = lock(&self.hashes);
        while hashes.len() <= number {
            let before = lock(&self.chunks).made.get(hashes.len() - 1).cloned().unwrap_or_default();
            let next = hashes.last().cloned().unwrap_or_default().chain_update(before);
            hashes.push(next);
        }
        let before = hashes[number].clone();
        drop(hashes);
        match lock(&self.chunks).made.get(number) {
            Some(chunk) => before.chain_update(&chunk[..from]),
            None => before,
        }
    }
}

/// The chunk that `offset` is in, and where in it.
fn place(offset: u64) -> (usize, usize) {
    let chunk = CHUNK as u64;
    ((offset / chunk) as usize, (offset % chunk) as usize)
}

impl Drop for Made {
    fn drop(&mut self) {
        MADE.fetch_sub(CHUNK * lock(&self.chunks).made.len(), Ordering::Relaxed);
    }
}

/// Forgets the oldest stream that no run sends any more; false if there is none.
fn forget(streams: &mut Vec<Arc<Made>>) -> bool {
    let oldest = streams.iter().position(|made| Arc::strong_count(made) == 1);
    oldest.map(|oldest| streams.remove(oldest)).is_some()
}

fn random(seed: u64, name: &str) -> Stream {
    Stream::new(seed, &format!("payload {name}"))
}

/// The sending end: an endless stream of bytes that depends on a seed and a name only.
#[derive(Debug)]
pub struct Source {
    seed: u64,
    name: String,
    /// Its beginning, once a chunk of it was taken.
    made: Option<Arc<Made>>,
    /// Bytes taken of that.
    shared: u64,
    /// What goes on, once there was no room, or a piece left part of a random number over.
    own: Option<Own>,
    /// What was handed out and not confirmed, by offset.
    handed: VecDeque<(u64, Bytes)>,
    length: u64,
}

/// Bytes of one run alone.
#[derive(Debug)]
struct Own {
    random: Stream,
    /// Of what comes before the first piece that is handed out and not confirmed.
    hash: Sha256,
}

impl Source {
    /// The stream of `name` in the run with `seed`.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Source {
        Source { seed, name: name.to_owned(), made: None, shared: 0, own: None, handed: VecDeque::new(), length: 0 }
    }

    /// Bytes handed out so far.
    #[must_use]
    pub fn made(&self) -> u64 {
        self.length
    }

    /// The next bytes, at most `limit` of them.
    pub fn take(&mut self, limit: u64) -> Bytes {
        let bytes = CHUNK.min(usize::try_from(limit).unwrap_or(CHUNK));
        let piece = self.shared(bytes).unwrap_or_else(|| self.unshared(bytes));
        self.handed.push_back((self.length, piece.clone()));
        self.length += piece.len() as u64;
        piece
    }

    /// The next bytes, as they were made or are made for all runs.
    fn shared(&mut self, bytes: usize) -> Option<Bytes> {
        if self.own.is_some() || !bytes.is_multiple_of(WORD) {
            return None;
        }
        if self.made.is_none() {
            self.made = Made::of(self.seed, &self.name);
        }
        let piece = self.made.as_ref()?.piece(self.shared, bytes)?;
        self.shared += bytes as u64;
        Some(piece)
    }

    /// The next bytes, made for this run.
    fn unshared(&mut self, bytes: usize) -> Bytes {
        let mut own = self.own.take().unwrap_or_else(|| {
            let mut random = random(self.seed, &self.name);
            random.skip(self.length);
            Own { random, hash: self.hash_before(self.length) }
        });
        let mut piece = vec![0; bytes];
        own.random.fill(&mut piece);
        self.own = Some(own);
        piece.into()
    }

    /// The state of the hash before an offset in what is shared, or after all of it.
    fn hash_before(&self, offset: u64) -> Sha256 {
        self.made.as_ref().map_or_else(Sha256::new, |made| made.hash(offset))
    }

    /// Where `bytes`, which are said to be those from `offset` on, first differ from what was handed out and not confirmed.
    #[must_use]
    pub fn differs(&self, offset: u64, bytes: &[u8]) -> Option<u64> {
        let (mut at, mut left) = (offset, bytes);
        let first = self.handed.partition_point(|(begin, piece)| begin + piece.len() as u64 <= offset);
        for (begin, piece) in self.handed.range(first..) {
            if left.is_empty() {
                return None;
            }
            let Some(sent) = at.checked_sub(*begin).and_then(|skip| piece.get(skip as usize..)) else { break };
            let (here, rest) = left.split_at(sent.len().min(left.len()));
            if here != &sent[..here.len()] {
                return Some(at + here.iter().zip(sent).take_while(|(here, sent)| here == sent).count() as u64);
            }
            (at, left) = (at + here.len() as u64, rest);
        }
        (!left.is_empty()).then_some(at)
    }

    /// What was handed out up to `offset` need not be kept any more.
    pub fn confirm(&mut self, offset: u64) {
        while let Some((begin, piece)) = self.handed.front()
            && begin + piece.len() as u64 <= offset
        {
            if let Some(own) = self.own.as_mut().filter(|_| *begin >= self.shared) {
                own.hash.update(piece);
            }
            self.handed.pop_front();
        }
    }

    /// The hash of the first `length` bytes; `None` if fewer were handed out or more were confirmed.
    #[must_use]
    pub fn finish(&mut self, length: u64) -> Option<Hash> {
        self.confirm(length);
        let (begin, piece) = match self.handed.front() {
            Some((begin, piece)) => (*begin, &piece[..]),
            None => (self.length, &[][..]),
        };
        let rest = piece.get(..usize::try_from(length.checked_sub(begin)?).ok()?)?;
        let before = match &self.own {
            Some(own) if begin >= self.shared => own.hash.clone(),
            _ => self.hash_before(begin),
        };
        Some(before.chain_update(rest).finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first bytes of a stream, made at once.
    fn plain(seed: u64, name: &str, bytes: usize) -> Vec<u8> {
        let mut all = vec![0; bytes];
        random(seed, name).fill(&mut all);
        all
    }

    fn hash(bytes: &[u8]) -> Option<Hash> {
        Some(Sha256::digest(bytes).into())
    }

    #[test]
    fn bytes_and_hash_are_those_of_the_stream_whoever_made_them_first() {
        let all = plain(7, "long", 5 * CHUNK + 12);
        // Whole chunks, a shorter one, and what follows it; each run goes further than the one before.
        for (whole, short) in [(1, 8), (2, 0), (4, 8), (3, 4), (4, CHUNK - 4)] {
            let mut source = Source::new(7, "long");
            let mut taken = Vec::new();
            for limit in (0..whole).map(|_| u64::MAX).chain([short as u64, 12]) {
                taken.extend_from_slice(&source.take(limit));
                source.confirm(taken.len() as u64 / 2);
            }
            assert_eq!(taken, all[..whole * CHUNK + short + 12], "{whole} {short}");
            let length = taken.len() - 5;
            assert_eq!(source.finish(length as u64), hash(&all[..length]), "{whole} {short}");
        }
    }

    #[test]
    fn the_hash_of_whole_chunks_ends_where_it_is_asked_to() {
        let all = plain(7, "ends", 3 * CHUNK);
        for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK] {
            let mut source = Source::new(7, "ends");
            (0..3).for_each(|_| drop(source.take(u64::MAX)));
            source.confirm(CHUNK.min(length) as u64);
            assert_eq!(source.finish(length as u64), hash(&all[..length]), "{length}");
        }
    }

    #[test]
    fn a_byte_that_differs_is_found() {
        let mut source = Source::new(7, "differs");
        let all = [source.take(u64::MAX), source.take(100), source.take(u64::MAX)].concat();
        source.confirm(CHUNK as u64 - 1);
        let (from, to) = (CHUNK - 50, CHUNK + 150);
        assert_eq!(source.differs(from as u64, &all[from..to]), None);
        assert_eq!(source.differs(from as u64, &[]), None);
        for changed in [from, CHUNK - 1, CHUNK, CHUNK + 99, CHUNK + 100, to - 1] {
            let mut bytes = all.clone();
            bytes[changed] ^= 1;
            assert_eq!(source.differs(from as u64, &bytes[from..to]), Some(changed as u64));
        }
        // Elsewhere than they were sent, and beyond what was sent.
        assert!(source.differs(from as u64 + 1, &all[from..to]).is_some());
        assert_eq!(source.differs(source.made() - 10, &all[all.len() - 10..]), None);
        assert!(source.differs(source.made() - 9, &all[all.len() - 10..]).is_some());
        assert_eq!(source.differs(source.made() + 5, &[0]), Some(source.made() + 5));
    }

    #[test]
    fn a_run_makes_what_there_is_no_room_for() {
        let all = plain(8, "alone", 3 * CHUNK);
        let mut source = Source::new(8, "alone");
        let first = source.take(u64::MAX);
        // As if there were no room for the second one.
        let rest = [source.unshared(CHUNK), source.unshared(CHUNK)];
        let offsets = [1, 2].map(|number| (number * CHUNK) as u64);
        source.handed.extend(offsets.into_iter().zip(rest.clone()));
        source.length = 3 * CHUNK as u64;
        assert_eq!([&first[..], &rest[0], &rest[1]].concat(), all);
        assert_eq!(source.finish(3 * CHUNK as u64), hash(&all));
    }

    #[test]
    fn streams_differ_by_name_and_seed() {
        let bytes = |seed, name| Source::new(seed, name).take(32);
        assert_eq!(bytes(1, "a"), bytes(1, "a"));
        assert_ne!(bytes(1, "a"), bytes(1, "b"));
        assert_ne!(bytes(1, "a"), bytes(2, "a"));
    }
}
