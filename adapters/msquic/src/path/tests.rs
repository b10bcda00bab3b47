use super::*;
use std::sync::{Arc, Mutex};
use windlass_adapter::{Recorder, StateVariables};
use windlass_controllers::{Algorithm, Decision, Event, EventKind, Path as PathInfo, Span};

const MTU: u64 = 1200;
const US: u64 = 1000;

/// Records every event.
#[derive(Clone, Default)]
struct EventLog(Arc<Mutex<Vec<Event>>>);

impl Recorder for EventLog {
    fn record(&mut self, event: &Event, _: &Decision, _: &StateVariables<'_>) {
        self.0.lock().unwrap().push(*event);
    }
}

impl EventLog {
    fn drain(&self) -> Vec<EventKind> {
        self.0.lock().unwrap().drain(..).map(|event| event.kind).collect()
    }
}

fn time(us: u64) -> Time {
    Time(us * US)
}

fn path(controller: &str) -> (Path<Algorithm>, EventLog) {
    let start = PathInfo::new(time(1000), MTU as u32, 1);
    let mut flow = Flow::ungrouped(Algorithm::read(controller).unwrap(), &start);
    let events = EventLog::default();
    flow.record(Box::new(events.clone()));
    (Path::new(flow, time(1000), Time::ZERO, MTU as u32, 0), events)
}

fn send(path: &mut Path<Algorithm>, number: u64, now_us: u64, in_flight: u64) {
    path.on_sent(&abi::Sent { now_ns: now_us * US, number, bytes: MTU as u32, in_flight, flags: 0 });
}

fn packet(number: u64, sent_us: u64) -> abi::Packet {
    abi::Packet { number, sent_ns: sent_us * US, bytes: MTU, ..abi::Packet::default() }
}

fn sample(path: &mut Path<Algorithm>, now_us: u64) {
    let rtt = abi::Rtt {
        latest_ns: 50_000 * US,
        smoothed_ns: 48_000 * US,
        variation_ns: 4000 * US,
        min_ns: 40_000 * US,
        ack_delay_ns: 2000 * US,
    };
    path.on_rtt(now_us * US, &rtt);
}

fn acked(now_us: u64, flags: u32, packets: u64, in_flight: u64) -> abi::Acked {
    abi::Acked {
        now_ns: now_us * US,
        in_flight_before: in_flight + packets * MTU,
        in_flight,
        one_way_ns: -7_000_000,
        delivered: 0,
        packets: std::ptr::null(),
        packet_count: packets as u32,
        flags,
    }
}

fn lost(now_us: u64, packets: u64, before: u64, flags: u32) -> abi::Lost {
    abi::Lost {
        now_ns: now_us * US,
        in_flight_before: before,
        in_flight: before - packets * MTU,
        packets: std::ptr::null(),
        packet_count: packets as u32,
        flags,
    }
}

#[test]
fn an_ack_is_one_event_with_its_sample() {
    let (mut path, events) = path("reno");
    for number in 1..=3 {
        send(&mut path, number, 1000 + number, number * MTU);
    }
    sample(&mut path, 51_002);
    let flags = abi::acked::ONE_WAY | abi::acked::APP_LIMITED;
    path.on_acked(&acked(51_002, flags, 2, MTU), &[packet(1, 1001), packet(2, 1002)]);
    let events = events.drain();
    let [EventKind::PacketsAcked(acked)] = events[..] else { panic!("{events:?}") };
    assert_eq!((acked.bytes, acked.packets, acked.newest_pn), (2 * MTU, 2, Some(2)));
    assert_eq!((acked.in_flight_before, acked.in_flight), (3 * MTU, MTU));
    assert_eq!(acked.newest_sent_at, time(1002));
    assert!(acked.app_limited);
    let rtt = acked.rtt.unwrap();
    assert_eq!((rtt.latest, rtt.min, rtt.ack_delay), (Span(50_000_000), Span(40_000_000), Span(2_000_000)));
    let one_way = acked.one_way.unwrap();
    assert_eq!((one_way.forward, one_way.backward), (-9_000_000, 57_000_000));
    assert_eq!(one_way.forward + one_way.backward, 48_000_000, "the RTT without the delay of the acknowledgement");
}

/// Of two frames read before MsQuic could send, the second counts what the first freed.
#[test]
fn frames_read_together_have_one_flight_before_them() {
    let (mut path, events) = path("reno");
    for number in 1..=4 {
        send(&mut path, number, 1000 + number, number * MTU);
    }
    path.on_acked(&acked(51_002, 0, 2, 2 * MTU), &[packet(1, 1001), packet(2, 1002)]);
    let second = abi::Acked { in_flight_before: 4 * MTU, ..acked(51_003, 0, 1, MTU) };
    path.on_acked(&second, &[packet(3, 1003)]);
    let acked = events.drain().into_iter().map(|kind| match kind {
        EventKind::PacketsAcked(acked) => (acked.in_flight_before, acked.in_flight),
        other => panic!("{other:?}"),
    });
    assert_eq!(acked.collect::<Vec<_>>(), [(4 * MTU, 2 * MTU), (4 * MTU, MTU)]);
}

/// MsQuic does not report every packet sent to a controller that does not want them. After the loss
/// of all packets, sending is no restart from idle.
#[test]
fn sending_after_losing_everything_is_no_idle_restart() {
    let (mut path, events) = path("reno");
    assert_eq!(path.decision().flags & msquic::decision::EVERY_SENT, 0);
    send(&mut path, 1, 1001, MTU);
    path.on_acked(&acked(51_002, 0, 1, 4 * MTU), &[packet(1, 1001)]);
    path.on_lost(&lost(90_000, 2, 2 * MTU, 0), &[packet(8, 1003), packet(9, 1004)]);
    send(&mut path, 10, 91_000, MTU);
    assert!(!events.drain().iter().any(|kind| matches!(kind, EventKind::IdleRestart(_))));
}

#[test]
fn optional_fields_are_none_without_their_flags() {
    let (mut path, events) = path("reno:iw=10");
    for number in 1..=6 {
        send(&mut path, number, 1000 + number, number * MTU);
    }
    path.on_acked(&acked(51_002, 0, 1, 5 * MTU), &[packet(1, 1001)]);
    let events = events.drain();
    let [EventKind::PacketsAcked(acked)] = events[..] else { panic!("{events:?}") };
    assert_eq!((acked.rtt, acked.one_way, acked.app_limited), (None, None, false));
}

#[test]
fn a_window_of_which_less_than_half_is_used_does_not_grow() {
    let (mut path, events) = path("reno:iw=10");
    for number in 1..=4 {
        send(&mut path, number, 1000 + number, number * MTU);
    }
    path.on_acked(&acked(51_002, 0, 1, 3 * MTU), &[packet(1, 1001)]);
    assert!(matches!(events.drain()[..], [EventKind::PacketsAcked(acked)] if acked.app_limited));
    assert_eq!(path.decision().cwnd, 10 * MTU);
}

#[test]
fn a_frame_without_packets_brings_its_sample_and_the_window_forgets_the_flight() {
    let (mut path, events) = path("reno");
    send(&mut path, 1, 1001, MTU);
    sample(&mut path, 51_002);
    path.on_acked(&acked(51_002, 0, 0, 0), &[]);
    assert!(matches!(events.drain()[..], [EventKind::RttSampled(_)]));
    path.on_acked(&acked(51_003, msquic::acked::IMPLICIT, 0, 0), &[]);
    assert!(events.drain().is_empty());
    assert_eq!(path.0.path().in_flight().bytes(), 0);
}

#[test]
fn losses_marks_and_spurious_losses_are_events() {
    let (mut path, events) = path("reno");
    for number in 1..=4 {
        send(&mut path, number, 1000 + number, number * MTU);
    }
    path.on_ecn_ce(59_000 * US, 2, (1003 * US, 3), 4 * MTU);
    path.on_lost(&lost(60_000, 2, 4 * MTU, 0), &[packet(1, 1001), packet(2, 1002)]);
    path.on_lost(&lost(60_000, 1, 2 * MTU, abi::lost::PERSISTENT), &[packet(3, 1003)]);
    path.on_spurious_loss(61_000 * US, 1003 * US);
    let events = events.drain();
    let [
        EventKind::EcnCe(marked),
        EventKind::PacketsLost(first),
        EventKind::PersistentCongestion(second),
        EventKind::SpuriousLoss(spurious),
    ] = events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!((marked.packets, marked.newest_sent_at, marked.newest_pn), (2, time(1003), Some(3)));
    assert_eq!((first.packets, first.bytes, first.newest_pn), (2, 2 * MTU, Some(2)));
    assert_eq!(first.newest_sent_at, time(1002));
    assert_eq!(second.newest_pn, Some(3));
    assert_eq!(spurious.newest_sent_at, time(1003));
}

/// MsQuic says what persistent congestion is, whatever the times of the packets are.
#[test]
fn losses_far_apart_are_persistent_congestion_only_if_msquic_says_so() {
    let (mut path, events) = path("reno");
    sample(&mut path, 51_002);
    path.on_acked(&acked(51_002, 0, 0, 2 * MTU), &[]);
    events.drain();
    path.on_lost(&lost(60_000_000, 2, 2 * MTU, 0), &[packet(1, 100_000), packet(2, 50_000_000)]);
    assert!(matches!(events.drain()[..], [EventKind::PacketsLost(_)]));
}

#[test]
fn a_new_datagram_size_is_an_event() {
    let (mut path, events) = path("reno");
    path.on_mtu(1001 * US, 1400);
    path.on_mtu(1002 * US, 1400);
    assert_eq!(events.drain(), [EventKind::MtuUpdated(1400)]);
}

#[test]
fn sending_after_an_idle_period_is_an_event() {
    let (mut path, events) = path("reno");
    send(&mut path, 1, 1001, MTU);
    sample(&mut path, 51_000);
    path.on_acked(&acked(51_000, 0, 1, 0), &[packet(1, 1001)]);
    events.drain();
    send(&mut path, 2, 951_000, MTU);
    let [EventKind::IdleRestart(idle)] = events.drain()[..] else { panic!("no idle period") };
    assert_eq!(idle.idle, Span::from_millis(900));
    assert_eq!(idle.pto, Span(48_000_000 + 16_000_000) + windlass_adapter::rfc9002::DEFAULT_MAX_ACK_DELAY);
}

#[test]
fn the_decision_is_the_controllers() {
    let (mut path, _) = path("reno:iw=10");
    let decision = path.decision();
    assert_eq!((decision.cwnd, decision.ssthresh, decision.pacing_rate), (10 * MTU, u64::MAX, 0));
    assert_eq!((decision.phase, decision.flags), (0, 0));
    for number in 1..=10 {
        send(&mut path, number, 1000 + number, number * MTU);
    }
    sample(&mut path, 51_000);
    path.on_acked(&acked(51_000, 0, 1, 9 * MTU), &[packet(1, 1001)]);
    let decision = path.decision();
    assert_eq!(decision.cwnd, 11 * MTU, "slow start");
    let window = decision.cwnd as f64;
    assert_eq!(decision.pacing_rate, (2.0 * window * 8e9 / 48e6) as u64, "two windows per smoothed RTT");
}

#[test]
fn delivery_states_are_those_when_the_packet_was_sent() {
    let (mut path, events) = path("bbr");
    send(&mut path, 1, 1001, MTU);
    send(&mut path, 2, 1005, 2 * MTU);
    events.drain();
    sample(&mut path, 51_000);
    path.on_acked(&acked(51_000, 0, 1, MTU), &[packet(1, 1001)]);
    let events = events.drain();
    let [EventKind::PacketsAcked(acked)] = events[..] else { panic!("{events:?}") };
    assert_eq!(acked.newest_in_flight, Some(MTU));
    assert_eq!(acked.delivery.unwrap().first_sent_at, time(1001));
}

#[test]
fn a_controller_whose_one_way_delays_never_come_goes_on_with_its_fallback() {
    for flags in [0, abi::acked::ONE_WAY] {
        let (mut path, _) = path("ledbat");
        for round in 1..=9 {
            assert_eq!(path.fall_back(), None, "round {round}");
            let at = 50_000 * round;
            send(&mut path, round, at - 50_000, MTU);
            sample(&mut path, at);
            path.on_acked(&acked(at, flags, 1, 0), &[packet(round, at - 50_000)]);
        }
        let controller = path.fall_back().and_then(|fell_back| fell_back.controller);
        let expected = (flags == 0).then_some("ledbat:fallback=on");
        assert_eq!(controller.as_deref(), expected);
    }
}
