//! `spec: cho §8`. That a group of one is A-TCP to the bit, and one with its detector held
//! at `k` is TCP-P of that weight, is in `tests/it/equivalences.rs` (AP1, AP2).

use super::*;
use crate::Event;
use crate::parts::window_controller::WindowController;
use crate::testkit::Flows;
use crate::testkit::groups::windows;
use crate::testkit::{self, PATH, acked, lost, rtt};
use crate::{Controller, Parameters, Span, Static, Time};
use proptest::prelude::*;
use std::vec::Vec;

type ATcpP = WindowController<super::ATcpP>;

type Group = Flows<Static<ATcpP>>;

fn on(group: &mut Group, me: usize, us: u64, kind: EventKind) {
    group.step(me, &Event { now: Time::from_micros(us), kind });
}

fn sample(group: &mut Group, me: usize, us: u64, of: u64) {
    on(group, me, us, EventKind::RttSampled(rtt(Span::from_micros(of))));
}

fn lose(group: &mut Group, me: usize, us: u64) {
    on(group, me, us, EventKind::PacketsLost(lost(Time::from_micros(us))));
}

fn time_out(group: &mut Group, me: usize, us: u64) {
    on(group, me, us, EventKind::PersistentCongestion(lost(Time::from_micros(us))));
}

fn detector(group: &Group) -> Detector {
    group.shared.detector.unwrap()
}

/// A group in congestion avoidance with these windows that has seen an RTT of 50 ms and its
/// first loss, and whose knees agree at weight `knee_k`.
fn group_of(windows: &[f64], knee_k: u32) -> Group {
    let mut group = Group::new(Static(Params::paper()));
    for (i, cwnd) in windows.iter().enumerate() {
        group.join(&PATH);
        sample(&mut group, i, 1, 50_000);
        group.members[i].cwnd = *cwnd;
        group.members[i].ssthresh = 2.0;
    }
    let sum = windows.iter().sum();
    let opened = detector(&group);
    group.shared.detector = Some(Detector { first: false, knee: sum, knee_ref: sum, knee_k, ..opened });
    group
}

/// `spec: cho §8 Ack 2, eq. 5.1`: one smoothed RTT of everybody's samples, knees of the sum.
#[test]
fn the_detector_hears_everybody_and_sees_the_sum() {
    let mut group = group_of(&[10.0, 20.0, 30.0], 1);
    sample(&mut group, 1, 600_000, 90_000);
    assert_eq!(detector(&group).rtt.value(), Some(55_000.0));
    assert_eq!(group.states[0].scheme.rtt.value(), Some(50_000.0));
    assert!((detector(&group).knee, detector(&group).low_delay) == (60.0, false));
    let mut variables = Vec::new();
    crate::ConfiguredController::inspect(&group.engine, &group.states[1], group.view(1), &mut |name, value| {
        variables.push((name, value));
    });
    for variable in
        [("k", 1.0), ("knee", 60.0), ("srtt_us", 55_000.0), ("flow_srtt_us", 55_000.0), ("group_window", 60.0)]
    {
        assert!(variables.contains(&variable), "{variable:?} is not in {variables:?}");
    }
}

/// `spec: cho §8 Congestion 3`: without competition the sum keeps (2κ−1)/(2κ) in every
/// regime; with competition everybody halves.
#[test]
fn group_cuts() {
    for (knee_k, after) in [(4, [15.0, 26.25, 26.25]), (9, [15.0, 30.0, 30.0]), (16, [26.25, 26.25, 26.25])] {
        let mut group = group_of(&[30.0, 30.0, 30.0], knee_k);
        lose(&mut group, 0, 1_000_000);
        assert_eq!(windows(&group), after, "κ² = {knee_k}");
        assert_eq!(group.members[0].ssthresh, 15.0);
    }
    let mut group = group_of(&[30.0, 30.0, 30.0], 9);
    group.shared.detector = Some(Detector { knee: 60.0, ..detector(&group) });
    lose(&mut group, 0, 1_000_000);
    assert_eq!((windows(&group), group.shared.k()), ([15.0, 15.0, 15.0].into(), 1));
}

/// AP-2: the guard goes by the weight before, and a guarded loss is no news to the
/// detector.
#[test]
fn a_guarded_loss_is_not_judged() {
    let mut group = group_of(&[30.0, 30.0, 30.0], 4);
    lose(&mut group, 0, 1_000_000);
    let (judged, cut) = (detector(&group), windows(&group));
    assert_eq!(judged.k, 2);
    lose(&mut group, 1, 1_049_999);
    assert_eq!((detector(&group), windows(&group)), (judged, cut));
    assert_eq!(group.members[1].ssthresh, 13.125);
    // At a weight of the group's size there is no guard.
    group.shared.detector = Some(Detector { k: 3, ..judged });
    lose(&mut group, 2, 1_049_999);
    assert_ne!(detector(&group), judged);
}

/// AP-4.
#[test]
fn persistent_congestion_ends_in_strength_one() {
    let mut group = group_of(&[32.0, 32.0, 32.0], 16);
    time_out(&mut group, 0, 1_000_000);
    assert_eq!((windows(&group), group.shared.k()), ([1.0, 16.0, 16.0].into(), 1));
    assert!(detector(&group).check_knee, "judged");
    let judged = detector(&group);
    time_out(&mut group, 1, 1_010_000);
    assert_eq!(windows(&group), [1.0, 1.0, 16.0]);
    assert_eq!(detector(&group), judged, "guarded");
    // In recovery: the cut has been judged, only the weight falls.
    let mut group = group_of(&[32.0, 32.0, 32.0], 16);
    lose(&mut group, 0, 1_000_000);
    assert_eq!((windows(&group), group.shared.k()), ([28.0, 28.0, 28.0].into(), 4));
    let judged = detector(&group);
    time_out(&mut group, 0, 1_010_000);
    assert_eq!(windows(&group), [1.0, 28.0, 28.0]);
    assert_eq!(detector(&group), Detector { k: 1, ..judged });
}

/// `spec: cho §8`, corner cases: the detector belongs to the group.
#[test]
fn the_detector_survives_its_members() {
    let mut group = Group::new(Static(Params::paper()));
    assert_eq!(group.shared.k(), 1);
    group.join(&crate::Path { now: Time(77), ..PATH });
    assert_eq!(detector(&group).modify_time, Time(77));
    lose(&mut group, 0, 1_000);
    let before = detector(&group);
    assert!(!before.first);
    group.join(&PATH);
    group.leave(0, Time(2_000_000), true);
    assert_eq!(detector(&group), before);
}

/// `spec: cho §7 AT-5` for the member whose ACK brings the check.
#[test]
fn an_application_limited_member_does_not_raise_the_strength() {
    for (params, expected) in [(Params::default(), 1), (Params::paper(), 2)] {
        let mut group = Group::new(Static(params));
        group.join(&PATH);
        group.join(&PATH);
        lose(&mut group, 0, 1);
        let rtt = Some(rtt(Span::from_micros(50_000)));
        let acked = crate::event::PacketsAcked { app_limited: true, rtt, ..acked(1, Time(600_000_000)) };
        on(&mut group, 1, 600_000, EventKind::PacketsAcked(acked));
        assert_eq!(group.shared.k(), expected);
    }
}

#[test]
fn outside_a_group() {
    let params = Params::paper();
    assert!(ATcpP::needs(&params).contains(Signals::GROUPS));
    let mut shared = ATcpP::group(&params);
    let mut state = ATcpP::start(&params, &PATH);
    let event = Event { now: Time(6), kind: EventKind::PacketsLost(lost(Time(5))) };
    state.window.cwnd = 80.0;
    ATcpP::step(&params, &mut state, crate::Table::solo(&mut shared), &event);
    assert_eq!((state.window.cwnd, shared.k()), (40.0, 1));
}

/// Who, after how many microseconds, what: 0 is a loss, 1 an ACK without a sample, anything
/// else an RTT sample.
fn test_events() -> impl Strategy<Value = Vec<(usize, u64, u64)>> {
    let kind = testkit::one_of([
        (2, Just(0u64).boxed()),
        (1, Just(1).boxed()),
        (8, Just(50_000).boxed()),
        (6, (80_000..120_000u64).boxed()),
    ]);
    prop::collection::vec((0usize..4, 0u64..400_000, kind), 1..120)
}

proptest! {
    #![proptest_config(testkit::cases(1_000))]

    /// AP3: at weight 1 an event halves everybody, and an ACK adds less than to a
    /// standard flow.
    #[test]
    fn weight_one_is_meek(starts in prop::collection::vec(4.0..1e4f64, 2..8)) {
        let mut group = group_of(&starts, 1);
        on(&mut group, 0, 2, EventKind::PacketsAcked(acked(1, Time(2_000))));
        prop_assert!(group.members[0].cwnd - starts[0] < 1.0 / starts[0]);
        let before = windows(&group);
        lose(&mut group, 1, 1_000_000);
        let halves: Vec<f64> = before.iter().map(|w| (w / 2.0).max(2.0)).collect();
        prop_assert_eq!(windows(&group), halves);
    }

    /// AP4: a burst of losses is one group decrease.
    #[test]
    fn a_burst_cuts_once(knee_k in 1u32..9, burst in prop::collection::vec((1usize..4, 0u64..50_000), 1..20)) {
        let mut group = group_of(&[40.0, 80.0, 20.0, 60.0], knee_k);
        lose(&mut group, 0, 1_000_000);
        let (once, judged) = (windows(&group), detector(&group));
        let mut after: Vec<u64> = burst.iter().map(|(_, after)| *after).collect();
        after.sort_unstable();
        for ((who, _), after) in burst.iter().zip(after) {
            lose(&mut group, *who, 1_000_000 + after);
            prop_assert_eq!((&windows(&group), detector(&group)), (&once, judged));
        }
    }

    /// AP5: the detector is that of the merged stream of samples, sums and accepted losses.
    #[test]
    fn the_detector_does_not_know_who(test_events in test_events()) {
        let mut group = group_of(&[10.0, 20.0, 30.0, 40.0], 1);
        let settings = group.engine.0.detector;
        let mut alone = detector(&group);
        let mut us = 2;
        for (me, wait, kind) in test_events {
            us += wait;
            let now = Time::from_micros(us);
            let sum = windows(&group).iter().sum();
            if kind == 0 {
                let scaled = group.members[me].scaled_by_other.map(|scaled| now.since(scaled).micros());
                let guarded = group.shared.k() < 4 && scaled < group.states[me].scheme.rtt.min() && scaled.is_some();
                lose(&mut group, me, us);
                let accepted = group.decide(me).recovery_start == Some(now);
                if accepted && !guarded {
                    alone.lost(&settings, now);
                }
            } else {
                let sample = (kind > 1).then(|| rtt(Span::from_micros(kind)));
                on(&mut group, me, us, EventKind::PacketsAcked(crate::event::PacketsAcked { rtt: sample, ..acked(4, now) }));
                alone.acked(&settings, now, sample.map(|rtt| rtt.latest), sum, false);
            }
            prop_assert_eq!(detector(&group), alone);
        }
    }
}
