//! Recorded traces with pseudonyms: what is measured stays as it is, and no id, address or host is left.

use std::collections::BTreeSet;
use std::io::Read;
use std::net::IpAddr;

use serde_json::Value;
use windlass_qlog_analysis::metrics::measure;
use windlass_qlog_analysis::pseudonyms::Pseudonyms;
use windlass_qlog_analysis::read::{Options, open};

/// Fields whose values must not be found again, as others spell them.
const SECRET: [&str; 12] = [
    "scid",
    "dcid",
    "odcid",
    "ODCID",
    "connection_id",
    "group_id",
    "sni",
    "host",
    "stateless_reset_token",
    "ip_v4",
    "initial_source_connection_id",
    "original_destination_connection_id",
];

/// The strings in `value` that the fields of [`SECRET`] hold, and every text that is an address.
fn secrets(value: &Value, key: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| secrets(value, key, found)),
        Value::Array(values) => values.iter().for_each(|value| secrets(value, key, found)),
        Value::String(text) => {
            let address = text.parse::<IpAddr>().is_ok_and(|address| !address.is_unspecified());
            let telling = text.len() >= 8 && text.bytes().any(|byte| byte.is_ascii_alphabetic() || byte == b'.');
            if address || SECRET.contains(&key) && telling && !text.starts_with("flow-") {
                found.insert(text.to_ascii_lowercase());
            }
        }
        _ => {}
    }
}

#[test]
fn recorded_traces_keep_their_measures_and_lose_their_names() {
    let (mut traces, mut hidden) = (0, 0);
    for path in crate::read_recorded::all() {
        let mut text = Vec::new();
        if open(&path).map(|mut input| input.read_to_end(&mut text)).is_err() {
            continue;
        }
        let Ok((_, before)) = measure(text.as_slice(), &Options::default()) else { continue };
        let mut names = Pseudonyms::of(text.as_slice()).unwrap();
        let mut shared = Vec::new();
        names.rewrite(text.as_slice(), &mut shared).unwrap();
        let (_, after) = measure(shared.as_slice(), &Options::default()).unwrap();
        let measures = |all: &[windlass_qlog_analysis::metrics::Measured]| -> Vec<_> {
            let mut measures: Vec<_> = all.iter().map(|one| one.to_json("a")["measures"].clone()).collect();
            // That of a network log is an address.
            measures.iter_mut().for_each(|measures| drop(measures.as_object_mut().unwrap().remove("peer")));
            measures
        };
        let name = path.display();
        assert_eq!(measures(&before), measures(&after), "{name}");
        let mut found = BTreeSet::new();
        let documents = serde_json::Deserializer::from_slice(&text).into_iter::<Value>();
        documents.map_while(Result::ok).for_each(|value| secrets(&value, "", &mut found));
        for line in text.split(|&byte| byte == b'\n' || byte == 0x1e) {
            serde_json::from_slice(line).iter().for_each(|value| secrets(value, "", &mut found));
        }
        let shared = String::from_utf8_lossy(&shared).to_ascii_lowercase();
        for secret in &found {
            assert!(!shared.contains(secret.as_str()), "{name}: {secret} is still there");
        }
        traces += 1;
        hidden += found.len();
    }
    // Our own have none.
    let least = if crate::read_recorded::at_hand().is_some() { 10 } else { 0 };
    assert!(traces >= 10 && hidden >= least, "{hidden} names of {traces} traces");
}
