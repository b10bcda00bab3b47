//! The results of an evaluation: every run with its metrics, and the ranking.
//!
//! [`Results`] is exactly what `results.json` holds and what the report shows; the CSV
//! and Parquet files are other views of it. `docs/results.md` describes all of them.

mod metrics;
mod ranking;
mod store;
mod table;
mod tables;

#[cfg(feature = "parquet")]
mod parquet;

use serde::{Deserialize, Serialize};

use windlass_simulator::outcome::{FlowOutcome, Outcome, QueueOutcome};

pub use crate::output::{StoreError, replace};
pub use metrics::Metrics;
pub(crate) use metrics::decimals;
#[cfg(feature = "parquet")]
pub use parquet::batch;
#[cfg(feature = "object-store")]
pub(crate) use parquet::compressed;
pub use ranking::{Standing, rank};
pub use store::{BRAND, Saved, Store, is_report};
pub use table::{Column, Table, Values};
pub use tables::{TableFile, run_tables, tables};

/// Name and version of the layout of `results.json`.
pub const SCHEMA: &str = "windlass-results/1";

/// The results of an evaluation or of single runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// Name and version of the layout: [`SCHEMA`].
    pub schema: String,
    /// Version of windlass that wrote it.
    pub windlass: String,
    /// What was run, one line.
    pub title: String,
    /// Seed of all random numbers.
    pub seed: u64,
    /// The stacks, in the order asked for: `sim` or names of real stacks.
    pub stacks: Vec<String>,
    /// The scenarios, in the order they were run.
    pub scenarios: Vec<Scene>,
    /// The controllers, in the order of the catalogue.
    pub controllers: Vec<Contender>,
    /// The controllers on each stack, best first.
    pub ranking: Vec<Standing>,
    /// Every run, ordered by scenario, controller and stack.
    pub runs: Vec<Run>,
}

/// A scenario as results describe it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scene {
    /// Name of the scenario, unique in the results.
    pub name: String,
    /// What the scenario shows, a sentence or two.
    pub summary: String,
    /// Simulated time of the run, s.
    pub duration_s: f64,
    /// Two-way delay of the path when no queue holds a packet, ms; `None` where flows
    /// differ in it.
    pub base_rtt_ms: Option<f64>,
}

/// A controller as results describe it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contender {
    /// As a user types it; empty when the scenario names its own.
    pub name: String,
    /// One line on what it is.
    pub summary: String,
    /// The document it is built from.
    pub source: String,
}

/// One run: a scenario with a controller on a stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Name of the scenario, one of [`Results::scenarios`].
    pub scenario: String,
    /// Controller under test; empty when the scenario names its own.
    pub controller: String,
    /// The stack that ran it; `sim` is the simulator.
    pub stack: String,
    /// Whether the run has results.
    pub status: Status,
    /// Why it was not done; `None` if it was.
    pub reason: Option<String>,
    /// Numbers of the run as a whole; `None` unless it was done.
    pub metrics: Option<Metrics>,
    /// The flows, in the scenario's order.
    pub flows: Vec<FlowOutcome>,
    /// The queues, in the scenario's order.
    pub queues: Vec<QueueOutcome>,
    /// qlog files of the run, relative to `results.json`.
    pub qlogs: Vec<String>,
}

/// Whether a run has results, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It was carried out and has results.
    Done,
    /// The stack cannot run it: it lacks a signal the controller needs, or a feature
    /// of the scenario.
    Unsupported,
    /// The run ended with an error.
    Failed,
}

impl Run {
    /// A run that was carried out. Numbers are rounded to the digits that files keep
    /// (`docs/results.md`), and metrics are those of the rounded numbers.
    #[must_use]
    pub fn done(controller: &str, base_rtt_ms: Option<f64>, mut outcome: Outcome, qlogs: Vec<String>) -> Run {
        metrics::round(&mut outcome);
        let metrics = Metrics::of(&outcome, controller, base_rtt_ms);
        Run {
            scenario: outcome.scenario,
            controller: controller.to_owned(),
            stack: outcome.stack,
            status: Status::Done,
            reason: None,
            metrics: Some(metrics),
            flows: outcome.flows,
            queues: outcome.queues,
            qlogs,
        }
    }

    /// A run that has no results, and why.
    #[must_use]
    pub fn without_results(scenario: &str, controller: &str, stack: &str, status: Status, reason: String) -> Run {
        Run {
            scenario: scenario.to_owned(),
            controller: controller.to_owned(),
            stack: stack.to_owned(),
            status,
            reason: Some(reason),
            metrics: None,
            flows: Vec::new(),
            queues: Vec::new(),
            qlogs: Vec::new(),
        }
    }
}

impl Results {
    /// The text of `results.json`: one line per controller, scenario, standing and run.
    ///
    /// # Errors
    /// A number is not finite.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut text = String::from("{");
        let head = [
            ("schema", serde_json::to_string(&self.schema)?),
            ("windlass", serde_json::to_string(&self.windlass)?),
            ("title", serde_json::to_string(&self.title)?),
            ("seed", serde_json::to_string(&self.seed)?),
            ("stacks", serde_json::to_string(&self.stacks)?),
            ("scenarios", lines(&self.scenarios)?),
            ("controllers", lines(&self.controllers)?),
            ("ranking", lines(&self.ranking)?),
            ("runs", lines(&self.runs)?),
        ];
        for (i, (key, value)) in head.iter().enumerate() {
            text.push_str(if i > 0 { ",\n" } else { "\n" });
            text.push_str(&format!("\"{key}\":{value}"));
        }
        text.push_str("\n}\n");
        Ok(text)
    }
}

fn lines<T: Serialize>(rows: &[T]) -> Result<String, serde_json::Error> {
    let rows = rows.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
    Ok(format!("[\n{}\n]", rows.join(",\n")))
}

#[cfg(test)]
mod tests;
