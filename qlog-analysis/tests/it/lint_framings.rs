//! Files of other forms than a sequence, and rules that need more than one record.

use windlass_qlog::{Ack, Detail, Frame, Header, Metrics, Packet, Trace};
use windlass_qlog_analysis::lint::{Profile, Rule, lint};

const IETF: &str = include_str!("../../model/tests/expected/small-ietf.txt");
const QVIS: &str = include_str!("../../model/tests/expected/small-qvis.txt");

fn broken(file: &str, profile: Profile) -> Vec<Rule> {
    lint(file.as_bytes(), profile).counts.into_keys().collect()
}

/// A sequence as plain JSON, an event a line.
fn contained(sequence: &str) -> String {
    let sequence = sequence
        .replace("file:sequential", "file:contained")
        .replace("qlog+json-seq", "qlog+json")
        .replace("JSON-SEQ", "JSON")
        .replace('\u{1e}', "");
    let (header, events) = sequence.split_once('\n').unwrap();
    let (top, trace) = header.split_once("\"trace\":").unwrap();
    let trace = trace.strip_suffix("}}").unwrap();
    let events: Vec<&str> = events.lines().collect();
    format!("{top}\n\"traces\":[{trace},\n\"events\":[\n{}\n]}}]}}\n", events.join(",\n"))
}

#[test]
fn plain_json_is_held_against_the_same_rules() {
    for (file, profile) in [(IETF, Profile::Ietf), (QVIS, Profile::Qvis)] {
        let file = contained(file);
        let report = lint(file.as_bytes(), profile);
        assert!(report.is_clean(), "{report}");
        assert_eq!((report.events, report.records), (21, 21));
        let wrong = file.replace("\"ssthresh\":6600", "\"ssthresh\":\"none\"");
        let report = lint(wrong.as_bytes(), profile);
        let line = wrong.lines().position(|line| line.contains("ssthresh")).unwrap() as u64 + 1;
        assert_eq!(report.findings.len(), 1, "{report}");
        assert_eq!((report.findings[0].place.line, report.findings[0].place.record), (line, line - 3));
    }
}

#[test]
fn a_syntax_error_in_plain_json_is_reported_once_with_its_line() {
    let file = contained(IETF).replace("\"ssthresh\":6600", "\"ssthresh\":");
    let line = file.lines().position(|line| line.contains("ssthresh")).unwrap() as u64 + 1;
    let report = lint(file.as_bytes(), Profile::Ietf);
    assert_eq!(report.counts.into_iter().collect::<Vec<_>>(), [(Rule::RecordJson, 1)]);
    assert_eq!(report.findings[0].place.line, line);
}

#[test]
fn a_record_a_line_is_qvis_own_form_and_none_of_the_ietf() {
    let lines = QVIS.replace('\u{1e}', "").replace("JSON-SEQ", "NDJSON");
    assert_eq!(broken(&lines, Profile::Qvis), []);
    assert_eq!(broken(&IETF.replace('\u{1e}', ""), Profile::Ietf), [Rule::RecordSeparator]);
    let damaged = lines.replace("\"new\":1400}}", "\"new\":1400");
    assert_eq!(broken(&damaged, Profile::Qvis), [Rule::RecordJson]);
    let damaged = lines.replacen("\"time\":10,", "\"time\":10,,", 1);
    let report = lint(damaged.as_bytes(), Profile::Qvis);
    assert_eq!((report.counts[&Rule::RecordJson], report.events), (1, 20), "{report}");
}

#[test]
fn a_file_that_begins_with_an_event_has_no_header() {
    let (_, events) = QVIS.split_once('\n').unwrap();
    assert_eq!(broken(events, Profile::Qvis), [Rule::TraceMissing]);
}

#[test]
fn arrays_of_old_drafts_are_read_by_their_columns() {
    let file = r#"{"qlog_version":"draft-01","traces":[{"vantage_point":{"type":"client"},
        "event_fields":["relative_time","path_id","category","event_type","data"],"configuration":{"time_units":"us"},"events":[
        [0,1,"transport","packet_sent",{"packet_type":"1RTT","header":{"packet_number":0,"packet_size":1200}}],
        [40000,1,"recovery","metrics_updated",{"cwnd":"12000","latest_rtt":"40000"}],
        []]}]}"#;
    assert_eq!(broken(file, Profile::Qvis), []);
    assert_eq!(broken(&file.replace("[40000", "[-1"), Profile::Qvis), [Rule::TimeOrder, Rule::TimeNegative]);
}

/// A flow of constant RTT, whose metrics the writer is made to get wrong by a factor.
fn flow(profile: Profile, factor: f64) -> String {
    let mut trace = Trace::new(Vec::new(), profile, Detail::Packets, &Header::default());
    for number in 0..20u64 {
        let now = number * 100_000_000;
        let rtt = 40_000_000 + number * 10_000;
        trace.packet_sent(now, &Packet::one_rtt(number, 1200), &[Frame::Ping]);
        let ranges = [(0, number)];
        let ack = Ack { ranges: &ranges, ..Ack::default() };
        trace.packet_received(now + rtt, &Packet::one_rtt(number, 40), &[Frame::Ack(ack)]);
        let wrong = (rtt as f64 * factor) as u64;
        let metrics = Metrics { latest_rtt: Some(wrong), smoothed_rtt: Some(wrong), ..Metrics::default() };
        trace.recovery_metrics(now + rtt, &metrics);
    }
    String::from_utf8(trace.finish().unwrap()).unwrap()
}

#[test]
fn the_unit_of_rtts_follows_from_acknowledgements() {
    for profile in [Profile::Ietf, Profile::Qvis] {
        assert_eq!(broken(&flow(profile, 1.0), profile), []);
        for (factor, unit) in [(1e-3, "seconds"), (1e3, "microseconds")] {
            let report = lint(flow(profile, factor).as_bytes(), profile);
            assert_eq!(report.counts.keys().copied().collect::<Vec<_>>(), [Rule::RttUnit], "{report}");
            assert!(report.findings[0].message.ends_with(unit), "{report}");
        }
    }
}

#[test]
fn an_rtt_longer_than_the_trace_is_no_number_of_milliseconds() {
    let packets = |line: &&str| !line.contains("packet_received");
    let file: String = flow(Profile::Ietf, 1e3).split_inclusive('\n').filter(packets).collect();
    assert_eq!(broken(&file, Profile::Ietf), [Rule::RttUnit]);
}

#[test]
fn many_small_ranges_are_too_much_together() {
    let header = QVIS.lines().next().unwrap();
    let mut file = format!("{header}\n");
    let sent = "\u{1e}{\"time\":0,\"name\":\"transport:packet_sent\",\"data\":{\"header\":{\"packet_type\":\"1RTT\",\"packet_number\":0},\"raw\":{\"length\":9}}}\n";
    file.push_str(sent);
    for _ in 0..=200 {
        file.push_str("\u{1e}{\"time\":0,\"name\":\"transport:packet_received\",\"data\":{\"header\":{\"packet_type\":\"1RTT\",\"packet_number\":0},\"raw\":{\"length\":9},\"frames\":[{\"frame_type\":\"ack\",\"acked_ranges\":[[0,499999]]}]}}\n");
    }
    let report = lint(file.as_bytes(), Profile::Qvis);
    assert_eq!(report.counts.into_iter().collect::<Vec<_>>(), [(Rule::AckSpan, 1)]);
}
