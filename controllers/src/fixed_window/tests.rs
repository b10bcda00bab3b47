use super::*;
use crate::testkit::{MTU, PATH, acked, cases, lost, marked, step};
use crate::{ConfiguredController, Parameters, Span, Time};
use proptest::prelude::*;

/// An event of one of the kinds that make other windows move.
fn event(kind: u8, now: Time) -> EventKind {
    match kind {
        0 => EventKind::PacketsLost(lost(now)),
        1 => EventKind::PersistentCongestion(lost(now)),
        2 => EventKind::EcnCe(marked(now)),
        _ => EventKind::PacketsAcked(acked(50, now)),
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn nothing_moves_the_window(window in 2u32..5000, kinds in proptest::collection::vec(0u8..4, 1..60)) {
        let fixed = Params { window, ..Params::default() };
        let mut state = FixedWindow::start(&fixed, &PATH);
        let listed = catalogue(window).unwrap();
        let (mut listed_state, mut shared) = (listed.start(&PATH), listed.group());
        for (i, kind) in kinds.into_iter().enumerate() {
            let now = Time::ZERO + Span::from_millis(100 * (i as u64 + 1));
            state = step::<FixedWindow>(&fixed, state, now, event(kind, now));
            listed.step(&mut listed_state, Table::solo(&mut shared), &Event { now, kind: event(kind, now) });
            let bytes = u64::from(window) * u64::from(MTU);
            prop_assert_eq!(FixedWindow::decide(&fixed, &state, View::solo(&())).cwnd, bytes);
            prop_assert_eq!(listed.decide(&listed_state, View::solo(&shared)).cwnd, bytes);
        }
    }
}

#[test]
fn it_follows_the_datagram_size_and_marks_as_told() {
    let mut params = Params::default();
    for (name, value) in [("window", "7"), ("rate", "2.5"), ("ecn", "ect1"), ("dscp", "11")] {
        params.set(name, value).unwrap();
    }
    assert!(params.set("window", "0").is_err() && params.set("dscp", "64").is_err());
    let engine = Static::<FixedWindow>(params);
    let mut state = engine.start(&PATH);
    engine.step(&mut state, Table::solo(&mut ()), &Event { now: Time::ZERO, kind: EventKind::MtuUpdated(1400) });
    let decision = engine.decide(&state, View::solo(&()));
    assert_eq!((decision.cwnd, decision.pacing_rate), (9800, Some(2_500_000)));
    assert_eq!((decision.ecn, decision.dscp), (Ecn::Ect1, 11));
}

#[test]
fn the_catalogue_has_none_below_two_packets() {
    assert_eq!((catalogue(1), catalogue(2_000_000)), (None, None));
    let listed = catalogue(20).unwrap();
    let text = std::format!("{listed}");
    assert_eq!(Algorithm::read(&text).unwrap(), listed, "{text}");
    assert_eq!(text, "reno:iw=20,min_window=20,timeout_window=20,max_window=20");
}
