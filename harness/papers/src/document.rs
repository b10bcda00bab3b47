//! The model of a document: its experiments, and the claims that their runs answer.

use super::cell::{Cell, Figure};
use super::claim::Claim;
use super::result::{CellResult, Derived};
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
