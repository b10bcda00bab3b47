//! Answers: what was read off the runs of a criterion on a path, over all seeds, held against its limit.

use std::collections::HashMap;

use super::criterion::{Criterion, Limit, Runs};
use super::measure::{Measured, Numbers};
use super::mix::{Mix, STANDARDS};
use super::path::Path;
use crate::compare::{Sample, half_width, interval};
use crate::grid::Cell;

/// Outcome of a criterion on a path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Assessment {
    /// It could not be run.
    NotRun,
    /// There is no threshold to hold it against.
    Shown,
    /// The mean is within the limit.
    Met,
    /// The mean is beyond the limit, which the interval of the difference contains.
    Undecided,
    /// The mean is beyond the limit, and so is all of the interval.
    NotMet,
}

impl Assessment {
    /// All of them, the worst last.
    pub const ALL: [Assessment; 5] =
        [Assessment::NotRun, Assessment::Shown, Assessment::Met, Assessment::Undecided, Assessment::NotMet];

    /// Its word in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Assessment::NotRun => "not run",
            Assessment::Shown => "shown",
            Assessment::Met => "met",
            Assessment::Undecided => "undecided",
            Assessment::NotMet => "not met",
        }
    }
}

/// A criterion on a path, with its outcome.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// What is asked.
    pub criterion: &'static Criterion,
    /// Where.
    pub path: &'static Path,
}

/// Its answer.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// The word.
    pub assessment: Assessment,
    /// The number over the seeds; `None` if it was not run or the sender ran away.
    pub value: Option<Sample>,
    /// Half of the 95 % interval of the mean; `None` of one seed.
    pub half_width: Option<f64>,
    /// The limit: the mean over the seeds.
    pub limit: Option<f64>,
    /// The standard that it comes from; empty of a fixed one.
    pub standard: &'static str,
    /// Why it was not run, or what else is to be said; empty otherwise.
    pub reason: String,
}

/// A run: its controller, path, mix and seed.
pub type Key = (String, &'static str, Mix, u64);

/// What was read off.
pub type Read = HashMap<Key, Measured>;

/// How much is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effort {
    /// Three seeds on the paths that the RFC names.
    Quick,
    /// Ten seeds, runs twice as long, on all paths.
    Full,
}

impl Effort {
    /// The seeds.
    #[must_use]
    pub fn seeds(self) -> std::ops::RangeInclusive<u64> {
        1..=if self == Effort::Quick { 3 } else { 10 }
    }

    /// Factor by which runs are longer than quick ones.
    #[must_use]
    pub fn longer(self) -> f64 {
        if self == Effort::Quick { 1.0 } else { 2.0 }
    }
}

impl Question {
    /// The runs it needs of `controller` on `stack`, each with its cell.
    #[must_use]
    pub fn cells(&self, controller: &str, stack: &str, effort: Effort) -> Vec<(Key, Cell)> {
        let path = self.path;
        let of = |(controller, mix): (&str, Mix)| {
            let one = move |seed| {
                let key = (controller.to_owned(), path.name, mix, seed);
                (key, mix.cell(path, controller, stack, seed, effort.longer()))
            };
            effort.seeds().map(one).collect::<Vec<_>>()
        };
        self.criterion.runs(controller).into_iter().flat_map(of).collect()
    }

    /// The answer of `controller`.
    #[must_use]
    pub fn answer(&self, controller: &str, read: &Read, effort: Effort) -> Answer {
        let without = |assessment, reason: String| Answer {
            assessment,
            value: None,
            half_width: None,
            limit: None,
            standard: "",
            reason,
        };
        let beyond = |reason: &str| match self.criterion.limit {
            Limit::None => without(Assessment::Shown, format!("the sender runs away: {reason}")),
            _ => without(Assessment::NotMet, format!("the sender runs away: {reason}")),
        };
        for (of, mix) in self.criterion.runs(controller) {
            for seed in effort.seeds() {
                match read.get(&(of.to_owned(), self.path.name, mix, seed)) {
                    Some(Measured::Run(_)) => {}
                    Some(Measured::Runaway { runaway }) if of == controller => return beyond(runaway),
                    Some(Measured::Runaway { runaway }) => {
                        return without(Assessment::NotRun, format!("{of} runs away: {runaway}"));
                    }
                    Some(Measured::Not { not_run }) => return without(Assessment::NotRun, not_run.clone()),
                    None => return without(Assessment::NotRun, "it is not done yet".to_owned()),
                }
            }
        }
        let Some(own) = self.sample(controller, read, effort) else {
            return without(Assessment::NotRun, "the runs do not show it".to_owned());
        };
        let standards = STANDARDS.map(|name| Some((name, self.sample(name, read, effort)?)));
        let scaled = |of: (&'static str, Sample), times: f64, plus: f64| {
            let (name, Sample { count, mean, deviation }) = of;
            let limit = Sample { count, mean: mean * times + plus, deviation: deviation.map(|one| one * times) };
            (name, limit)
        };
        let among = standards.into_iter().flatten();
        let by_mean = |a: &(&str, Sample), b: &(&str, Sample)| a.1.mean.total_cmp(&b.1.mean);
        let limit = match self.criterion.limit {
            Limit::Most { times, plus, .. } => among.max_by(by_mean).map(|of| scaled(of, times, plus)),
            Limit::Least { times, .. } => among.min_by(by_mean).map(|of| scaled(of, times, 0.0)),
            Limit::Fixed { most, .. } => {
                Some(("", Sample { mean: most, deviation: own.deviation.map(|_| 0.0), ..own }))
            }
            Limit::None => None,
        };
        let assessment = match &limit {
            None => Assessment::Shown,
            Some((_, limit)) => {
                let sign = if self.criterion.limit.is_least() { -1.0 } else { 1.0 };
                let lowest = interval(limit, &own, CONFIDENCE).map(|(low, high)| (sign * low).min(sign * high));
                match (sign * (own.mean - limit.mean) > 0.0, lowest) {
                    (false, _) => Assessment::Met,
                    (true, Some(low)) if low <= 0.0 => Assessment::Undecided,
                    (true, _) => Assessment::NotMet,
                }
            }
        };
        Answer {
            assessment,
            value: Some(own),
            half_width: half_width(&own, CONFIDENCE),
            limit: limit.map(|(_, limit)| limit.mean),
            standard: limit.map_or("", |(name, _)| name),
            reason: String::new(),
        }
    }

    /// The number of `controller`, over the seeds.
    fn sample(&self, controller: &str, read: &Read, effort: Effort) -> Option<Sample> {
        let run = |of: &str, mix: Mix, seed: u64| -> Option<&Numbers> {
            match read.get(&(of.to_owned(), self.path.name, mix, seed))? {
                Measured::Run(numbers) => Some(numbers),
                _ => None,
            }
        };
        let value = |seed: u64| {
            let of = |mix: Mix| run(controller, mix, seed);
            let rival = self.criterion.rival.and_then(|rival| run(rival.name(), Mix::Alone, seed));
            (self.criterion.value)(&Runs { path: self.path, longer: effort.longer(), of: &of, rival })
        };
        Sample::of(&effort.seeds().map(value).collect::<Option<Vec<f64>>>()?)
    }
}

/// Of all intervals.
const CONFIDENCE: f64 = 0.95;

/// The questions of these paths and criteria, by criterion.
#[must_use]
pub fn questions(paths: &[&'static Path], criteria: &[&'static Criterion]) -> Vec<Question> {
    let of = |criterion: &'static Criterion| {
        let asked = paths.iter().filter(move |path| criterion.is_asked_on(path));
        asked.map(move |path| Question { criterion, path })
    };
    criteria.iter().copied().flat_map(of).collect()
}
