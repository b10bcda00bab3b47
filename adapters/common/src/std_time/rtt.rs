//! RTT samples from what such stacks report: send times, and their estimates before the
//! frame.

use std::time::Duration;

use windlass_controllers::event::RttSample;
use windlass_controllers::{Span, Time};

use super::clock::span;
use super::number::Number;
use crate::rfc9002;

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
            max_ack_delay: rfc9002::DEFAULT_MAX_ACK_DELAY,
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
    /// sample (`RFC 9002 §5.1`); number spaces are not distinguished, so a packet sent later
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
            self.variation = rfc9002::rtt_variation(self.variation, smoothed, latest);
            self.smoothed = rfc9002::smoothed_rtt(smoothed, latest);
            min.min(latest)
        } else {
            // Until its first sample the stack's estimates are its configured guess.
            self.variation = Span(latest.0 / 2);
            self.smoothed = latest;
            latest
        };
        self.sampled = true;
        Some(RttSample::new(latest, self.smoothed, self.variation, min))
    }

    /// The smoothed RTT; `None` before the first sample.
    #[inline]
    pub(super) fn sampled(&self) -> Option<Span> {
        self.sampled.then_some(self.smoothed)
    }

    /// The smoothed RTT; before the first sample the stack's guess.
    pub(super) fn smoothed(&self) -> Span {
        if self.sampled { self.smoothed } else { span(self.before.0) }
    }

    /// The probe timeout (`RFC 9002 §6.2.1`).
    pub(super) fn pto(&self) -> Span {
        let smoothed = self.smoothed();
        let variation = if self.sampled { self.variation } else { Span(smoothed.0 / 2) };
        rfc9002::probe_timeout(smoothed, variation, self.max_ack_delay)
    }

    /// The longest the peer holds an ACK.
    pub(super) fn max_ack_delay(&mut self, delay: Duration) {
        self.max_ack_delay = span(delay);
    }
}

#[cfg(test)]
mod tests;
