//! What a flow observes of its path (`RFC 9959 §3.1, §4.1`), and what a later one is told of it.

use crate::event::{PacketsAcked, WindowSet};
use crate::{Decision, Event, EventKind, Phase, SavedPath, Span, Time};

/// Rounds of which the largest delivery counts; those before are forgotten after as many again.
const ROUNDS: u8 = 8;
/// A path that delivers less than so many initial windows in an RTT is not worth it (`RFC 9959 §3.1`).
const LEAST_INITIAL_WINDOWS: u64 = 4;
/// The part of the BDP with which the pipe is full as it was for an earlier flow.
const FULL: f64 = 0.95;

/// The capacity that a flow uses, by what is acknowledged in a round trip.
///
/// A round lasts from the ACK of a packet sent in it to the ACK of a packet sent after that. What it delivers is scaled
/// to the smallest RTT, so that a queue that the flow itself built is no part of the capacity (`RFC 9959 §4.1` warns of
/// it), and a window that overshoots is none, since deliveries do not. Rounds of an application that did not use the
/// window count where they delivered more, and do not age what is known (§4.1).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Observation {
    initial_window: u64,
    /// The smallest RTT; `None` before the first sample.
    rtt: Option<Span>,
    /// When the round began, and what had been delivered by then.
    round: Option<(Time, u64)>,
    is_limited: bool,
    /// Bytes that a round delivered at most per smallest RTT, of the rounds that count and of those before.
    most: [f64; 2],
    rounds: u8,
    /// Slow start ended, by congestion or before it.
    is_full: bool,
}

impl Observation {
    /// Of a flow that starts with a window of `initial_window` bytes.
    #[must_use]
    pub fn new(initial_window: u64) -> Observation {
        let most = [0.0; 2];
        Observation { initial_window, rtt: None, round: None, is_limited: false, most, rounds: 0, is_full: false }
    }

    /// Takes the next event of the flow in, and the decision that it led to.
    #[inline]
    pub fn on_event(&mut self, event: &Event, decision: &Decision) {
        self.is_full |= decision.phase != Phase::SlowStart;
        if let Some(sample) = event.rtt() {
            self.rtt = Some(self.rtt.map_or(sample.latest, |rtt| rtt.min(sample.latest)));
        }
        if let EventKind::PacketsAcked(acked) = &event.kind {
            self.acked(event.now, acked);
        }
    }

    fn acked(&mut self, now: Time, acked: &PacketsAcked) {
        self.is_limited |= acked.app_limited;
        let Some((began, delivered)) = self.round else {
            self.round = Some((now, acked.delivered));
            return;
        };
        if acked.newest_sent_at < began {
            return;
        }
        let (volume, lasted) = (acked.delivered.saturating_sub(delivered) as f64, now.since(began));
        if let Some(rtt) = self.rtt.filter(|_| lasted > Span::ZERO) {
            self.most[0] = self.most[0].max(volume * (rtt.0 as f64 / lasted.0 as f64).min(1.0));
            self.rounds += u8::from(!self.is_limited);
        }
        if self.rounds == ROUNDS {
            (self.most, self.rounds) = ([0.0, self.most[0]], 0);
        }
        (self.round, self.is_limited) = (Some((now, acked.delivered)), false);
    }

    /// What is worth saving of the path by now; `None` where it delivers too little.
    #[must_use]
    pub fn saved(&self) -> Option<SavedPath> {
        let cwnd = self.most[0].max(self.most[1]) as u64;
        let least = self.initial_window.saturating_mul(LEAST_INITIAL_WINDOWS);
        self.rtt.filter(|_| cwnd >= least).map(|rtt| SavedPath::new(cwnd, rtt).with_full(self.is_full))
    }
}

/// The BDP at which the start-up of a controller that follows a rate it measures ends, by the threshold of [`WindowSet`], bytes;
/// infinite where it is not known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct KnownBdp(f32);

impl Default for KnownBdp {
    fn default() -> Self {
        KnownBdp(f32::INFINITY)
    }
}

impl KnownBdp {
    /// Takes the threshold of `to`, if it has one.
    pub fn set(&mut self, to: &WindowSet) {
        if let Some(bytes) = to.ssthresh {
            self.0 = bytes as f32;
        }
    }

    /// Bytes.
    #[inline]
    pub fn bytes(self) -> f64 {
        f64::from(self.0)
    }

    /// Whether a flow that delivers `bytes` in a round trip fills the pipe.
    #[inline]
    pub fn is_filled_by(self, bytes: f64) -> bool {
        bytes >= FULL * self.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_is_full_with_what_filled_it_before() {
        let mut known = KnownBdp::default();
        known.set(&WindowSet::new(1));
        assert!(!known.is_filled_by(f64::MAX) && known.bytes().is_infinite(), "nothing is known");
        known.set(&WindowSet::new(1).with_ssthresh(Some(100_000)));
        known.set(&WindowSet::new(2));
        assert_eq!([94_999.0, 95_000.0].map(|bytes| known.is_filled_by(bytes)), [false, true]);
    }
}
