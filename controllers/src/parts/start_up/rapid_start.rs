//! Rapid Start (`draft-kazuho-ccwg-rapid-start`): growth of 3× per round trip as long as nothing queues, and a reduction
//! by what passed the bottleneck.
//!
//! Readings: the packets whose loss begins the recovery period are lost within it; without them the window would not end at
//! β of what was delivered. What the ACK that ends it acknowledges of before it counts, what was sent in it does not.
//! β is what the scheme's own response keeps. Slow start's threshold is the window before the loss until the period is
//! over, and then the window. The full BDP, of which that is β as after any response, is then what a scheme takes for the
//! window of before: CUBIC's `W_max` and `cwnd_prior` (`RFC 9438 §4.1.2`), not the window of before the loss, which held
//! what was lost, too. Pacing is the sender's (`RFC 9002 §7.7`).

use crate::event::{PacketsAcked, RttSample};
use crate::parts::limits::Limits;
use crate::parts::recovery::Reduction;
use crate::parts::start_up::Next;
use crate::parts::window::Window;
use crate::parts::windowed::WindowedMin;
use crate::{Event, EventKind, Span, Time};

/// How much more than `min_rtt` the floor may be, ns (§Rapid Start Phase).
const TOLERANCE: u64 = 4_000_000;
/// The same as a part of `min_rtt` (§Rapid Start Phase).
const TOLERANCE_DIVISOR: u64 = 10;
/// `K` (§Deriving the Reduction Factors).
const K: f64 = 11.0 / 18.0;

/// Rapid Start.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum RapidStart {
    /// In slow start, and after it.
    Growing {
        /// `min_rtt`.
        min_rtt: Span,
        /// `rtt_floor`, ns.
        rtt_floor: WindowedMin<4>,
    },
    /// In the recovery period after the first congestion.
    Recovery(Recovery),
}

/// The recovery period that ends it (§Congestion Handling).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Recovery {
    /// `cwnd_before_loss`, packets.
    before: f64,
    /// The window, packets.
    cwnd: f64,
    /// What a packet is worth, bytes; another size ends the period.
    mtu: f64,
    factors: Factors,
}

/// The reduction factors (§Deriving the Reduction Factors).
#[derive(Clone, Copy, PartialEq, Debug)]
struct Factors {
    beta: f64,
}

impl Factors {
    fn silence(self) -> f64 {
        self.beta + K * (1.0 - self.beta)
    }

    fn ack(self) -> f64 {
        K * (1.0 - self.beta)
    }

    fn loss(self) -> f64 {
        self.silence()
    }

    /// The part of `cwnd_before_loss` that is left at least (§Congestion Handling).
    fn least(self) -> f64 {
        self.silence() - self.ack() / 3.0 - 2.0 / 3.0 * self.loss()
    }
}

impl Default for RapidStart {
    fn default() -> Self {
        RapidStart::Growing { min_rtt: Span(u64::MAX), rtt_floor: WindowedMin::default() }
    }
}

impl RapidStart {
    /// `added` packets, twice as many while nothing queues, none in the recovery period (§Rapid Start Phase).
    #[must_use]
    pub fn on_ack(&self, limits: &Limits, window: &Window, event: &Event, added: f64) -> f64 {
        match self {
            RapidStart::Recovery(_) => 0.0,
            RapidStart::Growing { .. } if window.in_first_slow_start(limits) => {
                let mut seen = *self;
                seen.on_rtt_sample(event.now, event.rtt());
                if seen.queues() { added } else { 2.0 * added }
            }
            RapidStart::Growing { .. } => added,
        }
    }

    fn on_rtt_sample(&mut self, now: Time, rtt: Option<RttSample>) {
        let (RapidStart::Growing { min_rtt, rtt_floor }, Some(rtt)) = (self, rtt) else { return };
        *min_rtt = rtt.min.min(rtt.latest).min(*min_rtt);
        rtt_floor.update(now, Some(*min_rtt), i64::try_from(rtt.latest.0).unwrap_or(i64::MAX));
    }

    /// Whether the floor of the latest round trip tells of a queue (§Rapid Start Phase); not before any sample.
    fn queues(&self) -> bool {
        let RapidStart::Growing { min_rtt: Span(min_rtt), rtt_floor } = self else { return false };
        let most = min_rtt.saturating_add(TOLERANCE.min(min_rtt / TOLERANCE_DIVISOR));
        rtt_floor.get().is_some_and(|floor| floor.unsigned_abs() > most)
    }

    /// The first congestion scales the window by `silence_factor`, later ones by the scheme's `reduction`
    /// (§Congestion Handling).
    pub fn on_congestion(&mut self, limits: &Limits, window: &Window, reduction: Reduction) -> Reduction {
        let first = window.in_first_slow_start(limits) && reduction.cwnd < window.cwnd;
        if matches!(self, RapidStart::Recovery(_)) || !first {
            *self = RapidStart::default();
            return reduction;
        }
        let before = window.cwnd;
        let factors = Factors { beta: reduction.cwnd / before };
        let cwnd = factors.silence() * before;
        *self = RapidStart::Recovery(Recovery { before, cwnd, mtu: window.mtu, factors });
        Reduction { cwnd, ssthresh: before }
    }

    /// An event that window and scheme have taken in; see [`StartUp::on_event`](super::StartUp::on_event).
    pub fn on_event(&mut self, limits: &Limits, window: &Window, event: &Event) -> Option<Next> {
        let RapidStart::Recovery(recovery) = self else {
            match &event.kind {
                EventKind::IdleRestart(idle) if idle.is_long() => *self = RapidStart::default(),
                _ if window.in_first_slow_start(limits) => self.on_rtt_sample(event.now, event.rtt()),
                _ => {}
            }
            return None;
        };
        let mut over = !window.recovery.in_recovery();
        let by = match &event.kind {
            EventKind::PacketsAcked(acked) => recovery.factors.ack() * of_before(window, acked) as f64,
            EventKind::PacketsLost(lost) => recovery.factors.loss() * lost.bytes as f64,
            EventKind::MtuUpdated(_) | EventKind::IdleRestart(_) | EventKind::WindowSet(_) => {
                over = true;
                0.0
            }
            _ if over => 0.0,
            _ => return None,
        };
        let to = if by > 0.0 { recovery.lower(limits, window, by, over) } else { recovery.keep(window, over) };
        let reduced_from = over.then(|| recovery.full(window, to.ssthresh));
        if over {
            *self = RapidStart::default();
        }
        // Taken back, slow start goes on.
        (!window.in_first_slow_start(limits)).then_some(Next { to, reduced_from })
    }
}

/// Bytes that the frame acknowledges of before the recovery period.
fn of_before(window: &Window, acked: &PacketsAcked) -> u64 {
    let all = !window.recovery.accepts(acked.newest_sent_at);
    if all { acked.bytes } else { acked.bytes.saturating_sub(acked.fresh_bytes) }
}

impl Recovery {
    /// The window, less `by` bytes, and its threshold once the period is `over` (§Congestion Handling).
    fn lower(&mut self, limits: &Limits, window: &Window, by: f64, over: bool) -> Reduction {
        let beta = self.factors.beta;
        let least = (self.factors.least() * self.before).max(beta * limits.initial_window(window.mtu));
        let cwnd = (window.cwnd - by / window.mtu).max(least.max(limits.min_window)).min(window.cwnd);
        self.cwnd = cwnd;
        Reduction { cwnd, ssthresh: if over { cwnd.max(2.0) } else { window.ssthresh } }
    }

    /// The full BDP of a period that ends at `cwnd` packets, which are β of it; no more than the window before the loss.
    fn full(&self, window: &Window, cwnd: f64) -> f64 {
        (cwnd / self.factors.beta).min(self.before * (self.mtu / window.mtu))
    }

    /// The window as it is, with the one of the period as its threshold once that is `over`.
    fn keep(&self, window: &Window, over: bool) -> Reduction {
        let of_period = (self.cwnd * (self.mtu / window.mtu)).max(2.0).min(window.ssthresh);
        Reduction { cwnd: window.cwnd, ssthresh: if over { of_period } else { window.ssthresh } }
    }
}

#[cfg(test)]
mod tests;
