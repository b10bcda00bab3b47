use super::*;
use crate::AckedPackets;
use windlass_controllers::event::Delivery;
use windlass_controllers::{Algorithm, Signals};

/// Bytes in flight for a controller that needs delivery_rate, or not.
fn flight(remember: bool) -> InFlight {
    let controller = Algorithm::read(if remember { "fast:variant=ns2" } else { "reno" }).unwrap();
    assert_eq!(controller.needs().contains(Signals::WINDOW_AT_SEND), remember);
    InFlight::new(&controller)
}

/// The snapshot for `bytes` sent at `sent` and acknowledged at `now`, after `before` bytes.
fn departed(flight: &mut InFlight, now: u64, sent: u64, before: u64, bytes: u64) -> Option<(u64, Delivery)> {
    let mut batch = AckedPackets::after(before);
    batch.add(Time(sent), bytes, None);
    let mut acked = batch.take(flight.bytes(), None);
    flight.fill_delivery_rate(Time(now), &mut acked, false);
    acked.newest_in_flight.zip(acked.delivery)
}

#[test]
fn adds_bytes_sent_since_the_stacks_latest_report() {
    let mut flight = self::flight(false);
    assert_eq!(flight.sent(Time(1), 1200, 1200), None, "a start ends no silence");
    flight.sent(Time(2), 1200, 1200);
    assert_eq!(flight.bytes(), 2400);
    flight.acknowledged(Time(3), 1200, Time::ZERO);
    flight.sent(Time(4), 1200, 1200);
    flight.lost(Time(4), 1200);
    assert_eq!(flight.bytes(), 1200);
    flight.lost(Time(5), u64::MAX);
    assert_eq!(flight.bytes(), 0);
}

#[test]
fn reports_an_empty_flight_once() {
    let mut flight = self::flight(false);
    flight.sent(Time(1), 1200, 1200);
    flight.acknowledged(Time(10), 0, Time(1));
    flight.acknowledged(Time(12), 0, Time::ZERO);
    assert_eq!(flight.sent(Time(20), 45, 1200), None, "a bare ACK");
    assert_eq!(flight.bytes(), 0);
    assert_eq!(flight.sent(Time(50), 1200, 1200), Some(Silence { since: Time(10), newest_sent_at: Time(1) }));
    assert_eq!(flight.sent(Time(60), 1200, 1200), None);
}

#[test]
fn a_flight_lost_whole_is_no_silence() {
    let mut flight = self::flight(false);
    flight.sent(Time(1), 1200, 1200);
    flight.lost(Time(4), 1200);
    assert_eq!(flight.sent(Time(9), 1200, 1200), None);
}

#[test]
fn remembers_departures_where_they_are_needed() {
    let mut flight = self::flight(true);
    for at in [1, 1, 2, 5] {
        flight.sent(Time(at), 1000, 1200);
    }
    flight.lost(Time(9), 1000);
    flight.acknowledged(Time(9), 1000, Time::ZERO);
    let (in_flight, delivery) = departed(&mut flight, 9, 1, 0, 2000).unwrap();
    assert_eq!((in_flight, delivery.lost), (2000, 1000));
    flight.acknowledged(Time(12), 0, Time::ZERO);
    assert_eq!(departed(&mut flight, 12, 5, 2000, 1000).unwrap().1.delivered, 0);
    flight.sent(Time(20), 1000, 1200);
    flight.acknowledged(Time(30), 0, Time::ZERO);
    let (_, delivery) = departed(&mut flight, 30, 20, 3000, 1000).unwrap();
    assert_eq!((delivery.delivered, delivery.delivered_at), (3000, Time(20)), "a flight of its own");
    assert_eq!(departed(&mut self::flight(false), 30, 20, 0, 1000), None);
}

/// A peer that acknowledges nothing but sends on asks for any number of ACKs.
#[test]
fn bare_acks_leave_no_snapshots() {
    let mut flight = self::flight(true);
    flight.sent(Time(1), 1200, 1200);
    for at in 2..1000 {
        flight.sent(Time(at), 45, 1200);
    }
    flight.acknowledged(Time(1000), 0, Time::ZERO);
    assert_eq!(departed(&mut flight, 1000, 999, 0, 45), None);
}

#[test]
fn idle_is_longer_than_a_probe_timeout_without_the_pacers_part() {
    let silence = Silence { since: Time(100), newest_sent_at: Time(60) };
    assert_eq!(silence.end(Time(150), Time(90), Span(50)), None, "no longer than a probe timeout");
    assert_eq!(silence.end(Time(151), Time(90), Span(50)), Some(IdleRestart::new(Span(51), Span(50))));
    assert_eq!(silence.end(Time(1000), Time(960), Span(50)), None, "it waited for its pacer");
    assert_eq!(silence.end(Time(1000), Time(900), Span(50)), Some(IdleRestart::new(Span(100), Span(50))));
    assert_eq!(silence.end(Time(90), Time(0), Span(0)), None, "time that goes back");
}
