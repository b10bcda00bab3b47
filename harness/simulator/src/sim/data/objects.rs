//! The data of a media object sequence: a stream for each group, which group goes first, which is dropped.

use std::collections::{BTreeSet, VecDeque};

use windlass_controllers::Time;
use windlass_controllers::event::LossTrigger;

use super::InOrder;
use crate::application::Groups;
use crate::scenario::GroupOrder;

/// The streams of the groups. Their chunks are numbered in one sequence, in which each group begins with a chunk of its own.
#[derive(Clone, Debug)]
pub(super) struct Objects {
    groups: Groups,
    streams: Vec<GroupStream>,
    /// Groups that may have something to send.
    ready: BTreeSet<u64>,
    /// The first chunk that no group has.
    next_chunk: u64,
    /// When the application produces the next object; `None` before the first.
    pub next_write: Option<Time>,
    /// The group whose data arrived last, and how many of its chunks are there without a gap before them.
    pub arrived: Option<(u64, u64)>,
}

/// What a group's stream has sent and what it has to send.
#[derive(Clone, Debug)]
struct GroupStream {
    begin: u64,
    /// The first chunk after those that are written.
    end: u64,
    /// The first never sent.
    fresh: u64,
    /// Lost ones, as in [`Data`](super::Data).
    again: VecDeque<(u64, u16, LossTrigger)>,
    at_receiver: InOrder,
    acked: InOrder,
}

impl Objects {
    pub fn new(groups: Groups) -> Objects {
        let (streams, ready) = (Vec::new(), BTreeSet::new());
        Objects { groups, streams, ready, next_chunk: 0, next_write: None, arrived: None }
    }

    /// An object is produced at `now`, with which all have `total` bytes, in chunks of `chunk`. Returns the first chunk of
    /// its group if that begins with it.
    pub fn produced(&mut self, now: Time, total: u64, chunk: u64) -> Option<u64> {
        let group = self.groups.produced(now, total);
        let (begin, begins) = (self.next_chunk, group == self.streams.len() as u64);
        if begins {
            let [at_receiver, acked] = [0, 1].map(|_| InOrder { next: begin, ..InOrder::default() });
            self.streams.push(GroupStream {
                begin,
                end: begin,
                fresh: begin,
                again: VecDeque::new(),
                at_receiver,
                acked,
            });
        }
        if !self.groups.is_dropped(group) {
            let stream = &mut self.streams[group as usize];
            // An object does not wait for the next one to fill its last packet.
            stream.end = stream.begin + self.groups.bytes(group).div_ceil(chunk);
            self.next_chunk = stream.end;
            self.ready.insert(group);
        }
        begins.then_some(begin)
    }

    /// Drops the next group of which an object was not acknowledged in time, by chunks of `chunk` bytes.
    pub fn expire(&mut self, now: Time, chunk: u64) -> Option<u64> {
        let streams = &self.streams;
        let acknowledged = |group: u64| (streams[group as usize].acked.next - streams[group as usize].begin) * chunk;
        let group = self.groups.expired(now, acknowledged)?;
        let stream = &mut self.streams[group as usize];
        stream.again.clear();
        stream.end = stream.fresh;
        self.ready.remove(&group);
        Some(group)
    }

    /// When the next object is produced or has to be acknowledged.
    pub fn next(&self) -> Option<Time> {
        self.next_write.into_iter().chain(self.groups.next()).min()
    }

    fn of(&self, chunk: u64) -> usize {
        self.streams.partition_point(|stream| stream.begin <= chunk) - 1
    }

    /// The next chunk to send, and how often it was sent and by which rule lost if it was, of those that `is_missing`.
    pub fn peek(&mut self, is_missing: impl Fn(u64) -> bool) -> Option<(u64, Option<(u16, LossTrigger)>)> {
        loop {
            let group = match self.groups.order() {
                GroupOrder::Ascending => *self.ready.first()?,
                GroupOrder::Descending => *self.ready.last()?,
            };
            let stream = &mut self.streams[group as usize];
            while let Some(&(number, sent, by)) = stream.again.front() {
                if is_missing(number) {
                    return Some((number, Some((sent, by))));
                }
                stream.again.pop_front();
            }
            if stream.fresh < stream.end {
                return Some((stream.fresh, None));
            }
            self.ready.remove(&group);
        }
    }

    /// What `peek` returned is sent.
    pub fn take(&mut self, chunk: u64, again: bool) {
        let group = self.of(chunk);
        let stream = &mut self.streams[group];
        if again {
            stream.again.pop_front();
        } else {
            stream.fresh += 1;
        }
    }

    /// A chunk was lost, after so many transmissions, and is sent again unless its group is dropped.
    pub fn lost(&mut self, chunk: u64, transmissions: u16, by: LossTrigger) {
        let group = self.of(chunk);
        if !self.groups.is_dropped(group as u64) {
            self.streams[group].again.push_back((chunk, transmissions, by));
            self.ready.insert(group as u64);
        }
    }

    /// A chunk came to the receiver for the first time.
    pub fn arrived(&mut self, chunk: u64) {
        let group = self.of(chunk);
        let stream = &mut self.streams[group];
        stream.at_receiver.take(chunk);
        self.arrived = Some((group as u64, stream.at_receiver.next - stream.begin));
    }

    /// A packet with a chunk was acknowledged.
    pub fn acked(&mut self, chunk: u64) {
        let group = self.of(chunk);
        self.streams[group].acked.take(chunk);
    }

    /// Whether the group of a chunk is dropped.
    pub fn is_dropped(&self, chunk: u64) -> bool {
        self.groups.is_dropped(self.of(chunk) as u64)
    }
}
