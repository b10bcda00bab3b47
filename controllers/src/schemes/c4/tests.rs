//! `draft-huitema-ccwg-c4-spec-01`.

use proptest::prelude::*;

use super::*;
use crate::decision::Phase;
use crate::event::{Delivery, EcnCe, WindowSet};
use crate::testkit::{self, MTU, PATH, assert_close, cases, state_variable};
use crate::{Parameters, Span};

const MS: u64 = 1_000_000;
const RTT: u64 = 100;

fn at(state: State, ms: u64, kind: EventKind) -> State {
    testkit::step::<C4>(&Params::default(), state, Time(ms * MS), kind)
}

fn decide(state: &State) -> Decision {
    C4::decide(&Params::default(), state, View::solo(&()))
}

/// An ACK of one packet sent at `sent_ms`, since when `bytes` were delivered, with an RTT of `rtt_ms`.
fn ack(sent_ms: u64, bytes: u64, rtt_ms: u64) -> PacketsAcked {
    let sent_at = Time(sent_ms * MS);
    PacketsAcked {
        delivered: bytes,
        delivery: Some(Delivery::new(0, sent_at, sent_at)),
        rtt: Some(testkit::rtt(Span::from_millis(rtt_ms))),
        ..testkit::acked(1, sent_at)
    }
}

/// A round trip from `ms` on: the ACK of a packet sent at `ms`, with an RTT of `rtt_ms`, at `rate` bytes/s.
fn round(state: State, ms: u64, rate: u64, rtt_ms: u64) -> State {
    at(state, ms + rtt_ms, EventKind::PacketsAcked(ack(ms, rate * rtt_ms / 1000, rtt_ms)))
}

/// A flow of `rate` bytes/s on a path of 100 ms in the cruising state, and when.
fn cruising(rate: u64) -> (State, u64) {
    let mut state = C4::start(&Params::default(), &PATH);
    for era in 0..5 {
        state = round(state, era * RTT, rate, RTT);
    }
    assert_eq!((state.stage, state.nominal_rate), (Stage::Cruising, rate as f64));
    (state, 500)
}

/// A flow that has cruised for as long as it takes, and pushes.
fn pushing(rate: u64) -> (State, u64) {
    let (mut state, mut ms) = cruising(rate);
    for _ in 0..4 {
        state = round(state, ms, rate, RTT);
        ms += RTT;
    }
    assert_eq!(state.stage, Stage::Pushing);
    (state, ms)
}

/// §Setting pacing rate: before both variables are assessed.
#[test]
fn a_new_flow_has_initial_values() {
    let decision = decide(&C4::start(&Params::default(), &PATH));
    assert_eq!((decision.cwnd, decision.pacing_rate), (10 * u64::from(MTU), None));
    assert_eq!(decision.phase, Phase::SlowStart);
}

/// §Setting pacing rate: the window is the pacing rate times the nominal max RTT, with a coefficient for each state.
#[test]
fn rate_and_window_are_alpha_times_the_nominal_ones() {
    let initial = round(C4::start(&Params::default(), &PATH), 0, 1_000_000, RTT);
    let of = |state: &State| (decide(state).cwnd, decide(state).pacing_rate.unwrap());
    assert_eq!(of(&initial), (200_000, 16_000_000));
    let (state, ms) = cruising(1_000_000);
    assert_eq!(of(&state), (100_000, 8_000_000));
    let (pushes, _) = pushing(1_000_000);
    assert_eq!(of(&pushes), (106_250, 8_500_000));
    let recovers = at(state, ms, EventKind::PacketsAcked(ack(ms - 200, 0, 200)));
    assert_eq!((recovers.stage, of(&recovers)), (Stage::Recovery, (70_312, 5_625_000)));
}

/// §Setting pacing rate: two packets at least.
#[test]
fn the_window_has_a_floor() {
    let (state, _) = cruising(1000);
    assert_eq!(decide(&state).cwnd, 2 * u64::from(MTU));
    assert_eq!(decide(&state).pacing_rate, Some(8 * 2000 * 10), "as much as the window carries");
}

/// Of a window of fewer than sixteen packets a sixteenth is none, so that the rate would never be seen to rise.
#[test]
fn a_push_adds_a_packet_at_least() {
    let (state, _) = pushing(100_000);
    assert_eq!(decide(&state).cwnd, (10_000u64.div_ceil(u64::from(MTU)) + 1) * u64::from(MTU));
    assert_eq!(C4::decide(&Params::paper(), &state, View::solo(&())).cwnd, 10_625);
    let least = State { nominal_rate: 1000.0, ..state };
    assert_eq!(decide(&least).cwnd, 3 * u64::from(MTU));
}

/// §Nominal rate: the larger of the RTT and the send delay; the estimate raises the rate and never lowers it.
#[test]
fn the_rate_is_what_was_delivered_since_the_packet_left() {
    let state = round(C4::start(&Params::default(), &PATH), 0, 500_000, RTT);
    assert_eq!(state.nominal_rate, 500_000.0);
    assert_eq!(round(state, 100, 400_000, RTT).nominal_rate, 500_000.0);
    assert_eq!(round(state, 100, 600_000, RTT).nominal_rate, 600_000.0);
    // ACKs that come together do not make the path look faster than packets were sent.
    let slow = Delivery::new(0, Time::ZERO, Time(0));
    let late = PacketsAcked { delivery: Some(slow), ..ack(200, 60_000, 50) };
    assert_eq!(at(state, 250, EventKind::PacketsAcked(late)).nominal_rate, 500_000.0, "60 kB in 200 ms, not in 50");
    let none = PacketsAcked { delivery: None, ..ack(100, 600_000, RTT) };
    assert_eq!(at(state, 200, EventKind::PacketsAcked(none)).nominal_rate, 500_000.0);
}

/// §Nominal rate: not in a recovery that congestion led to, or in which there was some.
#[test]
fn a_congested_recovery_does_not_raise_the_rate() {
    let (state, ms) = cruising(1_000_000);
    let state = at(state, ms, EventKind::PacketsAcked(ack(ms - 200, 0, 200)));
    assert_eq!(state.nominal_rate, 750_000.0);
    let old = at(state, ms + 10, EventKind::PacketsAcked(ack(ms - 90, 100_000, RTT)));
    assert_eq!(old.nominal_rate, 750_000.0);
    // After a push there is nothing to keep it from rising.
    let (state, ms) = pushing(1_000_000);
    let state = round(state, ms, 1_000_000, RTT);
    assert_eq!(state.stage, Stage::Recovery);
    let raised = at(state, ms + 110, EventKind::PacketsAcked(ack(ms + 10, 106_000, RTT)));
    assert_eq!(raised.nominal_rate, 1_060_000.0);
    let delayed = at(state, ms + 110, EventKind::RttSampled(testkit::rtt(Span::from_millis(200))));
    let kept = at(delayed, ms + 110, EventKind::PacketsAcked(ack(ms + 10, 106_000, RTT)));
    assert_eq!(kept.nominal_rate, 1_000_000.0);
}

/// §Variable Sensitivity.
#[test]
fn vectors_of_the_sensitivity() {
    for (rate, wanted) in [(0.0, 0.0), (50e3, 0.0), (525e3, 0.46), (1e6, 0.92), (5.5e6, 0.96), (10e6, 1.0), (1e9, 1.0)]
    {
        let state = State { nominal_rate: rate, ..C4::start(&Params::default(), &PATH) };
        assert_close(state.sensitivity(), wanted, 1e-12);
    }
}

/// §Detecting Excessive Delays, §Detecting Excessive Losses, §Detecting Excessive CE Marks.
#[test]
fn vectors_of_the_thresholds() {
    for (rate, max_rtt, delay, loss, ecn) in [
        (50e3, 0.08, 0.02, 0.52, 6.0 / 32.0),
        (50e3, 0.2, 0.025, 0.52, 6.0 / 32.0),
        (10e6, 0.08, 0.005, 0.02, 3.0 / 32.0),
        (1e6, 0.08, 0.0062, 0.06, 3.24 / 32.0),
    ] {
        let state = State { nominal_rate: rate, nominal_max_rtt: max_rtt, ..C4::start(&Params::default(), &PATH) };
        assert_close(state.delay_threshold(&Params::default()), delay, 1e-12);
        assert_close(state.loss_threshold(), loss, 1e-12);
        assert_close(state.ecn_threshold(), ecn, 1e-12);
    }
}

/// §Initial state: three eras without an increase, of which those that the application limits do not count.
#[test]
fn initial_ends_after_three_eras_without_an_increase() {
    let mut state = C4::start(&Params::default(), &PATH);
    for (era, rate) in [100_000, 200_000, 400_000, 400_000, 400_000].into_iter().enumerate() {
        state = round(state, era as u64 * RTT, rate, RTT);
        assert_eq!(state.stage, Stage::Initial);
    }
    let limited = PacketsAcked { app_limited: true, ..ack(500, 40_000, RTT) };
    assert_eq!(at(state, 600, EventKind::PacketsAcked(limited)).stage, Stage::Initial);
    assert_eq!(round(state, 500, 400_000, RTT).stage, Stage::Recovery);
}

/// §Initial state: delay ends it after two eras without an increase, and the rate stays.
#[test]
fn delay_ends_initial_where_the_rate_has_stopped_rising() {
    let high = EventKind::RttSampled(testkit::rtt(Span::from_millis(200)));
    let mut state = C4::start(&Params::default(), &PATH);
    for era in 0..3 {
        assert_eq!(at(state, 100 * era + 50, high).stage, Stage::Initial);
        state = round(state, era * RTT, 400_000, RTT);
    }
    let state = at(state, 350, high);
    assert_eq!((state.stage, state.nominal_rate), (Stage::Recovery, 400_000.0));
}

/// §Initial state: losses end it after more than 20 packets.
#[test]
fn losses_end_initial_after_twenty_packets() {
    let lost = EventKind::PacketsLost(PacketsLost { packets: 50, ..testkit::lost(Time(50 * MS)) });
    let state = round(C4::start(&Params::default(), &PATH), 0, 400_000, RTT);
    assert_eq!(at(state, 150, lost).stage, Stage::Initial);
    let many = |packets| PacketsAcked { packets, ..ack(100, 40_000, RTT) };
    assert_eq!(at(at(state, 200, EventKind::PacketsAcked(many(19))), 250, lost).stage, Stage::Initial);
    let state = at(at(state, 200, EventKind::PacketsAcked(many(20))), 250, lost);
    assert_eq!((state.stage, state.nominal_rate), (Stage::Recovery, 400_000.0));
}

/// §Cruising state, §Pushing state: four eras of cruising, one of pushing, and recovery; the application's limit keeps it
/// from pushing.
#[test]
fn it_pushes_after_four_eras() {
    let (mut state, mut ms) = cruising(1_000_000);
    for _ in 0..3 {
        state = round(state, ms, 1_000_000, RTT);
        ms += RTT;
        assert_eq!(state.stage, Stage::Cruising);
    }
    let limited = PacketsAcked { app_limited: true, ..ack(ms, 100_000, RTT) };
    assert_eq!(at(state, ms + RTT, EventKind::PacketsAcked(limited)).stage, Stage::Cruising);
    let state = round(state, ms, 1_000_000, RTT);
    assert_eq!((state.stage, state.alpha), (Stage::Pushing, 1.0625));
    assert_eq!(round(state, ms + RTT, 1_000_000, RTT).stage, Stage::Recovery);
}

/// A push that raises the rate to `then`, its recovery, and four eras until the next.
fn after_a_push((state, ms): (State, u64), then: u64) -> (State, u64) {
    let rate = state.nominal_rate as u64;
    let state = round(state, ms, rate, RTT);
    let mut state = round(state, ms + RTT, then, RTT);
    let mut ms = ms + 2 * RTT;
    while state.stage == Stage::Cruising {
        state = round(state, ms, then, RTT);
        ms += RTT;
    }
    (state, ms)
}

/// §Recovery state, §Pushing state: any increase will do after a slow push; of a fast one a quarter of what it could bring
/// is asked for. Three in a row lead back to Initial.
#[test]
fn three_successful_pushes_lead_back_to_initial() {
    let (state, ms) = after_a_push(pushing(1_000_000), 1_000_010);
    assert_eq!((state.stage, state.alpha), (Stage::Pushing, 1.25));
    let (failed, _) = after_a_push((state, ms), 1_062_000);
    assert_eq!((failed.stage, failed.alpha), (Stage::Pushing, 1.0625));
    let (state, ms) = after_a_push((state, ms), 1_062_600);
    assert_eq!((state.stage, state.alpha), (Stage::Pushing, 1.25));
    let (state, _) = after_a_push((state, ms), 1_200_000);
    assert_eq!((state.stage, state.alpha), (Stage::Initial, 2.0));
}

/// §Pushing state: congestion ends a push, which has not succeeded then, and leaves the rate.
#[test]
fn congestion_in_a_push_ends_it() {
    let (state, ms) = pushing(1_000_000);
    let state = at(state, ms + 10, EventKind::RttSampled(testkit::rtt(Span::from_millis(200))));
    assert_eq!((state.stage, state.nominal_rate, state.congested), (Stage::Recovery, 1_000_000.0, true));
    let (state, _) = after_a_push((state, ms), 1_000_000);
    assert_eq!(state.alpha, 1.0625);
}

/// §Rate Reduction on Congestion: of delay as much as it exceeds what is tolerated, in parts of that; a quarter at most.
#[test]
fn the_response_to_delay_is_in_proportion() {
    // 1 Mbyte/s and 100 ms: 6.25 % and 0.08 · 18.75 % of 100 ms are tolerated.
    for (rtt_us, kept) in [(107_750, 1.0), (108_137, 0.95), (110_000, 0.75), (900_000, 0.75)] {
        let (state, ms) = cruising(1_000_000);
        let state = at(state, ms + 10, EventKind::RttSampled(testkit::rtt(Span::from_micros(rtt_us))));
        assert_close(state.nominal_rate, kept * 1e6, 1e-3);
        assert_eq!(state.stage == Stage::Recovery, kept < 1.0, "{rtt_us} µs");
    }
}

/// §Detecting Excessive Losses: each packet counts a sixteenth; fast flows answer one loss, slow ones many.
#[test]
fn the_response_to_losses_depends_on_the_rate() {
    let lost = |packets| EventKind::PacketsLost(PacketsLost { packets, ..testkit::lost(Time(450 * MS)) });
    let (fast, ms) = cruising(2_000_000);
    let state = at(fast, ms, lost(1));
    assert_eq!((state.smoothed_loss_rate, state.nominal_rate), (1.0 / 16.0, 1_500_000.0));
    let (slow, ms) = cruising(40_000);
    let state = at(slow, ms, lost(11));
    assert_close(state.smoothed_loss_rate, 1.0 - libm::pow(15.0 / 16.0, 11.0), 1e-12);
    assert_eq!((state.stage, at(state, ms, lost(1)).nominal_rate), (Stage::Cruising, 30_000.0));
    // What arrives in between is counted, too.
    let acked = PacketsAcked { packets: 16, ..ack(ms - RTT, 0, RTT) };
    let state = at(state, ms, EventKind::PacketsAcked(acked));
    assert_eq!(at(state, ms, lost(1)).stage, Stage::Cruising);
}

/// §Detecting Excessive CE Marks: half of a frame's packets count at once, fewer by a sixteenth; the response is in
/// proportion.
#[test]
fn the_response_to_marks_is_in_proportion() {
    let (state, ms) = cruising(10_000_000);
    let frame = |state, marks: u32, packets| {
        let state = at(state, ms, EventKind::EcnCe(EcnCe::new(marks, Time((ms - RTT) * MS), 0)));
        at(state, ms, EventKind::PacketsAcked(PacketsAcked { packets, ..ack(ms - RTT - 1, 0, RTT) }))
    };
    let few = frame(state, 4, 10);
    assert_eq!((few.stage, few.ecn_alpha), (Stage::Cruising, 0.4 / 16.0));
    let half = frame(state, 1, 2);
    assert_eq!((half.stage, half.nominal_rate), (Stage::Recovery, 7_500_000.0));
    let mut state = state;
    while state.stage == Stage::Cruising {
        state = frame(state, 4, 10);
    }
    let threshold = 3.0 / 32.0;
    assert_close(state.nominal_rate, 1e7 * (1.0 - (state.ecn_alpha - threshold) / threshold), 1e-9);
    assert!(state.nominal_rate > 7_500_000.0);
}

/// §Pushing state: marks that are tolerated make a push slower.
#[test]
fn marks_slow_a_push_down() {
    let (state, _) = pushing(10_000_000);
    let of = |ecn_alpha| State { pushes: 1, ecn_alpha, ..state }.alpha_of_push(&Params::default());
    assert_eq!([0.0, 1.5 / 32.0, 3.0 / 32.0, 1.0].map(of), [1.25, 1.15625, 1.0625, 1.0625]);
}

/// §Nominal max RTT: of eras at no more than the nominal rate; it rises at once and falls by an eighth, and exceeds the
/// running minimum by 250 ms at most.
#[test]
fn the_nominal_max_rtt_is_that_of_eras_without_a_push() {
    let (state, ms) = cruising(20_000);
    let sample = |state, rtt_ms| at(state, ms, EventKind::RttSampled(testkit::rtt(Span::from_millis(rtt_ms))));
    let of = |state: State| {
        let state = round(state, ms, 20_000, RTT);
        (state_variable::<C4>(&Params::default(), &state, "nominal_max_rtt_ms"), state.running_min_rtt)
    };
    assert_close(of(sample(state, 120)).0, 120.0, 1e-9);
    assert_close(of(State { nominal_max_rtt: 0.18, ..state }).0, 170.0, 1e-9);
    let jitter = State { nominal_max_rtt: 0.5, jitter_seen: true, ..state };
    let jitter = at(jitter, ms, EventKind::RttSampled(testkit::rtt(Span::from_millis(400))));
    assert_close(of(jitter).0, (7.0 * 500.0 + 350.0) / 8.0, 1e-9);
    assert_close(of(State { running_min_rtt: 0.06, ..state }).1, 0.065, 1e-9);
    // The samples of a recovery after a push are of the push.
    let (state, ms) = pushing(20_000);
    let state = round(state, ms, 20_000, RTT);
    let high = at(state, ms + 110, EventKind::RttSampled(testkit::rtt(Span::from_millis(120))));
    assert_close(round(high, ms + RTT, 20_000, RTT).nominal_max_rtt, 0.1, 1e-9);
}

/// §Restarting Initial if High Jitter: once.
#[test]
fn high_jitter_leads_back_to_initial_once() {
    let (state, ms) = cruising(1_000_000);
    let high = |state| State { nominal_max_rtt: 0.3, running_min_rtt: 0.1, ..state };
    let recovery = |state: State| State { stage: Stage::Recovery, ..state };
    let state = round(high(recovery(state)), ms, 1_000_000, RTT);
    assert_eq!(state.stage, Stage::Initial);
    assert_eq!(round(high(recovery(state)), ms + RTT, 1_000_000, RTT).stage, Stage::Cruising);
}

/// `RFC 9002 §7.6.2`.
#[test]
fn persistent_congestion_starts_over_with_the_least_window() {
    let (state, ms) = cruising(1_000_000);
    let state = at(state, ms, EventKind::PersistentCongestion(testkit::lost(Time(450 * MS))));
    assert_eq!((state.stage, decide(&state).cwnd), (Stage::Initial, 2 * u64::from(MTU)));
}

/// `RFC 9743 §5.1.3`: losses that its own threshold tolerates bound the window.
#[test]
fn losses_beyond_the_bound_lower_the_rate() {
    let (state, ms) = cruising(40_000);
    let lost = EventKind::PacketsLost(PacketsLost { packets: 8, ..testkit::lost(Time((ms + 1) * MS)) });
    let state = at(at(state, ms + RTT, lost), ms + RTT, EventKind::PacketsAcked(ack(ms, 4000, RTT)));
    assert_eq!(state.stage, Stage::Recovery);
    assert!(decide(&state).cwnd < 4000 * 15 / 16, "{:?}", decide(&state));
}

proptest! {
    #![proptest_config(cases(500))]

    /// §Rate Reduction on Congestion, §Setting pacing rate: however often there is congestion, a flow keeps a rate that
    /// carries two packets.
    #[test]
    fn the_rate_never_dies(rates in prop::collection::vec(1u64..10_000_000, 1..40), rtt_ms in 1u64..1000) {
        let (mut state, mut ms) = cruising(1_000_000);
        for rate in rates {
            state = round(state, ms, rate, rtt_ms);
            ms += rtt_ms;
            let decision = decide(&state);
            prop_assert!(decision.cwnd >= 2 * u64::from(MTU));
            prop_assert!(decision.pacing_rate.unwrap() as f64 * state.nominal_max_rtt >= 15.9 * f64::from(MTU));
        }
    }
}

/// RFC 9959: a window that is set is that of a rate, which what is delivered later raises; Initial ends with what fills the path.
#[test]
fn a_flow_goes_on_with_a_window_that_is_set() {
    let start = round(C4::start(&Params::default(), &PATH), 0, 50_000, RTT);
    let set = at(start, 110, EventKind::WindowSet(WindowSet::new(80_000)));
    assert_eq!((decide(&set).cwnd, decide(&set).pacing_rate), (80_000, Some(6_400_000)));
    let cut = at(set, 120, EventKind::WindowSet(WindowSet::new(5000)));
    assert_eq!((decide(&cut).cwnd, decide(&cut).pacing_rate), (5000, Some(400_000)), "less than the initial one");
    let told = at(set, 120, EventKind::WindowSet(WindowSet::new(80_000).with_ssthresh(Some(120_000))));
    let grown = round(told, 130, 1_000_000, RTT);
    assert_eq!((decide(&grown).cwnd, grown.stage), (120_000, Stage::Initial));
    let full = round(grown, 240, 1_150_000, RTT);
    assert_eq!((full.stage, full.known_bdp.bytes()), (Stage::Recovery, f64::INFINITY));
}
