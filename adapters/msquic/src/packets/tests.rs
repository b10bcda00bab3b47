use std::net::SocketAddr;

use super::*;

/// Bytes written, to be read while others write.
#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Page {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

fn traced(connection: u64, ms: u64, what: u8, number: u64) -> abi::Traced {
    abi::Traced {
        connection,
        now_us: ms * 1000,
        path: std::ptr::null(),
        number,
        frames: std::ptr::null(),
        controller: std::ptr::null(),
        rtt: abi::Rtt::default(),
        bytes: 1200,
        cwnd: 12_000,
        in_flight: 1200,
        ssthresh: u32::MAX,
        what,
        packet_type: abi::packet_type::ONE_RTT,
        phase: abi::phase::SLOW_START,
        by_threshold: 0,
        ack_delay_exponent: 8,
        reserved: [0; 3],
    }
}

/// A page for every connection with this peer, from 1 s of MsQuic's clock.
fn page(peer: SocketAddr) -> Page {
    let page = Page::default();
    let output = page.clone();
    ask(move |new| {
        let header = Header { title: "test", ..Header::default() };
        let output = Box::new(output.clone()) as Output;
        (new.peer.address == peer).then(|| Place {
            trace: Trace::new(output, Profile::Ietf, Detail::Packets, &header).into(),
            origin: Time::from_micros(1_000_000),
            lost: Arc::default(),
            named: false,
            recorded: false,
        })
    });
    page
}

fn new(connection: u64, peer: SocketAddr) -> NewTrace<'static> {
    let now = Time::from_micros(1_000_000);
    NewTrace { connection, peer: Peer { address: peer, name: None }, client: true, app: None, now, mtu: 1200 }
}

#[test]
fn packets_losses_and_metrics_are_written() {
    use abi::traced::{CLOSED, ECN, FRAMES, LOST, RECEIVED, SENT, STATE};
    let peer = "192.0.2.1:443".parse().unwrap();
    let (page, new) = (page(peer), new(1, peer));
    let tell = |told: &abi::Traced, frames: &[u8]| tell(told, Some(&new), frames, Some("Cubic"));
    let at = |ms: u64, what, number| traced(1, 1000 + ms, what, number);
    // Nothing is known of a peer before the first packet.
    tell(&at(0, STATE, 0), &[]);
    tell(&at(1, FRAMES, 5), &[0x01]);
    tell(&at(1, SENT, 5), &[]);
    tell(&at(2, STATE, 0), &[]);
    // Frames of a packet that never left are not another's.
    tell(&at(3, FRAMES, 6), &[0x01]);
    tell(&at(3, SENT, 7), &[]);
    // 5 to 5, delayed by 2·256 µs.
    tell(&at(41, FRAMES, 3), &[0x02, 5, 2, 0, 0]);
    tell(&at(41, RECEIVED, 3), &[]);
    tell(&abi::Traced { by_threshold: 1, ..at(42, LOST, 7) }, &[]);
    let rtt =
        abi::Rtt { latest_us: 40_000, smoothed_us: 40_500, variation_us: 20_000, min_us: 39_000, ack_delay_us: 0 };
    tell(&abi::Traced { phase: abi::phase::RECOVERY, cwnd: 8400, ssthresh: 8400, rtt, ..at(43, STATE, 0) }, &[]);
    tell(&abi::Traced { phase: abi::phase::CONGESTION_AVOIDANCE, ..at(60, STATE, 0) }, &[]);
    tell(&at(70, ECN, 0), &[]);
    tell(&abi::Traced { phase: abi::phase::RECOVERY, ..at(70, STATE, 0) }, &[]);
    assert!(file_of(1).is_some());
    super::tell(&at(80, CLOSED, 0), None, &[], None);
    assert!(file_of(1).is_none());
    let text = page.text();
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

/// What a flow's recorder writes itself is not written again.
#[test]
fn a_recorded_flow_has_one_who_tells_its_windows() {
    let peer = "192.0.2.5:443".parse().unwrap();
    let (page, new) = (page(peer), new(5, peer));
    assert!(place_of(&new).is_some());
    name(&new, "a-tcp", 14_400, true);
    tell(&traced(5, 1001, abi::traced::STATE, 0), Some(&new), &[], Some("Windlass"));
    tell(&traced(5, 1002, abi::traced::CLOSED, 0), None, &[], None);
    let text = page.text();
    let records: Vec<_> = text.split('\u{1e}').skip(2).collect();
    assert!(records[0].contains(r#""initial_congestion_window":14400"#), "{text}");
    assert!(records[0].contains(r#""congestion_controller":"a-tcp""#), "{text}");
    assert_eq!(
        records[1..],
        ["{\"time\":1,\"name\":\"quic:recovery_metrics_updated\",\"data\":{\"bytes_in_flight\":1200}}\n"]
    );
}

#[test]
fn connections_nobody_wants_have_no_file() {
    let peer: SocketAddr = "192.0.2.2:443".parse().unwrap();
    let other = page(peer);
    let new = new(2, "192.0.2.3:443".parse().unwrap());
    tell(&traced(2, 1000, abi::traced::SENT, 0), Some(&new), &[], None);
    assert!(place_of(&new).is_none());
    assert_eq!(other.text(), "");
}

#[test]
fn a_writer_that_panics_ends_its_file_and_no_more() {
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
    ask(move |new| {
        (new.peer.address == peer).then(|| Place {
            trace: Trace::new(Box::new(Broken) as Output, Profile::Ietf, Detail::Packets, &Header::default()).into(),
            origin: Time::ZERO,
            lost: Arc::default(),
            named: true,
            recorded: false,
        })
    });
    let new = new(4, peer);
    for number in 0..2000 {
        tell(&traced(4, 1000, abi::traced::SENT, number), Some(&new), &[], None);
    }
    assert!(file_of(4).is_none(), "it was given up");
}
