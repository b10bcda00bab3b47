//! Traces as a stranger would write them: without our events and without the controller's
//! name.

use std::path::Path;

use crate::evaluation::{Job, Source, execute};
use serde_json::Value;
use windlass_qlog::Profile;
use windlass_stacks::stack::{LogDetail, LogSettings, Runner};

/// The first flow of `scenario` with `controller` on `stack`, as a plain trace; none if the
/// stack cannot run it.
pub fn trace(scenario: &str, controller: &str, stack: Runner) -> Option<Vec<u8>> {
    let source = Source::builtin(scenario).unwrap();
    let place = tempfile::tempdir().unwrap();
    let settings = LogSettings { detail: LogDetail::Packets, profile: Profile::Ietf };
    let job = Job { source: &source, controller: Some(controller), stack, seed: None };
    let run = execute(&job, Some((settings, place.path())), &|_| false).unwrap();
    let file = run.qlogs.first()?;
    let file = place.path().join(Path::new(file).strip_prefix("qlog").unwrap());
    Some(strip(&std::fs::read_to_string(file).unwrap()))
}

/// `text`, a JSON text sequence of ours, without anything that names its writer.
fn strip(text: &str) -> Vec<u8> {
    let mut plain = Vec::new();
    for (number, record) in text.split('\u{1e}').filter(|record| !record.is_empty()).enumerate() {
        let mut value: Value = serde_json::from_str(record).unwrap();
        if number == 0 {
            strip_header(&mut value);
        }
        let name = value.get("name").and_then(Value::as_str).unwrap_or_default();
        if name.starts_with("windlass:") || name.ends_with("recovery_parameters_set") {
            continue;
        }
        plain.push(0x1e);
        plain.extend_from_slice(value.to_string().as_bytes());
        plain.push(b'\n');
    }
    let text = String::from_utf8_lossy(&plain);
    assert!(!text.contains("windlass") && !text.contains("controller"), "{}", &text[..1000.min(text.len())]);
    plain
}

fn strip_header(header: &mut Value) {
    for place in ["", "/trace"] {
        let Some(fields) = header.pointer_mut(place).and_then(Value::as_object_mut) else { continue };
        fields.remove("title");
        fields.remove("description");
        fields.remove("common_fields");
        fields.remove("event_schemas");
        if let Some(point) = fields.get_mut("vantage_point").and_then(Value::as_object_mut) {
            point.remove("name");
        }
    }
}
