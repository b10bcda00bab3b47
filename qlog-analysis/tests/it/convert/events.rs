//! Traces of a few events each.

use super::*;

fn old(header: &str, events: &[&str]) -> Vec<u8> {
    let mut file = format!("\u{1e}{header}\n");
    events.iter().for_each(|event| file.push_str(&format!("\u{1e}{event}\n")));
    file.into_bytes()
}

const IETF: &str = r#"{"file_schema":"urn:ietf:params:qlog:file:sequential","serialization_format":"application/qlog+json-seq","trace":{"vantage_point":{"type":"server"},"event_schemas":["urn:ietf:params:qlog:events:quic-13"]}}"#;

/// `data` of a packet event of the IETF form.
fn packet(time: f64, name: &str, data: &str) -> String {
    format!(r#"{{"time":{time},"name":"quic:{name}","data":{data}}}"#)
}

const SENT: &str = r#"{"header":{"packet_type":"1RTT","packet_number":7},"raw":{"length":1200},"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"raw":{"length":1000}}]}"#;

fn for_qvis(events: &[&str]) -> (String, Converted) {
    let (out, done) = converted(&old(IETF, events), to(Profile::Qvis, OutputFraming::Sequence));
    let report = lint(out.as_slice(), Profile::Qvis);
    let broken: Vec<&Rule> =
        report.counts.keys().filter(|rule| rule.severity(Profile::Qvis) == Some(Severity::Error)).collect();
    let expected: &[&Rule] = if done.empty > 0 { &[&Rule::NoPackets] } else { &[] };
    assert_eq!(broken, expected, "{report}");
    (String::from_utf8(out).unwrap(), done)
}

#[test]
fn qvis_gets_the_header_and_the_names_it_reads() {
    let metrics =
        r#"{"time":2,"name":"quic:recovery_metrics_updated","data":{"congestion_window":12000,"min_rtt":40}}"#;
    let unknown = r#"{"time":3,"name":"quic:ecn_state_updated","data":{"new":"capable"}}"#;
    let (out, done) = for_qvis(&[&packet(1.0, "packet_sent", SENT), metrics, unknown]);
    assert!(out.starts_with("\u{1e}{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON-SEQ\""), "{out}");
    assert!(out.contains(r#""time_format":"relative","reference_time":0"#), "{out}");
    assert!(out.contains(r#""name":"transport:packet_sent""#) && out.contains(r#""name":"recovery:metrics_updated""#));
    assert!(out.contains(r#""data":{"cwnd":12000,"min_rtt":40}"#), "{out}");
    assert!(!out.contains("event_schemas") && !out.contains("ecn_state_updated"), "{out}");
    assert_eq!(done.omitted, BTreeMap::from([("events quic:ecn_state_updated".to_owned(), 1)]));
}

#[test]
fn qvis_gets_every_packet_with_its_length_or_not_at_all() {
    let header = r#""header":{"packet_type":"1RTT","packet_number":1}"#;
    let carries = r#""frames":[{"frame_type":"stream","stream_id":0,"offset":0,"raw":{"length":900}}]"#;
    let (out, done) = for_qvis(&[
        &packet(1.0, "packet_sent", SENT),
        &packet(2.0, "packet_sent", &format!("{{{header},{carries}}}")),
        &packet(3.0, "packet_sent", &format!("{{{header}}}")),
    ]);
    // Room for 900 bytes of data: a frame header, a packet's header and tag.
    assert!(out.contains(r#""raw":{"length":921}"#), "{out}");
    assert_eq!(done.events, 2);
    assert_eq!(done.omitted.values().sum::<u64>(), 2, "{:?}", done.omitted);
}

#[test]
fn qvis_gets_frames_with_their_length() {
    let (out, _) = for_qvis(&[&packet(1.0, "packet_sent", SENT)]);
    assert!(out.contains(r#""offset":0,"length":1000}]"#), "{out}");
}

#[test]
fn qvis_gets_events_in_order_of_time() {
    let sent = |time| packet(time, "packet_sent", SENT);
    let (out, done) = for_qvis(&[&sent(5.0), &sent(1.0), &sent(3.0)]);
    let times: Vec<&str> = out.split("{\"time\":").skip(1).map(|rest| rest.split(',').next().unwrap()).collect();
    assert_eq!((times, done.late), (vec!["1", "3", "5"], 0));
}

#[test]
fn qvis_is_said_to_show_nothing_where_no_packet_is_sent() {
    let metrics = r#"{"time":2,"name":"quic:recovery_metrics_updated","data":{"congestion_window":12000}}"#;
    let (_, done) = for_qvis(&[metrics]);
    assert_eq!((done.empty, done.events), (1, 1));
}

#[test]
fn qvis_gets_no_record_that_is_not_json() {
    let (out, done) = for_qvis(&[&packet(1.0, "packet_sent", SENT), r#"{"time":2,"name":"quic:pack"#]);
    assert_eq!((done.bad_records, done.events), (1, 1));
    for record in out.split('\u{1e}').skip(1) {
        serde_json::from_str::<serde_json::Value>(record).unwrap();
    }
}

#[test]
fn qvis_gets_each_acknowledgement_once_and_none_of_what_cannot_be() {
    let ack = |ranges: &str| {
        format!(
            r#"{{"header":{{"packet_type":"1RTT","packet_number":0}},"raw":{{"length":40}},"frames":[{{"frame_type":"ack","acked_ranges":{ranges}}}]}}"#
        )
    };
    let received = |time, ranges: &str| packet(time, "packet_received", &ack(ranges));
    let huge = received(4.0, "[[0,4611686018427387903]]");
    let (out, done) =
        for_qvis(&[&packet(1.0, "packet_sent", SENT), &received(2.0, "[[3]]"), &received(3.0, "[[0,5]]"), &huge]);
    let ranges: Vec<&str> =
        out.split("\"acked_ranges\":").skip(1).map(|rest| &rest[..rest.find("]]").unwrap() + 2]).collect();
    assert_eq!(ranges, ["[[3,3]]", "[[0,2],[4,5]]", "[[6,7]]"]);
    assert_eq!(done.omitted.len(), 1, "{:?}", done.omitted);
}

#[test]
fn qvis_gets_lost_packets_with_their_number() {
    let lost = r#"{"trigger":"time_threshold"}"#;
    let (out, done) = for_qvis(&[&packet(1.0, "packet_sent", SENT), &packet(2.0, "packet_lost", lost)]);
    assert!(!out.contains("packet_lost"), "{out}");
    assert_eq!(done.omitted.values().sum::<u64>(), 1);
}

#[test]
fn qvis_gets_a_connection_in_every_event_or_in_none() {
    let grouped = packet(1.0, "packet_sent", SENT).replacen("{\"time\"", "{\"group_id\":\"a\",\"time\"", 1);
    let (out, _) = for_qvis(&[&grouped, &grouped]);
    assert!(out.contains(r#""ODCID":"a""#) && !out.contains("group_id"), "{out}");
    let (out, _) = for_qvis(&[&grouped, &packet(2.0, "packet_sent", SENT)]);
    assert_eq!(out.matches("group_id").count(), 2, "{out}");
}

#[test]
fn ssthresh_and_rtts_are_as_both_eras_want_them() {
    let header = r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","trace":{"vantage_point":{"type":"server"}}}"#;
    let metrics = r#"{"time":1,"name":"recovery:metrics_updated","data":{"smoothed_rtt":0.333,"min_rtt":0.333,"ssthresh":18446744073709551615,"congestion_window":12000}}"#;
    let (out, done) = converted(&old(header, &[metrics]), to(Profile::Ietf, OutputFraming::Sequence));
    let out = String::from_utf8(out).unwrap();
    assert!(out.contains(r#""data":{"smoothed_rtt":333,"min_rtt":333,"congestion_window":12000}"#), "{out}");
    assert_eq!(done.omitted, BTreeMap::new());
}

#[test]
fn times_since_1970_stay_exact_and_begin_near_zero_for_qvis() {
    let header = r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","trace":{"vantage_point":{"type":"client"}}}"#;
    let sent = r#"{"time":1745672395021.2815,"name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":1},"raw":{"length":9}}}"#;
    let (out, _) = converted(&old(header, &[sent]), to(Profile::Qvis, OutputFraming::Sequence));
    let out = String::from_utf8(out).unwrap();
    assert!(out.contains(r#""reference_time":1745672395021"#) && out.contains(r#"{"time":0.2815,"#), "{out}");
    let (out, _) = converted(&old(header, &[sent]), to(Profile::Ietf, OutputFraming::Sequence));
    let out = String::from_utf8(out).unwrap();
    assert!(out.contains(r#"{"clock_type":"system","epoch":"1970-01-01T00:00:00.000Z"}"#), "{out}");
    assert!(out.contains(r#"{"time":1745672395021.2815,"#), "{out}");
}

#[test]
fn a_network_log_becomes_qlog_with_the_data_of_its_packets() {
    // The recorded one, whose packets share datagrams.
    let own = "chromium.netlog.json";
    let Some((_, file)) = traces().into_iter().find(|(name, _)| name.contains("netlog") && name != own) else { return };
    let (out, done) = converted(&file, to(Profile::Qvis, OutputFraming::Sequence));
    let report = lint(out.as_slice(), Profile::Qvis);
    assert_eq!(
        report.counts.keys().filter(|rule| rule.severity(Profile::Qvis) == Some(Severity::Error)).count(),
        0,
        "{report}"
    );
    let (before, _) = modelled(&file);
    let (after, lines) = modelled(&out);
    for kind in ["PacketSent", "PacketLost", "Controller"] {
        assert_eq!(before[kind], after[kind], "{kind}: {:?}", done.omitted);
    }
    // Of packets that share a datagram, the log has the length of the first only.
    let unmeasured = done.omitted["packets without a length, which qvis leaves out"];
    assert_eq!(before["PacketReceived"] - unmeasured, after["PacketReceived"]);
    let count = |name: &str| lines.iter().filter(|line| line.contains(name)).count();
    assert!(after["MetricsUpdated"] > 300 && count("latest_rtt: Some") > 50, "{after:?}");
    let (out, _) = converted(&file, to(Profile::Ietf, OutputFraming::Sequence));
    let report = lint(out.as_slice(), Profile::Ietf);
    assert_eq!(report.counts.into_keys().collect::<Vec<_>>(), [Rule::RawLength], "lengths are not made up");
}

#[test]
fn several_traces_go_into_one_document_and_not_into_a_sequence() {
    let one = flow(Profile::Ietf, &[(MS, Step::Padded)]);
    let two = flow(Profile::Qvis, &[(MS, Step::Mtu { bytes: 1300 }), (MS, Step::Padded)]);
    let sources: [&dyn Source; 2] = [&Bytes(&one), &Bytes(&two)];
    let mut out = Vec::new();
    let done = convert(&sources, to(Profile::Qvis, OutputFraming::Contained), &mut out).unwrap();
    assert_eq!((done.traces, done.events), (2, 4 + 5));
    assert_eq!(count(&[&Bytes(&out)], Profile::Ietf).unwrap(), 2);
    assert_eq!(lint(out.as_slice(), Profile::Qvis).errors(), 0);
    let wrong = convert(&sources, to(Profile::Qvis, OutputFraming::Sequence), &mut Vec::new());
    assert!(matches!(wrong, Err(ConvertError::Several(2))), "{wrong:?}");
    let mut picked = Vec::new();
    let target = Target { only: Some(1), ..to(Profile::Qvis, OutputFraming::Sequence) };
    convert(&sources, target, &mut picked).unwrap();
    assert_eq!(events(&picked), events(&two));
    let beyond = Target { only: Some(2), ..target };
    assert!(matches!(convert(&sources, beyond, &mut Vec::new()), Err(ConvertError::NoTrace { asked: 2, traces: 2 })));
}

#[test]
fn http3_events_are_kept_whatever_their_namespace() {
    let header = r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","trace":{"vantage_point":{"type":"client"}}}"#;
    let event = |time: u32, name: &str| {
        format!(
            "\u{1e}{{\"time\":{time},\"name\":\"{name}\",\"data\":{{\"stream_id\":0,\"frame\":{{\"frame_type\":\"headers\",\"headers\":[{{\"name\":\":path\",\"value\":\"/a\"}}]}}}}}}\n"
        )
    };
    let events =
        [event(1, "http:frame_created"), event(2, "h3:frame_created"), event(3, "http3:frame_parsed")].concat();
    let file = format!("\u{1e}{header}\n{events}");
    for (profile, names) in [
        (Profile::Ietf, ["http3:frame_created", "http3:frame_created", "http3:frame_parsed"]),
        (Profile::Qvis, ["http:frame_created", "http:frame_created", "http:frame_parsed"]),
    ] {
        let (out, done) = converted(file.as_bytes(), to(profile, OutputFraming::Sequence));
        let records: Vec<serde_json::Value> = String::from_utf8(out)
            .unwrap()
            .split('\u{1e}')
            .skip(2)
            .map(|one| serde_json::from_str(one).unwrap())
            .collect();
        let found: Vec<&str> = records.iter().map(|one| one["name"].as_str().unwrap()).collect();
        assert_eq!(found, names, "{done:?}");
        assert!(records.iter().all(|one| one["data"]["frame"]["headers"][0]["value"] == "/a"), "{records:?}");
    }
}
