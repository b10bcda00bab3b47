use super::*;

pub(crate) fn file(records: &[&str]) -> Vec<u8> {
    let header = r#"{"file_schema":"urn:ietf:params:qlog:file:sequential","serialization_format":"application/qlog+json-seq","trace":{"vantage_point":{"type":"server"}}}"#;
    let mut text = format!("\x1e{header}\n");
    for record in records {
        text.push_str(&format!("\x1e{record}\n"));
    }
    text.into_bytes()
}

fn one(records: &[&str]) -> Measures {
    let (summary, mut measured) =
        measure(file(records).as_slice(), &Options { jobs: 1, ..Options::default() }).unwrap();
    assert_eq!(summary.bad_records, 0);
    assert_eq!(measured.len(), 1);
    measured.remove(0).measures
}

fn sent(time: u64, number: u64, offset: u64) -> String {
    format!(
        r#"{{"time":{time},"name":"quic:packet_sent","data":{{"header":{{"packet_type":"1RTT","packet_number":{number}}},"raw":{{"length":1250}},"frames":[{{"frame_type":"stream","stream_id":0,"offset":{offset},"raw":{{"length":1000}}}}]}}}}"#
    )
}

fn acked(time: u64, ranges: &str) -> String {
    format!(
        r#"{{"time":{time},"name":"quic:packet_received","data":{{"header":{{"packet_type":"1RTT","packet_number":{time}}},"raw":{{"length":40}},"frames":[{{"frame_type":"ack","ack_delay":0,"acked_ranges":{ranges},"ce":1}}]}}}}"#
    )
}

fn lost(time: u64, number: u64) -> String {
    format!(
        r#"{{"time":{time},"name":"quic:packet_lost","data":{{"header":{{"packet_type":"1RTT","packet_number":{number}}}}}}}"#
    )
}

fn metrics(time: u64, fields: &str) -> String {
    format!(r#"{{"time":{time},"name":"quic:recovery_metrics_updated","data":{{{fields}}}}}"#)
}

fn as_strs(records: &[String]) -> Vec<&str> {
    records.iter().map(String::as_str).collect()
}

#[test]
fn marks_in_acks_and_recorder_events_count_once() {
    let marked = |packets: u64| format!(r#"{{"time":50,"name":"windlass:marked","data":{{"packets":{packets}}}}}"#);
    let marks = |records: &[String]| one(&as_strs(records)).marks;
    let acks = [sent(0, 0, 0), acked(50, "[[0]]")];
    assert_eq!(marks(&acks), Some(1));
    assert_eq!(marks(&[sent(0, 0, 0), marked(1)]), Some(1));
    assert_eq!(marks(&[sent(0, 0, 0), marked(1), acked(50, "[[0]]")]), Some(1));
    assert_eq!(marks(&[sent(0, 0, 0), acked(50, "[[0]]"), marked(3)]), Some(3));
    // Where ACKs count what the sender marked itself, the recorder tells the network's alone.
    assert_eq!(marks(&[marked(0), sent(0, 0, 0), acked(50, "[[0]]")]), Some(0));
    assert_eq!(marks(&[marked(0), sent(0, 0, 0), acked(50, "[[0]]"), marked(3)]), Some(3));
}

/// Sixteen packets, each acknowledged 20 ms later, and an RTT logged with each ACK.
fn logged_rtts(rtt_ms: u64) -> Vec<String> {
    let each = |i: u64| {
        [
            sent(10 * i, i, 1000 * i),
            acked(10 * i + 20, &format!("[[0,{i}]]")),
            metrics(10 * i + 20, &format!(r#""latest_rtt":{rtt_ms}"#)),
        ]
    };
    let mut records: Vec<(u64, String)> = (0..16)
        .flat_map(each)
        .zip(0..)
        .map(|(record, at)| (10 * (at / 3) + 20 * u64::from(at % 3 > 0), record))
        .collect();
    records.sort_by_key(|(time, _)| *time);
    records.into_iter().map(|(_, record)| record).collect()
}

/// What is logged counts as long as packets and their acknowledgements do not show all of it to be something else.
#[test]
fn rtts_that_no_acknowledgement_shows_are_doubted() {
    let m = one(&as_strs(&logged_rtts(50)));
    assert_eq!((m.rtt.unwrap().min, m.rtt.unwrap().max, m.rtt.unwrap().samples), (20.0, 20.0, 16));
    assert_eq!(m.rtt_logged.unwrap().p50, 50.0);
    assert!(m.doubt().unwrap().contains("50.00 ms as logged (median), 20.00 ms by its packets"), "{:?}", m.doubt());
    for near in [16, 24] {
        let m = one(&as_strs(&logged_rtts(near)));
        assert_eq!((m.rtt.unwrap().p50, m.rtt_logged, m.doubt()), (near as f64, None, None));
    }
    // Few samples may be chance.
    let few = one(&as_strs(&logged_rtts(50)[..27]));
    assert_eq!((few.rtt.unwrap().p50, few.doubt()), (50.0, None));
}

#[test]
fn packets_and_their_fates_are_counted() {
    let records = [
        sent(0, 0, 0),
        sent(10, 1, 1000),
        sent(20, 2, 2000),
        acked(50, "[[0]]"),
        lost(60, 1),
        sent(60, 3, 1000),
        // Packet 1 arrived after all, then its data again.
        acked(80, "[[0,2]]"),
        acked(100, "[[0,3]]"),
    ];
    let m = one(&as_strs(&records));
    assert_eq!(
        (m.packets_sent, m.packets_received, m.packets_lost, m.packets_spurious),
        (Some(4), Some(3), Some(1), Some(1))
    );
    assert_eq!((m.bytes_sent, m.bytes_received), (Some(5000), Some(120)));
    assert_eq!((m.loss, m.spurious), (Some(25.0), Some(100.0)));
    assert_eq!(m.throughput, Some(5000.0 * 8.0 / 0.1 / 1e6));
    assert_eq!(m.goodput, Some(3000.0 * 8.0 / 0.1 / 1e6), "data counts once");
    assert_eq!(m.marks, Some(1), "a total, not a count of each");
    let rtt = m.rtt.unwrap();
    assert_eq!((rtt.samples, rtt.min, rtt.max), (3, 40.0, 60.0));
    let flight = m.in_flight.unwrap();
    assert_eq!((flight.min, flight.max), (0.0, 3750.0));
}

#[test]
fn levels_are_weighted_by_time() {
    let records = [
        metrics(0, r#""congestion_window":10000,"bytes_in_flight":0,"latest_rtt":50"#),
        metrics(900, r#""congestion_window":20000,"latest_rtt":150,"pto_count":1"#),
        metrics(1000, r#""congestion_window":5000,"ssthresh":5000,"pto_count":0,"latest_rtt":100"#),
        metrics(1000, r#""pto_count":2,"ssthresh":18446744073709551615"#),
    ];
    let m = one(&as_strs(&records));
    let cwnd = m.cwnd.unwrap();
    assert_eq!((cwnd.mean, cwnd.min, cwnd.max), (11_000.0, 5000.0, 20_000.0));
    assert_eq!((m.reductions, m.ssthresh, m.timeouts), (Some(1), Some(5000.0), Some(3)));
    let queueing = m.queueing.unwrap();
    assert_eq!((queueing.min, queueing.mean, queueing.max), (0.0, 50.0, 100.0));
    assert!((m.rtt.unwrap().p50 - 100.0).abs() <= 0.1, "within a thousandth");
}

#[test]
fn quantiles_are_within_a_thousandth() {
    let records: Vec<String> = (0..1000).map(|i| metrics(i, &format!(r#""latest_rtt":{}"#, 20 + i))).collect();
    let rtt = one(&as_strs(&records)).rtt.unwrap();
    assert_eq!((rtt.samples, rtt.min, rtt.max, rtt.mean), (1000, 20.0, 1019.0, 519.5));
    for (quantile, exact) in [(rtt.p50, 519.0), (rtt.p90, 919.0), (rtt.p95, 969.0), (rtt.p99, 1009.0)] {
        assert!((quantile / exact - 1.0).abs() < 0.0011, "{quantile} for {exact}");
    }
    let long =
        [metrics(0, r#""latest_rtt":10"#), metrics(1, r#""latest_rtt":1e9"#), metrics(2, r#""latest_rtt":1e12"#)];
    let rtt = one(&as_strs(&long)).rtt.unwrap();
    assert_eq!((rtt.samples, rtt.max), (3, 1e12));
}

#[test]
fn states_share_the_time() {
    let state = |time: u64, new: &str| {
        format!(r#"{{"time":{time},"name":"quic:congestion_state_updated","data":{{"new":"{new}"}}}}"#)
    };
    let records = [
        state(0, "slow_start"),
        state(400, "recovery"),
        state(500, "congestion_avoidance"),
        state(700, "recovery"),
        state(1000, "congestion_avoidance"),
        metrics(2000, ""),
    ];
    let m = one(&as_strs(&records));
    let expected = [("congestion_avoidance", 1.2), ("recovery", 0.4), ("slow_start", 0.4)];
    assert_eq!(m.states.len(), 3);
    for (name, time) in expected {
        assert!((m.states[name] - time).abs() < 1e-9, "{name}");
    }
    assert!((m.recovery_time.unwrap() - 0.2).abs() < 1e-9);
}

#[test]
fn an_acknowledgement_of_everything_costs_nothing() {
    let hostile = format!("[[0,{}]]", u64::MAX >> 2);
    let mut records = vec![sent(0, 5, 0), sent(1, 6, 1000)];
    records.extend((2..2000).map(|time| acked(time, &hostile)));
    let m = one(&as_strs(&records));
    assert_eq!(m.goodput.map(|rate| rate > 0.0), Some(true));
    assert_eq!(m.rtt, None, "what was never sent gives no sample");
}

#[test]
fn an_acknowledgement_from_before_its_packet_is_no_sample() {
    let m = one(&as_strs(&[sent(100, 5, 1000), acked(40, "[[5]]"), sent(200, 6, 1000), acked(230, "[[6]]")]));
    assert_eq!(m.rtt.map(|rtt| (rtt.samples, rtt.min)), Some((1, 30.0)));
}

#[test]
fn connections_of_one_file_are_separate() {
    let of = |group: &str, time: u64| {
        sent(time, time, 0).replacen("{\"time\"", &format!("{{\"group_id\":\"{group}\",\"time\""), 1)
    };
    let records = [of("a", 0), of("b", 1), of("b", 2), of("a", 3)];
    let (_, measured) = measure(file(&as_strs(&records)).as_slice(), &Options::default()).unwrap();
    let groups: Vec<_> = measured.iter().map(|one| (one.group.as_str(), one.measures.packets_sent)).collect();
    assert_eq!(groups, [("a", Some(2)), ("b", Some(2))]);
}

#[test]
fn sharing_is_measured_while_all_are_there() {
    let mut first = Rates::new(0);
    let mut second = Rates::new(0);
    for tenth in 0..200 {
        let now = tenth * 100_000_000;
        // Alone for ten seconds; then three to one for two; then even.
        let (one, other) = match tenth {
            0..100 => (400, 0),
            100..120 => (300, 100),
            _ => (200, 200),
        };
        first.add(now, one);
        if other > 0 {
            second.add(now, other);
        }
    }
    let shares = shares(&[&second, &first]).unwrap();
    assert!((shares.together - 10.0).abs() < 0.2, "{}", shares.together);
    assert_eq!(shares.convergence, Some(2.0));
    let (x1, x2) = (300.0 * 20.0 + 200.0 * 80.0, 100.0 * 20.0 + 200.0 * 80.0);
    assert!((shares.asymmetry.unwrap() - (x1 - x2) / (x1 + x2)).abs() < 0.01);
    let jain = (x1 + x2) * (x1 + x2) / (2.0 * (x1 * x1 + x2 * x2));
    assert!((shares.jain - jain).abs() < 0.01);
    assert_eq!(super::shares(&[&first]), None);
}

#[test]
fn bins_widen_and_keep_their_bytes() {
    let mut rates = Rates::new(0);
    for second in 0..10_000 {
        rates.add(second * 1_000_000_000, 125);
    }
    assert_eq!(rates.bytes.iter().sum::<u64>(), 1_250_000);
    assert!(rates.bytes.len() <= 1 << 14);
    assert!((rates.between(0, 10_000_000_000_000) - 1000.0).abs() < 1.0);
}

#[test]
fn the_window_comes_back_to_what_it_was() {
    let cwnd = |time, bytes: u64| metrics(time, &format!(r#""congestion_window":{bytes}"#));
    let records = [
        cwnd(0, 20_000),
        // Two reductions in a row are one way down; the window before the first is the one to reach again.
        cwnd(100, 10_000),
        cwnd(150, 8000),
        cwnd(300, 19_999),
        cwnd(500, 20_000),
        cwnd(600, 12_000),
        cwnd(800, 13_000),
        cwnd(801, 30_000),
        cwnd(900, 15_000),
    ];
    let m = one(&as_strs(&records));
    assert_eq!(m.reductions, Some(4));
    assert!((m.regain_time.unwrap() - (0.4 + 0.201) / 2.0).abs() < 1e-9, "{:?}", m.regain_time);
    assert_eq!(one(&[&cwnd(0, 20_000), &cwnd(1, 10_000)]).regain_time, None, "it never came back");
}

#[test]
fn the_rate_settles() {
    let mut rates = Rates::new(0);
    for tenth in 0..100 {
        // Nothing for a second, two seconds of slow start, then steady but for one tenth.
        let bytes = match tenth {
            0..10 => 0,
            10..30 => 10 * tenth,
            50 => 0,
            _ => 1000,
        };
        rates.add(tenth * 100_000_000, bytes as u64);
    }
    assert_eq!(rates.settled_after(), Some(2.0));
    let mut short = Rates::new(0);
    (0..30).for_each(|tenth| short.add(tenth * 100_000_000, 1000));
    assert_eq!(short.settled_after(), None, "three seconds say nothing");
    let mut restless = Rates::new(0);
    (0..100).for_each(|tenth| restless.add(tenth * 100_000_000, if tenth / 10 % 2 == 0 { 1000 } else { 100 }));
    assert_eq!(restless.settled_after(), None);
}

#[test]
fn states_without_a_column_are_added_up() {
    let state = |time: u64, new: &str| {
        format!(r#"{{"time":{time},"name":"quic:congestion_state_updated","data":{{"new":"{new}"}}}}"#)
    };
    let records = [state(0, "slow_start"), state(400, "probe_bw"), state(700, "drain"), metrics(1000, "")];
    let m = one(&as_strs(&records));
    let column = |name: &str| Measures::COLUMNS.iter().find(|(column, _)| *column == name).unwrap().1(&m);
    assert_eq!(column("slow_start_s"), Some(0.4));
    assert!((column("other_states_s").unwrap() - 0.6).abs() < 1e-9);
    let none = Measures::COLUMNS.iter().find(|(column, _)| *column == "other_states_s").unwrap().1;
    let time = none(&one(&as_strs(&[state(0, "recovery"), metrics(1000, "")]))).unwrap();
    assert!(time == 0.0 && time.is_sign_positive(), "{time}");
}

#[test]
fn the_other_end_is_known_where_a_trace_has_it() {
    let started = r#"{"time":0,"name":"quic:connection_started","data":{"local":{"ip_v4":"10.0.0.1","port_v4":443},"remote":{"ip_v6":"2001:db8::7","port_v6":4433}}}"#;
    assert_eq!(one(&[started]).peer.as_deref(), Some("[2001:db8::7]:4433"));
    let old = |vantage: &str| {
        let header = format!(
            r#"{{"qlog_version":"0.3","qlog_format":"JSON-SEQ","trace":{{"vantage_point":{{"type":"{vantage}"}}}}}}"#
        );
        let event = r#"{"time":0,"name":"connectivity:connection_started","data":{"src_ip":"10.0.0.1","src_port":"36588","dst_ip":"10.0.0.2","dst_port":443}}"#;
        let text = format!("\x1e{header}\n\x1e{event}\n");
        measure(text.as_bytes(), &Options::default()).unwrap().1.remove(0).measures.peer.unwrap()
    };
    assert_eq!(old("client"), "10.0.0.2:443", "who opened the connection is the source");
    assert_eq!(old("server"), "10.0.0.1:36588");
    let ours = r#"{"file_schema":"urn:ietf:params:qlog:file:sequential","serialization_format":"application/qlog+json-seq","title":"s2n-quic to 192.0.2.9:4433 by cubic","trace":{"title":"s2n-quic to 192.0.2.9:4433 by cubic","vantage_point":{"type":"server"}}}"#;
    let text = format!("\x1e{ours}\n\x1e{}\n", metrics(0, ""));
    let (_, measured) = measure(text.as_bytes(), &Options::default()).unwrap();
    assert_eq!(measured[0].measures.peer.as_deref(), Some("192.0.2.9:4433"));
    assert_eq!(measured[0].trace.recorded().stack, Some("s2n-quic"));
}
