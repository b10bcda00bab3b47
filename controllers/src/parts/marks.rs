//! Which fraction of a flow's packets arrives CE-marked, and what a loss means to a flow
//! that has just answered a mark.

use crate::event::{EcnCe, PacketsAcked};
use crate::{Event, EventKind, Span, Time};

/// A moving average over observation windows of about a round trip (`RFC 8257 §3.3`).
///
/// A window ends with the first frame that acknowledges a packet sent after it began;
/// that frame belongs to the next one, since its marks are reported before the packets it
/// acknowledges.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MarkedFraction {
    alpha: f64,
    began: Time,
    acked: u64,
    marked: u64,
    seen: bool,
}

impl Default for MarkedFraction {
    fn default() -> Self {
        MarkedFraction::start(Time::ZERO)
    }
}

impl MarkedFraction {
    /// Nothing observed at `now`: the most cautious fraction, 1 (`RFC 8257 §3.3`).
    #[must_use]
    pub const fn start(now: Time) -> MarkedFraction {
        MarkedFraction { alpha: 1.0, began: now, acked: 0, marked: 0, seen: false }
    }

    /// The average, from 0 to 1.
    #[must_use]
    #[inline]
    pub const fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Whether any packet has arrived marked yet.
    #[must_use]
    #[inline]
    pub const fn seen(&self) -> bool {
        self.seen
    }

    /// Takes an event in; windows last `least` at least, and the latest counts for `gain`.
    /// Returns whether a window ended.
    #[inline]
    pub fn on_event(&mut self, gain: f64, least: Span, event: &Event) -> bool {
        let (newest_sent_at, acked, marked) = match event.kind {
            EventKind::PacketsAcked(PacketsAcked { newest_sent_at, packets, .. }) => (newest_sent_at, packets, 0),
            EventKind::EcnCe(EcnCe { newest_sent_at, packets, .. }) => (newest_sent_at, 0, packets.max(1)),
            _ => return false,
        };
        let ends = newest_sent_at > self.began && event.now.since(self.began) >= least;
        if ends {
            self.close(gain);
            self.clear(event.now);
        }
        self.seen |= marked > 0;
        self.acked = self.acked.saturating_add(u64::from(acked));
        self.marked = self.marked.saturating_add(u64::from(marked));
        ends
    }

    /// Drops what the current window has counted; the next begins at `now`.
    pub fn clear(&mut self, now: Time) {
        (self.began, self.acked, self.marked) = (now, 0, 0);
    }

    /// `alpha = (1 − g)·alpha + g·M` (`RFC 8257 §3.3`; `spec: arumaithurai §6.4 rule 1`). A
    /// window without packets changes nothing.
    fn close(&mut self, gain: f64) {
        let of = self.acked.max(self.marked);
        if of > 0 {
            let fraction = self.marked as f64 / of as f64;
            self.alpha = ((1.0 - gain) * self.alpha + gain * fraction).clamp(0.0, 1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    //! `RFC 8257 §3.3`; `spec: arumaithurai §6.4, §8 I34, §10`.

    use proptest::prelude::*;

    use super::*;
    use crate::testkit::{acked, cases, marked};

    const G: f64 = 1.0 / 16.0;

    fn at(now: u64, kind: EventKind) -> Event {
        Event { now: Time(now), kind }
    }

    /// A window of `packets` that begins with the frame at `now`, `marks` of them marked.
    fn window(fraction: &mut MarkedFraction, now: u64, packets: u32, marks: u32) {
        let sent_at = Time(now - 1);
        if marks > 0 {
            fraction.on_event(G, Span::ZERO, &at(now, EventKind::EcnCe(EcnCe { packets: marks, ..marked(sent_at) })));
        }
        fraction.on_event(G, Span::ZERO, &at(now, EventKind::PacketsAcked(acked(packets, sent_at))));
    }

    /// The vector of `spec: arumaithurai §10`: alpha 0.25, M 0.5.
    #[test]
    fn half_of_a_window_marked_moves_alpha_by_a_sixteenth_of_the_way() {
        let mut fraction = MarkedFraction { alpha: 0.25, ..MarkedFraction::start(Time(0)) };
        window(&mut fraction, 10, 10, 5);
        assert_eq!(fraction.alpha(), 0.25, "its window is still open");
        assert!(fraction.on_event(G, Span::ZERO, &at(20, EventKind::PacketsAcked(acked(1, Time(11))))));
        assert_eq!(fraction.alpha(), 0.265_625);
    }

    #[test]
    fn a_window_lasts_until_a_later_packet_is_acknowledged_and_no_less_than_asked_for() {
        let mut fraction = MarkedFraction::start(Time(100));
        let ack = |now, sent| at(now, EventKind::PacketsAcked(acked(1, Time(sent))));
        assert!(!fraction.on_event(G, Span::ZERO, &ack(150, 100)), "sent as it began");
        assert!(!fraction.on_event(G, Span(80), &ack(179, 101)));
        assert!(fraction.on_event(G, Span(80), &ack(180, 101)));
        assert!(!fraction.on_event(G, Span::ZERO, &ack(190, 180)));
        assert!(fraction.on_event(G, Span::ZERO, &ack(200, 181)));
        assert_eq!(fraction.alpha(), (1.0 - G) * (1.0 - G), "no marks in either");
    }

    #[test]
    fn marks_without_acknowledged_packets_are_all_of_their_window() {
        let mut fraction = MarkedFraction { alpha: 0.0, ..MarkedFraction::start(Time(0)) };
        fraction.on_event(G, Span::ZERO, &at(5, EventKind::EcnCe(marked(Time(0)))));
        assert!(fraction.seen());
        fraction.on_event(G, Span::ZERO, &at(9, EventKind::PacketsAcked(acked(1, Time(8)))));
        assert_eq!(fraction.alpha(), G);
    }

    proptest! {
        #![proptest_config(cases(2000))]

        /// I34: alpha stays a fraction, and dies away without marks.
        #[test]
        fn alpha_is_a_fraction(windows in prop::collection::vec((0u32..50, 0u32..60), 1..60)) {
            let mut fraction = MarkedFraction::start(Time(0));
            let mut now = 10;
            for (packets, marks) in windows {
                window(&mut fraction, now, packets, marks);
                prop_assert!((0.0..=1.0).contains(&fraction.alpha()));
                now += 10;
            }
            for _ in 0..200 {
                window(&mut fraction, now, 10, 0);
                now += 10;
            }
            prop_assert!(fraction.alpha() < 1e-5);
        }
    }
}
