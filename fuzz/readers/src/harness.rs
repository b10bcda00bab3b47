//! The readers that live in the harness.

use windlass_controllers::Algorithm;
use windlass_lab::replay::{ReplayError, identify, replay_controllers};
use windlass_simulator::scenario::Scenario;

/// Other controllers on a trace.
pub fn replay(data: &[u8]) {
    let open = || Ok::<_, ReplayError>(data);
    let _ = identify(&open, None);
    let engines: Vec<_> = ["reno", "bbr", "rovegas"]
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), Algorithm::named(name)?)))
        .collect();
    if let Ok(found) = replay_controllers(&open, None, &engines, true) {
        let _ = found.text(80);
        let _ = found.svg();
    }
}

/// Reads a scenario file.
pub fn scenario(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = Scenario::read("fuzz", text, Some("reno"));
    }
}
