//! The readers that live in the harness.

use windlass_controllers::Algorithm;
use windlass_lab::hindsight::{HindsightError, identify, what_if};
use windlass_simulator::scenario::Scenario;

/// Other controllers on a trace.
pub fn hindsight(data: &[u8]) {
    let open = || Ok::<_, HindsightError>(data);
    let _ = identify(&open, None);
    let engines: Vec<_> = ["reno", "bbr", "rovegas"]
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), Algorithm::named(name)?)))
        .collect();
    if let Ok(found) = what_if(&open, None, &engines, true) {
        let _ = found.text(80);
        let _ = found.svg();
    }
}

/// A scenario file.
pub fn scenario(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = Scenario::read("fuzz", text, Some("reno"));
    }
}
