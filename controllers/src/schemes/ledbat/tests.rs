//! `spec: arumaithurai §5.2, §5.3, §8 I30, §10`.

use proptest::prelude::*;

use super::*;
use crate::event::{IdleRestart, OneWay, PacketsLost};
use crate::parts::window_controller::WindowController;
use crate::testkit::{self, MTU, PATH, acked, assert_close, cases, lost, marked, rtt};
use crate::{Controller, Parameters, Span};

type Ledbat = WindowController<super::Ledbat>;

type State = <Ledbat as Controller>::State;

const MS: i64 = 1_000_000;

fn draft() -> Params {
    Params::paper()
}

fn ns2() -> Params {
    Params { variant: Variant::Ns2, ..Params::paper() }
}

/// An ACK of `packets` at `ms` whose newest took `delay_ms` one way, with a full window
/// in flight.
fn ack_of(state: &State, packets: u32, ms: u64, delay_ms: i64) -> PacketsAcked {
    let in_flight_before = ((state.window.cwnd * f64::from(MTU)) as u64).max(u64::from(packets * MTU));
    PacketsAcked {
        in_flight_before,
        in_flight: in_flight_before - u64::from(packets * MTU),
        one_way: Some(OneWay { forward: delay_ms * MS, backward: 0 }),
        ..acked(packets, at(ms.saturating_sub(100)))
    }
}

fn at(ms: u64) -> Time {
    Time(ms * MS as u64)
}

fn ack(params: &Params, state: State, ms: u64, delay_ms: i64) -> State {
    let kind = EventKind::PacketsAcked(ack_of(&state, 1, ms, delay_ms));
    testkit::step::<Ledbat>(params, state, at(ms), kind)
}

/// A flow of `cwnd` packets that knows a base delay of `base_ms`, and whose current delay
/// is `delay_ms`.
fn known(params: &Params, cwnd: f64, base_ms: i64, delay_ms: i64) -> State {
    let mut state = Ledbat::start(params, &PATH);
    state.scheme.signal.read(false, &ack_of(&state, 1, 0, base_ms));
    state.scheme.delay.sample(params.rollover(), 10, at(0), base_ms * MS);
    for _ in 0..8 {
        state.scheme.delay.sample(params.rollover(), 10, at(0), delay_ms * MS);
    }
    state.window.cwnd = cwnd;
    state
}

/// `§10`: TARGET 100 ms, qd 20 ms, w = 10 → Δw = 0.08.
#[test]
fn grows_by_the_distance_to_the_target() {
    let state = ack(&draft(), known(&draft(), 10.0, -7, 13), 1, 13);
    assert_close(state.window.cwnd, 10.08, 1e-12);
}

/// `§10`: cwnd 12000 B, MSS 1200, 1200 B acked, qd 20 ms → +96 B.
#[test]
fn grows_by_96_bytes() {
    let params = Params::default();
    let mut state = known(&params, 10.0, 30, 50);
    state.window.mtu = 1200.0;
    let frame = PacketsAcked { bytes: 1200, fresh_bytes: 1200, in_flight_before: 12_000, ..ack_of(&state, 1, 1, 50) };
    let state = testkit::step::<Ledbat>(&params, state, at(1), EventKind::PacketsAcked(frame));
    assert_eq!(Ledbat::decide(&params, &state, crate::View::solo(&())).cwnd, 12_096);
}

/// `§5.3` invariant: no queue, and it is Reno's avoidance.
#[test]
fn without_a_queue_it_grows_like_reno() {
    let params = Params::default();
    let state = ack(&params, known(&params, 10.0, 30, 30), 1, 30);
    assert_eq!(state.window.cwnd, 10.1);
    let doubled = Params { gain: 2.0, ..params };
    assert_eq!(ack(&doubled, known(&params, 10.0, 30, 30), 1, 30).window.cwnd, 10.2);
}

#[test]
fn shrinks_in_proportion_beyond_the_target_in_recovery_too() {
    let params = Params::default();
    let mut state = known(&params, 10.0, 30, 180);
    assert_close(ack(&params, state, 1, 180).window.cwnd, 10.0 - 0.5 / 10.0, 1e-12);
    state.window.recovery.begin(at(5));
    assert_close(ack(&params, state, 1, 180).window.cwnd, 9.95, 1e-12);
    assert_eq!(ack(&params, known(&params, 10.0, 30, 130), 1, 130).window.cwnd, 10.0, "at the target it holds");
}

/// The least of the latest four, of the draft the latest alone.
#[test]
fn single_late_packets_are_noise() {
    let empty_queue = |params: &Params| known(params, 10.0, 30, 30);
    let params = Params::default();
    assert_eq!(ack(&params, empty_queue(&params), 1, 300).window.cwnd, 10.1);
    let params = draft();
    assert!(ack(&params, empty_queue(&params), 1, 300).window.cwnd < 10.0);
    let params = Params { current_filter: 2, ..draft() };
    assert_eq!(ack(&params, empty_queue(&params), 1, 300).window.cwnd, 10.1);
}

/// `§5.2` 2e, `§5.3` 1.
#[test]
fn the_window_is_tethered_to_what_is_in_flight() {
    let used = |params: &Params, flight: u64| {
        let state = known(params, 20.0, 30, 30);
        let frame = PacketsAcked { in_flight_before: flight * u64::from(MTU), ..ack_of(&state, 1, 1, 30) };
        testkit::step::<Ledbat>(params, state, at(1), EventKind::PacketsAcked(frame)).window.cwnd
    };
    assert_eq!(used(&Params::default(), 10), 11.0);
    assert_eq!(used(&draft(), 10), 16.0);
    assert_eq!(used(&draft(), 0), 1.0);
    assert_eq!(used(&Params { allowed_increase: 3.0, ..draft() }, 2), 6.0);
    assert_eq!(used(&ns2(), 2), 20.0);
}

#[test]
fn there_is_no_growth_before_a_sample() {
    for params in [Params::default(), draft(), ns2()] {
        let state = Ledbat::start(&params, &PATH);
        let frame = PacketsAcked { one_way: None, ..ack_of(&state, 1, 1, 0) };
        let after = testkit::step::<Ledbat>(&params, state, at(1), EventKind::PacketsAcked(frame));
        assert_eq!(after.window.cwnd, state.window.cwnd);
    }
}

/// `§5.2` 3.
#[test]
fn idleness_clears_the_current_delay_and_keeps_the_base() {
    let params = Params { current_filter: 4, ..Params::default() };
    let idle = IdleRestart { idle: Span(2), pto: Span(1) };
    let state = testkit::step::<Ledbat>(&params, known(&params, 10.0, 30, 30), at(1), EventKind::IdleRestart(idle));
    assert_eq!((state.window.cwnd, state.scheme.off_target), (2.0, None));
    // Without the pause three fast samples would still stand for the path.
    assert!(ack(&params, state, 2, 150).scheme.off_target.unwrap() < 0.0);
}

#[test]
fn losses_and_marks_halve_once_per_flight() {
    for params in [Params::default(), draft(), ns2()] {
        for kind in [EventKind::PacketsLost(lost(at(1))), EventKind::EcnCe(marked(at(1)))] {
            let state = testkit::step::<Ledbat>(&params, known(&params, 10.0, 30, 30), at(2), kind);
            assert_eq!(state.window.cwnd, 5.0);
            assert_eq!(testkit::step::<Ledbat>(&params, state, at(3), kind).window.cwnd, 5.0);
            assert!(!state.window.in_slow_start());
        }
    }
}

/// `§5.3` 3: one packet and no slow start; the draft has the base class's.
#[test]
fn a_timeout_starts_over() {
    let timed_out = |params: &Params| {
        let kind = EventKind::PersistentCongestion(lost(at(1)));
        testkit::step::<Ledbat>(params, known(params, 10.0, 30, 30), at(2), kind).window
    };
    assert_eq!((timed_out(&Params::default()).cwnd, timed_out(&Params::default()).ssthresh), (2.0, 2.0));
    assert_eq!((timed_out(&draft()).cwnd, timed_out(&draft()).ssthresh), (1.0, 5.0));
}

#[test]
fn slow_start_on_request_ends_at_the_target() {
    let mut params = Params::default();
    params.set("ssthresh", "inf").unwrap();
    let state = ack(&params, known(&params, 10.0, 30, 30), 1, 30);
    assert_eq!(state.window.cwnd, 11.0);
    let mut state = known(&params, 10.0, 30, 130);
    state.window.ssthresh = f64::INFINITY;
    assert_eq!(ack(&params, state, 1, 130).window.ssthresh, 10.0);
}

/// `§5.2`, L0-ns2: a packet once the count has filled the window, or fallen below zero.
#[test]
fn the_ns2_module_moves_by_packets() {
    let params = ns2();
    let mut state = known(&params, 4.0, 30, 30);
    for i in 0..3 {
        state = ack(&params, state, i, 30);
        assert_eq!(state.window.cwnd, 4.0);
    }
    state = ack(&params, state, 4, 30);
    assert_eq!((state.window.cwnd, state.scheme.cnt), (5.0, 0.0));
    let mut state = State { scheme: super::State { cnt: 0.4, ..known(&params, 5.0, 30, 180).scheme }, ..state };
    state = ack(&params, state, 5, 180);
    assert_eq!((state.window.cwnd, state.scheme.cnt), (4.0, 3.0));
    state.window.cwnd = 1.0;
    state.scheme.cnt = 0.0;
    state = ack(&params, state, 6, 180);
    assert_eq!((state.window.cwnd, state.scheme.cnt), (1.0, 0.0));
}

#[test]
fn randomness_moves_the_target_and_repeats() {
    let params = Params { randomness: 0.1, ..Params::default() };
    let run = || {
        let mut state = known(&params, 10.0, 30, 80);
        (1..50)
            .map(|i| {
                state = ack(&params, state, i, 80);
                state.scheme.off_target.unwrap()
            })
            .collect::<std::vec::Vec<_>>()
    };
    let offs = run();
    assert_eq!(offs, run());
    assert!(offs.iter().all(|off| (0.4..0.6).contains(off)));
    assert!(offs.iter().any(|off| *off < 0.45) && offs.iter().any(|off| *off > 0.55));
}

#[test]
fn the_fallback_takes_round_trip_times() {
    let params = Params { fallback: true, ..Params::default() };
    assert!(Ledbat::needs(&params).contains(Signals::RTT));
    assert!(Ledbat::needs(&Params::default()).contains(Signals::ONE_WAY_DELAY));
    let mut state = Ledbat::start(&params, &PATH);
    state.window.cwnd = 10.0;
    for (ms, latest) in [(1, 40), (2, 90), (3, 90), (4, 90), (5, 90)] {
        let sample = RttSample { min: Span::from_millis(40), ..rtt(Span::from_millis(latest)) };
        let frame = PacketsAcked { one_way: None, rtt: Some(sample), ..ack_of(&state, 1, ms, 0) };
        state = testkit::step::<Ledbat>(&params, state, at(ms), EventKind::PacketsAcked(frame));
    }
    assert_close(state.scheme.off_target.unwrap(), 0.5, 1e-12);
    // One-way delays, should they come, start afresh.
    state = ack(&params, state, 6, -500);
    assert_close(state.scheme.off_target.unwrap(), 1.0, 1e-12);
}

/// `RFC 6817 §2.4.2`: no sample in the filter is older than a round trip. A path of 100 ms with one
/// ACK a round trip, three of them before the queue grew.
#[test]
fn the_current_delay_forgets_samples_older_than_a_round_trip() {
    let params = Params::default();
    let mut state = Ledbat::start(&params, &PATH);
    state.window.cwnd = 10.0;
    for (ms, delay_ms) in [(100, 30), (200, 30), (300, 30), (401, 80)] {
        state = ack(&params, state, ms, delay_ms);
    }
    assert_eq!(state.scheme.off_target, Some(0.5));
    // Those of one round trip are all there.
    for ms in [410, 420, 430] {
        state = ack(&params, state, ms, 130);
    }
    assert_eq!(state.scheme.off_target, Some(0.5));
    state = ack(&params, state, 505, 130);
    assert_eq!(state.scheme.off_target, Some(0.0));
    // Nor does an ACK without a sample keep an old one.
    let stale = PacketsAcked { one_way: None, ..ack_of(&state, 1, 700, 0) };
    state = testkit::step::<Ledbat>(&params, state, at(700), EventKind::PacketsAcked(stale));
    assert_eq!(state.scheme.off_target, None);
}

/// `RFC 6817 §2.4.2`: lost bytes leave the flight size only if they will not be sent again. Of 100
/// packets in flight 60 are lost; the window is halved and stays there.
#[test]
fn lost_data_counts_as_in_flight_until_it_is_sent_again() {
    let packet = u64::from(MTU);
    let params = Params::default();
    let lose = |state, ms| {
        let lost = PacketsLost::new(60 * packet, 60, at(1), 40 * packet);
        testkit::step::<Ledbat>(&params, state, at(ms), EventKind::PacketsLost(lost))
    };
    let frame = |state: &State, ms, before: u64, app_limited| {
        let frame = PacketsAcked { in_flight_before: before * packet, ..ack_of(state, 1, ms, 30) };
        EventKind::PacketsAcked(PacketsAcked { in_flight: (before - 1) * packet, app_limited, ..frame })
    };
    let mut state = known(&params, 100.0, 30, 30);
    state = testkit::step::<Ledbat>(&params, state, at(100), frame(&state, 100, 100, false));
    state = lose(state, 101);
    assert_eq!(state.window.cwnd, 50.005);
    let mut after = testkit::step::<Ledbat>(&params, state, at(101), frame(&state, 101, 40, false));
    assert_eq!(after.window.cwnd, 50.005, "a flight of 40, and 59 to be sent again");
    // Once they are sent again they count as anything else: 61 packets, one an ACK.
    for ms in 102..162 {
        after = testkit::step::<Ledbat>(&params, after, at(ms), frame(&after, ms, 40, false));
        assert!(after.window.cwnd >= 50.005 || ms > 150, "{ms}: {}", after.window.cwnd);
    }
    assert_eq!(after.window.cwnd, 41.0);
    // A sender with nothing to send does not.
    let limited = testkit::step::<Ledbat>(&params, state, at(101), frame(&state, 101, 40, true));
    assert_eq!(limited.window.cwnd, 41.0);
    // What a timer let be lost and was sent before the next ACK counts once: 100 in flight.
    let resent = testkit::step::<Ledbat>(&params, state, at(131), frame(&state, 131, 100, false));
    assert_eq!(resent.scheme.flight.to_resend, 0);
    // The draft takes what is in flight.
    let mut drafted = known(&draft(), 100.0, 30, 30);
    drafted.window.cwnd = 80.0;
    drafted = testkit::step::<Ledbat>(&draft(), drafted, at(101), frame(&drafted, 101, 40, false));
    assert_eq!(drafted.window.cwnd, 61.0);
}

/// `RFC 6817 §2.5`: GAIN is 1 and TARGET 100 ms at most; the drafts allow more.
#[test]
fn the_standard_refuses_a_larger_gain_and_target() {
    use crate::Algorithm;
    use crate::ParseError;
    use crate::param::Range;
    for (text, parameter, value, high) in
        [("ledbat:gain=2", "gain", "2", 1.0), ("ledbat:gain=0.5,target=101,fallback=on", "target", "101", 100.0)]
    {
        let low = if parameter == "gain" { 0.01 } else { 1.0 };
        let expected = Range::Numbers(low, high);
        let error = ParseError::BadValue { controller: "ledbat", parameter, value, expected };
        assert_eq!(Algorithm::read(text), Err(error));
    }
    for text in ["ledbat:gain=1,target=100", "ledbat:gain=2,variant=draft", "ledbat:profile=paper,gain=2,target=200"] {
        assert!(Algorithm::read(text).is_ok(), "{text}");
    }
}

/// A datagram size that falls makes no slow start of what was none.
#[test]
fn a_smaller_datagram_brings_no_slow_start() {
    let params = Params::default();
    let state = known(&params, 2.0, 30, 30);
    let after = testkit::step::<Ledbat>(&params, state, at(1), EventKind::MtuUpdated(MTU / 5));
    assert_eq!(after.window.ssthresh, NO_SLOW_START);
    let params =
        Params { base: crate::parts::limits::Limits { ssthresh: 50.0, ..params.base.limits }.into(), ..params };
    let state = ack(&params, known(&params, 2.0, 30, 30), 1, 30);
    let after = testkit::step::<Ledbat>(&params, state, at(1), EventKind::MtuUpdated(MTU / 5));
    assert_eq!(after.window.ssthresh, 250.0);
}

#[test]
fn the_state_is_small() {
    assert!(size_of::<State>() <= 552, "{} bytes", size_of::<State>());
}

proptest! {
    #![proptest_config(cases(2000))]

    /// I30.
    #[test]
    fn no_growth_at_the_target_and_at_most_a_packet_per_window(
        cwnd in 2.0f64..500.0,
        base in -1000i64..1000,
        delays in prop::collection::vec(0i64..300, 1..40),
        variant in prop::sample::select(std::vec![Variant::Rfc6817, Variant::Draft, Variant::Ns2]),
        flight in 0.2f64..1.5,
    ) {
        let params = Params { variant, ..Params::default() };
        let mut state = known(&params, cwnd, base, base);
        for (i, delay) in delays.into_iter().enumerate() {
            let before = state.window.cwnd;
            let in_flight_before = (flight * before * f64::from(MTU)) as u64;
            let frame = PacketsAcked { in_flight_before, ..ack_of(&state, 1, 1 + i as u64, base + delay) };
            state = testkit::step::<Ledbat>(&params, state, at(1 + i as u64), EventKind::PacketsAcked(frame));
            let (after, queued) = (state.window.cwnd, state.scheme.delay.get(params.samples()).unwrap());
            if queued >= 100 * MS {
                prop_assert!(after <= before);
            }
            let most = if variant == Variant::Ns2 { 1.0 } else { 1.0 / before };
            prop_assert!(after - before <= most * 1.000_001, "{before} to {after}");
            if variant == Variant::Rfc6817 {
                let allowed = in_flight_before as f64 / f64::from(MTU) + 1.0;
                prop_assert!(after <= allowed.max(params.base.limits.min_window));
            }
        }
    }
}
