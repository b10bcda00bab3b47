use super::*;

fn sent(outstanding: &mut OutstandingPackets, packets: &[(u64, u64, u64)]) {
    for &(number, at, bytes) in packets {
        let weight = if bytes == 0 { Weight::NotInFlight } else { Weight::InFlight(bytes) };
        outstanding.sent(PacketType::OneRtt, number, Time(at), weight);
    }
}

fn lost(outstanding: &mut OutstandingPackets, bytes: u64, newest: u64) -> Option<Vec<(u64, LossTrigger)>> {
    let mut losses = Vec::new();
    outstanding.lost(bytes, Time(newest), |loss| losses.push((loss.number, loss.trigger))).then_some(losses)
}

#[test]
fn the_oldest_outstanding_make_up_the_bytes() {
    use LossTrigger::{ReorderingThreshold, TimeThreshold};
    let mut outstanding = OutstandingPackets::default();
    sent(&mut outstanding, &[(0, 1, 1200), (1, 1, 1200), (2, 2, 0), (3, 3, 900), (4, 4, 1200), (6, 5, 1200)]);
    outstanding.acknowledged(PacketType::OneRtt, &[(1, 1), (6, 6)]);
    assert_eq!(lost(&mut outstanding, 1200, 1), Some(vec![(0, ReorderingThreshold)]));
    let expected = vec![(2, ReorderingThreshold), (3, ReorderingThreshold), (4, TimeThreshold)];
    assert_eq!(lost(&mut outstanding, 2100, 4), Some(expected), "a bare ACK among them");
    assert_eq!(lost(&mut outstanding, 1200, 5), None, "nothing is left");
}

#[test]
fn an_account_that_does_not_add_up_changes_nothing() {
    let mut outstanding = OutstandingPackets::default();
    sent(&mut outstanding, &[(0, 1, 1200), (1, 2, 1200), (9, 3, 1200)]);
    outstanding.acknowledged(PacketType::OneRtt, &[(9, 9)]);
    assert_eq!(lost(&mut outstanding, 1000, 1), None, "other bytes");
    assert_eq!(lost(&mut outstanding, 1200, 2), None, "another time");
    assert!(lost(&mut outstanding, 2400, 2).is_some());
}

#[test]
fn a_probe_for_the_datagram_size_counts_where_the_stack_gave_it_up() {
    // Packet 1 and 3 are probes; noq forgets the latest at a black hole, and reports its loss with the next.
    for (bytes, numbers) in [(2400, vec![0, 1, 2, 3]), (6355, vec![0, 1, 2, 3])] {
        let mut outstanding = OutstandingPackets::default();
        sent(&mut outstanding, &[(0, 1, 1200), (2, 2, 1200), (9, 3, 1200)]);
        outstanding.sent(PacketType::OneRtt, 1, Time(1), Weight::Probe(2000));
        outstanding.sent(PacketType::OneRtt, 3, Time(2), Weight::Probe(3955));
        outstanding.acknowledged(PacketType::OneRtt, &[(9, 9)]);
        let found = lost(&mut outstanding, bytes, 2).map(|losses| losses.iter().map(|(number, _)| *number).collect());
        assert_eq!(found, Some(numbers), "{bytes} bytes");
    }
}

#[test]
fn spaces_are_apart_and_can_be_forgotten() {
    let mut outstanding = OutstandingPackets::default();
    for number in [0, 5] {
        outstanding.sent(PacketType::Initial, number, Time(1), Weight::InFlight(1200));
        outstanding.sent(PacketType::Handshake, number, Time(1), Weight::InFlight(1200));
    }
    outstanding.acknowledged(PacketType::Initial, &[(5, 5)]);
    outstanding.acknowledged(PacketType::Handshake, &[(5, 5)]);
    outstanding.discard(PacketType::Handshake);
    let mut kinds = Vec::new();
    assert!(outstanding.lost(1200, Time(1), |loss| kinds.push(loss.kind)));
    assert_eq!(kinds, [PacketType::Initial]);
    assert!(!outstanding.lost(1200, Time(1), |_| {}));
}
