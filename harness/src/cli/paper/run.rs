//! `windlass paper run`.

use std::cell::Cell as Told;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use rayon::prelude::*;
use windlass_controllers::Span;

use super::super::batch::interrupt;
use super::super::error::print;
use super::super::progress::Progress;
use super::super::suggest::did_you_mean;
use super::{CliError, OUT, table};
use crate::papers::{
    Broken, Cell, DOCUMENTS, Document, Experiment, Extent, Keep, Plan, Record, Work, conclude, key, watch,
};
use crate::results::{StoreError, replace};
use crate::scenario::Scenario;

/// Run experiments; what is done is kept, and an interrupted command goes on where it was
#[derive(Debug, clap::Args)]
pub(super) struct Run {
    /// Ids (EV-1) or documents (sharma), separated by commas
    #[arg(value_name = "ID", value_delimiter = ',', required_unless_present = "all")]
    ids: Vec<String>,
    /// Everything that is built
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    /// What runs them
    #[arg(long, value_name = "STACK", default_value = "sim")]
    stack: String,
    /// Repetitions, each with a seed of its own [default: as many as the document has]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    reps: Option<u64>,
    /// Runs at the same time [default: one per core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    jobs: usize,
    /// A tenth of the document's times: to see that it works, not to compare
    #[arg(long)]
    quick: bool,
    /// Directory for results; quick ones go into a directory of their own below it
    #[arg(long, value_name = "DIR", default_value = OUT)]
    out: PathBuf,
}

/// One run.
struct Job<'a> {
    cell: &'a Cell,
    seed: u64,
    key: String,
}

/// An experiment that is asked for.
struct Asked {
    document: &'static Document,
    experiment: &'static Experiment,
    plan: &'static Plan,
    cells: Vec<Cell>,
    repetitions: u64,
}

impl Run {
    pub(super) fn run(&self) -> Result<(), CliError> {
        if self.stack != "sim" {
            let stack = &self.stack;
            return Err(CliError::Usage(format!(
                "experiments run in the simulator only, not on {stack:?}; expected sim"
            )));
        }
        let extent = if self.quick { Extent::Quick } else { Extent::Full };
        let asked = self.asked(extent)?;
        let out = self.out.join(extent.name());
        let keep = Keep::open(&out)?;
        let jobs = jobs(&asked, &self.stack);
        let records = self.carry_out(&jobs, &keep)?;
        let mut records = jobs.iter().zip(records);
        for asked in asked.iter() {
            let of_cell = |cell: &Cell| {
                let records = records.by_ref().take(asked.repetitions as usize);
                let mut records: Vec<Record> = records.map(|(_, record)| record).collect();
                records.iter_mut().skip(1).for_each(|record| record.curves.clear());
                (cell.clone(), records)
            };
            let runs = asked.cells.iter().map(of_cell).collect();
            let result = conclude(asked.document, asked.experiment, asked.plan, extent, &self.stack, runs);
            let json = serde_json::to_string_pretty(&result)
                .map_err(|error| CliError::Failed(format!("cannot write JSON: {error}")))?;
            replace(&out.join(format!("{}.json", result.id)), &(json + "\n"))?;
            print(&table::text(&result))?;
        }
        let quick = if self.quick { " --quick" } else { "" };
        print(&format!("results: {}; `windlass paper report{quick}` makes pages of them\n", out.display()))
    }

    fn asked(&self, extent: Extent) -> Result<Vec<Asked>, CliError> {
        let mut chosen: Vec<(&'static Document, &'static Experiment)> = Vec::new();
        let of =
            |document: &'static Document| document.experiments.iter().map(move |experiment| (document, experiment));
        let built = |(_, experiment): &(_, &'static Experiment)| experiment.plan().is_some();
        if self.all {
            chosen.extend(DOCUMENTS.iter().flat_map(of).filter(built));
        }
        for id in &self.ids {
            if let Some(document) = Document::named(id) {
                chosen.extend(of(document).filter(built));
                continue;
            }
            let (document, experiment) = Document::with(id).ok_or_else(|| unknown(id))?;
            if let Work::Missing(reason) = experiment.work {
                return Err(CliError::Usage(format!("{} cannot be run yet: {reason}", experiment.id)));
            }
            chosen.push((document, experiment));
        }
        let mut asked: Vec<Asked> = Vec::new();
        for (document, experiment) in chosen {
            let Some(plan) = experiment.plan().filter(|_| !asked.iter().any(|a| a.experiment.id == experiment.id))
            else {
                continue;
            };
            let repetitions = self.reps.unwrap_or(plan.repetitions);
            asked.push(Asked { document, experiment, plan, cells: (plan.cells)(extent), repetitions });
        }
        if asked.is_empty() {
            return Err(CliError::Usage(
                "none of these experiments is built; `windlass paper list` says what they lack".to_owned(),
            ));
        }
        Ok(asked)
    }

    /// The records of `jobs`, in their order; those that are kept are not run again, and
    /// what several experiments have in common is run once.
    fn carry_out(&self, jobs: &[Job<'_>], keep: &Keep) -> Result<Vec<Record>, CliError> {
        let mut keys: Vec<&str> = Vec::new();
        let mut left: Vec<&Job<'_>> = Vec::new();
        for job in jobs {
            if !keys.contains(&job.key.as_str()) {
                keys.push(&job.key);
                if keep.find(&job.key).is_none() {
                    left.push(job);
                }
            }
        }
        let stop = interrupt()?;
        let stopping = || stop.load(Ordering::Relaxed);
        let progress = Progress::new(left.len());
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.jobs)
            .build()
            .map_err(|error| CliError::Failed(format!("cannot start threads: {error}")))?;
        let carry_out = |job: &&Job<'_>| {
            let mut told = Told::new(0);
            let watched = |part: f64| {
                told.set(progress.advance(told.get(), part));
                stopping()
            };
            let done = if stopping() { Err(Broken::Stopped.into()) } else { one(job, &watched) };
            let done = done.and_then(|record| Ok(keep.put(&record)?));
            progress.done(*told.get_mut(), format!("{} seed {}", job.cell.name, job.seed));
            done
        };
        let done: Vec<Result<(), Failure>> = pool.install(|| left.par_iter().with_max_len(1).map(carry_out).collect());
        progress.finish();
        let finished = keys.len() - left.len() + done.iter().filter(|done| done.is_ok()).count();
        for failure in done.into_iter().filter_map(Result::err) {
            match failure {
                Failure::Run(Broken::Stopped) => {}
                Failure::Run(error) => return Err(CliError::Failed(error.to_string())),
                Failure::Store(error) => return Err(error.into()),
                Failure::Scenario(error) => return Err(error),
            }
        }
        if stopping() {
            return Err(CliError::Paused { done: finished, runs: keys.len() });
        }
        let find = |job: &Job<'_>| {
            keep.find(&job.key).ok_or_else(|| CliError::Failed(format!("the record {} has gone", job.key)))
        };
        jobs.iter().map(find).collect()
    }
}

/// Why a run has no record.
enum Failure {
    Run(Broken),
    Store(StoreError),
    Scenario(CliError),
}

impl From<Broken> for Failure {
    fn from(error: Broken) -> Failure {
        Failure::Run(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::Store(error)
    }
}

fn one(job: &Job<'_>, stop: &dyn Fn(f64) -> bool) -> Result<Record, Failure> {
    let cell = job.cell;
    let read = Scenario::read(&cell.name, &cell.scenario, None).map_err(|error| Failure::Scenario(error.into()))?;
    let scenario = Scenario { seed: job.seed, name: cell.name.clone(), ..read };
    let step = Span((cell.step_ms * 1e6).round() as u64);
    let trail = watch(&scenario, cell.bottleneck, step, stop)?;
    let measured = (cell.measure.read)(&trail);
    Ok(Record { key: job.key.clone(), seed: job.seed, quantities: measured.quantities, curves: measured.curves })
}

fn jobs<'a>(asked: &'a [Asked], stack: &str) -> Vec<Job<'a>> {
    let mut jobs = Vec::new();
    for asked in asked {
        for cell in &asked.cells {
            for repetition in 0..asked.repetitions {
                let seed = asked.plan.seed + repetition;
                jobs.push(Job { cell, seed, key: key(cell, seed, stack) });
            }
        }
    }
    jobs
}

fn unknown(id: &str) -> CliError {
    let ids = DOCUMENTS.iter().flat_map(|document| document.experiments.iter().map(|experiment| experiment.id));
    let near = did_you_mean(id, ids.chain(DOCUMENTS.iter().map(|document| document.name)));
    CliError::Usage(format!("unknown experiment {id:?}{near}; `windlass paper list` names all of them"))
}

/// The files of a document's experiments in `dir`.
pub(super) fn results(dir: &Path, document: &Document) -> Vec<PathBuf> {
    let file = |experiment: &Experiment| dir.join(format!("{}.json", experiment.id));
    document.experiments.iter().map(file).filter(|path| path.is_file()).collect()
}
