//! `spec: cho §7`. That it is Reno to the bit while its weight is held at 1 is in
//! `tests/it/equivalences.rs` (AT2).

use super::*;
use crate::Time;
use crate::parts::window_controller::WindowController;
use crate::schemes::reno;
use crate::testkit::{self, PATH, acked, assert_close, lost, marked, rtt};
use crate::{Controller, Parameters, Span};
use proptest::prelude::*;
use std::vec::Vec;

type ATcp = WindowController<super::ATcp>;

type State = <ATcp as Controller>::State;

fn step(params: &Params, state: State, us: u64, kind: EventKind) -> State {
    testkit::step::<ATcp>(params, state, Time::from_micros(us), kind)
}

/// An ACK at `us` of `packets` just sent, with a sample of `sample` microseconds.
fn ack(us: u64, packets: u32, sample: u64) -> EventKind {
    let rtt = Some(rtt(Span::from_micros(sample)));
    EventKind::PacketsAcked(crate::event::PacketsAcked { rtt, ..acked(packets, Time::from_micros(us)) })
}

fn loss(us: u64) -> EventKind {
    EventKind::PacketsLost(lost(Time::from_micros(us)))
}

/// A flow past its first loss whose knees agree, with samples of 50 ms to 90 ms behind it.
fn settled(params: &Params, cwnd: f64, knee_k: u32) -> State {
    let mut state = ATcp::start(params, &PATH);
    state = step(params, state, 1, ack(1, 1, 50_000));
    for i in 2..100 {
        state = step(params, state, i, ack(i, 1, 90_000));
    }
    state.window.cwnd = cwnd;
    state.window.ssthresh = 2.0;
    let detector = &mut state.scheme.detector;
    *detector = Detector { first: false, knee: cwnd, knee_ref: cwnd, knee_k, ..*detector };
    state
}

/// `spec: cho §7 A-ACK`: the detector takes an ACK before the window grows by it.
#[test]
fn the_new_strength_already_grows_the_window() {
    let params = Params::default();
    let mut state = settled(&params, 100.0, 1);
    state = step(&params, state, 1_000, loss(1_000));
    assert_eq!((state.window.cwnd, state.scheme.detector.k), (50.0, 1));
    state.scheme.detector.rtt = Default::default();
    let after = step(&params, state, 600_000, ack(600_000, 1, 50_000));
    assert_eq!(after.scheme.detector.k, 2);
    assert_eq!(after.window.cwnd, 50.0 + 2.0 / 50.0);
}

/// `spec: cho §7 A-CONG, §1.7`: a frame with a loss is sample, then detector, then cut.
#[test]
fn a_loss_is_judged_before_the_cut_and_after_its_sample() {
    let params = Params::default();
    let mut state = settled(&params, 120.0, 5);
    state.scheme.detector.low_delay = true;
    state.scheme.detector.check_knee = true;
    state.scheme.detector.k = 9;
    // The sample finds the knee where the last one was; only then the loss is judged.
    state = step(&params, state, 2_000_000, EventKind::RttSampled(rtt(Span::from_micros(90_000))));
    assert_eq!((state.scheme.detector.knee, state.scheme.detector.knee_k), (120.0, 9));
    state = step(&params, state, 2_000_000, loss(2_000_000));
    assert_eq!(state.scheme.detector.k, 3);
    assert_eq!((state.window.cwnd, state.window.ssthresh), (100.0, 60.0));
    // The ACK of the same frame finds the waiting time running.
    let after = step(&params, state, 2_000_000, EventKind::PacketsAcked(acked(1, Time::ZERO)));
    assert_eq!(after.scheme.detector, state.scheme.detector);
}

#[test]
fn a_mark_is_judged_like_a_loss() {
    let params = Params::default();
    let state = settled(&params, 80.0, 4);
    let by_mark = step(&params, state, 1_000, EventKind::EcnCe(marked(Time(999_999))));
    let mut by_loss = step(&params, state, 1_000, EventKind::PacketsLost(lost(Time(999_999))));
    by_loss.window.discard_undo();
    assert_eq!(by_mark, by_loss);
    assert_eq!(by_mark.window.cwnd, 60.0);
    let again = step(&params, by_mark, 1_001, EventKind::EcnCe(marked(Time(999_999))));
    assert_eq!(again, by_mark, "one response per flight");
}

/// `spec: cho §7 A-RTO, AT-4`.
#[test]
fn persistent_congestion_is_judged_once_per_recovery_and_ends_in_standard() {
    let params = Params::default();
    let state = settled(&params, 80.0, 16);
    let timeout = |us| EventKind::PersistentCongestion(lost(Time::from_micros(us)));
    let alone = step(&params, state, 1_000, timeout(999));
    assert_eq!((alone.window.cwnd, alone.window.ssthresh, alone.scheme.detector.k), (2.0, 40.0, 1));
    assert!(alone.scheme.detector.check_knee);
    let cut = step(&params, state, 1_000, loss(999));
    assert_eq!(cut.scheme.detector.k, 4);
    let after = step(&params, cut, 1_500, timeout(1_200));
    let expected = Detector { k: 1, ..cut.scheme.detector };
    assert_eq!((after.window.ssthresh, after.scheme.detector), (35.0, expected));
}

/// `spec: cho §7`, corner cases: frozen in the QUIC profile, literal on paper. A sample
/// without an ACK counts as the ACK before it.
#[test]
fn an_application_limited_flow_keeps_its_strength() {
    for (params, expected) in [(Params::default(), 1), (Params::paper(), 11)] {
        let mut state = ATcp::start(&params, &PATH);
        state = step(&params, state, 1, loss(1));
        for i in 1..=10 {
            let us = i * 600_000;
            let idle = crate::event::PacketsAcked { app_limited: true, ..acked(1, Time::from_micros(us)) };
            state = step(&params, state, us - 1, EventKind::PacketsAcked(idle));
            state = step(&params, state, us, EventKind::RttSampled(rtt(Span::from_micros(50_000))));
        }
        assert_eq!(state.scheme.detector.k, expected);
    }
}

/// `spec: cho §7`, corner cases: without a loss nothing is unlocked.
#[test]
fn slow_start_left_without_a_loss_stays_standard() {
    let params = Params::paper();
    let mut state = ATcp::start(&params, &PATH);
    state.window.ssthresh = 4.0;
    for i in 1..200 {
        let us = i * 600_000;
        state = step(&params, state, us, ack(us, 1, if i % 7 < 4 { 50_000 } else { 90_000 }));
        assert_eq!(state.scheme.detector.k, 1);
    }
}

/// `spec: cho §7`, corner cases: random losses on a path without a queue halve, and the
/// weight climbs in between.
#[test]
fn losses_without_a_queue_halve_and_climb() {
    let params = Params::paper();
    let mut state = ATcp::start(&params, &PATH);
    state.window.cwnd = 1000.0;
    for i in 1..100u64 {
        let us = i * 600_000;
        if i % 9 == 0 {
            let before = state.window.cwnd;
            state = step(&params, state, us, loss(us - 1));
            assert_eq!(state.window.cwnd, before / 2.0);
            assert_eq!((state.scheme.detector.k, state.scheme.detector.knee_k), (1, 1));
        } else {
            state = step(&params, state, us, ack(us, 1, 50_000));
            let climbed = if i < 9 { 1 } else { 1 + (i % 9) as u32 };
            assert_eq!(state.scheme.detector.k, climbed);
        }
    }
}

#[test]
fn parameters_of_the_detector_are_the_schemes_own() {
    let algorithm = crate::Algorithm::read("a-tcp:k_max=7,margin=0.2,iw=4,slow_start_cap=3").unwrap();
    let crate::Algorithm::ATcp(params) = algorithm else { panic!() };
    assert_eq!((params.detector.k_max, params.detector.margin, params.base.limits.iw), (7, 0.2, 4.0));
    assert_eq!(std::format!("{algorithm}"), "a-tcp:iw=4,margin=0.2,k_max=7,slow_start_cap=3");
    assert!(crate::Algorithm::read("a-tcp:margin=2").is_err());
    assert!(!Params::paper().detector.freeze_app_limited);
}

/// AT4: with knees that agree and a queue that stays, `spec: cho §7 eq. 4.4, 4.5`.
#[test]
fn steady_state_without_competition() {
    for (knee_k, kappa) in [(1, 1.0), (4, 2.0), (10, 3.0), (25, 5.0)] {
        let params = Params::default();
        let top = 40_000.0;
        let mut us = 1_000;
        let mut state = step(&params, settled(&params, top, knee_k), us, loss(us - 1));
        assert_eq!(state.window.cwnd, top * (2.0 * kappa - 1.0) / (2.0 * kappa));
        let (mut rounds, mut packets) = (0.0, 0.0);
        while state.window.cwnd < top {
            // A round lasts longer than a check waits, so the weight is 1 at once.
            us += 1_000_000;
            let flight = state.window.cwnd as u32;
            rounds += 1.0;
            packets += f64::from(flight);
            state = step(&params, state, us, ack(us, flight, 90_000));
            assert_eq!(state.scheme.detector.k, 1);
        }
        assert_close(rounds, top / (2.0 * kappa), 1e-3);
        assert_close(packets / rounds, top * (4.0 * kappa - 1.0) / (4.0 * kappa), 1e-3);
        let p = 8.0 * kappa * kappa / (top * top * (4.0 * kappa - 1.0));
        assert_close(packets, 1.0 / p, 1e-3);
        assert_close(packets / rounds, libm::sqrt((4.0 * kappa - 1.0) / 2.0) / libm::sqrt(p), 1e-3);
    }
}

/// What happens to a flow; times in microseconds.
#[derive(Clone, Copy, Debug)]
enum Happens {
    Ack { wait: u64, packets: u32, sample: u64 },
    Loss { wait: u64, age: u64 },
}

fn test_events(samples: impl Strategy<Value = u64> + 'static) -> impl Strategy<Value = Vec<Happens>> {
    let ack =
        (0u64..400_000, 1u32..30, samples).prop_map(|(wait, packets, sample)| Happens::Ack { wait, packets, sample });
    let loss = (0u64..400_000, 1u64..100_000).prop_map(|(wait, age)| Happens::Loss { wait, age });
    prop::collection::vec(testkit::one_of([(8, ack.boxed()), (1, loss.boxed())]), 1..150)
}

impl Happens {
    fn event(self, now: &mut u64) -> EventKind {
        match self {
            Happens::Ack { wait, packets, sample } => {
                *now += wait;
                ack(*now, packets, sample)
            }
            Happens::Loss { wait, age } => {
                *now += wait;
                loss(now.saturating_sub(age))
            }
        }
    }
}

proptest! {
    #![proptest_config(testkit::cases(1_000))]

    /// AT1 and AT3: an ACK adds at least what standard TCP adds, a loss takes 1/(2k).
    #[test]
    fn never_meeker_than_standard(
        test_events in test_events(testkit::one_of([(1, Just(50_000u64).boxed()), (1, (50_000..120_000u64).boxed())])),
        paper: bool,
    ) {
        let params = if paper { Params::paper() } else { Params::default() };
        let standard = reno::Params { base: params.base };
        let mut state = ATcp::start(&params, &PATH);
        let mut us = 0;
        for happens in test_events {
            let kind = happens.event(&mut us);
            let after = step(&params, state, us, kind);
            let mut alike = WindowController::<reno::Reno>::start(&standard, &PATH);
            alike.window = state.window;
            let alike = testkit::step::<WindowController<reno::Reno>>(&standard, alike, Time::from_micros(us), kind);
            prop_assert!(after.window.cwnd >= alike.window.cwnd);
            let k = f64::from(after.scheme.detector.k);
            if matches!(kind, EventKind::PacketsLost(_)) && after != state {
                let cut = (state.window.cwnd * (2.0 * k - 1.0) / (2.0 * k)).max(2.0);
                prop_assert_eq!(after.window.cwnd, cut);
                prop_assert!(k == 1.0 || !state.scheme.detector.first && state.scheme.detector.knees_agree());
            }
            state = after;
        }
    }

    /// AT5: where every check after a loss finds a queue, it is standard TCP to the bit.
    #[test]
    fn standard_on_a_path_that_is_never_empty(test_events in test_events(Just(90_000))) {
        let params = Params::paper();
        let standard = reno::Params { base: params.base };
        let mut state = ATcp::start(&params, &PATH);
        let mut alike = WindowController::<reno::Reno>::start(&standard, &PATH);
        let mut us = 1;
        let once = Happens::Ack { wait: 0, packets: 1, sample: 50_000 };
        for happens in core::iter::once(once).chain(test_events) {
            let kind = happens.event(&mut us);
            state = step(&params, state, us, kind);
            alike = testkit::step::<WindowController<reno::Reno>>(&standard, alike, Time::from_micros(us), kind);
            prop_assert_eq!(state.scheme.detector.k, 1);
            prop_assert_eq!(state.window, alike.window);
        }
    }
}
