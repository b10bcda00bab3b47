//! Application bytes a transfer can be checked by: random but repeatable on one end,
//! compared with those on the other.

mod source;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bytes::Bytes;
use sha2::{Digest, Sha256};
use windlass_controllers::{Span, Time};
use windlass_simulator::application::{self, Groups};
use windlass_simulator::measure::Meter;
pub use windlass_simulator::measure::{Hash, hex};
use windlass_simulator::scenario::{FlowSpec, REQUEST_BYTES, Writes};

pub use source::Source;

/// An application that writes at a pace of its own.
#[derive(Debug)]
pub struct Writer {
    /// `None` if there is always more than fits.
    source: Option<application::Source>,
    began: Option<Instant>,
    /// The groups, if it writes a media object sequence.
    pub groups: Option<Groups>,
    /// When it last wrote, and the time of the run then.
    wrote: Option<(Instant, Time)>,
}

impl Writer {
    /// One that `writes`; `None` if it has always more than fits.
    #[must_use]
    pub fn new(writes: Option<Writes>) -> Writer {
        Writer { source: writes.map(application::Source::new), began: None, groups: Groups::new(writes), wrote: None }
    }

    /// Writes what is due at `now`, which is `time` of the run, into the numbers of `meter`; the first call begins. Returns
    /// how many bytes there are beyond the `made` ones.
    pub fn write(&mut self, now: Instant, made: u64, time: Time, meter: &mut Meter) -> u64 {
        let Some(source) = &mut self.source else { return u64::MAX };
        self.wrote = Some((now, time));
        let began = *self.began.get_or_insert(now);
        if !source.has_frames() {
            let since = u64::try_from(now.saturating_duration_since(began).as_nanos()).unwrap_or(u64::MAX);
            source.write_until(Span(since));
            return source.total().saturating_sub(made);
        }
        loop {
            let at = began + Duration::from_nanos(source.next().0);
            if at > now {
                return source.total().saturating_sub(made);
            }
            let bytes = source.write(meter.send_rate().map(|rate| rate.bits_per_s));
            let age = u64::try_from((now - at).as_nanos()).unwrap_or(u64::MAX);
            let at = Time(time.0.saturating_sub(age));
            meter.wrote(at, bytes);
            if let Some(groups) = &mut self.groups {
                groups.produced(at, bytes);
            }
        }
    }

    /// When it writes next, or a group of objects is dropped unless it is acknowledged; `None` before the first write and where there
    /// is always more than fits.
    #[must_use]
    pub fn next(&self) -> Option<Instant> {
        let write = self.began? + Duration::from_nanos(self.source.as_ref()?.next().0);
        let timeout = self.groups.as_ref().and_then(Groups::next).zip(self.wrote);
        let timeout = timeout.map(|(at, (wrote, time))| wrote + Duration::from_nanos(at.since(time).0));
        Some(timeout.map_or(write, |timeout| timeout.min(write)))
    }
}

/// The request of stream `number` of a flow that answers requests.
#[must_use]
pub fn request(number: u32) -> Bytes {
    let width = REQUEST_BYTES as usize - "GET /\r\n".len();
    Bytes::from(format!("GET /{number:0width$}\r\n"))
}

/// One stream's data: what its sender has made and its receiver read.
#[derive(Debug)]
pub struct Transfer {
    source: Source,
    sink: Sink,
    /// Made and not yet taken by the stream.
    pub unwritten: Bytes,
    /// Bytes not made yet.
    left: u64,
}

impl Transfer {
    /// The transfers of `spec` in the run with `seed`: one for each request, or one; none of a video before its client asks, and of a media
    /// object sequence before its groups begin.
    #[must_use]
    pub fn of(seed: u64, spec: &FlowSpec) -> Vec<Transfer> {
        if spec.video.is_some() || spec.objects().is_some() {
            return Vec::new();
        }
        let count = u64::from(spec.requests.unwrap_or(1));
        let part = |number: u64| match spec.transfer_bytes {
            Some(bytes) => bytes / count + u64::from(number < bytes % count),
            None => u64::MAX,
        };
        (0..count).map(|number| Transfer::new(seed, &spec.name, number, part(number))).collect()
    }

    /// Transfer `number` of the flow `name` in the run with `seed`, of so many bytes.
    #[must_use]
    pub fn new(seed: u64, name: &str, number: u64, bytes: u64) -> Transfer {
        let source = match number {
            0 => Source::new(seed, name),
            _ => Source::new(seed, &format!("{name} {number}")),
        };
        Transfer { source, sink: Sink::default(), unwritten: Bytes::new(), left: bytes }
    }

    /// Bytes made.
    #[must_use]
    pub fn made(&self) -> u64 {
        self.source.made()
    }

    /// Bytes made that the stream has taken.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.source.made() - self.unwritten.len() as u64
    }

    /// Whether everything is made.
    #[must_use]
    pub fn is_made(&self) -> bool {
        self.left == 0
    }

    /// Whether everything is made and the stream has taken it.
    #[must_use]
    pub fn is_written(&self) -> bool {
        self.left == 0 && self.unwritten.is_empty()
    }

    /// Makes the next bytes, at most `most`, where the stream has taken those before.
    pub fn make(&mut self, most: u64) {
        if self.unwritten.is_empty() {
            self.unwritten = self.source.take(self.left.min(most));
            self.left -= self.unwritten.len() as u64;
        }
    }

    /// Takes what the receiver read at `offset`.
    pub fn receive(&mut self, offset: u64, bytes: &[u8]) {
        self.sink.take(&mut self.source, offset, bytes);
    }

    /// Bytes received without a gap before them.
    #[must_use]
    pub fn in_order(&self) -> u64 {
        self.sink.in_order()
    }

    /// Bytes made by all of `transfers`.
    #[must_use]
    pub fn made_by(transfers: &[Transfer]) -> u64 {
        transfers.iter().map(Transfer::made).sum()
    }

    /// Bytes that `transfers`, of which each follows the one before, received without a gap before them.
    #[must_use]
    pub fn in_order_of(transfers: &[Transfer]) -> u64 {
        transfers.iter().map(Transfer::in_order).sum()
    }

    /// Bytes received by all of `transfers`.
    #[must_use]
    pub fn received(transfers: &[Transfer]) -> u64 {
        transfers.iter().map(|transfer| transfer.sink.received()).sum()
    }

    /// The hash of what arrived without a gap before it; of several transfers, of their hashes.
    ///
    /// # Errors
    /// A byte that arrived is not the one sent there.
    pub fn check(transfers: Vec<Transfer>) -> Result<Hash, String> {
        let hashes: Result<Vec<Hash>, String> =
            transfers.into_iter().map(|mut transfer| transfer.sink.check(&mut transfer.source)).collect();
        match hashes?.as_slice() {
            [hash] => Ok(*hash),
            hashes => Ok(Sha256::digest(hashes.concat()).into()),
        }
    }
}

/// Compares what the receiving end reads with what was sent, and counts it.
#[derive(Debug, Default)]
pub struct Sink {
    received: u64,
    in_order: u64,
    /// Lengths of what came before its turn, by offset.
    early: BTreeMap<u64, u64>,
    /// Offset of the first byte found that was not the one sent.
    wrong: Option<u64>,
}

impl Sink {
    /// Takes bytes of `source` at `offset`; every byte is to be handed in once, in any order.
    pub fn take(&mut self, source: &mut Source, offset: u64, bytes: &[u8]) {
        let length = bytes.len() as u64;
        self.received += length;
        self.wrong = self.wrong.or_else(|| source.differs(offset, bytes));
        if offset != self.in_order {
            self.early.insert(offset, length);
            return;
        }
        self.in_order += length;
        while let Some(length) = self.early.remove(&self.in_order) {
            self.in_order += length;
        }
        source.confirm(self.in_order);
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

    /// The hash of what was received of `source` without a gap before it.
    ///
    /// # Errors
    /// A byte received, in order or not, is not the one sent there.
    pub fn check(&self, source: &mut Source) -> Result<Hash, String> {
        if let Some(at) = self.wrong {
            return Err(format!("byte {at} received of its stream is not the one sent there"));
        }
        let beyond = || format!("{} bytes were received, more than were sent", self.in_order);
        source.finish(self.in_order).ok_or_else(beyond)
    }
}

#[cfg(test)]
mod tests;
