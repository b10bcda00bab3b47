//! Whether marks come from a queue with classic ECN (`RFC 3168`), which marks late and
//! rarely, or from one for L4S, which marks early and often.

use crate::event::RttSample;

/// Queueing delay above which marks look classic, ns.
const DEPTH: f64 = 2e6;
/// RTT variation above which they do, ns.
const VARIATION: f64 = 750e3;
/// How much each of the two says.
const WEIGHTS: (f64, f64) = (2.0, 0.5);
/// How far the score may run away from the range that decides.
const STICKY: f64 = 16.0;

/// A score that rises while RTTs look like those behind a classic queue: deep and varying
/// (B. Briscoe and A. Ahmed, *TCP Prague fall-back on detection of a classic ECN AQM*,
/// 2019). Below 0 it is surely L4S, above 1 surely classic.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Classic {
    score: f64,
    /// Queueing delay by the smoothed RTT, ns.
    depth: f64,
    /// Variation of the RTT, ns.
    variation: f64,
}

impl Classic {
    /// Takes an RTT sample in.
    pub fn sample(&mut self, rtt: &RttSample) {
        self.depth = (rtt.smoothed - rtt.min).0 as f64;
        self.variation = rtt.variation.0 as f64;
    }

    /// A round trip with marks is over.
    #[cold]
    pub fn judge(&mut self) {
        let says = |weight: f64, value: f64, threshold: f64| weight * libm::log2(value.max(1.0) / threshold);
        self.score += says(WEIGHTS.0, self.depth, DEPTH) + says(WEIGHTS.1, self.variation, VARIATION);
        self.score = self.score.clamp(-STICKY, STICKY);
    }

    /// How classic the queue is, from 0 to 1.
    #[inline]
    pub fn degree(&self) -> f64 {
        self.score.clamp(0.0, 1.0)
    }
}
