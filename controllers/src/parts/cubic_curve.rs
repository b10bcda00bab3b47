//! CUBIC's shape: one stage of congestion avoidance along a cubic of time, with Reno's
//! window beside it.
//!
//! The cubic starts at the window the stage starts with, is flat at its plateau and
//! bends upward beyond. Between two congestion events a stage knows how far it is from
//! the elapsed time alone; the cube root is taken once, when it begins.

use crate::{Span, Time};

mod track;

pub use track::{Track, Tracks};

/// Growth of Reno's estimate per window of packets that gives an AIMD keeping `beta` the
/// average window of AIMD(1, ½): `3(1−β)/(1+β)` (`RFC 9438 §4.3`; `spec: sharma §6`).
#[must_use]
#[inline]
pub fn friendly_increase(beta: f64) -> f64 {
    3.0 * (1.0 - beta) / (1.0 + beta)
}

/// What to remember as the maximum after congestion at `cwnd`, where `w_max` was
/// remembered before: the window, or less of it if it fell short and `fast_convergence`
/// is on (`RFC 9438 §4.7`; `spec: sharma §6 rule 2`). The window kept is `beta` of it.
#[must_use]
pub fn next_maximum(cwnd: f64, w_max: f64, beta: f64, fast_convergence: bool) -> f64 {
    if fast_convergence && cwnd < w_max { 0.5 * (1.0 + beta) * cwnd } else { cwnd }
}

/// The `span` before `now` does not count in the stage, if there is one: the flow was
/// idle or limited by its application (`RFC 9438 §4.2, §5.8`; `spec: sharma §6 rule 4`).
pub fn pause(stage: Option<&mut Stage>, now: Time, span: Span) {
    if let Some(stage) = stage {
        stage.began = (stage.began + span).min(now);
    }
}

/// One stage of congestion avoidance.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stage {
    began: Time,
    /// `K`: when the curve reaches its plateau, seconds after the beginning.
    pub k: f64,
    /// The plateau, packets: `W_max`, or the window the stage began with if that was
    /// not below.
    pub plateau: f64,
    /// `W_est`: the window Reno would have, packets.
    pub reno: f64,
    /// Seconds since the beginning that counted at the latest growth.
    t: f64,
}

impl Stage {
    /// A stage that begins at `now` with a window of `cwnd` packets and aims at `w_max`
    /// (`RFC 9438 §4.2 fig. 2`; `spec: sharma §6 T-9, A-5`). `c` is in packets/s³.
    #[must_use]
    pub fn begin(c: f64, now: Time, cwnd: f64, w_max: f64) -> Stage {
        let k = if w_max > cwnd { libm::cbrt((w_max - cwnd) / c) } else { 0.0 };
        Stage { began: now, k, plateau: w_max.max(cwnd), reno: cwnd, t: 0.0 }
    }

    /// Seconds from the beginning to `now` that count.
    #[inline]
    pub fn elapsed(&mut self, now: Time) -> f64 {
        self.t = now.since(self.began).secs();
        self.t
    }

    /// The curve `t` seconds after the beginning, packets (`RFC 9438 §4.2 fig. 1`;
    /// `spec: sharma §6 T-8`).
    #[must_use]
    #[inline]
    pub fn at(&self, c: f64, t: f64) -> f64 {
        let d = t - self.k;
        self.plateau + c * d * d * d
    }

    /// The share `windows` of a window was acknowledged, and a whole one is worth
    /// `increase` packets to Reno (`RFC 9438 §4.3 fig. 4`).
    #[inline]
    pub fn count(&mut self, increase: f64, windows: f64) {
        self.reno += increase * windows;
    }

    /// Names the facts worth logging.
    pub fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("k_s", self.k);
        visit("plateau", self.plateau);
        visit("epoch_s", self.t);
        visit("w_est", self.reno);
    }
}

#[cfg(test)]
mod tests;
