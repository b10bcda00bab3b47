//! Recovery: the response to congestion, at most one per round trip, and what of it may be
//! taken back.
//!
//! The start of a [`RecoveryPeriod`] is the one response to all losses and marks of a flight.
//! The window and threshold before it are kept, and losses that turn out spurious restore them. An
//! ECN mark or a later response makes the response final. Schemes that keep state of their own for
//! that wrap it in [`Undoable`].

use crate::Time;
use crate::decision::Phase;

/// The latest recovery period (`RFC 9002 §7.3.2`; `spec: cho §1.4`; `spec: arumaithurai
/// §1.5`). Kept by send time, which every stack knows, not by packet number: a packet
/// sent at the very instant of the response counts as sent before it.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct RecoveryPeriod {
    /// When the latest period started, if there was one.
    start: Time,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Debug, Default)]
enum Stage {
    /// No congestion event so far.
    #[default]
    Never,
    /// Nothing sent since the start has been acknowledged yet.
    Open,
    Over,
}

impl RecoveryPeriod {
    /// When the latest recovery period started; `None` before the first.
    #[must_use]
    #[inline]
    pub fn start(&self) -> Option<Time> {
        (self.stage != Stage::Never).then_some(self.start)
    }

    /// Whether no packet sent after the response has been acknowledged yet.
    #[must_use]
    #[inline]
    pub fn in_recovery(&self) -> bool {
        self.stage == Stage::Open
    }

    /// The phase of a flow, which is in start-up or not once it is out of recovery.
    #[must_use]
    #[inline]
    pub fn phase(&self, in_start_up: bool) -> Phase {
        match (self.in_recovery(), in_start_up) {
            (true, _) => Phase::Recovery,
            (false, true) => Phase::SlowStart,
            (false, false) => Phase::CongestionAvoidance,
        }
    }

    /// Whether a packet sent at `sent_at` left after the latest response, so that its
    /// loss or mark deserves a response of its own.
    #[must_use]
    #[inline]
    pub fn accepts(&self, sent_at: Time) -> bool {
        self.stage == Stage::Never || sent_at > self.start
    }

    /// A response is taken at `now`.
    pub fn begin(&mut self, now: Time) {
        *self = RecoveryPeriod { start: now, stage: Stage::Open };
    }

    /// A packet sent at `newest_sent_at` was acknowledged. Returns whether that ends
    /// the recovery period.
    #[inline]
    pub fn acked(&mut self, newest_sent_at: Time) -> bool {
        let ends = self.in_recovery() && self.accepts(newest_sent_at);
        if ends {
            self.stage = Stage::Over;
        }
        ends
    }

    /// Leaves recovery without an acknowledgement: the response was undone.
    pub fn close(&mut self) {
        if self.in_recovery() {
            self.stage = Stage::Over;
        }
    }

    /// Forgets the period: persistent congestion starts over (`RFC 9002 §7.6.2`).
    pub fn reset(&mut self) {
        *self = RecoveryPeriod::default();
    }
}

/// Window and threshold after a congestion response, packets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reduction {
    /// The window to reduce to, packets.
    pub cwnd: f64,
    /// The new slow start threshold.
    pub ssthresh: f64,
}

impl Reduction {
    /// Window and threshold both go to `cwnd` packets (`spec: sharma §1.5 B-CONG`).
    #[must_use]
    pub fn to(cwnd: f64) -> Reduction {
        Reduction { cwnd, ssthresh: cwnd }
    }
}

/// The response of a scheme to congestion.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Response {
    /// Window and threshold are reduced, which may be taken back.
    Reduce(Reduction),
    /// The threshold goes to so many packets, for good; the window stays.
    LowerThreshold(f64),
    /// No recovery period begins; what there was to do the scheme has done.
    None,
}

impl Response {
    /// Window and threshold both go to `cwnd` packets (`spec: sharma §1.5 B-CONG`).
    #[must_use]
    pub fn to(cwnd: f64) -> Response {
        Response::Reduce(Reduction::to(cwnd))
    }
}

impl From<Reduction> for Response {
    fn from(reduction: Reduction) -> Response {
        Response::Reduce(reduction)
    }
}

/// What a response changed of a window, kept until it can no longer be taken back.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Undo {
    pub cwnd: f64,
    pub ssthresh: f64,
    pub reduced: bool,
    pub ever_reduced: bool,
    /// From the response before it to this one, µs; the type's end where there was none, or it
    /// was so long ago.
    pub since_earlier: u32,
}

/// State of a scheme that a congestion response changes, with its value before the latest
/// response (`RFC 9438 §4.9.2`).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct Undoable<T> {
    /// The value after the latest reduction.
    pub current: T,
    /// The value the latest response found.
    pub saved: T,
}

impl<T: Copy> Undoable<T> {
    /// A new flow's; nothing to take back.
    #[must_use]
    pub const fn new(value: T) -> Undoable<T> {
        Undoable { current: value, saved: value }
    }

    /// Saves the value for [`undo`](Self::undo) and gives it, for the response to change.
    pub fn save(&mut self) -> &mut T {
        self.saved = self.current;
        &mut self.current
    }

    /// Restores the value before the latest response.
    pub fn undo(&mut self) {
        self.current = self.saved;
    }

    /// Both values, for what changes them whether the response is taken back or not.
    pub fn both(&mut self) -> [&mut T; 2] {
        [&mut self.current, &mut self.saved]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_response_per_flight_and_exit_on_a_later_packet() {
        let mut period = RecoveryPeriod::default();
        assert!(period.accepts(Time(5)));
        period.begin(Time(10));
        assert!(!period.accepts(Time(10)));
        assert!(!period.acked(Time(10)));
        assert!(period.in_recovery());
        assert!(period.acked(Time(11)));
        assert!(!period.acked(Time(12)), "ends once");
        assert!(!period.accepts(Time(9)), "the period is still known");
    }

    #[test]
    fn an_undo_restores_what_the_latest_response_found() {
        let mut value = Undoable::new(1);
        *value.save() = 2;
        *value.save() = 3;
        value.undo();
        assert_eq!((value.current, value.both()), (2, [&mut 2, &mut 2]));
    }
}
