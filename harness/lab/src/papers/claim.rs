//! What a document's schemes are for, as statements that runs answer.

use serde::{Deserialize, Serialize};

use super::result::ExperimentResult;

/// A statement that the runs of an experiment answer. Specifications hold what schemes are for,
/// not what the documents found, so it is that.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// Short, unique in all documents.
    pub id: &'static str,
    /// The experiment.
    pub experiment: &'static str,
    /// The statement.
    pub text: &'static str,
    /// The answer, with the numbers it rests on; `None` if the runs do not tell.
    pub answer: fn(&ExperimentResult) -> Option<(bool, String)>,
}

/// An answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// Its claim's id.
    pub claim: String,
    /// The statement.
    pub text: String,
    /// Whether it holds; missing if the runs do not tell.
    pub holds: Option<bool>,
    /// The numbers it rests on.
    pub evidence: String,
}

impl Claim {
    /// What `result` says to it.
    pub(super) fn answered(&self, result: &ExperimentResult) -> Answer {
        let (holds, evidence) = match (self.answer)(result) {
            Some((holds, evidence)) => (Some(holds), evidence),
            None => (None, "what it needs was not run".to_owned()),
        };
        Answer { claim: self.id.to_owned(), text: self.text.to_owned(), holds, evidence }
    }
}

impl ExperimentResult {
    /// A quantity of the first cell with these settings.
    #[must_use]
    pub fn of(&self, settings: &[(&str, &str)], quantity: &str) -> Option<f64> {
        let fits = |cell: &&super::CellResult| settings.iter().all(|(name, value)| cell.setting(name) == Some(value));
        self.cells.iter().find(fits)?.value(quantity)
    }

    /// The mean of a quantity over all cells with these settings; `None` without any.
    #[must_use]
    pub fn mean_over(&self, settings: &[(&str, &str)], quantity: &str) -> Option<f64> {
        let fits = |cell: &&super::CellResult| settings.iter().all(|(name, value)| cell.setting(name) == Some(value));
        let values: Vec<f64> = self.cells.iter().filter(fits).filter_map(|cell| cell.value(quantity)).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }
}
