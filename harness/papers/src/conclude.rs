//! From the records of runs to the result of an experiment.

use super::cell::Cell;
use super::chart::charts;
use super::document::{Document, Experiment, Plan};
use super::observe::{Record, code};
use super::published::published;
use super::quantity::{Quantity, mean_of};
use super::result::{CellResult, ExperimentResult, SCHEMA};
use super::template::Scale;

/// Puts the records of an experiment together. `runs` has, for each cell, its records in
/// the order of their seeds.
#[must_use]
pub fn conclude(
    document: &Document,
    experiment: &Experiment,
    plan: &Plan,
    scale: Scale,
    stack: &str,
    runs: Vec<(Cell, Vec<Record>)>,
) -> ExperimentResult {
    let cells: Vec<CellResult> = runs.into_iter().map(|(cell, records)| of_cell(cell, records)).collect();
    let derived = (plan.derive)(&cells);
    // A test reads every data file.
    let published = published(document.published).unwrap_or_default();
    let published = published.iter().filter(|value| value.experiment == experiment.id);
    let comparisons = match scale {
        Scale::Full => published.flat_map(|value| value.beside(&cells, &derived)).collect(),
        Scale::Quick | Scale::Part(_) => Vec::new(),
    };
    let mut result = ExperimentResult {
        schema: SCHEMA.to_owned(),
        document: document.name.to_owned(),
        id: experiment.id.to_owned(),
        title: experiment.title.to_owned(),
        spec: experiment.spec.to_owned(),
        varied: experiment.varied.to_owned(),
        recovery: experiment.transport.recovery.iter().map(|name| (*name).to_owned()).collect(),
        recovery_why: experiment.transport.why.to_owned(),
        scale,
        only: Vec::new(),
        stack: stack.to_owned(),
        code: code().to_owned(),
        derived,
        comparisons,
        figures: plan.figures.iter().flat_map(|figure| charts(figure, &cells)).collect(),
        cells,
        claims: Vec::new(),
        skipped: Vec::new(),
    };
    let claims = document.claims.iter().filter(|claim| claim.experiment == experiment.id);
    result.claims = claims.map(|claim| claim.answered(&result)).collect();
    result
}

fn of_cell(cell: Cell, records: Vec<Record>) -> CellResult {
    let quantities: Vec<&[Quantity]> = records.iter().map(|record| record.read.quantities.as_slice()).collect();
    CellResult {
        means: mean_of(&quantities),
        seeds: records.iter().map(|record| record.seed).collect(),
        curves: records.into_iter().next().map(|record| record.read.curves).unwrap_or_default(),
        cell: cell.name,
        settings: cell.settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        scenario: cell.scenario,
    }
}
