//! Connections of several paths: multipath QUIC in the ways stacks write it, and migrations.

use serde_json::{Value, json};
use windlass_qlog_analysis::metrics::Measures;
use windlass_qlog_analysis::read::Options;
use windlass_qlog_analysis::series::{Quantity, read_series};

use crate::reference::{assert_near, measured, object, one, sequence, trace, transfer};

/// How a trace says which path a packet is on, and what it acknowledges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Writing {
    /// `path_id` in headers, `path` as a text on events, `path_ack`: picoquic.
    PathAck,
    /// `path` on events, `ack_mp`: xquic.
    AckMp,
    /// `path_id` and `space_id` in headers alone: quiche.
    Header,
}

/// The transfer on path 0, and 14 packets more on path 1, each path numbering from 0; RTTs of 20 and 60 ms.
fn two_paths(writing: Writing) -> Vec<u8> {
    let mut events: Vec<(u64, Value)> = transfer().iter().map(|logged| (0, object(logged))).collect();
    for number in 0..14_u64 {
        let time = 2.0 * number as f64;
        let sent = json!({"header": {"packet_type": "1RTT", "packet_number": number}, "raw": {"length": 1200},
            "frames": [{"frame_type": "stream", "stream_id": 4, "offset": number * 1150, "length": 1150}]});
        events.push((1, json!({"time": time, "name": "transport:packet_sent", "data": sent})));
        let kind = if writing == Writing::PathAck { "path_ack" } else { "ack_mp" };
        let ack = json!({"header": {"packet_type": "1RTT", "packet_number": number}, "raw": {"length": 40},
            "frames": [{"frame_type": kind, "path_id": 1, "ack_delay": 0, "acked_ranges": [[0, number]]}]});
        events.push((1, json!({"time": time + 60.0, "name": "transport:packet_received", "data": ack})));
        let metrics =
            json!({"cwnd": 53_200 + 1200 * number, "latest_rtt": 60.0, "min_rtt": 60.0, "smoothed_rtt": 60.0});
        events.push((1, json!({"time": time + 60.0, "name": "recovery:metrics_updated", "data": metrics})));
    }
    events.sort_by(|one, other| one.1["time"].as_f64().unwrap().total_cmp(&other.1["time"].as_f64().unwrap()));
    let written = events.into_iter().map(|(path, mut event)| {
        if writing == Writing::PathAck {
            event["path"] = path.to_string().into();
        } else if writing == Writing::AckMp {
            event["path"] = path.into();
        } else if event["name"] == "recovery:metrics_updated" {
            event["data"]["path_id"] = path.into();
        }
        if writing != Writing::AckMp
            && let Some(header) = event["data"].get_mut("header")
        {
            header["path_id"] = path.into();
            header["space_id"] = path.into();
        }
        event
    });
    sequence(&trace("aa"), &written.collect::<Vec<_>>())
}

#[test]
fn a_path_has_its_packet_numbers_window_and_rtts() {
    for writing in [Writing::PathAck, Writing::AckMp, Writing::Header] {
        let bytes = two_paths(writing);
        let (found, doubts) = one(&bytes);
        assert_eq!(doubts, [""; 0], "{writing:?}");
        let whole = &found.measures;
        assert_eq!(
            (whole.packets_sent, whole.packets_lost, whole.reductions),
            (Some(31), Some(3), Some(1)),
            "{writing:?}"
        );
        assert_near(whole.goodput, 28.0 * 1150.0 * 8.0 / 0.086 / 1e6, 3);
        assert_near(whole.goodput, 2.995, 3);
        let rtt = whole.rtt.unwrap();
        assert_eq!((rtt.samples, rtt.min, rtt.max), (28, 20.0, 60.0));
        assert_eq!(whole.queueing.unwrap().max, 0.0, "each path has a least RTT of its own");
        assert!(whole.in_flight.unwrap().max <= 37_200.0);
        assert_eq!(whole.cwnd.unwrap().max, 18_600.0 + 68_800.0, "both windows together");
        let [(0, one), (1, other)] = &found.paths[..] else { panic!("{writing:?}: {:?}", found.paths.len()) };
        assert_eq!((one.packets_sent, other.packets_sent), (Some(17), Some(14)));
        assert_eq!((one.packets_lost, other.packets_lost.unwrap_or(0)), (Some(3), 0));
        assert_eq!((one.reductions, other.reductions), (Some(1), Some(0)));
        assert_eq!((one.rtt.unwrap().max, other.rtt.unwrap().min), (20.0, 60.0));
        assert_eq!(one.cwnd.unwrap().max, 20_400.0);
        assert_near(one.goodput, 2.009, 3);
        let json = found.to_json("f");
        assert_eq!(json["paths"][1]["measures"]["packets_sent"], 14);
    }
}

#[test]
fn windows_of_paths_are_lines_of_their_own() {
    let bytes = two_paths(Writing::PathAck);
    let (_, series) = read_series(bytes.as_slice(), &Options::default(), 100).unwrap();
    let paths: Vec<_> = series.iter().map(|one| (one.path, one.measured.group.as_str())).collect();
    assert_eq!(paths, [(None, "aa"), (Some(0), "aa path 0"), (Some(1), "aa path 1")]);
    let windows = |at: usize| series[at].points(Quantity::Cwnd).iter().map(|point| point.value).collect::<Vec<_>>();
    assert_eq!((windows(1).len(), windows(2).len()), (14, 14));
    assert!(windows(2).is_sorted() && windows(2)[0] == 53_200, "no zigzag: {:?}", windows(2));
    assert_eq!(*windows(0).last().unwrap(), 18_600 + 68_800);
    assert_eq!(series[2].points(Quantity::Lost), []);
    assert!(series[0].points(Quantity::SmoothedRtt).is_empty(), "RTTs of two paths are no one line");
}

#[test]
fn converted_paths_stay() {
    use windlass_qlog_analysis::convert::{Target, convert};
    let mut out = Vec::new();
    convert(&[&crate::convert::Bytes(&two_paths(Writing::PathAck))], Target::default(), &mut out).unwrap();
    let (before, after) = (one(&two_paths(Writing::PathAck)).0, one(&out).0);
    assert_eq!(before.measures.goodput, after.measures.goodput);
    assert_eq!(before.paths.len(), after.paths.len());
    assert_eq!(before.paths[1].1.rtt, after.paths[1].1.rtt);
}

/// qvis knows one sequence of packet numbers: each path becomes a trace with what was measured of it.
#[test]
fn for_qvis_each_path_becomes_a_trace() {
    use windlass_qlog_analysis::convert::{OutputFraming, Target, convert, count};
    use windlass_qlog_analysis::lint::Profile;
    let target = Target { profile: Profile::Qvis, framing: OutputFraming::Contained, ..Target::default() };
    for writing in [Writing::PathAck, Writing::AckMp, Writing::Header] {
        let bytes = two_paths(writing);
        let source = crate::convert::Bytes(&bytes);
        let before = one(source.0).0;
        assert_eq!(count(&[&source], Profile::Qvis).unwrap(), 2);
        assert_eq!(count(&[&source], Profile::Ietf).unwrap(), 1);
        let mut out = Vec::new();
        let done = convert(&[&source], target, &mut out).unwrap();
        assert_eq!(done.traces, 2);
        let (_, after) = measured(&out).unwrap();
        let titles: Vec<&str> = after.iter().map(|one| one.trace.title.as_str()).collect();
        assert_eq!(titles, ["path 0", "path 1"], "{writing:?}");
        for ((_, path), trace) in before.paths.iter().zip(&after) {
            let kept = |one: &Measures| (one.packets_sent, one.packets_lost.unwrap_or(0), one.reductions, one.goodput);
            assert_eq!(kept(path), kept(&trace.measures), "{writing:?}");
            assert_eq!((path.rtt, path.cwnd), (trace.measures.rtt, trace.measures.cwnd), "{writing:?}");
        }
        // One alone, as a sequence.
        let mut alone = Vec::new();
        convert(&[&source], Target { framing: OutputFraming::Sequence, only: Some(1), ..target }, &mut alone).unwrap();
        assert_eq!(one(&alone).0.measures, after[1].measures);
    }
}

/// After a migration window and RTTs begin anew (`RFC 9000 §9.4`): no reduction, no queueing.
#[test]
fn a_migration_is_no_reduction_and_no_queueing() {
    let mut events: Vec<Value> = transfer().iter().map(object).collect();
    let migrated = json!({"time": 70.0, "name": "quic:migration_state_updated", "data": {"new": "migration_complete"}});
    events.push(migrated);
    for number in 17..30_u64 {
        let time = 70.0 + (number - 17) as f64;
        let sent = json!({"header": {"packet_type": "1RTT", "packet_number": number}, "raw": {"length": 1200},
            "frames": [{"frame_type": "stream", "stream_id": 0, "offset": number * 1150, "length": 1150}]});
        events.push(json!({"time": time, "name": "transport:packet_sent", "data": sent}));
        let ack = json!({"header": {"packet_type": "1RTT", "packet_number": number}, "raw": {"length": 40},
            "frames": [{"frame_type": "ack", "ack_delay": 0, "acked_ranges": [[17, number], [10, 16]]}]});
        events.push(json!({"time": time + 65.0, "name": "transport:packet_received", "data": ack}));
        let metrics = json!({"cwnd": 12_000 + 100 * number, "latest_rtt": 65.0, "min_rtt": 65.0, "smoothed_rtt": 65.0});
        events.push(json!({"time": time + 65.0, "name": "recovery:metrics_updated", "data": metrics}));
    }
    events.sort_by(|one, other| one["time"].as_f64().unwrap().total_cmp(&other["time"].as_f64().unwrap()));
    let (found, _) = one(&sequence(&trace("aa"), &events));
    assert_eq!(found.measures.reductions, Some(1), "the one of the transfer");
    assert_eq!(found.measures.queueing.unwrap().max, 0.0);
    assert_eq!(found.paths.len(), 2);
    assert_eq!(found.paths[1].1.cwnd.unwrap().min, 13_700.0);
    assert_near(Some(found.measures.rtt.unwrap().max), 65.0, 6);
    // Without paths there is one.
    assert_eq!(measured(&crate::reference::plain("aa")).unwrap().1[0].paths, []);
}
