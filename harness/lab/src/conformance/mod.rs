//! Conformance: the same controller on several stacks, and how far apart the results are.
//!
//! Every stack runs the same scenarios with the same controllers and seeds. What is
//! compared are means over the seeds, with their standard errors, so that a distance can be
//! distinguished from chance. `docs/conformance.csv` is a whole comparison, and `docs/conformance.md` explains it.

mod measures;
mod page;

use serde::{Deserialize, Serialize};

use crate::results::{Results, Run, Scene, Status};

pub use measures::{Gap, Mean, Measures};
pub use page::{page, tables};

/// Name and version of the layout of `conformance.json`.
pub const SCHEMA: &str = "windlass-conformance/1";

/// The controllers that are compared by default: the standards, one based on delay, one that
/// yields to others by delay, and one that needs signals most stacks lack; with parameters that are the same on each.
pub const CONTROLLERS: &[&str] = &["reno", "cubic:hystart_samples=round", "vegas", "nf-tcp", "ledbat"];

/// The scenarios that are compared by default: alone on a link, the same with random losses,
/// both with receivers that delay their ACKs, and beside a flow of the same controller.
pub const SCENARIOS: &[&str] = &["clean-link", "random-loss", "delayed-acks", "delayed-acks-loss", "two-flows"];

/// A comparison of stacks, with the runs it was made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conformance {
    /// Name and version of the layout: [`SCHEMA`].
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
    /// The stack that ran it; `sim` is the simulator.
    pub stack: String,
    /// Runs that have results, at most one for each seed.
    pub runs: u32,
    /// Why there are fewer runs than seeds; `None` if there are not.
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
    /// The controller as a user types it.
    pub controller: String,
    /// The stack that comes first in the order asked for.
    pub from: String,
    /// The stack that is compared with it.
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

/// Compares the stacks of `seeds`, which are results of the same scenarios, controllers and
/// stacks that differ in their seeds. There is nothing to compare in none.
#[must_use]
pub fn compare(seeds: &[Results]) -> Conformance {
    let first = seeds.first();
    let rows: Vec<Row> = match first {
        Some(results) => (0..results.runs.len()).map(|i| row(&runs(seeds, i))).collect(),
        None => Vec::new(),
    };
    let mut distances = Vec::new();
    for (i, from) in rows.iter().enumerate() {
        let same = |row: &&Row| (&row.scenario, &row.controller) == (&from.scenario, &from.controller);
        for to in rows[i + 1..].iter().filter(same).filter(|to| from.runs > 0 && to.runs > 0) {
            distances.push(Distance {
                scenario: from.scenario.clone(),
                controller: from.controller.clone(),
                from: from.stack.clone(),
                to: to.stack.clone(),
                gap: from.measured.to(&to.measured),
            });
        }
    }
    Conformance {
        schema: SCHEMA.to_owned(),
        windlass: env!("CARGO_PKG_VERSION").to_owned(),
        seeds: seeds.iter().map(|results| results.seed).collect(),
        stacks: first.map(|results| results.stacks.clone()).unwrap_or_default(),
        scenarios: first.map(|results| results.scenarios.clone()).unwrap_or_default(),
        rows,
        distances,
    }
}

/// Run `i` of each of `seeds`: they are in the same order.
fn runs(seeds: &[Results], i: usize) -> Vec<&Run> {
    seeds.iter().filter_map(|results| results.runs.get(i)).collect()
}

fn row(runs: &[&Run]) -> Row {
    let done: Vec<Measures<Option<f64>>> =
        runs.iter().filter_map(|run| run.metrics.as_ref()).map(Measures::of).collect();
    let mean =
        |pick: fn(&Measures<Option<f64>>) -> Option<f64>| Mean::of(&done.iter().filter_map(pick).collect::<Vec<_>>());
    let name = |pick: fn(&Run) -> &String| runs.first().map(|run| pick(run).clone()).unwrap_or_default();
    Row {
        scenario: name(|run| &run.scenario),
        controller: name(|run| &run.controller),
        stack: name(|run| &run.stack),
        runs: u32::try_from(done.len()).unwrap_or(u32::MAX),
        reason: runs.iter().find(|run| run.status != Status::Done).and_then(|run| run.reason.clone()),
        measured: Measures { goodput: mean(|m| m.goodput), rtt: mean(|m| m.rtt), loss: mean(|m| m.loss) },
    }
}

#[cfg(test)]
mod tests;
