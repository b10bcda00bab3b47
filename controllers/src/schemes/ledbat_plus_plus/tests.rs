//! `draft-irtf-iccrg-ledbat-plus-plus-01 §4`.

use proptest::prelude::*;

use super::*;
use crate::Controller;
use crate::parts::window_controller::WindowController;
use crate::testkit::pipe::Pipe;
use crate::testkit::{self, MTU, PATH, acked, assert_close, cases, lost, rtt};

type LedbatPlusPlus = WindowController<super::LedbatPlusPlus>;

type State = <LedbatPlusPlus as Controller>::State;

const MS: u64 = 1_000_000;

fn at(ms: u64) -> Time {
    Time(ms * MS)
}

fn ack(params: &Params, state: State, ms: u64, rtt_ms: u64) -> State {
    let sample = RttSample { min: Span::from_millis(10), ..rtt(Span::from_millis(rtt_ms)) };
    let kind = EventKind::PacketsAcked(PacketsAcked { rtt: Some(sample), ..acked(1, at(ms.saturating_sub(rtt_ms))) });
    testkit::step::<LedbatPlusPlus>(params, state, at(ms), kind)
}

/// A steady flow of `cwnd` packets with a base RTT of `base_ms` that waits `queued_ms`.
fn steady(params: &Params, cwnd: f64, base_ms: u64, queued_ms: u64) -> State {
    let mut state = LedbatPlusPlus::start(params, &PATH);
    state = ack(params, state, 1, base_ms);
    for ms in 2..6 {
        state = ack(params, state, ms, base_ms + queued_ms);
    }
    state.window.cwnd = cwnd;
    state.window.ssthresh = 2.0;
    state.scheme.cycle = Cycle::Steady(Time(u64::MAX));
    state
}

/// `§4.2`: 1/min(16, ⌈2·TARGET/base⌉).
#[test]
fn the_gain_falls_with_the_base_delay() {
    let gain = |base_ms: f64| 1.0 / Params::default().gain(base_ms * 1e6);
    assert_eq!(
        [200.0, 120.0, 119.0, 60.0, 40.0, 10.0, 7.6, 1.0, 0.0].map(gain),
        [1.0, 1.0, 2.0, 2.0, 3.0, 12.0, 16.0, 16.0, 16.0]
    );
}

/// `§4.3`.
#[test]
fn the_decrease_is_multiplicative_and_at_most_a_half() {
    let params = Params::default();
    let change = |queued_ms: f64| params.change(0.5, 100.0, queued_ms * 1e6);
    assert_eq!([0.0, 59.0, 60.0].map(change), [0.5; 3]);
    assert_close(change(66.0), 0.5 - 10.0, 1e-9);
    assert_close(change(90.0), 0.5 - 50.0, 1e-9);
    assert_close(change(300.0), -50.0, 1e-9);
}

#[test]
fn a_round_trip_of_acks_makes_the_change() {
    let params = Params::default();
    let grown = ack(&params, steady(&params, 10.0, 60, 0), 10, 60);
    assert_eq!(grown.window.cwnd, 10.0 + 0.5 / 10.0);
    let shrunk = ack(&params, steady(&params, 10.0, 60, 75), 10, 135);
    assert_close(shrunk.window.cwnd, 10.0 + (0.5 - 10.0 * 0.25) / 10.0, 1e-12);
}

/// `§4.1`.
#[test]
fn slow_start_grows_by_the_gain_and_ends_at_three_quarters_of_the_target() {
    let params = Params::default();
    let mut state = LedbatPlusPlus::start(&params, &PATH);
    assert_eq!(state.window.cwnd, 2.0);
    state = ack(&params, state, 1, 60);
    assert_eq!(state.window.cwnd, 2.5);
    for ms in 2..=5 {
        state = ack(&params, state, ms, 60 + 45);
    }
    assert_eq!((state.window.cwnd, state.scheme.cycle), (4.5, Cycle::InitialSlowStart), "not beyond");
    for ms in 6..=9 {
        state = ack(&params, state, ms, 60 + 46);
    }
    assert!(!state.window.in_slow_start());
    assert_eq!(state.scheme.cycle, Cycle::Steady(at(9) + Span::from_millis(212)));
}

/// `§4.4`: two round trips down, up by slow start, and nine times as long in peace.
#[test]
fn slowdowns_come_and_go() {
    let params = Params::default();
    let mut state = steady(&params, 10.0, 60, 0);
    state.scheme.cycle = Cycle::Steady(at(1000));
    state = ack(&params, state, 999, 60);
    assert!(state.window.cwnd > 10.0);
    let before = state.window.cwnd;
    state = ack(&params, state, 1000, 60);
    assert_eq!((state.window.cwnd, state.window.ssthresh), (2.0, before));
    state = ack(&params, state, 1119, 60);
    assert_eq!((state.window.cwnd, state.scheme.cycle), (2.0, Cycle::Slowdown(at(1000), at(1120))));
    for ms in 1120..1120 + 16 {
        assert_eq!(state.window.cwnd, 2.0 + 0.5 * (ms - 1120) as f64);
        state = ack(&params, state, ms, 60);
    }
    assert_eq!(state.window.cwnd, 10.0);
    state = ack(&params, ack(&params, state, 1200, 60), 1300, 60);
    assert_eq!(state.scheme.cycle, Cycle::Steady(at(1300 + 9 * 300)));
    assert!(state.window.cwnd >= before);
}

/// `§4.4`: nine times what the slowdown took. 300 s of an application that sends little while the
/// window comes up are no part of that.
#[test]
fn a_ramp_up_lasts_as_long_as_its_window_is_used() {
    let params = Params::default();
    let mut state = steady(&params, 10.0, 60, 0);
    state.scheme.cycle = Cycle::Steady(at(1000));
    for ms in [1000, 1120, 1130] {
        state = ack(&params, state, ms, 60);
    }
    for second in 2..=301 {
        let limited = PacketsAcked { app_limited: true, ..acked(1, at(1000 * second + 70)) };
        let kind = EventKind::PacketsAcked(limited);
        state = testkit::step::<LedbatPlusPlus>(&params, state, at(1000 * second + 130), kind);
    }
    assert_eq!(state.window.cwnd, 3.0);
    for ms in 0..16 {
        state = ack(&params, state, 301_130 + ms, 60);
    }
    let Cycle::Steady(next) = state.scheme.cycle else { panic!("{:?}", state.scheme.cycle) };
    assert!(next < at(301_146 + 9 * 150), "{next:?}");
}

/// Persistent congestion in a slowdown halves what the window would have come up to.
#[test]
fn persistent_congestion_in_a_slowdown_halves_its_aim() {
    let params = Params::default();
    let mut state = steady(&params, 10.0, 60, 0);
    state.scheme.cycle = Cycle::Steady(at(1000));
    state = ack(&params, state, 1000, 60);
    let kind = EventKind::PersistentCongestion(lost(at(999)));
    state = testkit::step::<LedbatPlusPlus>(&params, state, at(1100), kind);
    assert_eq!((state.window.cwnd, state.window.ssthresh), (2.0, 5.0));
    assert_eq!(state.scheme.cycle, Cycle::InitialSlowStart);
}

#[test]
fn a_slowdown_survives_delay_and_halves_its_aim_on_loss() {
    let params = Params::default();
    let mut state = steady(&params, 10.0, 60, 100);
    state.scheme.cycle = Cycle::Steady(at(1000));
    state = ack(&params, state, 1000, 160);
    state = testkit::step::<LedbatPlusPlus>(&params, state, at(1001), EventKind::PacketsLost(lost(at(999))));
    assert_eq!((state.window.cwnd, state.window.ssthresh), (2.0, 5.0));
    // The way up is not stopped by delay.
    state = ack(&params, ack(&params, state, 2000, 160), 2001, 160);
    assert!(matches!(state.scheme.cycle, Cycle::RampUp(_)) && state.window.cwnd > 2.0, "{state:?}");
}

#[test]
fn losses_halve_and_a_timeout_begins_anew() {
    let params = Params::default();
    let state = testkit::step::<LedbatPlusPlus>(
        &params,
        steady(&params, 10.0, 60, 0),
        at(9),
        EventKind::PacketsLost(lost(at(8))),
    );
    assert_eq!(state.window.cwnd, 5.0);
    let kind = EventKind::PersistentCongestion(lost(at(9)));
    let state = testkit::step::<LedbatPlusPlus>(&params, state, at(10), kind);
    assert_eq!((state.window.cwnd, state.scheme.cycle), (2.0, Cycle::InitialSlowStart));
}

/// Alone it fills the path, keeps the queue at the target, and is slowed down for at most
/// a tenth of the time.
#[test]
fn alone_it_holds_the_target() {
    // 10 Mbit/s and 100 ms: 125 packets, and the target is 75 more.
    let pipe = Pipe { service: 800_000, base: 100 * MS, every: 1 };
    let params = Params::default();
    let (mut slow, mut sum, mut acks) = (0, 0.0, 0);
    let mut seen = 0;
    pipe.run::<LedbatPlusPlus>(&params, LedbatPlusPlus::start(&params, &PATH), 100_000, |moment| {
        seen += 1;
        if seen < 20_000 {
            return;
        }
        if moment.state.scheme.cycle.is_steady() {
            (sum, acks) = (sum + moment.in_flight, acks + 1);
        } else {
            slow += 1;
        }
    });
    let mean = sum / f64::from(acks);
    assert!((125.0..=206.0).contains(&mean), "{mean}");
    assert!(slow > 0 && f64::from(slow) < 0.1 * f64::from(slow + acks), "{slow} of {acks}");
}

proptest! {
    #![proptest_config(cases(2000))]

    /// No growth beyond the target once it is steady, no round trip more than its share,
    /// and never less than the smallest window.
    #[test]
    fn the_window_follows_the_delay(
        cwnd in 2.0f64..500.0,
        base in 1u64..300,
        queued in prop::collection::vec(0u64..300, 1..40),
    ) {
        let params = Params::default();
        let mut state = steady(&params, cwnd, base, 0);
        for (i, queued) in queued.into_iter().enumerate() {
            let before = state.window.cwnd;
            state = ack(&params, state, 10 + i as u64, base + queued);
            let after = state.window.cwnd;
            let delay = state.scheme.delay.get(4).unwrap() as f64;
            let gain = params.gain(base as f64 * 1e6);
            prop_assert!(after <= before + gain / before + 1e-9);
            prop_assert!(after >= (before - 0.5).max(2.0) - 1e-9);
            if params.change(gain, before, delay) <= 0.0 {
                prop_assert!(after <= before);
            }
        }
        prop_assert!(state.window.bytes(state.window.cwnd) >= 2 * u64::from(MTU));
    }
}
