//! `windlass paper run`: runs experiments, with finished runs cached.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use windlass_qlog::Profile;

use super::super::batch::{carry_out, interrupt};
use super::super::choice::did_you_mean;
use super::super::error::print;
use super::{CliError, OUT, place, table};
use windlass_lab::grid::{self, Cores, Failure, Tally};
use windlass_lab::output::{Folder, Owned, replace};
use windlass_papers::documents::{self, DOCUMENTS};
use windlass_papers::{
    Cell, Comparison, Document, Experiment, ObserveError, Plan, Record, ResultCache, Scale, WatchError, conclude,
    observe,
};
use windlass_simulator::scenario::Scenario;
use windlass_stacks::RunError;
use windlass_stacks::stack::{LogDetail, LogSettings, Logs, QLOG_DIR, Runner};

/// Run experiments; finished runs are cached, so an interrupted command goes on where it
/// stopped
#[derive(Debug, clap::Args)]
pub(super) struct Run {
    /// Ids (EV-1) or documents (sharma), separated by commas
    #[arg(value_name = "ID", value_delimiter = ',', required_unless_present = "all")]
    ids: Vec<String>,
    /// All experiments of all documents
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    /// Stack to run them on: sim, or a real stack, whose results go into a directory of their own
    #[arg(long, value_name = "STACK", default_value = "sim")]
    stack: String,
    /// Repetitions, each with a seed of its own [default: as many as the document has]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    reps: Option<u64>,
    /// Only cells with these settings, `setting=value,setting=value`; give it again for others. Tables say that it is a part
    #[arg(long, value_name = "SETTINGS")]
    only: Vec<String>,
    /// Runs at the same time [default: one per core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    jobs: usize,
    /// A tenth of the document's times and at most two repetitions: shows that it works, not
    /// comparable with the document
    #[arg(long)]
    quick: bool,
    /// Also write qlog files: the first run of every cell once more, with metrics, states and losses
    #[arg(long)]
    qlog: bool,
    /// Directory for results; quick ones go into a directory of their own below it
    #[arg(long, value_name = "DIR", default_value = OUT)]
    out: PathBuf,
}

/// Most repetitions of a quick run without `--reps`.
pub(super) const QUICK_REPETITIONS: u64 = 2;

/// A cell with the run of one repetition.
struct Job<'a> {
    cell: &'a Cell,
    run: grid::Cell,
    key: String,
}

/// An experiment named on the command line.
struct Asked {
    document: &'static Document,
    experiment: &'static Experiment,
    plan: &'static Plan,
    cells: Vec<Cell>,
    repetitions: u64,
    /// Cells the stack cannot run, and why.
    skipped: Vec<(String, String)>,
}

impl Run {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let stack = self.stack()?;
        let scale = if self.quick { Scale::Quick } else { Scale::Full };
        let asked = self.asked(scale, stack)?;
        let out = self.out.join(place(scale, stack.name()));
        let cache = ResultCache::open(&out)?;
        let jobs = jobs(&asked, stack.name());
        let done = self.carry_out(&jobs, stack, &cache);
        // Complete experiments are reported even if the command was interrupted.
        let mut jobs = jobs.iter();
        let mut broken: Vec<String> = Vec::new();
        for asked in &asked {
            let runs = asked.cells.iter().map(|cell| {
                let jobs: Vec<&Job<'_>> = jobs.by_ref().take(asked.repetitions as usize).collect();
                let mut records: Vec<Record> = jobs.iter().map_while(|job| cache.get(&job.key)).collect();
                records.iter_mut().skip(1).for_each(|record| record.read.curves.clear());
                (records.len() == jobs.len()).then(|| (cell.clone(), records))
            });
            // All of them, so that those of the next experiment come next.
            let runs: Vec<Option<(Cell, Vec<Record>)>> = runs.collect();
            let Some(runs) = runs.into_iter().collect() else { continue };
            let mut result = conclude(asked.document, asked.experiment, asked.plan, scale, stack.name(), runs);
            result.skipped.clone_from(&asked.skipped);
            result.only.clone_from(&self.only);
            let json = serde_json::to_string_pretty(&result)
                .map_err(|error| CliError::Failed(format!("cannot write JSON: {error}")))?;
            replace(&out.join(format!("{}.json", result.id)), &(json + "\n"))?;
            print(&table::text(&result))?;
            let held = result.comparisons.iter().filter(|one| stack == Runner::SIMULATOR && one.holds == Some(false));
            broken.extend(held.map(|one| {
                let Comparison { cell, quantity, published, ours, rule, .. } = one;
                format!("{} {cell}: {quantity} is {ours}, not {rule} {published}", result.id)
            }));
        }
        let Tally { made: runs, cpu_s: cpu, packets, .. } = done?;
        if self.qlog {
            asked.iter().try_for_each(|asked| log(asked, stack, &out.join(QLOG_DIR)))?;
        }
        let quick = if self.quick { " --quick" } else { "" };
        if !broken.is_empty() {
            return Err(CliError::Failed(format!("closed forms do not hold: {}", broken.join("; "))));
        }
        print(&format!(
            "{runs} runs made: {:.1} million packets in {cpu:.1} s of CPU; results: {}; `windlass paper report{quick}` makes pages of them\n",
            packets as f64 / 1e6,
            out.display()
        ))
    }

    fn stack(&self) -> Result<Runner, CliError> {
        Runner::named(&self.stack).ok_or_else(|| {
            let names: Vec<&str> = Runner::builtin().iter().map(|stack| stack.name()).collect();
            CliError::Usage(format!("unknown stack {:?}; expected {}", self.stack, names.join(", ")))
        })
    }

    fn asked(&self, scale: Scale, stack: Runner) -> Result<Vec<Asked>, CliError> {
        let mut chosen: Vec<(&'static Document, &'static Experiment)> = Vec::new();
        let of =
            |document: &'static Document| document.experiments.iter().map(move |experiment| (document, experiment));
        if self.all {
            chosen.extend(DOCUMENTS.iter().flat_map(of));
        }
        for id in &self.ids {
            if let Some(document) = documents::named(id) {
                chosen.extend(of(document));
                continue;
            }
            let (document, experiment) = documents::experiment(id).ok_or_else(|| unknown(id))?;
            chosen.push((document, experiment));
        }
        let mut asked: Vec<Asked> = Vec::new();
        for (document, experiment) in chosen {
            if asked.iter().any(|a| a.experiment.id == experiment.id) {
                continue;
            }
            let plan = &experiment.plan;
            let most = if self.quick { QUICK_REPETITIONS } else { u64::MAX };
            let repetitions = self.reps.unwrap_or(plan.repetitions.min(most));
            let mut skipped = Vec::new();
            let runs_here = |cell: &Cell| match fits(experiment, cell, stack) {
                Ok(()) => true,
                Err(reason) => {
                    skipped.push((cell.name.clone(), reason));
                    false
                }
            };
            let mut cells = (plan.cells)(scale);
            cells.retain(|cell| cell.is_one_of(&self.only));
            if cells.is_empty() {
                let settings = (plan.cells)(scale).iter().map(|cell| cell.name.clone()).collect::<Vec<_>>().join("; ");
                return Err(CliError::Usage(format!(
                    "{} has no cell with {}; it has {settings}",
                    experiment.id,
                    self.only.join(" or ")
                )));
            }
            let cells: Vec<Cell> = cells.into_iter().filter(runs_here).collect();
            if cells.is_empty() {
                let stack = stack.name();
                let reason = skipped.first().map_or("no cells", |(_, reason)| reason);
                return Err(CliError::Usage(format!("{} has nothing that {stack} can run: {reason}", experiment.id)));
            }
            asked.push(Asked { document, experiment, plan, cells, repetitions, skipped });
        }
        if asked.is_empty() {
            return Err(CliError::Usage(
                "none of these experiments is built; `windlass paper list` says what they lack".to_owned(),
            ));
        }
        Ok(asked)
    }

    /// Runs those of `jobs` that are not cached.
    fn carry_out(&self, jobs: &[Job<'_>], stack: Runner, cache: &ResultCache) -> Result<Tally, CliError> {
        let by_key: HashMap<&str, &Cell> = jobs.iter().map(|job| (job.key.as_str(), job.cell)).collect();
        let run = |run: &grid::Cell, stop: &dyn Fn(f64) -> bool| {
            let Some(cell) = by_key.get(run.key().as_str()) else { return Err(Failure::Stopped) };
            observe(cell, run.seed, stack, stop).map_err(|error| match error {
                ObserveError::Run(WatchError::Stopped) => Failure::Stopped,
                error => Failure::Run(error.to_string()),
            })
        };
        let runs: Vec<grid::Cell> = jobs.iter().map(|job| job.run.clone()).collect();
        carry_out(&runs, cache, &Cores { jobs: self.jobs, run })
    }
}

/// Logs of the first run of each cell below `dir`, in place of those that are there.
fn log(asked: &Asked, stack: Runner, dir: &Path) -> Result<(), CliError> {
    let settings = LogSettings { detail: LogDetail::Recovery, profile: Profile::Ietf };
    let stop = interrupt()?;
    let id = asked.experiment.id;
    let owned = Owned { marker: "", is_marker: &Path::is_dir, is_entry: &|path| path.is_dir() };
    let folder = Folder::owned::<&Path>(&dir.join(id), &owned, &[])?;
    for cell in &asked.cells {
        let scenario = Scenario { seed: asked.plan.seed, name: cell.name.clone(), ..cell.scenario_on(stack)? };
        let mut logs = Logs::in_scenario(settings, folder.path(), &cell.name, stack.name())
            .map_err(|error| CliError::Failed(format!("cannot log {id} {}: {error}", cell.name)))?;
        let run = stack.run(&scenario, Some(&mut logs), &|_| stop.load(Ordering::Relaxed));
        run.map_err(|error| match error {
            RunError::Stopped => CliError::Interrupted,
            error => CliError::Failed(format!("{id} {}: {error}", cell.name)),
        })?;
    }
    Ok(folder.finish()?)
}

/// Whether `stack` can run a cell; if not, why.
fn fits(experiment: &Experiment, cell: &Cell, stack: Runner) -> Result<(), String> {
    if stack == Runner::SIMULATOR {
        return Ok(());
    }
    if experiment.transport.is_essential {
        return Err("it repairs losses as TCP does".to_owned());
    }
    let scenario = cell.scenario_on(stack).map_err(|error| error.to_string())?;
    scenario.flows.iter().try_for_each(|flow| stack.check(&flow.control, &flow.controller))
}

fn jobs<'a>(asked: &'a [Asked], stack: &str) -> Vec<Job<'a>> {
    let mut jobs = Vec::new();
    for asked in asked {
        for cell in &asked.cells {
            let of_seed = |seed| {
                let run = cell.run(seed, stack);
                Job { cell, key: run.key(), run }
            };
            jobs.extend((0..asked.repetitions).map(|repetition| of_seed(asked.plan.seed + repetition)));
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
