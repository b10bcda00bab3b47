//! A cell of an experiment: one scenario, and what is read off its runs.

use std::fmt;
use std::sync::Arc;

use super::quantity::{Curve, Quantity};
use super::trail::Trail;
use windlass_simulator::scenario::Scenario;

/// One scenario of an experiment.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Unique in its experiment.
    pub name: String,
    /// What is varied, and its value here.
    pub settings: Vec<(&'static str, String)>,
    /// The scenario as TOML; every repetition sets its own seed.
    pub scenario: String,
    /// The link that is watched.
    pub bottleneck: &'static str,
    /// Distance between looks, ms.
    pub step_ms: f64,
    /// What is read off.
    pub measure: Measure,
}

impl Cell {
    /// The value of a setting.
    #[must_use]
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|(other, _)| *other == name).map(|(_, value)| value.as_str())
    }

    /// Packets the bottleneck could send in a run.
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

/// What is read off a run.
pub type Read = dyn Fn(&Trail) -> Measured + Send + Sync;

/// How quantities and curves are read off a run.
#[derive(Clone)]
pub struct Measure {
    /// Tells it from every other one, its parameters included: equal names read equally.
    pub name: String,
    /// Facts of controllers that are followed for it, by the names their pages give them.
    pub inside: &'static [&'static str],
    /// Does it.
    pub read: Arc<Read>,
}

impl Measure {
    /// The measure called `name`.
    #[must_use]
    pub fn new(name: String, read: impl Fn(&Trail) -> Measured + Send + Sync + 'static) -> Measure {
        Measure { name, inside: &[], read: Arc::new(read) }
    }

    /// The same, following `facts` of controllers.
    #[must_use]
    pub fn seeing(self, facts: &'static [&'static str]) -> Measure {
        Measure { name: format!("{} seeing {facts:?}", self.name), inside: facts, ..self }
    }
}

impl fmt::Debug for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// What was read off a run.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Numbers. One that a run does not tell is left out.
    pub quantities: Vec<Quantity>,
    /// Curves, of which one repetition's are kept for figures.
    pub curves: Vec<Curve>,
}

/// A figure of an experiment.
#[derive(Clone, Copy, Debug)]
pub enum Figure {
    /// Curves of one kind over time, of every cell or of those whose settings agree.
    Curves {
        /// Its title.
        title: &'static str,
        /// The kind of curve.
        kind: &'static str,
        /// What the vertical axis shows, with its unit.
        y: &'static str,
        /// The settings whose values get a figure each, separated by spaces; empty for one figure.
        each: &'static str,
    },
    /// Quantities side by side for each value of a setting; of cells that agree in it the first.
    Bars {
        /// Its title.
        title: &'static str,
        /// The setting.
        of: &'static str,
        /// The quantities.
        quantities: &'static [&'static str],
        /// What the vertical axis shows, with its unit.
        y: &'static str,
    },
    /// A quantity over a setting that is a number.
    Across {
        /// Its title.
        title: &'static str,
        /// The setting.
        x: &'static str,
        /// What the horizontal axis shows, with its unit.
        x_label: &'static str,
        /// The quantity.
        quantity: &'static str,
        /// What the vertical axis shows, with its unit.
        y: &'static str,
        /// The setting whose values get a line each.
        by: &'static str,
    },
}
