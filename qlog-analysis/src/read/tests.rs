use std::io::Write;

use super::*;
use crate::model::{EventKind, Metrics, PacketType};

fn all(bytes: &[u8], jobs: usize) -> Result<(Summary, Vec<Batch>), ReadError> {
    let mut batches = Vec::new();
    let options = Options { jobs, state_variables: true, ..Options::default() };
    let summary = read(bytes, &options, &mut |_, batch| {
        batches.push(batch);
        Ok(())
    })?;
    Ok((summary, batches))
}

const HEADER: &str =
    r#"{"file_schema":"urn:ietf:params:qlog:file:sequential","trace":{"vantage_point":{"type":"client"}}}"#;

fn sequence(records: &[&str]) -> Vec<u8> {
    let mut text = format!("\x1e{HEADER}\n");
    for record in records {
        text.push_str(&format!("\x1e{record}\n"));
    }
    text.into_bytes()
}

const SENT: &str = r#"{"time":1.5,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":7},"raw":{"length":1200},"frames":[{"frame_type":"ack","ack_delay":0.5,"acked_ranges":[[1],[3,5]]},{"frame_type":"stream","stream_id":4,"offset":10,"raw":{"length":90},"fin":true}]}}"#;

#[test]
fn a_bad_record_costs_that_record() {
    let records = [SENT, "{\"time\":2,", "nonsense", "{\"time\":3}", "{\"name\":\"a:b\",\"data\":{}}", SENT];
    let (summary, batches) = all(&sequence(&records), 1).unwrap();
    assert_eq!((summary.events, summary.bad_records), (2, 4));
    let bad: Vec<u64> = batches[0].bad.iter().map(|bad| bad.record).collect();
    assert_eq!(bad, [3, 4, 5, 6], "counted with the header");
    assert_eq!(batches[0].packets.len(), 2, "nothing of a bad record stays");
}

/// quicX writes its header on two lines, the second with the unit of times.
#[test]
fn a_header_may_go_on_in_a_second_line() {
    let first = r#"{"qlog_format":"JSON-SEQ","qlog_version":"0.4"}"#;
    let second = r#"{"title":"a","vantage_point":{"type":"client"},"configuration":{"time_units":"us"}}"#;
    let event = r#"{"time":1500,"name":"quic:packet_sent","data":{"header":{"packet_number":0},"raw":{"length":9}}}"#;
    let lines = format!("{first}\n{second}\n{event}\n").into_bytes();
    let records = format!("\x1e{first}\n\x1e{second}\n\x1e{event}\n").into_bytes();
    for file in [lines, records] {
        let (summary, batches) = all(&file, 1).unwrap();
        assert_eq!((summary.events, summary.bad_records), (1, 0));
        assert_eq!(batches[0].events[0].time, 1_500_000, "microseconds");
    }
    // What has a name is an event.
    let named = format!("{first}\n{{\"name\":\"a:b\",\"vantage_point\":{{}}}}\n").into_bytes();
    assert_eq!(all(&named, 1).unwrap().0.bad_records, 1);
}

#[test]
fn fields_of_a_packet_are_kept() {
    let (_, batches) = all(&sequence(&[SENT]), 1).unwrap();
    let batch = &batches[0];
    let event = batch.events[0];
    assert_eq!((event.time, event.kind), (1_500_000, EventKind::PacketSent(0)));
    let packet = batch.packets[0];
    assert_eq!((packet.kind, packet.number, packet.bytes), (PacketType::OneRtt, Some(7), Some(1200)));
    assert_eq!((packet.ack_eliciting, packet.ack_delay), (Some(true), Some(500_000)));
    assert_eq!(batch.ranges_of(&packet), [(1, 1), (3, 5)]);
    let stream = batch.streams_of(&packet)[0];
    assert_eq!((stream.id, stream.offset, stream.length, stream.fin), (4, 10, 90, true));
}

#[test]
fn fields_may_come_in_any_order() {
    let late = r#"{"data":{"bytes_in_flight":5},"name":"recovery:metrics_updated","time":"2"}"#;
    let (_, batches) = all(&sequence(&[late]), 1).unwrap();
    assert_eq!(batches[0].metrics[0].bytes_in_flight, Some(5));
    let split = r#"{"type":"metrics_updated","category":"recovery","data":{"cwnd":"9"},"time":2}"#;
    let (_, batches) = all(&sequence(&[split]), 1).unwrap();
    assert_eq!(batches[0].metrics[0].cwnd, Some(9));
}

#[test]
fn one_trace_reads_the_same_in_every_framing_and_compression() {
    let records = [SENT; 5];
    let plain = sequence(&records);
    let lines = format!("{HEADER}\n{}\n", records.join("\n")).into_bytes();
    let contained = format!(
        r#"{{"qlog_version":"0.3","traces":[{{"vantage_point":{{"type":"client"}},"events":[{}]}}]}}"#,
        records.join(",\n ")
    );
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&plain).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = zstd::encode_all(plain.as_slice(), 1).unwrap();
    let (_, expected) = all(&plain, 1).unwrap();
    for (what, bytes) in [("lines", lines), ("contained", contained.into_bytes()), ("gzip", gzip), ("zstd", zstd)] {
        let mut batches = Vec::new();
        let options = Options { state_variables: true, ..Options::default() };
        let input = Input::new(bytes.as_slice()).unwrap();
        read(input, &options, &mut |_, batch| {
            // The header is of another generation in some.
            batches.push(Batch { schema_version: expected[0].schema_version, ..batch });
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(batches, expected, "{what}");
    }
}

#[test]
fn a_document_that_breaks_off_gives_what_came_before() {
    let text = format!(r#"{{"qlog_version":"draft-02","traces":[{{"events":[{SENT},{SENT},{{"time":4,"#);
    let (summary, _) = all(text.as_bytes(), 1).unwrap();
    assert_eq!((summary.events, summary.bad_records), (2, 1));
}

#[test]
fn times_may_be_differences() {
    let header = r#"{"qlog_version":"0.3","trace":{"common_fields":{"time_format":"delta"}}}"#;
    let mut text = format!("\x1e{header}\n");
    let count = 40_000;
    for _ in 0..count {
        text.push_str("\x1e{\"time\":2,\"name\":\"recovery:metrics_updated\",\"data\":{\"bytes_in_flight\":1}}\n");
    }
    let (_, batches) = all(text.as_bytes(), 2).unwrap();
    assert!(batches.len() > 2, "several blocks");
    let times: Vec<i64> = batches.iter().flat_map(|batch| batch.events.iter().map(|event| event.time)).collect();
    let expected: Vec<i64> = (1..=count).map(|n| n * 2_000_000).collect();
    assert_eq!(times, expected);
}

#[test]
fn seconds_are_recognised_by_acknowledgements() {
    let mut records = Vec::new();
    for number in 0..6 {
        let sent = number * 100;
        records.push(format!(
            r#"{{"time":{sent},"name":"transport:packet_sent","data":{{"header":{{"packet_type":"1RTT","packet_number":{number}}},"frames":[{{"frame_type":"ping"}}]}}}}"#
        ));
        records.push(format!(
            r#"{{"time":{},"name":"transport:packet_received","data":{{"header":{{"packet_type":"1RTT"}},"frames":[{{"frame_type":"ack","acked_ranges":[[{number}]]}}]}}}}"#,
            sent + 50
        ));
        records.push(format!(
            r#"{{"time":{},"name":"recovery:metrics_updated","data":{{"latest_rtt":0.05}}}}"#,
            sent + 50
        ));
    }
    let records: Vec<&str> = records.iter().map(String::as_str).collect();
    let (summary, batches) = all(&sequence(&records), 1).unwrap();
    assert_eq!(summary.traces[0].units.rtt, Some("s"));
    assert!(batches[0].metrics.iter().all(|metrics| metrics.latest_rtt == Some(50_000_000)));
}

#[test]
fn what_is_no_qlog_is_refused_with_the_reason() {
    for (bytes, expected) in [
        (&b""[..], "nothing is in it"),
        (b" \n ", "nothing is in it"),
        (b"hello", "does not begin with a JSON object"),
        (b"{\"a\":1}", "neither file_schema nor qlog_version"),
        (b"\x1e{\"time\":1}\n", "neither file_schema nor qlog_version"),
        (b"\x1e{\"time\"\n", "cannot be read"),
        (b"\x1e[]\n", "no JSON object"),
    ] {
        let error = all(bytes, 1).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn numbers_without_bound_are_none_in_every_field() {
    let metrics = |data: &str| {
        let record = format!(r#"{{"time":1,"name":"quic:recovery_metrics_updated","data":{{{data}}}}}"#);
        let (_, batches) = all(&sequence(&[&record]), 1).unwrap();
        let Metrics { ssthresh, pacing_rate, cwnd, .. } = batches[0].metrics[0];
        (ssthresh, pacing_rate, cwnd)
    };
    // quiche's rate before its first decision, in bytes; then the same in bits.
    for number in [(1_u64 << 61) - 1, u64::MAX, i64::MAX as u64] {
        assert_eq!(metrics(&format!(r#""pacing_rate":{number},"congestion_window":{number}"#)), (None, None, None));
    }
    for number in [u64::MAX, i64::MAX as u64, 1 << 62, u64::from(u32::MAX)] {
        assert_eq!(metrics(&format!(r#""ssthresh":{number}"#)), (None, None, None));
    }
    let large = r#""ssthresh":1000000000000,"pacing_rate":1000000000000,"congestion_window":4294967295"#;
    assert_eq!(metrics(large), (Some(1_000_000_000_000), Some(1_000_000_000_000), Some(4_294_967_295)));
}

#[test]
fn an_infinite_threshold_is_none_and_unknown_fields_are_counted() {
    let record = r#"{"time":1,"name":"quic:recovery_metrics_updated","data":{"ssthresh":18446744073709551615,"congestion_window":5,"cc_w_max":2.5,"odd":"x"}}"#;
    let (_, batches) = all(&sequence(&[record]), 1).unwrap();
    let batch = &batches[0];
    assert_eq!((batch.metrics[0].ssthresh, batch.metrics[0].cwnd), (None, Some(5)));
    assert_eq!((batch.name(batch.state_variables[0].name), batch.state_variables[0].value), ("cc_w_max", 2.5));
    let unknown: Vec<_> = batch.unknown.iter().map(|(name, count)| (batch.name(*name), *count)).collect();
    assert_eq!(unknown, [("odd", 1)]);
}

#[test]
fn a_network_log_is_put_together_again() {
    let constants = r#"{"logEventTypes":{"QUIC_SESSION":1,"QUIC_SESSION_PACKET_SENT":2,"QUIC_SESSION_STREAM_FRAME_SENT":3,"QUIC_SESSION_PACKET_RECEIVED":4,"QUIC_SESSION_UNAUTHENTICATED_PACKET_HEADER_RECEIVED":5,"QUIC_SESSION_ACK_FRAME_RECEIVED":6,"QUIC_SESSION_PACKET_LOST":7,"QUIC_SESSION_ACK_FRAME_SENT":8,"QUIC_CONGESTION_CONTROL_CONFIGURED":9},"logSourceType":{"QUIC_SESSION":13},"logFormatVersion":1}"#;
    let event = |time: u64, kind: u64, source: u64, params: &str| {
        format!(
            r#"{{"params":{{{params}}},"phase":0,"source":{{"id":5,"type":{source}}},"time":"{time}","type":{kind}}}"#
        )
    };
    let sent = |number: u64, us: u64| {
        format!(
            r#""encryption_level":"ENCRYPTION_FORWARD_SECURE","packet_number":{number},"sent_time_us":{us},"size":1250"#
        )
    };
    let events = [
        event(100, 1, 13, r#""connection_id":"ab""#),
        event(100, 9, 13, r#""congestion_control_type":"CUBIC_BYTES""#),
        event(100, 3, 13, r#""stream_id":4,"offset":0,"length":1200,"fin":false"#),
        event(100, 2, 13, &sent(1, 100_250)),
        event(100, 3, 13, r#""stream_id":4,"offset":1200,"length":1200,"fin":true"#),
        event(100, 2, 13, &sent(2, 100_500)),
        event(100, 3, 99, r#""of":"another source""#),
        event(100, 77, 13, ""),
        event(100, 8, 13, ""),
        event(100, 2, 13, &sent(3, 100_900)),
        event(140, 4, 13, r#""size":40"#),
        event(140, 5, 13, r#""packet_number":0"#),
        // Chromium logs losses before the ACK that showed them.
        event(141, 7, 13, r#""packet_number":2,"detection_time_us":141300"#),
        event(
            141,
            6,
            13,
            r#""largest_observed":3,"smallest_observed":1,"missing_packets":[2],"delta_time_largest_observed_us":90"#,
        ),
        event(141, 3, 13, r#""stream_id":4,"offset":1200,"length":1200,"fin":true"#),
        event(141, 2, 13, &sent(4, 141_700)),
    ];
    // The file breaks off.
    let text = format!("{{\"constants\":{constants},\n\"events\": [\n{},\n{{\"par", events.join(",\n"));
    let (summary, batches) = all(text.as_bytes(), 2).unwrap();
    assert_eq!((summary.framing, summary.bad_records), (Framing::Netlog, 1));
    assert_eq!(summary.traces[0].controller, "CUBIC_BYTES");
    let mut events = Vec::new();
    for batch in &batches {
        for event in &batch.events {
            assert_eq!(batch.name(event.group), "ab");
            let (packet, what) = match event.kind {
                EventKind::PacketSent(index) => (index, "sent"),
                EventKind::PacketReceived(index) => (index, "received"),
                EventKind::PacketLost(index) => (index, "lost"),
                _ => continue,
            };
            let packet = batch.packets[packet as usize];
            let data = batch.streams_of(&packet).iter().map(|frame| frame.length).sum::<u64>();
            events.push((
                event.time / 1000,
                what,
                packet.number,
                packet.bytes,
                data,
                batch.ranges_of(&packet).to_vec(),
            ));
        }
    }
    let expected = [
        (100_250, "sent", Some(1), Some(1250), 1200, vec![]),
        (100_500, "sent", Some(2), Some(1250), 1200, vec![]),
        (100_900, "sent", Some(3), Some(1250), 0, vec![]),
        (140_000, "received", Some(0), Some(40), 0, vec![(1, 1), (3, 3)]),
        (141_300, "lost", Some(2), None, 0, vec![]),
        (141_700, "sent", Some(4), Some(1250), 1200, vec![]),
    ];
    assert_eq!(events, expected);
    let unknown: u64 = batches.iter().flat_map(|batch| batch.unknown.values()).sum();
    assert_eq!(unknown, 1, "event type 77");
}

mod hostile {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn no_bytes_make_it_fail(bytes in prop::collection::vec(any::<u8>(), 0..200), framed in any::<bool>()) {
            let mut file = if framed { sequence(&[SENT]) } else { Vec::new() };
            file.extend(bytes);
            let _ = all(&file, 1);
        }

        #[test]
        fn no_damage_makes_it_fail(at in 0_usize..600, byte in any::<u8>(), cut in 0_usize..600) {
            for text in [sequence(&[SENT, SENT]), format!(r#"{{"traces":[{{"events":[{SENT}]}}]}}"#).into_bytes()] {
                let mut damaged = text.clone();
                if let Some(place) = damaged.get_mut(at) {
                    *place = byte;
                }
                let _ = all(&damaged, 1);
                damaged.truncate(cut);
                let _ = all(&damaged, 1);
            }
        }
    }
}

/// What `bytes` holds when it is cut to nine tenths: events, records that cannot be read, what is said.
fn of_cut(bytes: &[u8]) -> (u64, u64, Vec<String>) {
    let cut = Input::new(&bytes[..bytes.len() * 9 / 10]).unwrap();
    let summary = read(cut, &Options::default(), &mut |_, _| Ok(())).unwrap();
    (summary.events, summary.bad_records, summary.doubts())
}

#[test]
fn a_compressed_file_that_was_cut_gives_what_decompresses_before_its_end() {
    // Different numbers, so that it does not compress to nothing.
    let events: Vec<String> =
        (0..40_000_u64).map(|n| format!(r#"{{"time":{n},"name":"a:b","data":{{"x":{}}}}}"#, n * n % 8191)).collect();
    let text = sequence(&events.iter().map(String::as_str).collect::<Vec<_>>());
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&text).unwrap();
    let mut packed = vec![gzip.finish().unwrap()];
    #[cfg(feature = "zstd")]
    packed.push(zstd::encode_all(text.as_slice(), 1).unwrap());
    for bytes in packed {
        let (found, bad, doubts) = of_cut(&bytes);
        assert!((20_000..40_000).contains(&found) && bad <= 1, "{found} events, {bad} bad records");
        assert!(doubts[0].starts_with("the compressed stream is cut or damaged ("), "{doubts:?}");
        // Nothing at all is no trace.
        let nothing = Input::new(&bytes[..8]).and_then(|mut input| io::read_to_string(&mut input));
        assert!(nothing.is_err());
        let whole = Input::new(bytes.as_slice()).unwrap();
        assert_eq!(read(whole, &Options::default(), &mut |_, _| Ok(())).unwrap().doubts(), [""; 0]);
    }
}

#[test]
fn a_document_that_is_no_whole_json_says_so() {
    let event = r#"{"time":1,"name":"a:b","data":{}}"#;
    let whole = format!(r#"{{"qlog_version":"0.3","traces":[{{"events":[{event},{event}]}}]}}"#);
    let doubts = |text: &str| {
        let (summary, _) = all(text.as_bytes(), 1).unwrap();
        (summary.events, summary.doubts())
    };
    assert_eq!(doubts(&whole), (2, vec![]));
    let (_, said) = doubts(&whole[..whole.len() - 4]);
    assert_eq!(said, ["the document breaks off; what could be read of it is taken"], "between two events");
    let (_, said) = doubts(&whole.replace(&format!("{event},"), &format!("{event} torn , ")));
    assert_eq!(said[0], "4 bytes of the document stand where JSON has none; what could be read of it is taken");
    let header = r#"{"qlog_version":"0.3","trace":{}"#;
    assert_eq!(doubts(header), (0, vec!["the header breaks off; what could be read of it is taken".to_owned()]));
    assert_eq!(doubts(&format!("{header}}}")), (0, vec![]), "a log without events");
    let (_, said) = doubts(&format!("{whole} more"));
    assert!(said[0].contains("what follows is not read"), "{said:?}");
}

#[test]
fn a_capture_is_refused_with_the_way_to_a_trace() {
    for first in [[0x0a, 0x0d, 0x0d, 0x0a], [0xd4, 0xc3, 0xb2, 0xa1]] {
        let file = [&first[..], &[0; 40]].concat();
        let error = read(file.as_slice(), &Options::default(), &mut |_, _| Ok(())).unwrap_err().to_string();
        assert!(error.contains("capture") && error.contains("windlass qlog convert"), "{error}");
    }
}

#[test]
fn windows_in_packets_are_doubted() {
    let trace = |windows: &[u64]| {
        let event = |window: &u64| {
            format!(
                "{{\"time\":1,\"name\":\"quic:recovery_metrics_updated\",\"data\":{{\"congestion_window\":{window}}}}}"
            )
        };
        let records: Vec<String> = windows.iter().map(event).collect();
        let records: Vec<&str> = records.iter().map(String::as_str).collect();
        read(crate::metrics::tests::file(&records).as_slice(), &Options::default(), &mut |_, _| Ok(()))
            .unwrap()
            .doubts()
    };
    let doubts = trace(&[10, 11, 12, 13, 14, 15, 20, 30, 40, 55]);
    assert!(
        doubts[0].starts_with("none of its congestion windows is larger than 55: they may be in packets"),
        "{doubts:?}"
    );
    assert_eq!(trace(&[10, 11, 12, 13, 14, 15, 20, 30, 40, 12_000]), [""; 0]);
    assert_eq!(trace(&[10; 9]), [""; 0], "too few to say");
}
