use super::*;

fn read(payload: &[u8]) -> Frames {
    let mut frames = Frames::default();
    frames.read(payload);
    frames
}

#[test]
fn an_ack_with_ranges_and_counts() {
    // Largest 10, delay 2·8 µs, first range 10..=9, gap 1, range 6..=4; counts 7, 0, 2.
    let frames = read(&[0x03, 10, 2, 1, 1, 1, 2, 7, 0, 2]);
    assert_eq!(frames.acknowledged(), [(9, 10), (4, 6)]);
    assert!(!frames.ack_eliciting && !frames.in_flight);
    let ecn = Some(EcnCounts { ect0: 7, ect1: 0, ce: 2 });
    let expected = Frame::Ack(Ack { delay_ns: Some(16_000), ranges: &[(9, 10), (4, 6)], ecn });
    assert_eq!(frames.logged().collect::<Vec<_>>(), [expected]);
}

#[test]
fn a_peer_may_count_delays_more_coarsely() {
    let mut frames = Frames::default();
    frames.ack_delay_exponent(8);
    // A time stamp of 5 in front, which is passed over.
    frames.read(&[0x42, 0xf5, 5, 0x02, 10, 2, 0, 1]);
    let expected = Frame::Ack(Ack { delay_ns: Some(512_000), ranges: &[(9, 10)], ecn: None });
    assert_eq!(frames.logged().collect::<Vec<_>>(), [expected]);
    frames.clear();
    assert_eq!(frames.logged().count(), 0);
}

#[test]
fn stream_data_to_the_end_of_the_packet() {
    let mut packet = vec![0x0c, 2, 0x40, 0x64]; // stream 2 from offset 100
    packet.extend([9; 50]);
    let frames = read(&packet);
    assert_eq!(frames.stream_end, Some(150));
    assert!(frames.ack_eliciting && frames.in_flight);
    let expected = Frame::Stream { id: 2, offset: 100, length: 50, fin: false };
    assert_eq!(frames.logged().collect::<Vec<_>>(), [expected]);
}

#[test]
fn padding_alone_is_in_flight_but_asks_for_nothing() {
    let frames = read(&[0, 0, 0]);
    assert!(frames.in_flight && !frames.ack_eliciting);
    assert_eq!(frames.logged().collect::<Vec<_>>(), [Frame::Padding { length: 3 }]);
}

#[test]
fn frames_without_use_are_passed_over() {
    let mut packet = vec![0x12, 5, 0x40, 0xaf, 1, 1, 1, 1, 0x18, 1, 0, 8];
    packet.extend([0; 24]);
    packet.extend([0x1e, 0x01]);
    let frames = read(&packet);
    assert!(frames.handshake_done);
    assert_eq!(frames.logged().collect::<Vec<_>>(), [Frame::HandshakeDone, Frame::Ping]);
}

#[test]
fn nonsense_ends_the_reading() {
    for packet in [&[0x02u8, 1][..], &[0x02, 1, 0, 0, 9], &[0x06, 0, 0x7f, 0xff], &[0xc0], &[0x3f, 1]] {
        assert_eq!(read(packet).logged().count(), 0);
    }
}

#[test]
fn a_ping_and_padding_probe_for_the_datagram_size() {
    assert!(read(&[0x01, 0, 0, 0]).probes_mtu());
    assert!(read(&[0x01, 0x1f, 0, 0]).probes_mtu(), "asking for an ACK at once");
    for packet in [&[0x01][..], &[0, 0], &[0x01, 0x06, 0, 1, 9, 0, 0]] {
        assert!(!read(packet).probes_mtu(), "{packet:?}");
    }
}
