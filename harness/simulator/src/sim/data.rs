//! The application's data: what to send next, what has arrived, when it is complete.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use windlass_controllers::event::LossTrigger;
use windlass_controllers::{Span, Time};

use super::recovery::Sent;
use crate::application::{Groups, Source};
use crate::scenario::Writes;
use objects::Objects;

mod objects;

/// The number of a chunk without data, which only provokes an ACK (a PING frame).
const PING: u64 = u64::MAX;

/// A piece of data as large as a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Chunk {
    pub number: u64,
    /// Size of the packet, headers included.
    pub bytes: u32,
    /// How often it will have been sent with this packet.
    pub transmissions: u16,
    /// The rule by which it was lost.
    pub lost_by: Option<LossTrigger>,
}

/// A transfer of a given size, or one without end; of an application that writes it now and again,
/// or at once. A packet leaves when it is full, or the last.
// In this order, so that what a packet needs lies together.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Data {
    chunk_bytes: u32,
    /// What a packet has besides its chunk, bytes.
    header: u32,
    total: Option<u64>,
    /// How many chunks there are.
    chunks: u64,
    /// How many of them are written.
    written: u64,
    /// The first chunk never sent.
    fresh: u64,
    acked: u64,
    /// Bytes that arrived, each counted once.
    pub arrived_bytes: u64,
    /// Lost chunks to send again, with how often they were sent and the rule by which they
    /// were lost.
    again: VecDeque<(u64, u16, LossTrigger)>,
    /// Chunks sent more than once, or about to be, and not yet acknowledged: whether
    /// they have arrived.
    repeats: BTreeMap<u64, bool>,
    /// The application that goes on writing; `None` if everything is written.
    source: Option<Box<Source>>,
    /// What the receiver has without a gap before it, where that is asked for.
    in_order: Option<Box<InOrder>>,
    /// The groups of a media object sequence, each with a stream of its own.
    objects: Option<Box<Objects>>,
}

/// Chunks at the receiver.
#[derive(Clone, Debug, Default)]
struct InOrder {
    /// The first that is missing.
    next: u64,
    /// Those that came before their turn.
    early: BTreeSet<u64>,
}

impl InOrder {
    fn take(&mut self, chunk: u64) {
        if chunk >= self.next {
            self.early.insert(chunk);
        }
        while self.early.remove(&self.next) {
            self.next += 1;
        }
    }
}

impl Data {
    pub fn new(packet_bytes: u32, header: u32, total: Option<u64>, writes: Option<Writes>) -> Data {
        let chunk_bytes = packet_bytes - header;
        let chunks = total.map_or(u64::MAX, |total| total.div_ceil(u64::from(chunk_bytes)));
        let objects = Groups::new(writes).map(|groups| Box::new(Objects::new(groups)));
        Data {
            chunk_bytes,
            header,
            total,
            chunks,
            written: if writes.is_some() { 0 } else { chunks },
            source: writes.map(|writes| Box::new(Source::new(writes))),
            fresh: 0,
            again: VecDeque::new(),
            repeats: BTreeMap::new(),
            in_order: writes.and_then(|writes| writes.frames).filter(|_| objects.is_none()).map(|_| Box::default()),
            objects,
            acked: 0,
            arrived_bytes: 0,
        }
    }

    /// Data of which there is nothing yet, for answers to requests.
    pub fn answers(packet_bytes: u32, header: u32) -> Data {
        Data { written: 0, in_order: Some(Box::default()), ..Data::new(packet_bytes, header, None, None) }
    }

    /// Adds the answer to a request, so many bytes, in packets of its own. Returns where it begins and ends, bytes.
    pub fn answer(&mut self, bytes: u64) -> (u64, u64) {
        let chunk = u64::from(self.chunk_bytes);
        let begin = self.written * chunk;
        self.written += bytes.div_ceil(chunk);
        (begin, self.written * chunk)
    }

    /// The application writes, if there is anything left to write, while the send rate is estimated at `estimate` bit/s.
    /// Returns how many bytes it has written in all.
    pub fn write(&mut self, estimate: impl FnOnce() -> Option<u64>) -> Option<u64> {
        let source = self.source.as_mut()?;
        let written = source.write(if source.follows() { estimate() } else { None });
        if let Some(total) = self.total.filter(|total| written >= *total) {
            self.written = self.chunks;
            self.source = None;
            return Some(total);
        }
        let chunk = u64::from(self.chunk_bytes);
        // A frame does not wait for the next one to fill its last packet.
        self.written = if self.in_order.is_some() { written.div_ceil(chunk) } else { written / chunk };
        Some(written)
    }

    /// How long after a write the next one comes; `None` if everything is written.
    pub fn next_write(&self) -> Option<Span> {
        self.source.as_ref().map(|source| source.pause())
    }

    /// Whether the application's data are a media object sequence.
    pub fn has_objects(&self) -> bool {
        self.objects.is_some()
    }

    /// The application of a media object sequence produces an object, if the next one is due at `now`, while the send rate is
    /// estimated at `estimate` bit/s. Returns how many bytes it has produced in all, and where the object's group begins in the
    /// data if that is its first.
    pub fn produce(&mut self, now: Time, estimate: impl FnOnce() -> Option<u64>) -> Option<(u64, Option<u64>)> {
        let chunk = u64::from(self.chunk_bytes);
        let (source, objects) = (self.source.as_mut()?, self.objects.as_mut()?);
        if objects.next_write.is_some_and(|at| at > now) {
            return None;
        }
        let total = source.write(if source.follows() { estimate() } else { None });
        objects.next_write = Some(now + source.pause());
        let begin = objects.produced(now, total, chunk);
        Some((total, begin.map(|begin| begin * chunk)))
    }

    /// Drops the next group of which an object should have been acknowledged by `now`.
    pub fn expire(&mut self, now: Time) -> Option<u64> {
        self.objects.as_mut()?.expire(now, u64::from(self.chunk_bytes))
    }

    /// When the next object is produced, or a group is dropped unless it is acknowledged.
    pub fn next_of_objects(&self) -> Option<Time> {
        self.objects.as_ref()?.next()
    }

    /// The group of objects of which data arrived last, and how many of its bytes the receiver has without a gap before them;
    /// `None` if that was asked for already.
    pub fn in_order_of_group(&mut self) -> Option<(u64, u64)> {
        let (group, chunks) = self.objects.as_mut()?.arrived.take()?;
        Some((group, chunks * u64::from(self.chunk_bytes)))
    }

    fn size(&self, chunk: u64) -> u32 {
        match self.total {
            Some(total) if chunk + 1 == self.chunks => {
                (total - chunk * u64::from(self.chunk_bytes)) as u32 + self.header
            }
            _ => self.chunk_bytes + self.header,
        }
    }

    /// How much of a packet is the application's, bytes.
    pub fn payload(&self, chunk: Chunk) -> u32 {
        chunk.bytes - self.header
    }

    /// Where a chunk lies in the application's data, bytes.
    pub fn offset(&self, chunk: Chunk) -> u64 {
        chunk.number.saturating_mul(u64::from(self.chunk_bytes))
    }

    /// What would be sent next: what was lost, then what is new. `None` if there is nothing.
    #[inline(always)]
    pub fn peek(&mut self) -> Option<Chunk> {
        if self.again.is_empty() && self.objects.is_none() { self.peek_new() } else { self.peek_again() }
    }

    #[inline(always)]
    fn peek_new(&self) -> Option<Chunk> {
        (self.fresh < self.written).then(|| Chunk {
            number: self.fresh,
            bytes: self.size(self.fresh),
            transmissions: 1,
            lost_by: None,
        })
    }

    #[cold]
    fn peek_again(&mut self) -> Option<Chunk> {
        if self.objects.is_some() {
            return self.peek_objects();
        }
        while let Some(&(number, sent, by)) = self.again.front() {
            if self.repeats.contains_key(&number) {
                let transmissions = sent.saturating_add(1);
                return Some(Chunk { number, bytes: self.size(number), transmissions, lost_by: Some(by) });
            }
            // It was acknowledged after all.
            self.again.pop_front();
        }
        self.peek_new()
    }

    fn peek_objects(&mut self) -> Option<Chunk> {
        let repeats = &self.repeats;
        let (number, lost) = self.objects.as_mut()?.peek(|chunk| repeats.contains_key(&chunk))?;
        let transmissions = lost.map_or(1, |(sent, _)| sent.saturating_add(1));
        Some(Chunk { number, bytes: self.size(number), transmissions, lost_by: lost.map(|(_, by)| by) })
    }

    /// The chunk `peek` returned is sent.
    #[inline]
    pub fn take(&mut self, chunk: Chunk) {
        if let Some(objects) = &mut self.objects {
            return objects.take(chunk.number, chunk.transmissions > 1);
        }
        if chunk.transmissions > 1 {
            self.again.pop_front();
        } else {
            self.fresh += 1;
        }
    }

    /// The data of `packet`, which is still in flight, is sent once more to provoke an ACK.
    pub fn duplicate(&mut self, packet: &mut Sent) -> Chunk {
        if self.objects.as_ref().is_some_and(|objects| packet.chunk == PING || objects.is_dropped(packet.chunk)) {
            // Of a stream that was reset nothing is repeated (`RFC 9000 §3.1`).
            return Chunk { number: PING, bytes: self.header + 1, transmissions: 1, lost_by: None };
        }
        self.repeats.entry(packet.chunk).or_insert(packet.arrived);
        packet.repeated = true;
        let transmissions = packet.transmissions.saturating_add(1);
        Chunk { number: packet.chunk, bytes: packet.bytes.into(), transmissions, lost_by: None }
    }

    /// A packet arrived at the receiver. Returns the bytes that are new there.
    #[inline]
    pub fn arrived(&mut self, packet: &mut Sent, lost: bool) -> u64 {
        if packet.arrived || packet.chunk == PING {
            return 0;
        }
        packet.arrived = true;
        if packet.repeated || lost {
            match self.repeats.get_mut(&packet.chunk) {
                Some(arrived) if !*arrived => *arrived = true,
                _ => return 0,
            }
        }
        let bytes = u64::from(u32::from(packet.bytes) - self.header);
        self.arrived_bytes += bytes;
        if let Some(in_order) = &mut self.in_order {
            in_order.take(packet.chunk);
        }
        if let Some(objects) = &mut self.objects {
            objects.arrived(packet.chunk);
        }
        bytes
    }

    /// Bytes the receiver has without a gap before them, where frames are told apart.
    pub fn in_order(&self) -> Option<u64> {
        self.in_order.as_ref().map(|in_order| in_order.next * u64::from(self.chunk_bytes))
    }

    /// A packet was acknowledged; `late` if it had been declared lost.
    #[inline]
    pub fn acked(&mut self, packet: &Sent, late: bool) {
        if !(packet.repeated || late) || self.repeats.remove(&packet.chunk).is_some() {
            self.acked += 1;
        }
        if let Some(objects) = self.objects.as_mut().filter(|_| packet.chunk != PING) {
            objects.acked(packet.chunk);
        }
    }

    /// A packet was declared lost: its data goes out again, unless another packet with it
    /// was acknowledged.
    pub fn lost(&mut self, packet: &Sent, by: LossTrigger) {
        if packet.chunk == PING {
            return;
        }
        if !packet.repeated {
            self.repeats.insert(packet.chunk, packet.arrived);
        } else if !self.repeats.contains_key(&packet.chunk) {
            return;
        }
        match &mut self.objects {
            Some(objects) => objects.lost(packet.chunk, packet.transmissions, by),
            None => self.again.push_back((packet.chunk, packet.transmissions, by)),
        }
    }

    /// The same, and its data is the next to go out.
    pub fn lost_first(&mut self, packet: &Sent) {
        self.lost(packet, LossTrigger::PacketThreshold);
        if self.again.back().is_some_and(|(chunk, ..)| *chunk == packet.chunk) {
            self.again.rotate_right(1);
        }
    }

    /// Everything from `edge` on that was sent goes out again, in order (`spec: chan §8.4`);
    /// `sent` are all packets with chunks from there on.
    pub fn go_back<'a>(&mut self, edge: u64, sent: impl Iterator<Item = &'a Sent>) {
        let mut transmissions: BTreeMap<u64, u16> = BTreeMap::new();
        for packet in sent.filter(|packet| packet.chunk >= edge) {
            let most = transmissions.entry(packet.chunk).or_default();
            *most = (*most).max(packet.transmissions);
        }
        self.again.clear();
        for (chunk, transmissions) in transmissions {
            if self.repeats.contains_key(&chunk) {
                self.again.push_back((chunk, transmissions, LossTrigger::TimeThreshold));
            }
        }
    }

    /// The first chunk never sent.
    pub fn fresh(&self) -> u64 {
        self.fresh
    }

    /// True once all data is acknowledged.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.acked == self.chunks
    }
}

#[cfg(test)]
mod tests;
