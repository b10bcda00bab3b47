//! What an experiment comes to.

use serde::{Deserialize, Serialize};

use super::cell::Cell;
use super::chart::draw;
use super::claim::Answer;
use super::document::{Document, Experiment, Plan};
use super::extent::Extent;
use super::keep::{CODE, Record};
use super::published::published;
use super::quantity::{Curve, Mean, Quantity, mean_of};

/// Name and version of the layout of an experiment's file.
pub const SCHEMA: &str = "windlass-paper/1";

/// A cell over its repetitions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CellResult {
    /// Its name.
    pub cell: String,
    /// What is varied, and its value here.
    pub settings: Vec<(String, String)>,
    /// The scenario as TOML, without a seed.
    pub scenario: String,
    /// Seeds of the repetitions.
    pub seeds: Vec<u64>,
    /// Its quantities.
    pub means: Vec<Mean>,
    /// The curves of the first repetition.
    #[serde(skip)]
    pub curves: Vec<Curve>,
}

impl CellResult {
    /// The value of a setting.
    #[must_use]
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// The mean of a quantity; `None` if no repetition told it.
    #[must_use]
    pub fn mean(&self, id: &str) -> Option<&Mean> {
        self.means.iter().find(|mean| mean.id == id)
    }

    /// Its number.
    #[must_use]
    pub fn value(&self, id: &str) -> Option<f64> {
        self.mean(id).map(|mean| mean.mean)
    }
}

/// A number that follows from several cells.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Derived {
    /// What it is, in short: `M10`.
    pub id: String,
    /// Whose it is.
    pub of: String,
    /// Its unit.
    pub unit: String,
    /// The number.
    pub value: f64,
}

impl Derived {
    /// A number of `of`.
    #[must_use]
    pub fn new(id: &str, of: &str, unit: &str, value: f64) -> Derived {
        Derived { id: id.to_owned(), of: of.to_owned(), unit: unit.to_owned(), value }
    }
}

/// A published value and ours.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// The cell.
    pub cell: String,
    /// The quantity.
    pub quantity: String,
    /// Its unit.
    pub unit: String,
    /// The published value.
    pub published: f64,
    /// Where that is from.
    pub source: String,
    /// Ours.
    pub ours: f64,
    /// Half of our confidence interval; missing with one repetition.
    pub half_width: Option<f64>,
    /// What ours has to be, in words; empty if nothing.
    #[serde(default)]
    pub rule: String,
    /// Whether it is.
    #[serde(default)]
    pub holds: Option<bool>,
}

/// A figure that was drawn.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Drawn {
    /// Its title.
    pub title: String,
    /// The picture.
    pub svg: String,
}

/// What an experiment came to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ExperimentResult {
    /// [`SCHEMA`].
    pub schema: String,
    /// The document's name.
    pub document: String,
    /// Its id.
    pub id: String,
    /// What it is.
    pub title: String,
    /// Where the specification has it.
    pub spec: String,
    /// What is varied.
    pub varied: String,
    /// How much of it was run.
    pub extent: Extent,
    /// What ran it.
    pub stack: String,
    /// [`CODE`] that ran it.
    pub code: String,
    /// Its cells, in order.
    pub cells: Vec<CellResult>,
    /// What follows from them together.
    pub derived: Vec<Derived>,
    /// Published values beside ours; none unless it was run in full.
    pub comparisons: Vec<Comparison>,
    /// Its figures.
    pub figures: Vec<Drawn>,
    /// What it says to the statements about the document's schemes.
    #[serde(default)]
    pub claims: Vec<Answer>,
    /// Cells that what ran it cannot run, and why.
    #[serde(default)]
    pub skipped: Vec<(String, String)>,
}

/// Puts the records of an experiment together. `runs` has, for each cell, its records in
/// the order of their seeds.
#[must_use]
pub fn conclude(
    document: &Document,
    experiment: &Experiment,
    plan: &Plan,
    extent: Extent,
    stack: &str,
    runs: Vec<(Cell, Vec<Record>)>,
) -> ExperimentResult {
    let cells: Vec<CellResult> = runs.into_iter().map(|(cell, records)| of_cell(cell, records)).collect();
    let derived = (plan.derive)(&cells);
    // A test reads every data file.
    let published = published(document.published).unwrap_or_default();
    let published = published.iter().filter(|value| value.experiment == experiment.id);
    let comparisons = match extent {
        Extent::Full => published.flat_map(|value| value.beside(&cells, &derived)).collect(),
        Extent::Quick => Vec::new(),
    };
    let mut result = ExperimentResult {
        schema: SCHEMA.to_owned(),
        document: document.name.to_owned(),
        id: experiment.id.to_owned(),
        title: experiment.title.to_owned(),
        spec: experiment.spec.to_owned(),
        varied: experiment.varied.to_owned(),
        extent,
        stack: stack.to_owned(),
        code: CODE.to_owned(),
        derived,
        comparisons,
        figures: plan.figures.iter().flat_map(|figure| draw(figure, &cells)).collect(),
        cells,
        claims: Vec::new(),
        skipped: Vec::new(),
    };
    let claims = document.claims.iter().filter(|claim| claim.experiment == experiment.id);
    result.claims = claims.map(|claim| claim.answered(&result)).collect();
    result
}

fn of_cell(cell: Cell, records: Vec<Record>) -> CellResult {
    let quantities: Vec<&[Quantity]> = records.iter().map(|record| record.quantities.as_slice()).collect();
    CellResult {
        means: mean_of(&quantities),
        seeds: records.iter().map(|record| record.seed).collect(),
        curves: records.into_iter().next().map(|record| record.curves).unwrap_or_default(),
        cell: cell.name,
        settings: cell.settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        scenario: cell.scenario,
    }
}
