//! `spec: arumaithurai §6.1, §8 I36, §10`.

use proptest::prelude::*;

use super::*;
use crate::Controller;
use crate::Time;
use crate::event::{IdleRestart, PacketsAcked};
use crate::parts::window_controller::WindowController;
use crate::testkit::{self, MTU, PATH, acked, assert_close, cases, lost, marked, rtt};

type Westwood = WindowController<super::Westwood>;

type State = <Westwood as Controller>::State;

const MS: u64 = 1_000_000;

fn at(ms: u64) -> Time {
    Time(ms * MS)
}

/// A flow of `cwnd` packets on a path of 100 ms that delivers 12 Mbit/s: 15 packets every
/// 10 ms.
fn delivering(cwnd: f64) -> State {
    let params = Params::default();
    let mut state = Westwood::start(&params, &PATH);
    state.window.ssthresh = 2.0;
    for i in 1..=100 {
        let sample = rtt(Span::from_millis(100));
        let kind = EventKind::PacketsAcked(PacketsAcked { rtt: Some(sample), ..acked(15, at(10 * i).min(at(1))) });
        state = testkit::step::<Westwood>(&params, state, at(10 * i), kind);
    }
    state.window.cwnd = cwnd;
    state
}

fn step(state: State, ms: u64, kind: EventKind) -> State {
    testkit::step::<Westwood>(&Params::default(), state, at(ms), kind)
}

/// `§10`: bw 12 Mbit/s, RTTmin 100 ms, MSS 1000 → 150 packets.
#[test]
fn congestion_leaves_what_the_path_delivers() {
    for kind in [EventKind::PacketsLost(lost(at(1001))), EventKind::EcnCe(marked(at(1001)))] {
        let window = step(delivering(300.0), 1002, kind).window;
        assert_close(window.cwnd, 150.0, 1e-9);
        assert_close(window.ssthresh, 150.0, 1e-9);
    }
}

#[test]
fn a_smaller_window_stays_and_grows_back() {
    let state = step(delivering(100.0), 1002, EventKind::PacketsLost(lost(at(1001))));
    assert_eq!(state.window.cwnd, 100.0);
    assert!(state.window.in_slow_start());
}

#[test]
fn a_timeout_starts_over_towards_what_the_path_delivers() {
    let window = step(delivering(300.0), 1002, EventKind::PersistentCongestion(lost(at(1001)))).window;
    assert_eq!(window.cwnd, 2.0);
    assert_close(window.ssthresh, 150.0, 1e-9);
}

#[test]
fn without_a_measurement_it_halves() {
    let mut state = Westwood::start(&Params::default(), &PATH);
    state.window.cwnd = 40.0;
    let window = step(state, 10, EventKind::PacketsLost(lost(at(9)))).window;
    assert_eq!((window.cwnd, window.ssthresh), (20.0, 20.0));
}

#[test]
fn idle_time_is_not_measured() {
    let idle = IdleRestart { idle: Span::from_millis(5000), pto: Span::from_millis(300) };
    let state = step(delivering(300.0), 6000, EventKind::IdleRestart(idle));
    let sample = Some(rtt(Span::from_millis(100)));
    let state = step(state, 6200, EventKind::PacketsAcked(PacketsAcked { rtt: sample, ..acked(300, at(6100)) }));
    assert_close(state.scheme.delivered(&state.window), 150.0, 1e-9);
}

#[test]
fn growth_is_renos() {
    let state = delivering(10.0);
    assert_eq!(step(state, 1002, EventKind::PacketsAcked(acked(1, at(1001)))).window.cwnd, 10.1);
}

proptest! {
    #![proptest_config(cases(2000))]

    /// I36.
    #[test]
    fn a_loss_leaves_no_more_than_the_path_delivers(
        acks in prop::collection::vec((0u64..300, 1u32..50, 1u64..500), 1..60),
        cwnd in 2.0f64..2000.0,
    ) {
        let params = Params::default();
        let mut state = Westwood::start(&params, &PATH);
        let mut ms = 1;
        for (after, packets, rtt_ms) in acks {
            ms += after;
            let kind = EventKind::PacketsAcked(PacketsAcked { rtt: Some(rtt(Span::from_millis(rtt_ms))), ..acked(packets, at(ms)) });
            state = testkit::step::<Westwood>(&params, state, at(ms), kind);
        }
        state.window.cwnd = cwnd;
        let least = state.scheme.rtt_min().unwrap().secs();
        let after = step(state, ms + 2, EventKind::PacketsLost(lost(at(ms + 1)))).window.cwnd;
        prop_assert!(after >= 2.0 && after <= cwnd);
        match state.scheme.rate.get() {
            Some(rate) => prop_assert!(after <= (rate * least / f64::from(MTU)).max(2.0)),
            None => prop_assert!(after == 0.5 * cwnd.max(4.0)),
        }
    }
}
