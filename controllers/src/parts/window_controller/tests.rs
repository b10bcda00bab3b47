//! Which function of a scheme is called when, with what.

use super::*;
use crate::event::{IdleRestart, PacketsAcked, SpuriousLoss};
use crate::parts::base::Base;
use crate::parts::recovery::Response;
use crate::testkit::{self, MTU, PATH, acked, lost, marked};
use crate::{Parameters, Span, parameters};

parameters! {
    /// Parameters of [`Recorder`].
    pub struct Params {
        @base Base, paper Base::sharma_limited();
    }
}

/// Reno that records its calls.
#[derive(Debug)]
struct Recorder;

#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Notes {
    underutilized: Span,
    flight: Option<u64>,
    undone: u32,
    restarted: u32,
    ratio: f64,
}

impl WindowScheme for Recorder {
    const INFO: Info = Info { name: "recorder", summary: "", source: "", fallback: None };
    type Params = Params;
    type State = Notes;
    type Group = ();

    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        acked / flow.cwnd
    }
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        flow.state.flight = flow.event.flight();
        Response::to(0.75 * flow.cwnd)
    }
    fn on_persistent_congestion(flow: &mut Flow<'_, Self>) -> f64 {
        flow.state.flight = flow.event.flight();
        0.25 * flow.cwnd
    }
    fn on_spurious_loss(flow: &mut Flow<'_, Self>) {
        flow.state.undone += 1;
    }
    fn on_underutilized(flow: &mut Flow<'_, Self>, span: Span) {
        flow.state.underutilized = flow.state.underutilized + span;
    }
    fn on_idle_restart(flow: &mut Flow<'_, Self>) {
        flow.state.restarted += 1;
    }
    fn on_mtu_update(flow: &mut Flow<'_, Self>, ratio: f64) {
        flow.state.ratio = ratio;
    }
}

type Recorded = State<Notes>;

fn flow(params: &Params, cwnd: f64, ssthresh: f64) -> Recorded {
    let mut state = WindowController::<Recorder>::start(params, &PATH);
    state.window.cwnd = cwnd;
    state.window.ssthresh = ssthresh;
    state
}

fn step(params: &Params, state: Recorded, now: u64, kind: EventKind) -> Recorded {
    testkit::step::<WindowController<Recorder>>(params, state, Time(now), kind)
}

fn limited(sent_at: u64) -> EventKind {
    EventKind::PacketsAcked(PacketsAcked { app_limited: true, ..acked(1, Time(sent_at)) })
}

#[test]
fn time_limited_by_the_application_is_reported_once() {
    let params = Params::default();
    let mut state = flow(&params, 20.0, 10.0);
    state = step(&params, state, 100, EventKind::PacketsAcked(acked(1, Time(50))));
    assert_eq!(state.scheme.underutilized, Span(0));
    state = step(&params, state, 130, limited(60));
    assert_eq!(state.scheme.underutilized, Span(30));
    // Idle from 140 to 190: the ACK after it does not count that again.
    state = step(&params, state, 190, EventKind::IdleRestart(IdleRestart { idle: Span(50), pto: Span(1000) }));
    assert_eq!(state.scheme.underutilized, Span(80));
    state = step(&params, state, 200, limited(190));
    assert_eq!(state.scheme.underutilized, Span(90));
    assert_eq!(state.window.cwnd, 20.05);
}

#[test]
fn the_flight_includes_what_was_lost() {
    let params = Params::default();
    let start = flow(&params, 20.0, 10.0);
    let after = step(&params, start, 100, EventKind::PacketsLost(lost(Time(50))));
    assert_eq!(after.scheme.flight, Some(10 * u64::from(MTU)));
    let after = step(&params, start, 100, EventKind::EcnCe(marked(Time(50))));
    assert_eq!(after.scheme.flight, Some(10 * u64::from(MTU)));
    let after = step(&params, start, 100, EventKind::PersistentCongestion(lost(Time(50))));
    assert_eq!((after.window.ssthresh, after.window.cwnd), (5.0, 2.0));
}

/// `RFC 9438 §4.9.2`.
#[test]
fn an_unfounded_response_is_taken_back_unless_outgrown() {
    let params = Params::default();
    let start = flow(&params, 20.0, f64::INFINITY);
    let spurious = EventKind::SpuriousLoss(SpuriousLoss { newest_sent_at: Time(50) });
    let cut = step(&params, start, 100, EventKind::PacketsLost(lost(Time(50))));
    assert_eq!((cut.window.cwnd, cut.window.reduced), (15.0, true));
    let back = step(&params, cut, 110, spurious);
    assert_eq!((back.window.cwnd, back.window.ssthresh, back.scheme.undone), (20.0, f64::INFINITY, 1));
    assert!(!back.window.reduced && !back.window.ever_reduced && !back.window.recovery.in_recovery());
    assert_eq!(step(&params, back, 120, spurious), back, "only once");

    let mut grown = cut;
    grown.window.cwnd = 20.5;
    let kept = step(&params, grown, 110, spurious);
    assert_eq!((kept.window.cwnd, kept.window.ssthresh, kept.scheme.undone), (20.5, 15.0, 0));

    let over = step(&params, cut, 110, EventKind::PersistentCongestion(lost(Time(105))));
    assert_eq!(step(&params, over, 120, spurious), over, "a timeout is final");
}

#[test]
fn a_long_idle_period_restarts_a_larger_window() {
    let params = Params::default();
    let idle = EventKind::IdleRestart(IdleRestart { idle: Span(200), pto: Span(100) });
    let restarted = step(&params, flow(&params, 20.0, 10.0), 300, idle);
    assert_eq!((restarted.window.cwnd, restarted.scheme.restarted), (10.0, 1));
    let small = step(&params, flow(&params, 8.0, 4.0), 300, idle);
    assert_eq!((small.window.cwnd, small.scheme.restarted), (8.0, 0));
    let short = EventKind::IdleRestart(IdleRestart { idle: Span(100), pto: Span(100) });
    assert_eq!(step(&params, flow(&params, 20.0, 10.0), 300, short).window.cwnd, 20.0);
}

#[test]
fn a_new_datagram_size_keeps_the_bytes() {
    let params = Params::default();
    let resized = step(&params, flow(&params, 20.0, 10.0), 100, EventKind::MtuUpdated(2 * MTU));
    assert_eq!((resized.window.cwnd, resized.window.ssthresh, resized.scheme.ratio), (10.0, 5.0, 0.5));
}

/// `spec: sharma §1.7`: never again after a reduction, until a timeout.
#[test]
fn limited_slow_start_returns_with_a_timeout() {
    let params = Params::paper();
    let grown = |state: Recorded| step(&params, state, 1000, EventKind::PacketsAcked(acked(1, Time(900)))).window.cwnd;
    let mut state = flow(&params, 200.0, 1000.0);
    assert_eq!(grown(state), 200.25);
    state.window.reduced = true;
    assert_eq!(grown(state), 201.0);
    state = step(&params, state, 100, EventKind::PersistentCongestion(lost(Time(50))));
    (state.window.cwnd, state.window.ssthresh) = (200.0, 1000.0);
    assert_eq!(grown(state), 200.25);
}

/// Flows of one member (a path that moved) would otherwise share a window.
#[test]
fn a_scheme_without_groups_leaves_the_table_alone() {
    let params = Params::default();
    let mut members = [crate::Member { cwnd: 3.0, ..crate::Member::new(0) }; 2];
    let before = members;
    let mut state = flow(&params, 20.0, 10.0);
    let event = Event { now: Time(9), kind: EventKind::PacketsLost(lost(Time(8))) };
    let table = crate::Table { shared: &mut (), members: &mut members, me: 1 };
    let before_step = state;
    WindowController::<Recorder>::step(&params, &mut state, table, &event);
    assert_eq!(state.window.cwnd, 15.0);
    assert_eq!(members, before);
    let view = View { shared: &(), members: &members, me: 1 };
    assert_eq!(WindowController::<Recorder>::decide(&params, &before_step, view).cwnd, 20 * u64::from(MTU));
}
