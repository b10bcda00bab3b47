//! RTT samples from what such stacks tell: send times, and their estimates before the
//! frame.

use std::time::Duration;

use windlass_controllers::event::RttSample;
use windlass_controllers::{Span, Time};

use super::clock::span;
use super::number::Number;

/// Granularity of timers (`RFC 9002 §6.1.2`).
const GRANULARITY: Span = Span::from_millis(1);

/// The longest a peer holds an ACK unless it says otherwise (`RFC 9000 §18.2`).
const MAX_ACK_DELAY: Span = Span::from_millis(25);

/// A path's RTT as far as the adapter knows it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Sampler {
    /// The stack's smoothed and minimum RTT before the current frame.
    before: (Duration, Duration),
    smoothed: Span,
    variation: Span,
    sampled: bool,
    largest: Number,
    newest_sent_at: Time,
    max_ack_delay: Span,
}

impl Default for Sampler {
    fn default() -> Sampler {
        Sampler {
            before: (Duration::ZERO, Duration::ZERO),
            smoothed: Span::ZERO,
            variation: Span::ZERO,
            sampled: false,
            largest: Number::default(),
            newest_sent_at: Time::ZERO,
            max_ack_delay: MAX_ACK_DELAY,
        }
    }
}

impl Sampler {
    /// The stack's estimates as they stand before the current frame's sample.
    #[inline]
    pub(super) fn note(&mut self, smoothed: Duration, min: Duration) {
        self.before = (smoothed, min);
    }

    /// The sample of a frame that ended at `now`, whose newest packet was sent at
    /// `sent_at` and after which `largest` is the largest packet number acknowledged in
    /// its number space. Only a frame that acknowledges a new largest packet brings a
    /// sample (`RFC 9002 §5.1`); number spaces are not told apart, so a packet sent later
    /// than any acknowledged before counts as a new largest too.
    #[inline]
    pub(super) fn sample(&mut self, now: Time, sent_at: Time, largest: Number) -> Option<RttSample> {
        if largest <= self.largest && sent_at <= self.newest_sent_at {
            return None;
        }
        self.largest = largest;
        self.newest_sent_at = self.newest_sent_at.max(sent_at);
        let latest = now.since(sent_at);
        let (smoothed, min) = (span(self.before.0), span(self.before.1));
        let min = if self.sampled {
            let deviation = Span(smoothed.0.abs_diff(latest.0));
            self.variation = ewma(self.variation, 3, deviation);
            self.smoothed = ewma(smoothed, 7, latest);
            min.min(latest)
        } else {
            // Until its first sample the stack's estimates are its configured guess.
            self.variation = Span(latest.0 / 2);
            self.smoothed = latest;
            latest
        };
        self.sampled = true;
        Some(RttSample { latest, smoothed: self.smoothed, variation: self.variation, min, ack_delay: Span::ZERO })
    }

    /// The probe timeout (`RFC 9002 §6.2.1`).
    pub(super) fn pto(&self) -> Span {
        let smoothed = if self.sampled { self.smoothed } else { span(self.before.0) };
        smoothed + Span(self.variation.0.saturating_mul(4)).max(GRANULARITY) + self.max_ack_delay
    }

    /// The longest the peer holds an ACK.
    pub(super) fn max_ack_delay(&mut self, delay: Duration) {
        self.max_ack_delay = span(delay);
    }
}

/// `(weight·old + new) / (weight + 1)` (`RFC 9002 §5.3`).
fn ewma(old: Span, weight: u64, new: Span) -> Span {
    Span(old.0.saturating_mul(weight).saturating_add(new.0) / (weight + 1))
}

#[cfg(test)]
mod tests;
