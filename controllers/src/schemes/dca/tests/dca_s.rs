//! `spec: cho §3.2–§3.5` for one flow. That it is Reno with `gamma=1` is in
//! `tests/it/equivalences.rs` (D6).

use super::super::*;
use crate::event::{PacketsAcked, SpuriousLoss};
use crate::parts::window_controller::WindowController;
use crate::schemes::dca::Range;
use crate::testkit::{PATH, acked, cases, lost, marked, one_of, rtt, step};
use crate::{Controller, EventKind, Parameters, Span, Time};
use proptest::prelude::*;

type DcaS = WindowController<super::super::DcaS>;

type Flow = <DcaS as Controller>::State;

const MS: u64 = 1_000_000;

/// A flow in congestion avoidance whose RTTs were between 60 and 120 ms.
fn flow(params: &Params, cwnd: f64) -> Flow {
    let mut flow = DcaS::start(params, &PATH);
    flow.scheme.range = Some(Range { min: Span(60 * MS), max: Span(120 * MS) });
    flow.window.cwnd = cwnd;
    flow.window.ssthresh = 2.0;
    flow
}

fn on(flow: Flow, ms: u64, kind: EventKind) -> Flow {
    step::<DcaS>(&Params::default(), flow, Time(ms * MS), kind)
}

fn sample(flow: Flow, ms: u64, rtt_ms: u64) -> Flow {
    on(flow, ms, EventKind::RttSampled(rtt(Span(rtt_ms * MS))))
}

/// The ACK of a packet sent so long ago, not growing the window.
fn ack(flow: Flow, ms: u64, rtt_ms: u64) -> Flow {
    let sent_at = Time((ms - rtt_ms) * MS);
    on(
        flow,
        ms,
        EventKind::PacketsAcked(PacketsAcked {
            rtt: Some(rtt(Span(rtt_ms * MS))),
            app_limited: true,
            ..acked(1, sent_at)
        }),
    )
}

fn start(cwnd: f64) -> Flow {
    flow(&Params::default(), cwnd)
}

#[test]
fn a_sign_takes_an_eighth_and_leaves_the_threshold() {
    for signal in [sample, ack] {
        let flow = signal(start(16.0), 1000, 91);
        assert_eq!((flow.window.cwnd, flow.window.ssthresh), (14.0, 2.0));
        assert!(!flow.window.recovery.in_recovery(), "growth goes on");
        assert_eq!(signal(start(16.0), 1000, 90).window.cwnd, 16.0);
    }
}

/// D5: of a round trip only the first sample is looked at, not even for the range.
#[test]
fn one_sample_per_round_trip() {
    for signal in [sample, ack] {
        let flow = signal(start(16.0), 1000, 100);
        let same = signal(flow, 1099, 100);
        assert_eq!((same.window.cwnd, same.scheme), (14.0, flow.scheme));
        assert_eq!(signal(flow, 1099, 500).scheme, flow.scheme);
        assert_eq!(signal(flow, 1100, 100).window.cwnd, 12.25, "sent at the very instant");
    }
}

/// `spec: cho §3.2 Congestion, Timeout`: what was sent before is no second reason to cut.
#[test]
fn after_a_loss_only_later_packets_count() {
    let losses = [EventKind::PacketsLost(lost(Time(999 * MS))), EventKind::EcnCe(marked(Time(999 * MS)))];
    for kind in losses {
        let after = on(start(16.0), 1000, kind);
        assert_eq!((after.window.cwnd, after.window.ssthresh), (8.0, 8.0));
        let mut grown = after;
        grown.window.cwnd = 9.0;
        assert_eq!(ack(grown, 1099, 100).window.cwnd, 9.0);
        assert_eq!(ack(grown, 1100, 100).window.cwnd, 9.0 * 0.875);
        // At the threshold it has yielded already.
        assert_eq!(ack(after, 1100, 100).window.cwnd, 8.0);
        // One that is not answered changes nothing.
        assert_eq!(on(after, 1050, kind), after);
    }
    let after = on(start(16.0), 1000, EventKind::PersistentCongestion(lost(Time(999 * MS))));
    assert_eq!((after.window.cwnd, after.window.ssthresh, after.scheme.next), (2.0, 8.0, Time(1000 * MS)));
}

/// `spec: cho §3.5`: below the threshold the flow is in slow start again.
#[test]
fn a_cut_may_lead_back_into_slow_start() {
    let mut flow = start(16.0);
    flow.window.ssthresh = 15.0;
    let flow = ack(flow, 1000, 100);
    assert_eq!(flow.window.cwnd, 14.0);
    assert_eq!(ack(flow, 1100, 100).window.cwnd, 14.0, "where signs cut nothing");
    let grown = on(flow, 1101, EventKind::PacketsAcked(acked(1, Time(1050 * MS))));
    assert_eq!(grown.window.cwnd, 15.0);
}

#[test]
fn a_loss_taken_back_does_not_give_back_what_delay_took_since() {
    let sorry = EventKind::SpuriousLoss(SpuriousLoss { newest_sent_at: Time(0) });
    let mut flow = on(start(16.0), 1000, EventKind::PacketsLost(lost(Time(999 * MS))));
    assert_eq!(on(flow, 1010, sorry).window.cwnd, 16.0);
    flow.window.cwnd = 9.0;
    let flow = ack(flow, 1100, 100);
    assert_eq!(on(flow, 1110, sorry).window.cwnd, 9.0 * 0.875);
}

#[test]
fn the_receivers_delay_is_not_the_paths() {
    let held = crate::event::RttSample { min: Span(60 * MS), ack_delay: Span(25 * MS), ..rtt(Span(100 * MS)) };
    assert_eq!(on(start(16.0), 1000, EventKind::RttSampled(held)).window.cwnd, 16.0);
}

#[test]
fn it_needs_no_group_and_starts_as_documented() {
    assert!(!DcaS::needs(&Params::default()).contains(Signals::GROUPS));
    let base = Params::paper().base;
    assert_eq!((base.limits.iw, base.limits.ssthresh, base.limits.max_window), (2.0, 200.0, 200.0));
}

proptest! {
    #![proptest_config(cases(10_000))]

    /// D1, D2, D5 over samples of any size.
    #[test]
    fn a_cut_is_a_fraction_or_none(
        gamma in 0.0..=1.0f64,
        alpha in 0.0..0.499f64,
        samples in prop::collection::vec((one_of([(1, (0..200 * MS).boxed()), (1, any::<u64>().boxed())]), 0..300 * MS), 1..40),
    ) {
        let params = Params { gamma, alpha, ..Params::default() };
        let mut flow = DcaS::start(&params, &PATH);
        (flow.window.cwnd, flow.window.ssthresh) = (1e6, 2.0);
        let (mut now, mut looked_at) = (0, None::<u64>);
        for (latest, wait) in samples {
            now += wait;
            let before = flow;
            flow = step::<DcaS>(&params, flow, Time(now), EventKind::RttSampled(rtt(Span(latest))));
            let looks = looked_at.is_none_or(|at| now.saturating_sub(latest) >= at);
            if looks {
                looked_at = Some(now);
            }
            let untouched = flow.scheme == before.scheme;
            prop_assert!(untouched || looks);
            prop_assert!(!looks || flow.scheme.next == Time(now));
            let Range { min, max } = flow.scheme.range.unwrap();
            let threshold = flow.scheme.range.unwrap().threshold(gamma);
            prop_assert!(min.millis() <= threshold && threshold <= max.millis() * (1.0 + 1e-12));
            let cut = flow.window.cwnd != before.window.cwnd;
            let whole = before.window.cwnd;
            prop_assert!(!cut || flow.window.cwnd == (whole - alpha * whole).max(2.0));
            prop_assert!(!cut || looks && min < max, "no range, no sign");
            let beyond = looks && Span(latest).millis() > threshold * (1.0 + 1e-9);
            prop_assert!(!beyond || alpha == 0.0 || cut || whole == 2.0);
            prop_assert_eq!(flow.window.ssthresh, 2.0);
        }
    }
}
