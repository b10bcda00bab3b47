//! The documents and their experiments.

use super::cell::{Cell, Figure};
use super::claim::Claim;
use super::extent::Extent;
use super::result::{CellResult, Derived};
use super::{arumaithurai, chan, cho, sharma};

/// A document.
#[derive(Clone, Copy, Debug)]
pub struct Document {
    /// What its specification is cited by.
    pub name: &'static str,
    /// Author, title, year.
    pub title: &'static str,
    /// What a reader of its page should know first, as paragraphs.
    pub guide: &'static [&'static str],
    /// Its experiments, in the order of the specification.
    pub experiments: &'static [Experiment],
    /// Values to hold ours against, as [`published`](super::published()) reads them.
    pub published: &'static str,
    /// What its schemes are for.
    pub claims: &'static [Claim],
}

/// One of a document's experiments.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Its id in the specification.
    pub id: &'static str,
    /// What it is, one line.
    pub title: &'static str,
    /// Where the specification has it.
    pub spec: &'static str,
    /// What is varied.
    pub varied: &'static str,
    /// How it is run.
    pub plan: Plan,
}

/// What is run, and what comes of it.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Its cells.
    pub cells: fn(Extent) -> Vec<Cell>,
    /// Repetitions unless others are asked for.
    pub repetitions: u64,
    /// Seed of the first one; the others follow.
    pub seed: u64,
    /// What follows from several cells together.
    pub derive: fn(&[CellResult]) -> Vec<Derived>,
    /// Its figures.
    pub figures: &'static [Figure],
}

/// The four documents.
pub const DOCUMENTS: &[Document] = &[sharma::DOCUMENT, cho::DOCUMENT, chan::DOCUMENT, arumaithurai::DOCUMENT];

impl Document {
    /// The document called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Document> {
        DOCUMENTS.iter().find(|document| document.name == name)
    }

    /// The experiment with this id, in whatever case, and its document. No two documents
    /// share an id.
    #[must_use]
    pub fn with(id: &str) -> Option<(&'static Document, &'static Experiment)> {
        let all = DOCUMENTS.iter().flat_map(|document| document.experiments.iter().map(move |e| (document, e)));
        all.into_iter().find(|(_, experiment)| experiment.id.eq_ignore_ascii_case(id))
    }
}

/// Nothing follows from several cells.
pub(super) fn nothing(_: &[CellResult]) -> Vec<Derived> {
    Vec::new()
}
