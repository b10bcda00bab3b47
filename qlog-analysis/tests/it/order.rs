//! Members of a JSON object stand in any order, and files are appended to each other.

use serde_json::{Value, json};

use crate::reference::{LoggedEvent, assert_near, measured, object, one, plain, trace, transfer};

/// That a trace is the transfer.
#[track_caller]
fn is_the_transfer(bytes: &[u8]) {
    let (found, doubts) = one(bytes);
    let measures = &found.measures;
    assert_eq!(doubts, [""; 0]);
    assert_eq!((measures.packets_sent, measures.packets_lost, measures.bytes_sent), (Some(17), Some(3), Some(20_400)));
    assert_near(Some(measures.duration), 0.0641, 4);
    assert_near(measures.throughput, 2.546, 3);
    assert_near(measures.goodput, 2.009, 3);
    assert_eq!((measures.rtt.unwrap().samples, measures.rtt.unwrap().max), (14, 20.0));
    assert_eq!(measures.reductions, Some(1));
}

/// Differences of the times, as `time_format` `delta` has them.
fn differences(events: &[LoggedEvent]) -> Vec<Value> {
    let mut before = 0.0;
    let delta = |logged: &LoggedEvent| {
        let one = LoggedEvent { time: logged.time - before, ..logged.clone() };
        before = logged.time;
        object(&one)
    };
    events.iter().map(delta).collect()
}

/// An event of a draft before 02, µs.
fn array(logged: &LoggedEvent) -> Value {
    let (category, kind) = logged.name.split_once(':').unwrap();
    let mut data = logged.data.clone();
    for key in ["latest_rtt", "min_rtt", "smoothed_rtt"] {
        if let Some(value) = data.get_mut(key) {
            *value = (value.as_f64().unwrap() * 1000.0).into();
        }
    }
    json!([logged.time * 1000.0, category, kind, data])
}

#[test]
fn a_transfer_is_measured_as_it_was() {
    is_the_transfer(&plain("aa"));
}

#[test]
fn common_fields_behind_the_events_are_honoured() {
    let events = Value::from(differences(&transfer()));
    let common = json!({"time_format": "delta"});
    // Values keep the order in which they are written here.
    let late = format!(
        r#"{{"qlog_version":"0.3","qlog_format":"JSON","traces":[{{"events":{events},"common_fields":{common},"vantage_point":{{"type":"server"}}}}]}}"#
    );
    is_the_transfer(late.as_bytes());
    let whole = format!(
        r#"{{"events":{events},"common_fields":{common},"vantage_point":{{"type":"server"}},"qlog_version":"0.3"}}"#
    );
    is_the_transfer(whole.as_bytes());
}

#[test]
fn units_and_the_order_of_fields_behind_the_events_are_honoured() {
    let events = Value::from(transfer().iter().map(array).collect::<Vec<_>>());
    let late = format!(
        r#"{{"qlog_version":"draft-01","traces":[{{"events":{events},"event_fields":["relative_time","category","event_type","data"],"configuration":{{"time_units":"us"}},"vantage_point":{{"type":"server"}}}}]}}"#
    );
    is_the_transfer(late.as_bytes());
}

/// Draft 01 has RTTs in the unit of times. Where they are in another, that one is named, whatever the file declares.
#[test]
fn the_unit_that_is_named_is_that_of_the_values() {
    let written = |scale: f64| {
        let mut events: Vec<Value> = transfer().iter().map(array).collect();
        for event in &mut events {
            for key in ["latest_rtt", "min_rtt", "smoothed_rtt"] {
                if let Some(value) = event[3].get_mut(key) {
                    *value = (value.as_f64().unwrap() / scale).into();
                }
            }
        }
        format!(
            r#"{{"qlog_version":"draft-01","traces":[{{"configuration":{{"time_units":"us"}},"event_fields":["relative_time","category","event_type","data"],"vantage_point":{{"type":"server"}},"events":{}}}]}}"#,
            Value::from(events)
        )
    };
    let (found, doubts) = one(written(1000.0).as_bytes());
    assert_eq!(found.measures.rtt.unwrap().max, 20.0);
    assert!(doubts[0].starts_with("its RTTs are in ms by its events"), "{doubts:?}");
}

/// A trace that is read in several blocks, so that its events are read before what stands behind them.
#[test]
fn a_long_trace_is_read_a_second_time() {
    let padding = format!(r#"{{"time":0.0,"name":"loglevel:info","data":{{"message":"{}"}}}}"#, "x".repeat(1000));
    let mut events: Vec<Value> = vec![serde_json::from_str(&padding).unwrap(); 3000];
    events.extend(differences(&transfer()));
    let events = Value::from(events);
    let late = format!(
        r#"{{"qlog_version":"0.3","traces":[{{"events":{events},"common_fields":{{"time_format":"delta"}},"vantage_point":{{"type":"server"}}}}]}}"#
    );
    is_the_transfer(late.as_bytes());
    let once = windlass_qlog_analysis::metrics::measure(late.as_bytes(), &Default::default());
    assert!(once.unwrap_err().to_string().contains("it can be read only once"));
}

/// In a sequence and on lines, what is said of the trace may be a record of its own behind the events.
#[test]
fn a_record_about_the_trace_behind_the_events_is_honoured() {
    let events = differences(&transfer());
    let about = json!({"vantage_point": {"type": "server"}, "common_fields": {"time_format": "delta"}});
    let mut records = vec![json!({"qlog_version": "0.3", "qlog_format": "JSON-SEQ"})];
    records.extend(events);
    records.push(about);
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    is_the_transfer(lines.as_bytes());
    let separated: String = records.iter().map(|record| format!("\u{1e}{record}\n")).collect();
    is_the_transfer(separated.as_bytes());
}

#[test]
fn appended_sequences_and_documents_are_connections_of_their_own() {
    let [one, other] = ["aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"];
    let lines = |connection: &str| String::from_utf8(plain(connection)).unwrap().replace('\u{1e}', "");
    let document = |connection: &str| {
        let mut trace = trace(connection);
        trace["events"] = transfer().iter().map(object).collect::<Vec<_>>().into();
        json!({"qlog_version": "0.3", "traces": [trace]}).to_string()
    };
    for bytes in [
        [plain(one), plain(other)].concat(),
        format!("{}{}", lines(one), lines(other)).into_bytes(),
        format!("{}\n{}", document(one), document(other)).into_bytes(),
    ] {
        let (summary, found) = measured(&bytes).unwrap();
        assert_eq!(summary.doubts(), [""; 0]);
        assert_eq!(found.iter().map(|one| one.group.as_str()).collect::<Vec<_>>(), [one, other]);
        for connection in &found {
            let measures = &connection.measures;
            assert_eq!((measures.packets_sent, measures.reductions), (Some(17), Some(1)));
            assert_near(measures.throughput, 2.546, 3);
        }
    }
}

#[test]
fn appended_files_are_converted_trace_by_trace() {
    use windlass_qlog_analysis::convert::{OutputFraming, Source, Target, convert};
    let both = [plain("aa"), plain("bb")].concat();
    let both = crate::convert::Bytes(&both);
    let mut out = Vec::new();
    let target = Target { framing: OutputFraming::Contained, ..Target::default() };
    let done = convert(&[&both as &dyn Source], target, &mut out).unwrap();
    assert_eq!((done.traces, done.bad_records), (2, 0));
    let (_, found) = measured(&out).unwrap();
    assert_eq!(found.iter().map(|one| one.group.as_str()).collect::<Vec<_>>(), ["aa", "bb"]);
    assert_eq!(found[1].measures.packets_sent, Some(17));
}
