//! The lint on files made to break it: it may find anything, and must not panic.

use proptest::prelude::*;
use windlass_qlog_analysis::lint::{Profile, Report, Rule, lint};

const FILES: &[&str] = &[
    include_str!("../../model/tests/expected/small-ietf.txt"),
    include_str!("../../model/tests/expected/small-qvis.txt"),
    r#"{"qlog_version":"draft-01","traces":[{"event_fields":["relative_time","category","event","data"],"events":[[0,"transport","packet_sent",{"packet_type":"1RTT","header":{"packet_number":0,"packet_size":12},"frames":[{"frame_type":"ack","acked_ranges":[["0","1"]]}]}],["1","recovery","metrics_updated",{"cwnd":"1"}]]}]}"#,
    "{\"qlog_version\":\"0.3\",\"qlog_format\":\"NDJSON\",\"trace\":{\"vantage_point\":{\"type\":\"client\"}}}\n{\"time\":1,\"name\":\"transport:packet_received\",\"data\":{\"header\":{\"packet_type\":\"1RTT\",\"packet_number\":1},\"raw\":{\"length\":1}}}\n",
];

/// Texts inserted into a hostile file.
const TOKENS: &[&str] = &[
    "\u{1e}",
    "\n",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "null",
    "true",
    "-1",
    "1e308",
    "-1e999",
    "0.333",
    "1e-400",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "\"\\ud800\"",
    "\u{0}",
    "\u{feff}",
    "é",
    "[0,18446744073709551615]",
    "[[0,18446744073709551615]]",
    "\"traces\":[",
    "\"events\":[",
    "\"trace\":",
    "\"constants\":",
    "\"time\":",
    "\"name\":\"a:b\",",
    "\"name\":\":\",",
    "\"group_id\":1,",
    "\"event_fields\":[1],",
    "\"data\":",
    "\"time_format\":\"relative_to_previous_event\",",
    "\"latest_rtt\":1e308,",
    "\"acked_ranges\":[[]],",
];

fn check(report: &Report) {
    assert!(report.findings.len() <= 20 * Rule::ALL.len());
    assert!(report.counts.values().sum::<u64>() >= report.findings.len() as u64);
    assert_eq!(report.errors() + report.warnings(), report.counts.values().sum::<u64>());
    assert!(!report.to_string().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damaged_files_never_panic(
        file in 0..FILES.len(),
        cuts in prop::collection::vec((0..10_000usize, 0..60usize, prop::option::of(0..TOKENS.len())), 1..8),
        flips in prop::collection::vec((0..10_000usize, any::<u8>()), 0..4),
    ) {
        let mut bytes = FILES[file].as_bytes().to_vec();
        for (at, length, token) in cuts {
            let at = at % (bytes.len() + 1);
            let end = (at + length).min(bytes.len());
            bytes.splice(at..end, token.map_or(&b""[..], |token| TOKENS[token].as_bytes()).iter().copied());
        }
        for (at, byte) in flips {
            if !bytes.is_empty() {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
        }
        for profile in [Profile::Ietf, Profile::Qvis] {
            check(&lint(&bytes[..], profile));
        }
    }

    #[test]
    fn values_of_the_wrong_kind_never_panic(
        file in 0..FILES.len(),
        at in 0..1000usize,
        token in 0..TOKENS.len(),
    ) {
        // After a colon stands a value.
        let text = FILES[file];
        let colons: Vec<usize> = text.match_indices("\":").map(|(at, _)| at + 2).collect();
        let start = colons[at % colons.len()];
        let end = start + text[start..].find([',', '}']).unwrap_or(0);
        let text = format!("{}{}{}", &text[..start], TOKENS[token], &text[end..]);
        for profile in [Profile::Ietf, Profile::Qvis] {
            check(&lint(text.as_bytes(), profile));
        }
    }

    #[test]
    fn noise_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for profile in [Profile::Ietf, Profile::Qvis] {
            check(&lint(&bytes[..], profile));
        }
    }
}

#[test]
fn deep_nesting_is_an_error_and_no_overflow() {
    for open in ["[", "{\"traces\":[", "{\"a\":"] {
        for prefix in ["", "\u{1e}", "{\"traces\":[{\"events\":["] {
            let file = format!("{prefix}{}", open.repeat(200_000));
            for profile in [Profile::Ietf, Profile::Qvis] {
                assert!(lint(file.as_bytes(), profile).errors() > 0);
            }
        }
    }
}
