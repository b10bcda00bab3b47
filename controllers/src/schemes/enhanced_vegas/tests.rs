//! `spec: chan §5.5, §5.6` and the invariants P1, P2, P6, P7, P9 of `§12`.

use proptest::prelude::*;

use super::*;
use crate::event::{OneWay, PacketsAcked};
use crate::schemes::vegas;
use crate::testkit::driven::{Driven, MS, Measured, alike, both_ways, profiles, rounds, test_events, trip};
use crate::testkit::{acked, assert_close, cases};
use crate::{Controller, EventKind, Parameters};

/// The same parameters, for Vegas.
fn as_vegas(Params { base, thresholds, .. }: Params) -> vegas::Params {
    vegas::Params { base, thresholds }
}

type Flow = Driven<Choices>;
type Plain = Driven<vegas::Choices>;

fn frame<'a>(now: Time, acked: &'a PacketsAcked) -> Frame<'a> {
    Frame { now, rtt: None, acked: Some(acked), counts: true }
}

fn ms(forward: i64, backward: i64) -> PacketsAcked {
    let one_way = OneWay { forward: forward * MS as i64, backward: backward * MS as i64 };
    PacketsAcked { one_way: Some(one_way), ..acked(1, Time(0)) }
}

/// Base and queueing in milliseconds.
fn known(memory: &Memory) -> (i64, Option<(i64, i64)>) {
    let base = memory.forward.get().unwrap() + memory.backward.get().unwrap();
    let per = MS as i64;
    (base / per, memory.queued.map(|(q_f, q_b)| (q_f / per, q_b / per)))
}

/// `spec: chan §5.6`: clocks 500 ms apart, 30 ms there and 20 ms back.
#[test]
fn vector() {
    let params = Params::paper();
    let mut memory = Memory::default();
    OneWayDelays::on_event(&params, &mut memory, &frame(Time(0), &ms(530, -480)));
    OneWayDelays::clear(&mut memory);
    OneWayDelays::on_event(&params, &mut memory, &frame(Time(0), &ms(534, -440)));
    assert_eq!(known(&memory), (50, Some((4, 40))));
    let delays = OneWayDelays::round(&params, &mut memory).unwrap();
    assert_eq!((delays.base, delays.rtt), (50.0 * MS as f64, 54.0 * MS as f64));
    assert_close(crate::parts::vegas::backlog(20.0, delays), 1.481, 1e-3);
}

/// The same through a whole flow, whose RTT of 94 ms would have Vegas shrink.
#[test]
fn vector_of_a_flow() {
    let at = |queued| both_ways(queued, 500 * MS as i64);
    let mut flow = Flow::measured(Params::default(), 20.0, 2.0, at((0, 0)), at((4 * MS, 40 * MS)));
    flow.decide();
    assert_close(flow.delta().unwrap(), 20.0 * (1.0 - 100.0 / 104.0), 1e-12);
    let mut plain = Plain::measured(vegas::Params::default(), 20.0, 2.0, at((0, 0)), at((4 * MS, 40 * MS)));
    plain.decide();
    assert_eq!((flow.state.incr, plain.cwnd()), (0.05, 19.0));
}

/// `spec: chan §5.6`, last line; O6.
#[test]
fn the_minima_follow_a_fast_clock_and_the_base_stays() {
    let params = Params { rho: 1.0001, ..Params::paper() };
    let mut memory = Memory::default();
    OneWayDelays::on_event(&params, &mut memory, &frame(Time(0), &ms(530, -480)));
    OneWayDelays::on_event(&params, &mut memory, &frame(Time(10_000 * MS), &ms(531, -481)));
    let minima = (memory.forward.get(), memory.backward.get());
    assert_eq!(minima, (Some(531 * MS as i64), Some(-481 * MS as i64)));
    assert_eq!(known(&memory), (50, Some((0, 0))));
}

#[test]
fn a_drift_is_followed_however_often_acks_come() {
    let params = Params { rho: 1.00005, ..Params::paper() };
    let mut memory = Memory::default();
    // 50 ppm over 1 s in steps of 8 µs, each worth less than half a nanosecond.
    for i in 0..=125_000u64 {
        let drift = (i * 2 / 5) as i64;
        let one_way = OneWay { forward: 60_000_000 + drift, backward: 40_000_000 - drift };
        OneWayDelays::on_event(
            &params,
            &mut memory,
            &frame(Time(8_000 * i), &PacketsAcked { one_way: Some(one_way), ..ms(0, 0) }),
        );
    }
    let (q_f, q_b) = memory.queued.unwrap();
    // Against 50 µs of drift.
    assert!(q_f.max(q_b) <= DRIFT_STEP as i64, "{q_f}, {q_b}");
}

#[test]
fn without_an_estimate_of_the_drift_old_minima_are_forgotten() {
    let mut memories = [Memory::default(); 2];
    for (memory, params) in memories.iter_mut().zip([Params::default(), Params::paper()]) {
        // A clock 50 ppm slow: the forward delay seems to fall, the backward one to rise.
        for second in 0..=180 {
            let drift = 50_000 * second;
            let ack = PacketsAcked { one_way: Some(OneWay { forward: -drift, backward: drift }), ..ms(0, 0) };
            OneWayDelays::on_event(&params, memory, &frame(Time(1000 * MS * second as u64), &ack));
        }
    }
    let apparent = memories.map(|memory| memory.queued.unwrap().1);
    assert!(apparent[0] <= 1_500_000, "{} within 30 s", apparent[0]);
    assert_eq!(apparent[1], 9_000_000, "3 ms per minute");
}

#[test]
fn an_ack_without_one_way_delays_does_not_blur_a_round_that_has_them() {
    let measured = both_ways((10 * MS, 0), 0);
    let mut flow = Flow::measured(Params::default(), 20.0, 2.0, both_ways((0, 0), 0), measured);
    flow.rest(1, trip(900 * MS));
    flow.state.window.cwnd = 20.0;
    flow.decide();
    assert_close(flow.delta().unwrap(), 20.0 * 10.0 / 110.0, 1e-12);
    // A round without any is judged by its RTTs.
    flow.state.window.cwnd = 20.0;
    flow.round(&[trip(125 * MS)]);
    flow.state.window.cwnd = 20.0;
    flow.decide();
    assert_eq!(flow.delta(), Some(4.0));
}

#[test]
fn it_needs_one_way_delays_unless_told_otherwise() {
    let needs = |fallback| EnhancedVegas::needs(&Params { fallback, ..Params::default() });
    assert!(needs(false).contains(Signals::ONE_WAY_DELAY));
    assert!(!needs(true).contains(Signals::ONE_WAY_DELAY));
    assert!(needs(true).contains(Signals::RTT));
    assert!(EnhancedVegas::INFO.fallback.is_some());
}

#[test]
fn it_shows_both_queues() {
    let mut memory = Memory::default();
    OneWayDelays::on_event(&Params::default(), &mut memory, &frame(Time(0), &ms(30, 20)));
    OneWayDelays::on_event(&Params::default(), &mut memory, &frame(Time(0), &ms(34, 60)));
    let mut shown = std::vec::Vec::new();
    OneWayDelays::inspect(&memory, &mut |name, value| shown.push((name, value)));
    assert_eq!(shown, [("q_f_ms", 4.0), ("q_b_ms", 40.0)]);
}

/// What P7 is about: Vegas takes queueing on the way back for its own.
#[test]
fn vegas_is_not_invariant() {
    let with = |backward| {
        let mut plain =
            Plain::measured(vegas::Params::default(), 20.0, 2.0, both_ways((0, 0), 0), both_ways((0, backward), 0));
        plain.decide();
        plain.cwnd()
    };
    assert!(with(50 * MS) < with(0));
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn p1_survives_anything_twice_alike(params in profiles(), test_events in test_events()) {
        Flow::new(params).survives(&test_events)?;
    }

    #[test]
    fn p2_moves_by_at_most_one_packet_per_round(
        params in profiles(),
        cwnd in 2.0..60.0f64,
        queued in prop::collection::vec((0..200 * MS, 0..200 * MS), 1..20),
    ) {
        let idle = both_ways((0, 0), 0);
        let mut flow = Flow::measured(params, cwnd, 2.0, idle, idle);
        flow.moves_by_at_most_one(queued.into_iter().map(|queued| both_ways(queued, 0)))?;
    }

    #[test]
    fn p6_without_queueing_on_the_way_back_it_is_vegas(params in profiles::<Params>(), rounds in rounds(0)) {
        let sees = |_, queued| both_ways(queued, 0);
        alike((&mut Flow::new(params), &mut Plain::new(as_vegas(params))), &rounds, None, sees, sees)?;
    }

    /// `spec: chan §5.2`.
    #[test]
    fn without_one_way_delays_it_is_vegas(
        params in profiles::<Params>(),
        rounds in rounds(100 * MS),
        lossy in 0usize..20,
    ) {
        let sees = |_, queued| Measured { one_way: None, ..both_ways(queued, 0) };
        alike((&mut Flow::new(params), &mut Plain::new(as_vegas(params))), &rounds, Some(lossy), sees, sees)?;
    }

    #[test]
    fn p7_delay_on_the_way_back_changes_no_decision(
        params in profiles(),
        rounds in rounds(20 * MS),
        added in prop::collection::vec(0..500 * MS, 16),
    ) {
        let mut flows = [Flow::new(params), Flow::new(params)];
        for flow in &mut flows {
            flow.round(&[both_ways((0, 0), 0)]);
        }
        let [one, other] = &mut flows;
        let more = |place: usize, (forward, backward)| both_ways((forward, backward + added[place]), 0);
        alike((one, other), &rounds, None, |_, queued| both_ways(queued, 0), more)?;
    }

    #[test]
    fn p9_the_clocks_offset_changes_nothing(
        params in profiles(),
        rounds in rounds(100 * MS),
        offset in -(1i64 << 60)..1 << 60,
    ) {
        let [one, other] = &mut [Flow::new(params), Flow::new(params)];
        alike((one, other), &rounds, None, |_, queued| both_ways(queued, 0), |_, queued| both_ways(queued, offset))?;
    }

    #[test]
    fn p9_the_base_is_at_most_the_least_rtt_and_no_queue_is_negative(
        params in profiles(),
        rho in 0.999..1.001f64,
        acks in prop::collection::vec((0..100 * MS, 0..100 * MS, 0..1000 * MS), 1..40),
    ) {
        // The clocks' drift is in the delays, not only in what is reported to the flow.
        let params = Params { rho, ..params };
        let (mut memory, mut now, mut least) = (Memory::default(), 0, i64::MAX);
        for (forward, backward, gap) in acks {
            now += gap;
            let before = memory;
            let drift = libm::round(now as f64 * (rho - 1.0)) as i64;
            let one_way = OneWay { forward: forward as i64 + drift, backward: backward as i64 - drift };
            let ack = PacketsAcked { one_way: Some(one_way), ..acked(1, Time(0)) };
            OneWayDelays::on_event(&params, &mut memory, &frame(Time(now), &ack));
            let base = |memory: &Memory| memory.forward.get().zip(memory.backward.get()).map(|(f, b)| f + b);
            // As long as nothing is forgotten: over all of them.
            least = if params.owd_window > 0.0 { one_way.forward + one_way.backward } else { least.min(one_way.forward + one_way.backward) };
            prop_assert!(base(&memory).unwrap() <= least);
            let (q_f, q_b) = memory.queued.unwrap();
            prop_assert!(q_f >= 0 && q_b >= 0);
            // O6 alone leaves the base where it is.
            let mut drifted = before;
            drifted.follow_drift(Time(now), rho);
            prop_assert_eq!(base(&drifted), base(&before));
        }
    }
}

/// P9, through the order of events a stack gives: a late sample comes before the losses of
/// its frame, its one-way delays after.
#[test]
fn delays_that_come_after_their_frames_losses_count() {
    let mut flow = Flow::measured(Params::default(), 20.0, 2.0, both_ways((0, 0), 0), both_ways((0, 0), 0));
    flow.decide();
    let late = Measured { rtt: 0, ..both_ways((25 * MS, 40 * MS), 0) };
    flow.apply(EventKind::RttSampled(crate::testkit::rtt(Span(165 * MS))));
    let ack = PacketsAcked { rtt: None, newest_sent_at: Time(1), ..flow.ack(late) };
    flow.apply(EventKind::PacketsAcked(ack));
    flow.state.window.cwnd = 20.0;
    flow.decide();
    assert_eq!(flow.delta(), Some(4.0));
}
