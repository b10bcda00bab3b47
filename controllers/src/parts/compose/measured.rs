//! What a composition measures of its path before its modules see an event.

use crate::event::RttSample;
use crate::parameters;
use crate::parts::windowed_min::WindowedMin;
use crate::{Span, Time};

parameters! {
    /// How the path is measured.
    pub struct Params {
        /// How long an RTT sample counts as one of the base RTT's candidates.
        base_rtt_window: f64 = 600.0, in 1.0, f64::INFINITY, unit "s", source "spec: arumaithurai A22";
    }
}

/// A path's round trip times. Smoothing is the stack's (`RFC 9002 §5.3`).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Measured {
    recent: WindowedMin<4>,
    smoothed: Span,
    variation: Span,
}

impl Measured {
    /// Takes a sample in; one of nothing or less is none (`spec: arumaithurai §5.0`).
    #[inline]
    pub fn sampled(&mut self, params: &Params, now: Time, rtt: &RttSample) {
        if rtt.latest > Span::ZERO {
            let latest = i64::try_from(rtt.latest.0).unwrap_or(i64::MAX);
            let window = Span::from_secs_f64(params.base_rtt_window);
            self.recent.update(now, Some(window), latest);
        }
        self.smoothed = rtt.smoothed;
        self.variation = rtt.variation;
    }

    /// The smallest RTT of late (`spec: arumaithurai §3.4`, A22).
    #[must_use]
    #[inline]
    pub fn base_rtt(&self) -> Option<Span> {
        self.recent.get().map(|base| Span(base.unsigned_abs()))
    }

    /// The smoothed RTT; zero before the first sample.
    #[must_use]
    pub const fn smoothed(&self) -> Span {
        self.smoothed
    }

    /// How long an answer may take beyond the sending of what it answers: smoothed RTT
    /// plus four variations, without the peer's delay (`RFC 9002 §6.2.1`).
    #[must_use]
    pub fn patience(&self) -> Span {
        self.smoothed + Span(self.variation.0.saturating_mul(4))
    }
}
