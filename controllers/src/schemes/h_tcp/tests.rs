//! `spec: sharma §8`, ambiguities.

use proptest::prelude::*;

use super::*;
use crate::event::{IdleRestart, PacketsAcked, SpuriousLoss};
use crate::parts::window_controller::WindowController;
use crate::testkit::{self, MTU, PATH, acked, assert_close, cases, lost, state_variable};
use crate::{Controller, Parameters};

type HTcp = WindowController<super::HTcp>;

type State = <HTcp as Controller>::State;

const MS: u64 = 1_000_000;

fn state(params: &Params, cwnd: f64) -> State {
    let mut state = HTcp::start(params, &PATH);
    state.window.cwnd = cwnd;
    state.window.ssthresh = 2.0;
    state.window.ever_reduced = true;
    state
}

fn at(params: &Params, state: State, ms: u64, kind: EventKind) -> State {
    testkit::step::<HTcp>(params, state, Time(ms * MS), kind)
}

fn ack(params: &Params, state: State, ms: u64, rtt_ms: u64) -> State {
    let rtt = Some(testkit::rtt(Span::from_millis(rtt_ms)));
    at(params, state, ms, EventKind::PacketsAcked(PacketsAcked { rtt, ..acked(1, Time(ms * MS - 1)) }))
}

fn lose(params: &Params, state: State, ms: u64) -> State {
    at(params, state, ms, EventKind::PacketsLost(lost(Time(ms * MS - 1))))
}

fn clocked(params: &Params, state: State, from_ms: u64, until_ms: u64, rtt_ms: u64) -> State {
    let rtt = Span::from_millis(rtt_ms);
    testkit::clocked::<super::HTcp>(params, state, Time(from_ms * MS), Time(until_ms * MS), rtt)
}

/// Lets a state know RTTs from `min` to `max` ms.
fn ranging(params: &Params, state: State, min: u64, max: u64) -> State {
    let sample = |state, ms| at(params, state, 1, EventKind::RttSampled(testkit::rtt(Span::from_millis(ms))));
    sample(sample(state, min), max)
}

#[test]
fn profiles_are_those_of_the_document() {
    let (paper, quic) = (Params::paper(), Params::default());
    assert_eq!((paper.base.limits.ssthresh, paper.base.limits.iw, paper.base.start_up.first_halving), (1.0, 2.0, true));
    assert_eq!(paper.base.start_up.lss, 0.0);
    assert!(quic.base.limits.ssthresh == f64::INFINITY && !quic.base.start_up.first_halving);
    for params in [paper, quic] {
        assert_eq!((params.delta_l, params.beta_min, params.beta_max, params.change), (1.0, 0.5, 0.8, 0.2));
        assert_eq!((params.rtt_ref, params.rtt_scaling, params.fade), (0.1, true, 0.95));
    }
    assert!(!HTcp::start(&paper, &PATH).window.in_slow_start(), "A-13");
}

/// `spec: sharma §8`, check values.
#[test]
fn check_values_of_the_increase() {
    let params = Params::default();
    let rows = [(0.5, 1.0), (1.0, 1.0), (1.5, 6.0625), (2.0, 11.25), (3.0, 22.0), (5.0, 45.0), (11.0, 126.0)];
    for (delta, alpha) in rows.into_iter().chain([(21.0, 301.0)]) {
        assert_eq!(params.polynomial(delta), alpha);
        for (beta, share) in [(0.5, 1.0), (0.8, 0.4)] {
            let mut flow = state(&params, 1000.0);
            flow.scheme.variables.current.beta = beta;
            let grown = ack(&params, flow, (delta * 1e3) as u64, 100).window.cwnd;
            assert_close(1000.0 * (grown - 1000.0), share * alpha, 1e-8);
        }
    }
    // Minutes count up to a limit.
    assert_eq!(params.polynomial(601.0), params.polynomial(1e9));
}

/// `spec: sharma §8`, check values; corner cases.
#[test]
fn check_values_of_the_decrease() {
    let params = Params::default();
    let ms = Span::from_millis;
    for (min, max, beta) in [(100, 120, 0.8), (100, 200, 0.5), (100, 150, 2.0 / 3.0), (100, 100, 0.8), (0, 0, 0.8)] {
        assert_close(params.backoff(ms(min), ms(max)), beta, 1e-12);
    }
    assert_eq!(params.backoff(ms(100), ms(1000)), 0.5);
}

/// Rule 3, A-14: by the minimum RTT, within limits, not in low speed.
#[test]
fn the_increase_is_scaled_with_the_minimum_rtt() {
    let params = Params::default();
    for (rtt, k) in [(100, 1.0), (50, 0.5), (150, 1.5), (5, 0.1), (500, 2.0)] {
        assert_close(params.scale(Some(Span::from_millis(rtt))), k, 1e-12);
        let alpha = |ms| state_variable::<HTcp>(&params, &ack(&params, state(&params, 1000.0), ms, rtt), "alpha");
        assert_close(alpha(3000), 22.0 * k, 1e-9);
        assert_eq!(alpha(1000), 1.0);
    }
    assert_eq!(params.scale(None), 1.0);
    assert_eq!(Params { rtt_scaling: false, ..params }.scale(Some(Span::from_millis(50))), 1.0);
}

/// Rule 4, A-15, A-16: in the document two halvings, then the ratio, unless throughput
/// changed by more than a fifth.
#[test]
fn the_first_two_reductions_are_halvings_and_later_ones_adapt() {
    for (params, halvings) in [(Params::paper(), 2), (Params::default(), 1)] {
        let mut flow = ranging(&params, state(&params, 1000.0), 100, 150);
        flow.window.ever_reduced = false;
        for i in 0..4u64 {
            flow.window.cwnd = 1000.0;
            flow.scheme.variables.current.rtt_max = Span::from_millis(150);
            flow.scheme.meter = Meter { b_cur: 1000.0, b_max: 1000.0, ..Meter::default() };
            flow = lose(&params, flow, 1000 + 1000 * i);
            assert_close(flow.window.cwnd, if i < halvings { 500.0 } else { 1000.0 * 100.0 / 150.0 }, 1e-12);
        }
        for (at, throughput, kept) in [(7, 1201.0, 0.5), (8, 1441.0, 2.0 / 3.0), (9, 1152.0, 0.5)] {
            flow.window.cwnd = 1000.0;
            flow.scheme.variables.current.rtt_max = Span::from_millis(150);
            flow.scheme.meter = Meter { b_cur: throughput, b_max: throughput, ..Meter::default() };
            flow = lose(&params, flow, 1000 * at);
            assert_close(flow.window.cwnd, 1000.0 * kept, 1e-12);
        }
    }
}

/// Rule 4.4.
#[test]
fn the_largest_rtt_fades_and_recovery_does_not_raise_it() {
    let params = Params::default();
    let flow = lose(&params, ranging(&params, state(&params, 100.0), 100, 200), 1000);
    assert_eq!(state_variable::<HTcp>(&params, &flow, "rtt_max_ms"), 195.0);
    let flow = at(&params, flow, 1010, EventKind::RttSampled(testkit::rtt(Span::from_millis(300))));
    let flow = at(&params, flow, 1010, EventKind::RttSampled(testkit::rtt(Span::from_millis(90))));
    assert_eq!(state_variable::<HTcp>(&params, &flow, "rtt_max_ms"), 195.0);
    assert_eq!(state_variable::<HTcp>(&params, &flow, "rtt_min_ms"), 90.0);
    assert_eq!(flow.scheme.variables.current.last_cong, Time(1000 * MS));
}

/// Rule 2: packets over time, window by window; smoothed from three minimum RTTs on.
#[test]
fn throughput_is_measured_per_window() {
    let params = Params::default();
    let flow = clocked(&params, state(&params, 100.0), 0, 900, 100);
    let shown = state_variable::<HTcp>(&params, &flow, "throughput_max_pps");
    assert!((990.0..1090.0).contains(&shown), "{shown}");
    let mut meter = Meter::start(Time::ZERO);
    let (rtt, late) = (Span(100), Span(301));
    meter.count(Time(50), 10.0, 5.0, rtt, late);
    assert_eq!(meter.b_max, 0.0, "not before a minimum RTT has passed");
    meter.count(Time(100), 10.0, 5.0, rtt, Span(300));
    assert_close(meter.b_max, 20.0 / 1e-7, 1e-12);
    meter.count(Time(300), 80.0, 5.0, rtt, late);
    assert_close(meter.b_max, (3.0 * 20.0 / 1e-7 + 80.0 / 2e-7) / 4.0, 1e-12);
    let largest = meter.b_max;
    meter.count(Time(500), 6.0, 5.0, rtt, late);
    assert_eq!(meter.b_max, largest);
    meter.count(Time(700), 2.0, 5.0, rtt, Span(0));
    assert_eq!(meter.b_max, largest, "not before there is enough");
    meter.restart(Time(700));
    meter.count(Time(800), 6.0, 5.0, rtt, Span(0));
    assert_close(meter.b_max, 6.0 / 1e-7, 1e-12);
}

/// Rule 5.
#[test]
fn a_timeout_starts_over() {
    let params = Params::paper();
    let mut flow = ranging(&params, state(&params, 1000.0), 100, 120);
    (flow.scheme.variables.current.b_old, flow.scheme.variables.current.beta) = (Some(9.0), 0.8);
    let flow = at(&params, flow, 5000, EventKind::PersistentCongestion(lost(Time(1))));
    assert_eq!((flow.window.cwnd, flow.window.ssthresh), (1.0, 500.0));
    let Variables { last_cong, beta, b_old, .. } = flow.scheme.variables.current;
    assert_eq!((last_cong, beta, b_old), (Time(5000 * MS), 0.5, None));
}

/// Time without a chance to grow does not count.
#[test]
fn a_pause_does_not_speed_up_growth() {
    let params = Params { base: Limits { idle_restart: false, ..Limits::default() }.into(), ..Params::default() };
    let flow = ack(&params, state(&params, 1000.0), 2000, 100);
    let idle = IdleRestart { idle: Span::from_millis(7000), pto: Span::from_millis(100) };
    let flow = ack(&params, at(&params, flow, 10_000, EventKind::IdleRestart(idle)), 10_000, 100);
    assert_eq!(state_variable::<HTcp>(&params, &flow, "alpha"), 22.0);
}

#[test]
fn an_unfounded_response_leaves_no_trace() {
    let params = Params::default();
    let before = ack(&params, ranging(&params, state(&params, 1000.0), 100, 150), 3000, 100);
    let spurious = EventKind::SpuriousLoss(SpuriousLoss { newest_sent_at: Time(1) });
    let back = at(&params, lose(&params, before, 3001), 3100, spurious);
    assert_eq!(
        (back.scheme.variables.current, back.window.cwnd),
        (before.scheme.variables.current, before.window.cwnd)
    );
    let mut known = before;
    known.scheme.variables.current.b_old = Some(1000.0);
    let resized = at(&params, known, 3001, EventKind::MtuUpdated(2 * MTU));
    assert_eq!(resized.scheme.variables.current.b_old, Some(500.0));
}

/// `spec: sharma §8`, response: over T seconds without a loss a window grows by
/// `2(1−β)·A(T)/RTT`; A(5) = 90.3333, A(10) = 475.75.
#[test]
fn growth_over_an_epoch_is_the_integral_of_the_increase() {
    let params = Params { base: Limits { max_window: 1e6, ..Limits::default() }.into(), ..Params::default() };
    for (seconds, a) in [(2, 7.0833), (5, 90.3333), (10, 475.75), (20, 2396.583)] {
        let flow = clocked(&params, state(&params, 3000.0), 0, 1000 * seconds, 100);
        assert_close(flow.window.cwnd - 3000.0, 10.0 * a, 0.01);
    }
}

proptest! {
    #![proptest_config(cases(10_000))]

    /// `spec: sharma §8`, invariants: never falls, no jump at Δ_L.
    #[test]
    fn the_increase_never_falls_with_time(delta in 0.0..1000.0f64, more in 0.0..10.0f64) {
        let params = Params::default();
        prop_assert!(params.polynomial(delta) <= params.polynomial(delta + more));
        prop_assert!(params.polynomial(1.0 + 1e-9 * more) - 1.0 < 2e-7);
    }

    /// `spec: sharma §8`, invariants: within its limits; a larger buffer, a deeper cut.
    #[test]
    fn the_decrease_stays_within_its_limits(min in 0..u64::MAX, max in 0..u64::MAX, more in 0..u64::MAX) {
        let params = Params::default();
        let beta = params.backoff(Span(min), Span(max));
        prop_assert!((0.5..=0.8).contains(&beta));
        prop_assert!(params.backoff(Span(min), Span(max.saturating_add(more))) <= beta);
    }

    /// `spec: sharma §8`, invariants: what is kept is a half or within the limits.
    #[test]
    fn a_response_keeps_a_half_to_eight_tenths(
        w in 4.0..60_000.0f64, min in 1..500u64, queue in 0..500u64, old in 0.0..1e5f64, now in 0.0..1e5f64, paper: bool,
    ) {
        let params = if paper { Params::paper() } else { Params::default() };
        let mut flow = ranging(&params, state(&params, w), min, min + queue);
        flow.scheme.variables.current.b_old = Some(old);
        flow.scheme.meter = Meter { b_cur: now, b_max: now, ..Meter::default() };
        let kept = lose(&params, flow, 1000).window.cwnd / w;
        prop_assert!((0.5 - 1e-12..=0.8 + 1e-12).contains(&kept));
        prop_assert!((now - old).abs() <= 0.2 * old || kept == 0.5);
    }

    /// `spec: sharma §8`, invariants: with RTT scaling growth per second does not depend
    /// on the RTT within the clamp (10 to 200 ms).
    #[test]
    fn growth_per_second_does_not_depend_on_the_rtt(rtt in 10..200u64, delta in 1100..20_000u64) {
        let params = Params::default();
        let flow = ack(&params, state(&params, 1000.0), delta, rtt);
        let per_second = (flow.window.cwnd - 1000.0) * 1000.0 / (1e-3 * rtt as f64);
        let expected = params.polynomial(1e-3 * delta as f64) / 0.1;
        prop_assert!((per_second / expected - 1.0).abs() < 1e-6, "{per_second}, {expected}");
    }
}
