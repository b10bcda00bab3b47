//! Every rule of the lint, by a file that breaks it and nothing else.

use std::collections::BTreeSet;

use windlass_qlog_analysis::lint::{Profile, Report, Rule, Severity, lint};

/// Traces that the writer's own tests expect.
const IETF: &str = include_str!("../../model/tests/expected/small-ietf.txt");
const QVIS: &str = include_str!("../../model/tests/expected/small-qvis.txt");

fn base(profile: Profile) -> &'static str {
    match profile {
        Profile::Ietf => IETF,
        Profile::Qvis => QVIS,
    }
}

fn broken(report: &Report) -> Vec<Rule> {
    report.counts.keys().copied().collect()
}

/// Replaces the first `from`, which must be there.
fn replace(file: &str, from: &str, to: &str) -> String {
    assert!(file.contains(from), "{from} is not in the file");
    file.replacen(from, to, 1)
}

/// Puts a record after the header.
fn insert(file: &str, record: &str) -> String {
    replace(file, "\n", &format!("\n\u{1e}{record}\n"))
}

type Damage = fn(&str) -> String;

/// Breaks that also break another rule, by nature.
const ALSO: &[(Rule, Profile, &[Rule], Damage)] = &[
    (Rule::NoEvents, Profile::Qvis, &[Rule::NoPackets, Rule::NoEvents], |file| {
        file.split_inclusive('\n').take(1).collect()
    }),
    (Rule::AckSpan, Profile::Ietf, &[Rule::AckSpan, Rule::AckUnsent], |file| {
        replace(file, "[[3],[0]]", "[[3],[5,1000005]]")
    }),
];

/// One file per rule and profile: what is replaced by what.
#[rustfmt::skip]
const BREAKS: &[(Rule, Option<Profile>, Damage)] = &[
    (Rule::FileEmpty, None, |_| "\n".to_owned()),
    (Rule::NotQlog, None, |_| "{\"constants\":{\"logEventTypes\":{}},\"events\":[]}".to_owned()),
    (Rule::RecordSeparator, Some(Profile::Ietf), |file| replace(file, "\u{1e}{\"time\":101", "{\"time\":101")),
    (Rule::RecordSeparator, Some(Profile::Qvis), |file| replace(file, "\u{1e}{\"time\":101", "{\"time\":101")),
    (Rule::RecordNewline, None, |file| replace(file, "}\n\u{1e}{\"time\":101", "}\u{1e}{\"time\":101")),
    (Rule::RecordEmpty, Some(Profile::Ietf), |file| replace(file, "\u{1e}{\"time\":101", "\u{1e}\u{1e}{\"time\":101")),
    (Rule::RecordJson, None, |file| replace(file, "\"new\":1400}}", "\"new\":1400}")),
    (Rule::RecordObject, None, |file| insert(file, "5")),
    (Rule::RecordSize, None, |file| insert(file, &format!("{{\"time\":\"{}\"}}", "1".repeat(1 << 26)))),
    (Rule::HeaderOld, Some(Profile::Ietf), |file| {
        replace(file, "\"file_schema\":\"urn:ietf:params:qlog:file:sequential\"", "\"qlog_version\":\"0.3\"")
    }),
    (Rule::HeaderNew, Some(Profile::Qvis), |file| replace(file, "\"qlog_version\"", "\"file_schema\"")),
    (Rule::FileSchema, Some(Profile::Ietf), |file| replace(file, "file:sequential", "file:contained")),
    (Rule::SerializationFormat, Some(Profile::Ietf), |file| replace(file, "application/qlog+json-seq", "JSON-SEQ")),
    (Rule::QlogVersion, Some(Profile::Qvis), |file| replace(file, "\"0.3\"", "\"0.4\"")),
    (Rule::QlogFormat, Some(Profile::Qvis), |file| replace(file, "\"JSON-SEQ\"", "\"NDJSON\"")),
    (Rule::HeaderLate, Some(Profile::Ietf), |file| {
        replace(file, "\"serialization_format\"", &format!("\"note\":\"{}\",\"serialization_format\"", "x".repeat(200)))
    }),
    (Rule::HeaderLate, Some(Profile::Qvis), |file| {
        replace(file, "\"qlog_format\"", &format!("\"note\":\"{}\",\"qlog_format\"", "x".repeat(1000)))
    }),
    (Rule::TraceMissing, None, |file| replace(file, "\"trace\":", "\"track\":")),
    (Rule::VantagePoint, None, |file| replace(file, "\"type\":\"server\"", "\"type\":\"unknown\"")),
    (Rule::EventSchemas, Some(Profile::Ietf), |file| replace(file, "\"event_schemas\"", "\"schemas\"")),
    (Rule::SchemaUri, Some(Profile::Ietf), |file| replace(file, "quic-13", "quic")),
    (Rule::ReferenceTime, Some(Profile::Ietf), |file| replace(file, "\"epoch\":\"unknown\"", "\"epoch\":\"1970-01-01T00:00:00Z\"")),
    (Rule::ReferenceTime, Some(Profile::Qvis), |file| replace(file, ",\"reference_time\":0", "")),
    (Rule::TimeFormat, Some(Profile::Ietf), |file| replace(file, "relative_to_epoch", "absolute")),
    (Rule::TimeFormat, Some(Profile::Qvis), |file| replace(file, "\"relative\"", "\"relative_to_epoch\"")),
    (Rule::HeaderLeftover, Some(Profile::Ietf), |file| replace(file, "\"common_fields\":{", "\"common_fields\":{\"protocol_type\":\"QUIC\",")),
    (Rule::EventTime, None, |file| replace(file, "\"time\":101", "\"time\":\"soon\"")),
    (Rule::EventName, Some(Profile::Ietf), |file| replace(file, "quic:mtu_updated", "mtu_updated")),
    (Rule::EventName, Some(Profile::Qvis), |file| replace(file, "connectivity:mtu_updated", "mtu_updated")),
    (Rule::EventData, None, |file| replace(file, "\"data\":{\"old\":1200,\"new\":1400}", "\"data\":1400")),
    (Rule::EventForm, Some(Profile::Ietf), |file| insert(file, "[0,\"quic\",\"mtu_updated\",{\"new\":1200}]")),
    (Rule::EventForm, Some(Profile::Qvis), |file| insert(file, "[0,\"connectivity\",\"mtu_updated\",{\"new\":1200}]")),
    (Rule::NameOld, Some(Profile::Ietf), |file| replace(file, "quic:mtu_updated", "connectivity:mtu_updated")),
    (Rule::NameNew, Some(Profile::Qvis), |file| replace(file, "connectivity:mtu_updated", "quic:mtu_updated")),
    (Rule::NameUnknown, Some(Profile::Ietf), |file| replace(file, "quic:mtu_updated", "quic:mtu_changed")),
    (Rule::NamespaceUnlisted, Some(Profile::Ietf), |file| replace(file, "windlass:note", "capstan:note")),
    (Rule::SchemaUnlisted, Some(Profile::Ietf), |file| replace(file, "quic:mtu_updated", "http3:parameters_set")),
    (Rule::FieldCase, Some(Profile::Ietf), |file| replace(file, "base_rtt_ms", "base_RTT_ms")),
    (Rule::TimeOrder, None, |file| replace(file, "\"time\":101", "\"time\":99.5")),
    (Rule::TimeNegative, None, |file| replace(file, "\"time\":0,", "\"time\":-1,")),
    (Rule::GroupId, Some(Profile::Qvis), |file| replace(file, "\"time\":101", "\"group_id\":\"a\",\"time\":101")),
    (Rule::FieldMissing, None, |file| replace(file, ",\"new\":1400", "")),
    (Rule::FieldType, None, |file| replace(file, "\"bytes_in_flight\":3600", "\"bytes_in_flight\":3600.5")),
    (Rule::FieldOld, Some(Profile::Ietf), |file| replace(file, "\"initiator\"", "\"owner\"")),
    (Rule::CwndName, Some(Profile::Ietf), |file| replace(file, "\"congestion_window\"", "\"cwnd\"")),
    (Rule::CwndName, Some(Profile::Qvis), |file| replace(file, "\"cwnd\"", "\"congestion_window\"")),
    (Rule::SsthreshInfinite, None, |file| replace(file, "\"ssthresh\":6600", "\"ssthresh\":18446744073709551615")),
    (Rule::RttUnit, None, |file| {
        let file = replace(file, "\"latest_rtt\":40.000001,\"smoothed_rtt\":40", "\"latest_rtt\":0.333,\"smoothed_rtt\":0.333");
        replace(&file, "\"min_rtt\":40", "\"min_rtt\":0.333")
    }),
    (Rule::RttOrder, None, |file| replace(file, "\"min_rtt\":40", "\"min_rtt\":41")),
    (Rule::PacketTypePlace, Some(Profile::Qvis), |file| {
        replace(file, "\"header\":{\"packet_type\":\"1RTT\",", "\"packet_type\":\"1RTT\",\"header\":{")
    }),
    (Rule::PacketSizePlace, Some(Profile::Qvis), |file| {
        replace(file, "\"packet_number\":4},\"raw\":{\"length\":40}", "\"packet_number\":4,\"packet_size\":40}")
    }),
    (Rule::RawLength, None, |file| replace(file, "\"raw\":{\"length\":40}", "\"raw\":{\"length\":0}")),
    (Rule::NoPackets, Some(Profile::Qvis), |file| {
        file.split_inclusive('\n').filter(|line| !line.contains("packet_sent")).collect()
    }),
    (Rule::NoEvents, Some(Profile::Ietf), |file| file.split_inclusive('\n').take(1).collect()),
    (Rule::FrameType, None, |file| replace(file, "\"ping\"", "\"pong\"")),
    (Rule::FrameLength, Some(Profile::Ietf), |file| replace(file, "\"offset\":0,\"raw\":{\"length\":300}", "\"offset\":0")),
    (Rule::FrameLength, Some(Profile::Qvis), |file| replace(file, "\"offset\":1160,\"length\":1160", "\"offset\":1160")),
    (Rule::FramesEmpty, Some(Profile::Qvis), |file| {
        insert(file, r#"{"time":0,"name":"transport:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":90},"raw":{"length":9},"frames":[]}}"#)
    }),
    (Rule::PacketRoom, Some(Profile::Qvis), |file| {
        insert(file, r#"{"time":0,"name":"transport:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":90},"raw":{"length":1020},"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"length":1000}]}}"#)
    }),
    (Rule::RequestStreams, Some(Profile::Qvis), |file| file.replace("\"stream_id\":0", "\"stream_id\":2")),
    (Rule::RequestFirst, Some(Profile::Qvis), |file| {
        let request = r#"{"time":0,"name":"transport:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":90},"raw":{"length":90},"frames":[{"frame_type":"stream","stream_id":8,"offset":0,"length":10}]}}"#;
        insert(file, request)
    }),
    (Rule::AckRange, Some(Profile::Ietf), |file| replace(file, "[[3],[0]]", "[[3],[1,0]]")),
    (Rule::AckRange, Some(Profile::Qvis), |file| replace(file, "[[3,3],[0,0]]", "[[3,3],[1,0]]")),
    (Rule::AckSpan, Some(Profile::Qvis), |file| replace(file, "[[3,3],[0,0]]", "[[3,3],[5,1000005]]")),
    (Rule::AckUnsent, Some(Profile::Ietf), |file| replace(file, "[[3],[0]]", "[[9],[0]]")),
    (Rule::LostHeader, None, |file| replace(file, "\"packet_number\":1},\"trigger\"", "\"number\":1},\"trigger\"")),
    (Rule::Trigger, None, |file| replace(file, "\"trigger\":\"time_threshold\"", "\"trigger\":\"boredom\"")),
];

#[test]
fn what_the_writer_writes_is_clean() {
    for profile in [Profile::Ietf, Profile::Qvis] {
        let report = lint(base(profile).as_bytes(), profile);
        assert!(report.is_clean(), "{report}");
        assert_eq!((report.records, report.events), (22, 21));
    }
    for (file, profile) in [
        (include_str!("../../model/tests/expected/small-ietf-recovery.txt"), Profile::Ietf),
        (include_str!("../../model/tests/expected/small-qvis-recovery.txt"), Profile::Qvis),
    ] {
        let report = lint(file.as_bytes(), profile);
        assert!(report.is_clean(), "{report}");
    }
}

#[test]
fn each_rule_finds_what_breaks_it_and_no_other_does() {
    let mut tried = BTreeSet::from([(Rule::FileRead, "Ietf".to_owned()), (Rule::FileRead, "Qvis".to_owned())]);
    for (rule, only, damage) in BREAKS {
        for profile in [Profile::Ietf, Profile::Qvis] {
            if only.is_some_and(|only| only != profile) {
                continue;
            }
            let file = damage(base(profile));
            let report = lint(file.as_bytes(), profile);
            assert_eq!(broken(&report), [*rule], "{profile:?}\n{report}");
            assert_eq!(Some(report.findings[0].severity), rule.severity(profile));
            tried.insert((*rule, format!("{profile:?}")));
        }
    }
    for (rule, profile, expected, damage) in ALSO {
        let report = lint(damage(base(*profile)).as_bytes(), *profile);
        assert_eq!(broken(&report), *expected, "{report}");
        tried.insert((*rule, format!("{profile:?}")));
    }
    for rule in Rule::ALL {
        for profile in [Profile::Ietf, Profile::Qvis] {
            let tried = tried.contains(&(*rule, format!("{profile:?}")));
            assert_eq!(tried, rule.severity(profile).is_some(), "{rule} under {profile:?}");
        }
    }
}

#[test]
fn a_finding_has_its_line_its_record_and_the_value() {
    let file = replace(IETF, "\"ssthresh\":6600", "\"ssthresh\":18446744073709551615");
    let line = file.lines().position(|line| line.contains("ssthresh")).unwrap() as u64 + 1;
    let report = lint(file.as_bytes(), Profile::Ietf);
    let finding = &report.findings[0];
    assert_eq!((finding.place.line, finding.place.record), (line, line));
    assert_eq!(
        report.to_string(),
        format!(
            "line {line}, record {line}: error [ssthresh-infinite]: ssthresh is 18446744073709551615; \
             leave ssthresh out while there is none\n21 events: 1 errors, 0 warnings"
        )
    );
}

#[test]
fn a_bad_record_costs_that_record_only() {
    let file = replace(IETF, "{\"time\":101,", "{\"time\":,");
    let file = replace(&file, "{\"time\":60,", "{{");
    let file = replace(&file, "\"ssthresh\":6600", "\"ssthresh\":-1");
    let report = lint(file.as_bytes(), Profile::Ietf);
    assert_eq!(report.counts[&Rule::RecordJson], 2, "{report}");
    assert_eq!(report.counts[&Rule::FieldType], 1);
    assert_eq!(report.events, 19);
}

#[test]
fn a_file_that_ends_in_an_error_is_reported() {
    struct Broken(&'static [u8]);
    impl std::io::Read for Broken {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            match std::io::Read::read(&mut self.0, buffer)? {
                0 => Err(std::io::Error::other("cable pulled")),
                read => Ok(read),
            }
        }
    }
    let plain = br#"{"file_schema":"urn:ietf:params:qlog:file:contained","traces":[{"events":["#;
    for file in [IETF.as_bytes(), QVIS.as_bytes(), plain, b"{\"a\":1}\n{\"time\":1", b"\x1e", b""] {
        for profile in [Profile::Ietf, Profile::Qvis] {
            let report = lint(std::io::BufReader::new(Broken(file)), profile);
            assert_eq!(report.counts.get(&Rule::FileRead), Some(&1), "{report}");
            assert!(report.to_string().contains("cable pulled"), "{report}");
        }
    }
}

#[test]
fn every_rule_is_described_once() {
    let ids: BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.id()).collect();
    assert_eq!(ids.len(), Rule::ALL.len());
    for rule in Rule::ALL {
        assert!(!rule.about().is_empty() && !rule.fix().is_empty());
        assert!(rule.severity(Profile::Ietf).or(rule.severity(Profile::Qvis)).is_some());
    }
}

#[test]
fn findings_beyond_twenty_of_a_rule_are_counted() {
    let mut file = IETF.lines().next().unwrap().to_owned() + "\n";
    for _ in 0..1000 {
        file.push_str("\u{1e}{\"time\":0,\"name\":\"quic:mtu_updated\",\"data\":{}}\n");
    }
    let report = lint(file.as_bytes(), Profile::Ietf);
    assert_eq!((report.findings.len(), report.counts[&Rule::FieldMissing]), (20, 1000));
    assert_eq!(report.errors(), 1000);
    assert!(report.to_string().contains("[field-missing]: 980 more"));
    assert!(report.findings.iter().all(|finding| finding.severity == Severity::Error));
}

/// The manual lists every rule as it is.
#[test]
fn the_manual_has_a_row_for_every_rule() {
    let manual = include_str!("../../../docs/qlog.md");
    let rows: Vec<&str> = manual.lines().filter(|line| line.starts_with("| `")).collect();
    for rule in Rule::ALL {
        let severity = |profile| rule.severity(profile).map_or("–".to_owned(), |severity| severity.to_string());
        let row = format!(
            "| `{rule}` | {} | {} | {} | {} |",
            severity(Profile::Ietf),
            severity(Profile::Qvis),
            rule.about(),
            rule.fix()
        );
        assert!(rows.contains(&row.as_str()), "docs/qlog.md lacks the row\n{row}");
    }
}
