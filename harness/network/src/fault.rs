//! Faults: what a link does to packets for a while, beyond loss, delay and marking.
//!
//! A packet meets the faults of a link when it reaches it, before the queue. Cross traffic meets them as well.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use windlass_controllers::{Span, Time};

use super::out_of_range::{OutOfRange, check};
use super::packet::{Codepoint, Packet};
use super::random::Stream;

/// A fault of a link. It strikes packets that reach the link from `at` on and before `until`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fault {
    /// Time from which it is active.
    pub at: Time,
    /// Time from which it is not active any more.
    pub until: Time,
    /// Effect on packets.
    pub kind: FaultKind,
}

impl Fault {
    pub(super) fn check(&self) -> Result<(), OutOfRange> {
        let share = self.kind.share();
        check((0.0..=1.0).contains(&share), "share of a fault", share, "0 to 1")
    }
}

/// What a fault does. A share is a probability for each packet, 0 to 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FaultKind {
    /// Every packet is lost.
    Blackout,
    /// Packets are held back, each for a time uniform in `[0, by]`.
    Reordering {
        /// Of all packets.
        share: f64,
        /// Longest time.
        by: Span,
    },
    /// Packets arrive twice, one right after the other.
    Duplication {
        /// Of all packets.
        share: f64,
    },
    /// Bytes of packets are changed.
    Corruption {
        /// Of all packets.
        share: f64,
    },
    /// Larger packets are lost without a message (`RFC 4821 §1`).
    Mtu {
        /// Size on the wire of the largest that passes, bytes.
        bytes: u32,
    },
    /// ECN codepoints are cleared (`RFC 9000 §13.4.2`).
    EcnBleaching,
    /// ECN-capable packets are marked.
    CeStorm {
        /// Of all ECN-capable packets.
        share: f64,
    },
}

impl FaultKind {
    /// The share of packets that it strikes; all where it has none.
    #[must_use]
    pub const fn share(self) -> f64 {
        match self {
            FaultKind::Reordering { share, .. }
            | FaultKind::Duplication { share }
            | FaultKind::Corruption { share }
            | FaultKind::CeStorm { share } => share,
            FaultKind::Blackout | FaultKind::Mtu { .. } | FaultKind::EcnBleaching => 1.0,
        }
    }
}

/// Changes one to four bytes of `payload`, as `random` has it.
pub fn damage(random: &mut Stream, payload: &mut [u8]) {
    if payload.is_empty() {
        return;
    }
    for _ in 0..1 + random.integer() % 4 {
        let place = (random.integer() % payload.len() as u64) as usize;
        payload[place] ^= 1 + (random.integer() % 255) as u8;
    }
}

/// A packet that is held back before a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    until: Time,
    order: u64,
    /// Its position on its route.
    pub hop: u32,
    pub packet: Packet,
}

impl Held {
    fn key(&self) -> (Time, u64) {
        (self.until, self.order)
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Held) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Held {}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Held) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Held {
    fn cmp(&self, other: &Held) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// Effect of a link's faults on a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FaultEffect {
    Lost,
    /// It goes on, maybe changed, after so long; and so does its copy, if it has one.
    Passes {
        packet: Packet,
        after: Span,
        copy: Option<Span>,
    },
}

/// The faults of all links of a network, and the packets they hold back.
#[derive(Debug)]
pub(super) struct Faults {
    links: Vec<(Vec<Fault>, Stream)>,
    held: BinaryHeap<Reverse<Held>>,
    order: u64,
    /// Packets lost so far.
    pub lost: u64,
}

impl Faults {
    /// Those of links, with their names; `None` if there are none.
    pub fn new<'a>(links: impl Iterator<Item = (&'a str, &'a [Fault])>, seed: u64) -> Option<Box<Faults>> {
        let of = |(name, faults): (_, &[Fault])| (faults.to_vec(), Stream::new(seed, &format!("faults of {name}")));
        let links: Vec<_> = links.map(of).collect();
        links
            .iter()
            .any(|(faults, _)| !faults.is_empty())
            .then(|| Box::new(Faults { links, held: BinaryHeap::new(), order: 0, lost: 0 }))
    }

    /// `packet` reaches `link` at `now`. A damaged one is lost and copies are not made unless their
    /// bytes are `carried`.
    pub fn apply(&mut self, link: usize, now: Time, packet: &Packet, carried: bool) -> FaultEffect {
        let (faults, random) = &mut self.links[link];
        let (mut packet, mut after, mut copy) = (*packet, Span::ZERO, None);
        for fault in faults.iter().filter(|fault| fault.at <= now && now < fault.until) {
            if !random.chance(fault.kind.share()) {
                continue;
            }
            let lost = match fault.kind {
                FaultKind::Blackout => true,
                FaultKind::Mtu { bytes } => packet.bytes > bytes,
                FaultKind::Corruption { .. } => {
                    packet.damaged = true;
                    !carried
                }
                FaultKind::Reordering { by, .. } => {
                    after = after + Span((random.uniform() * by.0.saturating_add(1) as f64) as u64);
                    false
                }
                FaultKind::Duplication { .. } => {
                    copy = carried.then_some(after);
                    false
                }
                FaultKind::EcnBleaching => {
                    packet.ecn = Codepoint::NotEct;
                    false
                }
                FaultKind::CeStorm { .. } => {
                    if packet.ecn.is_capable() {
                        packet.ecn = Codepoint::Ce;
                    }
                    false
                }
            };
            if lost {
                self.lost += 1;
                return FaultEffect::Lost;
            }
        }
        FaultEffect::Passes { packet, after, copy }
    }

    /// Holds `packet` back until `until`.
    pub fn hold(&mut self, until: Time, hop: u32, packet: Packet) {
        self.order += 1;
        self.held.push(Reverse(Held { until, order: self.order, hop, packet }));
    }

    /// When the next packet is let go; `u64::MAX` if none is held.
    pub fn next(&self) -> u64 {
        self.held.peek().map_or(u64::MAX, |Reverse(held)| held.until.0)
    }

    /// The packet that is let go at `now`.
    pub fn release(&mut self, now: Time) -> Option<Held> {
        self.held.peek().filter(|Reverse(held)| held.until <= now)?;
        self.held.pop().map(|Reverse(held)| held)
    }

    /// Packets held back.
    pub fn holds(&self) -> u64 {
        self.held.len() as u64
    }
}

#[cfg(test)]
mod tests;
