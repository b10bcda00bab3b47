//! `spec: cho §3.3, §3.4`. What a flow does by itself is in `dca_s`, that a group of one
//! is DCA-S in `tests/it/equivalences.rs` (D6).

use super::super::*;
use crate::parts::window_controller::WindowController;
use crate::testkit::Flows;
use crate::testkit::groups::{on, thresholds, windows};
use crate::testkit::{self, PATH, acked, lost, rtt};
use crate::{EventKind, Parameters, Span, Static, Time};
use proptest::prelude::*;
use std::vec::Vec;

type DcaC = WindowController<super::super::DcaC>;

type Group = Flows<Static<DcaC>>;

const MS: u64 = 1_000_000;

/// Members with these windows and thresholds whose RTTs were between 60 and 120 ms.
fn group(params: Params, members: &[(f64, f64)]) -> Group {
    let mut group = Group::new(Static(params));
    for (i, (cwnd, ssthresh)) in members.iter().enumerate() {
        group.join(&PATH);
        sample(&mut group, i, 200, 60 * MS);
        sample(&mut group, i, 400, 120 * MS);
        group.members[i].cwnd = *cwnd;
        group.members[i].ssthresh = *ssthresh;
    }
    for (member, (cwnd, _)) in group.members.iter_mut().zip(members) {
        // What warnings took meanwhile.
        member.cwnd = *cwnd;
        member.scaled_by_other = None;
    }
    group
}

/// `spec: cho §3.3`.
fn abc() -> Group {
    group(Params::default(), &[(10.0, 5.0), (20.0, 8.0), (12.0, 50.0)])
}

/// A sample of a packet sent so long ago.
fn sample(group: &mut Group, me: usize, ms: u64, ns: u64) {
    on(group, me, ms, EventKind::RttSampled(testkit::rtt(Span(ns))));
}

#[test]
fn vectors() {
    let mut group = abc();
    sample(&mut group, 0, 1000, 95 * MS);
    assert_eq!(windows(&group), [8.75, 18.75, 11.25]);
    sample(&mut group, 2, 1000, 100 * MS);
    assert_eq!(windows(&group), [8.75, 17.578125, 11.25], "C is in slow start");
    assert_eq!(thresholds(&group), [5.0, 8.0, 50.0]);
}

#[test]
fn exactly_at_the_threshold_is_no_sign() {
    let mut group = abc();
    sample(&mut group, 0, 1000, 90 * MS);
    assert_eq!(windows(&group), [10.0, 20.0, 12.0]);
    sample(&mut group, 0, 2000, 90 * MS + 1);
    assert_eq!(windows(&group), [8.75, 18.75, 11.25]);
}

#[test]
fn a_first_sample_is_no_sign() {
    let mut group = Group::new(Static(Params::default()));
    for _ in 0..3 {
        group.join(&PATH);
    }
    sample(&mut group, 1, 1000, 900 * MS);
    assert_eq!(windows(&group), [10.0; 3]);
}

/// `spec: cho §3.2`: losses and timeouts change no sibling.
#[test]
fn losses_are_not_shared() {
    let mut group = abc();
    on(&mut group, 0, 1000, EventKind::PacketsLost(lost(Time(999 * MS))));
    assert_eq!(windows(&group), [5.0, 20.0, 12.0]);
    on(&mut group, 0, 1200, EventKind::PersistentCongestion(lost(Time(1199 * MS))));
    assert_eq!(windows(&group), [2.0, 20.0, 12.0]);
    assert_eq!(thresholds(&group), [2.5, 8.0, 50.0]);
}

/// The warning goes out before the own cut, growth comes after both
/// (`spec: cho §3.2 rules 4–7`).
#[test]
fn an_ack_warns_cuts_and_grows() {
    let mut group = group(Params::default(), &[(16.0, 5.0), (15.0, 5.0)]);
    let ack = crate::event::PacketsAcked { rtt: Some(rtt(Span(110 * MS))), ..acked(2, Time(900 * MS)) };
    on(&mut group, 0, 1010, EventKind::PacketsAcked(ack));
    // 15 is above 14 but not above 16.
    assert_eq!(windows(&group), [14.0 + 2.0 / 14.0, 15.0]);
}

/// No window is cut below the smallest one, nor raised to it (`spec: cho §2.3`).
#[test]
fn small_windows_stay() {
    let mut group = group(Params::paper(), &[(1.0, 2.0), (1.5, 2.0), (2.1, 2.0)]);
    sample(&mut group, 0, 1000, 110 * MS);
    assert_eq!(windows(&group), [1.0, 1.5, 2.0]);
}

#[test]
fn it_lists_what_it_uses() {
    use crate::Controller;
    assert!(DcaC::needs(&Params::default()).contains(Signals::GROUPS | Signals::RTT));
    let mut variables = Vec::new();
    let group = abc();
    crate::ConfiguredController::inspect(&group.engine, &group.states[0], group.view(0), &mut |name, value| {
        variables.push((name, value));
    });
    for variable in [("rtt_min_ms", 60.0), ("rtt_max_ms", 120.0), ("rtt_threshold_ms", 90.0), ("group_window", 42.0)] {
        assert!(variables.contains(&variable), "{variable:?} is not in {variables:?}");
    }
}

fn members() -> impl Strategy<Value = Vec<(f64, f64)>> {
    prop::collection::vec((2.0..1e4f64, 2.0..1e4f64), 1..9)
}

fn sharp() -> impl Strategy<Value = Params> {
    (0.0..0.499f64).prop_map(|alpha| Params { alpha, ..Params::default() })
}

proptest! {
    #![proptest_config(testkit::cases(10_000))]

    /// D2, D3.
    #[test]
    fn a_sign_takes_the_same_fraction_of_every_larger_window(
        params in sharp(),
        starts in members(),
        who: prop::sample::Index,
    ) {
        let (n, me) = (starts.len(), who.index(starts.len()));
        let mut group = group(params, &starts);
        let smallest = starts.iter().map(|(cwnd, _)| *cwnd).fold(f64::INFINITY, f64::min);
        sample(&mut group, me, 1000, 119 * MS);
        let own = starts[me].0;
        for (j, (member, (cwnd, ssthresh))) in group.members.iter().zip(&starts).enumerate() {
            let expected = match j == me {
                true if cwnd > ssthresh => (cwnd - params.alpha * cwnd).max(2.0),
                false if *cwnd > own => (cwnd - params.alpha * cwnd / (n - 1) as f64).max(2.0),
                _ => *cwnd,
            };
            prop_assert_eq!(member.cwnd, expected);
            prop_assert_eq!(member.ssthresh, *ssthresh);
            prop_assert!(j == me || *cwnd > smallest || member.cwnd == *cwnd);
        }
    }

    /// D4.
    #[test]
    fn signs_of_all_smaller_siblings_take_at_most_half_of_alpha(
        params in sharp(),
        smaller in prop::collection::vec(2.0..100.0f64, 0..5),
        larger in prop::collection::vec(400.0..1e4f64, 5),
    ) {
        // Below their thresholds the others keep their windows: the same instant.
        let mut starts: Vec<(f64, f64)> = smaller.iter().chain(&larger).map(|cwnd| (*cwnd, 1e6)).collect();
        let j = starts.len();
        starts.push((150.0, 2.0));
        let (n, m) = (starts.len(), smaller.len());
        prop_assert!(2 * m < n);
        let mut group = group(params, &starts);
        for other in 0..j {
            sample(&mut group, other, 1000, 119 * MS);
        }
        let lost = 1.0 - group.members[j].cwnd / 150.0;
        let each = 1.0 - params.alpha / (n - 1) as f64;
        testkit::assert_close(lost, 1.0 - libm::pow(each, m as f64), 1e-12);
        prop_assert!(lost <= params.alpha / 2.0 + 1e-12);
    }

    /// `spec: cho §2.3`: others' events never raise a window, never touch a threshold.
    #[test]
    fn siblings_only_lower(
        paper: bool,
        events in prop::collection::vec((0usize..4, 0u8..10, 0u64..100, 10u64..200), 1..80),
    ) {
        let params = if paper { Params::paper() } else { Params::default() };
        let mut group = group(params, &[(10.0, 2.0), (20.0, 2.0), (30.0, 2.0), (40.0, 2.0)]);
        let mut ms = 1000;
        for (me, kind, wait, rtt) in events {
            ms += wait;
            let before = group.members.clone();
            match kind {
                0..=3 => on(&mut group, me, ms, EventKind::PacketsAcked(acked(4, Time(ms * MS)))),
                4..=7 => sample(&mut group, me, ms, rtt * MS),
                8 => on(&mut group, me, ms, EventKind::PacketsLost(lost(Time(ms * MS)))),
                _ => on(&mut group, me, ms, EventKind::PersistentCongestion(lost(Time(ms * MS)))),
            }
            for (j, (member, before)) in group.members.iter().zip(&before).enumerate() {
                prop_assert!(j == me || member.cwnd <= before.cwnd && member.ssthresh == before.ssthresh);
                prop_assert!(member.cwnd >= params.base.limits.timeout_window);
            }
        }
    }
}
