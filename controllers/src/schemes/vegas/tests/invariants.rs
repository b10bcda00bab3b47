//! `spec: chan §12`: P1–P5, P18, P19.

use proptest::prelude::*;

use super::{Flow, MS, Params, Thresholds, Vegas, paper};
use crate::Controller;
use crate::parts::vegas::{LossArith, Rounding};
use crate::testkit::driven::{test_events, trip};
use crate::testkit::pipe::Pipe;
use crate::testkit::{cases, unbounded};

const BASE: u64 = 100 * MS;

/// Either profile, with thresholds the document uses.
fn profiles() -> impl Strategy<Value = Params> {
    let thresholds = prop_oneof![Just((1.0, 3.0)), Just((2.0, 4.0)), Just((2.0, 2.0))];
    (prop::bool::ANY, thresholds).prop_map(|(document, (alpha, beta))| {
        let params = if document { paper() } else { Params::default() };
        Params { thresholds: Thresholds { alpha, beta }, ..params }
    })
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
        queued in prop::collection::vec(0..200 * MS, 1..20),
    ) {
        let mut flow = Flow::avoiding(params, cwnd, BASE);
        flow.moves_by_at_most_one(queued.into_iter().map(|queued| trip(BASE + queued)))?;
    }

    #[test]
    fn p3_slow_start_at_most_doubles_in_two_rounds_and_holds_in_between(
        params in profiles(),
        queued in prop::collection::vec(0..2 * MS, 1..14),
    ) {
        let mut flow = Flow::new(params);
        let mut previous = [flow.cwnd(); 2];
        for queue in queued {
            flow.full_round(trip(BASE + queue));
            if !flow.state.window.in_slow_start() {
                break;
            }
            prop_assert!(flow.cwnd() <= 2.0 * previous[0]);
            if !flow.state.acting {
                prop_assert_eq!(flow.cwnd(), previous[1]);
            }
            previous = [previous[1], flow.cwnd()];
        }
    }

    #[test]
    fn p4_a_larger_rtt_never_yields_a_larger_window(
        params in profiles(),
        cwnd in 1.0..300.0f64,
        slow_start in prop::bool::ANY,
        base in 1..1000 * MS,
        queued in (0..300 * MS, 0..300 * MS),
    ) {
        let ssthresh = if slow_start { f64::INFINITY } else { 2.0 };
        let next = |queue| {
            let mut flow = Flow::judged(params, cwnd, ssthresh, base, base + queue);
            flow.rest(cwnd as u32, trip(base + queue));
            flow.cwnd()
        };
        prop_assert!(next(queued.0.min(queued.1)) >= next(queued.0.max(queued.1)));
    }

    #[test]
    fn p18_p19_one_reduction_for_what_was_sent_before_it_by_the_right_factor(
        params in profiles(),
        cwnd in 2.0..3000.0f64,
        losses in prop::collection::vec((0u64..60, 1u32..4, prop::bool::ANY), 1..20),
    ) {
        let mut flow = Flow::avoiding(unbounded(params), cwnd, BASE);
        let mut cut_at = None;
        for (age, transmissions, ack) in losses {
            if ack {
                flow.round(&[trip(BASE)]);
            }
            let (before, sent_at) = (flow.cwnd(), flow.now.saturating_sub(age));
            flow.lose(sent_at, transmissions);
            let whole = libm::floor(before);
            let answered = cut_at < Some(sent_at);
            let expected = match params.base.loss_arith {
                _ if !answered => before,
                LossArith::Integer if whole <= 3.0 => 2.0,
                LossArith::Integer if transmissions > 1 => libm::floor(whole / 2.0),
                LossArith::Integer => whole - libm::floor(whole / 4.0),
                LossArith::Real if transmissions > 1 => (before / 2.0).max(2.0),
                LossArith::Real => (before * 0.75).max(2.0),
            };
            prop_assert_eq!(flow.cwnd(), expected);
            if answered {
                cut_at = Some(flow.now);
            }
        }
    }

    /// With the window at rest, α ≤ backlog ≤ β, half a packet more either way if Δ is
    /// rounded, and the bottleneck never idles.
    #[test]
    fn p5_a_single_flow_settles_between_alpha_and_beta(
        document in prop::bool::ANY,
        thresholds in prop_oneof![Just((1.0, 3.0)), Just((2.0, 4.0)), Just((1.5, 5.0))],
        service in 100_000..3_000_000u64,
        capacity in 1.0..30.0f64,
        start in 2.0..45.0f64,
    ) {
        let (alpha, beta) = thresholds;
        let params = Params { thresholds: Thresholds { alpha, beta }, ..if document { paper() } else { unbounded(Params::default()) } };
        let pipe = Pipe { service, base: (capacity * service as f64) as u64, every: 1 };
        let mut state = Vegas::start(&params, &crate::testkit::PATH);
        state.window.cwnd = start;
        state.window.ssthresh = 2.0;
        settles(&pipe, &params, state, 60)?;
    }
}

/// From the very first packet, with slow start, and with a receiver that acknowledges
/// every other packet, as QUIC's do.
#[test]
fn p5_a_new_flow_settles_between_alpha_and_beta() {
    for (params, every) in [(paper(), 1), (unbounded(Params::default()), 1), (unbounded(Params::default()), 2)] {
        for capacity in [3, 17, 60, 150] {
            let pipe = Pipe { service: MS, base: capacity * MS, every };
            let state = Vegas::start(&params, &crate::testkit::PATH);
            settles(&pipe, &params, state, 2 * capacity as u32 + 40).unwrap();
        }
    }
}

/// Runs a flow until it must have settled, at one packet per round, and checks the rounds
/// after.
fn settles(
    pipe: &Pipe,
    params: &Params,
    state: <Vegas as Controller>::State,
    rounds: u32,
) -> Result<(), TestCaseError> {
    let most = (pipe.capacity() + 8.0).max(state.window.cwnd) as u32 + 1;
    let acks = rounds * most;
    let slack = if params.base.delta_rounding == Rounding::Nearest { 0.5 } else { 1e-6 };
    let mut rest = None;
    let mut seen = 0;
    let mut verdict = Ok(());
    pipe.run::<Vegas>(params, state, acks + 8 * most, |moment| {
        seen += 1;
        if seen <= acks || verdict.is_err() {
            return;
        }
        let cwnd = moment.state.window.cwnd;
        let queued = moment.in_flight - pipe.capacity();
        // The estimate is made from the window, of which a fraction is not in flight.
        let estimate = match params.base.delta_rounding {
            Rounding::Nearest => queued * cwnd / moment.in_flight,
            Rounding::None => queued,
        };
        verdict = if *rest.get_or_insert(cwnd) != cwnd {
            Err(TestCaseError::fail(std::format!("still moving: {rest:?}, {cwnd}")))
        } else if !(params.thresholds.alpha - slack..=params.thresholds.beta + slack).contains(&estimate) {
            Err(TestCaseError::fail(std::format!("backlog {queued} of {cwnd}")))
        } else {
            Ok(())
        };
    });
    verdict
}
