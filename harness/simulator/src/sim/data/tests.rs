use super::*;
use crate::sim::recovery::State;

/// Sends what is next; the packet that carries it.
fn send(data: &mut Data) -> Option<Sent> {
    let chunk = data.peek()?;
    data.take(chunk);
    Some(packet(chunk))
}

fn packet(chunk: Chunk) -> Sent {
    Sent {
        chunk: chunk.number,
        bytes: u16::try_from(chunk.bytes).unwrap(),
        transmissions: chunk.transmissions,
        repeated: chunk.transmissions > 1,
        state: State::InFlight,
        ..Sent::default()
    }
}

#[test]
fn a_transfer_ends_with_what_is_left() {
    let mut data = Data::new(1000, 0, Some(2500), None);
    let mut packets: Vec<Sent> = std::iter::from_fn(|| send(&mut data)).collect();
    assert_eq!(packets.iter().map(|packet| packet.bytes).collect::<Vec<_>>(), [1000, 1000, 500]);
    for packet in &mut packets {
        assert!(!data.is_complete());
        data.arrived(packet, false);
        data.acked(packet, false);
    }
    assert!(data.is_complete());
    assert_eq!(data.arrived_bytes, 2500);
}

#[test]
fn lost_data_goes_first_and_counts_once() {
    let mut data = Data::new(1000, 0, None, None);
    let first = send(&mut data).unwrap();
    data.lost(&first, LossTrigger::PacketThreshold);
    let mut again = send(&mut data).unwrap();
    assert_eq!((again.chunk, again.transmissions), (0, 2));
    assert_eq!(data.arrived(&mut again, false), 1000);
    assert_eq!(data.arrived(&mut again, false), 0, "a packet arrives once");
    data.acked(&again, false);
    assert_eq!(send(&mut data).unwrap().chunk, 1);
    assert_eq!(data.acked, 1);
}

#[test]
fn an_original_that_arrives_late_makes_the_copy_a_duplicate() {
    let mut data = Data::new(1000, 0, Some(1000), None);
    let mut first = send(&mut data).unwrap();
    data.lost(&first, LossTrigger::PacketThreshold);
    assert_eq!(data.arrived(&mut first, true), 1000);
    let mut again = send(&mut data).unwrap();
    assert_eq!(data.arrived(&mut again, false), 0);
    data.acked(&first, true);
    assert!(data.is_complete());
    data.acked(&again, false);
    assert!(data.is_complete(), "not twice");
    assert_eq!(data.arrived_bytes, 1000);
}

#[test]
fn data_acknowledged_before_it_goes_out_again_does_not() {
    let mut data = Data::new(1000, 0, Some(2000), None);
    let mut first = send(&mut data).unwrap();
    data.arrived(&mut first, false);
    data.lost(&first, LossTrigger::PacketThreshold);
    data.acked(&first, true);
    assert_eq!(send(&mut data).unwrap().chunk, 1);
}

#[test]
fn a_probe_timeout_copy_and_its_original_count_once_whoever_comes_first() {
    for copy_first in [true, false] {
        let mut data = Data::new(1000, 0, Some(1000), None);
        let mut first = send(&mut data).unwrap();
        let mut copy = packet(data.duplicate(&mut first));
        let mut order = [&mut first, &mut copy];
        if copy_first {
            order.reverse();
        }
        let [earlier, later] = order;
        assert_eq!(data.arrived(earlier, false), 1000);
        data.acked(earlier, false);
        assert!(data.is_complete());
        assert_eq!(data.arrived(later, false), 0);
        data.lost(later, LossTrigger::PacketThreshold);
        assert_eq!(data.peek(), None, "what is acknowledged is not sent again");
    }
}

#[test]
fn an_application_that_writes_now_and_again_has_nothing_to_send_between() {
    let writes = Writes::new(1500.0, Span::from_millis(10));
    let mut data = Data::new(1000, 0, Some(3200), Some(writes));
    data.write(|| None);
    let sent = |data: &mut Data| std::iter::from_fn(|| send(data)).map(|packet| packet.bytes).collect::<Vec<_>>();
    assert_eq!(sent(&mut data), [1000], "the rest of the write fills no packet");
    assert_eq!(data.next_write(), Some(Span::from_millis(10)));
    data.write(|| None);
    assert_eq!(sent(&mut data), [1000, 1000]);
    data.write(|| None);
    assert_eq!(sent(&mut data), [200]);
    assert_eq!(data.next_write(), None);
    data.write(|| None);
    assert_eq!(sent(&mut data), [0; 0]);
}
