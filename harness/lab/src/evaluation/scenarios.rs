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
mod tests;
