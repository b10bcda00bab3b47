//! Trying claims: a criterion that no mutant breaks shows nothing.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::cell::Cell;
use super::claim::Claim;
use super::document::{Document, Plan, conclude};
use super::observe::{ObserveError, Record, ResultCache, observe};
use super::result::{Answer, ExperimentResult};
use super::watch::WatchError;
use windlass_lab::grid::Reading;
use windlass_lab::output::StoreError;
use windlass_stacks::stack::Runner;

/// Answers to a claim with and without its mutant.
#[derive(Clone, PartialEq, Debug)]
pub struct Tried {
    /// The answer of the trial's runs.
    pub without: Answer,
    /// The answer of the same runs with the mutant.
    pub with: Answer,
}

impl Tried {
    /// Whether the claim holds in the trial, and no longer with the mutant.
    #[must_use]
    pub fn is_caught(&self) -> bool {
        self.without.holds == Some(true) && self.with.holds != Some(true)
    }
}

/// The runs of a trial, without the mutant and with it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TrialRuns {
    /// Hash of the scenarios and seeds of both.
    pub trial: String,
    /// The runs without the mutant.
    pub without: TrialResult,
    /// The runs with it.
    pub with: TrialResult,
}

/// Result of the runs of a trial.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrialResult {
    /// Their result.
    Runs(Box<ExperimentResult>),
    /// A run showed what no experiment may, such as one of many flows with the link to itself.
    Refused(String),
}

impl TrialRuns {
    /// Whether these are the runs that `claim` is tried on as it is written.
    #[must_use]
    pub fn are_of(&self, document: &Document, claim: &Claim) -> bool {
        fingerprint(document, claim).is_ok_and(|trial| trial == self.trial)
    }

    /// Answers of both trials to `claim`.
    #[must_use]
    pub fn answers(&self, claim: &Claim) -> Tried {
        let answer = |result: &TrialResult| match result {
            TrialResult::Runs(result) => claim.answer_in(result),
            // What no experiment may show is no answer but a refusal.
            TrialResult::Refused(what) => {
                let (claim, text) = (claim.id.to_owned(), claim.text.to_owned());
                Answer { claim, text, holds: Some(false), margin: None, evidence: what.clone() }
            }
        };
        Tried { without: answer(&self.without), with: answer(&self.with) }
    }
}

/// Why a claim cannot be tried.
#[derive(thiserror::Error)]
pub enum TrialError {
    /// No cell is left to run.
    #[error("{0}: the experiment has no cell {1:?}")]
    NoCells(&'static str, &'static [&'static str]),
    /// A text that is replaced is in none of the scenarios.
    #[error("{0}: no scenario of the trial has {1:?}")]
    NoText(&'static str, &'static str),
    /// A run failed, or its scenario cannot be read with what was put into it.
    #[error("{0}: {1}")]
    Run(&'static str, ObserveError),
    /// A run cannot be kept.
    #[error("{0}: {1}")]
    Store(&'static str, StoreError),
}

impl std::fmt::Debug for TrialError {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// The cells of the trial of `claim`, with its mutant or without.
///
/// # Errors
/// There are none, or what is to be replaced is not there.
pub fn trial_cells(document: &Document, claim: &Claim, mutated: bool) -> Result<Vec<Cell>, TrialError> {
    let plan = plan(document, claim).ok_or(TrialError::NoCells(claim.id, claim.trial.cells))?;
    let mut cells: Vec<Cell> = (plan.cells)(claim.trial.scale);
    cells.retain(|cell| cell.is_one_of(claim.trial.cells));
    if cells.is_empty() {
        return Err(TrialError::NoCells(claim.id, claim.trial.cells));
    }
    replace(claim, &mut cells, claim.trial.shrink)?;
    replace(claim, &mut cells, claim.trial.change.map_or(&[], |change| change.replace))?;
    if mutated {
        replace(claim, &mut cells, claim.mutant.replace)?;
    }
    Ok(cells)
}

/// Packets the bottlenecks could send in the trial of `claim`: an estimate of the work.
#[must_use]
pub fn trial_packets(document: &Document, claim: &Claim) -> f64 {
    let cells = trial_cells(document, claim, false).unwrap_or_default();
    2.0 * claim.trial.repetitions as f64 * cells.iter().map(Cell::packets).sum::<f64>()
}

fn plan(document: &Document, claim: &Claim) -> Option<&'static Plan> {
    document.experiments.iter().find(|experiment| experiment.id == claim.experiment).map(|experiment| &experiment.plan)
}

fn replace(claim: &Claim, cells: &mut [Cell], pairs: &[(&'static str, &str)]) -> Result<(), TrialError> {
    for (from, to) in pairs {
        if !cells.iter().any(|cell| cell.scenario.contains(from)) {
            return Err(TrialError::NoText(claim.id, from));
        }
        cells.iter_mut().for_each(|cell| cell.scenario = cell.scenario.replace(from, to));
    }
    Ok(())
}

/// Runs the trial of `claim` with its mutant and without; runs that `cache` has are not made again.
///
/// # Errors
/// There is nothing to run, a run fails or cannot be kept.
pub fn run_trial(document: &Document, claim: &Claim, cache: Option<&ResultCache>) -> Result<TrialRuns, TrialError> {
    let trial = fingerprint(document, claim)?;
    let (without, with) = rayon::join(|| runs(document, claim, false, cache), || runs(document, claim, true, cache));
    Ok(TrialRuns { trial, without: without?, with: with? })
}

/// A hash of what is run to try `claim`.
fn fingerprint(document: &Document, claim: &Claim) -> Result<String, TrialError> {
    let mut hash = Sha256::new();
    hash.update(claim.trial.repetitions.to_le_bytes());
    for cell in [trial_cells(document, claim, false)?, trial_cells(document, claim, true)?].iter().flatten() {
        hash.update(cell.measure.name.as_bytes());
        hash.update(cell.scenario.as_bytes());
    }
    Ok(hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect())
}

fn runs(
    document: &Document,
    claim: &Claim,
    mutated: bool,
    cache: Option<&ResultCache>,
) -> Result<TrialResult, TrialError> {
    let cells = trial_cells(document, claim, mutated)?;
    let experiment = document.experiments.iter().find(|experiment| experiment.id == claim.experiment);
    let experiment = experiment.ok_or(TrialError::NoCells(claim.id, claim.trial.cells))?;
    let seeds: Vec<u64> = (0..claim.trial.repetitions).map(|i| experiment.plan.seed + i).collect();
    let runs: Result<Vec<(Cell, Vec<Record>)>, TrialError> = cells
        .into_par_iter()
        .with_max_len(1)
        .map(|cell| {
            let records = seeds.par_iter().with_max_len(1).map(|seed| run(claim, &cell, *seed, cache));
            Ok((cell.clone(), records.collect::<Result<Vec<Record>, TrialError>>()?))
        })
        .collect();
    let plan = Plan { figures: &[], ..experiment.plan };
    match runs {
        Err(TrialError::Run(_, ObserveError::Run(WatchError::Artefact { what, .. }))) if mutated => {
            Ok(TrialResult::Refused(what))
        }
        runs => Ok(TrialResult::Runs(Box::new(conclude(document, experiment, &plan, claim.trial.scale, "sim", runs?)))),
    }
}

fn run(claim: &Claim, cell: &Cell, seed: u64, cache: Option<&ResultCache>) -> Result<Record, TrialError> {
    let key = cell.run(seed, "sim").key();
    if let Some(record) = cache.and_then(|cache| cache.get(&key)) {
        return Ok(record);
    }
    let Reading { read, packets } =
        observe(cell, seed, Runner::SIMULATOR, &|_| false).map_err(|error| TrialError::Run(claim.id, error))?;
    let record = Record { key, seed, read, cpu_s: 0.0, packets };
    if let Some(cache) = cache {
        cache.insert(&record).map_err(|error| TrialError::Store(claim.id, error))?;
    }
    Ok(record)
}
