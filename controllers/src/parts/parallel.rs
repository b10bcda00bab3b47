//! `n` flows that together are as aggressive as `k`: the arithmetic, and the reduction
//! that a whole group takes (`spec: cho §4, §5`).

use crate::Time;
use crate::parts::recovery::{Reduction, Response};
use crate::parts::smooth_rtt::SmoothRtt;
use crate::parts::window::Window;
use crate::parts::window_scheme::{Flow, WindowScheme};

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

/// The weight of `k` standard flows, shared by `n`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Weight {
    k: f64,
    n: f64,
    whole: bool,
}

impl Weight {
    /// Weight `k` shared by `n` flows; 0 counts as 1 in both.
    #[must_use]
    #[inline]
    pub fn of(k: u32, n: usize) -> Weight {
        Weight { k: f64::from(k.max(1)), n: n.max(1) as f64, whole: false }
    }

    /// Weight `k` in a single flow (`spec: cho §5`).
    #[must_use]
    #[inline]
    pub fn single(k: u32) -> Weight {
        Weight::of(k, 1)
    }

    /// The same in whole packets, rounded down, as a kernel computes (`spec: cho §4.4`).
    #[must_use]
    pub fn whole(self) -> Weight {
        Weight { whole: true, ..self }
    }

    /// The rules in force for the group's number of flows (`spec: cho §4`).
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

    /// Packets to add for `acked` packets in slow start, at most `cap` each
    /// (`spec: cho §4.2 eq. 3.2, §5 eq. 4.1`; the cap is choice K-1).
    #[must_use]
    #[inline]
    pub fn slow_start(&self, acked: f64, cap: f64) -> f64 {
        match self.regime() {
            Regime::Standard => acked,
            _ => (acked * self.k / self.n).min(acked * cap),
        }
    }

    /// Packets to add for `acked` packets in congestion avoidance
    /// (`spec: cho §4.2 eq. 3.8, §5 eq. 4.2`).
    #[must_use]
    #[inline]
    pub fn increase(&self, window: &Window, acked: f64) -> f64 {
        match self.regime() {
            Regime::Standard => acked / window.cwnd,
            _ => acked * self.k / (self.n * window.cwnd + (self.n - 1.0) / 2.0),
        }
    }

    /// `k` and `n` of a kernel's counters: the window grows by `k` for so many acknowledged packets that
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
    pub fn own_reduction(&self, window: &Window) -> Reduction {
        let cwnd = match self.regime() {
            Regime::Standard | Regime::Weaker => 0.5 * window.cwnd,
            Regime::Stronger => self.proportional(window.cwnd),
        };
        Reduction { cwnd: self.round(cwnd), ssthresh: self.threshold(window) }
    }

    /// The new threshold of a flow that met congestion: half its window, whatever its reduction
    /// (`spec: cho §4.3 rule 3, §5 eq. 4.3`).
    #[must_use]
    pub fn threshold(&self, window: &Window) -> f64 {
        self.round(0.5 * window.cwnd)
    }

    /// The window of a sibling of that flow (`spec: cho §4.3 rules 4, 5`).
    #[must_use]
    pub fn sibling_cwnd(&self, cwnd: f64) -> f64 {
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
pub fn guarded<S: WindowScheme>(flow: &Flow<'_, S>, weight: Weight, rtt: &SmoothRtt) -> bool {
    let within = |scaled: Time, min: f64| flow.now.since(scaled).micros() < min;
    let scaled = flow.member().and_then(|member| member.scaled_by_other);
    weight.regime() == Regime::Weaker && scaled.zip(rtt.min()).is_some_and(|(scaled, min)| within(scaled, min))
}

/// The response of a flow to congestion; where it is [guarded](guarded) a lower threshold, and no window changes
/// (`spec: cho §4.3 rules 1–5, P-3`). [`scale_siblings`] is its siblings' part.
#[must_use]
pub fn response<S: WindowScheme>(flow: &Flow<'_, S>, weight: Weight, guarded: bool) -> Response {
    if guarded {
        Response::LowerThreshold(weight.threshold(flow.window))
    } else {
        weight.own_reduction(flow.window).into()
    }
}

/// Persistent congestion of a flow: its siblings give what they would for a loss, unless
/// they have already; returns its new threshold (`spec: cho §4.3` Timeout, A-3).
pub fn start_over<S: WindowScheme>(flow: &mut Flow<'_, S>, weight: Weight, rtt: &SmoothRtt) -> f64 {
    if !flow.window.recovery.in_recovery() && !flow.answered() && !guarded(flow, weight, rtt) {
        scale_siblings(flow, weight);
    }
    weight.threshold(flow.window)
}

/// What siblings have to give (`spec: cho §4.3 rules 4, 5`).
pub fn scale_siblings<S: WindowScheme>(flow: &mut Flow<'_, S>, weight: Weight) {
    if weight.regime() != Regime::Standard {
        flow.lower_siblings(|member| Some(weight.sibling_cwnd(member.cwnd)));
    }
}

#[cfg(test)]
mod tests;
