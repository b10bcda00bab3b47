//! The sources of scenarios: files, and the built-in ones.

use std::path::Path;

use windlass_controllers::Span;

use crate::results::Scene;
use windlass_network::RouteId;
use windlass_simulator::scenario::{Builtin, Scenario, ScenarioError};

/// A scenario's text and what to call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Name of the scenario, unless its text gives another one.
    pub name: String,
    /// Name of the file in messages.
    pub file: String,
    /// The file, word for word.
    pub text: String,
}

impl Source {
    /// The built-in scenario called `name`.
    #[must_use]
    pub fn builtin(name: &str) -> Option<Source> {
        Builtin::named(name).map(|scenario| Source {
            name: scenario.name.to_owned(),
            file: format!("{}.toml (built in)", scenario.name),
            text: scenario.text.to_owned(),
        })
    }

    /// The scenario in the file at `path`.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn file(path: &Path) -> Result<Source, ScenarioError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ScenarioError::Unreadable { path: path.to_owned(), source })?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Source { name, file: path.display().to_string(), text })
    }

    /// The scenario, with `controller` for the flows under test.
    ///
    /// # Errors
    /// The text is not a valid scenario; the error names every mistake with its place.
    pub fn read(&self, controller: Option<&str>) -> Result<Scenario, ScenarioError> {
        let mut scenario = Scenario::read(&self.file, &self.text, controller)?;
        if scenario.name.is_empty() {
            scenario.name.clone_from(&self.name);
        }
        Ok(scenario)
    }
}

/// `scenario` as results describe it.
#[must_use]
pub fn scene(scenario: &Scenario) -> Scene {
    Scene {
        name: scenario.name.clone(),
        summary: scenario.description.clone(),
        duration_s: scenario.duration.secs(),
        base_rtt_ms: base_rtt(scenario).map(Span::millis),
    }
}

/// What a full packet and its ACK need over the empty links as they are at the start, if
/// it is the same for all flows.
#[must_use]
pub fn base_rtt(scenario: &Scenario) -> Option<Span> {
    let way = |route: RouteId, bytes: u32| {
        let links = scenario.topology.routes[route.0 as usize].iter();
        let transmission = links.map(|link| 8.0 * f64::from(bytes) / scenario.topology.links[link.0 as usize].rate);
        scenario.topology.delay(route) + Span::from_secs_f64(transmission.sum())
    };
    let mut rtts: Vec<Span> = scenario
        .flows
        .iter()
        .map(|flow| way(flow.forward, flow.wire_bytes()) + way(flow.backward, flow.ack_wire_bytes))
        .collect();
    rtts.dedup();
    match rtts[..] {
        [rtt] => Some(rtt),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use windlass_simulator::scenario::BUILTIN;

    use super::*;

    #[test]
    fn every_scenario_file_is_built_in_and_readable() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../simulator/scenarios");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        let mut names: Vec<String> = BUILTIN.iter().map(|scenario| scenario.name.to_owned()).collect();
        files.sort();
        names.sort();
        assert_eq!(files, names);
        for name in names {
            let scenario = Source::builtin(&name).unwrap().read(Some("reno")).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(scenario.name, name);
            assert!(!scenario.description.is_empty(), "{name}");
        }
    }

    #[test]
    fn the_evaluated_ones_leave_the_controller_open() {
        for scenario in BUILTIN.iter().filter(|scenario| scenario.evaluated) {
            let scenario = Source::builtin(scenario.name).unwrap().read(Some("vegas")).unwrap();
            assert!(
                scenario.flows.iter().any(|flow| flow.under_test && flow.controller == "vegas"),
                "{}",
                scenario.name
            );
            assert!(base_rtt(&scenario).is_some());
        }
    }

    #[test]
    fn base_rtt_counts_transmission_and_needs_flows_alike() {
        let text = "duration_s = 1\n[dumbbell]\nrate_mbps = 12.28\nrtt_ms = 40\n[[flow]]\ncontroller = \"reno\"\n";
        let source = Source { name: "x".into(), file: "x".into(), text: text.into() };
        // 1228 bytes at 12.28 Mbit/s take 0.8 ms.
        assert_eq!(base_rtt(&source.read(None).unwrap()), Some(Span::from_micros(40_800)));
        let text = format!("{text}[[flow]]\ncontroller = \"reno\"\nrtt_ms = 60\n");
        assert_eq!(base_rtt(&Source { text, ..source }.read(None).unwrap()), None);
    }
}
