//! How a window grows below its threshold: by a packet per packet, held back by
//! limited slow start, or watched by HyStart++.

use crate::choice;
use crate::{Span, Time};

choice! {
    /// What ends the first slow start of a flow besides congestion.
    pub enum SlowStart {
        /// Nothing.
        Standard = "standard",
        /// A rise of the round-trip time (`RFC 9406`).
        HyStart = "hystart++",
    }
}

/// `MIN_RTT_THRESH` (`RFC 9406 §4.3`), µs.
const LEAST_RISE: u32 = 4_000;
/// `MAX_RTT_THRESH` (`RFC 9406 §4.3`), µs.
const MOST_RISE: u32 = 16_000;
/// `MIN_RTT_DIVISOR` (`RFC 9406 §4.3`).
const RISE_DIVISOR: u32 = 8;
/// `N_RTT_SAMPLE` (`RFC 9406 §4.3`).
const SAMPLES: u8 = 8;
/// `CSS_GROWTH_DIVISOR` (`RFC 9406 §4.3`).
const CSS_DIVISOR: f64 = 4.0;
/// `CSS_ROUNDS` (`RFC 9406 §4.3`).
const CSS_ROUNDS: u8 = 5;

/// Limited slow start's divisor, `floor(cwnd / (max_ssthresh/2))`; none below 1
/// (`RFC 3742 §2`; `spec: sharma §1.7`).
#[must_use]
pub fn limited_divisor(lss: f64, cwnd: f64) -> Option<f64> {
    if lss <= 0.0 {
        return None;
    }
    let r = (cwnd / (0.5 * lss)) as u32;
    (r >= 1).then(|| f64::from(r))
}

/// HyStart++ (`RFC 9406 §4.2`): each round compares its smallest RTT with that of the round
/// before, and slow start ends where it rose.
///
/// Rounds are kept by send time: the first ACK of a packet sent at or after the start of a
/// round ends it. RTTs are whole microseconds; `u32::MAX` is infinity.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HyStart {
    /// When the round started.
    round: Time,
    /// `lastRoundMinRTT`.
    last: u32,
    /// `currentRoundMinRTT`.
    current: u32,
    /// `rttSampleCount`.
    samples: u8,
    /// Rounds of conservative slow start begun, the one in which it was entered included;
    /// 0 outside it.
    css_rounds: u8,
    /// `cssBaselineMinRtt`.
    baseline: u32,
}

impl Default for HyStart {
    fn default() -> Self {
        let infinity = u32::MAX;
        HyStart { round: Time::ZERO, last: infinity, current: infinity, samples: 0, css_rounds: 0, baseline: infinity }
    }
}

impl HyStart {
    /// What becomes of `packets` of growth of one ACK, of which `most` count at once
    /// (`L`, infinite where the sender paces; `RFC 9406 §4.2`).
    #[must_use]
    #[inline]
    pub fn share(&self, packets: f64, most: f64) -> f64 {
        let packets = packets.min(most);
        if self.is_conservative() { packets / CSS_DIVISOR } else { packets }
    }

    /// Whether it is in conservative slow start.
    #[must_use]
    pub fn is_conservative(&self) -> bool {
        self.css_rounds > 0
    }

    /// An ACK at `now` of packets the newest of which was sent at `newest_sent_at`, with its
    /// RTT sample. Returns whether slow start is over (`RFC 9406 §4.2`).
    pub fn acked(&mut self, now: Time, newest_sent_at: Time, rtt: Option<Span>) -> bool {
        if newest_sent_at >= self.round && self.next_round(now) {
            return true;
        }
        let Some(rtt) = rtt else { return false };
        self.current = self.current.min(u32::try_from(rtt.0 / 1000).unwrap_or(u32::MAX));
        self.samples = self.samples.saturating_add(1);
        if self.samples < SAMPLES {
            return false;
        }
        if self.is_conservative() {
            if self.current < self.baseline {
                self.css_rounds = 0;
            }
        } else if self.last != u32::MAX {
            let rise = (self.last / RISE_DIVISOR).clamp(LEAST_RISE, MOST_RISE);
            if self.current >= self.last.saturating_add(rise) {
                self.baseline = self.current;
                self.css_rounds = 1;
            }
        }
        false
    }

    /// A round starts at `now`; whether it is one too many in conservative slow start.
    fn next_round(&mut self, now: Time) -> bool {
        self.round = now;
        self.last = self.current;
        self.current = u32::MAX;
        self.samples = 0;
        if !self.is_conservative() {
            return false;
        }
        self.css_rounds = self.css_rounds.saturating_add(1);
        self.css_rounds > CSS_ROUNDS
    }
}

#[cfg(test)]
mod tests;
