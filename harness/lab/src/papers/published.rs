//! Values to hold ours against, from a data file for each document.

use serde::Deserialize;

use super::result::{CellResult, Comparison, Derived};

/// A value to hold ours against: of the document, or of a closed form of its
/// specification.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The experiment.
    pub experiment: String,
    /// The cell, or whose a number is that follows from several; a setting and its value
    /// (`controller=fast`) for all cells that have it; empty for all.
    pub cell: String,
    /// The quantity.
    pub quantity: String,
    /// The value.
    pub value: f64,
    /// By what share ours may differ at most in a full run.
    pub within: Option<f64>,
    /// Or on which side of it ours has to be.
    pub bound: Option<Bound>,
    /// Where it is from.
    pub source: String,
}

/// A side of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// No more than that.
    Most,
    /// No less.
    Least,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    value: Vec<Published>,
}

/// The values in a data file.
///
/// # Errors
/// It is not one.
pub fn published(text: &str) -> Result<Vec<Published>, toml::de::Error> {
    toml::from_str::<File>(text).map(|file| file.value)
}

impl Published {
    /// What ours has to be, in words; empty if nothing.
    fn rule(&self) -> String {
        match (self.within, self.bound) {
            (Some(within), _) => format!("within {} %", 100.0 * within),
            (None, Some(Bound::Most)) => "at most".to_owned(),
            (None, Some(Bound::Least)) => "at least".to_owned(),
            (None, None) => String::new(),
        }
    }

    fn holds(&self, ours: f64) -> Option<bool> {
        // Sums of many numbers are not exact.
        let slack = 1e-9 * self.value.abs();
        match (self.within, self.bound) {
            (Some(within), _) => Some((ours - self.value).abs() <= within * self.value.abs() + slack),
            (None, Some(Bound::Most)) => Some(ours <= self.value + slack),
            (None, Some(Bound::Least)) => Some(ours >= self.value - slack),
            (None, None) => None,
        }
    }

    /// Ours beside it.
    pub(super) fn beside(&self, cells: &[CellResult], derived: &[Derived]) -> Vec<Comparison> {
        let fits = |cell: &&CellResult| {
            let has = |(setting, wanted)| cell.setting(setting) == Some(wanted);
            self.cell.is_empty() || cell.cell == self.cell || self.cell.split_once('=').is_some_and(has)
        };
        let comparison = |cell: &str, unit: &str, ours: f64, half_width| Comparison {
            cell: cell.to_owned(),
            quantity: self.quantity.clone(),
            unit: unit.to_owned(),
            published: self.value,
            source: self.source.clone(),
            ours,
            half_width,
            rule: self.rule(),
            holds: self.holds(ours),
        };
        let of_cell = |cell: &CellResult| {
            let mean = cell.mean(&self.quantity)?;
            Some(comparison(&cell.cell, &mean.unit, mean.mean, mean.half_width))
        };
        let follows = |one: &&Derived| one.id == self.quantity && (self.cell.is_empty() || one.of == self.cell);
        let of_derived = |one: &Derived| comparison(&one.of, &one.unit, one.value, None);
        let measured = cells.iter().filter(fits).filter_map(of_cell);
        measured.chain(derived.iter().filter(follows).map(of_derived)).collect()
    }
}
