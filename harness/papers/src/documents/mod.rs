//! The four documents with their experiments. They know the experiments' model
//! ([`papers`](super)); the model knows none of them.

mod arumaithurai;
mod chan;
mod cho;
mod sharma;

use super::{Document, Experiment};

/// The four documents, in the order reports show them.
pub const DOCUMENTS: &[Document] = &[sharma::DOCUMENT, cho::DOCUMENT, chan::DOCUMENT, arumaithurai::DOCUMENT];

/// The document called `name`; `None` if there is none.
#[must_use]
pub fn named(name: &str) -> Option<&'static Document> {
    DOCUMENTS.iter().find(|document| document.name == name)
}

/// The experiment with this id, in whatever case, and its document. No two documents
/// share an id.
#[must_use]
pub fn experiment(id: &str) -> Option<(&'static Document, &'static Experiment)> {
    let all = DOCUMENTS.iter().flat_map(|document| document.experiments.iter().map(move |e| (document, e)));
    all.into_iter().find(|(_, experiment)| experiment.id.eq_ignore_ascii_case(id))
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod trials;
