//! Which fraction of a flow's packets arrives CE-marked, and what a loss means to a flow
//! that has just answered a mark.

use crate::event::{EcnCe, PacketsAcked};
use crate::{Event, EventKind, Span, Time};

/// A moving average over observation windows of about a round trip (`RFC 8257 §3.3`).
///
/// A window ends with the first frame that acknowledges a packet sent after it began;
/// that frame belongs to the next one, since its marks are reported before the packets it
/// acknowledges.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MarkedFraction {
    alpha: f64,
    began: Time,
    acked: u64,
    marked: u64,
    seen: bool,
}

impl Default for MarkedFraction {
    fn default() -> Self {
        MarkedFraction::start(Time::ZERO)
    }
}

impl MarkedFraction {
    /// Nothing observed at `now`: the most cautious fraction, 1 (`RFC 8257 §3.3`).
    #[must_use]
    pub const fn start(now: Time) -> MarkedFraction {
        MarkedFraction { alpha: 1.0, began: now, acked: 0, marked: 0, seen: false }
    }

    /// The average, from 0 to 1.
    #[must_use]
    #[inline]
    pub const fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Whether any packet has arrived marked yet.
    #[must_use]
    #[inline]
    pub const fn seen(&self) -> bool {
        self.seen
    }

    /// Takes an event in; windows last `least` at least, and the latest counts for `gain`.
    /// Returns whether a window ended.
    #[inline]
    pub fn on_event(&mut self, gain: f64, least: Span, event: &Event) -> bool {
        let (newest_sent_at, acked, marked) = match event.kind {
            EventKind::PacketsAcked(PacketsAcked { newest_sent_at, packets, .. }) => (newest_sent_at, packets, 0),
            EventKind::EcnCe(EcnCe { newest_sent_at, packets, .. }) => (newest_sent_at, 0, packets.max(1)),
            _ => return false,
        };
        let ends = newest_sent_at > self.began && event.now.since(self.began) >= least;
        if ends {
            self.close(gain);
            self.clear(event.now);
        }
        self.seen |= marked > 0;
        self.acked = self.acked.saturating_add(u64::from(acked));
        self.marked = self.marked.saturating_add(u64::from(marked));
        ends
    }

    /// Drops what the current window has counted; the next begins at `now`.
    pub fn clear(&mut self, now: Time) {
        (self.began, self.acked, self.marked) = (now, 0, 0);
    }

    /// `alpha = (1 − g)·alpha + g·M` (`RFC 8257 §3.3`; `spec: arumaithurai §6.4 rule 1`). A
    /// window without packets changes nothing.
    fn close(&mut self, gain: f64) {
        let of = self.acked.max(self.marked);
        if of > 0 {
            let fraction = self.marked as f64 / of as f64;
            self.alpha = ((1.0 - gain) * self.alpha + gain * fraction).clamp(0.0, 1.0);
        }
    }
}

#[cfg(test)]
mod tests;
