use std::sync::mpsc::{Receiver, channel};

use crate::{Recorder, StateVariables};
use windlass_controllers::{Decision, Event, EventKind, Path};

use super::*;

const MS: u64 = 1_000_000;

struct Events(std::sync::Mutex<std::sync::mpsc::Sender<Event>>);

impl Recorder for Events {
    fn record(&mut self, event: &Event, _: &Decision, _: &StateVariables<'_>) {
        self.0.lock().unwrap().send(*event).unwrap();
    }
}

/// A path of `controller` with datagrams of 1000 bytes, and the events its flow gets.
fn path(controller: &str, signals: u32) -> (StackPath, Receiver<Event>) {
    let (sender, events) = channel();
    let recorder = Events(std::sync::Mutex::new(sender));
    let start = Path::new(Time(0), 1000, 1);
    let flow = Flow::ungrouped_with(NamedController::read(controller).unwrap(), &start, Some(Box::new(recorder)));
    (StackPath::new(flow, Time(0), 1000, signals), events)
}

fn packet(number: u64, sent_ms: u64) -> Packet {
    Packet { number, sent_ns: sent_ms * MS, bytes: 1000, ..Packet::default() }
}

fn rtt(latest_ms: u64) -> abi::Rtt {
    abi::Rtt { latest_ns: latest_ms * MS, ..abi::Rtt::default() }
}

fn acked(now_ms: u64, before: u64, after: u64) -> abi::Acked {
    abi::Acked {
        now_ns: now_ms * MS,
        in_flight_before: before,
        in_flight: after,
        one_way_ns: 0,
        delivered: 0,
        packets: std::ptr::null(),
        packet_count: 0,
        flags: 0,
    }
}

fn lost(now_ms: u64, before: u64, after: u64) -> abi::Lost {
    abi::Lost {
        now_ns: now_ms * MS,
        in_flight_before: before,
        in_flight: after,
        packets: std::ptr::null(),
        packet_count: 0,
        flags: 0,
    }
}

#[test]
fn a_frame_reaches_the_controller_in_the_contracts_order() {
    let (mut path, events) = path("reno", abi::signal::PACKET_NUMBERS);
    path.on_rtt(50 * MS, &rtt(50)).unwrap();
    path.on_acked(&acked(50, 4000, 3000), &[packet(0, 0)]).unwrap();
    let [Event { kind: EventKind::PacketsAcked(acks), .. }] = events.try_iter().collect::<Vec<_>>()[..] else {
        panic!("the sample rides in the acknowledgement")
    };
    assert_eq!((acks.rtt.unwrap().latest, acks.newest_pn), (Span::from_millis(50), Some(0)));
    path.on_rtt(60 * MS, &rtt(50)).unwrap();
    path.on_ecn_ce(60 * MS, 2, (10 * MS, 3), 3000).unwrap();
    path.on_lost(&lost(60, 3000, 2000), &[packet(1, 1)]).unwrap();
    path.on_acked(&acked(60, 2000, 0), &[packet(2, 2), packet(3, 10)]).unwrap();
    let kinds: Vec<EventKind> = events.try_iter().map(|event| event.kind).collect();
    let [
        EventKind::RttSampled(_),
        EventKind::EcnCe(marks),
        EventKind::PacketsLost(losses),
        EventKind::PacketsAcked(acks),
    ] = kinds[..]
    else {
        panic!("{kinds:?}")
    };
    assert_eq!((marks.packets, marks.newest_sent_at, marks.newest_pn), (2, Time(10 * MS), Some(3)));
    assert_eq!((losses.bytes, losses.in_flight_before, losses.in_flight), (1000, 3000, 2000));
    assert_eq!((acks.packets, acks.bytes, acks.delivered, acks.rtt), (2, 2000, 3000, None));
    path.on_rtt(70 * MS, &rtt(50)).unwrap();
    path.on_timer(80 * MS);
    let kinds: Vec<EventKind> = events.try_iter().map(|event| event.kind).collect();
    assert!(matches!(kinds[..], [EventKind::RttSampled(_), EventKind::TimerExpired]), "{kinds:?}");
}

#[test]
fn estimates_that_the_stack_does_not_report_are_worked_out() {
    let (mut path, _events) = path("reno", 0);
    assert_eq!(path.decision().pacing_rate, 0);
    path.on_rtt(0, &rtt(80)).unwrap();
    path.on_rtt(1, &abi::Rtt { latest_ns: 160 * MS, ack_delay_ns: 40 * MS, ..abi::Rtt::default() }).unwrap();
    let sample = path.latest_rtt.unwrap();
    assert_eq!((sample.smoothed, sample.variation), (Span::from_millis(85), Span::from_millis(40)));
    assert_eq!(sample.min, Span::from_millis(80));
    path.on_rtt(
        2,
        &abi::Rtt { latest_ns: 90 * MS, smoothed_ns: 7 * MS, variation_ns: 5 * MS, min_ns: 3 * MS, ack_delay_ns: 0 },
    )
    .unwrap();
    let sample = path.latest_rtt.unwrap();
    assert_eq!((sample.smoothed, sample.variation, sample.min), (Span(7 * MS), Span(5 * MS), Span(3 * MS)));
    assert_eq!(path.on_rtt(3, &rtt(0)), Err(Invalid));
}

#[test]
fn losses_one_after_the_other_may_be_persistent_congestion() {
    let kind = |packets: &[Packet], signals, flags| {
        let (mut path, events) = path("reno", signals);
        path.on_rtt(0, &rtt(10)).unwrap();
        path.on_timer(1);
        events.try_iter().for_each(drop);
        path.on_lost(&abi::Lost { flags, ..lost(2000, 3000, 0) }, packets).unwrap();
        events.try_recv().unwrap().kind
    };
    let is_persistent = |kind| matches!(kind, EventKind::PersistentCongestion(_));
    // Three probe timeouts are 3 · (10 + 4 · 5 + 25) ms.
    let long = [packet(5, 1), packet(6, 80), packet(7, 167)];
    assert!(is_persistent(kind(&long, abi::signal::PACKET_NUMBERS, 0)));
    assert!(
        !is_persistent(kind(&[packet(5, 1), packet(6, 166)], abi::signal::PACKET_NUMBERS, 0)),
        "not longer than that"
    );
    assert!(
        !is_persistent(kind(&[packet(5, 1), packet(7, 167)], abi::signal::PACKET_NUMBERS, 0)),
        "what is between may have arrived"
    );
    assert!(!is_persistent(kind(&long, 0, 0)), "no numbers");
    assert!(is_persistent(kind(&long[..1], 0, abi::lost::PERSISTENT)), "the stack says so");
}

#[test]
fn a_stack_reports_deliveries_itself_or_each_packet_sent() {
    let delivery = |events: &Receiver<Event>| {
        events.try_iter().find_map(|event| match event.kind {
            EventKind::PacketsAcked(acks) => Some((acks.delivery, acks.newest_in_flight, acks.delivered)),
            _ => None,
        })
    };
    let (mut path, events) = path("bbr", abi::signal::SENT);
    for (number, at) in [(0, 1), (1, 2)] {
        let in_flight = (number + 1) * 1000;
        path.on_sent(&abi::Sent { now_ns: at * MS, number, in_flight, bytes: 1000, flags: 0 }).unwrap();
    }
    path.on_acked(&acked(50, 2000, 0), &[packet(0, 1), packet(1, 2)]).unwrap();
    let expected = Delivery::new(0, Time(MS), Time(MS));
    assert_eq!(delivery(&events), Some((Some(expected), Some(2000), 2000)));
    let reported = Packet {
        flags: abi::packet::DELIVERY | abi::packet::APP_LIMITED,
        delivered: 7000,
        delivered_ns: 40 * MS,
        delivered_sent_ns: 3 * MS,
        lost: 500,
        in_flight: 4000,
        count: 3,
        ..packet(4, 45)
    };
    path.on_acked(&abi::Acked { delivered: 9000, ..acked(90, 2000, 0) }, &[reported]).unwrap();
    let expected = Delivery::new(7000, Time(40 * MS), Time(3 * MS)).with_lost(500).with_app_limited(true);
    assert_eq!(delivery(&events), Some((Some(expected), Some(4000), 9000)));
}

#[test]
fn an_idle_period_ends_with_the_next_packet() {
    let (mut path, events) = path("reno", 0);
    let sent = |at: u64| abi::Sent { now_ns: at * MS, number: at, in_flight: 1000, bytes: 1000, flags: 0 };
    path.on_sent(&sent(1)).unwrap();
    path.on_rtt(50 * MS, &rtt(49)).unwrap();
    path.on_acked(&acked(50, 1000, 0), &[packet(1, 1)]).unwrap();
    events.try_iter().for_each(drop);
    path.on_sent(&sent(950)).unwrap();
    let EventKind::IdleRestart(idle) = events.try_recv().unwrap().kind else { panic!("an idle restart") };
    assert_eq!(idle.idle, Span::from_millis(900));
    assert_eq!(path.on_sent(&abi::Sent { bytes: 0, ..sent(951) }), Err(Invalid));
    assert_eq!(path.on_sent(&abi::Sent { in_flight: 999, ..sent(951) }), Err(Invalid));
}

#[test]
fn an_ack_of_more_than_was_in_flight_is_refused_and_changes_nothing() {
    let (mut path, events) = path("reno", 0);
    let before = path.decision();
    let much = Packet { bytes: 1 << 30, ..packet(1, 1) };
    assert_eq!(path.on_acked(&acked(50, 12_000, 0), &[much]), Err(Invalid));
    assert_eq!((path.decision(), events.try_iter().count()), (before, 0));
    let sent = abi::Sent { now_ns: 1, number: 1, in_flight: 1000, bytes: 1000, flags: 0 };
    path.on_sent(&sent).unwrap();
    path.on_acked(&acked(50, 0, 0), &[packet(1, 1)]).unwrap();
    assert_eq!(path.on_acked(&acked(51, 0, 0), &[packet(1, 1)]), Err(Invalid), "acknowledged twice");
}

#[test]
fn no_rtt_is_longer_than_a_day_and_no_rate_is_none() {
    let (mut path, _) = path("reno", 0);
    for latest_ns in [0, LONGEST_RTT + 1, u64::MAX] {
        assert_eq!(path.on_rtt(MS, &abi::Rtt { latest_ns, ..abi::Rtt::default() }), Err(Invalid));
    }
    assert_eq!(path.on_rtt(MS, &abi::Rtt { min_ns: u64::MAX, ..rtt(40) }), Err(Invalid));
    path.on_rtt(MS, &abi::Rtt { latest_ns: LONGEST_RTT, ..abi::Rtt::default() }).unwrap();
    assert_eq!(path.decision().pacing_rate, 1);
}

#[test]
fn time_that_goes_back_stands_still() {
    let (mut path, events) = path("reno", 0);
    path.on_timer(50 * MS);
    path.on_timer(20 * MS);
    path.on_sent(&abi::Sent { now_ns: 10, number: 1, in_flight: 1000, bytes: 1000, flags: 0 }).unwrap();
    path.on_acked(&acked(30, 1000, 0), &[packet(1, 90)]).unwrap();
    assert_eq!(events.try_iter().map(|event| event.now.0 / MS).collect::<Vec<_>>(), [50, 50, 50]);
}

/// Nine acknowledgements, one a round trip, with one-way delays or without.
fn nine_rounds(path: &mut StackPath, flags: u32) -> Option<FellBack> {
    for round in 1..=9 {
        assert_eq!(path.fall_back(), None, "round {round}");
        path.on_rtt(50 * round * MS, &rtt(50)).unwrap();
        let acked = abi::Acked { flags, ..acked(50 * round, 1000, 0) };
        path.on_acked(&acked, &[packet(round, 50 * (round - 1))]).unwrap();
    }
    path.fall_back()
}

#[test]
fn a_controller_whose_one_way_delays_never_come_goes_on_with_its_fallback() {
    for controller in ["ledbat", "tcp-lp"] {
        let (mut path, events) = path(controller, 0);
        let fell_back = nine_rounds(&mut path, 0).unwrap();
        assert_eq!(fell_back.controller, Some(format!("{controller}:fallback=on")));
        assert_eq!(events.try_iter().count(), 9, "what is recorded ends with the last event before");
        assert_eq!(path.fall_back(), None, "once");
        let new = Path::new(Time(0), 1000, 1);
        let new = Flow::ungrouped(NamedController::read(&format!("{controller}:fallback=on")).unwrap(), &new);
        assert_eq!(path.decision().cwnd, new.cwnd());
    }
}

#[test]
fn a_controller_keeps_its_one_way_delays() {
    let (mut path, _events) = path("ledbat", 0);
    assert_eq!(nine_rounds(&mut path, abi::acked::ONE_WAY), None);
}
