//! Changes of a link at work.

use windlass_controllers::{Span, Time};

use super::{FINE, Link};
use crate::topology::{LinkSpec, Set};

impl Link {
    /// Changes the link at `now`; what waits or is in transmission is timed anew.
    pub fn change(&mut self, now: Time, set: &Set) {
        let now = now.0;
        if let Some(loss) = set.loss {
            self.loss = loss;
        }
        if let Some(jitter) = set.jitter {
            self.jitter = jitter.0;
        }
        let old_per_byte = self.fine_per_byte;
        let old_delay = self.delay;
        self.totals.capacity_bytes += self.capacity_since_change(now);
        self.rate_since = now;
        if let Some(rate) = set.rate {
            self.rate = rate;
            self.set_line_rate(rate);
        }
        self.delay = set.delay.map_or(old_delay, |delay| delay.0);

        let fine_now = now.saturating_mul(FINE);
        let mut free = fine_now;
        let mut last_deliver = 0;
        for i in self.ring.first()..self.ring.next() {
            let Some(&entry) = self.ring.get(i) else { break };
            let old_tx = (f64::from(entry.packet.bytes) * old_per_byte + 0.5) as u64;
            let old_depart = entry.start.saturating_mul(FINE).saturating_add(old_tx);
            if old_depart > fine_now {
                let tx = self.transmission(entry.packet.bytes);
                let (start, depart) = if self.gate.is_some() {
                    // Its rate does not change.
                    (entry.start, old_depart)
                } else if entry.start <= now {
                    // In transmission: what remains goes at the new rate.
                    let remains = (old_depart - fine_now) as f64 / old_tx.max(1) as f64;
                    (entry.start, fine_now.saturating_add((remains * tx as f64) as u64))
                } else {
                    (free.div_ceil(FINE), free.saturating_add(tx))
                };
                free = depart;
                let later = depart.div_ceil(FINE).saturating_add(self.delay);
                let before = old_depart.div_ceil(FINE).saturating_add(old_delay);
                let deliver = later.saturating_add(entry.deliver.saturating_sub(before));
                let deliver = if self.reorders { deliver } else { deliver.max(last_deliver) };
                self.retime(i, start, deliver);
                last_deliver = deliver;
            } else {
                last_deliver = entry.deliver;
            }
        }
        if self.busy_until > fine_now && self.gate.is_none() {
            self.busy_until = free;
        }
        self.last_deliver = last_deliver;
        self.next_start = 0;
    }

    fn retime(&mut self, i: u64, start: u64, deliver: u64) {
        let instrumented = self.instrumented;
        let Some(entry) = self.ring.get_mut(i) else { return };
        self.waited = (self.waited + u128::from(start)).saturating_sub(u128::from(entry.start));
        if instrumented {
            entry.packet.waited = Span((entry.packet.waited + Span(start)).0.saturating_sub(entry.start));
        }
        entry.start = start;
        entry.deliver = deliver;
    }

    pub(super) fn capacity_since_change(&self, now: u64) -> f64 {
        if self.rate.is_finite() { self.rate / 8.0 * now.saturating_sub(self.rate_since) as f64 / 1e9 } else { 0.0 }
    }
}

/// Whether the link jitters at the start or after some change.
pub(super) fn ever_jitters(spec: &LinkSpec) -> bool {
    spec.jitter.max.0 > 0 || spec.changes.iter().any(|change| change.set.jitter.is_some_and(|jitter| jitter.0 > 0))
}
