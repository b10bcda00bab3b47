//! Flow queueing with controlled delay (`RFC 8290`): a queue for each flow, served by deficit round robin with new
//! flows first, and CoDel in each.

use std::collections::VecDeque;

use windlass_controllers::Span;

use super::codel::{CoDel, CoDelSpec};
use super::discipline::{Held, Scheduler};
use super::out_of_range::{OutOfRange, check};
use super::packet::Packet;

/// Settings of an FQ-CoDel queue (`RFC 8290 §5.2`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FqCoDelSpec {
    /// Of the CoDel in each queue.
    pub codel: CoDelSpec,
    /// Bytes that a queue may send in its turn (`RFC 8290 §5.2.4`).
    pub quantum: u32,
    /// Queues that flows are hashed into (`RFC 8290 §5.2.5`).
    pub queues: u32,
}

impl FqCoDelSpec {
    /// 1024 queues, a quantum of one packet, CoDel as [`CoDelSpec::new`] has it.
    #[must_use]
    pub const fn new(mtu: u32) -> FqCoDelSpec {
        FqCoDelSpec { codel: CoDelSpec::new(mtu), quantum: mtu, queues: 1024 }
    }

    /// Without CoDel, which never finds a packet that waited so long.
    pub(super) const fn plain(quantum: u32, queues: u32) -> FqCoDelSpec {
        let codel = CoDelSpec { target: Span(u64::MAX), ..CoDelSpec::new(quantum) };
        FqCoDelSpec { codel, quantum, queues }
    }

    pub(super) fn check(&self) -> Result<(), OutOfRange> {
        self.codel.check()?;
        check(self.quantum > 0, "quantum of FQ-CoDel", 0.0, "1 byte or more")?;
        check(self.queues > 0, "queues of FQ-CoDel", 0.0, "1 or more")
    }
}

/// What overflows is taken from the head of the longest queue, half of it but no more packets than this at once
/// (`RFC 8290 §4.1`).
const BATCH: u64 = 64;

/// One flow's queue, or that of several whose hashes are equal.
struct SubQueue {
    codel: CoDel,
    /// Bytes it may still send in this turn.
    credits: i64,
    /// Whether it is in one of the two lists.
    listed: bool,
}

/// An FQ-CoDel queue at work.
pub(super) struct FqCoDel {
    spec: FqCoDelSpec,
    /// Whether flows that begin to send come first.
    new_first: bool,
    queues: Vec<SubQueue>,
    /// Queues whose flows began to send.
    new: VecDeque<usize>,
    /// The others that are served.
    old: VecDeque<usize>,
    packets: u64,
    bytes: u64,
}

impl FqCoDel {
    pub fn new(spec: FqCoDelSpec) -> FqCoDel {
        let queue = |_| SubQueue { codel: CoDel::new(spec.codel), credits: 0, listed: false };
        FqCoDel {
            spec,
            new_first: true,
            queues: (0..spec.queues).map(queue).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
        }
    }

    /// Deficit round robin alone (Shreedhar and Varghese, SIGCOMM 1995), every flow in its turn.
    pub fn plain(quantum: u32, queues: u32) -> FqCoDel {
        FqCoDel { new_first: false, ..FqCoDel::new(FqCoDelSpec::plain(quantum, queues)) }
    }

    /// The queue of a packet's flow: of SplitMix64's finalizer, so that flows spread evenly.
    fn queue_of(&self, packet: &Packet) -> usize {
        let mut hash = u64::from(packet.flow).wrapping_add(0x9e37_79b9_7f4a_7c15);
        hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((hash ^ (hash >> 31)) % self.queues.len() as u64) as usize
    }

    /// Drops from the head of the queue that has most bytes (`RFC 8290 §4.1`), until `needed` bytes have left.
    fn drop_from_longest(&mut self, needed: u64, dropped: &mut VecDeque<Held>) {
        let most = self.bytes.saturating_sub(needed);
        while self.bytes > most {
            // The first of equally long ones.
            let longest = self.queues.iter_mut().rev().max_by_key(|queue| queue.codel.bytes());
            let Some(SubQueue { codel, .. }) = longest else { return };
            for _ in 0..codel.packets().div_ceil(2).min(BATCH) {
                let Some(held) = codel.drop_head() else { return };
                self.packets -= 1;
                self.bytes -= u64::from(held.packet.bytes);
                dropped.push_back(held);
            }
        }
    }
}

impl Scheduler for FqCoDel {
    fn enqueue(&mut self, held: Held, fits: bool, dropped: &mut VecDeque<Held>) {
        let index = self.queue_of(&held.packet);
        let bytes = u64::from(held.packet.bytes);
        let queue = &mut self.queues[index];
        queue.codel.enqueue(held, true, dropped);
        (self.packets, self.bytes) = (self.packets + 1, self.bytes + bytes);
        if !queue.listed {
            (queue.listed, queue.credits) = (true, i64::from(self.spec.quantum));
            if self.new_first { self.new.push_back(index) } else { self.old.push_back(index) }
        }
        if !fits {
            self.drop_from_longest(bytes, dropped);
        }
    }

    /// `RFC 8290 §4.2`.
    fn dequeue(&mut self, now: u64, dropped: &mut VecDeque<Held>) -> Option<Held> {
        loop {
            let is_new = !self.new.is_empty();
            let index = *self.new.front().or(self.old.front())?;
            let queue = &mut self.queues[index];
            if queue.credits <= 0 {
                queue.credits += i64::from(self.spec.quantum);
                if is_new {
                    self.new.pop_front()
                } else {
                    self.old.pop_front()
                };
                self.old.push_back(index);
                continue;
            }
            let before = dropped.len();
            let next = queue.codel.dequeue(now, dropped);
            for held in dropped.range(before..) {
                self.packets -= 1;
                self.bytes -= u64::from(held.packet.bytes);
            }
            let Some(held) = next else {
                // A new one that is empty waits its turn with the old ones, or it would be new again at once.
                if is_new {
                    self.new.pop_front();
                    self.old.push_back(index);
                } else {
                    self.old.pop_front();
                    queue.listed = false;
                }
                continue;
            };
            queue.credits -= i64::from(held.packet.bytes);
            self.packets -= 1;
            self.bytes -= u64::from(held.packet.bytes);
            return Some(held);
        }
    }

    fn packets(&self) -> u64 {
        self.packets
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn each(&mut self, visit: &mut dyn FnMut(&mut Held)) {
        self.queues.iter_mut().for_each(|queue| queue.codel.each(visit));
    }

    fn waited(&self, now: u64) -> u128 {
        self.queues.iter().map(|queue| queue.codel.waited(now)).sum()
    }
}

#[cfg(test)]
mod tests;
