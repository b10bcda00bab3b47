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
