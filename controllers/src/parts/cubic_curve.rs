//! CUBIC's shape: one congestion avoidance stage along a cubic of time, with Reno's
//! window beside it (`RFC 9438 §4.2, §4.3`).
//!
//! The cubic starts at the window the epoch starts with, is flat at `W_max` and
//! bends upward beyond. Between two congestion events an epoch knows how far it is from
//! the elapsed time alone; the cube root is taken once, at its start.

use crate::{Span, Time};

/// `α_cubic`: growth of `W_est` per window of packets that gives an AIMD with the decrease
/// factor `beta` the average window of AIMD(1, ½): `3(1−β)/(1+β)` (`RFC 9438 §4.3`;
/// `spec: sharma §6`).
#[must_use]
#[inline]
pub fn alpha_cubic(beta: f64) -> f64 {
    3.0 * (1.0 - beta) / (1.0 + beta)
}

/// `W_max` after congestion at `cwnd`, where it was `w_max`: the window, or less of it if it
/// fell short and `fast_convergence` is on (`RFC 9438 §4.7`; `spec: sharma §6 rule 2`). The
/// window becomes `beta` of it.
#[must_use]
pub fn next_w_max(cwnd: f64, w_max: f64, beta: f64, fast_convergence: bool) -> f64 {
    if fast_convergence && cwnd < w_max { 0.5 * (1.0 + beta) * cwnd } else { cwnd }
}

/// A congestion avoidance stage (`RFC 9438 §4.1.2, §4.2`).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Epoch {
    /// `epoch_start`.
    epoch_start: Time,
    /// `K`: when the curve reaches its plateau, seconds after the start.
    pub k: f64,
    /// The plateau, packets: `W_max`, or `cwnd_epoch` if that was not below.
    pub plateau: f64,
    /// `W_est`: the window Reno would have, packets.
    pub w_est: f64,
    /// `t`: seconds since the start that counted at the latest growth.
    t: f64,
}

impl Epoch {
    /// An epoch that starts at `now` with a window of `cwnd_epoch` packets and aims at `w_max`
    /// (`RFC 9438 §4.2 fig. 2`; `spec: sharma §6 T-9, A-5`). `c` is in packets/s³.
    #[must_use]
    pub fn start(c: f64, now: Time, cwnd_epoch: f64, w_max: f64) -> Epoch {
        let k = if w_max > cwnd_epoch { libm::cbrt((w_max - cwnd_epoch) / c) } else { 0.0 };
        Epoch { epoch_start: now, k, plateau: w_max.max(cwnd_epoch), w_est: cwnd_epoch, t: 0.0 }
    }

    /// Seconds from the start to `now` that count.
    #[inline]
    pub fn elapsed(&mut self, now: Time) -> f64 {
        self.t = now.since(self.epoch_start).secs();
        self.t
    }

    /// `W_cubic(t)`, packets (`RFC 9438 §4.2 fig. 1`; `spec: sharma §6 T-8`).
    #[must_use]
    #[inline]
    pub fn w_cubic(&self, c: f64, t: f64) -> f64 {
        let d = t - self.k;
        self.plateau + c * d * d * d
    }

    /// The share `windows` of a window was acknowledged, and a whole one is worth
    /// `alpha` packets to `W_est` (`RFC 9438 §4.3 fig. 4`).
    #[inline]
    pub fn grow_w_est(&mut self, alpha: f64, windows: f64) {
        self.w_est += alpha * windows;
    }

    /// Names the state variables worth logging.
    pub fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("k_s", self.k);
        visit("plateau", self.plateau);
        visit("epoch_s", self.t);
        visit("w_est", self.w_est);
    }
}

/// The epoch of a flow.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum CurrentEpoch {
    /// Congestion avoidance is under way.
    Started(Epoch),
    /// The next ACK in congestion avoidance starts one that aims at `W_max`.
    Ended,
    /// The next ACK starts one with K = 0 on its plateau: no congestion event or a timeout went
    /// before (`RFC 9438 §4.8, §4.10`).
    #[default]
    EndedAtPlateau,
}

impl CurrentEpoch {
    /// Whether the next epoch starts on its plateau.
    #[must_use]
    pub fn is_at_plateau(&self) -> bool {
        matches!(self, CurrentEpoch::EndedAtPlateau)
    }

    /// The epoch under way; `None` between two.
    #[must_use]
    #[inline]
    pub fn get(&self) -> Option<&Epoch> {
        if let CurrentEpoch::Started(epoch) = self { Some(epoch) } else { None }
    }

    /// As [`get`](Self::get), to go on with.
    #[inline]
    pub fn get_mut(&mut self) -> Option<&mut Epoch> {
        if let CurrentEpoch::Started(epoch) = self { Some(epoch) } else { None }
    }

    /// An epoch starts at `now` with a window of `cwnd_epoch` packets and aims at `w_max`, unless
    /// it starts on its plateau; `c` is in packets/s³ (`RFC 9438 §4.2, §4.8, §4.10`;
    /// `spec: sharma §6 rule 1.1, A-8`).
    #[cold]
    pub fn start(&mut self, c: f64, now: Time, cwnd_epoch: f64, w_max: f64) {
        let w_max = if self.is_at_plateau() { 0.0 } else { w_max };
        *self = CurrentEpoch::Started(Epoch::start(c, now, cwnd_epoch, w_max));
    }

    /// An epoch that was under way is over, with the window it was about; the next aims at `W_max`.
    pub fn end(&mut self) {
        if self.get().is_some() {
            *self = CurrentEpoch::Ended;
        }
    }

    /// The `span` before `now` does not count in the epoch, if there is one: the flow was
    /// idle or limited by its application (`RFC 9438 §4.2, §5.8`; `spec: sharma §6 rule 4`).
    pub fn pause(&mut self, now: Time, span: Span) {
        if let Some(epoch) = self.get_mut() {
            epoch.epoch_start = (epoch.epoch_start + span).min(now);
        }
    }
}

#[cfg(test)]
mod tests;
