//! `RFC 8257`; `spec: arumaithurai §6.4, §8 I34, §10`.

use proptest::prelude::*;

use super::*;
use crate::event::EcnCe;
use crate::parts::window_controller::WindowController;
use crate::testkit::{self, PATH, acked, assert_close, cases, lost, marked, state_variable};
use crate::{Controller, Parameters, Time};

type Dctcp = WindowController<super::Dctcp>;

type State = <Dctcp as Controller>::State;

fn state(params: &Params, cwnd: f64) -> State {
    let mut state = Dctcp::start(params, &PATH);
    state.window.cwnd = cwnd;
    state.window.ssthresh = 2.0;
    state
}

fn step(params: &Params, state: State, now: u64, kind: EventKind) -> State {
    testkit::step::<Dctcp>(params, state, Time(now), kind)
}

/// One ACK frame for `packets` sent just before it, `marks` of them marked.
fn frame(params: &Params, mut state: State, now: u64, packets: u32, marks: u32) -> State {
    let sent_at = Time(now - 1);
    if marks > 0 {
        state = step(params, state, now, EventKind::EcnCe(EcnCe { packets: marks, ..marked(sent_at) }));
    }
    let fresh = state.window.recovery.accepts(sent_at);
    let acked = acked(packets, sent_at);
    let fresh_bytes = if fresh { acked.bytes } else { 0 };
    step(params, state, now, EventKind::PacketsAcked(crate::event::PacketsAcked { fresh_bytes, ..acked }))
}

fn alpha(state: &State) -> f64 {
    state_variable::<Dctcp>(&Params::default(), state, "alpha")
}

/// The vector of `spec: arumaithurai §10`: alpha 0.25, M 0.5, window 100. The window is
/// set anew before the mark that ends the round trip.
#[test]
fn the_response_is_half_of_alpha() {
    let params = Params { gain: 0.75, ..Params::default() };
    let mut state = frame(&params, state(&params, 100.0), 10, 4, 0);
    state = frame(&params, state, 20, 2, 0); // alpha = 1/4
    assert_eq!(alpha(&state), 0.25);
    let params = Params::default();
    // Of the round trip that just began, half the packets so far.
    state = step(&params, state, 21, EventKind::EcnCe(marked(Time(0))));
    state.window = self::state(&params, 100.0).window;
    state = step(&params, state, 30, EventKind::EcnCe(marked(Time(29))));
    assert_eq!(alpha(&state), 0.265_625);
    assert_eq!(state.window.cwnd, 86.718_75);
    assert_eq!(state.window.ssthresh, 86.718_75);
}

#[test]
fn a_new_flow_halves_at_its_first_mark_and_leaves_slow_start() {
    let params = Params::default();
    let state = frame(&params, Dctcp::start(&params, &PATH), 10, 5, 0);
    assert_eq!(state.window.cwnd, 15.0);
    let after = step(&params, state, 11, EventKind::EcnCe(marked(Time(0))));
    assert_eq!((after.window.cwnd, after.window.in_slow_start()), (7.5, false));
}

#[test]
fn once_per_flight_and_no_growth_before_it_is_over() {
    let params = Params::default();
    let cut = step(&params, state(&params, 40.0), 100, EventKind::EcnCe(marked(Time(90))));
    assert_eq!(cut.window.cwnd, 20.0);
    let again = step(&params, cut, 110, EventKind::EcnCe(marked(Time(100))));
    assert_eq!(again.window, cut.window, "sent before the response");
    let stale = crate::event::PacketsAcked { fresh_bytes: 0, ..acked(3, Time(100)) };
    assert_eq!(step(&params, again, 110, EventKind::PacketsAcked(stale)).window.cwnd, 20.0);
}

/// `RFC 8257 §3.5`.
#[test]
fn a_loss_halves_also_where_a_mark_was_answered_already() {
    let params = Params::default();
    let mut low = state(&params, 100.0);
    for i in 1..200 {
        low = frame(&params, low, 10 * i, 10, 0);
    }
    low.window.cwnd = 100.0;
    let marked = step(&params, low, 5000, EventKind::EcnCe(marked(Time(4990))));
    assert!(marked.window.cwnd > 99.0, "alpha is next to nothing: {}", marked.window.cwnd);
    let both = step(&params, marked, 5001, EventKind::PacketsLost(lost(Time(4991))));
    assert_eq!((both.window.cwnd, both.window.ssthresh), (50.0, 50.0));
    let once = step(&params, both, 5002, EventKind::PacketsLost(lost(Time(4992))));
    assert_eq!(once.window, both.window);
    assert_eq!(step(&params, low, 5000, EventKind::PacketsLost(lost(Time(4990)))).window.cwnd, 50.0, "without a mark");
}

#[test]
fn a_marks_response_cannot_be_taken_back() {
    let params = Params::default();
    let cut = step(&params, state(&params, 40.0), 100, EventKind::EcnCe(marked(Time(90))));
    let spurious = EventKind::SpuriousLoss(crate::event::SpuriousLoss { newest_sent_at: Time(90) });
    assert_eq!(step(&params, cut, 120, spurious).window.cwnd, 20.0);
}

#[test]
fn packets_say_that_they_may_be_marked_unless_nobody_listens() {
    let ecn = |params: &Params| Dctcp::decide(params, &state(params, 10.0), View::solo(&())).ecn;
    assert_eq!(ecn(&Params::default()), Ecn::Ect0);
    assert_eq!(ecn(&Params { codepoint: Codepoint::Ect1, ..Params::paper() }), Ecn::Ect1);
    let fallback = Params { fallback: true, ..Params::default() };
    assert_eq!(ecn(&fallback), Ecn::NotEct);
    assert!(!Dctcp::needs(&fallback).contains(Signals::ECN));
    assert!(Dctcp::needs(&Params::default()).contains(Signals::CE_COUNT));
}

/// One flow and a queue that marks above K: the queue swings around it by far less than
/// Reno's would, and the link never idles (`RFC 8257 §5`; K of at least a seventh of the
/// bandwidth-delay product).
#[test]
fn a_queue_marked_at_a_threshold_stays_near_it() {
    let (bdp, k) = (200.0, 40.0);
    let params = Params::default();
    let mut state = state(&params, bdp);
    let (mut now, mut seen) = (1000, (f64::INFINITY, 0.0f64));
    for round in 0..2000 {
        now += 1000;
        let sent_at = Time(now - 500);
        // What of a window of packets lies beyond K in the queue arrives marked.
        let window = state.window.cwnd;
        let beyond = (window - bdp - k).clamp(0.0, window) as u32;
        if beyond > 0 {
            let marked = EcnCe { packets: beyond, ..marked(sent_at) };
            state = step(&params, state, now, EventKind::EcnCe(marked));
        }
        let acked = acked(window as u32, sent_at);
        let fresh_bytes = if beyond > 0 { 0 } else { acked.bytes };
        state = step(&params, state, now, EventKind::PacketsAcked(crate::event::PacketsAcked { fresh_bytes, ..acked }));
        if round > 1000 {
            seen = (seen.0.min(window - bdp), seen.1.max(window - bdp));
        }
    }
    assert!(seen.0 > 0.0, "the queue runs empty: {seen:?}");
    assert!(seen.1 < k + 5.0 && seen.0 > 0.5 * k, "{seen:?}");
}

proptest! {
    #![proptest_config(cases(2000))]

    /// The response to a mark is exactly half of alpha, not below two packets, and never
    /// more than Reno's.
    #[test]
    fn no_response_to_marks_exceeds_renos(
        windows in prop::collection::vec((1u32..40, 0u32..40), 1..40),
        cwnd in 2.0..10_000.0f64,
    ) {
        let params = Params::default();
        let mut flow = state(&params, cwnd);
        for (i, (packets, marks)) in (1u64..).zip(windows) {
            flow = frame(&params, flow, 100 * i, packets, marks.min(packets));
        }
        let before = state(&params, cwnd).window;
        flow.window = before;
        let now = 1_000_000;
        let cut = step(&params, flow, now, EventKind::EcnCe(marked(Time(now - 1))));
        assert_close(cut.window.cwnd, (before.cwnd * (1.0 - 0.5 * alpha(&cut))).max(2.0), 1e-12);
        prop_assert!(cut.window.cwnd >= 0.5 * before.cwnd);
    }

    /// Without marks it is Reno, to the bit.
    #[test]
    fn without_marks_it_is_reno(script in testkit::trace::scripts(40)) {
        use crate::schemes::reno;
        let silent: std::vec::Vec<_> =
            script.into_iter().filter(|(_, act)| !matches!(act, testkit::trace::Act::Mark { .. })).collect();
        let params = Params::default();
        let dctcp = testkit::trace::run::<Dctcp>(&params, 1, &silent, |_, _, _| {});
        let reno = testkit::trace::run::<WindowController<reno::Reno>>(&reno::Params { base: params.base }, 1, &silent, |_, _, _| {});
        prop_assert_eq!(dctcp.window, reno.window);
    }
}
