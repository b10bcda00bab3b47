//! The results of experiments.

use serde::{Deserialize, Serialize};

use super::quantity::{Curve, Mean, Number};
use super::template::Scale;

/// Name and version of the layout of an experiment's file.
pub const SCHEMA: &str = "windlass-paper/2";

/// A cell over its repetitions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CellResult {
    /// Name of the cell, its settings joined.
    pub cell: String,
    /// The varied settings, each with its value in this cell.
    pub settings: Vec<(String, String)>,
    /// The scenario as TOML, without a seed.
    pub scenario: String,
    /// Seeds of the repetitions, in order.
    pub seeds: Vec<u64>,
    /// Its quantities, each as the mean over the repetitions.
    pub means: Vec<Mean>,
    /// The curves of the first repetition.
    #[serde(skip)]
    pub curves: Vec<Curve>,
}

impl CellResult {
    /// The value of a setting; `None` if the cell does not have it.
    #[must_use]
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// The mean of a quantity; `None` if no repetition has it.
    #[must_use]
    pub fn mean(&self, id: &str) -> Option<&Mean> {
        self.means.iter().find(|mean| mean.id == id)
    }

    /// The mean of a quantity as a number; `None` if no repetition has it.
    #[must_use]
    pub fn value(&self, id: &str) -> Option<f64> {
        self.mean(id).map(|mean| mean.mean)
    }
}

/// A number that follows from several cells.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Derived {
    /// The id of the number, such as `M10`.
    pub id: String,
    /// The cell, scheme or pair that it belongs to.
    pub of: String,
    /// Unit of the number; empty for a pure one.
    pub unit: String,
    /// The number, in `unit`.
    pub value: f64,
}

impl Derived {
    /// The number `id` of `of`, in `unit`.
    #[must_use]
    pub fn new(id: &str, of: &str, unit: &str, value: f64) -> Derived {
        Derived { id: id.to_owned(), of: of.to_owned(), unit: unit.to_owned(), value }
    }
}

/// A published value and our value.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// Name of the cell, or what a number of several cells belongs to.
    pub cell: String,
    /// Id of the quantity within the experiment.
    pub quantity: String,
    /// Unit of the number; empty for a pure one.
    pub unit: String,
    /// The value of the document, in the unit of the quantity.
    pub published: f64,
    /// The source of the published value.
    pub source: String,
    /// The value of our runs, in the unit of the quantity.
    pub ours: f64,
    /// Half of our confidence interval; missing with one repetition.
    pub half_width: Option<f64>,
    /// The rule for our value, in words; empty without one.
    #[serde(default)]
    pub rule: String,
    /// Whether our value follows the rule; missing without one.
    #[serde(default)]
    pub holds: Option<bool>,
}

/// A figure: lines over an axis, or bars in groups.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Chart {
    /// Title of the figure, as in the page.
    pub title: String,
    /// What the horizontal axis is in: `time, s`, or the varied setting; empty for bars.
    pub x: String,
    /// Quantity and unit of the values.
    pub y: String,
    /// Its lines, in the order of the cells.
    pub lines: Vec<ChartLine>,
    /// Its groups of bars.
    pub groups: Vec<BarGroup>,
}

/// A line of a figure.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ChartLine {
    /// Name for the legend.
    pub name: String,
    /// Whether it is a value over time, point by point; else each point is the mean of a cell.
    pub over_time: bool,
    /// Where its points lie on the horizontal axis, six significant digits.
    pub x: Vec<f64>,
    /// Their values, six significant digits.
    pub y: Vec<f64>,
    /// Half of each point's 95 % interval; empty over time, `None` with one repetition.
    pub half_width: Vec<Option<f64>>,
}

/// Bars side by side.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct BarGroup {
    /// The value of the setting that the group is of.
    pub name: String,
    /// Id of the quantity, its mean, half of the 95 % interval (`None` with one repetition).
    pub bars: Vec<(String, f64, Option<f64>)>,
}

/// What an experiment's runs yield; `EXPERIMENT.json` holds it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ExperimentResult {
    /// Name and version of the layout: [`SCHEMA`].
    pub schema: String,
    /// Name of the document, such as `cho`.
    pub document: String,
    /// The experiment's id in the specification.
    pub id: String,
    /// Title of the experiment, one line.
    pub title: String,
    /// The section of the specification, and the document's figures and tables.
    pub spec: String,
    /// The settings that are varied, in words.
    pub varied: String,
    /// How its flows repaired losses in the simulator; empty in files without it.
    #[serde(default)]
    pub recovery: Vec<String>,
    /// Why they did so.
    #[serde(default)]
    pub recovery_why: String,
    /// Whether it was run in full or quickly.
    #[serde(alias = "extent")]
    pub scale: Scale,
    /// The cells that were asked for, each alternative as `setting=value,setting=value`; all if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// The stack that ran it; `sim` is the simulator.
    pub stack: String,
    /// [Hash](crate::code) of the program that ran it.
    pub code: String,
    /// The experiment's cells, in the order it runs them.
    pub cells: Vec<CellResult>,
    /// Numbers that follow from several cells.
    pub derived: Vec<Derived>,
    /// Published values compared with ours; none unless it was run in full.
    pub comparisons: Vec<Comparison>,
    /// The experiment's figures.
    pub figures: Vec<Chart>,
    /// Answers to the claims about the document's schemes.
    #[serde(default)]
    pub claims: Vec<Answer>,
    /// Cells that the stack cannot run, each with the reason.
    #[serde(default)]
    pub skipped: Vec<(String, String)>,
}

/// The answer of an experiment to a claim.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// The id of the claim.
    pub claim: String,
    /// The statement of the claim.
    pub text: String,
    /// Whether it holds; missing if the runs do not show it.
    pub holds: Option<bool>,
    /// Share by which the comparison that decides is away from its opposite; negative where it
    /// fails, missing where nothing was compared.
    #[serde(default)]
    pub margin: Option<f64>,
    /// The numbers it rests on.
    pub evidence: String,
}

impl ExperimentResult {
    /// A quantity of the first cell with these settings; `None` without such a cell or quantity.
    #[must_use]
    pub fn of(&self, settings: &[(&str, &str)], quantity: &str) -> Option<f64> {
        let fits = |cell: &&CellResult| settings.iter().all(|(name, value)| cell.setting(name) == Some(value));
        self.cells.iter().find(fits)?.value(quantity)
    }

    /// A quantity of the first cell with these settings and its interval; `None` without such a
    /// cell or quantity.
    #[must_use]
    pub fn number(&self, settings: &[(&str, &str)], quantity: &str) -> Option<Number> {
        let fits = |cell: &&CellResult| settings.iter().all(|(name, value)| cell.setting(name) == Some(value));
        self.cells.iter().find(fits)?.mean(quantity).map(Number::from)
    }

    /// A number that follows from several cells; `None` if it does not.
    #[must_use]
    pub fn follows(&self, id: &str, of: &str) -> Option<f64> {
        self.derived.iter().find(|one| one.id == id && one.of == of).map(|one| one.value)
    }

    /// The values of a setting, in the order of the cells.
    #[must_use]
    pub fn values(&self, setting: &str) -> Vec<&str> {
        let mut values = Vec::new();
        for value in self.cells.iter().filter_map(|cell| cell.setting(setting)) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }

    /// The mean of a quantity over all cells with these settings; `None` without any.
    #[must_use]
    pub fn mean_over(&self, settings: &[(&str, &str)], quantity: &str) -> Option<f64> {
        let fits = |cell: &&CellResult| settings.iter().all(|(name, value)| cell.setting(name) == Some(value));
        let values: Vec<f64> = self.cells.iter().filter(fits).filter_map(|cell| cell.value(quantity)).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }
}
