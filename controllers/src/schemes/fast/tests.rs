//! `spec: sharma §7`, ambiguities.

use proptest::prelude::*;

use super::*;
use crate::event::PacketsAcked;
use crate::parts::window_controller::WindowController;
use crate::testkit::pipe::Pipe;
use crate::testkit::{self, MTU, PATH, acked, assert_close, cases, lost, state_variable};
use crate::{Controller, Parameters};

type Fast = WindowController<super::Fast>;

type State = <Fast as Controller>::State;

const MS: u64 = 1_000_000;

fn known(params: &Params, cwnd: f64, base_ms: f64, avg_ms: f64) -> State {
    let mut state = Fast::start(params, &PATH);
    state.window.cwnd = cwnd;
    let rtt = Span::from_secs_f64(base_ms / 1e3);
    state.scheme.base.sample(&params.path, Sample { now: Time::ZERO, sent_at: Time::ZERO, ns: signed(rtt), rtt });
    state.scheme.average = Some(avg_ms / 1e3);
    state
}

/// An ACK of one packet that brings no sample, sent with `flight` packets in flight.
fn ack(params: &Params, state: State, ms: u64, flight: f64) -> State {
    let newest_in_flight = Some((flight * f64::from(MTU)) as u64);
    let kind = EventKind::PacketsAcked(PacketsAcked { newest_in_flight, ..acked(1, Time(ms * MS - 1)) });
    testkit::step::<Fast>(params, state, Time(ms * MS), kind)
}

fn lose(params: &Params, state: State, ms: u64) -> State {
    testkit::step::<Fast>(params, state, Time(ms * MS), EventKind::PacketsLost(lost(Time(ms * MS - 1))))
}

#[test]
fn profiles_are_those_of_the_document() {
    let (paper, quic) = (Params::paper(), Params::default());
    assert_eq!((paper.variant, quic.variant), (Variant::Ns2, Variant::Paper));
    assert_eq!((paper.alpha, paper.gamma, paper.mi_threshold, paper.update_period), (312.0, 0.5, 0.75, 10.0));
    assert!(Fast::needs(&paper).contains(Signals::WINDOW_AT_SEND));
    assert!(!Fast::needs(&quic).contains(Signals::WINDOW_AT_SEND));
}

/// Ns2 rules 2, 3: a packet per packet below the threshold; above it, on the timer, with
/// what was in flight at the time of sending.
#[test]
fn the_module_doubles_then_follows_its_timer() {
    let params = Params::paper();
    let quick = ack(&params, known(&params, 100.0, 100.0, 100.7), 1000, 50.0);
    assert_eq!((quick.window.cwnd, quick.scheme.last_update), (101.0, Time(1000 * MS)));
    let flow = ack(&params, known(&params, 1000.0, 100.0, 125.0), 10, 900.0);
    assert_close(flow.window.cwnd, 500.0 + 0.5 * (900.0 * 0.8 + 312.0), 1e-12);
    assert_eq!(ack(&params, flow, 19, 900.0).window.cwnd, flow.window.cwnd);
    assert!(ack(&params, flow, 20, 900.0).window.cwnd != flow.window.cwnd);
}

/// T-11 once per average RTT, with the window itself.
#[test]
fn the_paper_moves_once_per_round_trip() {
    let params = Params::default();
    let flow = known(&params, 1000.0, 100.0, 125.0);
    assert_eq!(ack(&params, flow, 124, 1.0).window.cwnd, 1000.0);
    assert_close(ack(&params, flow, 126, 1.0).window.cwnd, 500.0 + 0.5 * (800.0 + 312.0), 1e-12);
    let scaled = Params { scaled_alpha: true, ..params };
    assert_eq!(scaled.target(10.0, 10.0, 1.0), 20.0);
    assert_eq!(scaled.target(1000.0, 1000.0, 0.8), params.target(1000.0, 1000.0, 0.8));
}

/// Rules 5 to 8.
#[test]
fn a_loss_halves_and_nothing_moves_in_recovery() {
    for params in [Params::paper(), Params::default()] {
        let flow = lose(&params, known(&params, 1000.0, 100.0, 125.0), 1000);
        assert_eq!(flow.window.cwnd, 500.0);
        let old = EventKind::PacketsAcked(acked(1, Time(900 * MS)));
        let later = testkit::step::<Fast>(&params, flow, Time(1500 * MS), old);
        assert_eq!((later.window.cwnd, later.scheme.last_update), (500.0, Time(1500 * MS)));
        assert_eq!(later.scheme.delays(), flow.scheme.delays());
        let kind = EventKind::PersistentCongestion(lost(Time(1)));
        assert_eq!(testkit::step::<Fast>(&params, later, Time(1600 * MS), kind).window.cwnd, 2.0);
    }
}

#[test]
fn the_average_weighs_every_packet() {
    let params = Params::paper();
    assert_eq!((params.weight(100.0), params.weight(3000.0)), (1.0 / 256.0, 1e-3));
    let quic = Params::default();
    assert_eq!((quic.weight(4.0), quic.weight(300.0)), (0.25, 0.01));
    let once = averaged(1e-7, Span(200), 0.01, 8);
    let singly = (0..8).fold(1e-7, |average, _| averaged(average, Span(200), 0.01, 1));
    assert_close(1e7 * once, 1e7 * singly, 1e-12);
}

/// `spec: sharma §7`, invariants: α packets queued ± 1 %, with an ample buffer.
#[test]
fn a_single_flow_keeps_alpha_packets_queued() {
    for params in [Params::paper(), Params::default()] {
        let params = Params { alpha: 200.0, ..params };
        let pipe = Pipe { service: MS / 10, base: 100 * MS, every: 1 };
        let (mut last, mut seen) = (0.0, 0);
        pipe.run::<Fast>(&params, Fast::start(&params, &PATH), 400_000, |moment| {
            seen += 1;
            if seen == 400_000 {
                last = moment.in_flight - pipe.capacity();
            }
        });
        assert!((last - 200.0).abs() <= 2.0, "{last} queued: {:?}", params.variant);
    }
}

proptest! {
    #![proptest_config(cases(10_000))]

    /// `spec: sharma §7`, invariants.
    #[test]
    fn the_target_is_bounded_and_falls_with_the_delay(
        w in 2.0..67_000.0f64, flight in 0.0..67_000.0f64, ratio in 0.01..1.0f64, less in 0.0..1.0f64, paper: bool,
    ) {
        let params = if paper { Params::paper() } else { Params::default() };
        let x = params.target(w, flight, ratio);
        prop_assert!((2.0..=2.0 * w).contains(&x));
        prop_assert!(params.target(w, flight, ratio * less) <= x);
        let fixed = params.alpha / (1.0 - 0.99 * ratio);
        prop_assert!((params.target(fixed, fixed, 0.99 * ratio) / fixed - 1.0).abs() < 1e-9);
    }

    /// `spec: sharma §7`, rule 8 and invariants, step by step.
    #[test]
    fn base_rtt_never_rises_and_the_window_never_more_than_doubles(
        w in 2.0..67_000.0f64, base in 1.0..500.0f64, queue in 0.0..500.0f64, rtt in 1..1000u64, paper: bool,
    ) {
        let params = if paper { Params::paper() } else { Params::default() };
        let flow = known(&params, w, base, base + queue);
        let sample = Some(testkit::rtt(Span::from_millis(rtt)));
        let kind = EventKind::PacketsAcked(PacketsAcked { rtt: sample, ..acked(1, Time(1)) });
        let after = testkit::step::<Fast>(&params, flow, Time(5000 * MS), kind);
        prop_assert!(after.window.cwnd >= 2.0 && after.window.cwnd <= 2.0 * w * (1.0 + 1e-12));
        let shown = |state| state_variable::<Fast>(&params, state, "base_rtt_ms");
        prop_assert!(shown(&after) <= shown(&flow));
    }
}
