use super::*;
use std::sync::{Arc, Mutex};
use windlass_adapter::{Recorder, StateVariables};
use windlass_controllers::{Algorithm, Decision, Event, EventKind, Path as PathInfo};

const MTU: u32 = 1200;

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

fn path(controller: &str) -> (Path<Algorithm>, EventLog) {
    let start = PathInfo::new(time(1000), MTU, 1);
    let mut flow = Flow::ungrouped(Algorithm::read(controller).unwrap(), &start);
    let events = EventLog::default();
    flow.record(Box::new(events.clone()));
    (Path::new(flow, time(1000), MTU, 0), events)
}

fn send(path: &mut Path<Algorithm>, number: u64, now_us: u64, in_flight: u32) {
    path.on_sent(&abi::Sent { now_us, number, bytes: MTU, in_flight, mtu: MTU, flags: 0 });
}

fn packet(number: u64, sent_us: u64) -> abi::Packet {
    abi::Packet { number, sent_us, bytes: MTU, ..abi::Packet::default() }
}

fn acked(now_us: u64, flags: u32, packets: u32, in_flight: u32) -> abi::Acked {
    abi::Acked {
        now_us,
        largest_sent: 9,
        rtt: abi::Rtt {
            latest_us: 50_000,
            smoothed_us: 48_000,
            variation_us: 4000,
            min_us: 40_000,
            ack_delay_us: 2000,
        },
        one_way_us: -7000,
        posted: 0,
        bytes: packets * MTU,
        in_flight_before: in_flight + packets * MTU,
        in_flight,
        mtu: MTU,
        flags,
        packet_count: packets,
        packets: std::ptr::null(),
    }
}

#[test]
fn an_ack_is_one_event_with_its_sample() {
    let (mut path, events) = path("reno");
    for number in 1..=3 {
        send(&mut path, number, 1000 + number, number as u32 * MTU);
    }
    let flags = abi::acked::RTT | abi::acked::ONE_WAY | abi::acked::APP_LIMITED;
    path.on_acked(&acked(51_002, flags, 2, MTU), &[packet(1, 1001), packet(2, 1002)]);
    let events = events.drain();
    let [EventKind::PacketsAcked(acked)] = events[..] else { panic!("{events:?}") };
    assert_eq!((acked.bytes, acked.packets, acked.newest_pn), (2 * u64::from(MTU), 2, Some(2)));
    assert_eq!((acked.in_flight_before, acked.in_flight), (3 * u64::from(MTU), MTU.into()));
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
        send(&mut path, number, 1000 + number, number as u32 * MTU);
    }
    path.on_acked(&acked(51_002, 0, 2, 2 * MTU), &[packet(1, 1001), packet(2, 1002)]);
    let second = abi::Acked { in_flight_before: 4 * MTU, ..acked(51_003, 0, 1, MTU) };
    path.on_acked(&second, &[packet(3, 1003)]);
    let acked = events.drain().into_iter().map(|kind| match kind {
        EventKind::PacketsAcked(acked) => (acked.in_flight_before, acked.in_flight),
        other => panic!("{other:?}"),
    });
    let mtu = u64::from(MTU);
    assert_eq!(acked.collect::<Vec<_>>(), [(4 * mtu, 2 * mtu), (4 * mtu, mtu)]);
}

/// MsQuic does not report every packet sent to a controller that does not want them. After the loss
/// of all packets, sending is no restart from idle.
#[test]
fn sending_after_losing_everything_is_no_idle_restart() {
    let (mut path, events) = path("reno");
    assert_eq!(path.control().flags & abi::control::EVERY_SENT, 0);
    send(&mut path, 1, 1001, MTU);
    path.on_acked(&acked(51_002, 0, 1, 4 * MTU), &[packet(1, 1001)]);
    let lost = abi::Lost {
        now_us: 90_000,
        bytes: 2 * MTU,
        in_flight_before: 2 * MTU,
        in_flight: 0,
        mtu: MTU,
        flags: 0,
        packet_count: 2,
        packets: std::ptr::null(),
    };
    path.on_lost(&lost, &[packet(8, 1003), packet(9, 1004)]);
    send(&mut path, 10, 91_000, MTU);
    assert!(!events.drain().iter().any(|kind| matches!(kind, EventKind::IdleRestart(_))));
}

#[test]
fn optional_fields_are_none_without_their_flags() {
    let (mut path, events) = path("reno:iw=10");
    for number in 1..=6 {
        send(&mut path, number, 1000 + number, number as u32 * MTU);
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
        send(&mut path, number, 1000 + number, number as u32 * MTU);
    }
    path.on_acked(&acked(51_002, 0, 1, 3 * MTU), &[packet(1, 1001)]);
    assert!(matches!(events.drain()[..], [EventKind::PacketsAcked(acked)] if acked.app_limited));
    assert_eq!(path.control().cwnd, 10 * MTU);
}

#[test]
fn a_frame_without_packets_brings_its_sample_and_the_window_forgets_the_flight() {
    let (mut path, events) = path("reno");
    send(&mut path, 1, 1001, MTU);
    path.on_acked(&acked(51_002, abi::acked::RTT, 0, 0), &[]);
    assert!(matches!(events.drain()[..], [EventKind::RttSampled(_)]));
    path.on_acked(&acked(51_003, abi::acked::IMPLICIT, 0, 0), &[]);
    assert!(events.drain().is_empty());
    assert_eq!(path.path.in_flight().bytes(), 0);
}

#[test]
fn losses_marks_and_spurious_losses_are_events() {
    let (mut path, events) = path("reno");
    for number in 1..=4 {
        send(&mut path, number, 1000 + number, number as u32 * MTU);
    }
    let mut lost = abi::Lost {
        now_us: 60_000,
        bytes: 2 * MTU,
        in_flight_before: 4 * MTU,
        in_flight: 2 * MTU,
        mtu: MTU,
        flags: 0,
        packet_count: 2,
        packets: std::ptr::null(),
    };
    path.on_ecn_ce(&abi::EcnCe {
        now_us: 59_000,
        newest_number: 3,
        newest_sent_us: 1003,
        packets: 2,
        in_flight: 4 * MTU,
        mtu: MTU,
        reserved: 0,
    });
    path.on_lost(&lost, &[packet(1, 1001), packet(2, 1002)]);
    lost.flags = abi::lost::PERSISTENT;
    path.on_lost(&lost, &[packet(3, 1003)]);
    path.on_spurious_loss(&abi::SpuriousLoss { now_us: 61_000, newest_sent_us: 1003, in_flight: 0, mtu: MTU });
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
    assert_eq!((first.packets, first.bytes, first.newest_pn), (2, 2 * u64::from(MTU), Some(2)));
    assert_eq!(first.newest_sent_at, time(1002));
    assert_eq!(second.newest_pn, Some(3));
    assert_eq!(spurious.newest_sent_at, time(1003));
}

#[test]
fn a_new_datagram_size_precedes_the_event_that_carries_it() {
    let (mut path, events) = path("reno");
    path.on_sent(&abi::Sent { now_us: 1001, number: 1, bytes: 1400, in_flight: 1400, mtu: 1400, flags: 0 });
    assert_eq!(events.drain(), [EventKind::MtuUpdated(1400)]);
}

#[test]
fn sending_after_an_idle_period_is_an_event() {
    let (mut path, events) = path("reno");
    send(&mut path, 1, 1001, MTU);
    path.on_acked(&acked(51_000, abi::acked::RTT, 1, 0), &[packet(1, 1001)]);
    events.drain();
    send(&mut path, 2, 951_000, MTU);
    let [EventKind::IdleRestart(idle)] = events.drain()[..] else { panic!("no idle period") };
    assert_eq!(idle.idle, Span::from_millis(900));
    assert_eq!(idle.pto, Span(48_000_000 + 16_000_000) + windlass_adapter::rfc9002::DEFAULT_MAX_ACK_DELAY);
}

#[test]
fn the_control_is_the_decision() {
    let (mut path, _) = path("reno:iw=10");
    let control = path.control();
    assert_eq!((control.cwnd, control.ssthresh, control.pacing_rate), (10 * MTU, u32::MAX, 0));
    assert_eq!((control.phase, control.flags), (0, 0));
    for number in 1..=10 {
        send(&mut path, number, 1000 + number, number as u32 * MTU);
    }
    path.on_acked(&acked(51_000, abi::acked::RTT, 1, 9 * MTU), &[packet(1, 1001)]);
    let control = path.control();
    assert_eq!(control.cwnd, 11 * MTU, "slow start");
    let window = f64::from(control.cwnd);
    assert_eq!(control.pacing_rate, (2.0 * window * 8e9 / 48e6) as u64, "two windows per smoothed RTT");
}

#[test]
fn delivery_states_are_those_when_the_packet_was_sent() {
    let (mut path, events) = path("bbr");
    send(&mut path, 1, 1001, MTU);
    send(&mut path, 2, 1005, 2 * MTU);
    events.drain();
    path.on_acked(&acked(51_000, abi::acked::RTT, 1, MTU), &[packet(1, 1001)]);
    let events = events.drain();
    let [EventKind::PacketsAcked(acked)] = events[..] else { panic!("{events:?}") };
    assert_eq!(acked.newest_in_flight, Some(MTU.into()));
    assert_eq!(acked.delivery.unwrap().first_sent_at, time(1001));
}

#[test]
fn a_controller_whose_one_way_delays_never_come_goes_on_with_its_fallback() {
    for flags in [abi::acked::RTT, abi::acked::RTT | abi::acked::ONE_WAY] {
        let (mut path, _) = path("ledbat");
        for round in 1..=9 {
            assert_eq!(path.fall_back(), None, "round {round}");
            let at = 50_000 * round;
            send(&mut path, round, at - 50_000, MTU);
            path.on_acked(&acked(at, flags, 1, 0), &[packet(round, at - 50_000)]);
        }
        let controller = path.fall_back().and_then(|fell_back| fell_back.controller);
        let expected = (flags == abi::acked::RTT).then_some("ledbat:fallback=on");
        assert_eq!(controller.as_deref(), expected);
    }
}
