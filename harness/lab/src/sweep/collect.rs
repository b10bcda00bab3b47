//! One dataset of all cells.

use std::path::Path;

use super::plan::{Plan, Settings};
use super::run::Store;
use crate::compare::{Sample, half_width};
use crate::output::StoreError;
use crate::results::{Metrics, Run, Status, Table, TableFile, run_tables};

/// Cells whose rows are written together.
const TOGETHER: usize = 10_000;

/// Confidence of intervals.
const CONFIDENCE: f64 = 0.95;

/// How a number of a run is read; `None` where it has no such number.
type Read = fn(&Metrics) -> Option<f64>;

/// Numbers of a cell that are compared: name in tables, and how it is read.
pub const MEASURES: [(&str, Read); 9] = [
    ("goodput_mbps", |metrics| Some(metrics.goodput_mbps)),
    ("utilisation", |metrics| metrics.utilisation),
    ("rtt_mean_ms", |metrics| metrics.rtt_mean_ms),
    ("rtt_p95_ms", |metrics| metrics.rtt_p95_ms),
    ("rtt_ratio", |metrics| metrics.rtt_ratio),
    ("rtt_p95_ratio", |metrics| metrics.rtt_p95_ratio),
    ("loss", |metrics| metrics.loss),
    ("fairness", |metrics| metrics.fairness),
    ("score", |metrics| metrics.score),
];

/// Cells that differ in their seeds only.
#[derive(Clone, PartialEq, Debug)]
pub struct Group {
    /// Number of its first cell.
    pub first: usize,
    /// How many cells have results.
    pub done: usize,
    /// How many failed.
    pub failed: usize,
    /// Why the first of these did.
    pub reason: Option<String>,
    /// Of each of [`MEASURES`] the mean and half of its 95 % interval, which is `None` of a single seed; `None` where no cell has
    /// it.
    pub means: Vec<Option<(f64, Option<f64>)>>,
}

/// What was collected.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Collected {
    /// Cells with results.
    pub done: usize,
    /// Cells that failed, or that a stack cannot run; they are in the dataset with their reasons.
    pub failed: usize,
    /// Cells that were not run; they are not in the dataset.
    pub missing: usize,
    /// Means over seeds, in the order of the cells.
    pub groups: Vec<Group>,
}

/// Writes what `store` has of `plan` into `out`: `runs.csv`, `flows.csv` and `queues.csv`, with the feature `parquet` as Parquet
/// files, too. Rows are in the order of the cells and say nothing of who ran them or when.
///
/// # Errors
/// A file cannot be written.
pub fn collect(plan: &Plan, store: &Store, out: &Path) -> Result<Collected, StoreError> {
    let empty = dataset(plan, Vec::new());
    let mut files = empty.iter().map(|table| TableFile::open(out, table)).collect::<Result<Vec<_>, _>>()?;
    // Groups are not divided.
    let together = TOGETHER.next_multiple_of(plan.seeds.len());
    let mut collected = Collected::default();
    let mut cells = plan.numbered(0, 1);
    loop {
        let mut rows: Vec<(usize, Run)> = Vec::new();
        let mut looked_at = 0;
        for (number, cell) in cells.by_ref().take(together) {
            looked_at += 1;
            if number % plan.seeds.len() == 0 {
                let means = Vec::new();
                collected.groups.push(Group { first: number, done: 0, failed: 0, reason: None, means });
            }
            match store.get(&cell.key()) {
                None => collected.missing += 1,
                Some(record) => {
                    let scenario = plan.scenario_name(plan.settings(number).scenario).to_owned();
                    rows.push((number, Run { scenario, ..record.read }));
                }
            }
        }
        if looked_at == 0 {
            break;
        }
        collected.count(plan, &rows);
        for (table, file) in dataset(plan, rows).into_iter().zip(&mut files) {
            file.write(&table)?;
        }
    }
    files.into_iter().try_for_each(TableFile::finish)?;
    Ok(collected)
}

impl Collected {
    /// Adds cells, those of a group one after the other.
    fn count(&mut self, plan: &Plan, rows: &[(usize, Run)]) {
        for group in rows.chunk_by(|a, b| a.0 / plan.seeds.len() == b.0 / plan.seeds.len()) {
            let nth = group[0].0 / plan.seeds.len();
            let done: Vec<&Metrics> = group.iter().filter_map(|(_, run)| run.metrics.as_ref()).collect();
            let failed = || group.iter().filter(|(_, run)| run.status != Status::Done);
            self.done += done.len();
            self.failed += failed().count();
            let Some(into) = self.groups.get_mut(nth) else { continue };
            into.done = done.len();
            into.failed = failed().count();
            into.reason = failed().find_map(|(_, run)| run.reason.clone());
            let mean = |read: Read| {
                let values: Vec<f64> = done.iter().filter_map(|metrics| read(metrics)).collect();
                Sample::of(&values).map(|sample| (sample.mean, half_width(&sample, CONFIDENCE)))
            };
            into.means = MEASURES.iter().map(|(_, read)| mean(*read)).collect();
        }
    }
}

/// The tables of some cells, with columns for what was varied.
fn dataset(plan: &Plan, rows: Vec<(usize, Run)>) -> Vec<Table> {
    let settings: Vec<(usize, Settings)> = rows.iter().map(|(number, _)| (*number, plan.settings(*number))).collect();
    let runs: Vec<Run> = rows.into_iter().map(|(_, run)| run).collect();
    let lengths: [Vec<usize>; 3] = [
        vec![1; runs.len()],
        runs.iter().map(|run| run.flows.len()).collect(),
        runs.iter().map(|run| run.queues.len()).collect(),
    ];
    let varied = |(table, lengths): (Table, Vec<usize>)| {
        let each = || settings.iter().zip(&lengths).flat_map(|(cell, times)| std::iter::repeat_n(cell, *times));
        let mut with = Table::new(table.name).count("cell", each().map(|(number, _)| Some(*number as u64 + 1)));
        for (nth, axis) in plan.axes.iter().enumerate() {
            let values = each().map(|(_, settings)| settings.values[nth]);
            with = match axis.number(0) {
                Some(_) => with.number(axis.key.clone(), values.map(|value| axis.number(value))),
                None => with.text(axis.key.clone(), values.map(|value| Some(axis.label(value)))),
            };
        }
        with = with.count("seed", each().map(|(_, settings)| Some(plan.seeds[settings.seed])));
        with.columns.extend(table.columns);
        with
    };
    run_tables(&runs).into_iter().zip(lengths).map(varied).collect()
}
