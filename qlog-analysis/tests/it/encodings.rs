//! What stacks write in ways of their own, and clocks that were set.

use serde_json::{Value, json};
use windlass_qlog_analysis::convert::{OutputFraming, Target, convert};
use windlass_qlog_analysis::lint::{Profile, Rule, lint};
use windlass_qlog_analysis::metrics::measure;
use windlass_qlog_analysis::read::{Options, UnitSource};

use crate::convert::Bytes;
use crate::reference::{LoggedEvent, assert_near, object, one, plain, sequence, trace, transfer};

fn objects(events: &[LoggedEvent]) -> Vec<Value> {
    events.iter().map(object).collect()
}

/// An hour back in the middle of a trace whose times count from 1970.
#[test]
fn a_clock_that_was_set_back_is_bridged_and_told() {
    let mut events = transfer();
    for (index, event) in events.iter_mut().enumerate() {
        event.time += if index < 20 { 1_780_003_600_000.0 } else { 1_780_000_000_000.0 };
    }
    let bytes = sequence(&trace("aa"), &objects(&events));
    let (right, _) = one(&plain("aa"));
    let (found, doubts) = one(&bytes);
    assert_eq!(doubts.len(), 1);
    assert!(
        doubts[0].starts_with("its times go back once, by 3600.000 s at most: the clock was set back"),
        "{doubts:?}"
    );
    let (right, found) = (&right.measures, &found.measures);
    assert_near(Some(found.duration), 0.0641, 4);
    assert_near(found.throughput, 2.546, 3);
    assert_near(found.cwnd.map(|cwnd| cwnd.mean), right.cwnd.unwrap().mean, 0);
    // Converted, it says so too, and the times go on.
    let mut out = Vec::new();
    let target = Target { framing: OutputFraming::Contained, ..Target::default() };
    let done = convert(&[&Bytes(&bytes)], target, &mut out).unwrap();
    assert!(done.doubts[0].1.contains("3600.000 s") && done.late == 0, "{:?}", done.doubts);
    let (again, doubts) = one(&out);
    assert_eq!(doubts, [""; 0]);
    assert_near(again.measures.throughput, 2.546, 3);
}

/// Packets sent and acknowledged 0.201 ms later, five each ms, with times as `write` spells µs; and one record that
/// is no JSON, as CRYPTO frames of Haskell's quic are none.
fn times_spelled(write: impl Fn(u64) -> String) -> Vec<u8> {
    let mut text = String::from(concat!(
        r#"{"qlog_format":"NDJSON","qlog_version":"draft-02","title":"Haskell quic qlog","trace":{"vantage_point":"#,
        r#"{"type":"server"},"common_fields":{"ODCID":"aa","group_id":"aa","reference_time":1780000000000.12}}}"#,
        "\n",
        r#"{"time":0.0,"name":"transport:packet_sent","data":{"header":{"packet_type":"initial","packet_number":"0"},"#,
        r#""frames":[{"frame_type":"crypto","offset":"0,"length":284}]}}"#,
        "\n"
    ));
    for number in 0..20_u64 {
        let header = format!(r#""header":{{"packet_type":"1RTT","packet_number":"{number}"}}"#);
        let stream = format!(r#"{{"frame_type":"stream","stream_id":"0","offset":"{}","length":1000}}"#, number * 1000);
        let ack = format!(r#"{{"frame_type":"ack","acked_ranges":[[0,{number}]]}}"#);
        let at = 1009 + 400 * number;
        for (time, name, frame) in [(at, "packet_sent", stream), (at + 201, "packet_received", ack)] {
            let time = write(time);
            text += &format!(r#"{{"time":{time},"name":"transport:{name}","data":{{{header},"frames":[{frame}]}}}}"#);
            text += "\n";
        }
    }
    text.into_bytes()
}

/// Haskell's quic writes 1 ms 9 µs as 1.9.
#[test]
fn times_without_leading_zeros_are_seen_and_read_as_they_are_meant() {
    let bytes = times_spelled(|us| format!("{}.{}", us / 1000, us % 1000));
    let check = |bytes: &[u8], doubted: bool| {
        let (found, doubts) = one(bytes);
        let seen = doubts.iter().any(|doubt| doubt.starts_with("its times are in ms.us without leading zeros"));
        assert_eq!((seen, doubts.len()), (doubted, 2 * usize::from(doubted)), "{doubts:?}");
        let rtt = found.measures.rtt.unwrap();
        assert_eq!(rtt.samples, 20);
        assert_near(Some(rtt.min), 0.201, 6);
        assert_near(Some(rtt.max), 0.201, 6);
        assert_near(found.measures.goodput, 20_000.0 * 8.0 / 0.007_801 / 1e6, 6);
    };
    check(&bytes, true);
    // In a converted trace they are decimal fractions.
    let mut out = Vec::new();
    convert(&[&Bytes(&bytes)], Target::default(), &mut out).unwrap();
    check(&out, false);
    // By the trace's own word they go back.
    let declared = Options { units: UnitSource::Declared, ..Options::default() };
    let (summary, _) = measure(bytes.as_slice(), &declared).unwrap();
    assert!(summary.doubts().iter().any(|doubt| doubt.starts_with("its times go back 16 times")), "{summary:?}");
}

/// Decimal fractions are read as such, with a fixed number of digits or as few as they need, also where times go back.
#[test]
fn decimal_fractions_are_no_times_without_leading_zeros() {
    let shortest = |us: u64| (us as f64 / 1000.0).to_string();
    for (at, write) in
        [&shortest as &dyn Fn(u64) -> String, &|us| format!("{:.3}", us as f64 / 1000.0)].iter().enumerate()
    {
        for late in [0, 900] {
            // Some events are late.
            let bytes = times_spelled(|us| write(if us % 7 == 0 { us - late } else { us }));
            let (found, doubts) = one(&bytes);
            assert!(!doubts.iter().any(|doubt| doubt.contains("leading zeros")), "{at}, {late}: {doubts:?}");
            assert_eq!(doubts.iter().any(|doubt| doubt.starts_with("its times go back")), late > 0);
            assert!(late > 0 || (found.measures.rtt.unwrap().mean - 0.201).abs() < 1e-9);
        }
    }
}

#[test]
fn a_wait_of_an_hour_may_be_a_clock_set_forward() {
    let mut events = transfer();
    events.iter_mut().skip(20).for_each(|event| event.time += 3_600_000.0);
    let (_, doubts) = one(&sequence(&trace("aa"), &objects(&events)));
    assert!(doubts[0].starts_with("nothing happens for 3600 s in it"), "{doubts:?}");
}

/// mvfst: several losses in one event, a state event that is none, `odcid`, Hystart.
#[test]
fn losses_states_and_names_of_mvfst_are_read() {
    let mut events = vec![json!({"time": 0.0, "name": "quic:congestion_state_updated", "data": {"new": "Hystart"}})];
    events
        .push(json!({"time": 0.001, "name": "quic:congestion_state_updated", "data": {"app_limited": "app limited"}}));
    events.extend(objects(&transfer()).into_iter().filter(|event| event["name"] != "recovery:packet_lost"));
    for (packets, largest, time) in [(2, 6, 38.05), (1, 9, 44.05)] {
        let data = json!({"largest_lost_packet_num": largest, "lost_bytes": 1200 * packets, "lost_packets": packets});
        events.push(json!({"time": time, "name": "quic:packet_lost", "data": data}));
    }
    events.sort_by(|one, other| one["time"].as_f64().unwrap().total_cmp(&other["time"].as_f64().unwrap()));
    let about = json!({"vantage_point": {"type": "server"}, "common_fields": {"odcid": "c1c2", "scid": ""}});
    let bytes = sequence(&about, &events);
    let check = |bytes: &[u8]| {
        let (found, doubts) = one(bytes);
        assert_eq!((found.group.as_str(), doubts), ("c1c2", vec![]));
        let measures = &found.measures;
        assert_eq!(measures.packets_lost, Some(3));
        assert_near(measures.loss, 17.65, 2);
        assert_near(measures.states.get("Hystart").copied(), 0.0641, 4);
        assert_near(measures.app_limited, 100.0, 6);
        assert_eq!(measures.states.len(), 1);
    };
    check(&bytes);
    let mut out = Vec::new();
    let target = Target { profile: Profile::Qvis, framing: OutputFraming::Contained, ..Target::default() };
    convert(&[&Bytes(&bytes)], target, &mut out).unwrap();
    check(&out);
}

/// xquic's parser: RTTs in µs, no ACK frames, but `packets_acked`.
#[test]
fn the_unit_of_rtts_is_seen_in_packets_acked_and_in_the_length_of_the_trace() {
    for acked in [true, false] {
        let mut events = Vec::new();
        for logged in transfer() {
            let mut event = object(&logged);
            let data = &mut event["data"];
            match logged.name {
                "transport:packet_sent" => {
                    data["header"]["packet_type"] = "SHORT_HEADER".into();
                    data.as_object_mut().unwrap().remove("frames");
                }
                "transport:packet_received" => {
                    let ranges = data["frames"][0]["acked_ranges"].clone();
                    let largest = ranges[0][1].clone();
                    *data = json!({"packet_number_space": "application data", "packet_numbers": [largest]});
                    event["name"] = "quic:packets_acked".into();
                }
                "recovery:metrics_updated" => {
                    for key in ["latest_rtt", "min_rtt", "smoothed_rtt"] {
                        data[key] = 20_000.into();
                    }
                }
                _ => {}
            }
            if acked || event["name"] != "quic:packets_acked" {
                events.push(event);
            }
        }
        let bytes = sequence(&trace("aa"), &events);
        let (found, doubts) = one(&bytes);
        assert_eq!(found.measures.rtt.unwrap().max, 20.0, "{acked}");
        assert!(doubts[0].starts_with("its RTTs are in us by its events"), "{doubts:?}");
        assert!(lint(&bytes[..], Profile::Qvis).counts.contains_key(&Rule::RttUnit), "{acked}");
    }
}

/// erlang_quic: what others have in `header` and `raw` stands in `data` itself.
#[test]
fn flat_data_of_erlang_quic_are_read_and_converted() {
    let mut events = Vec::new();
    for logged in transfer() {
        let mut event = object(&logged);
        let kind = logged.name.split_once(':').unwrap().1;
        event["name"] = format!("quic:{kind}").into();
        let data = event["data"].as_object_mut().unwrap();
        if let Some(header) = data.remove("header") {
            data.insert("packet_number".to_owned(), header["packet_number"].clone());
            data.insert("packet_type".to_owned(), "1rtt".into());
        }
        if let Some(raw) = data.remove("raw") {
            data.insert("length".to_owned(), raw["length"].clone());
        }
        if let Some(ack) = data.get_mut("frames").and_then(|frames| frames[0].as_object_mut())
            && let Some(ranges) = ack.remove("acked_ranges")
        {
            ack.insert("ack_ranges".to_owned(), ranges);
        }
        events.push(event);
    }
    let bytes = sequence(&trace("aa"), &events);
    let right = one(&plain("aa")).0.measures;
    let found = one(&bytes).0.measures;
    assert_eq!((found.bytes_sent, found.goodput, found.cwnd), (right.bytes_sent, right.goodput, right.cwnd));
    for profile in [Profile::Qvis, Profile::Ietf] {
        let mut out = Vec::new();
        let target = Target { profile, framing: OutputFraming::Contained, ..Target::default() };
        let done = convert(&[&Bytes(&bytes)], target, &mut out).unwrap();
        assert_eq!(done.omitted, Default::default(), "nothing is lost, no length made up");
        let again = one(&out).0.measures;
        assert_eq!((again.bytes_sent, again.goodput, again.cwnd), (right.bytes_sent, right.goodput, right.cwnd));
    }
}

/// quicly logs no sizes of packets: what needs them is not known.
#[test]
fn without_sizes_there_are_no_bytes_in_flight() {
    let mut events = objects(&transfer());
    for event in &mut events {
        event["data"].as_object_mut().unwrap().remove("raw");
    }
    let (found, _) = one(&sequence(&trace("aa"), &events));
    let measures = &found.measures;
    assert_eq!((measures.bytes_sent, measures.throughput, measures.in_flight), (None, None, None));
    assert_eq!(measures.packets_sent, Some(17));
}

/// Two connections of one trace to one address have it both.
#[test]
fn a_second_connection_to_one_address_has_its_name() {
    let started = |group: &str| {
        json!({"time": 0.0, "name": "quic:connection_started", "group_id": group,
            "data": {"remote": {"ip_v4": "192.0.2.1", "port_v4": 443}}})
    };
    let (_, found) = crate::reference::measured(&sequence(&trace("aa"), &[started("a"), started("b")])).unwrap();
    let peers: Vec<_> = found.iter().map(|one| one.measures.peer.as_deref()).collect();
    assert_eq!(peers, [Some("192.0.2.1:443"); 2]);
}

/// The version of QUIC as stacks write it: in the header of packets, or chosen, as digits or, by aioquic, as a number.
#[test]
fn the_version_of_quic_is_told_in_any_form() {
    let chosen = |version: &str| {
        format!(
            r#"{{"time":0,"name":"transport:version_information","data":{{"client_versions":[1],"chosen_version":{version}}}}}"#
        )
    };
    let sent = |version: &str| {
        format!(
            r#"{{"time":0,"name":"transport:packet_sent","data":{{"header":{{"packet_type":"initial","packet_number":0,"version":{version}}}}}}}"#
        )
    };
    for (event, expected) in [
        (chosen("1"), "00000001"),
        (chosen("1798521807"), "6b3343cf"),
        (chosen("\"0x1\""), "0x1"),
        (sent("\"00000001\""), "00000001"),
        (sent("1"), "00000001"),
        (sent("null"), ""),
    ] {
        let text = format!(
            r#"{{"qlog_version":"0.3","traces":[{{"vantage_point":{{"type":"client"}},"events":[{event}]}}]}}"#
        );
        let (summary, _) = measure(text.as_bytes(), &Options::default()).unwrap();
        assert_eq!(summary.traces[0].quic_version, expected, "{event}");
    }
}
