use std::net::SocketAddr;

use windlass_abi::msquic::packet_type;
use windlass_abi::{Rtt, phase};

use super::*;

/// A shared buffer as output.
#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Buffer {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

fn event(connection: u64, ms: u64, kind: u8, number: u64) -> Event {
    Event {
        connection,
        now_ns: ms * 1_000_000,
        path: std::ptr::null(),
        number,
        frames: std::ptr::null(),
        controller: std::ptr::null(),
        rtt: Rtt::default(),
        cwnd: 12_000,
        in_flight: 1200,
        ssthresh: u64::MAX,
        bytes: 1200,
        kind,
        packet_type: packet_type::ONE_RTT,
        phase: phase::SLOW_START,
        by_threshold: 0,
        ack_delay_exponent: 8,
        reserved: [0; 7],
    }
}

/// Logs the connections with this peer to a buffer, with time zero at 1 s of MsQuic's clock.
fn log_to_buffer(peer: SocketAddr) -> Buffer {
    let buffer = Buffer::default();
    let output = buffer.clone();
    add_source(move |new| {
        let header = Header { title: "test", ..Header::default() };
        let output = Box::new(output.clone()) as Output;
        (new.peer.address == peer).then(|| Destination {
            trace: Trace::new(output, Profile::Ietf, Detail::Packets, &header).into(),
            origin: Time::from_micros(1_000_000),
            dropped: Arc::default(),
            has_controller: false,
            has_recorder: false,
        })
    });
    buffer
}

fn new(connection: u64, peer: SocketAddr) -> ConnectionInfo<'static> {
    let now = Time::from_micros(1_000_000);
    ConnectionInfo { connection, peer: Peer { address: peer, name: None }, client: true, app: None, now, mtu: 1200 }
}

#[test]
fn packets_losses_and_metrics_are_written() {
    use trace::{CLOSED, ECN, FRAMES, LOST, RECEIVED, SENT, STATE};
    let peer = "192.0.2.1:443".parse().unwrap();
    let (buffer, new) = (log_to_buffer(peer), new(1, peer));
    let log = |event: &Event, frames: &[u8]| record(event, Some(&new), frames, Some("Cubic"));
    let at = |ms: u64, what, number| event(1, 1000 + ms, what, number);
    // The peer is unknown before the first packet.
    log(&at(0, STATE, 0), &[]);
    log(&at(1, FRAMES, 5), &[0x01]);
    log(&at(1, SENT, 5), &[]);
    log(&at(2, STATE, 0), &[]);
    // Frames of a packet that was not sent are dropped.
    log(&at(3, FRAMES, 6), &[0x01]);
    log(&at(3, SENT, 7), &[]);
    // Acknowledges 5 to 5, delayed by 2·256 µs.
    log(&at(41, FRAMES, 3), &[0x02, 5, 2, 0, 0]);
    log(&at(41, RECEIVED, 3), &[]);
    log(&Event { by_threshold: 1, ..at(42, LOST, 7) }, &[]);
    let rtt = Rtt {
        latest_ns: 40_000_000,
        smoothed_ns: 40_500_000,
        variation_ns: 20_000_000,
        min_ns: 39_000_000,
        ack_delay_ns: 0,
    };
    log(&Event { phase: phase::RECOVERY, cwnd: 8400, ssthresh: 8400, rtt, ..at(43, STATE, 0) }, &[]);
    log(&Event { phase: phase::CONGESTION_AVOIDANCE, ..at(60, STATE, 0) }, &[]);
    log(&at(70, ECN, 0), &[]);
    log(&Event { phase: phase::RECOVERY, ..at(70, STATE, 0) }, &[]);
    assert!(log_of(1).is_some());
    record(&at(80, CLOSED, 0), None, &[], None);
    assert!(log_of(1).is_none());
    let text = buffer.text();
    let records: Vec<_> = text.split('\u{1e}').skip(2).collect();
    let expected = [
        r#"{"time":1,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":5},"raw":{"length":1200},"frames":[{"frame_type":"ping"}]}}"#,
        r#""congestion_controller":"Cubic""#,
        r#"{"time":2,"name":"quic:congestion_state_updated","data":{"new":"slow_start"}}"#,
        r#"{"time":2,"name":"quic:recovery_metrics_updated","data":{"congestion_window":12000,"bytes_in_flight":1200}}"#,
        r#"{"time":3,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":7},"raw":{"length":1200}}}"#,
        r#""frames":[{"frame_type":"ack","ack_delay":0.512,"acked_ranges":[[5]]}]}}"#,
        r#"{"time":42,"name":"quic:packet_lost","data":{"header":{"packet_type":"1RTT","packet_number":7},"trigger":"reordering_threshold"}}"#,
        r#"{"time":43,"name":"quic:congestion_state_updated","data":{"old":"slow_start","new":"recovery","trigger":"loss"}}"#,
        r#""congestion_window":8400,"ssthresh":8400,"latest_rtt":40,"smoothed_rtt":40.5,"min_rtt":39,"rtt_variance":20}}"#,
        r#"{"old":"recovery","new":"congestion_avoidance"}"#,
        r#""congestion_window":12000"#,
        r#"{"old":"congestion_avoidance","new":"recovery","trigger":"ecn"}"#,
    ];
    assert_eq!(records.len(), expected.len(), "{text}");
    for (record, expected) in records.iter().zip(expected) {
        assert!(record.contains(expected), "expected {expected} in {record}");
    }
}

/// The windows that a flow's recorder writes are not written again.
#[test]
fn a_recorder_writes_the_windows_of_its_flow() {
    let peer = "192.0.2.5:443".parse().unwrap();
    let (buffer, new) = (log_to_buffer(peer), new(5, peer));
    assert!(destination_of(&new).is_some());
    record_controller(&new, "a-tcp", 14_400, true);
    record(&event(5, 1001, trace::STATE, 0), Some(&new), &[], Some("Windlass"));
    record(&event(5, 1002, trace::CLOSED, 0), None, &[], None);
    let text = buffer.text();
    let records: Vec<_> = text.split('\u{1e}').skip(2).collect();
    assert!(records[0].contains(r#""initial_congestion_window":14400"#), "{text}");
    assert!(records[0].contains(r#""congestion_controller":"a-tcp""#), "{text}");
    assert_eq!(
        records[1..],
        ["{\"time\":1,\"name\":\"quic:recovery_metrics_updated\",\"data\":{\"bytes_in_flight\":1200}}\n"]
    );
}

#[test]
fn connections_without_a_destination_have_no_log() {
    let peer: SocketAddr = "192.0.2.2:443".parse().unwrap();
    let other = log_to_buffer(peer);
    let new = new(2, "192.0.2.3:443".parse().unwrap());
    record(&event(2, 1000, trace::SENT, 0), Some(&new), &[], None);
    assert!(destination_of(&new).is_none());
    assert_eq!(other.text(), "");
}

#[test]
fn a_panic_of_the_writer_ends_its_log_only() {
    struct Broken;
    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            panic!("on purpose")
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let peer: SocketAddr = "192.0.2.4:443".parse().unwrap();
    add_source(move |new| {
        (new.peer.address == peer).then(|| Destination {
            trace: Trace::new(Box::new(Broken) as Output, Profile::Ietf, Detail::Packets, &Header::default()).into(),
            origin: Time::ZERO,
            dropped: Arc::default(),
            has_controller: true,
            has_recorder: false,
        })
    });
    let new = new(4, peer);
    for number in 0..2000 {
        record(&event(4, 1000, trace::SENT, number), Some(&new), &[], None);
    }
    assert!(log_of(4).is_none(), "the log was closed");
}
