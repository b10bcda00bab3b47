use super::*;

fn packet() -> Sent<()> {
    Sent { time: 0, bytes: 1, status: PacketStatus::InFlight, extra: () }
}

/// The numbers in flight of a range, which are then acknowledged.
fn acknowledge(flight: &mut Flight<()>, range: (u64, u64)) -> Vec<u64> {
    let mut found = Vec::new();
    flight.range(range, |number, sent| {
        if sent.status != PacketStatus::Acked {
            found.push(number);
        }
        sent.status = PacketStatus::Acked;
        true
    });
    found
}

#[test]
fn a_range_visits_what_is_remembered_from_the_highest_down() {
    let mut flight = Flight::default();
    for number in [3, 4, 7, 200_000] {
        flight.sent(number, packet());
    }
    assert_eq!(acknowledge(&mut flight, (4, 199_999)), [7, 4]);
    assert_eq!(acknowledge(&mut flight, (0, u64::MAX)), [200_000, 3]);
    assert!(acknowledge(&mut flight, (0, u64::MAX)).is_empty());
    assert_eq!(flight.oldest(), None);
}

#[test]
fn a_lost_packet_at_the_front_does_not_keep_the_others() {
    let mut flight = Flight::default();
    for number in 0..100_000 {
        flight.sent(number, packet());
        if number == 0 {
            flight.get(0).unwrap().status = PacketStatus::Lost;
        } else {
            assert_eq!(acknowledge(&mut flight, (1, number)), [number]);
        }
        assert!(flight.packets.len() < 70, "{number}: {}", flight.packets.len());
    }
    assert_eq!(acknowledge(&mut flight, (0, 5)), [0], "a late acknowledgement");
}

#[test]
fn numbers_logged_late_find_their_place_and_smaller_ones_start_anew() {
    let mut flight = Flight::default();
    for number in [10, 20, 15, 20] {
        flight.sent(number, packet());
    }
    assert_eq!(acknowledge(&mut flight, (0, 30)), [20, 15, 10]);
    flight.sent(40, packet());
    flight.sent(5, packet());
    assert_eq!(acknowledge(&mut flight, (0, 99)), [5]);
}

#[test]
fn memory_is_bounded() {
    let mut flight = Flight::default();
    for number in 0..(MAX_PACKETS as u64 + 1000) {
        flight.sent(number, packet());
    }
    assert_eq!(flight.packets.len(), MAX_PACKETS);
    assert_eq!(flight.oldest().map(|sent| sent.bytes), Some(1));
    flight.sent(u64::MAX, packet());
    assert_eq!(flight.packets.len(), 1, "a jump of numbers");
}
