//! s2n-quic's callbacks as events, and decisions as what s2n-quic asks for.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use crate::driver::{Driver, MTU, NullPublisher, timestamp};
use s2n_quic::provider::congestion_controller::CongestionController as _;
use windlass_controllers::event::{EcnCe, PacketsAcked, PacketsLost};
use windlass_controllers::fixed_window::{FixedWindow, Params};
use windlass_controllers::{Algorithm, Decision, Event, EventKind, Phase, Span, Time};
use windlass_s2n_quic::{Controller, Endpoint, Groups, NamedController, NewFlow, Recorder, StateVariables, Static};

const PACKET: u64 = MTU as u64;

#[derive(Clone, Default)]
struct Recorded(Arc<Mutex<Vec<(Event, Decision)>>>);

impl Recorder for Recorded {
    fn record(&mut self, event: &Event, decision: &Decision, _: &StateVariables<'_>) {
        self.0.lock().unwrap().push((*event, *decision));
    }
}

impl Recorded {
    fn take(&self) -> Vec<EventKind> {
        self.0.lock().unwrap().drain(..).map(|(event, _)| event.kind).collect()
    }

    /// The names of what was recorded since it was asked last.
    fn names(&self) -> Vec<String> {
        let name = |kind: &EventKind| format!("{kind:?}").split(['(', ' ']).next().unwrap_or_default().to_owned();
        self.take().iter().map(name).collect()
    }
}

fn peer() -> SocketAddr {
    ([192, 0, 2, 7], 443).into()
}

fn driven(controller: &str) -> (Driver<Controller>, Recorded) {
    let recorded = Recorded::default();
    let recorder = recorded.clone();
    let endpoint = Endpoint::named(controller).unwrap();
    let mut endpoint = endpoint.record_with(move |_| Box::new(recorder.clone()));
    (Driver::new(endpoint.make(peer(), MTU)), recorded)
}

fn acked(kind: &EventKind) -> PacketsAcked {
    let EventKind::PacketsAcked(acked) = kind else { panic!("{kind:?}") };
    *acked
}

fn lost(kind: &EventKind) -> PacketsLost {
    let EventKind::PacketsLost(lost) = kind else { panic!("{kind:?}") };
    *lost
}

#[test]
fn a_frame_of_acknowledgements_is_one_event_with_its_sample() {
    let (mut driver, recorded) = driven("reno");
    driver.burst(4);
    driver.now = 40_000;
    driver.ack(3);
    let kind = recorded.take();
    assert_eq!(kind.len(), 1);
    let acked = acked(&kind[0]);
    assert_eq!((acked.bytes, acked.packets, acked.fresh_bytes), (3 * PACKET, 3, 3 * PACKET));
    assert_eq!((acked.in_flight_before, acked.in_flight, acked.delivered), (4 * PACKET, PACKET, 3 * PACKET));
    assert_eq!((acked.newest_sent_at, acked.newest_in_flight), (Time::from_micros(1_000_000), Some(3 * PACKET)));
    let rtt = acked.rtt.unwrap();
    assert_eq!(
        (rtt.latest, rtt.smoothed, rtt.min),
        (Span::from_millis(40), Span::from_millis(40), Span::from_millis(40))
    );
    assert_eq!(rtt.variation, Span::from_millis(20));
    assert_eq!(driver.controller.bytes_in_flight(), u32::from(MTU));
}

#[test]
fn a_frame_with_marks_and_losses_is_reported_in_the_contracts_order() {
    let (mut driver, recorded) = driven("reno");
    driver.burst(10);
    driver.now = 40_000;
    driver.frame(2, 3, 4);
    let kind = recorded.take();
    let [EventKind::RttSampled(rtt), EventKind::EcnCe(marked), lost, EventKind::PacketsAcked(acked)] = kind[..] else {
        panic!("{kind:?}")
    };
    assert_eq!(rtt.latest, Span::from_millis(40));
    let newest_sent_at = Time::from_micros(1_000_000);
    assert_eq!(marked, EcnCe::new(3, newest_sent_at, 10 * PACKET));
    let lost = self::lost(&lost);
    assert_eq!((lost.packets, lost.bytes, lost.newest_sent_at), (2, 2 * PACKET, newest_sent_at));
    assert_eq!((lost.in_flight_before, lost.in_flight), (10 * PACKET, 8 * PACKET));
    assert_eq!((acked.in_flight_before, acked.in_flight, acked.rtt), (8 * PACKET, 4 * PACKET, None));
}

#[test]
fn losses_found_by_a_timer_are_reported_together_before_anything_is_sent() {
    let (mut driver, recorded) = driven("reno");
    driver.burst(10);
    driver.now = 40_000;
    driver.ack(1);
    let before = driver.window();
    recorded.take();
    driver.now = 50_000;
    driver.lose(3, false);
    assert!(driver.window() < before, "what s2n-quic asks for next has the response");
    let kind = recorded.take();
    assert_eq!(kind.len(), 1);
    assert_eq!(lost(&kind[0]).packets, 3);
    assert_eq!(driver.controller.bytes_in_flight(), 6 * u32::from(MTU));
    driver.burst(1);
    assert!(recorded.take().is_empty());
}

#[test]
fn persistent_congestion_is_reported_once() {
    let (mut driver, recorded) = driven("reno");
    driver.burst(10);
    driver.now = 40_000;
    driver.ack(1);
    recorded.take();
    driver.now = 900_000;
    driver.lose(9, true);
    assert_eq!(driver.window(), 2 * u32::from(MTU));
    let kind = recorded.take();
    assert!(
        matches!(kind[..], [EventKind::PersistentCongestion(PacketsLost { packets: 9, in_flight: 0, .. })]),
        "{kind:?}"
    );
}

#[test]
fn marks_of_one_round_lead_to_one_response() {
    let (mut driver, recorded) = driven("reno");
    driver.burst(10);
    driver.now = 40_000;
    driver.frame(0, 1, 2);
    let after = driver.window();
    assert_eq!(after, 5 * u32::from(MTU));
    for _ in 0..4 {
        driver.now += 100;
        driver.frame(0, 2, 2);
    }
    assert_eq!(driver.window(), after, "all of them left before the response");
    let marks = recorded.take().iter().filter(|kind| matches!(kind, EventKind::EcnCe(_))).count();
    assert_eq!(marks, 5, "none is kept from controllers that count them");
    driver.burst(2);
    driver.now += 40_000;
    driver.frame(0, 1, 2);
    assert!(driver.window() < after);
}

#[test]
fn marks_without_an_acknowledgement_are_reported() {
    let (mut driver, recorded) = driven("reno");
    driver.burst(4);
    driver.now = 40_000;
    driver.ack(2);
    driver.now = 41_000;
    driver.mark(1);
    driver.burst(1);
    let names = recorded.names();
    assert_eq!(names, ["PacketsAcked", "EcnCe"]);
}

#[test]
fn bytes_are_fresh_if_sent_since_the_response() {
    let (mut driver, recorded) = driven("reno");
    driver.burst(10);
    driver.now = 40_000;
    driver.frame(1, 0, 3);
    driver.now = 41_000;
    driver.burst(2);
    recorded.take();
    driver.now = 80_000;
    driver.ack(4);
    driver.ack(3);
    driver.ack(1);
    let fresh: Vec<u64> = recorded.take().iter().map(|kind| acked(kind).fresh_bytes).collect();
    assert_eq!(fresh, [0, PACKET, PACKET]);
}

#[test]
fn one_packet_may_leave_at_once_when_a_response_to_losses_begins() {
    let (mut driver, _) = driven("reno");
    driver.burst(10);
    driver.now = 40_000;
    assert!(!driver.controller.requires_fast_retransmission());
    driver.frame(1, 0, 1);
    assert!(driver.controller.requires_fast_retransmission() && driver.controller.is_congestion_limited());
    driver.burst(1);
    assert!(!driver.controller.requires_fast_retransmission());
    driver.frame(1, 0, 1);
    assert!(!driver.controller.requires_fast_retransmission(), "the same round");
}

#[test]
fn packets_that_are_no_sign_of_congestion_just_leave() {
    let (mut driver, recorded) = driven("reno");
    driver.burst(3);
    driver.controller.on_packet_discarded(2 * usize::from(MTU), &mut NullPublisher);
    assert_eq!(driver.controller.bytes_in_flight(), u32::from(MTU));
    driver.controller.on_packet_discarded(5 * usize::from(MTU), &mut NullPublisher);
    assert_eq!(driver.controller.bytes_in_flight(), 0);
    assert!(recorded.take().is_empty());
    driver.now = 2_000_000;
    driver.burst(1);
    assert!(matches!(recorded.take()[..], [EventKind::IdleRestart(idle)] if idle.idle == Span::from_millis(2000)));
}

#[test]
fn a_pause_is_reported_when_sending_resumes_with_the_probe_timeout() {
    let (mut driver, recorded) = driven("reno");
    driver.burst(1);
    driver.now = 40_000;
    driver.ack(1);
    recorded.take();
    driver.now = 1_040_000;
    driver.send(0, Some(true));
    assert!(recorded.take().is_empty(), "a bare ACK");
    driver.burst(1);
    let kind = recorded.take();
    let [EventKind::IdleRestart(idle)] = kind[..] else { panic!("{kind:?}") };
    // 40 ms smoothed, four times 20 ms of variation.
    assert_eq!((idle.idle, idle.pto), (Span::from_millis(1000), Span::from_millis(120)));
}

#[test]
fn bare_acks_are_neither_in_flight_nor_acknowledged() {
    let (mut driver, recorded) = driven("reno");
    driver.burst(2);
    driver.now = 10;
    driver.send(0, Some(true));
    assert_eq!(driver.controller.bytes_in_flight(), 2 * u32::from(MTU));
    driver.now = 40_000;
    driver.ack(3);
    let kind = recorded.take();
    let acked = acked(&kind[0]);
    assert_eq!((acked.bytes, acked.packets, acked.newest_sent_at), (2 * PACKET, 2, Time::from_micros(1_000_010)));
}

#[test]
fn a_flow_with_room_and_nothing_to_send_is_limited_by_its_application() {
    let (mut driver, recorded) = driven("reno");
    let limited = |driver: &mut Driver<Controller>, in_flight: usize, app_limited: Option<bool>| {
        driver.burst(in_flight - 1);
        driver.send(MTU.into(), app_limited);
        driver.now += 40_000;
        driver.ack(in_flight);
        acked(recorded.take().last().unwrap()).app_limited
    };
    assert!(limited(&mut driver, 2, Some(true)));
    assert!(!limited(&mut driver, 2, Some(false)));
    assert!(limited(&mut driver, 2, None), "a handshake has nothing more");
    let full = driver.window() as usize / usize::from(MTU);
    assert!(!limited(&mut driver, full - 1, Some(true)), "it used its window");
}

/// `draft-ietf-ccwg-bbr §4.1.2.4`: what counts is whether the application has something to send when the ACK comes, not when
/// the packet left that it acknowledges.
#[test]
fn a_bubble_begins_with_the_ack_that_finds_nothing_to_send() {
    let (mut driver, recorded) = driven("bbr");
    driver.burst(1);
    driver.now = 10;
    driver.send(MTU.into(), Some(true));
    driver.now = 40_000;
    driver.ack(1);
    assert!(!acked(recorded.take().last().unwrap()).delivery.unwrap().app_limited);
    driver.burst(1);
    driver.now = 80_000;
    driver.ack(2);
    assert!(acked(recorded.take().last().unwrap()).delivery.unwrap().app_limited);
}

#[test]
fn a_larger_mtu_is_reported_and_used() {
    let (mut driver, recorded) = driven("reno");
    let before = driver.window();
    driver.controller.on_mtu_update(1450, &mut NullPublisher);
    assert_eq!(driver.window() / 1450, before / u32::from(MTU), "before anything was sent");
    driver.send(1450, Some(false));
    driver.controller.on_mtu_update(8950, &mut NullPublisher);
    assert!(matches!(recorded.take()[..], [EventKind::MtuUpdated(8950)]));
    assert!(driver.window() >= 2 * 8950);
}

#[test]
fn a_window_is_filled_and_never_exceeded() {
    let mut endpoint = Endpoint::new(FixedWindow::configured(10)).unwrap();
    let mut driver = Driver::new(endpoint.make(peer(), MTU));
    assert_eq!(driver.fill(), 10);
    assert_eq!(driver.controller.bytes_in_flight(), 10 * u32::from(MTU));
    driver.now = 1_000;
    driver.ack(3);
    assert_eq!(driver.fill(), 3, "no pacing below 2 ms");
}

#[test]
fn without_a_decided_rate_a_window_is_spread_over_an_rtt() {
    let (mut driver, _) = driven("reno");
    assert_eq!(driver.fill(), 10, "no RTT was measured yet");
    driver.now = 100_000;
    driver.ack(10);
    // 20 packets in slow start, at two windows per RTT of 100 ms: one each 2.5 ms after ten
    // at once.
    let mut send_times = Vec::new();
    while send_times.len() < 20 {
        for _ in 0..driver.fill() {
            send_times.push(driver.now);
        }
        if let Some(next) = driver.controller.earliest_departure_time() {
            driver.now += next.saturating_duration_since(timestamp(driver.now)).as_micros().max(1) as u64;
        }
    }
    assert!(send_times[..10].iter().all(|at| *at == 100_000), "{send_times:?}");
    let gaps: Vec<u64> = send_times[10..].windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.iter().all(|gap| (2_400..=2_600).contains(gap)), "{gaps:?}");
}

#[test]
fn a_decided_rate_is_kept_though_timers_are_late() {
    // 1200 bytes each 0.96 ms.
    let engine = Static::<FixedWindow>(Params { window: 20_000, rate: 10.0, ..Params::default() });
    for late in [0, 500, 1900] {
        let mut driver = Driver::new(Endpoint::new(engine).unwrap().make(peer(), MTU));
        let mut sent = driver.fill();
        assert!(sent <= 5, "{sent} at once");
        while driver.now < 10_000_000 {
            let next = driver.controller.earliest_departure_time().unwrap();
            driver.now += next.saturating_duration_since(timestamp(driver.now)).as_micros().max(1) as u64 + late;
            sent += driver.fill();
        }
        let rate = sent as f64 * 8.0 * f64::from(MTU) / driver.now as f64;
        assert!((rate - 10.0).abs() < 0.05, "{rate} Mbit/s with timers {late} us late");
    }
}

#[test]
fn a_copy_keeps_state_and_seat_and_has_no_recorder() {
    let groups = Groups::<NamedController, _>::default();
    let recorded = Recorded::default();
    let recorder = recorded.clone();
    let endpoint = Endpoint::named("tcp-p").unwrap().group(&groups, |peer| peer.ip());
    let mut endpoint = endpoint.record_with(move |_: &NewFlow<'_, NamedController>| Box::new(recorder.clone()));
    let mut driver = Driver::new(endpoint.make(peer(), MTU));
    assert!(groups.is_empty(), "nothing was sent");
    driver.burst(4);
    driver.now = 40_000;
    driver.ack(2);
    let mut moved = Driver::new(driver.controller.clone());
    moved.now = 50_000;
    assert_eq!((moved.window(), moved.controller.bytes_in_flight()), (driver.window(), 2 * u32::from(MTU)));
    let members = || groups.with(&peer().ip(), |group| group.members().len());
    assert_eq!(members(), Some(1));
    recorded.take();
    moved.burst(1);
    moved.now = 90_000;
    moved.ack(1);
    assert!(recorded.take().is_empty());
    drop(driver);
    assert_eq!(members(), Some(1));
    drop(moved);
    assert!(groups.is_empty());
}

#[test]
fn a_sibling_that_lowers_a_window_is_heeded_at_once() {
    let mut endpoint = Endpoint::named("tcp-p").unwrap();
    let mut first = Driver::new(endpoint.make(peer(), MTU));
    let mut second = Driver::new(endpoint.make(peer(), MTU));
    first.burst(10);
    second.burst(10);
    let before = first.window();
    second.now = 40_000;
    second.frame(1, 0, 3);
    assert!(first.window() < before || second.window() < before);
    let other = Driver::new(endpoint.make(([192, 0, 2, 8], 443).into(), MTU));
    assert_eq!(other.controller.with_flow(|_| ()), None);
}

#[test]
fn every_controller_survives_what_a_hostile_peer_can_cause() {
    for entry in Algorithm::ALL {
        let Ok(mut endpoint) = Endpoint::named(entry.name) else { continue };
        let mut driver = Driver::new(endpoint.make(peer(), MTU));
        for round in 0..200_u64 {
            driver.burst(usize::try_from(round % 7).unwrap() + 3);
            driver.now += if round % 3 == 0 { 0 } else { 1 << (round % 30) };
            match round % 5 {
                0 => driver.frame(1, u64::MAX, 1),
                1 => driver.lose(2, true),
                2 => driver.controller.on_packet_discarded(usize::MAX, &mut NullPublisher),
                3 => driver.controller.on_mtu_update(if round % 2 == 0 { 1 } else { u16::MAX }, &mut NullPublisher),
                _ => driver.ack(2),
            }
            assert!(driver.window() > 0, "{}", entry.name);
        }
        let phase = driver.controller.with_flow(|flow| flow.decision().phase);
        assert!(
            matches!(phase, Some(Phase::SlowStart | Phase::CongestionAvoidance | Phase::Recovery)),
            "{}",
            entry.name
        );
    }
}
