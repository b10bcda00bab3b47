//! The competition detector: from the window at which the queue starts to build (the
//! "knee") it finds whether the competitors changed since the previous knee, and from
//! that how aggressive a flow or a group may be (`spec: cho §6`).
//!
//! While the queue is short after a loss the weight `k` climbs by one per check; at
//! a knee it drops to 1. A loss that finds two equal knees is the flow's own doing, and
//! `k` starts over from the root of what it was; one that finds them different makes the
//! whole next epoch standard TCP's.

use crate::parts::smooth_rtt::SmoothRtt;
use crate::{Span, Time, parameters};

parameters! {
    /// Parameters of the [`Detector`].
    pub struct Settings {
        /// Wait after a check (α).
        check_wait: f64 = 10.0, in 0.0, 1e6, unit "minimum smoothed RTTs", source "spec: cho §6.1, Alg. 2";
        /// Wait after a loss (δ).
        loss_wait: f64 = 10.0, in 0.0, 1e6, unit "minimum smoothed RTTs", source "spec: cho §6.1, Alg. 2";
        /// How much two knees may differ and still count as equal (β).
        margin: f64 = 0.1, in 0.0, 1.0, source "spec: cho §6.1, Alg. 2";
        /// Where between the smoothed RTT's extremes a queue counts as long (γ).
        queue_level: f64 = 0.2, in 0.0, 1.0, source "spec: cho §6.1, Alg. 2";
        /// How far above the least smoothed RTT a queue counts as long at the earliest, whatever
        /// the extremes: what the path's samples vary by without one; 0 is off.
        noise_floor: f64 = 0.0, in 0.0, 10_000.0, unit "ms", source "choice";
        /// Whether the weight stays while the sender does not use its window.
        freeze_app_limited: bool = true, paper false, source "spec: cho §7, AT-5";
        /// Largest weight; 0 is none.
        k_max: u32 = 0, source "spec: cho §7, AT-5";
    }
}

/// The detector's state. Windows are packets: the flow's own (A-TCP) or the
/// group's sum (A-TCP-P).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Detector {
    /// Current weight, at least 1.
    pub k: u32,
    /// Window at the latest knee (`knee_cwnd`).
    pub knee: f64,
    /// The knee it is compared with (`knee_cwnd_ref`).
    pub knee_ref: f64,
    /// Weight at the latest counted knee.
    pub knee_k: u32,
    /// The weight may rise and the next knee may record it; set by each loss.
    pub check_knee: bool,
    /// The latest check saw a short queue.
    pub low_delay: bool,
    /// Smoothed RTT and its extremes.
    pub rtt: SmoothRtt,
    /// Time of the latest check or loss; the detector waits from it.
    pub modify_time: Time,
    /// Earliest next check, microseconds after `modify_time`.
    pub wait_time: f64,
    /// No loss has ended the initial slow start yet.
    pub first: bool,
}

impl Default for Detector {
    fn default() -> Self {
        Detector::start(Time::ZERO)
    }
}

impl Detector {
    /// A detector that starts at `now`.
    #[must_use]
    pub fn start(now: Time) -> Detector {
        Detector {
            k: 1,
            knee: 0.0,
            knee_ref: 0.0,
            knee_k: 0,
            check_knee: false,
            low_delay: false,
            rtt: SmoothRtt::default(),
            modify_time: now,
            wait_time: 0.0,
            first: true,
        }
    }

    /// An acknowledgement arrived, with an RTT sample or not, while the window was `w`
    /// (`spec: cho §6.2 det_ack, Alg. 3 and 6`).
    pub fn acked(&mut self, settings: &Settings, now: Time, rtt: Option<Span>, w: f64, app_limited: bool) {
        if let Some(rtt) = rtt {
            self.rtt.sample(rtt);
        }
        let (Some(srtt), Some(min), Some(max)) = (self.rtt.value(), self.rtt.min(), self.rtt.max()) else { return };
        let elapsed = now.since(self.modify_time).micros();
        if elapsed <= self.wait_time {
            return;
        }
        if srtt <= min + (settings.queue_level * (max - min)).max(1e3 * settings.noise_floor) {
            let rises = self.check_knee && self.knees_agree() && !(settings.freeze_app_limited && app_limited);
            if rises && (settings.k_max == 0 || self.k < settings.k_max) {
                self.k = self.k.saturating_add(1);
            }
            self.low_delay = true;
        } else {
            if self.low_delay {
                self.measure(settings, w);
            }
            self.k = 1;
        }
        self.modify_time = now;
        self.wait_time = settings.check_wait * min;
    }

    /// The queue starts to build at window `w` (`Alg. 3 / 6`, the knee).
    fn measure(&mut self, settings: &Settings, w: f64) {
        self.knee = w;
        let low = (1.0 - settings.margin) * self.knee_ref;
        let high = (1.0 + settings.margin) * self.knee_ref;
        if self.knee_ref == 0.0 || (low <= self.knee && self.knee <= high) {
            self.knee_ref = self.knee;
        }
        if self.check_knee {
            self.knee_k = self.k;
        }
        self.check_knee = false;
        self.low_delay = false;
    }

    /// A congestion event was accepted; called before the window is cut, by the new `k`
    /// (`spec: cho §6.3 det_loss, Alg. 4 and 7`).
    pub fn lost(&mut self, settings: &Settings, now: Time) {
        if self.first {
            self.k = 1;
            self.knee_k = 1;
            self.knee = 0.0;
            self.knee_ref = 0.0;
            self.first = false;
        } else if self.knees_agree() {
            self.k = self.knee_k.isqrt().max(1);
            self.rtt.relearn_max();
        } else {
            // `knee` keeps its value, so that it cannot equal `knee_ref` until a new one
            // is measured (AT-1).
            self.k = 1;
            self.knee_k = 1;
            self.knee_ref = 0.0;
        }
        self.check_knee = true;
        self.low_delay = false;
        self.modify_time = now;
        self.wait_time = settings.loss_wait * self.rtt.min().unwrap_or(0.0);
    }

    /// No competition seen: the latest knee is the one before it, or there was none yet.
    #[must_use]
    pub fn knees_agree(&self) -> bool {
        self.knee_ref == self.knee
    }

    /// What a packet is worth changed: windows are multiplied by `ratio`.
    pub fn on_mtu_update(&mut self, ratio: f64) {
        self.knee *= ratio;
        self.knee_ref *= ratio;
    }

    /// Names the state variables worth logging.
    pub fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("k", f64::from(self.k));
        visit("knee", self.knee);
        visit("knee_ref", self.knee_ref);
        visit("knee_k", f64::from(self.knee_k));
        visit("check_knee", f64::from(u8::from(self.check_knee)));
        visit("low_delay", f64::from(u8::from(self.low_delay)));
        self.rtt.inspect(visit);
    }
}

#[cfg(test)]
mod tests;
