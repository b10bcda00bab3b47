//! `spec: chan §1.4, §1.5, §1.7, §3.6, §3.7, §3.8`, on plain Vegas.

use super::*;
use crate::Parameters;
use crate::event::SpuriousLoss;
use crate::parts::vegas::{GrowthGate, LossArith, Thresholds};
use crate::schemes::vegas::{Choices, Params};
use crate::testkit::driven::{Driven, MS, trip};
use crate::testkit::{self, MTU, acked};

type Flow = Driven<Choices>;

fn paper() -> Params {
    Params::paper()
}

fn with(base: Common) -> Params {
    Params { base, ..Params::default() }
}

/// A flow in the middle of a growing round.
fn growing(params: Params, cwnd: f64) -> Flow {
    let mut flow = Flow::avoiding(params, cwnd, 100 * MS);
    flow.decide();
    assert_eq!(flow.state.incr, 1.0 / cwnd);
    flow
}

#[test]
fn the_first_ack_holds_and_slow_start_doubles_every_other_round() {
    let mut flow = Flow::new(paper());
    let mut windows = [0.0; 7];
    for window in &mut windows {
        flow.full_round(trip(100 * MS));
        *window = flow.cwnd();
    }
    assert_eq!(windows, [1.0, 2.0, 2.0, 4.0, 4.0, 8.0, 8.0]);
}

#[test]
fn samples_of_the_ack_that_ends_a_round_belong_to_the_next() {
    let mut flow = Flow::measured(paper(), 10.0, 2.0, trip(100 * MS), trip(125 * MS));
    flow.round(&[trip(500 * MS)]);
    assert_eq!(flow.delta(), Some(2.0));
    flow.state.window.cwnd = 10.0;
    flow.decide();
    assert_eq!(flow.delta(), Some(8.0));
}

#[test]
fn a_sample_that_comes_before_its_frames_losses_waits_for_the_acknowledgements() {
    let mut flow = Flow::measured(paper(), 10.0, 2.0, trip(100 * MS), trip(125 * MS));
    flow.apply(EventKind::RttSampled(testkit::rtt(Span(500 * MS))));
    flow.decide();
    assert_eq!(flow.delta(), Some(2.0), "not yet in");
    flow.decide();
    assert_eq!(flow.delta(), Some(8.0));
    // One that nothing follows is not lost either.
    flow.state.window.cwnd = 10.0;
    flow.apply(EventKind::RttSampled(testkit::rtt(Span(200 * MS))));
    flow.apply(EventKind::RttSampled(testkit::rtt(Span(500 * MS))));
    flow.decide();
    assert_eq!(flow.delta(), Some(5.0));
}

#[test]
fn a_round_without_samples_only_stops_growth() {
    let mut flow = growing(paper(), 10.0);
    let before = flow.state;
    flow.decide();
    flow.state.acting = before.acting;
    assert_eq!((flow.state.incr, flow.cwnd()), (0.0, 10.0));
    assert_eq!((flow.state.delta, flow.state.source), (before.delta, before.source));
}

#[test]
fn growth_is_spread_over_the_acks_and_counts_their_packets() {
    let mut flow = growing(Params::default(), 10.0);
    let two = |flow: &Flow| PacketsAcked {
        newest_sent_at: Time(1),
        bytes: 2 * u64::from(MTU),
        fresh_bytes: 2 * u64::from(MTU),
        packets: 2,
        ..flow.ack(trip(100 * MS))
    };
    for _ in 0..5 {
        flow.apply(EventKind::PacketsAcked(two(&flow)));
    }
    testkit::assert_close(flow.cwnd(), 11.0, 1e-12);
    // The document counts ACKs.
    let mut flow = growing(paper(), 10.0);
    flow.apply(EventKind::PacketsAcked(two(&flow)));
    assert_eq!(flow.cwnd(), 10.1);
}

#[test]
fn growth_waits_for_the_window_to_be_used() {
    for (params, idle_packets, grows) in [
        (Params::default(), 2, true),
        (Params::default(), 3, false),
        (paper(), 1, true),
        (paper(), 2, false),
        (with(Common { growth_gate: GrowthGate::Off, ..paper().base }), 10, true),
        (with(Common { max_gap: 5.0, ..Common::default() }), 5, true),
    ] {
        let mut flow = growing(params, 10.0);
        let before = (10 - idle_packets) * u64::from(MTU);
        let ack = PacketsAcked {
            in_flight_before: before,
            in_flight: before.saturating_sub(u64::from(MTU)),
            newest_sent_at: Time(1),
            ..flow.ack(trip(100 * MS))
        };
        flow.apply(EventKind::PacketsAcked(ack));
        assert_eq!(flow.cwnd() > 10.0, grows, "{idle_packets} of 10 unused, {params:?}");
    }
    let mut flow = growing(Params::default(), 10.0);
    flow.apply(EventKind::PacketsAcked(PacketsAcked {
        app_limited: true,
        newest_sent_at: Time(1),
        ..flow.ack(trip(100 * MS))
    }));
    assert_eq!(flow.cwnd(), 10.0, "held back by the application");
}

#[test]
fn doubling_stops_at_the_threshold() {
    for (params, frame_packets) in [(paper(), 1), (Params::default(), 4)] {
        let mut flow = Flow::judged(params, 8.0, 11.0, 100 * MS, 100 * MS);
        assert!(flow.state.doubling);
        for _ in 0..3 {
            let ack = PacketsAcked {
                newest_sent_at: Time(1),
                in_flight_before: 1 << 40,
                in_flight: 1 << 40,
                ..acked(frame_packets, Time(1))
            };
            flow.apply(EventKind::PacketsAcked(ack));
        }
        assert_eq!(flow.cwnd(), 11.0);
    }
}

#[test]
fn an_estimate_uses_no_more_than_was_in_flight() {
    let mut flow = Flow::measured(Params::default(), 40.0, 2.0, trip(100 * MS), trip(125 * MS));
    flow.state.round.begin(Time(1));
    for packets in [10, 20, 5] {
        let ack = PacketsAcked {
            newest_sent_at: Time(0),
            in_flight_before: packets * u64::from(MTU),
            app_limited: true,
            ..flow.ack(trip(125 * MS))
        };
        flow.apply(EventKind::PacketsAcked(ack));
    }
    let mut document = flow.clone();
    flow.decide();
    assert_eq!(flow.delta(), Some(4.0));
    document.params = paper();
    document.decide();
    assert_eq!(document.delta(), Some(8.0));
}

#[test]
fn what_is_in_flight_above_the_window_is_not_its_backlog() {
    let mut flow = Flow::measured(Params::default(), 40.0, 2.0, trip(100 * MS), trip(125 * MS));
    flow.state.window.cwnd = 20.0;
    flow.decide();
    assert_eq!(flow.delta(), Some(4.0));
}

#[test]
fn a_loss_reduces_once_for_all_that_was_sent_before_and_enters_avoidance() {
    let mut flow = Flow::measured(Params::default(), 40.0, f64::INFINITY, trip(100 * MS), trip(125 * MS));
    let sent_at = flow.now;
    flow.lose(sent_at, 1);
    assert_eq!((flow.cwnd(), flow.state.window.ssthresh, flow.state.incr), (30.0, 2.0, 0.0));
    let cut_at = flow.now;
    flow.lose(cut_at, 1);
    flow.apply(EventKind::EcnCe(testkit::marked(Time(cut_at))));
    assert_eq!(flow.cwnd(), 30.0, "sent before the reduction");
    flow.decide();
    assert_eq!(flow.delta(), Some(0.0), "samples of before the loss are dropped");
    flow.lose(cut_at + 1, 2);
    assert_eq!(flow.cwnd(), 15.0);
}

#[test]
fn a_mark_is_the_loss_of_a_first_transmission() {
    let mut flow = Flow::avoiding(Params::default(), 40.0, 100 * MS);
    flow.apply(EventKind::EcnCe(testkit::marked(Time(flow.now))));
    assert_eq!(flow.cwnd(), 30.0);
}

#[test]
fn what_was_sent_before_a_loss_says_nothing_of_the_window_after_it() {
    for (params, delta) in [(Params::default(), Some(0.0)), (paper(), Some(15.0))] {
        let mut flow = Flow::avoiding(params, 40.0, 100 * MS);
        flow.decide();
        flow.lose_one(1);
        let cut_at = flow.now;
        // Of the same round, sent before the reduction.
        let stale = PacketsAcked {
            newest_sent_at: Time(cut_at),
            in_flight_before: 40 * u64::from(MTU),
            ..flow.ack(trip(200 * MS))
        };
        flow.apply(EventKind::PacketsAcked(stale));
        assert_eq!(flow.cwnd(), 30.0, "nor does it grow it");
        flow.decide();
        assert_eq!(flow.delta(), delta);
    }
}

#[test]
fn persistent_congestion_starts_over_from_two_packets() {
    let mut flow = growing(paper(), 40.0);
    let base = flow.state.source;
    flow.apply(EventKind::PersistentCongestion(testkit::lost(Time(flow.now))));
    assert_eq!((flow.cwnd(), flow.state.window.ssthresh, flow.state.incr), (2.0, 20.0, 0.0));
    assert!(flow.state.window.in_slow_start());
    assert_eq!(flow.state.source, base, "the base RTT is kept");
    // It is a reduction of its own (CWNDCT).
    let sent_before = flow.now;
    flow.state.window.cwnd = 16.0;
    flow.lose(sent_before, 1);
    assert_eq!(flow.cwnd(), 16.0);
    flow.lose(sent_before + 1, 1);
    assert_eq!(flow.cwnd(), 12.0);
}

#[test]
fn no_window_falls_below_two() {
    let mut flow = Flow::avoiding(Params::default(), 2.0, 100 * MS);
    flow.lose_one(2);
    assert_eq!(flow.cwnd(), 2.0);
    flow.apply(EventKind::PersistentCongestion(testkit::lost(Time(flow.now))));
    assert_eq!((flow.cwnd(), flow.state.window.ssthresh), (2.0, 2.0));
    let flow = Flow::judged(
        Params { thresholds: Thresholds { alpha: 0.0, beta: 0.5 }, ..paper() },
        2.0,
        2.0,
        100 * MS,
        900 * MS,
    );
    assert_eq!(flow.cwnd(), 2.0);
    let flow = Flow::judged(with(Common { gamma: 0.5, ..paper().base }), 2.2, 100.0, 100 * MS, 900 * MS);
    assert_eq!((flow.cwnd(), flow.state.window.ssthresh), (2.0, 2.0), "the eighth that ends slow start");
}

#[test]
fn a_spurious_loss_is_taken_back() {
    let mut flow = Flow::avoiding(Params::default(), 40.0, 100 * MS);
    flow.state.window.ssthresh = f64::INFINITY;
    flow.lose_one(1);
    flow.apply(EventKind::SpuriousLoss(SpuriousLoss { newest_sent_at: Time(0) }));
    assert_eq!((flow.cwnd(), flow.state.window.ssthresh), (40.0, f64::INFINITY));
    flow.apply(EventKind::SpuriousLoss(SpuriousLoss { newest_sent_at: Time(0) }));
    assert_eq!(flow.cwnd(), 40.0, "once");
}

#[test]
fn an_idle_flow_starts_a_new_round_and_keeps_its_window() {
    let idle = |ms| EventKind::IdleRestart(IdleRestart { idle: Span(ms * MS), pto: Span(300 * MS) });
    let mut flow = growing(Params::default(), 40.0);
    flow.apply(idle(300));
    assert!(flow.state.incr > 0.0, "no longer than a probe timeout");
    let sent_before = Time(flow.now);
    flow.apply(idle(301));
    assert_eq!((flow.cwnd(), flow.state.incr), (40.0, 0.0));
    assert!(!flow.state.round.ends(sent_before));
    assert!(flow.state.round.ends(Time(flow.now)));
    let mut restarted = growing(Params::default(), 40.0);
    restarted.params.base.base.idle_restart = true;
    restarted.apply(idle(301));
    assert_eq!(restarted.cwnd(), 10.0, "on request");
}

#[test]
fn another_datagram_size_keeps_bytes_and_growth_per_round() {
    let mut flow = growing(Params::default(), 40.0);
    flow.apply(EventKind::MtuUpdated(2 * MTU));
    assert_eq!((flow.cwnd(), flow.state.incr), (20.0, 0.05));
    let mut flow = Flow::judged(Params::default(), 8.0, f64::INFINITY, 100 * MS, 100 * MS);
    flow.apply(EventKind::MtuUpdated(2 * MTU));
    assert_eq!((flow.cwnd(), flow.state.incr), (4.0, 1.0), "doubling is doubling");
}

#[test]
fn whole_packets_as_the_document() {
    assert_eq!(paper().base.loss_arith, LossArith::Integer);
    let mut flow = Flow::avoiding(paper(), 17.6, 100 * MS);
    flow.lose_one(1);
    assert_eq!(flow.cwnd(), 13.0);
}

#[test]
fn a_timer_a_probe_or_a_group_changes_nothing() {
    let mut flow = growing(Params::default(), 40.0);
    let before = flow.state;
    for kind in [EventKind::TimerExpired, EventKind::Joined, EventKind::Left] {
        flow.apply(kind);
    }
    assert_eq!(flow.state, before);
}
