//! Published values to compare with, from a data file for each document.

use serde::Deserialize;

use super::result::{CellResult, Comparison, Derived};

/// A value to compare with: of the document, or of a closed form of its specification.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Id of the experiment (`EV-1`).
    pub experiment: String,
    /// The cell, or what a number of several cells belongs to; a setting and its value
    /// (`controller=fast`) for all cells that have it; empty for all.
    pub cell: String,
    /// Id of the quantity within the experiment.
    pub quantity: String,
    /// The value, in the unit of the quantity.
    pub value: f64,
    /// Largest relative difference of our value in a full run; `None` for no such rule.
    pub within: Option<f64>,
    /// The side of it on which our value has to be; `None` for no such rule.
    pub bound: Option<Bound>,
    /// The figure, table or closed form it is from.
    pub source: String,
}

/// A side of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// Our value is at most this one.
    Most,
    /// Our value is at least this one.
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
/// The text is not TOML, or has other keys.
pub fn published(text: &str) -> Result<Vec<Published>, toml::de::Error> {
    toml::from_str::<File>(text).map(|file| file.value)
}

impl Published {
    /// The rule for our value, in words; empty without one.
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

    /// Comparisons with our values: one for each cell and derived number it speaks of.
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
