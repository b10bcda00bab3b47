//! `spec: cho §5, §9`. That one of weight 1 is Reno, and one in congestion avoidance AIMD,
//! is in `tests/it/equivalences.rs`.

use super::*;
use crate::Time;
use crate::parts::window_controller::WindowController;
use crate::testkit::{self, PATH, acked, assert_close, lost};
use crate::{Controller, EventKind, Parameters};
use proptest::prelude::*;

type MulTcp = WindowController<super::MulTcp>;

type State = <MulTcp as Controller>::State;

fn state(params: &Params, cwnd: f64, ssthresh: f64) -> State {
    let mut state = MulTcp::start(params, &PATH);
    state.window.cwnd = cwnd;
    state.window.ssthresh = ssthresh;
    state
}

fn ack(params: &Params, state: State, now: u64, packets: u32) -> State {
    testkit::step::<MulTcp>(params, state, Time(now), EventKind::PacketsAcked(acked(packets, Time(now))))
}

fn lose(params: &Params, state: State, now: u64) -> State {
    testkit::step::<MulTcp>(params, state, Time(now), EventKind::PacketsLost(lost(Time(now))))
}

fn weight(n: f64) -> Params {
    Params { n, ..Params::default() }
}

/// `spec: cho §5`, what TCP/k does otherwise: the threshold is the reduced window.
#[test]
fn a_cut_is_one_flows_halving_and_the_threshold_is_the_window() {
    let cut = lose(&weight(4.0), state(&weight(4.0), 80.0, 40.0), 5).window;
    assert_eq!((cut.cwnd, cut.ssthresh), (70.0, 70.0));
    let cut = lose(&weight(2.5), state(&weight(2.5), 100.0, 40.0), 5).window;
    assert_eq!((cut.cwnd, cut.ssthresh), (80.0, 80.0));
    assert_eq!(ack(&weight(4.0), state(&weight(4.0), 40.0, 2.0), 5, 1).window.cwnd, 40.1);
}

/// `spec: cho §5, §9`: slow start is quick only up to where `n` flows would be.
#[test]
fn slow_start_is_quick_until_it_has_caught_up() {
    let params = Params { n: 4.0, ..Params::paper() };
    let mut flow = state(&params, 2.0, f64::INFINITY);
    let mut windows = std::vec::Vec::new();
    for round in 1..6 {
        for _ in 0..flow.window.cwnd as u32 {
            flow = ack(&params, flow, round, 1);
        }
        windows.push(flow.window.cwnd);
    }
    // Four flows together: 16, 32, 64, 128, 256.
    assert_eq!(windows, [6.0, 18.0, 54.0, 124.0, 248.0]);
    assert_close(flow.scheme.quick_until, 2.0 * libm::pow(3.0, libm::log(4.0) / libm::log(1.5)), 1e-9);
    let after = ack(&params, state(&params, flow.scheme.quick_until, f64::INFINITY), 9, 1);
    assert_eq!(after.window.cwnd, flow.scheme.quick_until + 1.0);
    // By default QUIC's slow start stays what it is.
    assert_eq!(ack(&weight(4.0), state(&weight(4.0), 10.0, 100.0), 1, 2).window.cwnd, 12.0);
}

#[test]
fn weights_below_one_are_refused() {
    for text in ["multcp:n=0", "multcp:n=0.5", "multcp:slow_start_gain=3"] {
        assert!(crate::Algorithm::read(text).is_err(), "{text}");
    }
}

proptest! {
    #![proptest_config(testkit::cases(1_000))]

    /// A window's worth of ACKs adds at most `n`, and little less; one loss takes `1/2n`.
    #[test]
    fn it_is_n_flows(n in 1.0..50.0f64, w0 in 60u32..2000) {
        let params = weight(n);
        let mut flow = state(&params, f64::from(w0), 2.0);
        for i in 0..w0 {
            flow = ack(&params, flow, u64::from(i), 1);
        }
        let w0 = f64::from(w0);
        let gained = flow.window.cwnd - w0;
        prop_assert!(gained <= n * (1.0 + 1e-12));
        prop_assert!(gained >= libm::sqrt(w0 * w0 + 2.0 * n * w0) - w0 - 1e-9);
        let cut = lose(&params, flow, 1_000_000).window;
        assert_close(cut.cwnd, flow.window.cwnd * (1.0 - 0.5 / n), 1e-12);
        prop_assert!(!cut.in_slow_start());
    }
}
