//! Loss detection (`RFC 9002 §6`, `§7.6`) over the packets a sender remembers.

use windlass_adapter::rfc9002::{self, RttEstimator};
use windlass_controllers::event::LossTrigger;
use windlass_controllers::{Span, Time};

use super::reordering::Thresholds;
use super::timers::NEVER;
use windlass_network::ring::Ring;

pub use windlass_adapter::rfc9002::PACKET_THRESHOLD;

/// State of a packet, as its sender knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum State {
    #[default]
    InFlight,
    /// Acknowledged, possibly after it was declared lost.
    Acked,
    Lost,
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sent {
    /// Time it was sent, ns.
    pub sent_at: u64,
    /// Bytes in flight just after; of a lost packet, when it was declared lost, ns.
    pub in_flight_or_lost_at: u64,
    /// The piece of the application's data in it.
    pub chunk: u64,
    /// Its size, as the window counts it; no packet has more than 65 535.
    pub bytes: u16,
    /// How often the data was sent before and with it.
    pub transmissions: u16,
    pub state: State,
    /// The data was or is sent in other packets too.
    pub repeated: bool,
    /// True once it reached the receiver.
    pub arrived: bool,
}

/// Backoff stops doubling here: a probe timeout is then days long.
const MAX_BACKOFF: u32 = 20;

/// Packets one loss detection declared lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LostBatch {
    pub bytes: u64,
    pub packets: u32,
    pub newest: u64,
    pub newest_sent_at: u64,
    pub trigger: LossTrigger,
    pub transmissions: u16,
    /// They establish persistent congestion (`RFC 9002 §7.6`).
    pub persistent: bool,
}

/// What an acknowledgement of one packet brought.
#[derive(Clone, Copy, Debug)]
pub(super) enum Acknowledged<'a> {
    /// The packet was in flight.
    New(&'a Sent),
    /// It had been declared lost.
    Late(&'a Sent),
    /// The packet needs no more note: it was acknowledged before.
    Known,
}

/// The present run of losses, which may become persistent congestion, by packet numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct LossRun {
    run: rfc9002::LossRun,
    /// The number of the packet lost last.
    last: Option<u64>,
}

impl LossRun {
    /// Packet `number`, sent at `sent_at`, is lost: does the run of losses it belongs to
    /// span persistent congestion (`§7.6`)? Numbers of a run follow each other, so nothing
    /// between was acknowledged, and it must begin after the first RTT sample.
    pub fn extend(&mut self, sent_at: u64, number: u64, rtt: &RttEstimator, max_ack_delay: Span) -> bool {
        if self.last.and_then(|last| last.checked_add(1)) != Some(number) {
            self.run.interrupt();
        }
        self.last = Some(number);
        self.run.add(Time(sent_at), rtt.first_sample, || rtt.persistent_congestion_duration(max_ack_delay))
    }
}

/// The packets of one flow, and what is in flight.
// In this order, so that what a packet needs lies together.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Recovery {
    /// The packets by number; those at the front that are no longer needed are dropped.
    pub sent: Ring<Sent>,
    /// No packet before it is in flight.
    oldest: u64,
    largest_acked: Option<u64>,
    pub in_flight: u64,
    /// When the oldest packet in flight is lost by time; [`NEVER`] if no later one was acknowledged.
    loss_time: u64,
    last_sent_at: u64,
    pto_count: u32,
    /// A packet is lost when so many later ones are acknowledged, unless the thresholds have adapted.
    pub packet_threshold: u64,
    thresholds: Thresholds,
    run: LossRun,
}

impl Recovery {
    /// Nothing sent yet. Whether loss detection adapts to reordering.
    pub fn new(adaptive: bool) -> Recovery {
        Recovery {
            sent: Ring::new(),
            oldest: 0,
            largest_acked: None,
            in_flight: 0,
            loss_time: NEVER,
            pto_count: 0,
            last_sent_at: 0,
            run: LossRun::default(),
            packet_threshold: PACKET_THRESHOLD,
            thresholds: Thresholds::new(adaptive),
        }
    }

    /// Has the processor fetch the packet that is acknowledged next, if none is missing, and the one behind it.
    #[inline]
    pub fn prefetch_acked(&self) {
        let next = self.largest_acked.map_or(0, |largest| largest + 1);
        self.sent.prefetch(next);
        self.sent.prefetch(next + 1);
    }

    /// A packet leaves; its number.
    #[inline]
    pub fn sent(&mut self, mut packet: Sent) -> u64 {
        self.in_flight += u64::from(packet.bytes);
        packet.in_flight_or_lost_at = self.in_flight;
        self.last_sent_at = packet.sent_at;
        self.sent.push(packet);
        self.sent.next() - 1
    }

    /// Packet `number` is acknowledged.
    #[inline]
    pub fn acked(&mut self, number: u64) -> Acknowledged<'_> {
        let next = self.sent.next();
        let Some(packet) = self.sent.get_mut(number) else { return Acknowledged::Known };
        let before = packet.state;
        packet.state = State::Acked;
        match before {
            State::InFlight => {
                self.in_flight -= u64::from(packet.bytes);
                if self.largest_acked.is_some_and(|largest| number < largest) {
                    self.thresholds.on_overtaken();
                }
                Acknowledged::New(packet)
            }
            State::Lost => {
                self.thresholds.on_spurious_loss(number, next);
                Acknowledged::Late(packet)
            }
            State::Acked => Acknowledged::Known,
        }
    }

    /// An ACK frame was read whose largest newly acknowledged packet is `largest`. Returns
    /// whether it is the largest ever, which is when its RTT is a sample (`§5.1`).
    #[inline]
    pub fn frame(&mut self, largest: u64) -> bool {
        self.pto_count = 0;
        let new = self.largest_acked.is_none_or(|acked| largest > acked);
        if new {
            self.largest_acked = Some(largest);
        }
        new
    }

    /// Whether every packet before the largest acknowledged one is known not to be in flight; then none is lost
    /// before another is acknowledged.
    #[inline]
    pub fn is_in_order(&self) -> bool {
        self.largest_acked.is_none_or(|largest| self.oldest >= largest)
    }

    /// No packet is about to be lost by time.
    #[inline]
    pub fn stop_loss_timer(&mut self) {
        self.loss_time = NEVER;
    }

    /// Declares lost what is lost at `now` (`§6.1`); `each` sees every such packet, in the
    /// order of their numbers, and its number.
    #[inline]
    pub fn detect(
        &mut self,
        now: u64,
        rtt: &RttEstimator,
        max_ack_delay: Span,
        mut each: impl FnMut(&mut Sent, u64, LossTrigger),
    ) -> Option<LostBatch> {
        self.loss_time = NEVER;
        let largest = self.largest_acked?;
        let mut batch: Option<LostBatch> = None;
        let delay = self.thresholds.delay(rtt).0;
        let packets = self.thresholds.packets(self.packet_threshold);
        let mut number = self.oldest;
        while number < largest {
            // Packets in flight are never forgotten.
            let Some(packet) = self.sent.get_mut(number) else { break };
            if packet.state == State::InFlight {
                let trigger = if largest - number >= packets {
                    LossTrigger::PacketThreshold
                } else if packet.sent_at.saturating_add(delay) <= now {
                    LossTrigger::TimeThreshold
                } else {
                    // Those after it were sent no earlier.
                    self.loss_time = packet.sent_at.saturating_add(delay);
                    break;
                };
                packet.state = State::Lost;
                packet.in_flight_or_lost_at = now;
                self.in_flight -= u64::from(packet.bytes);
                each(packet, number, trigger);
                let packet = *packet;
                let persistent = self.run.extend(packet.sent_at, number, rtt, max_ack_delay);
                let sum = batch.map_or((0, 0, false), |batch| (batch.bytes, batch.packets, batch.persistent));
                batch = Some(LostBatch {
                    bytes: sum.0 + u64::from(packet.bytes),
                    packets: sum.1 + 1,
                    newest: number,
                    newest_sent_at: packet.sent_at,
                    trigger,
                    transmissions: packet.transmissions,
                    persistent: sum.2 || persistent,
                });
            }
            number += 1;
        }
        self.oldest = number;
        if let Some(batch) = &batch {
            self.thresholds.on_losses(now, batch.newest_sent_at);
        }
        batch
    }

    /// When to look again: at the time threshold of a packet, else at the probe timeout
    /// (`§6.2.1`); [`NEVER`] with nothing in flight.
    #[inline]
    pub fn deadline(&self, rtt: &RttEstimator, max_ack_delay: Span) -> u64 {
        if self.loss_time != NEVER {
            return self.loss_time;
        }
        if self.in_flight == 0 {
            return NEVER;
        }
        self.last_sent_at.saturating_add(rtt.pto(max_ack_delay).0 << self.pto_count.min(MAX_BACKOFF))
    }

    /// Whether the deadline is a packet's time threshold rather than a probe timeout.
    pub fn waits_for_loss(&self) -> bool {
        self.loss_time != NEVER
    }

    /// A probe timeout expired: the next one takes twice as long (`§6.2.1`).
    pub fn back_off(&mut self) {
        self.pto_count = self.pto_count.saturating_add(1);
    }

    /// The oldest packet in flight.
    pub fn oldest_in_flight(&mut self) -> Option<&mut Sent> {
        let number = (self.oldest.max(self.sent.first())..self.sent.next())
            .find(|number| self.sent.get(*number).is_some_and(|packet| packet.state == State::InFlight))?;
        self.sent.get_mut(number)
    }

    /// Takes packet `number` for lost, which is in flight.
    pub fn lose(&mut self, number: u64, now: u64) {
        if let Some(packet) = self.sent.get_mut(number).filter(|packet| packet.state == State::InFlight) {
            packet.state = State::Lost;
            packet.in_flight_or_lost_at = now;
            self.in_flight -= u64::from(packet.bytes);
        }
    }

    /// Forgets packets from the front that are acknowledged, or whose chunk before `edge` is.
    #[inline]
    pub fn forget_chunks_before(&mut self, edge: u64) {
        let mut first = self.sent.first();
        while self.sent.get(first).is_some_and(|packet| packet.state == State::Acked || packet.chunk < edge) {
            first += 1;
        }
        self.sent.forget_before(first);
    }

    /// Forgets packets from the front: acknowledged ones, and lost ones whose late ACK is
    /// no longer expected, `keep` ns after they were declared lost.
    #[inline]
    pub fn reclaim(&mut self, now: u64, keep: u64) {
        let mut first = self.sent.first();
        while let Some(packet) = self.sent.get(first) {
            let done = match packet.state {
                State::Acked => true,
                State::Lost => packet.in_flight_or_lost_at.saturating_add(keep) < now,
                State::InFlight => false,
            };
            if !done {
                break;
            }
            first += 1;
        }
        self.sent.forget_before(first);
        self.oldest = self.oldest.max(first);
    }
}

#[cfg(test)]
mod tests;
