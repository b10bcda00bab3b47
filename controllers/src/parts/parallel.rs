//! `n` flows that together are as aggressive as `k`: the arithmetic, and the cut that a
//! whole group takes (`spec: cho §4, §5`).

use crate::Time;
use crate::parts::aimd;
use crate::parts::grouped::{Flow, GroupRules};
use crate::parts::smooth_rtt::SmoothRtt;
use crate::parts::window::{Reduction, Window};

/// Which rules hold, from `k` and `n` alone (`spec: cho §4.2`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Regime {
    /// `k = n`: every flow is a standard one.
    Standard,
    /// `k < n`: the loser halves, its siblings give the rest.
    Weaker,
    /// `k > n`: every window shrinks in proportion.
    Stronger,
}

/// The strength of `k` standard flows shared by `n`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Share {
    k: f64,
    n: f64,
    whole: bool,
}

impl Share {
    /// Strength `k` shared by `n` flows; 0 counts as 1 in both.
    #[must_use]
    #[inline]
    pub fn of(k: u32, n: usize) -> Share {
        Share { k: f64::from(k.max(1)), n: n.max(1) as f64, whole: false }
    }

    /// Strength `k` in a single flow (`spec: cho §5`).
    #[must_use]
    #[inline]
    pub fn alone(k: u32) -> Share {
        Share::of(k, 1)
    }

    /// The same in whole packets, rounded down, as a kernel computes (`spec: cho §4.4`).
    #[must_use]
    pub fn whole(self) -> Share {
        Share { whole: true, ..self }
    }

    /// Which rules hold.
    #[must_use]
    #[inline]
    pub fn regime(&self) -> Regime {
        if self.k == self.n {
            Regime::Standard
        } else if self.k < self.n {
            Regime::Weaker
        } else {
            Regime::Stronger
        }
    }

    /// Packets to add for `units` acknowledged in slow start, at most `cap` per unit
    /// (`spec: cho §4.2 eq. 3.2, §5 eq. 4.1`; the cap is choice K-1).
    #[must_use]
    #[inline]
    pub fn slow_start(&self, units: f64, cap: f64) -> f64 {
        match self.regime() {
            Regime::Standard => units,
            _ => (units * self.k / self.n).min(units * cap),
        }
    }

    /// Packets to add for `units` acknowledged in congestion avoidance
    /// (`spec: cho §4.2 eq. 3.8, §5 eq. 4.2`).
    #[must_use]
    #[inline]
    pub fn increase(&self, window: &Window, units: f64) -> f64 {
        match self.regime() {
            Regime::Standard => aimd::increase(1.0, window, units),
            _ => units * self.k / (self.n * window.cwnd + (self.n - 1.0) / 2.0),
        }
    }

    /// `k` and `n` of a kernel's counters: the window grows by `k` for so many units that
    /// `n` flows together gain `k`. A standard flow counts for itself
    /// (`spec: cho §4.2 first row, §4.4`).
    #[must_use]
    pub fn counters(&self) -> (f64, f64) {
        match self.regime() {
            Regime::Standard => (1.0, 1.0),
            _ => (self.k, self.n),
        }
    }

    /// The response of the flow that met congestion (`spec: cho §4.3 rules 1, 3, 4, 5,
    /// §5 K-CONG`).
    #[must_use]
    pub fn own(&self, window: &Window) -> Reduction {
        let kept = match self.regime() {
            Regime::Standard | Regime::Weaker => aimd::decrease(0.5, window).cwnd,
            Regime::Stronger => self.proportional(window.cwnd),
        };
        Reduction { cwnd: self.round(kept), ssthresh: self.threshold(window) }
    }

    /// The new threshold of a flow that met congestion: half its window, whatever the cut
    /// (`spec: cho §4.3 rule 3, §5 eq. 4.3`).
    #[must_use]
    pub fn threshold(&self, window: &Window) -> f64 {
        self.round(aimd::decrease(0.5, window).ssthresh)
    }

    /// What a sibling of that flow keeps (`spec: cho §4.3 rules 4, 5`).
    #[must_use]
    pub fn sibling(&self, cwnd: f64) -> f64 {
        match self.regime() {
            Regime::Standard => cwnd,
            Regime::Stronger => self.round(self.proportional(cwnd)),
            Regime::Weaker if self.whole => libm::floor(cwnd * self.numerator() / self.denominator()),
            Regime::Weaker => cwnd * self.f(),
        }
    }

    /// The factor of a sibling's window when `k < n` (`spec: cho §4.3 eq. 3.9`).
    #[must_use]
    pub fn f(&self) -> f64 {
        let (k, n) = (self.k, self.n);
        0.5 + n * (k - 1.0) / (2.0 * (n - 1.0) * k)
    }

    /// `f` as a fraction of whole numbers, so that rounding down is exact.
    fn numerator(&self) -> f64 {
        (self.n - 1.0) * self.k + self.n * (self.k - 1.0)
    }

    fn denominator(&self) -> f64 {
        2.0 * (self.n - 1.0) * self.k
    }

    /// `cwnd·(2k−1)/(2k)` (`spec: cho eq. 3.6`).
    fn proportional(&self, cwnd: f64) -> f64 {
        cwnd * (2.0 * self.k - 1.0) / (2.0 * self.k)
    }

    fn round(&self, packets: f64) -> f64 {
        if self.whole { libm::floor(packets) } else { packets }
    }
}

/// Whether a sibling scaled the flow's window less than its smallest smoothed RTT ago:
/// then its loss belongs to the same burst (`spec: cho §4.3 rule 2`).
#[must_use]
pub fn guarded<R: GroupRules>(flow: &Flow<'_, R>, share: Share, rtt: &SmoothRtt) -> bool {
    let within = |scaled: Time, min: f64| flow.now.since(scaled).micros() < min;
    let scaled = flow.member().and_then(|member| member.scaled_by_other);
    share.regime() == Regime::Weaker && scaled.zip(rtt.min()).is_some_and(|(scaled, min)| within(scaled, min))
}

/// The response of a guarded flow: a lower threshold, no window changes
/// (`spec: cho §4.3 rule 2, P-3`).
pub fn hold<R: GroupRules>(flow: &mut Flow<'_, R>, share: Share) {
    let ssthresh = share.threshold(flow.window);
    flow.hold(ssthresh);
    flow.window.discard_undo();
}

/// The response of a flow and its group (`spec: cho §4.3 rules 1, 3, 4, 5`).
pub fn decrease<R: GroupRules>(flow: &mut Flow<'_, R>, share: Share) {
    let cut = share.own(flow.window);
    flow.respond(cut);
    scale_siblings(flow, share);
}

/// Persistent congestion of a flow: its siblings give what they would for a loss, unless
/// they have already; returns its new threshold (`spec: cho §4.3` Timeout, A-3).
pub fn start_over<R: GroupRules>(flow: &mut Flow<'_, R>, share: Share, rtt: &SmoothRtt) -> f64 {
    if !flow.window.recovery.in_recovery() && !guarded(flow, share, rtt) {
        scale_siblings(flow, share);
    }
    share.threshold(flow.window)
}

/// What siblings have to give.
pub fn scale_siblings<R: GroupRules>(flow: &mut Flow<'_, R>, share: Share) {
    if share.regime() != Regime::Standard {
        flow.take_from_siblings(|member| Some(share.sibling(member.cwnd)));
    }
}

#[cfg(test)]
mod tests;
