//! Controlled delay (`RFC 8289 §5`): drops or marks when packets leave the queue, by how
//! long they waited.

use std::collections::VecDeque;

use windlass_controllers::Span;

use super::discipline::{Held, Scheduler};
use super::out_of_range::{OutOfRange, check};
use super::packet::Codepoint;

/// Settings of a CoDel queue (`RFC 8289`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CoDelSpec {
    /// Waiting time that is acceptable (`RFC 8289 §4.3`).
    pub target: Span,
    /// How long it may be exceeded before the first drop (`RFC 8289 §4.2`).
    pub interval: Span,
    /// Nothing is dropped while no more than so many bytes wait: one full packet.
    pub mtu: u32,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub mark: bool,
}

impl CoDelSpec {
    /// A target of 5 ms and an interval of 100 ms (`RFC 8289 §4.2, §4.3`), marking.
    #[must_use]
    pub const fn new(mtu: u32) -> CoDelSpec {
        CoDelSpec { target: Span::from_millis(5), interval: Span::from_millis(100), mtu, mark: true }
    }

    pub(super) fn check(&self) -> Result<(), OutOfRange> {
        check(self.interval > Span::ZERO, "interval of CoDel", 0.0, "more than 0 s")
    }
}

/// A CoDel queue at work.
pub(super) struct CoDel {
    spec: CoDelSpec,
    /// Packets waiting, oldest first.
    held: VecDeque<Held>,
    bytes: u64,
    first_above: Option<u64>,
    dropping: bool,
    drop_next: u64,
    count: u64,
    last_count: u64,
}

impl CoDel {
    pub fn new(spec: CoDelSpec) -> CoDel {
        CoDel {
            spec,
            held: VecDeque::new(),
            bytes: 0,
            first_above: None,
            dropping: false,
            drop_next: 0,
            count: 0,
            last_count: 0,
        }
    }

    /// When the next drop is due, `count` drops into an episode (`RFC 8289 §5.4`).
    fn control_law(&self, at: u64, count: u64) -> u64 {
        at.saturating_add((self.spec.interval.0 as f64 / libm::sqrt(count.max(1) as f64)) as u64)
    }

    /// Takes the oldest packet, and says whether it may be dropped (`RFC 8289 §5.3`).
    fn pop(&mut self, now: u64) -> Option<(Held, bool)> {
        let Some(held) = self.held.pop_front() else {
            self.first_above = None;
            return None;
        };
        self.bytes -= u64::from(held.packet.bytes);
        let waited = now.saturating_sub(held.arrived);
        if waited < self.spec.target.0 || self.bytes <= u64::from(self.spec.mtu) {
            self.first_above = None;
            return Some((held, false));
        }
        match self.first_above {
            None => {
                self.first_above = Some(now.saturating_add(self.spec.interval.0));
                Some((held, false))
            }
            Some(first) => Some((held, now >= first)),
        }
    }

    /// Takes the oldest packet out, to make room.
    pub fn drop_head(&mut self) -> Option<Held> {
        let held = self.held.pop_front()?;
        self.bytes -= u64::from(held.packet.bytes);
        Some(held)
    }

    /// Marks `held` instead of dropping it, if it can be.
    fn marks(&self, held: &mut Held) -> bool {
        let marks = self.spec.mark && held.packet.ecn.is_capable();
        if marks && held.packet.ecn != Codepoint::Ce {
            held.packet.ecn = Codepoint::Ce;
            held.marked = true;
        }
        marks
    }
}

impl Scheduler for CoDel {
    fn enqueue(&mut self, held: Held, fits: bool, dropped: &mut VecDeque<Held>) {
        if !fits {
            dropped.push_back(held);
            return;
        }
        self.bytes += u64::from(held.packet.bytes);
        self.held.push_back(held);
    }

    /// `RFC 8289 §5.5`.
    fn dequeue(&mut self, now: u64, dropped: &mut VecDeque<Held>) -> Option<Held> {
        let mut next = self.pop(now);
        if self.dropping {
            if !next.is_some_and(|(_, may)| may) {
                self.dropping = false;
            }
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                let Some((mut held, _)) = next else { break };
                if self.marks(&mut held) {
                    self.drop_next = self.control_law(self.drop_next, self.count);
                    return Some(held);
                }
                dropped.push_back(held);
                next = self.pop(now);
                if next.is_some_and(|(_, may)| may) {
                    self.drop_next = self.control_law(self.drop_next, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if let Some((mut held, true)) = next {
            if self.marks(&mut held) {
                next = Some((held, true));
            } else {
                dropped.push_back(held);
                next = self.pop(now);
            }
            self.dropping = true;
            // An episode soon after the last goes on at its pace.
            let since = self.count - self.last_count;
            let soon = now.saturating_sub(self.drop_next) < 16 * self.spec.interval.0;
            self.count = if since > 1 && soon { since } else { 1 };
            self.drop_next = self.control_law(now, self.count);
            self.last_count = self.count;
        }
        next.map(|(held, _)| held)
    }

    fn packets(&self) -> u64 {
        self.held.len() as u64
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn each(&mut self, visit: &mut dyn FnMut(&mut Held)) {
        self.held.iter_mut().for_each(visit);
    }

    fn waited(&self, now: u64) -> u128 {
        self.held.iter().map(|held| u128::from(now.saturating_sub(held.arrived))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Packet;

    const MS: u64 = 1_000_000;

    fn held(packet: Packet, arrived: u64) -> Held {
        Held { packet, hop: 0, arrived, marked: false }
    }

    /// A queue whose packets all waited 20 ms, one leaving each millisecond: when packets were
    /// dropped or marked, ms.
    fn standing(ecn: Codepoint, spec: CoDelSpec, until: u64) -> Vec<u64> {
        let mut codel = CoDel::new(spec);
        let packet = Packet { ecn, ..Packet::new(0, 0, 1000) };
        let mut dropped = VecDeque::new();
        for at in 0..20 {
            codel.enqueue(held(packet, at * MS), true, &mut dropped);
        }
        let mut hits = Vec::new();
        for now in 20..until {
            codel.enqueue(held(packet, now * MS), true, &mut dropped);
            let marked = codel.dequeue(now * MS, &mut dropped).is_some_and(|held| held.marked);
            if marked || !dropped.is_empty() {
                hits.push(now);
            }
            dropped.clear();
            // Drops would shorten the queue; it is to stand.
            while codel.held.len() < 20 {
                let arrived = codel.held.front().map_or(now * MS, |first| first.arrived);
                codel.enqueue(held(packet, arrived), true, &mut dropped);
            }
            codel.held.make_contiguous().sort_by_key(|held| held.arrived);
        }
        hits
    }

    #[test]
    fn hits_come_at_the_interval_over_the_root_of_their_number() {
        // The first packet is above the target at 20 ms, the first hit an interval later; then
        // at 100/√1, 100/√2, 100/√3 … ms (RFC 8289 §5.4).
        let spec = CoDelSpec::new(1500);
        let expected: Vec<u64> = (1..6)
            .scan(120.0, |at: &mut f64, n: i32| {
                *at += 100.0 / f64::from(n).sqrt();
                Some(at.ceil() as u64)
            })
            .collect();
        let marks = standing(Codepoint::Ect0, spec, 480);
        assert_eq!(marks[0], 120);
        assert_eq!(marks[1..6], expected[..], "{marks:?}");
        assert_eq!(standing(Codepoint::NotEct, spec, 480)[..6], marks[..6], "drops come at the same times");
        assert_eq!(standing(Codepoint::Ect1, CoDelSpec { mark: false, ..spec }, 480)[..6], marks[..6]);
    }

    #[test]
    fn less_than_the_target_or_a_packet_left_is_no_standing_queue() {
        assert!(
            standing(Codepoint::Ect0, CoDelSpec { target: Span::from_millis(21), ..CoDelSpec::new(1500) }, 900)
                .is_empty()
        );
        // 20 packets are left after each.
        assert!(standing(Codepoint::Ect0, CoDelSpec::new(20_000), 900).is_empty());
        assert!(!standing(Codepoint::Ect0, CoDelSpec::new(19_999), 900).is_empty());
    }

    #[test]
    fn an_empty_queue_ends_the_episode() {
        let mut codel = CoDel::new(CoDelSpec::new(0));
        let mut dropped = VecDeque::new();
        for _ in 0..3 {
            codel.enqueue(held(Packet::new(0, 0, 1000), 0), true, &mut dropped);
        }
        assert!(codel.dequeue(10 * MS, &mut dropped).is_some() && codel.first_above.is_some());
        assert!(codel.dequeue(111 * MS, &mut dropped).is_some(), "the last packet is sent");
        assert_eq!((dropped.len(), codel.dropping), (1, true));
        assert!(codel.dequeue(112 * MS, &mut dropped).is_none());
        assert_eq!((codel.first_above, codel.dropping), (None, false));
    }
}
