//! `spec: chan §6.4, §6.5` and the invariants P1, P13–P15 of `§12`.

use proptest::prelude::*;

use super::*;
use crate::event::{IdleRestart, PacketsAcked, SpuriousLoss};
use crate::parts::vegas::{Delays, Rounding, backlog};
use crate::testkit::driven::{Driven, MS, profiles, test_events, trip};
use crate::testkit::pipe::Pipe;
use crate::testkit::{PATH, cases, lost, one_of};
use crate::{Controller, EventKind, Parameters, Span, Time};

type Flow = Driven<Choices>;

const BASE: u64 = 100 * MS;

/// The RTT at which a window of `cwnd` packets has a backlog of `delta`.
fn rtt(cwnd: f64, delta: f64) -> u64 {
    libm::round(BASE as f64 * cwnd / (cwnd - delta)) as u64
}

/// A flow in congestion avoidance whose round in progress has a backlog of `delta`.
fn measured(params: Params, cwnd: f64, delta: f64, succ: u32) -> Flow {
    let mut flow = Flow::measured(params, cwnd, 2.0, trip(BASE), trip(rtt(cwnd, delta)));
    flow.state.step.succ = succ;
    flow
}

/// What it then decides: window, packets to grow by per ACK, succession.
fn judged(params: Params, cwnd: f64, delta: f64, succ: u32) -> (f64, f64, u32) {
    let mut flow = measured(params, cwnd, delta, succ);
    flow.decide();
    (flow.cwnd(), flow.state.incr, flow.state.step.succ)
}

/// `spec: chan §6.5`.
#[test]
fn vectors() {
    for (cwnd, delta, succ, expected) in [
        (100.0, 0.0, 0, (100.0, 0.04, 1)),
        (104.0, 0.0, 1, (104.0, 8.0 / 104.0, 2)),
        (112.0, 1.0, 2, (112.0, 9.0 / 112.0, 3)),
        (6.0, 0.0, 1, (6.0, 1.0, 2)),
        (120.0, 10.0, 5, (113.0, 0.0, 0)),
        (50.0, 4.0, 1, (49.0, 0.0, 0)),
        (50.0, 3.0, 1, (50.0, 0.0, 0)),
        (50.0, 2.0, 1, (50.0, 1.0 / 50.0, 0)),
    ] {
        assert_eq!(judged(Params::paper(), cwnd, delta, succ), expected, "cwnd {cwnd}, backlog {delta}, succ {succ}");
    }
}

/// `spec: chan §6.4`: unrounded, the middle is half a packet wide on either side. At
/// exactly half it rests too, or it would swing between the two sides for ever.
#[test]
fn near_the_middle_the_window_rests() {
    let step = |delta| {
        Quick::step(&Params::default(), &mut Succession { succ: 1 }, &crate::testkit::driven::backlog_of(delta))
    };
    for (delta, expected) in [
        (2.0, Step::Grow(1.0)),
        (2.49, Step::Grow(1.0)),
        (2.5, Step::Hold),
        (3.0, Step::Hold),
        (3.5, Step::Hold),
        (3.51, Step::Shrink(1.0)),
        (4.0, Step::Shrink(1.0)),
        (4.25, Step::Shrink(1.25)),
    ] {
        assert_eq!(step(delta), expected, "{delta}");
    }
    let rounded =
        |delta| Quick::step(&Params::paper(), &mut Succession { succ: 1 }, &crate::testkit::driven::backlog_of(delta));
    assert_eq!((rounded(3.0), rounded(3.5)), (Step::Hold, Step::Shrink(1.0)), "exactly the middle");
}

#[test]
fn thresholds_the_wrong_way_round_do_not_grow_a_backlog() {
    let params = Params { alpha: 9.0, beta: 2.0, ..Params::default() };
    let mut flow = measured(params, 50.0, 3.0, 0);
    flow.decide();
    assert_eq!((flow.cwnd(), flow.state.incr), (50.0, 0.0));
}

#[test]
fn doubling_on_demand_is_not_slow_start() {
    let mut flow = measured(Params::paper(), 6.0, 0.0, 1);
    flow.decide();
    assert!(!flow.state.window.in_slow_start());
    flow.rest(6, trip(BASE));
    assert_eq!(flow.cwnd(), 12.0);
}

#[test]
fn it_acts_every_other_round_and_carries_on_slow_starts_turns() {
    let mut flow = Flow::new(Params::paper());
    while flow.state.window.in_slow_start() {
        let queued = if flow.cwnd() < 8.0 { 0 } else { 50 * MS };
        flow.full_round(trip(BASE + queued));
    }
    assert!(flow.state.acting, "left slow start on a round to act on");
    let mut turns = [false; 4];
    for turn in &mut turns {
        flow.full_round(trip(BASE));
        *turn = flow.state.acting;
    }
    assert_eq!(turns, [false, true, false, true]);
}

#[test]
fn growth_called_for_again_and_again_accelerates() {
    let mut flow = Flow::avoiding(Params::paper(), 400.0, BASE);
    flow.state.step.succ = 0;
    flow.state.acting = true;
    let mut windows = [0.0; 8];
    for window in &mut windows {
        flow.full_round(trip(BASE));
        *window = libm::round(flow.cwnd());
    }
    // spec: chan §11.6: (β − Δ)·m(m + 1)/2 packets after m decisions, each after a round
    // of rest.
    assert_eq!(windows, [400.0, 404.0, 404.0, 412.0, 412.0, 424.0, 424.0, 440.0]);
}

#[test]
fn a_succession_ends_with_loss_timeout_and_idleness() {
    let idle = EventKind::IdleRestart(IdleRestart { idle: Span(2), pto: Span(1) });
    for kind in [EventKind::PacketsLost(lost(Time(1 << 40))), EventKind::PersistentCongestion(lost(Time(1))), idle] {
        let mut flow = measured(Params::default(), 50.0, 0.0, 7);
        flow.apply(kind);
        assert_eq!(flow.state.step.succ, 0, "{kind:?}");
    }
}

#[test]
fn entering_congestion_avoidance_starts_without_history() {
    let mut flow = measured(Params::default(), 50.0, 20.0, 7);
    flow.state.window.ssthresh = f64::INFINITY;
    flow.decide();
    assert!(!flow.state.window.in_slow_start());
    assert_eq!(flow.state.step.succ, 0);
}

#[test]
fn a_spurious_loss_gives_the_succession_back() {
    let mut flow = measured(Params::default(), 50.0, 0.0, 7);
    flow.lose_one(1);
    flow.apply(EventKind::SpuriousLoss(SpuriousLoss { newest_sent_at: Time(0) }));
    assert_eq!((flow.cwnd(), flow.state.step.succ), (50.0, 7));
}

/// A flow held back by its application shows no backlog, whatever the path could take.
#[test]
fn a_window_that_is_not_used_builds_no_succession() {
    let mut flow = measured(Params::default(), 50.0, 0.0, 7);
    let mut most = 0;
    for round in 0..10 {
        let ack = PacketsAcked { app_limited: true, ..flow.ack(trip(BASE)) };
        flow.apply(EventKind::PacketsAcked(ack));
        most = if round > 0 { flow.state.step.succ.max(most) } else { 0 };
    }
    assert_eq!((most, flow.cwnd()), (1, 50.0));
}

#[test]
fn it_shows_its_succession() {
    let mut flow = measured(Params::default(), 50.0, 0.0, 7);
    flow.decide();
    let mut shown = None;
    QuickVegas::inspect(&flow.params, &flow.state, crate::View::solo(&()), &mut |name, value| {
        if name == "succ" {
            shown = Some(value);
        }
    });
    assert_eq!(shown, Some(8.0));
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn p1_survives_anything_twice_alike(params in profiles(), test_events in test_events()) {
        Flow::new(params).survives(&test_events)?;
    }

    #[test]
    fn p13_growth_at_most_doubles_and_an_excess_is_shed_exactly(
        params in profiles(),
        cwnd in 2.0..200.0f64,
        share in 0.0..0.9f64,
        succ in 0u32..1000,
    ) {
        let cwnd = libm::floor(cwnd);
        let mut flow = measured(params, cwnd, share * cwnd, succ);
        let rtt = rtt(cwnd, share * cwnd);
        let delta = params.base.delta_rounding.apply(backlog(cwnd, Delays::new(BASE as f64, rtt as f64)));
        flow.decide();
        prop_assert_eq!(flow.delta(), Some(delta));
        if delta > 4.0 {
            prop_assert_eq!(flow.cwnd(), (cwnd - (delta - 3.0)).max(2.0));
        }
        let decided = flow.cwnd();
        flow.rest(cwnd as u32, trip(rtt));
        prop_assert!(flow.cwnd() <= 2.0 * decided + 1e-9);
    }

    #[test]
    fn p14_p15_succession_counts_decisions_below_alpha_and_rests_in_between(
        params in profiles(),
        rounds in prop::collection::vec(one_of([(3, (0..MS).boxed()), (1, (0..200 * MS).boxed())]), 1..30),
    ) {
        let mut flow = Flow::avoiding(params, 60.0, BASE);
        flow.state.step.succ = 0;
        let mut expected = 0;
        for queued in rounds {
            let before = flow.cwnd();
            flow.full_round(trip(BASE + queued));
            if flow.state.acting {
                expected = if flow.delta().is_some_and(|delta| delta < 2.0) { expected + 1 } else { 0 };
            } else {
                prop_assert_eq!(flow.cwnd(), before);
            }
            prop_assert_eq!(flow.state.step.succ, expected);
        }
    }

    /// P13, last part.
    #[test]
    fn p13_a_single_flow_settles_around_the_middle(
        params in profiles(),
        service in 100_000..3_000_000u64,
        capacity in 1.0..25.0f64,
        start in 2.0..35.0f64,
    ) {
        let pipe = Pipe { service, base: (capacity * service as f64) as u64, every: 1 };
        let mut state = QuickVegas::start(&params, &PATH);
        state.window.cwnd = start;
        state.window.ssthresh = 2.0;
        let (mut seen, mut rest, mut verdict) = (0, None, Ok(()));
        let acks = 40 * 36;
        pipe.run::<QuickVegas>(&params, state, acks + 200, |moment| {
            seen += 1;
            if seen <= acks || verdict.is_err() {
                return;
            }
            let cwnd = moment.state.window.cwnd;
            let queued = moment.in_flight - pipe.capacity();
            let off = match params.base.delta_rounding {
                // As the flow sees it, rounded: at the edge of a whole number it may go on
                // swinging by a packet.
                Rounding::Nearest => (queued * cwnd / moment.in_flight - 3.0).abs() - 1.0 / moment.in_flight,
                Rounding::None if *rest.get_or_insert(cwnd) != cwnd => f64::INFINITY,
                Rounding::None => (queued - 3.0).abs(),
            };
            if off > 0.5 + 1e-6 {
                verdict = Err((cwnd, rest, queued));
            }
        });
        prop_assert_eq!(verdict, Ok(()));
    }
}
