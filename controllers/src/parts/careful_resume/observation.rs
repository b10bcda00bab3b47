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

/// Windows of a size that was set that are acknowledged before the rate alone says what may be in flight: those of the unvalidated
/// phase, and of the next.
const FRESH: f32 = 2.0;

/// A window that was set, while it is that: a controller whose window has head room over what its rate sends in a round trip
/// has none meanwhile, so that the rate is the window per round trip, and a growing RTT makes the window no larger than
/// acknowledgements do.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct FreshWindow {
    /// Bytes still to be acknowledged.
    left: f32,
    /// The window and what was acknowledged since, bytes.
    most: f32,
}

impl FreshWindow {
    /// The window is that of `to`.
    pub fn set(&mut self, to: &WindowSet) {
        (self.left, self.most) = (FRESH * to.cwnd as f32, to.cwnd as f32);
    }

    /// `bytes` were acknowledged.
    #[inline]
    pub fn acked(&mut self, bytes: u64) {
        if self.is_set() {
            self.left -= bytes as f32;
            self.most += bytes as f32;
        }
    }

    /// What may be in flight at most, bytes; infinite once it is no more.
    #[inline]
    pub fn most(self) -> f64 {
        if self.is_set() { f64::from(self.most) } else { f64::INFINITY }
    }

    /// Whether it is.
    #[inline]
    pub fn is_set(self) -> bool {
        self.left > 0.0
    }
}

/// What is resumed of a BBR flow, of either version.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ResumedBbr {
    /// Bytes delivered before which the rate says nothing of the window, as of the initial one.
    until: u64,
    /// Startup ends with it.
    pub known_bdp: KnownBdp,
}

impl ResumedBbr {
    /// The window to go on with after `delivered` bytes as with an initial one, that of `to` from `least` to `most` bytes. Recovery
    /// ends with no larger one, by `prior_cwnd`.
    pub fn set(&mut self, to: &WindowSet, delivered: u64, [least, most]: [f64; 2], prior_cwnd: &mut f64) -> f64 {
        let cwnd = (to.cwnd as f64).max(least).min(most);
        *prior_cwnd = prior_cwnd.min(cwnd);
        self.until = delivered.saturating_add(to.cwnd);
        self.known_bdp.set(to);
        cwnd
    }

    /// Whether the window grows by what is acknowledged, as an initial one does, after `delivered` bytes.
    #[inline]
    pub fn is_under_way(&self, delivered: u64) -> bool {
        delivered < self.until
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

    #[test]
    fn a_window_is_fresh_until_twice_as_much_is_acknowledged() {
        let mut fresh = FreshWindow::default();
        fresh.acked(1);
        assert!(!fresh.is_set(), "nothing is set");
        fresh.set(&WindowSet::new(1000));
        assert_eq!(fresh.most(), 1000.0);
        fresh.acked(1999);
        assert!(fresh.is_set() && fresh.most() == 2999.0);
        fresh.acked(1);
        assert!(!fresh.is_set() && fresh.most().is_infinite());
    }

    #[test]
    fn a_window_set_is_within_bounds_and_grows_until_it_is_acknowledged() {
        let (mut resumed, mut prior) = (ResumedBbr::default(), 9000.0);
        assert!(!resumed.is_under_way(0), "nothing is set");
        let cwnd = resumed.set(&WindowSet::new(50_000), 10_000, [4800.0, 40_000.0], &mut prior);
        assert_eq!((cwnd, prior), (40_000.0, 9000.0));
        assert_eq!([59_999, 60_000].map(|delivered| resumed.is_under_way(delivered)), [true, false]);
        let cwnd = resumed.set(&WindowSet::new(1).with_ssthresh(Some(5)), 10_000, [4800.0, 40_000.0], &mut prior);
        assert_eq!((cwnd, prior, resumed.known_bdp.bytes()), (4800.0, 4800.0, 5.0));
    }
}
