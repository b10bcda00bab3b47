//! Start-up: how a window grows until its first reduction, whatever its scheme.
//!
//! A scheme says what slow start and congestion avoidance add per ACK; a [`StartUp`] changes
//! that, and may end slow start. Of this no scheme knows. Which one a flow has are parameters
//! of every window scheme ([`Base::slow_start`], [`Base::lss`]); [`SelectedStartUp`] is the
//! flow's choice. HyStart++ and limited slow start may be combined: the latter limits what the
//! former leaves.

use crate::choice;
use crate::event::PacketsAcked;
use crate::parts::base::Base;
use crate::parts::window::Window;
use crate::{Span, Time};

choice! {
    /// What ends the first slow start of a flow besides congestion.
    pub enum SlowStart {
        /// Slow start ends with congestion alone (`RFC 9002 §7.3.1`).
        Standard = "standard",
        /// A rise of the round-trip time (`RFC 9406`).
        HyStart = "hystart++",
    }
}

/// How a window grows at the start of a connection, beside what the scheme itself does: with
/// none selected slow start is the standard one (`RFC 9002 §7.3.1`).
pub trait StartUp {
    /// Whether `base` selects it and `window` is still to be started up.
    fn applies(base: &Base, window: &Window) -> bool;

    /// Packets to add to `window` for `acked` acknowledged ones, where `added` would be.
    fn on_ack(&self, base: &Base, window: &Window, acked: f64, added: f64) -> f64;

    /// An ACK frame of packets the newest of which was sent at `newest_sent_at`, with its RTT
    /// sample, after the window has grown by it. Returns whether slow start is over.
    fn on_rtt_sample(&mut self, now: Time, newest_sent_at: Time, rtt: Option<Span>) -> bool {
        let _ = (now, newest_sent_at, rtt);
        false
    }
}

/// Limited slow start (`RFC 3742`; `spec: sharma §1.7`): beyond `max_ssthresh` packets at most
/// `max_ssthresh/2` per round trip; in congestion avoidance that is a floor under the scheme's
/// own increment.
#[derive(Clone, Copy, Debug)]
pub struct Limited;

/// `K = int(cwnd/(max_ssthresh/2))`, what slow start is divided by; `None` below 1 and where
/// `max_ssthresh` is 0 (`RFC 3742 §2`).
#[must_use]
#[inline]
pub fn limited_divisor(max_ssthresh: f64, cwnd: f64) -> Option<f64> {
    if max_ssthresh <= 0.0 {
        return None;
    }
    let k = (cwnd / (0.5 * max_ssthresh)) as u32;
    (k >= 1).then(|| f64::from(k))
}

impl StartUp for Limited {
    /// Not after a reduction, until the next timeout (`spec: sharma §1.7`).
    #[inline]
    fn applies(base: &Base, window: &Window) -> bool {
        base.lss > 0.0 && !window.reduced
    }

    #[inline]
    fn on_ack(&self, base: &Base, window: &Window, acked: f64, added: f64) -> f64 {
        match limited_divisor(base.lss, window.cwnd) {
            Some(k) if !window.in_slow_start() => added.max(acked / k),
            Some(k) if window.cwnd >= base.lss => added.min(acked / k),
            _ => added,
        }
    }
}

/// `MIN_RTT_THRESH` (`RFC 9406 §4.3`), µs.
const MIN_RTT_THRESH: u32 = 4_000;
/// `MAX_RTT_THRESH` (`RFC 9406 §4.3`), µs.
const MAX_RTT_THRESH: u32 = 16_000;
/// `MIN_RTT_DIVISOR` (`RFC 9406 §4.3`).
const MIN_RTT_DIVISOR: u32 = 8;
/// `N_RTT_SAMPLE` (`RFC 9406 §4.3`).
const N_RTT_SAMPLE: u8 = 8;
/// `CSS_GROWTH_DIVISOR` (`RFC 9406 §4.3`).
const CSS_GROWTH_DIVISOR: f64 = 4.0;
/// `CSS_ROUNDS` (`RFC 9406 §4.3`).
const CSS_ROUNDS: u8 = 5;

/// HyStart++ (`RFC 9406 §4.2`): each round compares its smallest RTT with that of the round
/// before, and slow start ends where it rose.
///
/// Rounds are kept by send time: the first ACK of a packet sent at or after the start of a
/// round ends it. RTTs are whole microseconds; `u32::MAX` is infinity.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HyStart {
    /// Time the round started.
    round_start: Time,
    /// `lastRoundMinRTT`.
    last_round_min_rtt: u32,
    /// `currentRoundMinRTT`.
    current_round_min_rtt: u32,
    /// `rttSampleCount`.
    rtt_sample_count: u8,
    /// Rounds of conservative slow start begun, the one in which it was entered included;
    /// 0 outside it.
    css_rounds: u8,
    /// `cssBaselineMinRtt`.
    css_baseline_min_rtt: u32,
}

impl Default for HyStart {
    fn default() -> Self {
        let infinity = u32::MAX;
        HyStart {
            round_start: Time::ZERO,
            last_round_min_rtt: infinity,
            current_round_min_rtt: infinity,
            rtt_sample_count: 0,
            css_rounds: 0,
            css_baseline_min_rtt: infinity,
        }
    }
}

impl HyStart {
    /// Whether it is in conservative slow start.
    #[must_use]
    pub fn is_conservative(&self) -> bool {
        self.css_rounds > 0
    }

    /// A round starts at `now`; whether it is one too many in conservative slow start.
    fn next_round(&mut self, now: Time) -> bool {
        self.round_start = now;
        self.last_round_min_rtt = self.current_round_min_rtt;
        self.current_round_min_rtt = u32::MAX;
        self.rtt_sample_count = 0;
        if !self.is_conservative() {
            return false;
        }
        self.css_rounds = self.css_rounds.saturating_add(1);
        self.css_rounds > CSS_ROUNDS
    }
}

impl StartUp for HyStart {
    /// Only in the first slow start of a flow (`RFC 9406 §4.3`).
    #[inline]
    fn applies(base: &Base, window: &Window) -> bool {
        base.slow_start == SlowStart::HyStart && !window.ever_reduced && window.ssthresh == base.ssthresh
    }

    /// At most `L` packets, and a quarter of them in conservative slow start (`RFC 9406 §4.2`).
    #[inline]
    fn on_ack(&self, base: &Base, _: &Window, _: f64, added: f64) -> f64 {
        let added = added.min(base.hystart_l);
        if self.is_conservative() { added / CSS_GROWTH_DIVISOR } else { added }
    }

    /// `RFC 9406 §4.2`.
    fn on_rtt_sample(&mut self, now: Time, newest_sent_at: Time, rtt: Option<Span>) -> bool {
        if newest_sent_at >= self.round_start && self.next_round(now) {
            return true;
        }
        let Some(rtt) = rtt else { return false };
        self.current_round_min_rtt = self.current_round_min_rtt.min(u32::try_from(rtt.0 / 1000).unwrap_or(u32::MAX));
        self.rtt_sample_count = self.rtt_sample_count.saturating_add(1);
        if self.rtt_sample_count < N_RTT_SAMPLE {
            return false;
        }
        if self.is_conservative() {
            if self.current_round_min_rtt < self.css_baseline_min_rtt {
                self.css_rounds = 0;
            }
        } else if self.last_round_min_rtt != u32::MAX {
            let thresh = (self.last_round_min_rtt / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
            if self.current_round_min_rtt >= self.last_round_min_rtt.saturating_add(thresh) {
                self.css_baseline_min_rtt = self.current_round_min_rtt;
                self.css_rounds = 1;
            }
        }
        false
    }
}

/// The start-up that a flow's parameters select, with its state.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SelectedStartUp {
    hystart: HyStart,
}

impl SelectedStartUp {
    /// Packets to add for `acked` acknowledged ones, where the scheme would add `added`.
    #[inline(always)]
    pub fn on_ack(&self, base: &Base, window: &Window, acked: f64, mut added: f64) -> f64 {
        if window.in_slow_start() && HyStart::applies(base, window) {
            added = self.hystart.on_ack(base, window, acked, added);
        }
        if Limited::applies(base, window) {
            added = Limited.on_ack(base, window, acked, added);
        }
        added
    }

    /// An ACK frame, after the window has grown by it; ends slow start at the window of now
    /// where that is due.
    #[inline]
    pub fn on_rtt_sample(&mut self, base: &Base, window: &mut Window, now: Time, acked: &PacketsAcked) {
        if window.in_slow_start() && HyStart::applies(base, window) {
            let over = self.hystart.on_rtt_sample(now, acked.newest_sent_at, acked.rtt.map(|rtt| rtt.latest));
            if over {
                window.ssthresh = window.cwnd;
            }
        }
    }

    /// Sending resumes after a long idle period: rounds of before it are no reference for those
    /// after it, which the window starts up in anew (`RFC 9406 §4.2, §4.3`).
    pub fn on_idle(&mut self) {
        self.hystart = HyStart::default();
    }

    /// Names the state variables worth logging.
    pub fn inspect(&self, window: &Window, visit: &mut dyn FnMut(&'static str, f64)) {
        if self.hystart.is_conservative() && window.in_slow_start() {
            visit("conservative_slow_start", 1.0);
        }
    }
}

#[cfg(test)]
mod tests;
