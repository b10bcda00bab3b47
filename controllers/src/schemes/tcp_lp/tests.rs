//! `spec: arumaithurai §5.4, §8 I31`.

use proptest::prelude::*;

use super::*;
use crate::event::OneWay;
use crate::parts::window_controller::WindowController;
use crate::testkit::{self, PATH, acked, assert_close, cases, lost, rtt};
use crate::{Controller, EventKind, Parameters};

type TcpLp = WindowController<super::TcpLp>;

type State = <TcpLp as Controller>::State;

const MS: u64 = 1_000_000;

fn at(ms: u64) -> Time {
    Time(ms * MS)
}

fn published() -> Params {
    Params { variant: Variant::Paper, ..Params::paper() }
}

/// An ACK whose packet took `owd_ms`, on a path with a round-trip time of 100 ms.
fn ack(params: &Params, state: State, ms: u64, owd_ms: i64) -> State {
    let one_way = Some(OneWay { forward: (owd_ms - 1000) * MS as i64, backward: 0 });
    let sample = Some(rtt(Span::from_millis(100)));
    let sent_at = at(ms.saturating_sub(100));
    let kind = EventKind::PacketsAcked(PacketsAcked { rtt: sample, one_way, ..acked(1, sent_at) });
    testkit::step::<TcpLp>(params, state, at(ms), kind)
}

/// A flow of `cwnd` packets that has seen delays of 50 to 150 ms, and for long now 50.
fn uncongested(params: &Params, cwnd: f64) -> State {
    let mut state = TcpLp::start(params, &PATH);
    for (i, owd) in [50, 50, 150, 150].into_iter().chain([50; 60]).enumerate() {
        state = ack(params, state, 10 * (1 + i as u64), owd);
    }
    state.window.cwnd = cwnd;
    state.window.ssthresh = 2.0;
    state.scheme.indicated = None;
    state
}

#[test]
fn the_largest_delay_is_held_in_reserve() {
    let mut range = Range::default();
    for delay in [10.0, 50.0, 30.0, 40.0, 50.0] {
        range.sample(delay);
    }
    // 50 widened nothing until it came again; 10 then 30, 40 did.
    assert_eq!((range.min, range.max), (10.0, 50.0));
    let mut once = Range::default();
    for delay in [10.0, 50.0] {
        once.sample(delay);
    }
    assert!(!once.is_known(), "{once:?}");
}

#[test]
fn the_first_sample_is_half_the_least_round_trip() {
    for params in [Params::default(), published()] {
        let state = ack(&params, TcpLp::start(&params, &PATH), 1, 7);
        assert_close(testkit::state_variable::<TcpLp>(&params, &state, "sowd_ms"), 50.0, 1e-12);
    }
}

/// Corner case: the kernel's variant takes it for congestion.
#[test]
fn the_first_sample_is_an_indication_in_the_kernel_only() {
    let first = |params: &Params| ack(params, TcpLp::start(params, &PATH), 1, 50).window.cwnd;
    assert_eq!(first(&Params::default()), 5.0);
    assert_eq!(first(&Params { variant: Variant::Paper, ..Params::default() }), 11.0);
}

/// I31, and rule 2e.
#[test]
fn an_indication_halves_and_a_second_goes_to_one() {
    let params = Params::paper();
    let mut state = uncongested(&params, 21.0);
    state.scheme.range = Range::default();
    for owd in [50.0, 150.0, 150.0, 50.0].into_iter().chain([50.0; 60]) {
        state.scheme.range.sample(owd * 1e6);
    }
    let mut ms = 1000;
    while state.scheme.indicated.is_none() {
        state = ack(&params, state, ms, 100);
        ms += 1;
    }
    // 15 ms of 100 above 50: three samples of 100 are 16.5.
    assert_eq!((state.window.cwnd, ms), (10.0, 1003));
    // No growth for three round trips.
    let calm = ack(&params, state, 1002 + 299, 66);
    assert_eq!(calm.window.cwnd, 10.0);
    assert_eq!(ack(&params, calm, 1002 + 300, 66).window.cwnd, 10.1);
    // The range now goes from the smoothed delay to its double: 15 % more is needed.
    let mut busy = state;
    while busy.window.cwnd == 10.0 {
        ms += 1;
        assert!(ms < 1300);
        busy = ack(&params, busy, ms, 150);
    }
    assert_eq!(busy.window.cwnd, 1.0);
}

#[test]
fn in_quic_the_least_window_is_two() {
    let params = Params::default();
    let mut state = uncongested(&params, 3.0);
    for ms in 1000..1100 {
        state = ack(&params, state, ms, 50 + 100 * (ms as i64 - 999));
    }
    assert_eq!(state.window.cwnd, 2.0);
}

/// The published variant keeps its range; packets sent before the phase are no evidence in
/// it.
#[test]
fn the_published_variant_counts_once_a_flight() {
    let params = published();
    let mut state = uncongested(&params, 40.0);
    let range = |state: &State| testkit::state_variable::<TcpLp>(&params, state, "owd_max_ms");
    let before = range(&state);
    let mut ms = 1000;
    while state.scheme.indicated.is_none() {
        state = ack(&params, state, ms, 140);
        ms += 1;
    }
    assert_eq!((state.window.cwnd, range(&state)), (20.0, before));
    let indicated = state.scheme.indicated.unwrap().0 / MS;
    state = ack(&params, state, indicated + 99, 140);
    assert_eq!(state.window.cwnd, 20.0);
    state = ack(&params, state, indicated + 101, 140);
    assert_eq!(state.window.cwnd, 1.0);
}

#[test]
fn losses_halve_and_open_no_phase() {
    for params in [Params::default(), published()] {
        let state = uncongested(&params, 21.0);
        let lossy = testkit::step::<TcpLp>(&params, state, at(1000), EventKind::PacketsLost(lost(at(999))));
        assert_eq!((lossy.window.cwnd, lossy.scheme.indicated), (10.5, None));
        let mut state = state;
        state.window.cwnd = 3.0;
        let lossy = testkit::step::<TcpLp>(&params, state, at(1000), EventKind::PacketsLost(lost(at(999))));
        assert_eq!(lossy.window.cwnd, 2.0, "a loss leaves two packets");
    }
}

#[test]
fn needs_one_way_delays_or_leave_to_do_without() {
    let params = Params::default();
    assert!(TcpLp::needs(&params).contains(Signals::ONE_WAY_DELAY | Signals::RTT));
    let params = Params { fallback: true, ..params };
    assert!(!TcpLp::needs(&params).contains(Signals::ONE_WAY_DELAY));
    let kind = EventKind::PacketsAcked(PacketsAcked { rtt: Some(rtt(Span::from_millis(100))), ..acked(1, at(1)) });
    let state = testkit::step::<TcpLp>(&params, TcpLp::start(&params, &PATH), at(100), kind);
    assert_close(testkit::state_variable::<TcpLp>(&params, &state, "sowd_ms"), 50.0, 1e-12);
}

proptest! {
    #![proptest_config(cases(2000))]

    /// I31.
    #[test]
    fn nothing_grows_inside_a_phase_and_a_second_indication_leaves_one(
        owds in prop::collection::vec((1u64..200, 20i64..400), 1..80),
        published in any::<bool>(),
    ) {
        let params = Params { variant: if published { Variant::Paper } else { Variant::Linux }, ..Params::paper() };
        let mut state = TcpLp::start(&params, &PATH);
        let mut ms = 100;
        for (after, owd) in owds {
            ms += after;
            let before = state;
            state = ack(&params, state, ms, owd);
            let inferring = before.scheme.is_inferring(&params, at(ms));
            let indicated = state.scheme.indicated != before.scheme.indicated;
            if inferring {
                prop_assert!(state.window.cwnd <= before.window.cwnd);
            }
            if indicated {
                let to = if inferring { 1.0 } else { libm::floor(0.5 * before.window.cwnd).max(1.0) };
                prop_assert_eq!(state.window.cwnd, to.min(before.window.cwnd));
            }
        }
    }
}
