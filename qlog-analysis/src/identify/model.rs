//! Controllers by their features: the nearest of flows that are known.

use std::fmt::Write as _;

use super::features::{FEATURES, Features, LOSS_RATE};

/// The known flows; `docs/identify-arrivals.md` says of which runs, and by which commands they are made.
const BUILTIN: &str = include_str!("model.csv");

/// How far the nearest flow of a controller may be, as a share of the distance to the nearest one of another: a flow of a
/// controller that is not known lies between those that are. `docs/identify-arrivals.md` says on which flows it was chosen.
pub const NEARER: f64 = 0.6;

/// A flow of which less than this part is lost after start-up, as a logarithm to the base of ten, gets no name: whatever
/// responds to losses alone then sends as fast as the link does, and all such flows are alike.
/// `docs/identify-arrivals.md` says on which flows it was chosen.
pub const LEAST_LOSS_RATE: f64 = -4.0;

/// A flow whose controller is known.
#[derive(Clone, PartialEq, Debug)]
pub struct Sample {
    /// Its controller.
    pub controller: String,
    /// Its stack: flows of one stack do not decide how far flows of others may be.
    pub stack: String,
    /// Which sender of that stack it was; its flows over several networks have the same one.
    pub sender: String,
    /// Features of its arrivals.
    pub features: Features,
}

/// Error of reading a model.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: expected {expected}")]
pub struct ModelError {
    /// Its number, from 1.
    pub line: usize,
    /// The text that was expected.
    pub expected: &'static str,
}

/// Distances below count as this much: features are kept with three decimals.
const LEAST: f64 = 1e-3;

/// Known flows, and from which distance on a flow is like none of them.
#[derive(Clone, PartialEq, Debug)]
pub struct Model {
    samples: Vec<Sample>,
    /// The standard deviation of each feature over all samples.
    scale: Features,
    margin: f64,
}

/// Classification of a flow by a model.
#[derive(Clone, PartialEq, Debug)]
pub struct Match {
    /// The controller; `None` where the flow is too far from all that are known, or hardly nearer to one than to another, or
    /// lost too little.
    pub controller: Option<String>,
    /// The controllers by the distance of their nearest flow: root of the mean square of the features' differences,
    /// each in standard deviations.
    pub nearest: Vec<(String, f64)>,
    /// The distance from which on a flow is like none.
    pub margin: f64,
    /// It lost less than [`LEAST_LOSS_RATE`]; of several flows, each did.
    pub lost_too_little: bool,
}

impl Match {
    /// Of controllers by distance, in any order.
    pub(super) fn of(mut nearest: Vec<(String, f64)>, margin: f64, lost_too_little: bool) -> Match {
        nearest.sort_by(|(_, one), (_, other)| one.total_cmp(other));
        let other = nearest.get(1).map_or(f64::INFINITY, |(_, distance)| *distance);
        let is_near = |distance: f64| !lost_too_little && distance <= margin && distance <= NEARER * other;
        let first = nearest.first().filter(|(_, distance)| is_near(*distance));
        Match { controller: first.map(|(name, _)| name.clone()), margin, nearest, lost_too_little }
    }

    /// Classification of several flows of one sender: a controller's distance is the geometric mean of its distances to
    /// each, so that ratios of distances are joined. `docs/identify-arrivals.md` says on which flows that was chosen. `None` without
    /// flows.
    #[must_use]
    pub fn of_one_sender<'a>(flows: impl IntoIterator<Item = &'a Match>) -> Option<Match> {
        let mut flows = flows.into_iter();
        let first = flows.next()?;
        let logarithms = |one: &Match| -> Vec<(String, f64)> {
            one.nearest.iter().map(|(name, distance)| (name.clone(), distance.max(LEAST).ln())).collect()
        };
        let (mut sums, mut number, mut lost_too_little) = (logarithms(first), 1.0, first.lost_too_little);
        for flow in flows {
            let more = logarithms(flow);
            sums.retain_mut(|(name, sum)| {
                let other = more.iter().find(|(other, _)| other == name);
                other.inspect(|(_, distance)| *sum += distance).is_some()
            });
            number += 1.0;
            lost_too_little &= flow.lost_too_little;
        }
        let nearest = sums.into_iter().map(|(name, sum)| (name, (sum / number).exp())).collect();
        Some(Match::of(nearest, first.margin, lost_too_little))
    }
}

impl Model {
    /// The model that comes with the crate.
    ///
    /// # Errors
    /// None: a test reads it.
    pub fn builtin() -> Result<Model, ModelError> {
        Model::parse(BUILTIN)
    }

    /// Learns from `samples`. The margin is what 19 of 20 samples keep from the nearest one of the same controller on
    /// another stack.
    #[must_use]
    pub fn train(samples: Vec<Sample>) -> Model {
        let number = samples.len().max(1) as f64;
        let scale = std::array::from_fn(|at| {
            let values = || samples.iter().map(|sample| sample.features[at]);
            let mean = values().sum::<f64>() / number;
            (values().map(|value| (value - mean) * (value - mean)).sum::<f64>() / number).sqrt().max(1e-6)
        });
        let mut model = Model { samples, scale, margin: f64::INFINITY };
        let mut distances: Vec<f64> = model.samples.iter().filter_map(|sample| model.to_own_kind(sample)).collect();
        distances.sort_unstable_by(f64::total_cmp);
        let at = (distances.len() * 19 / 20).min(distances.len().saturating_sub(1));
        model.margin = distances.get(at).copied().unwrap_or(f64::INFINITY);
        model
    }

    /// The flows it learnt from.
    #[must_use]
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// The distance of `sample` to the nearest one of its controller on another stack.
    fn to_own_kind(&self, sample: &Sample) -> Option<f64> {
        let kin = self.samples.iter().filter(|o| o.controller == sample.controller && o.stack != sample.stack);
        kin.map(|other| self.distance(&sample.features, &other.features)).min_by(f64::total_cmp)
    }

    fn distance(&self, one: &Features, other: &Features) -> f64 {
        let squares = one.iter().zip(other).zip(&self.scale).map(|((one, other), scale)| {
            let difference = (one - other) / scale;
            difference * difference
        });
        (squares.sum::<f64>() / FEATURES.len() as f64).sqrt()
    }

    /// The controller of a flow with these features.
    #[must_use]
    pub fn classify(&self, features: &Features) -> Match {
        let mut nearest: Vec<(String, f64)> = Vec::new();
        for sample in &self.samples {
            let distance = self.distance(features, &sample.features);
            match nearest.iter_mut().find(|(controller, _)| *controller == sample.controller) {
                Some((_, least)) => *least = least.min(distance),
                None => nearest.push((sample.controller.clone(), distance)),
            }
        }
        Match::of(nearest, self.margin, features[LOSS_RATE] < LEAST_LOSS_RATE)
    }

    /// Reads what [`Model::to_csv`] writes.
    ///
    /// # Errors
    /// A line is not of that form.
    pub fn parse(text: &str) -> Result<Model, ModelError> {
        let mut samples = Vec::new();
        for (number, line) in text.lines().enumerate().skip(1) {
            let wrong = |expected| ModelError { line: number + 1, expected };
            let mut cells = line.split(',');
            let (Some(controller), Some(stack), Some(sender)) = (cells.next(), cells.next(), cells.next()) else {
                return Err(wrong("controller, stack, sender and features"));
            };
            let values: Option<Vec<f64>> =
                cells.map(|cell| cell.parse().ok().filter(|v: &f64| v.is_finite())).collect();
            let features = values.and_then(|values| Features::try_from(values).ok());
            let features = features.ok_or_else(|| wrong("a finite number for each feature"))?;
            let [controller, stack, sender] = [controller, stack, sender].map(str::to_owned);
            samples.push(Sample { controller, stack, sender, features });
        }
        if samples.is_empty() {
            return Err(ModelError { line: 2, expected: "controller, stack, sender and features" });
        }
        Ok(Model::train(samples))
    }

    /// The model as text: a line of names, and one for each sample.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut text = format!("controller,stack,sender,{}\n", FEATURES.join(","));
        for Sample { controller, stack, sender, features } in &self.samples {
            let cells: Vec<String> = features.iter().map(|value| format!("{value:.3}")).collect();
            let _ = writeln!(text, "{controller},{stack},{sender},{}", cells.join(","));
        }
        text
    }
}
