//! Recovery: the response to congestion, at most one per round trip, and what of it may be
//! taken back.
//!
//! The start of a [`RecoveryPeriod`] is the one response to all losses and marks of a flight.
//! The window and threshold it found are kept until it is certain: losses that turn out
//! spurious restore them, and so does a rollback where a scheme has one. A mark makes the
//! response certain, and so does a later one: what it answered is another's affair. Schemes
//! that keep state of their own for that wrap it in [`Undoable`].

use crate::event::SpuriousLoss;
use crate::parts::base::Base;
use crate::parts::window::Window;
use crate::{EventKind, Time};

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

/// What a response changed of a window, kept until it can no longer be taken back.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Undo {
    cwnd: f64,
    ssthresh: f64,
    reduced: bool,
    ever_reduced: bool,
    /// The response lowered the threshold only.
    threshold_only: bool,
    /// From the response before it to this one, µs; the type's end where there was none, or it
    /// was so long ago.
    since_earlier: u32,
}

impl Window {
    /// Whether the response to come is the platform's own halving: the first of the
    /// flow, or in slow start (`spec: sharma §1.6`).
    #[must_use]
    pub fn halves_first(&self, base: &Base) -> bool {
        base.first_halving && (!self.ever_reduced || self.in_slow_start())
    }

    /// Takes a congestion response at `now`.
    pub fn reduce(&mut self, base: &Base, now: Time, reduction: Reduction) {
        self.respond(now, reduction.ssthresh, false);
        self.cwnd = reduction.cwnd.max(base.min_window).min(base.max_window);
    }

    /// Makes the latest response a larger one, down to `to` packets; a window that is
    /// smaller already stays. The larger response is final.
    pub fn reduce_further(&mut self, base: &Base, to: f64) {
        self.lower(base, to);
        self.ssthresh = self.ssthresh.min(to).max(2.0);
        self.discard_undo();
    }

    /// Takes a congestion response at `now` that moves the threshold and leaves the
    /// window.
    pub fn reduce_threshold(&mut self, now: Time, ssthresh: f64) {
        self.respond(now, ssthresh, true);
    }

    fn respond(&mut self, now: Time, ssthresh: f64, threshold_only: bool) {
        let since_earlier = self.recovery.start().and_then(|start| u32::try_from(now.since(start).0 / 1000).ok());
        self.lost = 0;
        self.undo = Some(Undo {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
            reduced: self.reduced,
            ever_reduced: self.ever_reduced,
            threshold_only,
            since_earlier: since_earlier.unwrap_or(u32::MAX),
        });
        self.ssthresh = ssthresh.max(2.0);
        self.recovery.begin(now);
        self.reduced = true;
        self.ever_reduced = true;
    }

    /// Starts over after persistent congestion, with the threshold at `ssthresh` packets
    /// (`RFC 9002 §7.6.2`; `spec: sharma §1.5 B-RTO`; `spec: cho §1.6 STD-RTO`). Final.
    pub fn start_over(&mut self, base: &Base, ssthresh: f64) {
        self.ssthresh = ssthresh.max(2.0);
        self.cwnd = base.timeout_window.min(base.max_window);
        self.recovery.reset();
        self.reduced = false;
        self.ever_reduced = true;
        self.undo = None;
    }

    /// Makes the latest response final: it can no longer be taken back.
    pub fn discard_undo(&mut self) {
        self.undo = None;
    }

    /// Takes the latest response back if the losses it answered were spurious. Those of an
    /// earlier response change nothing. Returns whether anything was restored.
    pub fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) -> bool {
        let answered = |saved: Undo| {
            let since_earlier = 1000 * u64::from(saved.since_earlier);
            let start = self.recovery.start().unwrap_or(Time::ZERO);
            saved.since_earlier == u32::MAX || spurious.newest_sent_at.0.saturating_add(since_earlier) > start.0
        };
        self.undo.is_some_and(answered) && self.undo()
    }

    /// Takes the latest response back. A window that has outgrown the one a response lowered
    /// stays as it is (`RFC 9438 §4.9.2`). Returns whether anything was restored.
    pub fn undo(&mut self) -> bool {
        let Some(saved) = self.undo.take() else { return false };
        self.recovery.close();
        if self.cwnd > saved.cwnd && !saved.threshold_only {
            return false;
        }
        self.cwnd = self.cwnd.max(saved.cwnd);
        self.ssthresh = saved.ssthresh;
        self.reduced = saved.reduced;
        self.ever_reduced = saved.ever_reduced;
        true
    }

    /// Counts the losses the latest response answers, and those since.
    #[inline]
    pub fn count_lost(&mut self, kind: &EventKind) {
        if let EventKind::PacketsLost(lost) = kind {
            self.lost = self.lost.saturating_add(lost.packets);
        }
    }

    /// Whether nothing but losses of less than `part` of the window, in whole packets, or of a single
    /// one led to the latest response, and slow start had ended before it.
    #[must_use]
    pub fn lost_little(&self, part: f64) -> bool {
        let few = ((part * self.cwnd) as u32).max(2);
        self.undo.is_some_and(|saved| saved.cwnd >= saved.ssthresh && (1..few).contains(&self.lost))
    }
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
