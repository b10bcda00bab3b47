//! Trying claims: a criterion that no mutant breaks shows nothing.

use rayon::prelude::*;
use windlass_controllers::Span;

use super::cache::Record;
use super::cell::Cell;
use super::claim::Claim;
use super::conclude::conclude;
use super::document::{Document, Plan};
use super::result::Answer;
use super::watch::{WatchError, watch};
use windlass_simulator::scenario::{Scenario, ScenarioError};

/// What became of a claim with and without its mutant.
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

/// Why a claim cannot be tried.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// No cell is left to run.
    #[error("{0}: the experiment has no cell {1:?}")]
    NoCells(&'static str, &'static [&'static str]),
    /// A text that is replaced is in none of the scenarios.
    #[error("{0}: no scenario of the trial has {1:?}")]
    NoText(&'static str, &'static str),
    /// A scenario cannot be read with what was put into it.
    #[error("{0}: {1}")]
    Scenario(&'static str, Box<ScenarioError>),
    /// A run failed.
    #[error("{0}: {1}")]
    Run(&'static str, WatchError),
}

/// The cells of the trial of `claim`, with its mutant or without.
///
/// # Errors
/// There are none, or what is to be replaced is not there.
pub fn trial_cells(document: &Document, claim: &Claim, mutated: bool) -> Result<Vec<Cell>, TrialError> {
    let plan = plan(document, claim).ok_or(TrialError::NoCells(claim.id, claim.trial.cells))?;
    let mut cells: Vec<Cell> = (plan.cells)(claim.trial.scale);
    cells.retain(|cell| claim.trial.wants(cell));
    if cells.is_empty() {
        return Err(TrialError::NoCells(claim.id, claim.trial.cells));
    }
    replace(claim, &mut cells, claim.trial.shrink)?;
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

/// Runs the trial of `claim` with its mutant and without.
///
/// # Errors
/// There is nothing to run, or a run fails.
pub fn try_claim(document: &Document, claim: &Claim) -> Result<Tried, TrialError> {
    let (without, with) = rayon::join(|| answer(document, claim, false), || answer(document, claim, true));
    Ok(Tried { without: without?, with: with? })
}

fn answer(document: &Document, claim: &Claim, mutated: bool) -> Result<Answer, TrialError> {
    let cells = trial_cells(document, claim, mutated)?;
    let experiment = document.experiments.iter().find(|experiment| experiment.id == claim.experiment);
    let experiment = experiment.ok_or(TrialError::NoCells(claim.id, claim.trial.cells))?;
    let seeds: Vec<u64> = (0..claim.trial.repetitions).map(|i| experiment.plan.seed + i).collect();
    let runs: Result<Vec<(Cell, Vec<Record>)>, TrialError> = cells
        .into_par_iter()
        .with_max_len(1)
        .map(|cell| {
            let records = seeds.par_iter().with_max_len(1).map(|seed| run(claim, &cell, *seed));
            Ok((cell.clone(), records.collect::<Result<Vec<Record>, TrialError>>()?))
        })
        .collect();
    let plan = Plan { figures: &[], ..experiment.plan };
    match runs {
        // What no experiment may show is no answer but a refusal.
        Err(TrialError::Run(_, WatchError::Artefact { what, .. })) if mutated => {
            let (claim, text) = (claim.id.to_owned(), claim.text.to_owned());
            Ok(Answer { claim, text, holds: Some(false), margin: None, evidence: what })
        }
        runs => Ok(claim.answered(&conclude(document, experiment, &plan, claim.trial.scale, "sim", runs?))),
    }
}

fn run(claim: &Claim, cell: &Cell, seed: u64) -> Result<Record, TrialError> {
    let read = Scenario::read(&cell.name, &cell.scenario, None);
    let read = read.map_err(|error| TrialError::Scenario(claim.id, Box::new(error)))?;
    let scenario = Scenario { seed, ..read };
    let step = Span((cell.step_ms * 1e6).round() as u64);
    let series = watch(&scenario, cell.bottleneck, step, cell.measure.state_variables, &|_| false)
        .map_err(|error| TrialError::Run(claim.id, error))?;
    let mut measured = (cell.measure.read)(&series);
    measured.quantities.retain(|quantity| quantity.value.is_finite());
    let super::cell::Measured { quantities, curves } = measured;
    Ok(Record { key: String::new(), seed, quantities, curves, cpu_s: 0.0, packets: 0 })
}
