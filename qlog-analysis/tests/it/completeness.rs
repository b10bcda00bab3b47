//! A measure that a trace does not log is none; what can be inferred is, and is marked so; units
//! are those that the events show; every generation of names is read.

use windlass_qlog_analysis::metrics::{LossSource, Measured, Measures, measure};
use windlass_qlog_analysis::model::Units;
use windlass_qlog_analysis::read::{Options, Summary, UnitSource, open};
use windlass_qlog_analysis::series::{LineStatus, Quantity, read_series};

const IETF: &str = r#"{"file_schema":"urn:ietf:params:qlog:file:sequential","serialization_format":"application/qlog+json-seq","trace":{"vantage_point":{"type":"server"}}}"#;
const V03: &str = r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","trace":{"vantage_point":{"type":"server"}}}"#;

fn sequence(header: &str, records: &[String]) -> Vec<u8> {
    std::iter::once(header)
        .chain(records.iter().map(String::as_str))
        .flat_map(|text| [b"\x1e", text.as_bytes(), b"\n"].concat())
        .collect()
}

fn options(units: UnitSource) -> Options {
    Options { jobs: 1, units, ..Options::default() }
}

fn measured(file: &[u8]) -> (Summary, Measured) {
    let (summary, mut found) = measure(file, &options(UnitSource::Evidence)).unwrap();
    assert_eq!((summary.bad_records, found.len()), (0, 1));
    (summary, found.remove(0))
}

fn measures(header: &str, records: &[String]) -> Measures {
    measured(&sequence(header, records)).1.measures
}

fn recorded(name: &str) -> Option<(Summary, Measures)> {
    let path = crate::read_recorded::at_hand()?.join(name);
    let (summary, mut found) = measure(open(&path).unwrap(), &Options::default()).unwrap();
    Some((summary, found.remove(0).measures))
}

fn event(time: f64, name: &str, data: &str) -> String {
    format!(r#"{{"time":{time},"name":"{name}","data":{{{data}}}}}"#)
}

fn sent(time: f64, number: u64) -> String {
    let data = format!(
        r#""header":{{"packet_type":"1RTT","packet_number":{number}}},"raw":{{"length":1200}},"frames":[{{"frame_type":"stream","stream_id":0,"offset":{},"length":1100}}]"#,
        number * 1100
    );
    event(time, "transport:packet_sent", &data)
}

fn acked(time: f64, ranges: &str) -> String {
    let data = format!(
        r#""header":{{"packet_type":"1RTT","packet_number":{}}},"raw":{{"length":40}},"frames":[{{"frame_type":"ack","acked_ranges":{ranges}}}]"#,
        time as u64
    );
    event(time, "transport:packet_received", &data)
}

fn metrics(time: f64, data: &str) -> String {
    event(time, "recovery:metrics_updated", data)
}

#[test]
fn what_is_not_logged_is_no_zero() {
    let window = measures(V03, &[metrics(0.0, r#""cwnd":12000"#), metrics(9.0, r#""cwnd":13000"#)]);
    let counts = [window.packets_sent, window.packets_received, window.packets_lost, window.packets_spurious];
    assert_eq!((counts, window.losses), ([None; 4], None));
    assert_eq!((window.marks, window.timeouts, window.blocked, window.loss), (None, None, None, None));
    assert_eq!(window.reductions, Some(0), "windows are logged, and none became smaller");
    let json = serde_json::to_value(&window).unwrap();
    assert!(json["packets_lost"].is_null() && json["timeouts"].is_null() && json["reductions"] == 0, "{json}");
    for (name, get) in Measures::COLUMNS {
        let known = ["duration_s", "cwnd_", "reductions"].iter().any(|known| name.starts_with(known));
        assert_eq!(get(&window).is_some(), known, "{name}");
    }
    assert_eq!(measures(V03, &[sent(0.0, 0), sent(1.0, 1)]).reductions, None);
}

#[test]
fn losses_that_quiche_and_mvfst_count_are_logged_losses() {
    let total = |time: f64, total: u64, delta: u64| {
        metrics(time, &format!(r#""cf_lost_packets":{{"total":{total},"delta":{delta}}}"#))
    };
    let quiche = measures(IETF, &[sent(0.0, 0), total(1.0, 0, 0), total(2.0, 24, 24), total(3.0, 26, 2)]);
    assert_eq!((quiche.packets_lost, quiche.losses), (Some(26), Some(LossSource::Logged)));
    assert_eq!(measures(IETF, &[sent(0.0, 0), total(1.0, 0, 0)]).packets_lost, Some(0), "a zero that is logged");
    let together = event(3.0, "loss:packets_lost", r#""largest_lost_packet_num":9,"lost_bytes":2480,"lost_packets":2"#);
    let mvfst = measures(V03, &[sent(0.0, 0), together.clone(), together]);
    assert_eq!((mvfst.packets_lost, mvfst.losses), (Some(4), Some(LossSource::Logged)));
    if let Some((_, quiche)) = recorded("selfgen-quiche-0.30-server-cubic.sqlog") {
        assert_eq!((quiche.packets_lost, quiche.losses), (Some(99), Some(LossSource::Logged)));
    }
    if let Some((_, mvfst)) = recorded("handmade-mvfst.qlog.gz") {
        assert_eq!((mvfst.packets_lost, mvfst.losses), (Some(2), Some(LossSource::Logged)));
    }
}

#[test]
fn losses_are_inferred_by_the_thresholds_of_rfc_9002() {
    let mut records: Vec<String> = (0..10).map(|number| sent(number as f64, number)).collect();
    records.push(acked(50.0, "[[0,1],[5,6]]"));
    // 2 and 3 are three packets and more behind; 4 is when 7 is acknowledged, and arrives after all.
    records.push(acked(51.0, "[[5,7]]"));
    records.push(acked(52.0, "[[4,8]]"));
    let m = measures(V03, &records);
    assert_eq!((m.packets_lost, m.losses, m.packets_spurious), (Some(3), Some(LossSource::Inferred), Some(1)));
    assert_eq!(m.loss, Some(30.0));
    records.push(event(53.0, "recovery:packet_lost", r#""header":{"packet_type":"1RTT","packet_number":2}"#));
    let m = measures(V03, &records);
    assert_eq!((m.packets_lost, m.losses), (Some(1), Some(LossSource::Logged)), "logged losses take precedence");
    let unacknowledged = measures(V03, &[sent(0.0, 0), sent(1.0, 9)]);
    assert_eq!(unacknowledged.packets_lost, None, "without acknowledgements there is nothing to infer from");
}

#[test]
fn app_limits_follow_from_congestion_states_too() {
    let state = |time: f64, new: &str| event(time, "recovery:congestion_state_updated", &format!(r#""new":"{new}""#));
    let records = [
        state(0.0, "slow_start"),
        state(10.0, "application_limited"),
        state(40.0, "congestion_avoidance"),
        sent(100.0, 0),
    ];
    let m = measures(V03, &records);
    assert!((m.app_limited.unwrap() - 30.0).abs() < 1e-9, "{:?}", m.app_limited);
    let mvfst = |time: f64, words: &str| {
        event(time, "app_limited_update:app_limited_update", &format!(r#""app_limited":"{words}""#))
    };
    let m = measures(V03, &[mvfst(0.0, "app_limited"), mvfst(25.0, "app_unlimited"), sent(100.0, 0)]);
    assert_eq!(m.app_limited, Some(25.0));
    assert_eq!(measures(V03, &[state(0.0, "slow_start"), sent(1.0, 0)]).app_limited, None);
}

#[test]
fn timeouts_are_those_of_probes_where_no_count_is_logged() {
    let probe =
        |time: f64, number: u64| sent(time, number).replacen("\"header\"", "\"trigger\":\"pto_probe\",\"header\"", 1);
    let m = measures(V03, &[sent(0.0, 0), probe(100.0, 1), probe(100.2, 2), probe(300.0, 3)]);
    assert_eq!(m.timeouts, Some(2), "two probes of one timeout");
    if let Some((_, netlog)) = recorded("chromium156-sample-small.netlog.json") {
        assert_eq!(netlog.timeouts, Some(2), "three probes, two of them together: PTO_RETRANSMISSION");
        assert_eq!((netlog.packets_lost, netlog.losses), (Some(7), Some(LossSource::Logged)));
    }
}

#[test]
fn an_empty_lane_is_none_or_not_logged() {
    let lane = |records: &[String], quantity| {
        read_series(sequence(V03, records).as_slice(), &Options::default(), 100).unwrap().1[0].status(quantity)
    };
    let acknowledged = [sent(0.0, 0), acked(50.0, "[[0]]")];
    assert_eq!(lane(&acknowledged, Quantity::Lost), LineStatus::None);
    assert_eq!(lane(&acknowledged, Quantity::Marked), LineStatus::NotLogged);
    assert_eq!(lane(&[metrics(0.0, r#""cwnd":9"#)], Quantity::Lost), LineStatus::NotLogged);
    assert_eq!(lane(&[metrics(0.0, r#""app_limited":false"#)], Quantity::AppLimited), LineStatus::Values);
}

/// A sender that is paced at 12 Mbit/s and keeps to it, and says so times `factor`.
fn paced(factor: f64) -> Vec<String> {
    let mut records = Vec::new();
    for number in 0..600_u64 {
        let time = number as f64 * 0.8;
        if number % 10 == 0 {
            records.push(metrics(time, &format!(r#""pacing_rate":{}"#, 12e6 * factor)));
        }
        records.push(sent(time, number));
    }
    records
}

#[test]
fn a_pacing_rate_in_bytes_is_seen_by_what_is_sent() {
    let file = sequence(IETF, &paced(1.0 / 8.0));
    let (summary, measured) = measured(&file);
    assert_eq!(summary.traces[0].units.pacing_rate, Some("byte/s"));
    assert_eq!(measured.measures.pacing_rate.unwrap().mean, 12.0);
    let (summary, found) = measure(file.as_slice(), &options(UnitSource::Declared)).unwrap();
    assert_eq!((summary.traces[0].units, found[0].measures.pacing_rate.unwrap().mean), (Units::default(), 1.5));
    let (summary, right) = self::measured(&sequence(IETF, &paced(1.0)));
    assert_eq!((summary.traces[0].units, right.measures.pacing_rate.unwrap().mean), (Units::default(), 12.0));
    let idle: Vec<String> = paced(8.0);
    assert_eq!(self::measured(&sequence(IETF, &idle)).0.traces[0].units, Units::default(), "a rate above what is sent");
}

/// A trace of 60 ms, too short for [`paced`]: a window of ten packets over 50 ms, paced at 1.25 of it.
#[test]
fn a_pacing_rate_in_bytes_is_seen_by_the_window_in_a_short_trace() {
    let short = |factor: f64, gain: f64| {
        let mut records = vec![metrics(0.0, r#""congestion_window":12000,"smoothed_rtt":50.0"#)];
        for number in 0..20_u64 {
            let time = 50.0 + number as f64 * 0.5;
            records.push(metrics(time, &format!(r#""pacing_rate":{}"#, gain * 12_000.0 * 8.0 / 0.05 * factor)));
            records.push(sent(time, number));
        }
        measured(&sequence(IETF, &records))
    };
    for gain in [1.0, 1.25, 2.885] {
        let (summary, found) = short(1.0 / 8.0, gain);
        assert_eq!(summary.traces[0].units.pacing_rate, Some("byte/s"), "{gain}");
        let mean = found.measures.pacing_rate.unwrap().mean;
        assert!((mean - gain * 1.92).abs() < 1e-6, "{gain}: {mean}");
    }
    for gain in [0.5, 0.75, 1.0, 2.885] {
        assert_eq!(short(1.0, gain).0.traces[0].units, Units::default(), "{gain}");
    }
}

/// Packets that are acknowledged after 50 ms, by a clock times `clock`, with RTTs times `rtt`.
fn round_trips(clock: f64, rtt: f64, initial: &str) -> Vec<u8> {
    let mut records = vec![metrics(0.0, &format!(r#""smoothed_rtt":{initial}"#))];
    for number in 0..10_u32 {
        let time = f64::from(number) * 100.0;
        records.push(sent(time * clock, number.into()));
        records.push(acked((time + 50.0) * clock, &format!("[[{number}]]")));
        records.push(metrics((time + 50.0) * clock, &format!(r#""latest_rtt":{}"#, 50.0 * rtt)));
    }
    sequence(V03, &records)
}

#[test]
fn times_and_rtts_a_thousandfold_apart_are_judged_by_evidence() {
    let right = round_trips(1.0, 1.0, "333");
    for (file, units) in [
        (right, Units::default()),
        (round_trips(1.0, 0.001, "0.333"), Units { rtt: Some("s"), ..Units::default() }),
        (round_trips(1.0, 1000.0, "333000"), Units { rtt: Some("us"), ..Units::default() }),
        // The initial RTT is in milliseconds, so the RTTs are right and the times are not.
        (round_trips(1000.0, 1.0, "333"), Units { time: Some("us"), ..Units::default() }),
        (round_trips(0.001, 1.0, "333"), Units { time: Some("s"), ..Units::default() }),
    ] {
        let (summary, found) = measured(&file);
        assert_eq!(summary.traces[0].units, units);
        let rtt = found.measures.rtt.unwrap();
        assert!((rtt.p50 - 50.0).abs() < 1e-3 && (found.measures.duration - 0.95).abs() < 1e-6, "{units:?}: {rtt:?}");
        let (summary, _) = measure(file.as_slice(), &options(UnitSource::Declared)).unwrap();
        assert_eq!(summary.traces[0].units, Units::default());
    }
}

#[test]
fn an_initial_rtt_is_no_sample() {
    let initial = r#""min_rtt":333,"smoothed_rtt":333,"latest_rtt":333,"rtt_variance":166.5"#;
    let later = r#""min_rtt":40,"smoothed_rtt":40,"latest_rtt":40"#;
    let records = [metrics(0.0, initial), sent(1.0, 0), metrics(41.0, later)];
    let rtt = measures(V03, &records).rtt.unwrap();
    assert_eq!((rtt.samples, rtt.max), (1, 40.0));
    let file = sequence(V03, &records);
    let series = read_series(file.as_slice(), &Options::default(), 100).unwrap().1.remove(0);
    for quantity in [Quantity::LatestRtt, Quantity::SmoothedRtt, Quantity::MinRtt] {
        let points: Vec<i64> = series.points(quantity).iter().map(|point| point.value).collect();
        assert_eq!(points, [40_000_000], "{quantity:?}");
    }
    let slow = [sent(0.0, 0), acked(333.0, "[[0]]"), metrics(333.0, initial)];
    assert_eq!(measures(V03, &slow).rtt.unwrap().samples, 1, "333 ms that an ACK took are a sample");
    for (name, samples, most) in
        [("tquic-1.6-server-bbr.sqlog.gz", 914, 100.0), ("selfgen-quinn-0.11.12-server-cubic.sqlog", 516, 100.0)]
    {
        let Some((_, found)) = recorded(name) else { continue };
        let rtt = found.rtt.unwrap();
        assert!(rtt.samples == samples && rtt.max < most, "{name}: {rtt:?}");
    }
}

#[test]
fn names_in_upper_case_are_read() {
    let text = r#"{"qlog_version":"draft-00","traces":[{"vantage_point":{"type":"SERVER"},"configuration":{"time_units":"us"},"event_fields":["RELATIVE_TIME","CATEGORY","EVENT_TYPE","TRIGGER","DATA"],"events":[
        ["0","TRANSPORT","PACKET_SENT","DEFAULT",{"packet_type":"1RTT","header":{"packet_number":"1","packet_size":1350},"frames":[{"frame_type":"STREAM","id":"3","length":1326,"offset":0}]}],
        ["50000","TRANSPORT","PACKET_RECEIVED","DEFAULT",{"packet_type":"UNKNOWN","header":{"packet_number":"1","packet_size":0},"frames":[{"frame_type":"ACK","acked_ranges":[[1,1]],"ack_delay":0}]}],
        ["50000","RECOVERY","METRIC_UPDATE","DEFAULT",{"latest_rtt":50000,"bytes_in_flight":12150,"cwnd":17300,"pacing_rate":923056}],
        ["60000","RECOVERY","PACKET_LOST","UNKNOWN",{"packet_number":"1"}],[]]}]}"#;
    let (summary, mut found) = measure(text.as_bytes(), &Options::default()).unwrap();
    let m = found.remove(0).measures;
    assert_eq!(summary.bad_records, 1, "the empty event");
    assert_eq!((m.packets_sent, m.packets_lost, m.packets_received), (Some(1), Some(1), Some(1)));
    assert_eq!((m.rtt.unwrap().p50, m.cwnd.unwrap().max), (50.0, 17_300.0));
    assert!(m.goodput.is_some(), "an ACK in a packet of unknown type is one of 1-RTT packets");
    if let Some((_, demo)) = recorded("qvis-draft00-quictrace.qlog.gz") {
        assert_eq!((demo.packets_sent, demo.packets_lost), (Some(9769), Some(238)));
        assert_eq!((demo.rtt.unwrap().samples, demo.bytes_received), (1688, None));
    }
    for name in ["handmade-upper.qlog.gz", "handmade-mvfst.qlog.gz"] {
        let Some((_, m)) = recorded(name) else { continue };
        assert_eq!((m.packets_sent, m.packets_received, m.packets_lost), (Some(200), Some(100), Some(2)), "{name}");
        assert_eq!(m.cwnd.map(|cwnd| (cwnd.min, cwnd.max)), Some((30_001.0, 30_199.0)), "{name}");
    }
}

#[test]
fn a_header_on_two_lines_and_a_cut_file_are_read_with_their_units() {
    if let Some((summary, quicx)) = recorded("handmade-quicx.qlog.gz") {
        assert_eq!(summary.traces[0].title, "QuicX client");
        assert_eq!((quicx.packets_sent, quicx.rtt.unwrap().max), (Some(1), 0.008), "microseconds");
    }
    if let Some((_, cut)) = recorded("handmade-pico-live.qlog.gz") {
        assert_eq!((cut.packets_sent, cut.packets_received, cut.rtt.unwrap().max), (Some(1), Some(1), 40.0));
    }
    let own = crate::read_recorded::own();
    for name in ["two-line-header.qlog", "unfinished-draft00.qlog"] {
        let (_, found) = measure(open(&own.join(name)).unwrap(), &Options::default()).unwrap();
        assert!(found[0].measures.packets_sent.is_some() && found[0].measures.duration < 10.0, "{name}");
    }
}
