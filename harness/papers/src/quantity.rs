//! Numbers and curves that are read off runs.

use serde::{Deserialize, Serialize};

use windlass_lab::compare::{Sample, half_width};

/// Confidence of intervals, 0 to 1.
const CONFIDENCE: f64 = 0.95;

/// A number read off one run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Quantity {
    /// The id of the quantity, such as `M6`.
    pub id: String,
    /// Its unit; empty for a pure number.
    pub unit: String,
    /// The number, in `unit`.
    pub value: f64,
}

impl Quantity {
    /// The quantity `id` in `unit`.
    #[must_use]
    pub fn new(id: &str, unit: &str, value: f64) -> Quantity {
        Quantity { id: id.to_owned(), unit: unit.to_owned(), value }
    }
}

/// A curve read off one run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Curve {
    /// What it shows: `cwnd`, `queue`; figures pick curves by this.
    pub kind: String,
    /// The flow it belongs to; empty if there is only one.
    pub of: String,
    /// Times since the start of the run, s.
    pub x: Vec<f64>,
    /// A value for each of `x`.
    pub y: Vec<f64>,
}

/// A quantity's mean over repetitions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Mean {
    /// The id of the quantity.
    pub id: String,
    /// Unit of the quantity; empty for a pure number.
    pub unit: String,
    /// Number of repetitions that have the quantity.
    pub repetitions: usize,
    /// The mean over the repetitions.
    pub mean: f64,
    /// Half of the 95 % confidence interval of the mean, by Student's t; missing with one
    /// repetition.
    pub half_width: Option<f64>,
}

/// The means of the quantities of several runs, in the order of their first appearance.
#[must_use]
pub fn mean_of(runs: &[&[Quantity]]) -> Vec<Mean> {
    let mut ids: Vec<(&str, &str)> = Vec::new();
    for quantity in runs.iter().copied().flatten() {
        if !ids.iter().any(|(id, _)| *id == quantity.id) {
            ids.push((&quantity.id, &quantity.unit));
        }
    }
    let of = |(id, unit): (&str, &str)| {
        let values: Vec<f64> = runs.iter().copied().flatten().filter(|q| q.id == id).map(|q| q.value).collect();
        let sample = Sample::of(&values)?;
        let (id, unit) = (id.to_owned(), unit.to_owned());
        let half_width = half_width(&sample, CONFIDENCE);
        Some(Mean { id, unit, repetitions: sample.count, mean: sample.mean, half_width })
    };
    ids.into_iter().filter_map(of).collect()
}

/// A number of a comparison with what it may be off by.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Number {
    pub(super) value: f64,
    pub(super) half_width: f64,
}

impl From<f64> for Number {
    fn from(value: f64) -> Number {
        Number { value, half_width: 0.0 }
    }
}

impl From<&Mean> for Number {
    fn from(mean: &Mean) -> Number {
        Number { value: mean.mean, half_width: mean.half_width.unwrap_or(0.0) }
    }
}

impl Number {
    /// Its value.
    #[must_use]
    pub fn value(self) -> f64 {
        self.value
    }

    /// A number of which only the bounds are known.
    #[must_use]
    pub fn between(least: f64, most: f64) -> Number {
        Number { value: 0.5 * (least + most), half_width: 0.5 * (most - least) }
    }

    /// How many times as large as `other` it is; what both may be off by adds up as independent errors do.
    #[must_use]
    pub fn over(self, other: Number) -> Number {
        let value = self.value / other.value;
        let part = (self.half_width / self.value).hypot(other.half_width / other.value);
        Number { value, half_width: (value * part).abs() }
    }

    /// The same, `factor` times as large.
    #[must_use]
    pub fn times(self, factor: f64) -> Number {
        Number { value: factor * self.value, half_width: factor.abs() * self.half_width }
    }
}
