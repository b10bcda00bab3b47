//! `windlass paper run`: runs experiments, with finished runs cached.

use std::cell::Cell as Shared;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use windlass_controllers::Span;
use windlass_qlog::Profile;

use super::super::batch::{Progress, interrupt};
use super::super::choice::did_you_mean;
use super::super::error::print;
use super::{CliError, OUT, place, table};
use windlass_lab::papers::documents::{self, DOCUMENTS};
use windlass_lab::papers::{
    Cell, Comparison, Document, Experiment, Plan, Record, ResultCache, Scale, TimeSeries, WatchError, conclude, key,
    watch,
};
use windlass_lab::results::{StoreError, replace};
use windlass_simulator::scenario::{Scenario, ScenarioError};
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

/// A cell with the seed of one repetition.
struct Job<'a> {
    cell: &'a Cell,
    seed: u64,
    key: String,
    /// Estimated work, thousands of packets.
    work: u64,
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

/// Totals of the runs of this command.
#[derive(Clone, Copy, Default)]
struct Tally {
    runs: usize,
    /// CPU time the runs took, s.
    cpu: f64,
    packets: u64,
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
                records.iter_mut().skip(1).for_each(|record| record.curves.clear());
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
        let Tally { runs, cpu, packets } = done?;
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

    /// Runs those of `jobs` that are not cached: runs that experiments share once, the longest
    /// first.
    fn carry_out(&self, jobs: &[Job<'_>], stack: Runner, cache: &ResultCache) -> Result<Tally, CliError> {
        let keys: BTreeSet<&str> = jobs.iter().map(|job| job.key.as_str()).collect();
        let mut seen = BTreeSet::new();
        let mut left: Vec<&Job<'_>> =
            jobs.iter().filter(|job| seen.insert(job.key.as_str()) && cache.get(&job.key).is_none()).collect();
        left.sort_by_key(|job| std::cmp::Reverse(job.work));
        let stop = interrupt()?;
        let stopping = || stop.load(Ordering::Relaxed);
        let progress = Progress::new(left.iter().map(|job| job.work).sum());
        let next = AtomicUsize::new(0);
        let outcomes = Mutex::new(Vec::new());
        let worker = || {
            while let Some(job) = left.get(next.fetch_add(1, Ordering::Relaxed)) {
                let mut reported = Shared::new(0);
                let watched = |part: f64| {
                    reported.set(progress.advance(job.work, reported.get(), part));
                    stopping()
                };
                let done = if stopping() { Err(WatchError::Stopped.into()) } else { one(job, stack, &watched) };
                let done =
                    done.and_then(|record| Ok(cache.insert(&record).map(|()| (record.cpu_s, record.packets))?));
                progress.done(job.work, *reported.get_mut(), format!("{} seed {}", job.cell.name, job.seed));
                let failed = done.is_err();
                outcomes.lock().unwrap_or_else(PoisonError::into_inner).push(done);
                if failed {
                    // The others go on no longer than they have to.
                    next.store(left.len(), Ordering::Relaxed);
                }
            }
        };
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = if self.jobs == 0 { cores } else { self.jobs };
        std::thread::scope(|scope| {
            for _ in 0..threads.min(left.len()) {
                scope.spawn(worker);
            }
        });
        progress.finish();
        let mut tally = Tally::default();
        for done in outcomes.into_inner().unwrap_or_else(PoisonError::into_inner) {
            match done {
                Ok((cpu, packets)) => {
                    tally = Tally { runs: tally.runs + 1, cpu: tally.cpu + cpu, packets: tally.packets + packets };
                }
                Err(Failure::Run(WatchError::Stopped)) => {}
                Err(Failure::Run(error)) => return Err(CliError::Failed(error.to_string())),
                Err(Failure::Store(error)) => return Err(error.into()),
                Err(Failure::Scenario(error)) => return Err(error),
                Err(Failure::Stack(error)) => return Err(CliError::Failed(error)),
            }
        }
        if stopping() {
            let done = keys.len() - left.len() + tally.runs;
            return Err(CliError::Paused { done, runs: keys.len() });
        }
        Ok(tally)
    }
}

/// Why a run has no record.
enum Failure {
    Run(WatchError),
    Store(StoreError),
    Scenario(CliError),
    Stack(String),
}

impl From<WatchError> for Failure {
    fn from(error: WatchError) -> Failure {
        Failure::Run(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::Store(error)
    }
}

fn one(job: &Job<'_>, stack: Runner, stop: &dyn Fn(f64) -> bool) -> Result<Record, Failure> {
    let cell = job.cell;
    let begun = cpu_seconds();
    let read = read(cell, stack).map_err(|error| Failure::Scenario(error.into()))?;
    let step = Span((cell.step_ms * 1e6).round() as u64);
    let scenario = Scenario { seed: job.seed, name: cell.name.clone(), ..read };
    let series = if stack == Runner::SIMULATOR {
        watch(&scenario, cell.bottleneck, step, cell.measure.state_variables, stop)?
    } else {
        let scenario = Scenario { sample: step, ..scenario };
        let end = scenario.duration.secs();
        let outcome =
            stack.run(&scenario, None, &|now| stop(now.0 as f64 / 1e9 / end)).map_err(|error| match error {
                RunError::Stopped => Failure::Run(WatchError::Stopped),
                error => Failure::Stack(format!("{}, seed {}: {error}", cell.name, job.seed)),
            })?;
        TimeSeries::of_outcome(outcome, &scenario, cell.bottleneck)
    };
    let mut measured = (cell.measure.read)(&series);
    // Not a number: the stack does not provide it.
    measured.quantities.retain(|quantity| quantity.value.is_finite());
    Ok(Record {
        key: job.key.clone(),
        seed: job.seed,
        quantities: measured.quantities,
        curves: measured.curves,
        cpu_s: cpu_seconds() - begun,
        packets: series.outcome.flows.iter().map(|flow| flow.packets_sent).sum(),
    })
}

/// Logs of the first run of each cell below `dir`, in place of those that are there.
fn log(asked: &Asked, stack: Runner, dir: &Path) -> Result<(), CliError> {
    let settings = LogSettings { detail: LogDetail::Recovery, profile: Profile::Ietf };
    let stop = interrupt()?;
    let id = asked.experiment.id;
    // There need not be any.
    let _ = std::fs::remove_dir_all(dir.join(id));
    for cell in &asked.cells {
        let scenario = Scenario { seed: asked.plan.seed, name: cell.name.clone(), ..read(cell, stack)? };
        let mut logs = Logs::create(settings, dir, id, &cell.name, stack.name())
            .map_err(|error| CliError::Failed(format!("cannot log {id} {}: {error}", cell.name)))?;
        let run = stack.run(&scenario, Some(&mut logs), &|_| stop.load(Ordering::Relaxed));
        run.map_err(|error| match error {
            RunError::Stopped => CliError::Interrupted,
            error => CliError::Failed(format!("{id} {}: {error}", cell.name)),
        })?;
    }
    Ok(())
}

/// The scenario of a cell as `stack` runs it: real stacks have no packets below 1200 bytes
/// (`RFC 9000 §14.1`), so theirs are larger on links of the same rate.
fn read(cell: &Cell, stack: Runner) -> Result<Scenario, ScenarioError> {
    if stack == Runner::SIMULATOR {
        return Scenario::read(&cell.name, &cell.scenario, None);
    }
    let line = |line: &str| {
        let size: Option<u64> = line.strip_prefix("packet_bytes = ").and_then(|size| size.parse().ok());
        if size.is_some_and(|size| size < QUIC_BYTES) {
            format!("packet_bytes = {QUIC_BYTES}\n")
        } else {
            format!("{line}\n")
        }
    };
    let text: String = cell.scenario.lines().map(line).collect();
    Scenario::read(&cell.name, &text, None)
}

/// Whether `stack` can run a cell; if not, why.
fn fits(experiment: &Experiment, cell: &Cell, stack: Runner) -> Result<(), String> {
    if stack == Runner::SIMULATOR {
        return Ok(());
    }
    if experiment.transport.is_essential {
        return Err("it repairs losses as TCP does".to_owned());
    }
    let scenario = read(cell, stack).map_err(|error| error.to_string())?;
    scenario.flows.iter().try_for_each(|flow| stack.check(&flow.control, &flow.controller))
}

/// Smallest UDP payload of a path that carries QUIC, bytes.
const QUIC_BYTES: u64 = 1200;

/// CPU time of this thread, s; 0 where the system does not provide it.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok()).map_or(0.0, |ns| ns / 1e9)
}

fn jobs<'a>(asked: &'a [Asked], stack: &str) -> Vec<Job<'a>> {
    let mut jobs = Vec::new();
    for asked in asked {
        for cell in &asked.cells {
            // Time left is reported by packets; a run has a cost besides.
            let work = 1 + (cell.packets() / 1e3) as u64;
            for repetition in 0..asked.repetitions {
                let seed = asked.plan.seed + repetition;
                jobs.push(Job { cell, seed, key: key(cell, seed, stack), work });
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
