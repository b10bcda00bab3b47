//! The model of a document: its experiments, the claims that their runs answer, and the way from the records of runs to
//! the result of an experiment.

use super::cell::{Cell, Figure};
use super::chart::charts;
use super::claim::Claim;
use super::observe::{Record, code};
use super::published::published;
use super::quantity::{Quantity, mean_of};
use super::result::{CellResult, Derived, ExperimentResult, SCHEMA};
use super::template::Scale;

/// A document with an evaluation of its schemes.
#[derive(Clone, Copy, Debug)]
pub struct Document {
    /// The name its specification is cited by, such as `cho`.
    pub name: &'static str,
    /// Author, title and year of the document.
    pub title: &'static str,
    /// The introduction of its page, as paragraphs.
    pub guide: &'static [&'static str],
    /// Its experiments, in the order of the specification.
    pub experiments: &'static [Experiment],
    /// Published values to compare with, as TOML that [`published`](super::published()) reads.
    pub published: &'static str,
    /// Its statements on how schemes compare, each answered by the runs of an experiment.
    pub claims: &'static [Claim],
    /// Statements that no run of ours decides: section, statement, and why not.
    pub undetermined: &'static [(&'static str, &'static str, &'static str)],
}

/// One of a document's experiments.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Its id in the specification.
    pub id: &'static str,
    /// One line on what it shows.
    pub title: &'static str,
    /// The section of the specification, and the document's figures and tables.
    pub spec: &'static str,
    /// The settings that are varied, in words.
    pub varied: &'static str,
    /// How its flows repair losses.
    pub transport: Transport,
    /// Its cells, repetitions and figures.
    pub plan: Plan,
}

/// How the flows of an experiment repair losses. A document's hosts ran TCP, and what a loss costs
/// there decides thresholds, timeouts and who is ahead.
#[derive(Clone, Copy, Debug)]
pub struct Transport {
    /// The recoveries of its flows, as scenario files call them; each is some flow's.
    pub recovery: &'static [&'static str],
    /// Why these: what the document's hosts ran, and where the specification says so.
    pub why: &'static str,
    /// Whether the experiment is about the recovery itself, so that real stacks, which repair
    /// losses as RFC 9002 has it, cannot run it.
    pub is_essential: bool,
}

/// How an experiment is run and evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Makes its cells at a scale.
    pub cells: fn(Scale) -> Vec<Cell>,
    /// Repetitions unless others are asked for.
    pub repetitions: u64,
    /// Seed of the first one; the others follow.
    pub seed: u64,
    /// Computes the numbers that follow from several cells.
    pub derive: fn(&[CellResult]) -> Vec<Derived>,
    /// The figures drawn of its cells.
    pub figures: &'static [Figure],
}

/// Nothing follows from several cells.
pub fn nothing(_: &[CellResult]) -> Vec<Derived> {
    Vec::new()
}

/// Puts the records of an experiment together. `runs` has, for each cell, its records in
/// the order of their seeds.
#[must_use]
pub fn conclude(
    document: &Document,
    experiment: &Experiment,
    plan: &Plan,
    scale: Scale,
    stack: &str,
    runs: Vec<(Cell, Vec<Record>)>,
) -> ExperimentResult {
    let cells: Vec<CellResult> = runs.into_iter().map(|(cell, records)| of_cell(cell, records)).collect();
    let derived = (plan.derive)(&cells);
    // A test reads every data file.
    let published = published(document.published).unwrap_or_default();
    let published = published.iter().filter(|value| value.experiment == experiment.id);
    let comparisons = match scale {
        Scale::Full => published.flat_map(|value| value.beside(&cells, &derived)).collect(),
        Scale::Quick | Scale::Part(_) => Vec::new(),
    };
    let mut result = ExperimentResult {
        schema: SCHEMA.to_owned(),
        document: document.name.to_owned(),
        id: experiment.id.to_owned(),
        title: experiment.title.to_owned(),
        spec: experiment.spec.to_owned(),
        varied: experiment.varied.to_owned(),
        recovery: experiment.transport.recovery.iter().map(|name| (*name).to_owned()).collect(),
        recovery_why: experiment.transport.why.to_owned(),
        scale,
        only: Vec::new(),
        stack: stack.to_owned(),
        code: code().to_owned(),
        derived,
        comparisons,
        figures: plan.figures.iter().flat_map(|figure| charts(figure, &cells)).collect(),
        cells,
        claims: Vec::new(),
        skipped: Vec::new(),
    };
    let claims = document.claims.iter().filter(|claim| claim.experiment == experiment.id);
    result.claims = claims.map(|claim| claim.answered(&result)).collect();
    result
}

fn of_cell(cell: Cell, records: Vec<Record>) -> CellResult {
    let quantities: Vec<&[Quantity]> = records.iter().map(|record| record.read.quantities.as_slice()).collect();
    CellResult {
        means: mean_of(&quantities),
        seeds: records.iter().map(|record| record.seed).collect(),
        curves: records.into_iter().next().map(|record| record.read.curves).unwrap_or_default(),
        cell: cell.name,
        settings: cell.settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        scenario: cell.scenario,
    }
}
