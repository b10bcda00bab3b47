//! `spec: sharma §5`, ambiguities.

use proptest::prelude::*;

use super::*;
use crate::Time;
use crate::event::SpuriousLoss;
use crate::parts::window_controller::WindowController;
use crate::testkit::{self, MTU, PATH, acked, assert_close, cases, lost, state_variable};
use crate::{Controller, EventKind, Parameters, Span};

type Bic = WindowController<super::Bic>;

type State = <Bic as Controller>::State;

fn midpoint() -> Params {
    Params { form: Form::Midpoint, ..Params::paper() }
}

fn state(params: &Params, cwnd: f64, last_max: f64) -> State {
    let mut state = Bic::start(params, &PATH);
    state.window.cwnd = cwnd;
    state.window.ssthresh = 2.0;
    state.scheme.maximum = Undoable::new(Maximum { last_max, loss_ever: last_max > 0.0 });
    state
}

fn at(params: &Params, state: State, now: u64, kind: EventKind) -> State {
    testkit::step::<Bic>(params, state, Time(now), kind)
}

fn ack(params: &Params, state: State, now: u64) -> State {
    at(params, state, now, EventKind::PacketsAcked(acked(1, Time(now - 1))))
}

fn lose(params: &Params, state: State, now: u64) -> State {
    at(params, state, now, EventKind::PacketsLost(lost(Time(now - 1))))
}

fn growth(params: &Params, state: &State) -> f64 {
    state_variable::<Bic>(params, state, "growth")
}

/// The flow one window of ACKs later.
fn round(params: &Params, state: State, trip: u64) -> State {
    let rtt = Span::from_millis(10);
    testkit::clocked::<super::Bic>(params, state, Time(trip * rtt.0), Time((trip + 1) * rtt.0), rtt)
}

#[test]
fn profiles_are_those_of_the_document() {
    let (paper, quic) = (Params::paper(), Params::default());
    assert_eq!((paper.form, paper.beta, paper.divisor), (Form::Divided, 0.8, 4.0));
    assert_eq!((quic.form, quic.beta), (Form::Midpoint, 0.875));
    for params in [paper, quic] {
        assert_eq!((params.smax, params.smin, params.low_window, params.fast_convergence), (32.0, 0.01, 14.0, true));
        assert!(!params.base.start_up.first_halving && params.base.start_up.lss == 0.0, "spec: sharma §1.6, §1.7");
    }
}

/// Linux 2.6.22, `tcp_bic.c`: max_increment 16, beta 819/1024, five percent before the first loss at least.
#[test]
fn linux_has_its_own_set() {
    let Some(crate::Algorithm::Bic(params)) = crate::Algorithm::read("bic:profile=linux").ok() else {
        panic!("no set")
    };
    let module = (params.form, params.smax, params.beta, params.divisor, params.preloss_floor);
    assert_eq!(module, (Form::Divided, 16.0, 819.0 / 1024.0, 4.0, true));
    assert!(crate::Algorithm::read("reno:profile=linux").is_err());
}

/// `spec: sharma §5`, check values, as computed and as grown by.
#[test]
fn check_values_of_growth() {
    let params = Params::paper();
    let rows = [
        (800.0, 32.0),
        (872.0, 32.0),
        (900.0, 25.0),
        (960.0, 10.0),
        (996.0, 0.2),
        (1000.0, 0.2),
        (1004.0, 4.0 / 3.0),
        (1010.0, 10.0 / 3.0),
        (1095.0, 95.0 / 3.0),
        (1096.0, 32.0),
    ];
    for (w, s) in rows {
        let flow = state(&params, w, 1000.0);
        assert_close(growth(&params, &flow), s, 1e-12);
        assert_close(ack(&params, flow, 5).window.cwnd - w, s / w, 1e-12);
    }
}

/// `spec: sharma §5`, check values, fast convergence: the comparison is with the maximum
/// remembered before, and equality does not count.
#[test]
fn check_values_of_a_loss() {
    for (remembered, w_max) in [(1100.0, 900.0), (900.0, 1000.0), (1000.0, 1000.0), (0.0, 1000.0)] {
        let params = Params::paper();
        let flow = lose(&params, state(&params, 1000.0, remembered), 5);
        assert_eq!(
            (flow.window.cwnd, flow.window.ssthresh, flow.scheme.maximum.current.last_max),
            (800.0, 800.0, w_max)
        );
        let plain = Params { fast_convergence: false, ..params };
        assert_eq!(lose(&plain, state(&plain, 1000.0, remembered), 5).scheme.maximum.current.last_max, 1000.0);
    }
    let quic = Params::default();
    let flow = lose(&quic, state(&quic, 1000.0, 1100.0), 5);
    assert_eq!((flow.window.cwnd, flow.scheme.maximum.current.last_max), (875.0, 937.5));
}

/// `spec: sharma §5`: `B/smooth_rtts`; 20.008 round trips for 0.01 and 4.
#[test]
fn the_growth_close_to_the_maximum_follows_from_smin_and_the_divisor() {
    assert_eq!(near(&Params::paper()), 0.2);
    assert_eq!(near(&Params { divisor: 2.0, ..Params::paper() }), 0.25);
}

/// BIC-1, rule 3.1.
#[test]
fn up_to_the_low_window_it_is_reno() {
    for params in [Params::paper(), Params::default()] {
        let flow = state(&params, 14.0, 1000.0);
        assert_eq!(ack(&params, flow, 5).window.cwnd, 14.0 + 1.0 / 14.0);
        let flow = lose(&params, flow, 5);
        assert_eq!((flow.window.cwnd, flow.scheme.maximum.current.last_max), (7.0, 0.5 * (1.0 + params.beta) * 14.0));
        assert!(flow.scheme.maximum.current.loss_ever);
        assert_eq!(growth(&params, &state(&params, 14.001, 1000.0)), 32.0);
    }
}

/// BIC-2, A-4.
#[test]
fn before_the_first_loss_it_grows_exponentially() {
    let params = Params::paper();
    let flow = state(&params, 200.0, 0.0);
    assert_eq!(growth(&params, &flow), 10.0);
    assert_close(ack(&params, flow, 5).window.cwnd, 200.05, 1e-12);
    let floor = Params { preloss_floor: true, ..params };
    assert_eq!((growth(&floor, &flow), growth(&floor, &state(&floor, 1000.0, 0.0))), (32.0, 50.0));
}

/// Rule 4, A-37.
#[test]
fn a_timeout_resets_the_search() {
    for params in [Params::paper(), Params::default()] {
        let flow = at(&params, state(&params, 1000.0, 1100.0), 5, EventKind::PersistentCongestion(lost(Time(4))));
        assert_eq!((flow.window.cwnd, flow.window.ssthresh), (params.base.limits.timeout_window, 500.0));
        assert_eq!((flow.scheme.maximum.current, flow.scheme.step), (Maximum::default(), None));
    }
}

/// The paper's form: halfway, at most `smax`; the target stays until it is reached.
#[test]
fn the_midpoint_form_goes_halfway_each_round_trip() {
    let params = midpoint();
    let mut flow = lose(&params, state(&params, 1000.0, 0.0), 5);
    flow.window.recovery.close();
    let mut steps = std::vec::Vec::new();
    let mut last = 0.0;
    while flow.window.cwnd < 1000.0 - 0.02 {
        let before = flow.scheme.step;
        flow = ack(&params, flow, 10);
        if flow.scheme.step != before {
            last = flow.scheme.step.map_or(0.0, |step| step.growth);
            steps.push(last);
        }
    }
    // From 800: 900 by 32s, 950, 975, then half of what remains, each to the packet's
    // share by which the last ACK of a step overshoots.
    let planned = [32.0, 32.0, 32.0, 4.0, 32.0, 18.0, 25.0, 12.5, 6.25, 3.12, 1.56, 0.78];
    for (step, plan) in steps.iter().zip(planned) {
        assert!((step - plan).abs() < 0.1, "{steps:?}");
    }
    assert!((0.01..0.05).contains(&last), "{steps:?}");
}

/// The paper's form: the maximum reached or unknown, steps of 1, 2, 4 … `smax`.
#[test]
fn the_midpoint_form_probes_beyond_the_maximum() {
    let params = midpoint();
    for last_max in [0.0, 1000.0, 900.0, 1000.009] {
        let mut flow = state(&params, 1000.0, last_max);
        for step in [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 32.0, 32.0] {
            let (w, from) = (flow.window.cwnd, flow.scheme.step);
            flow = ack(&params, flow, 10);
            assert_ne!(flow.scheme.step, from);
            assert_close(flow.window.cwnd - w, step / w, 1e-11);
            let end = flow.scheme.step.map_or(0.0, |step| step.end);
            assert_close(end, w + step, 1e-12);
            while flow.window.cwnd < end {
                flow = ack(&params, flow, 10);
            }
        }
    }
}

/// One step takes one round trip.
#[test]
fn a_leg_lasts_a_round_trip() {
    let params = midpoint();
    let mut flow = state(&params, 1000.0, 0.0);
    let mut grown = 0.0;
    for (trip, step) in [1.0, 2.0, 4.0, 8.0, 16.0, 32.0].into_iter().enumerate() {
        flow = round(&params, flow, trip as u64 + 1);
        grown += step;
        assert!((flow.window.cwnd - 1000.0 - grown).abs() < 0.08 * grown, "{} after {grown}", flow.window.cwnd);
    }
}

#[test]
fn a_restart_or_a_new_datagram_size_begins_a_new_leg() {
    let params = Params::default();
    let flow = ack(&params, state(&params, 900.0, 1000.0), 5);
    assert!(flow.scheme.step.is_some());
    let idle = crate::event::IdleRestart { idle: Span(9), pto: Span(1) };
    let rested = at(&params, flow, 20, EventKind::IdleRestart(idle));
    assert_eq!((rested.window.cwnd, rested.scheme.step), (10.0, None));
    let resized = at(&params, flow, 20, EventKind::MtuUpdated(2 * MTU));
    assert_eq!((resized.scheme.maximum.current.last_max, resized.scheme.step), (500.0, None));
}

#[test]
fn an_unfounded_response_leaves_no_trace() {
    for params in [Params::paper(), Params::default()] {
        let before = ack(&params, state(&params, 950.0, 1000.0), 5);
        let spurious = EventKind::SpuriousLoss(SpuriousLoss { newest_sent_at: Time(9) });
        let back = at(&params, lose(&params, before, 10), 20, spurious);
        assert_eq!(
            (back.window.cwnd, back.scheme.maximum.current),
            (before.window.cwnd, before.scheme.maximum.current)
        );
    }
}

/// `spec: sharma §5`: the mean window in the additive regime is
/// `sqrt(smax(2−β)/(2βp))`, 12/√p for the document's values.
#[test]
fn the_mean_window_follows_the_response_function() {
    // So large that the round trips around the maximum hardly show.
    let base = Limits { max_window: 1e6, ..Limits::default() }.into();
    let params = Params { base, divisor: 2.0, ..Params::paper() };
    let (mut flow, mut now, mut mean) = (state(&params, 130_000.0, 140_000.0), 10, 0.0);
    let packets = 1e8;
    for _ in 0..8 {
        let (mut sent, mut trips) = (0.0, 0.0);
        while sent < packets {
            now += 2;
            let acks = flow.window.cwnd as u32 / 100;
            trips += f64::from(acks) / flow.window.cwnd;
            sent += f64::from(acks);
            flow = at(&params, flow, now, EventKind::PacketsAcked(acked(acks, Time(now - 1))));
        }
        mean = sent / trips;
        now += 2;
        flow = lose(&params, flow, now);
    }
    assert_close(mean, 12.0 * libm::sqrt(packets), 0.03);
}

proptest! {
    #![proptest_config(cases(10_000))]

    /// `spec: sharma §5`, invariants: within [0.2, smax]; the closer to the maximum the
    /// slower, the farther beyond the faster.
    #[test]
    fn growth_has_the_shape_of_the_search(max in 15.0..60_000.0f64, w in 14.001..60_000.0f64, more in 0.0..500.0f64) {
        let params = Params::paper();
        let s = |w: f64| growth(&params, &state(&params, w, max));
        let larger = w + more;
        prop_assert!((0.2..=32.0).contains(&s(w)));
        if larger < max {
            prop_assert!(s(w) >= s(larger));
        } else if w >= max {
            prop_assert!(s(w) <= s(larger));
        }
    }

    /// `spec: sharma §5`, invariants; a step is never smaller than `smin`.
    #[test]
    fn a_loss_keeps_beta_and_never_raises_the_maximum_above_the_window(
        w in 14.001..67_000.0f64, max in 0.0..67_000.0f64, paper: bool, form: bool,
    ) {
        let params = if paper { Params::paper() } else { Params::default() };
        let params = Params { form: if form { Form::Divided } else { Form::Midpoint }, ..params };
        let flow = state(&params, w, max);
        prop_assert!((params.smin..=(params.preloss_gain * w).max(32.0)).contains(&growth(&params, &flow)));
        let flow = lose(&params, flow, 5);
        prop_assert_eq!(flow.window.cwnd, (params.beta * w).max(params.base.limits.min_window));
        prop_assert!(flow.scheme.maximum.current.last_max <= w && flow.scheme.maximum.current.last_max >= flow.window.cwnd.min(w));
    }

    /// The midpoint form: within one search no step passes its target by more than
    /// `smin`, and none is larger than `smax`.
    #[test]
    fn a_step_does_not_pass_its_target(w in 15.0..60_000.0f64, distance in 0.02..5000.0f64, steps in 1..30) {
        let params = midpoint();
        let maximum = Maximum { last_max: w + distance, loss_ever: true };
        let (mut step, mut cwnd) = (None, w);
        for _ in 0..steps {
            let next = Step::after(step, &params, &maximum, cwnd);
            prop_assert!(next.growth <= 32.0 && next.growth >= params.smin && next.end > cwnd);
            if maximum.last_max - cwnd < params.smin {
                break;
            }
            prop_assert!(next.end <= (0.5 * (cwnd + maximum.last_max)).max(cwnd + params.smin) + 1e-9);
            (step, cwnd) = (Some(next), next.end);
        }
    }
}

proptest! {
    #![proptest_config(cases(2000))]

    /// `spec: sharma §5`, invariants: the last `B` packets take 20 round trips ± 1.
    #[test]
    fn the_last_packets_take_twenty_round_trips(max in 30.0..120.0f64) {
        let params = Params::paper();
        let mut flow = state(&params, max - 4.0, max);
        let mut trips = 0;
        while flow.window.cwnd < max {
            trips += 1;
            flow = round(&params, flow, trips);
        }
        prop_assert!((19..=21).contains(&trips), "{trips}");
    }
}
