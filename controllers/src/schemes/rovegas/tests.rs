//! `spec: chan §4.5, §4.6, §4.9` and the invariants P1, P2, P6–P8 of `§12`.

use proptest::prelude::*;

use super::*;
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

/// An RTT, of which so much was waiting, forward and backward; milliseconds.
fn reported(rtt: u64, forward: u64, backward: u64) -> Measured {
    let queueing = Queueing { forward: Span(forward * MS), backward: Span(backward * MS) };
    Measured { queueing: Some(queueing), ..trip(rtt * MS) }
}

fn feed(params: &Params, memory: &mut Memory, measured: Measured) {
    let ack = crate::event::PacketsAcked { queueing: measured.queueing, ..acked(1, Time(0)) };
    let frame = Frame { now: Time(0), rtt: Some(Span(measured.rtt)), acked: Some(&ack), counts: true };
    RouterTimes::on_event(params, memory, &frame);
}

fn judged(params: Params, base: Measured, measured: Measured) -> (f64, f64, f64) {
    let mut flow = Flow::measured(params, 12.0, 2.0, base, measured);
    flow.decide();
    (flow.delta().unwrap(), flow.cwnd(), flow.state.incr)
}

/// `spec: chan §4.9`.
#[test]
fn vectors() {
    for base_policy in [BasePolicy::Min, BasePolicy::Latest, BasePolicy::Windowed] {
        let paper = Params { base_policy, ..Params::paper() };
        let quic = Params { base_policy, ..Params::default() };
        let queued = reported(200, 20, 60);
        assert_eq!(judged(paper, queued, queued), (2.0, 12.0, 0.0));
        assert_close(judged(quic, queued, queued).0, 12.0 * 20.0 / 140.0, 1e-12);
        // Without the report, from the base it had.
        assert_eq!(judged(paper, queued, trip(200 * MS)), (5.0, 11.0, 0.0));
        assert_close(judged(quic, queued, trip(200 * MS)).0, 4.8, 1e-12);
        // 5 ms more than there was.
        assert_eq!(judged(paper, reported(120, 0, 0), reported(200, 0, 85)), (0.0, 12.0, 1.0 / 12.0));
    }
}

/// The clamp of `spec: chan §4.6` by itself: the round waited less than nothing.
#[test]
fn an_over_reported_round_has_no_backlog() {
    let mut memory = Memory::default();
    feed(&Params::paper(), &mut memory, reported(120, 0, 0));
    memory.mean = Mean::default();
    memory.mean.add(signed(Span(115 * MS)));
    let delays = RouterTimes::round(&Params::paper(), &mut memory).unwrap();
    assert_eq!(delays, Delays { base: 120.0 * MS as f64, rtt: 120.0 * MS as f64 });
}

fn base(memory: &Memory) -> i64 {
    memory.base.get().unwrap() / MS as i64
}

#[test]
fn the_base_follows_its_policy() {
    for (base_policy, expected) in [
        (BasePolicy::Min, [100, 100, 100, 100, 90]),
        (BasePolicy::Latest, [100, 150, 150, 160, 90]),
        (BasePolicy::Windowed, [100, 100, 100, 160, 90]),
    ] {
        let params = Params { base_policy, base_rounds: 3, ..Params::default() };
        let mut memory = Memory::default();
        let mut bases = expected;
        feed(&params, &mut memory, reported(120, 15, 5));
        bases[0] = base(&memory);
        // A longer route.
        feed(&params, &mut memory, reported(170, 10, 10));
        bases[1] = base(&memory);
        // No report: a plain minimum.
        feed(&params, &mut memory, trip(200 * MS));
        bases[2] = base(&memory);
        for _ in 0..3 {
            RouterTimes::round(&params, &mut memory);
        }
        feed(&params, &mut memory, reported(180, 10, 10));
        bases[3] = base(&memory);
        feed(&params, &mut memory, trip(90 * MS));
        bases[4] = base(&memory);
        assert_eq!(bases, expected, "{base_policy:?}");
    }
}

#[test]
fn a_windowed_base_is_remembered_for_so_many_rounds() {
    for rounds in [1, 5, 10, 20, 100] {
        let params = Params { base_policy: BasePolicy::Windowed, base_rounds: rounds, ..Params::default() };
        let mut memory = Memory::default();
        feed(&params, &mut memory, reported(100, 0, 0));
        let mut lasted = 0;
        while {
            RouterTimes::round(&params, &mut memory);
            feed(&params, &mut memory, reported(150, 0, 0));
            base(&memory) == 100
        } {
            lasted += 1;
        }
        assert_eq!(lasted + 1, rounds);
    }
}

#[test]
fn a_report_of_more_than_the_rtt_is_not_believed() {
    let mut memory = Memory::default();
    let params = Params::default();
    let forever = Queueing { forward: Span(u64::MAX), backward: Span(1) };
    for measured in
        [reported(100, 50, 50), reported(100, 0, 101), Measured { queueing: Some(forever), ..trip(100 * MS) }]
    {
        feed(&params, &mut memory, measured);
        assert_eq!((base(&memory), memory.queued), (100, None));
    }
    feed(&params, &mut memory, reported(100, 50, 49));
    assert_eq!(base(&memory), 1);
}

#[test]
fn an_ack_without_a_report_does_not_blur_a_round_that_has_some() {
    let mut flow = Flow::measured(Params::default(), 20.0, 2.0, reported(100, 0, 0), reported(140, 10, 30));
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
fn a_loss_drops_both_means() {
    let mut flow = Flow::measured(Params::default(), 20.0, 2.0, reported(100, 0, 0), reported(140, 10, 30));
    flow.lose_one(1);
    assert_eq!(
        (flow.cwnd(), flow.state.source.mean, flow.state.source.plain),
        (15.0, Mean::default(), Mean::default())
    );
    assert_eq!(base(&flow.state.source), 100);
}

/// A late sample comes before the losses of its frame, its report after.
#[test]
fn a_report_that_comes_after_its_frames_losses_counts() {
    let mut flow = Flow::avoiding(Params::default(), 20.0, 100 * MS);
    flow.apply(EventKind::RttSampled(crate::testkit::rtt(Span(140 * MS))));
    flow.lose_one(1);
    let late = Measured { rtt: 0, ..reported(0, 20, 30) };
    flow.apply(EventKind::PacketsAcked(crate::event::PacketsAcked { rtt: None, ..flow.ack(late) }));
    assert_eq!(base(&flow.state.source), 90);
    assert_eq!(flow.state.source.queued, late.queueing);
}

#[test]
fn it_needs_reports_unless_told_otherwise() {
    let needs = |fallback| RoVegas::needs(&Params { fallback, ..Params::default() });
    assert!(needs(false).contains(Signals::QUEUEING_TIME | Signals::RTT));
    assert!(!needs(true).contains(Signals::QUEUEING_TIME));
    assert!(needs(true).contains(Signals::RTT));
    assert!(RoVegas::INFO.fallback.is_some());
}

#[test]
fn it_shows_both_queues() {
    let mut memory = Memory::default();
    feed(&Params::default(), &mut memory, reported(100, 4, 40));
    let mut shown = std::vec::Vec::new();
    RouterTimes::inspect(&memory, &mut |name, value| shown.push((name, value)));
    assert_eq!(shown, [("q_f_ms", 4.0), ("q_b_ms", 40.0)]);
}

fn policies() -> impl Strategy<Value = BasePolicy> {
    prop_oneof![Just(BasePolicy::Min), Just(BasePolicy::Latest), Just(BasePolicy::Windowed)]
}

fn any_policy() -> impl Strategy<Value = Params> {
    (profiles::<Params>(), policies(), 1u32..15).prop_map(|(params, base_policy, base_rounds)| Params {
        base_policy,
        base_rounds,
        ..params
    })
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn p1_survives_anything_twice_alike(params in any_policy(), test_events in test_events()) {
        Flow::new(params).survives(&test_events)?;
    }

    #[test]
    fn p2_moves_by_at_most_one_packet_per_round(
        params in any_policy(),
        cwnd in 2.0..60.0f64,
        queued in prop::collection::vec((0..200 * MS, 0..200 * MS), 1..20),
    ) {
        let idle = both_ways((0, 0), 0);
        let mut flow = Flow::measured(params, cwnd, 2.0, idle, idle);
        flow.moves_by_at_most_one(queued.into_iter().map(|queued| both_ways(queued, 0)))?;
    }

    /// P6: "with exact base", so Vegas has to meet the empty path once.
    #[test]
    fn p6_without_queueing_on_the_way_back_it_is_vegas(params in any_policy(), rounds in rounds(0)) {
        let (mut flow, mut plain) = (Flow::new(params), Plain::new(as_vegas(params)));
        flow.round(&[both_ways((0, 0), 0)]);
        plain.round(&[both_ways((0, 0), 0)]);
        let sees = |_, queued| both_ways(queued, 0);
        alike((&mut flow, &mut plain), &rounds, None, sees, sees)?;
    }

    /// `spec: chan §4.2`, whatever the policy.
    #[test]
    fn without_reports_it_is_vegas(params in any_policy(), rounds in rounds(100 * MS), lossy in 0usize..20) {
        let sees = |_, queued| Measured { queueing: None, ..both_ways(queued, 0) };
        alike((&mut Flow::new(params), &mut Plain::new(as_vegas(params))), &rounds, Some(lossy), sees, sees)?;
    }

    #[test]
    fn p7_delay_on_the_way_back_changes_no_decision(
        params in any_policy(),
        rounds in rounds(20 * MS),
        added in prop::collection::vec(0..500 * MS, 16),
    ) {
        let [one, other] = &mut [Flow::new(params), Flow::new(params)];
        let more = |place: usize, (forward, backward)| both_ways((forward, backward + added[place]), 0);
        alike((one, other), &rounds, None, |_, queued| both_ways(queued, 0), more)?;
    }

    /// P8: the base is that of the empty path from the first ACK on, queues or not.
    #[test]
    fn p8_the_base_is_exact(params in any_policy(), rounds in rounds(200 * MS)) {
        let mut flow = Flow::new(params);
        for round in rounds {
            let round: std::vec::Vec<_> = round.into_iter().map(|queued| both_ways(queued, 0)).collect();
            flow.round(&round);
            prop_assert_eq!(base(&flow.state.source), 100);
            prop_assert_eq!(flow.state.source.base.get(), Some(100 * MS as i64));
        }
    }
}
