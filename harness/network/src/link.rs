//! One direction of a link at work.
//!
//! The whole life of a packet on a FIFO link is known when it arrives: when its
//! transmission starts, when it reaches the far end. So a packet is written down once,
//! in a ring, and only the head of the ring is an event. A [`Scheduler`] decides when a packet
//! leaves it, so that what waits there is not on the ring yet, and the end of each
//! transmission is an event too.

mod change;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use windlass_controllers::{Span, Time};

use super::burst_loss::Channel;
use super::discipline::{Action, Arrival, Gate, Held, Scheduler};
use super::packet::{Codepoint, Packet};
use super::queue::Discipline;
use super::random::Stream;
use super::stats::LinkStats;
use super::topology::{Limit, LinkSpec};
use crate::ring::Ring;

/// Transmission times are kept in 1/1024 ns, so that rounding never adds up to anything.
const FINE: u64 = 1024;

/// How many entries ahead of what is read from a ring the processor is to fetch it. It does not see by itself that lines
/// follow each other, where much else is read between two of them.
const FAR: u64 = 12;

/// A packet on a link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    /// The packet, with the marks it has.
    pub packet: Packet,
    /// Start of its transmission, ns.
    start: u64,
    /// Time at which it reaches the far end, ns.
    deliver: u64,
    /// Its position on its route.
    pub hop: u32,
    /// Whether it is lost on the way.
    pub lost: bool,
}

/// Fate of a packet that arrived at the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Queued {
    /// It is on the link.
    Accepted,
    /// The queue dropped it.
    Dropped,
    /// A queue that owns its packets has it, unless it is among those [`dropped`](Link::dropped).
    Held,
}

/// One direction of a link.
pub(super) struct Link {
    /// Fine time units per byte; 0 without a rate limit.
    fine_per_byte: f64,
    /// A size of packets, bytes, and their transmission time.
    timed: (u32, u64),
    rate: f64,
    /// Holds back what the link could send; `None` if nothing does.
    gate: Option<Box<dyn Gate>>,
    delay: u64,
    loss: f64,
    /// Loses in bursts; `None` if it does not.
    channel: Option<Box<Channel>>,
    jitter: u64,
    reorders: bool,
    /// What reaches the far end next is always the oldest packet on the ring.
    fifo: bool,
    limit: Limit,
    discipline: Discipline,
    /// What a queue that owns its packets dropped and is not reported yet.
    dropped: VecDeque<Held>,
    instrumented: bool,
    ci_marking: bool,
    drop_arrivals: VecDeque<u64>,
    random: Stream,
    /// When the last accepted packet's transmission ends, fine units.
    busy_until: u64,
    /// Time at which the last accepted packet reaches the far end, ns.
    last_deliver: u64,
    ring: Ring<Entry>,
    /// Number in `ring` of the first packet not known to have started.
    first_waiting: u64,
    /// Not after its start, ns; `u64::MAX` if there is none.
    next_start: u64,
    waiting_bytes: u64,
    /// Transmitted packets of a link that reorders, by arrival at the far end.
    flying: BinaryHeap<Reverse<Flying>>,
    flown: u64,
    /// The latest of them that reached the far end.
    landed: Entry,
    /// `forwarded_bytes` counts everything accepted; see [`stats`](Link::stats).
    totals: LinkStats,
    /// Sum of the waiting times of all accepted packets, ns.
    waited: u128,
    /// Since when `rate` holds; the capacity before is in `totals`.
    rate_since: u64,
}

impl Link {
    pub fn new(spec: &LinkSpec, seed: u64) -> Link {
        let reorders = spec.jitter.reorders && change::ever_jitters(spec);
        let discipline = spec.queue.discipline();
        let mut link = Link {
            fine_per_byte: 0.0,
            timed: (0, 0),
            rate: spec.rate,
            gate: spec.service.gate(spec.rate, seed, &spec.name),
            delay: spec.delay.0,
            loss: spec.loss,
            channel: spec.burst_loss.map(|burst| Box::new(Channel::new(burst, seed, &spec.name))),
            jitter: spec.jitter.max.0,
            reorders,
            fifo: !reorders && !matches!(discipline, Discipline::Scheduler(_)),
            limit: spec.limit,
            discipline,
            dropped: VecDeque::new(),
            instrumented: spec.instrumented,
            ci_marking: spec.ci_marking,
            drop_arrivals: spec.drop_arrivals.iter().copied().collect(),
            random: Stream::new(seed, &format!("link {}", spec.name)),
            busy_until: 0,
            last_deliver: 0,
            ring: Ring::new(),
            first_waiting: 0,
            next_start: u64::MAX,
            waiting_bytes: 0,
            flying: BinaryHeap::new(),
            flown: 0,
            landed: Entry::default(),
            totals: LinkStats::default(),
            waited: 0,
            rate_since: 0,
        };
        link.set_line_rate(spec.service.line_rate(spec.rate));
        link
    }

    fn set_line_rate(&mut self, rate: f64) {
        self.fine_per_byte = if rate.is_finite() { 8e9 * FINE as f64 / rate } else { 0.0 };
        self.timed = (0, 0);
    }

    /// Transmission time of `bytes`, in fine time units.
    #[inline]
    fn transmission(&self, bytes: u32) -> u64 {
        (f64::from(bytes) * self.fine_per_byte + 0.5) as u64
    }

    /// End of the transmission of `entry`, ns.
    fn departs(&self, entry: &Entry) -> u64 {
        entry.start.saturating_add(self.transmission(entry.packet.bytes).div_ceil(FINE))
    }

    /// Counts transmissions that started until `now`.
    #[inline]
    fn advance(&mut self, now: u64) {
        while self.next_start <= now {
            let Some(entry) = self.ring.get(self.first_waiting) else {
                self.next_start = u64::MAX;
                return;
            };
            self.next_start = entry.start;
            if entry.start <= now {
                self.waiting_bytes -= u64::from(entry.packet.bytes);
                self.first_waiting += 1;
                self.ring.prefetch(self.first_waiting + FAR);
            }
        }
    }

    /// Packets and bytes waiting at `now`.
    pub fn waiting(&mut self, now: Time) -> (u64, u64) {
        self.advance(now.0);
        let (packets, bytes) = self.scheduler().map_or((0, 0), |queue| (queue.packets(), queue.bytes()));
        (self.ring.next() - self.first_waiting + packets, self.waiting_bytes + bytes)
    }

    #[inline]
    fn scheduler(&self) -> Option<&dyn Scheduler> {
        match &self.discipline {
            Discipline::Scheduler(queue) => Some(&**queue),
            _ => None,
        }
    }

    /// Lets go of memory for many more packets than there are.
    pub fn fit(&mut self) {
        self.ring.fit();
    }

    /// Packets queued, in transmission or under way.
    pub fn holds(&self) -> usize {
        let held = self.scheduler().map_or(0, Scheduler::packets);
        self.ring.len() as usize + self.flying.len() + held as usize
    }

    /// Packets dropped or lost so far.
    pub fn gone(&self) -> u64 {
        self.totals.dropped() + self.totals.lost
    }

    /// A packet arrives. A dropped one keeps whatever marks it had.
    #[inline(always)]
    pub fn arrive(&mut self, now: Time, packet: &Packet, hop: u32) -> Queued {
        let now = now.0;
        let arrival = self.totals.arrived;
        self.totals.arrived += 1;
        self.advance(now);
        let waiting = self.ring.next() - self.first_waiting;
        if !self.drop_arrivals.is_empty() && self.drop_arrivals[0] == arrival {
            self.drop_arrivals.pop_front();
            self.totals.dropped_forced += 1;
            return Queued::Dropped;
        }
        let start_fine = match &mut self.gate {
            None => self.busy_until.max(now.saturating_mul(FINE)),
            Some(gate) => gated(&mut **gate, now, self.busy_until, packet.bytes),
        };
        let start = start_fine.div_ceil(FINE);
        let wait = start - now;
        let mut ecn = packet.ecn;
        match &mut self.discipline {
            Discipline::DropTail => {}
            Discipline::Admission(_) => {
                // A copy, so that a packet that is not managed need not be in memory.
                let packet = *packet;
                match self.admit(now, wait, waiting, &packet) {
                    Some(codepoint) => ecn = codepoint,
                    None => {
                        self.totals.dropped_early += 1;
                        return Queued::Dropped;
                    }
                }
            }
            Discipline::Scheduler(queue) => {
                if wait > 0 || queue.packets() > 0 {
                    let packet = *packet;
                    self.enqueue(now, &packet, hop);
                    return Queued::Held;
                }
            }
        }
        if wait > 0 && self.is_full(waiting, self.waiting_bytes, packet.bytes) {
            self.totals.dropped_full += 1;
            if self.ci_marking {
                self.mark_waiting();
            }
            return Queued::Dropped;
        }
        if wait > 0 {
            self.totals.max_waiting = self.totals.max_waiting.max(waiting + 1);
        }
        self.transmit(start_fine, wait, packet, hop).packet.ecn = ecn;
        Queued::Accepted
    }

    /// Puts a packet on the ring whose transmission starts at `start_fine`, after it has
    /// waited for `wait` ns.
    #[inline(always)]
    fn transmit(&mut self, start_fine: u64, wait: u64, packet: &Packet, hop: u32) -> &mut Entry {
        let start = start_fine.div_ceil(FINE);
        if let Some(gate) = &mut self.gate {
            gate.take(start, packet.bytes);
        }
        if self.timed.0 != packet.bytes {
            self.timed = (packet.bytes, self.transmission(packet.bytes));
        }
        let depart_fine = start_fine.saturating_add(self.timed.1);
        self.busy_until = depart_fine;
        self.next_start = self.next_start.min(start);
        // One that starts at once is taken out again when the queue is next looked at.
        self.waiting_bytes += u64::from(packet.bytes);
        let mut deliver = depart_fine.div_ceil(FINE).saturating_add(self.delay);
        if self.jitter > 0 {
            deliver = deliver.saturating_add((self.random.uniform() * (self.jitter + 1) as f64) as u64);
        }
        if !self.reorders {
            deliver = deliver.max(self.last_deliver);
            self.last_deliver = deliver;
        }
        self.waited += u128::from(wait);
        let noted = if self.instrumented { wait } else { 0 };
        let mut lost = self.random.chance(self.loss);
        if let Some(channel) = &mut self.channel {
            lost |= channel.loses();
        }
        self.totals.forwarded_bytes += u64::from(packet.bytes);
        let waited = packet.waited + Span(noted);
        let entry = self.ring.add();
        entry.packet = *packet;
        entry.packet.waited = waited;
        (entry.start, entry.deliver, entry.hop, entry.lost) = (start, deliver, hop, lost);
        entry
    }

    /// The packet that is taken `after` as many others.
    #[inline]
    pub fn upcoming(&self, after: u64) -> Option<&Entry> {
        self.ring.get(self.ring.first() + after)
    }

    /// The packet that came last and is still on the link.
    pub fn newest(&self) -> Option<&Entry> {
        self.ring.get(self.ring.next().checked_sub(1)?)
    }

    /// Carries a packet that another part of the network has transmitted, and counted.
    pub fn carry(&mut self, entry: &Entry) {
        self.next_start = self.next_start.min(entry.start);
        self.waiting_bytes += u64::from(entry.packet.bytes);
        self.ring.push(*entry);
    }

    /// Gives a packet to the queue that owns its packets.
    fn enqueue(&mut self, now: u64, packet: &Packet, hop: u32) {
        let (packets, bytes) = self.waiting(Time(now));
        let fits = !self.is_full(packets, bytes, packet.bytes);
        let Discipline::Scheduler(queue) = &mut self.discipline else { return };
        let dropped = self.dropped.len();
        queue.enqueue(Held { packet: *packet, hop, arrived: now, marked: false }, fits, &mut self.dropped);
        for held in self.dropped.range(dropped..) {
            self.totals.dropped_full += 1;
            self.waited += u128::from(now - held.arrived);
        }
        let (packets, _) = self.waiting(Time(now));
        self.totals.max_waiting = self.totals.max_waiting.max(packets);
        if !fits && self.ci_marking {
            self.mark_waiting();
        }
    }

    /// When the queue that owns its packets decides what to send next, ns; `u64::MAX` if nothing waits in it.
    #[inline]
    fn dequeues(&self) -> u64 {
        match &self.discipline {
            Discipline::Scheduler(queue) if queue.packets() > 0 => {
                let free = self.busy_until.div_ceil(FINE);
                self.gate.as_ref().map_or(free, |gate| gate.ready(free))
            }
            _ => u64::MAX,
        }
    }

    /// Sends what that queue decides on at `now`.
    fn dequeue(&mut self, now: u64) {
        let Discipline::Scheduler(queue) = &mut self.discipline else { return };
        let dropped = self.dropped.len();
        let next = queue.dequeue(now, &mut self.dropped);
        for held in self.dropped.range(dropped..) {
            self.totals.dropped_early += 1;
            self.waited += u128::from(now - held.arrived);
        }
        if let Some(held) = next {
            self.totals.marked += u64::from(held.marked);
            let (start_fine, wait) = match &mut self.gate {
                None => (self.busy_until, now - held.arrived),
                Some(gate) => {
                    let start_fine = gated(&mut **gate, held.arrived, self.busy_until, held.packet.bytes);
                    (start_fine, start_fine.div_ceil(FINE) - held.arrived)
                }
            };
            self.transmit(start_fine, wait, &held.packet, held.hop);
        }
    }

    /// A packet that a queue which owns its packets dropped, and its hop; each once.
    pub fn dropped(&mut self) -> Option<(u32, Packet)> {
        self.dropped.pop_front().map(|held| (held.hop, held.packet))
    }

    /// The codepoint with which active queue management lets a packet pass that will wait for
    /// `wait` ns; `None` if it drops it.
    fn admit(&mut self, now: u64, wait: u64, waiting: u64, packet: &Packet) -> Option<Codepoint> {
        let Discipline::Admission(admission) = &mut self.discipline else { return Some(packet.ecn) };
        let idle = now.saturating_sub(self.busy_until.div_ceil(FINE));
        let arrival = Arrival { now, wait, waiting, waiting_bytes: self.waiting_bytes, idle, rate: self.rate };
        match admission.admit(arrival, packet, &mut self.random) {
            Action::Drop => None,
            Action::Mark if packet.ecn.is_capable() && packet.ecn != Codepoint::Ce => {
                self.totals.marked += 1;
                Some(Codepoint::Ce)
            }
            Action::Pass | Action::Mark => Some(packet.ecn),
        }
    }

    /// Whether there is no room for `bytes` where so many packets and bytes wait.
    #[inline]
    fn is_full(&self, waiting: u64, waiting_bytes: u64, bytes: u32) -> bool {
        match self.limit {
            Limit::Unlimited => false,
            Limit::Packets(limit) => waiting >= limit,
            Limit::Bytes(limit) => waiting_bytes + u64::from(bytes) > limit,
        }
    }

    #[cold]
    fn mark_waiting(&mut self) {
        let marked = &mut self.totals.ci_marked;
        let mut mark = |packet: &mut Packet| {
            if packet.ci_capable && !packet.ci_marked {
                packet.ci_marked = true;
                *marked += 1;
            }
        };
        for number in self.first_waiting..self.ring.next() {
            if let Some(entry) = self.ring.get_mut(number) {
                mark(&mut entry.packet);
            }
        }
        if let Discipline::Scheduler(queue) = &mut self.discipline {
            queue.each(&mut |held| mark(&mut held.packet));
        }
    }

    /// When the next packet reaches the far end (or, on a link that reorders, ends its
    /// transmission), or when a scheduler has to decide; `u64::MAX` if there is none.
    #[inline]
    pub fn next(&self) -> u64 {
        if self.fifo { self.front() } else { self.next_otherwise() }
    }

    #[inline]
    fn front(&self) -> u64 {
        self.ring.front().map_or(u64::MAX, |entry| entry.deliver)
    }

    fn next_otherwise(&self) -> u64 {
        self.on_ring().min(self.dequeues())
    }

    /// Whether there is one packet on the link.
    #[inline]
    pub fn has_one(&self) -> bool {
        self.ring.len() == 1
    }

    #[inline]
    fn on_ring(&self) -> u64 {
        if self.reorders {
            let departs = self.ring.front().map_or(u64::MAX, |entry| self.departs(entry));
            return self.flying.peek().map_or(u64::MAX, |Reverse(flying)| flying.entry.deliver).min(departs);
        }
        self.front()
    }

    /// Takes the packet that reaches the far end at `now`. On a link that reorders, or with
    /// a scheduler, there may be none: a transmission ended. Then some may have been
    /// [`dropped`](Self::dropped).
    #[inline]
    pub fn take(&mut self, now: Time) -> Option<&Entry> {
        if !self.fifo {
            return self.take_otherwise(now.0);
        }
        let entry = pop(&mut self.ring, &mut self.first_waiting, &mut self.waiting_bytes)?;
        self.totals.lost += u64::from(entry.lost);
        Some(entry)
    }

    /// The same of a link whose packets may come to nothing or in another order.
    fn take_otherwise(&mut self, now: u64) -> Option<&Entry> {
        if self.dequeues() <= now {
            self.dequeue(now);
            return None;
        }
        if self.reorders && self.flying.peek().is_some_and(|Reverse(flying)| flying.entry.deliver <= now) {
            self.landed = self.flying.pop()?.0.entry;
        } else {
            self.landed = *pop(&mut self.ring, &mut self.first_waiting, &mut self.waiting_bytes)?;
            if self.reorders {
                self.flown += 1;
                self.flying.push(Reverse(Flying { entry: self.landed, order: self.flown }));
                return None;
            }
        }
        self.totals.lost += u64::from(self.landed.lost);
        Some(&self.landed)
    }

    /// Counters of the link until `now`.
    pub fn stats(&self, now: Time) -> LinkStats {
        let now = now.0;
        let mut stats = self.totals;
        let mut waited = self.waited;
        stats.forwarded = stats.arrived - stats.dropped();
        let newest = (self.ring.first()..self.ring.next()).rev().map_while(|number| self.ring.get(number));
        for entry in newest.take_while(|entry| self.departs(entry) > now) {
            stats.forwarded -= 1;
            stats.forwarded_bytes -= u64::from(entry.packet.bytes);
            waited -= u128::from(entry.start.saturating_sub(now));
        }
        if let Some(queue) = self.scheduler() {
            stats.forwarded -= queue.packets();
            waited += queue.waited(now);
        }
        stats.waiting_packet_seconds = waited as f64 / 1e9;
        let gated = self.gate.as_ref().and_then(|gate| gate.capacity(now));
        stats.capacity_bytes = gated.unwrap_or(stats.capacity_bytes + self.capacity_since_change(now));
        stats
    }
}

/// When `gate` has a packet start, fine units; `free` in fine units, too.
#[cold]
fn gated(gate: &mut dyn Gate, arrived: u64, free: u64, bytes: u32) -> u64 {
    gate.start(arrived, free.div_ceil(FINE).max(arrived), bytes).saturating_mul(FINE)
}

/// Takes the oldest packet from a link's ring.
#[inline]
fn pop<'a>(ring: &'a mut Ring<Entry>, first_waiting: &mut u64, waiting_bytes: &mut u64) -> Option<&'a Entry> {
    let number = ring.first();
    ring.prefetch(number + FAR);
    let entry = ring.pop()?;
    if *first_waiting == number {
        *first_waiting += 1;
        *waiting_bytes -= u64::from(entry.packet.bytes);
    }
    Some(entry)
}

/// A packet between the two ends of a link that reorders.
struct Flying {
    entry: Entry,
    order: u64,
}

impl Flying {
    fn key(&self) -> (u64, u64) {
        (self.entry.deliver, self.order)
    }
}

impl PartialEq for Flying {
    fn eq(&self, other: &Flying) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Flying {}

impl PartialOrd for Flying {
    fn partial_cmp(&self, other: &Flying) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Flying {
    fn cmp(&self, other: &Flying) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

#[cfg(test)]
mod tests;
