use super::*;

#[test]
fn adds_what_was_sent_since_the_stack_last_told() {
    let mut flight = InFlight::new(false);
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
    let mut flight = InFlight::new(false);
    flight.sent(Time(1), 1200, 1200);
    flight.acknowledged(Time(10), 0);
    assert_eq!(flight.sent(Time(20), 45, 1200), None, "a bare ACK");
    assert_eq!(flight.bytes(), 0);
    assert_eq!(flight.sent(Time(50), 1200, 1200), Some(Span(40)));
    assert_eq!(flight.sent(Time(60), 1200, 1200), None);
}

#[test]
fn a_flight_lost_whole_is_no_idle_period() {
    let mut flight = InFlight::new(false);
    flight.sent(Time(1), 1200, 1200);
    flight.lost(1200);
    assert_eq!(flight.sent(Time(9), 1200, 1200), None);
}

#[test]
fn remembers_the_flight_at_each_departure() {
    let mut flight = InFlight::new(true);
    for at in [1, 1, 2, 5] {
        flight.sent(Time(at), 1000, 1200);
    }
    assert_eq!(flight.at_departure(Time(1)), Some(2000), "both packets of the instant");
    assert_eq!(flight.at_departure(Time(3)), None);
    assert_eq!(flight.at_departure(Time(2)), None, "forgotten");
    assert_eq!(flight.at_departure(Time(5)), Some(4000));
    assert_eq!(InFlight::new(false).at_departure(Time(1)), None);
}
