//! The model of a document: its experiments, and the claims that their runs answer.

use super::cell::{Cell, Figure, Scale};
use super::result::{Answer, CellResult, Derived, ExperimentResult};

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
    /// Statements on what its schemes are for.
    pub claims: &'static [Claim],
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

/// A statement that the runs of an experiment answer. Specifications hold what schemes are for,
/// not what the documents found, so it is that.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// Unique over all documents, such as `cho-1`.
    pub id: &'static str,
    /// Id of the experiment whose runs answer it.
    pub experiment: &'static str,
    /// The statement, one sentence.
    pub text: &'static str,
    /// The answer, with the numbers it rests on; `None` if the runs do not show it.
    pub answer: fn(&ExperimentResult) -> Option<(bool, String)>,
}

impl Claim {
    /// The answer of `result` to it.
    pub(super) fn answered(&self, result: &ExperimentResult) -> Answer {
        let (holds, evidence) = match (self.answer)(result) {
            Some((holds, evidence)) => (Some(holds), evidence),
            None => (None, "what it needs was not run".to_owned()),
        };
        Answer { claim: self.id.to_owned(), text: self.text.to_owned(), holds, evidence }
    }
}

/// Nothing follows from several cells.
pub fn nothing(_: &[CellResult]) -> Vec<Derived> {
    Vec::new()
}
