use super::*;
use windlass_controllers::{Algorithm, Signals};

/// Bytes in flight for a controller that needs departures, or not.
fn flight(remember: bool) -> InFlight {
    let engine = Algorithm::read(if remember { "fast:variant=ns2" } else { "reno" }).unwrap();
    assert_eq!(engine.needs().contains(Signals::WINDOW_AT_SEND), remember);
    InFlight::new(&engine)
}

#[test]
fn adds_what_was_sent_since_the_stack_last_told() {
    let mut flight = self::flight(false);
    assert_eq!(flight.sent(Time(1), 1200, 1200), None, "a start is no idle period");
    flight.sent(Time(2), 1200, 1200);
    assert_eq!(flight.bytes(), 2400);
    flight.acknowledged(Time(3), 1200);
    flight.sent(Time(4), 1200, 1200);
    flight.lost(1200);
    assert_eq!(flight.bytes(), 1200);
    flight.lost(u64::MAX);
    assert_eq!(flight.bytes(), 0);
}

#[test]
fn tells_how_long_nothing_was_in_flight_once() {
    let mut flight = self::flight(false);
    flight.sent(Time(1), 1200, 1200);
    flight.acknowledged(Time(10), 0);
    assert_eq!(flight.sent(Time(20), 45, 1200), None, "a bare ACK");
    assert_eq!(flight.bytes(), 0);
    assert_eq!(flight.sent(Time(50), 1200, 1200), Some(Span(40)));
    assert_eq!(flight.sent(Time(60), 1200, 1200), None);
}

#[test]
fn a_flight_lost_whole_is_no_idle_period() {
    let mut flight = self::flight(false);
    flight.sent(Time(1), 1200, 1200);
    flight.lost(1200);
    assert_eq!(flight.sent(Time(9), 1200, 1200), None);
}

#[test]
fn remembers_departures_where_they_are_needed() {
    let mut flight = self::flight(true);
    for at in [1, 1, 2, 5] {
        flight.sent(Time(at), 1000, 1200);
    }
    flight.lost(1000);
    flight.acknowledged(Time(9), 1000);
    let departure = flight.departure(Time(9), Time(1), 2000, false).unwrap();
    assert_eq!((departure.in_flight, departure.delivery.lost), (2000, 1000));
    flight.acknowledged(Time(12), 0);
    assert_eq!(flight.departure(Time(12), Time(5), 1000, false).unwrap().delivery.delivered, 0);
    flight.sent(Time(20), 1000, 1200);
    flight.acknowledged(Time(30), 0);
    let delivery = flight.departure(Time(30), Time(20), 1000, false).unwrap().delivery;
    assert_eq!((delivery.delivered, delivery.delivered_at), (3000, Time(20)), "a flight of its own");
    assert_eq!(self::flight(false).departure(Time(30), Time(20), 1000, false), None);
}
