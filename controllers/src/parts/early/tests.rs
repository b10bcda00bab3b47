//! `spec: arumaithurai §1.5, §2.1`, Eq. 3.1, A47.

use super::*;
use crate::event::{EcnCe, PacketsAcked};
use crate::testkit::{PATH, acked, lost, marked};

/// Runs events given as (time, what) and returns the signals.
fn signals<const N: usize>(params: &Params, events: [(u64, EventKind); N]) -> [Signal; N] {
    let mut state = EarlyEcn::start(params, &PATH);
    events.map(|(now, kind)| EarlyEcn::update(params, &mut state, &Event { now: Time(now), kind }))
}

fn mark(sent_at: u64) -> EventKind {
    EventKind::EcnCe(marked(Time(sent_at)))
}

fn loss(sent_at: u64) -> EventKind {
    EventKind::PacketsLost(lost(Time(sent_at)))
}

fn ack(sent_at: u64) -> EventKind {
    EventKind::PacketsAcked(acked(1, Time(sent_at)))
}

#[test]
fn one_signal_per_flight() {
    use Signal::*;
    let events = [(100, mark(50)), (110, mark(60)), (120, loss(100)), (210, loss(101)), (220, mark(210))];
    assert_eq!(signals(&Params::default(), events), [Mild, Clear, Clear, Strong, Clear]);
}

#[test]
fn persistent_congestion_starts_over() {
    let events = [(100, mark(50)), (110, EventKind::PersistentCongestion(lost(Time(60)))), (120, loss(70))];
    assert_eq!(signals(&Params::default(), events), [Signal::Mild, Signal::TimedOut, Signal::Strong]);
}

#[test]
fn indications_add_up_over_a_round_trip() {
    use Signal::*;
    let params = Params { w2: 0.5, theta: 2.0, ..Params::default() };
    let three = EventKind::EcnCe(EcnCe { packets: 3, ..marked(Time(1)) });
    assert_eq!(signals(&params, [(10, mark(1)), (11, three)]), [Clear, Mild]);
    assert_eq!(signals(&params, [(10, three), (11, loss(2))]), [Clear, Strong]);
    let none = EventKind::EcnCe(EcnCe { packets: 0, ..marked(Time(1)) });
    assert_eq!(signals(&params, [(10, three), (11, none)]), [Clear, Mild], "a report of marks is one at least");
    // The ACK of a packet sent when the round began does not end it.
    assert_eq!(signals(&params, [(10, ack(1)), (20, three), (21, ack(10)), (22, mark(12))])[3], Mild);
    // The ACK of a packet sent after the round began ends it, and what it had counted.
    let events = [(10, ack(1)), (20, three), (21, ack(11)), (22, mark(12)), (30, ack(15)), (31, three), (32, mark(14))];
    assert_eq!(signals(&params, events), [Clear, Clear, Clear, Clear, Clear, Mild, Clear]);
}

#[test]
fn a_weight_of_nothing_is_deafness() {
    let params = Params { w1: 0.0, w2: 0.0, w3: 0.0, ..Params::default() };
    assert_eq!(signals(&params, [(10, mark(1)), (11, loss(2))]), [Signal::Clear; 2]);
    assert_eq!(EarlyEcn::needs(&params), Signals::ACKS);
    assert_eq!((EarlyEcn::ecn(&params), EarlyEcn::ecn(&Params::default())), (Ecn::NotEct, Ecn::Ect0));
}

#[test]
fn congestion_indications_count_where_they_weigh() {
    let echo = EventKind::PacketsAcked(PacketsAcked { congestion_indication: Some(true), ..acked(1, Time(5)) });
    assert_eq!(signals(&Params::default(), [(10, echo)]), [Signal::Clear]);
    let params = Params { w3: 1.0, ..Params::default() };
    assert_eq!(signals(&params, [(10, echo), (11, echo)]), [Signal::Mild, Signal::Clear]);
    assert!(EarlyEcn::needs(&params).contains(Signals::CONGESTION_INDICATION));
}
