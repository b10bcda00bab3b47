//! `spec: chan §9`. That it is Reno with `gamma=1` is in `tests/it/equivalences.rs`.

use super::super::*;
use crate::parts::window_controller::WindowController;
use crate::schemes::dca::Range;
use crate::testkit::{PATH, acked, cases, lost, rtt, step};
use crate::{Controller, EventKind, Parameters, Span, Time};
use proptest::prelude::*;

type Dual = WindowController<super::super::Dual>;

type Flow = <Dual as Controller>::State;

const MS: u64 = 1_000_000;

/// A flow whose RTTs were between 60 and 120 ms; the next sample is judged.
fn flow(cwnd: f64, ssthresh: f64) -> Flow {
    let mut flow = Dual::start(&DualParams::default(), &PATH);
    flow.scheme.range = Some(Range { min: Span(60 * MS), max: Span(120 * MS) });
    flow.scheme.passed = 1;
    flow.window.cwnd = cwnd;
    flow.window.ssthresh = ssthresh;
    flow
}

fn on(flow: Flow, ms: u64, kind: EventKind) -> Flow {
    step::<Dual>(&DualParams::default(), flow, Time(ms * MS), kind)
}

/// A sample of a packet sent so long ago.
fn sample(flow: Flow, ms: u64, rtt_ms: u64) -> Flow {
    on(flow, ms, EventKind::RttSampled(rtt(Span(rtt_ms * MS))))
}

/// `spec: chan §9`: above the middle of the range an eighth goes; at it nothing.
#[test]
fn an_eighth_above_the_middle() {
    let cut = sample(flow(16.0, 15.0), 1000, 91).window;
    assert_eq!((cut.cwnd, cut.ssthresh), (14.0, 14.0), "congestion avoidance goes on");
    assert!(!cut.recovery.in_recovery());
    assert_eq!(sample(flow(16.0, 2.0), 1000, 91).window.ssthresh, 2.0);
    assert_eq!(sample(flow(16.0, 2.0), 1000, 90).window.cwnd, 16.0);
}

/// `spec: chan §9`: every second RTT.
#[test]
fn every_second_round_trip() {
    let mut flow = flow(64.0, 2.0);
    let mut windows = std::vec::Vec::new();
    for round in 0..6 {
        flow = sample(flow, 1000 + 100 * round, 100);
        // Of the same round trip.
        flow = sample(flow, 1050 + 100 * round, 100);
        windows.push(flow.window.cwnd);
    }
    assert_eq!(windows, [56.0, 56.0, 49.0, 49.0, 42.875, 42.875]);
}

/// The round trips in between still teach the range.
#[test]
fn every_round_trip_tells_of_the_range() {
    let flow = sample(sample(flow(16.0, 2.0), 1000, 70), 1300, 200);
    assert_eq!((flow.window.cwnd, flow.scheme.range.unwrap().max), (16.0, Span(200 * MS)));
}

/// In slow start the RTT rises by design; only a loss ends it.
#[test]
fn slow_start_is_left_alone() {
    let flow = sample(flow(16.0, f64::INFINITY), 1000, 110);
    assert_eq!((flow.window.cwnd, flow.window.ssthresh), (16.0, f64::INFINITY));
}

/// `spec: chan §9`: +1/cwnd; timeout to 1 packet on paper, threshold half the window; a
/// loss is Reno's.
#[test]
fn growth_loss_and_timeout() {
    assert_eq!(on(flow(16.0, 2.0), 1000, EventKind::PacketsAcked(acked(1, Time(900 * MS)))).window.cwnd, 16.0625);
    let cut = on(flow(16.0, 2.0), 1000, EventKind::PacketsLost(lost(Time(999 * MS)))).window;
    assert_eq!((cut.cwnd, cut.ssthresh), (8.0, 8.0));
    for (params, cwnd) in [(DualParams::default(), 2.0), (DualParams::paper(), 1.0)] {
        let over =
            step::<Dual>(&params, flow(16.0, 2.0), Time(MS), EventKind::PersistentCongestion(lost(Time(0)))).window;
        assert_eq!((over.cwnd, over.ssthresh), (cwnd, 8.0));
    }
}

proptest! {
    #![proptest_config(cases(1_000))]

    /// Samples take an eighth or nothing, and never two eighths within two round trips.
    #[test]
    fn at_most_an_eighth_per_two_round_trips(
        samples in prop::collection::vec((60u64..200, 0u64..300), 1..60),
        cwnd in 32.0..1e5f64,
    ) {
        let mut flow = flow(cwnd, 2.0);
        let (mut ms, mut latest): (u64, Option<u64>) = (1000, None);
        for (rtt, wait) in samples {
            ms += wait;
            let before = flow.window.cwnd;
            flow = sample(flow, ms, rtt);
            let after = flow.window.cwnd;
            if after != before {
                prop_assert_eq!(after, (before - 0.125 * before).max(2.0));
                // Two round trips: a sample in between was of a packet sent after the cut.
                prop_assert!(latest.is_none_or(|then| ms > then));
                prop_assert_eq!(flow.scheme.passed, 0);
                latest = Some(ms);
            }
        }
    }
}
