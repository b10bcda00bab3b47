//! The writer from outside: what stands in the file.

use windlass_qlog::{
    Ack, ConnectionId, Detail, EcnCounts, Frame, Header, LossTrigger, Metrics, Packet, PacketType, Profile,
    RecoveryParameters, SendTrigger, Side, Trace, TransportParameters,
};

const MS: u64 = 1_000_000;

fn metrics(cwnd: u64, bytes_in_flight: u64) -> Metrics {
    Metrics { cwnd: Some(cwnd), bytes_in_flight: Some(bytes_in_flight), ..Metrics::default() }
}

/// A small flow that meets a loss.
fn small(profile: Profile, detail: Detail) -> Vec<u8> {
    let header = Header {
        title: "small \"flow\"",
        description: "one loss",
        name: "sender",
        group_id: "00112233",
        ..Header::default()
    };
    let mut trace = Trace::new(Vec::new(), profile, detail, &header);
    trace.recovery_parameters_set(0, &RecoveryParameters::rfc9002("reno:iw=10", 1200));
    let remote = TransportParameters { initial_max_data: Some(20_000), ..TransportParameters::default() };
    trace.parameters_set(0, Side::Remote, &remote);
    trace.congestion_state(0, "slow_start", None);
    let hello = Packet { kind: PacketType::Initial, number: 0, bytes: 1200, trigger: None };
    trace.packet_sent(0, &hello, &[Frame::Crypto { offset: 0, length: 300 }, Frame::Padding { length: 850 }]);
    for number in 0..4 {
        let now = 10 * MS + number * 1_234_567;
        let frame = Frame::Stream { id: 0, offset: number * 1160, length: 1160, fin: number == 3 };
        trace.packet_sent(now, &Packet::one_rtt(number, 1200), &[frame]);
        trace.recovery_metrics(now, &metrics(12_000, (number + 1) * 1200));
    }
    let rtt = Metrics {
        latest_rtt: Some(40 * MS + 1),
        smoothed_rtt: Some(40 * MS),
        min_rtt: Some(40 * MS),
        rtt_variance: Some(20 * MS),
        app_limited: Some(false),
        ..metrics(13_200, 2400)
    };
    let ecn = Some(EcnCounts { ect0: 2, ect1: 0, ce: 1 });
    let ranges = [(3, 3), (0, 0)];
    let ack = Ack { delay_ns: Some(125_000), ranges: &ranges, ecn };
    trace.packet_received(50 * MS, &Packet::one_rtt(0, 45), &[Frame::Ack(ack), Frame::MaxData { maximum: 40_000 }]);
    trace.recovery_metrics(50 * MS, &rtt);
    trace.packet_lost(58 * MS, PacketType::OneRtt, 1, Some(LossTrigger::TimeThreshold));
    trace.congestion_state(58 * MS, "recovery", Some("loss"));
    let halved = Metrics { ssthresh: Some(6600), pacing_rate: Some(1_650_000), ..metrics(6600, 1200) };
    trace.recovery_metrics(58 * MS, &halved);
    let probe = Packet { trigger: Some(SendTrigger::PtoProbe), ..Packet::one_rtt(4, 40) };
    trace.packet_sent(60 * MS, &probe, &[Frame::Ping]);
    trace.private(60 * MS, "windlass:note", &[("base_rtt_ms", 40.25)].into_iter().collect::<Facts>());
    let again = Ack { delay_ns: Some(0), ranges: &[(2, 4), (0, 0)], ecn: None };
    trace.packet_received(100 * MS, &Packet::one_rtt(1, 45), &[Frame::Ack(again)]);
    trace.mtu_updated(101 * MS, Some(1200), 1400);
    trace.finish().unwrap()
}

type Facts = std::collections::BTreeMap<&'static str, f64>;

fn compare(name: &str, bytes: &[u8]) {
    let path = format!("{}/tests/expected/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("WINDLASS_BLESS").is_some() {
        std::fs::write(&path, bytes).unwrap();
    }
    let expected = std::fs::read(&path).unwrap();
    assert_eq!(String::from_utf8_lossy(bytes), String::from_utf8_lossy(&expected), "{path}");
}

#[test]
fn parameters_tell_by_which_id_a_server_was_first_addressed() {
    let id = ConnectionId::new(&[0, 0xab, 7]);
    assert_eq!(ConnectionId::new(&[1; 21]), None, "no connection ID is longer than 20 bytes");
    let parameters =
        TransportParameters { original_destination_connection_id: id, max_ack_delay: Some(25), ..Default::default() };
    let mut trace = Trace::new(Vec::new(), Profile::Ietf, Detail::Packets, &Header::default());
    trace.parameters_set(0, Side::Remote, &parameters);
    let text = String::from_utf8(trace.finish().unwrap()).unwrap();
    let expected = r#"{"initiator":"remote","original_destination_connection_id":"00ab07","max_ack_delay":25}"#;
    assert!(text.contains(expected), "{text}");
}

#[test]
fn small_flow_in_the_ietf_profile() {
    compare("small-ietf.txt", &small(Profile::Ietf, Detail::Packets));
}

#[test]
fn small_flow_in_the_qvis_profile() {
    compare("small-qvis.txt", &small(Profile::Qvis, Detail::Packets));
}

#[test]
fn small_flow_without_its_packets() {
    compare("small-ietf-recovery.txt", &small(Profile::Ietf, Detail::Recovery { every_ns: 10 * MS }));
    compare("small-qvis-recovery.txt", &small(Profile::Qvis, Detail::Recovery { every_ns: 10 * MS }));
}

#[test]
fn equal_flows_give_equal_bytes() {
    for profile in [Profile::Ietf, Profile::Qvis] {
        for detail in [Detail::Packets, Detail::Recovery { every_ns: 0 }] {
            assert_eq!(small(profile, detail), small(profile, detail));
        }
    }
}

#[test]
fn every_record_is_json_between_separator_and_newline() {
    for profile in [Profile::Ietf, Profile::Qvis] {
        let file = small(profile, Detail::Packets);
        let records: Vec<_> = file.split_inclusive(|&byte| byte == b'\n').collect();
        for record in &records {
            let record = record.strip_prefix(b"\x1e").unwrap().strip_suffix(b"\n").unwrap();
            assert!(serde_json::from_slice::<serde_json::Value>(record).unwrap().is_object());
        }
        assert!(records.len() > 15);
    }
}

#[test]
fn time_never_goes_back() {
    let mut trace = Trace::new(Vec::new(), Profile::Ietf, Detail::Packets, &Header::default());
    trace.mtu_updated(5, None, 1200);
    trace.mtu_updated(3, None, 1300);
    assert_eq!((trace.records(), trace.late()), (2, 1));
    let file = String::from_utf8(trace.finish().unwrap()).unwrap();
    assert_eq!(file.matches("{\"time\":0.000005,").count(), 2, "{file}");
}

#[test]
fn the_origin_is_subtracted() {
    let header = Header { origin_ns: 5 * MS, ..Header::default() };
    let mut trace = Trace::new(Vec::new(), Profile::Ietf, Detail::Packets, &header);
    trace.mtu_updated(7 * MS, None, 1200);
    trace.mtu_updated(u64::MAX, None, 1300);
    let file = String::from_utf8(trace.finish().unwrap()).unwrap();
    assert!(file.contains("{\"time\":2,") && file.contains("{\"time\":18446744073704.551615,"), "{file}");
    let mut trace = Trace::new(Vec::new(), Profile::Ietf, Detail::Packets, &header);
    trace.mtu_updated(MS, None, 1200);
    assert_eq!(trace.late(), 1);
    let file = String::from_utf8(trace.finish().unwrap()).unwrap();
    assert!(file.contains("{\"time\":0,"), "a time before the origin is the origin: {file}");
}

#[test]
fn integers_beyond_2_to_the_53_are_strings() {
    let mut trace = Trace::new(Vec::new(), Profile::Ietf, Detail::Packets, &Header::default());
    trace.recovery_metrics(0, &Metrics { ssthresh: Some(u64::MAX), ..metrics(1 << 53, (1 << 53) - 1) });
    let file = String::from_utf8(trace.finish().unwrap()).unwrap();
    assert!(file.contains(r#""congestion_window":"9007199254740992","bytes_in_flight":9007199254740991}"#), "{file}");
}

#[test]
fn qvis_acks_name_each_packet_once_and_the_largest_always() {
    let mut trace = Trace::new(Vec::new(), Profile::Qvis, Detail::Packets, &Header::default());
    for (time, ranges) in [(1, [(0, 999_999)]), (2, [(0, 1_000_000)]), (3, [(5, 1_000_000)])] {
        let ack = Ack { ranges: &ranges, ..Ack::default() };
        trace.packet_received(time, &Packet::one_rtt(time, 40), &[Frame::Ack(ack)]);
    }
    let file = String::from_utf8(trace.finish().unwrap()).unwrap();
    for ranges in ["[[0,999999]]", "[[1000000,1000000]]", "[[1000000,1000000]]"] {
        assert!(file.contains(&format!("\"acked_ranges\":{ranges}")), "{ranges}: {file}");
    }
}

#[test]
fn thinned_metrics_keep_losses_states_and_the_last_word() {
    let every = 10 * MS;
    let mut trace = Trace::new(Vec::new(), Profile::Ietf, Detail::Recovery { every_ns: every }, &Header::default());
    for ms in 0..100 {
        trace.recovery_metrics(ms * MS, &metrics(10_000 + ms, 1));
        if ms == 55 {
            trace.packet_lost(ms * MS, PacketType::OneRtt, 7, None);
            trace.congestion_state(ms * MS, "recovery", Some("loss"));
            trace.recovery_metrics(ms * MS, &metrics(5_000, 1));
            // A loss that the window does not answer is no reason to write metrics.
            trace.packet_lost(ms * MS, PacketType::OneRtt, 8, None);
            trace.recovery_metrics(ms * MS, &metrics(5_000, 2));
        }
    }
    let file = String::from_utf8(trace.finish().unwrap()).unwrap();
    let times: Vec<&str> = file
        .lines()
        .filter_map(|line| line.split_once("metrics_updated").map(|(head, _)| head))
        .filter_map(|head| head.split(['{', ',']).nth(1))
        .collect();
    let expected: Vec<String> =
        [0, 10, 20, 30, 40, 50, 55, 55, 65, 75, 85, 95, 95].map(|ms| format!("\"time\":{ms}")).into();
    assert_eq!(times, expected);
    let lines: Vec<_> = file.lines().collect();
    let loss = lines.iter().position(|line| line.contains("packet_lost")).unwrap();
    assert!(lines[loss + 1].contains("\"congestion_window\":10055"), "metrics up to the new state come before it");
    assert!(lines[loss + 2].contains("congestion_state_updated"));
    assert!(lines[loss + 3].contains("\"congestion_window\":5000"), "and the window that answers at once");
    assert!(lines[loss + 4].contains("packet_lost"));
    assert!(lines[lines.len() - 1].contains("\"congestion_window\":10099"));
}

#[test]
fn a_writer_that_fails_is_reported_at_the_end() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("disk full"))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut trace = Trace::new(Full, Profile::Ietf, Detail::Packets, &Header::default());
    for time in 0..10_000 {
        trace.mtu_updated(time, None, 1200);
    }
    assert_eq!(trace.finish().err().unwrap().to_string(), "disk full");
}

#[test]
fn an_unfinished_trace_is_written_when_dropped() {
    let mut file = Vec::new();
    let mut trace = Trace::new(&mut file, Profile::Ietf, Detail::Packets, &Header::default());
    trace.mtu_updated(1, None, 1200);
    drop(trace);
    assert!(file.ends_with(b"{\"new\":1200}}\n"));
}

/// `cargo test --release -p windlass-qlog -- --ignored --nocapture speed`
#[test]
#[ignore = "prints a speed, asserts none"]
fn speed() {
    for profile in [Profile::Ietf, Profile::Qvis] {
        let mut trace = Trace::new(Count(0), profile, Detail::Packets, &Header::default());
        let start = std::time::Instant::now();
        for number in 0..1_000_000u64 {
            let now = number * 123_457;
            let frame = Frame::Stream { id: 0, offset: number * 1160, length: 1160, fin: false };
            trace.packet_sent(now, &Packet::one_rtt(number, 1200), &[frame]);
            let ack = Ack { delay_ns: Some(25_000), ranges: &[(number / 2, number)], ecn: None };
            trace.packet_received(now, &Packet::one_rtt(number, 40), &[Frame::Ack(ack)]);
            let rtt = Metrics {
                latest_rtt: Some(40 * MS + number % 1000),
                smoothed_rtt: Some(40 * MS + number % 777),
                ..metrics(12_000 + number, 1200 + number % 10)
            };
            trace.recovery_metrics(now, &rtt);
        }
        let bytes = trace.finish().unwrap().0 as f64;
        let seconds = start.elapsed().as_secs_f64();
        println!("{profile:?}: {:.0} MB in {seconds:.2} s, {:.0} MB/s", bytes / 1e6, bytes / 1e6 / seconds);
    }
}

struct Count(usize);

impl std::io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
