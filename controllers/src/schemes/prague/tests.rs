//! `draft-briscoe-iccrg-prague-congestion-control`; `RFC 9331 §4`.

use proptest::prelude::*;

use super::*;
use crate::event::{PacketsAcked, RttSample};
use crate::parts::window_controller::WindowController;
use crate::schemes::reno;
use crate::testkit::{self, PATH, acked, assert_close, cases, lost, marked, rtt, state_variable};
use crate::{ConfiguredController, Controller, Static};

type Prague = WindowController<super::Prague>;

type State = <Prague as Controller>::State;

const MS: u64 = 1_000_000;

fn state(params: &Params, cwnd: f64) -> State {
    let mut state = Prague::start(params, &PATH);
    state.window.cwnd = cwnd;
    state.window.ssthresh = 2.0;
    state
}

fn step(params: &Params, state: State, now: u64, kind: EventKind) -> State {
    testkit::step::<Prague>(params, state, Time(now), kind)
}

/// One ACK frame for `packets`, `marks` of them marked, whose RTT is `trip`.
fn frame(params: &Params, mut state: State, now: u64, trip: u64, packets: u32, marks: u32) -> State {
    let sent_at = Time(now.saturating_sub(trip));
    let sample = rtt(Span(trip));
    if marks == 0 {
        return step(
            params,
            state,
            now,
            EventKind::PacketsAcked(PacketsAcked { rtt: Some(sample), ..acked(packets, sent_at) }),
        );
    }
    state = step(params, state, now, EventKind::RttSampled(sample));
    state = step(params, state, now, EventKind::EcnCe(EcnCe { packets: marks, ..marked(sent_at) }));
    step(params, state, now, EventKind::PacketsAcked(acked(packets, sent_at)))
}

fn alpha(state: &State) -> f64 {
    state_variable::<Prague>(&Params::default(), state, "alpha")
}

#[test]
fn it_says_what_it_is() {
    let params = Params::default();
    let decide = |params: &Params| Static::<Prague>(*params).decide(&state(params, 10.0), View::solo(&()));
    assert_eq!(decide(&params).ecn, Ecn::Ect1);
    assert_eq!(decide(&params).pacing_rate, None, "no RTT is known");
    let fallback = Params { fallback: true, ..params };
    assert_eq!(decide(&fallback).ecn, Ecn::NotEct);
    assert!(!Prague::needs(&fallback).contains(Signals::ECN));
    assert!(Prague::needs(&params).contains(Signals::CE_COUNT | Signals::PACING));
}

/// `§2.5.1` of the draft.
#[test]
fn all_is_paced_at_the_windows_rate_and_at_twice_that_far_below_the_threshold() {
    let params = Params::default();
    let decide = |cwnd: f64, ssthresh: f64| {
        let mut state = frame(&params, state(&params, cwnd), 100 * MS, 50 * MS, 1, 0);
        (state.window.cwnd, state.window.ssthresh) = (cwnd, ssthresh);
        Prague::decide(&params, &state, View::solo(&())).pacing_rate
    };
    assert_eq!(decide(100.0, 2.0), Some(16_000_000), "100 kB in 50 ms");
    assert_eq!(decide(100.0, 200.0), Some(16_000_000));
    assert_eq!(decide(100.0, 201.0), Some(32_000_000));
}

/// `§2.3.2` of the draft: nothing is learnt from a path that has never marked.
#[test]
fn the_first_mark_halves_however_late_it_comes() {
    let params = Params::default();
    let mut state = state(&params, 50.0);
    for i in 1..100 {
        state = frame(&params, state, i * 100 * MS, 50 * MS, 10, 0);
    }
    assert_eq!(alpha(&state), 1.0);
    let before = state.window.cwnd;
    let after = step(&params, state, 10_000 * MS, EventKind::EcnCe(marked(Time(9_950 * MS))));
    assert_eq!(after.window.cwnd, 0.5 * before);
}

#[test]
fn a_mark_is_answered_by_half_of_alpha_and_growth_goes_on() {
    let params = Params::default();
    let mut state = frame(&params, state(&params, 100.0), 50 * MS, 40 * MS, 10, 1);
    for i in 2..40 {
        state = frame(&params, state, i * 50 * MS, 40 * MS, 10, 0);
    }
    state.window.cwnd = 100.0;
    // The mark's frame ends the round trip before, which had none.
    let expected = alpha(&state) * 15.0 / 16.0;
    let marked = step(&params, state, 2000 * MS, EventKind::EcnCe(marked(Time(1960 * MS))));
    assert_eq!(alpha(&marked), expected);
    assert_eq!(marked.window.cwnd, 100.0 * (1.0 - 0.5 * expected));
    let acked = step(&params, marked, 2000 * MS, EventKind::PacketsAcked(acked(2, Time(1960 * MS))));
    assert_close(acked.window.cwnd - marked.window.cwnd, 1.0 / marked.window.cwnd, 1e-9);
    assert!(!acked.window.recovery.in_recovery(), "half its packets were clean, and grew it");
}

#[test]
fn once_per_round_trip() {
    let params = Params::default();
    let first = step(&params, state(&params, 100.0), 100 * MS, EventKind::EcnCe(marked(Time(60 * MS))));
    assert_eq!(first.window.cwnd, 50.0);
    let second = step(&params, first, 110 * MS, EventKind::EcnCe(marked(Time(100 * MS))));
    assert_eq!(second.window.cwnd, 50.0);
    let third = step(&params, second, 140 * MS, EventKind::EcnCe(marked(Time(101 * MS))));
    assert!(third.window.cwnd < 50.0);
}

/// `§2.4.4` of the draft: a packet per virtual RTT in each virtual RTT, responses and
/// updates once in each.
#[test]
fn short_paths_behave_like_ones_of_25_ms() {
    let params = Params { transition: 0, ..Params::default() };
    let mut state = frame(&params, state(&params, 100.0), 100 * MS, 5 * MS, 1, 0);
    assert_close(state_variable::<Prague>(&params, &state, "increase"), 0.04, 1e-12);
    let before = state.window.cwnd;
    state = frame(&params, state, 101 * MS, 5 * MS, 10, 0);
    assert_close(state.window.cwnd - before, 0.04 * 10.0 / before, 1e-9);
    let halved = step(&params, state, 110 * MS, EventKind::EcnCe(marked(Time(105 * MS))));
    let soon = step(&params, halved, 120 * MS, EventKind::EcnCe(marked(Time(115 * MS))));
    assert_eq!(soon.window.cwnd, halved.window.cwnd, "a round trip later, but within 25 ms");
    let later = step(&params, soon, 135 * MS, EventKind::EcnCe(marked(Time(130 * MS))));
    assert!(later.window.cwnd < halved.window.cwnd);
    // Longer paths are left alone, and so are short transfers.
    let long = frame(&params, self::state(&params, 100.0), 100 * MS, 50 * MS, 1, 0);
    assert_eq!(state_variable::<Prague>(&params, &long, "increase"), 1.0);
    let young = frame(&Params::default(), self::state(&params, 100.0), 100 * MS, 5 * MS, 1, 0);
    assert_eq!(state_variable::<Prague>(&Params::default(), &young, "increase"), 1.0);
}

/// `RFC 9331 §4.3`: losses are answered as classic traffic answers them.
#[test]
fn a_loss_halves_from_the_window_before_the_marks_of_its_flight() {
    let params = Params::default();
    let start = state(&params, 100.0);
    let alone = step(&params, start, 100 * MS, EventKind::PacketsLost(lost(Time(60 * MS))));
    assert_eq!((alone.window.cwnd, alone.window.recovery.in_recovery()), (50.0, true));
    let mut light = frame(&params, start, 50 * MS, 40 * MS, 10, 1);
    for i in 2..100 {
        light = frame(&params, light, i * 50 * MS, 40 * MS, 10, 0);
    }
    light.window.cwnd = 100.0;
    let marked = step(&params, light, 5000 * MS, EventKind::EcnCe(marked(Time(4960 * MS))));
    assert!(marked.window.cwnd > 99.0);
    let both = step(&params, marked, 5001 * MS, EventKind::PacketsLost(lost(Time(4961 * MS))));
    assert_eq!(both.window.cwnd, 50.0, "not less than Reno's half, not more");
    let late = step(&params, marked, 5050 * MS, EventKind::PacketsLost(lost(Time(5001 * MS))));
    assert_eq!(late.window.cwnd, 0.5 * marked.window.cwnd, "a flight of its own");
}

/// A queue marked above K packets: the flow settles around it, with next to no more.
#[test]
fn a_queue_marked_at_a_threshold_stays_shallow() {
    let (bdp, k) = (200.0, 8.0);
    let params = Params::default();
    let mut state = state(&params, bdp);
    let (mut now, mut least, mut most) = (100 * MS, f64::INFINITY, 0.0f64);
    for round in 0..2000u64 {
        // A window is acknowledged in ten frames; what lies beyond K is marked.
        for _ in 0..10 {
            now += 5 * MS;
            let packets = (state.window.cwnd / 10.0) as u32;
            let marks = if state.window.cwnd > bdp + k { packets } else { 0 };
            state = frame(&params, state, now, 50 * MS, packets, marks);
        }
        if round > 500 {
            least = least.min(state.window.cwnd - bdp);
            most = most.max(state.window.cwnd - bdp);
        }
    }
    assert!(most < 2.0 * k, "{least} {most}");
    assert!(least > -0.1 * bdp, "{least} {most}");
}

/// `RFC 9331 §4.3`: a queue with classic ECN is looked for always, and answered as one unless that
/// is turned off.
#[test]
fn a_deep_and_varying_queue_is_answered_as_classic() {
    let queue = |queued: u64, params: &Params| {
        let mut state = state(params, 100.0);
        for i in 1..200u64 {
            let now = i * 100 * MS;
            let latest = Span(20 * MS + queued);
            let sample = RttSample { min: Span(20 * MS), variation: Span(queued / 4), ..rtt(latest) };
            state = step(params, state, now, EventKind::RttSampled(sample));
            state = step(params, state, now, EventKind::EcnCe(marked(Time(now - 50 * MS))));
            state = step(params, state, now, EventKind::PacketsAcked(acked(50, Time(now - 50 * MS))));
        }
        state.window.cwnd = 100.0;
        let after = step(params, state, 20_100 * MS, EventKind::EcnCe(marked(Time(20_050 * MS))));
        (after.window.cwnd, state_variable::<Prague>(params, &after, "classic"))
    };
    let params = Params::default();
    assert_eq!(queue(20 * MS, &params), (50.0, 1.0));
    let (cwnd, classic) = queue(MS / 2, &params);
    assert!(classic == 0.0 && cwnd > 95.0, "{cwnd}");
    let (cwnd, classic) = queue(20 * MS, &Params { classic: false, ..params });
    assert!(classic == 1.0 && cwnd > 95.0, "off: {cwnd}");
}

proptest! {
    #![proptest_config(cases(2000))]

    /// Without marks it is Reno, to the bit, whatever else happens.
    #[test]
    fn without_marks_it_is_reno(script in testkit::trace::scripts(30)) {
        use testkit::trace::{Act, run};
        let silent: std::vec::Vec<_> =
            script.into_iter().filter(|(_, act)| !matches!(act, Act::Mark { .. })).collect();
        let params = Params::default();
        let prague = run::<Prague>(&params, 1, &silent, |_, _, _| {});
        let reno = run::<WindowController<reno::Reno>>(&reno::Params { base: params.base }, 1, &silent, |_, _, _| {});
        prop_assert_eq!(prague.window, reno.window);
    }

    /// Alpha stays a fraction; no response takes more than half; marks alone never open a
    /// recovery period.
    #[test]
    fn no_response_exceeds_a_half(script in testkit::trace::scripts(30), classic: bool, transition in 0u32..3) {
        let params = Params { classic, transition, ..Params::default() };
        let mut sound = true;
        testkit::trace::run::<Prague>(&params, 1, &script, |before, event, after| {
            let alpha = alpha(after);
            sound &= (0.0..=1.0).contains(&alpha) && after.window.cwnd >= 2.0;
            if let EventKind::EcnCe(_) = event.kind {
                sound &= after.window.cwnd >= (0.5 * before.window.cwnd).max(2.0).min(before.window.cwnd);
                sound &= after.window.recovery == before.window.recovery;
            }
        });
        prop_assert!(sound);
    }
}
