//! One controller on several stacks: how far apart what comes of it is.
//!
//! Every stack runs the same scenarios with the same controllers and seeds. What is
//! compared are means over the seeds, with their standard errors, so that a distance can be
//! told from luck. `docs/conformance.md` shows a whole comparison and explains it.

mod compare;
mod measures;
mod page;
mod tables;

use serde::{Deserialize, Serialize};

use crate::results::Scene;

pub use compare::compare;
pub use measures::{Gap, Mean, Measures};
pub use page::page;
pub use tables::tables;

/// Name and version of the layout of `conformance.json`.
pub const SCHEMA: &str = "windlass-conformance/1";

/// The controllers compared unless told otherwise: the standards, one that goes by delay,
/// one that yields by delay, and one that needs signals most stacks lack.
pub const CONTROLLERS: &[&str] = &["reno", "cubic", "vegas", "nf-tcp", "ledbat"];

/// The scenarios compared unless told otherwise: alone, alone with losses that tell
/// nothing, the same with receivers that delay their ACKs, and together with a flow of its
/// own kind.
pub const SCENARIOS: &[&str] = &["clean-link", "random-loss", "delayed-acks", "delayed-acks-loss", "two-flows"];

/// A comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conformance {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of windlass that wrote it.
    pub windlass: String,
    /// The seeds every combination was run with.
    pub seeds: Vec<u64>,
    /// What was compared, in the order asked for.
    pub stacks: Vec<String>,
    /// The scenarios, in the order they were run.
    pub scenarios: Vec<Scene>,
    /// What each stack came to, ordered by scenario, controller and stack.
    pub rows: Vec<Row>,
    /// How far apart every two stacks are, ordered by scenario, controller and stacks.
    pub distances: Vec<Distance>,
}

/// A controller in a scenario on a stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the scenario.
    pub scenario: String,
    /// The controller as a user types it.
    pub controller: String,
    /// What ran it.
    pub stack: String,
    /// Runs that were done.
    pub runs: u32,
    /// Why there are not as many as seeds.
    pub reason: Option<String>,
    /// Goodput of the flows under test together, Mbit/s; the mean of their mean RTTs, ms; and
    /// packets they declared lost, percent of those sent.
    pub measured: Measures<Option<Mean>>,
}

/// How far a stack is from another with the same controller in the same scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distance {
    /// Name of the scenario.
    pub scenario: String,
    /// The controller.
    pub controller: String,
    /// The stack that comes first in the order asked for.
    pub from: String,
    /// The other.
    pub to: String,
    /// What `to` has more than `from`: of goodput and RTT, percent of what `from` has; of
    /// loss, points: percent of the packets sent.
    pub gap: Measures<Option<Gap>>,
}

impl Distance {
    /// Whether a gap is wider than `limit`, percent or points.
    #[must_use]
    pub fn is_beyond(&self, limit: f64) -> bool {
        self.gap.each().into_iter().flatten().any(|gap| gap.is_beyond(limit))
    }
}

#[cfg(test)]
mod tests;
