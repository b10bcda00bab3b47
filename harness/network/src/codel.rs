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
mod tests;
