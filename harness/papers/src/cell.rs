//! A cell of an experiment: one scenario, and what is read off its runs.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::quantity::{Curve, Quantity};
use super::template::Template;
use super::time_series::TimeSeries;
use windlass_simulator::scenario::Scenario;

/// The varied settings, each with its value in a cell.
pub type Settings = Vec<(&'static str, String)>;

/// One scenario of an experiment.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Name of the cell, unique in its experiment.
    pub name: String,
    /// The varied settings, each with its value in this cell.
    pub settings: Settings,
    /// The scenario as TOML; every repetition sets its own seed.
    pub scenario: String,
    /// Name of the link that is observed.
    pub bottleneck: &'static str,
    /// Time between two observations, ms.
    pub step_ms: f64,
    /// Measure of its runs.
    pub measure: Measure,
}

impl Cell {
    /// A cell that is called after its settings.
    #[must_use]
    pub fn new(
        settings: Settings,
        scenario: &Template,
        bottleneck: &'static str,
        step_ms: f64,
        measure: Measure,
    ) -> Cell {
        let parts: Vec<String> = settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let name = if parts.is_empty() { "the run".to_owned() } else { parts.join(" ") };
        Cell { name, settings, scenario: scenario.to_string(), bottleneck, step_ms, measure }
    }

    /// The value of a setting; `None` if the cell does not have it.
    #[must_use]
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|(other, _)| *other == name).map(|(_, value)| value.as_str())
    }

    /// Whether it has the settings of one of `alternatives`, each `setting=value,setting=value`; any cell has where
    /// there are none.
    #[must_use]
    pub fn is_one_of<S: AsRef<str>>(&self, alternatives: &[S]) -> bool {
        let fits = |one: &S| {
            let mut pairs = one.as_ref().split(',').map(|pair| pair.trim().split_once('='));
            pairs.all(|pair| pair.is_some_and(|(name, value)| self.setting(name) == Some(value)))
        };
        alternatives.is_empty() || alternatives.iter().any(fits)
    }

    /// Packets the bottleneck could send in a run: an estimate of the work.
    #[must_use]
    pub fn packets(&self) -> f64 {
        let scenario = Scenario::read(&self.name, &self.scenario, None).ok();
        scenario.and_then(|scenario| most_packets(&scenario, self.bottleneck)).unwrap_or(0.0)
    }
}

/// Packets the bottleneck of `scenario` could send in its time.
fn most_packets(scenario: &Scenario, bottleneck: &str) -> Option<f64> {
    let link = scenario.topology.links.iter().find(|link| link.name == bottleneck)?;
    let bits = 8.0 * f64::from(scenario.wire_bytes);
    link.rate.is_finite().then(|| link.rate * scenario.duration.secs() / bits)
}

/// Function that measures a run.
pub type Read = dyn Fn(&TimeSeries) -> Measured + Send + Sync;

/// How quantities and curves are read off a run.
#[derive(Clone)]
pub struct Measure {
    /// Its name with all its parameters: measures of equal names read the same.
    pub name: String,
    /// State variables of controllers that are recorded for it, by the names `inspect` gives
    /// them.
    pub state_variables: &'static [&'static str],
    /// The function that reads quantities and curves off a run.
    pub read: Arc<Read>,
}

impl Measure {
    /// A measure of that name, which `read` reads off a run.
    #[must_use]
    pub fn new(name: String, read: impl Fn(&TimeSeries) -> Measured + Send + Sync + 'static) -> Measure {
        Measure { name, state_variables: &[], read: Arc::new(read) }
    }

    /// The same measure, which also follows the state variables called `names`.
    #[must_use]
    pub fn with_state_variables(self, names: &'static [&'static str]) -> Measure {
        Measure { name: format!("{} with {names:?}", self.name), state_variables: names, ..self }
    }
}

impl fmt::Debug for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Measures of a run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Measured {
    /// Numbers. Those that the run does not show are left out.
    pub quantities: Vec<Quantity>,
    /// Curves for figures; those of the first repetition are stored.
    pub curves: Vec<Curve>,
}

/// A figure of an experiment.
#[derive(Clone, Copy, Debug)]
pub enum Figure {
    /// Curves of one kind over time, of every cell or of those whose settings agree.
    Curves {
        /// Title above the figure.
        title: &'static str,
        /// The kind of curve, as in [`Curve::kind`].
        kind: &'static str,
        /// What the vertical axis shows, with its unit.
        y: &'static str,
        /// The settings whose values get a figure each, separated by spaces; empty for one figure.
        each: &'static str,
    },
    /// Quantities side by side for each value of a setting; of cells that agree in it the first.
    Bars {
        /// Title above the figure.
        title: &'static str,
        /// The setting whose values get a group of bars each.
        of: &'static str,
        /// Ids of the quantities, a bar each.
        quantities: &'static [&'static str],
        /// What the vertical axis shows, with its unit.
        y: &'static str,
    },
    /// A quantity over a setting that is a number.
    Across {
        /// Title above the figure.
        title: &'static str,
        /// The setting on the horizontal axis.
        x: &'static str,
        /// What the horizontal axis shows, with its unit.
        x_label: &'static str,
        /// Id of the quantity on the vertical axis.
        quantity: &'static str,
        /// What the vertical axis shows, with its unit.
        y: &'static str,
        /// The setting whose values get a line each.
        by: &'static str,
    },
}
