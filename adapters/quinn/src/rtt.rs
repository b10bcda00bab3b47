//! RTT samples from what quinn tells: send times, and its estimates before the frame.

use windlass_controllers::event::Rtt;
use windlass_controllers::{Span, Time};

/// Granularity of timers (`RFC 9002 §6.1.2`).
const GRANULARITY: Span = Span::from_millis(1);

/// The longest a peer holds an ACK unless it says otherwise (`RFC 9000 §18.2`); quinn does
/// not tell what it said.
const MAX_ACK_DELAY: Span = Span::from_millis(25);

/// A path's RTT as far as the adapter knows it.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Sampler {
    /// quinn's smoothed and minimum RTT before the current frame.
    before: (Span, Span),
    smoothed: Span,
    variation: Span,
    sampled: bool,
    largest: Option<u64>,
    newest_sent_at: Time,
}

impl Sampler {
    /// quinn's estimates as they stand before the current frame's sample.
    #[inline]
    pub(crate) fn note(&mut self, smoothed: Span, min: Span) {
        self.before = (smoothed, min);
    }

    /// The sample of a frame that ended at `now`, whose newest packet was sent at
    /// `sent_at` and after which `largest` is the largest packet number acknowledged in
    /// its number space. Only a frame that acknowledges a new largest packet brings a
    /// sample (`RFC 9002 §5.1`); number spaces are not told apart, so a packet sent later
    /// than any acknowledged before counts as a new largest too.
    #[inline]
    pub(crate) fn sample(&mut self, now: Time, sent_at: Time, largest: Option<u64>) -> Option<Rtt> {
        if largest <= self.largest && sent_at <= self.newest_sent_at {
            return None;
        }
        self.largest = largest;
        self.newest_sent_at = self.newest_sent_at.max(sent_at);
        let latest = now.since(sent_at);
        let (smoothed, min) = self.before;
        let min = if self.sampled {
            let deviation = Span(smoothed.0.abs_diff(latest.0));
            self.variation = ewma(self.variation, 3, deviation);
            self.smoothed = ewma(smoothed, 7, latest);
            min.min(latest)
        } else {
            // Until its first sample quinn's estimates are its configured guess.
            self.variation = Span(latest.0 / 2);
            self.smoothed = latest;
            latest
        };
        self.sampled = true;
        Some(Rtt { latest, smoothed: self.smoothed, variation: self.variation, min, ack_delay: Span::ZERO })
    }

    /// The probe timeout (`RFC 9002 §6.2.1`).
    pub(crate) fn pto(&self) -> Span {
        let smoothed = if self.sampled { self.smoothed } else { self.before.0 };
        smoothed + Span(self.variation.0.saturating_mul(4)).max(GRANULARITY) + MAX_ACK_DELAY
    }
}

/// `(weight·old + new) / (weight + 1)` (`RFC 9002 §5.3`).
fn ewma(old: Span, weight: u64, new: Span) -> Span {
    Span(old.0.saturating_mul(weight).saturating_add(new.0) / (weight + 1))
}

#[cfg(test)]
mod tests;
