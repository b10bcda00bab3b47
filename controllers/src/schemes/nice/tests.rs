//! `spec: arumaithurai §6.3, §8 I33`.

use proptest::prelude::*;

use super::*;
use crate::testkit::cases;
use crate::testkit::driven::{Driven, MS, test_events, trip};
use crate::{Controller, View};

type Flow = Driven<Choices>;

/// A flow of `cwnd` packets, base 100 ms, that lived through a round of such RTTs.
fn after(params: Params, cwnd: f64, rtts: &[u64]) -> Flow {
    let mut flow = Flow::avoiding(params, cwnd, 100 * MS);
    flow.full_round(trip(100 * MS));
    flow.state.window.cwnd = cwnd;
    let round: std::vec::Vec<_> = rtts.iter().map(|ms| trip(ms * MS)).collect();
    flow.round(&round);
    flow.state.window.cwnd = cwnd;
    flow.decide();
    flow
}

#[test]
fn half_a_window_of_late_packets_halves() {
    let params = Params::default();
    // Late from 120 ms on: a fifth of the way from 100 to 200.
    assert_eq!(after(params, 10.0, &[121; 6]).cwnd(), 5.0);
    assert_eq!(after(params, 10.0, &[121, 121, 121, 121, 121, 100]).cwnd(), 10.0, "exactly half is not more");
    assert_eq!(after(params, 10.0, &[120; 6]).cwnd(), 10.0, "1.67 packets of backlog are Vegas' to hold");
    // A larger RTT in the round moves the threshold: 300 makes it 140.
    assert_eq!(after(params, 10.0, &[300, 139, 139, 139, 139, 139]).cwnd(), 9.0, "one late packet: Vegas' step");
}

#[test]
fn below_two_packets_it_sends_more_seldom() {
    let params = Params::default();
    let mut flow = after(params, 2.0, &[200; 2]);
    assert_eq!((flow.cwnd(), flow.state.step.0), (2.0, 8.0));
    let rate = Nice::decide(&params, &flow.state, View::solo(&())).pacing_rate.unwrap();
    // Two packets of 8000 bits every 8 rounds of 200 ms.
    assert_eq!(rate, 10_000);
    for expected in [32.0, 96.0, 96.0] {
        flow.round(&[trip(200 * MS), trip(200 * MS)]);
        flow.decide();
        assert_eq!((flow.cwnd(), flow.state.step.0), (2.0, expected));
    }
    // No backlog: two rounds fewer each time.
    flow.round(&[trip(100 * MS), trip(100 * MS)]);
    flow.decide();
    assert_eq!(flow.state.step.0, 94.0);
    let seldom = flow.state.step.0;
    flow.lose_one(1);
    assert_eq!(flow.state.step.0, seldom, "a loss is no reason to send more");
    let off = Params { most_rounds: 2.0, ..params };
    assert_eq!(after(off, 2.0, &[200; 2]).state.step.0, 2.0);
}

#[test]
fn needs_pacing_only_below_two_packets() {
    let params = Params::default();
    assert!(Choices::needs(&params).contains(Signals::PACING | Signals::RTT));
    assert!(!Choices::needs(&Params { most_rounds: 2.0, ..params }).contains(Signals::PACING));
}

proptest! {
    #![proptest_config(cases(2000))]

    /// I33: what it takes off is at least what Vegas takes off.
    #[test]
    fn it_gives_up_no_less_than_vegas(cwnd in 2.0f64..500.0, delta in 0.0f64..20.0, late in 0.0f64..1000.0) {
        let params = Params::default();
        let off = |step| if let Step::Shrink(packets) = step { packets } else { 0.0 };
        let round = RoundMeasurement { delta, delays: Delays::new(1.0, 1.0), cwnd, late };
        let vegas = ByOne::step(&params, &mut (), &round);
        let mut rounds = Rounds::default();
        let nice = Yielding::step(&params, &mut rounds, &round);
        prop_assert!(off(nice) >= off(vegas) || rounds.0 > WHOLE);
        prop_assert!(!matches!((vegas, nice), (Step::Shrink(_) | Step::Hold, Step::Grow(_))));
    }

    #[test]
    fn it_survives(test_events in test_events()) {
        Flow::new(Params::default()).survives(&test_events)?;
    }
}
