//! Many runs at once, with progress, until done or interrupted.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;

use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::CliError;
use super::error::{shown, warn};
use windlass_lab::evaluation::{Job, Source, execute, scene};
use windlass_lab::grid::{self, Cores, Done, Engine, Failure, Reading, Tally, Watch};
use windlass_lab::results::{Contender, Results, Run, SCHEMA, Saved, Status, Store, rank};
use windlass_simulator::scenario::Scenario;
use windlass_stacks::stack::{LogSettings, Runner};

/// Memory for results beyond which there is a warning before the runs, bytes.
const WARNING_BYTES: u64 = 2_000_000_000;

/// The runs of a command: every combination of scenarios, controllers and stacks.
pub(super) struct Batch<'a> {
    /// Title of the results, one line.
    pub title: String,
    /// The scenario files or built-in scenarios to run.
    pub sources: &'a [Source],
    /// The controllers under test; empty for the scenarios' own.
    pub controllers: &'a [String],
    /// The stacks that run them.
    pub stacks: &'a [Runner],
    /// Seed; `None` for the scenarios' own.
    pub seed: Option<u64>,
    /// Runs at the same time; 0 for one per core.
    pub jobs: usize,
    /// Settings of qlog files; `None` for none.
    pub logs: Option<LogSettings>,
}

impl Batch<'_> {
    /// Every combination, ordered by scenario, controller and stack, on a thread each.
    fn combinations(&self) -> Vec<Job<'_>> {
        let own = [None];
        let named: Vec<Option<&str>> = self.controllers.iter().map(|name| Some(name.as_str())).collect();
        let controllers: &[Option<&str>] = if named.is_empty() { &own } else { &named };
        let mut all = Vec::new();
        for source in self.sources {
            for controller in controllers {
                all.extend(self.stacks.iter().map(|stack| Job {
                    source,
                    controller: *controller,
                    stack: *stack,
                    seed: self.seed,
                    threads: 1,
                }));
            }
        }
        all
    }

    /// Checks every combination; each scenario comes back once.
    ///
    /// # Errors
    /// A scenario has mistakes, or, where `strict`, a stack cannot run one.
    pub(super) fn check(&self, strict: bool) -> Result<Vec<Scenario>, CliError> {
        let mut scenarios: Vec<Scenario> = Vec::new();
        let mut names: BTreeMap<String, &Source> = BTreeMap::new();
        for job in self.combinations() {
            let scenario = job.source.read(job.controller)?;
            if let Some(reason) = job.unsupported(&scenario).filter(|_| strict) {
                return Err(CliError::Usage(reason));
            }
            match names.insert(scenario.name.clone(), job.source) {
                None => scenarios.push(scenario),
                Some(other) if std::ptr::eq(other, job.source) => {}
                Some(other) => {
                    return Err(CliError::Usage(format!(
                        "two scenarios are called {:?}: {} and {}; give one of them a name = \"…\" of its own",
                        scenario.name, other.file, job.source.file
                    )));
                }
            }
        }
        let each = self.combinations().len() / scenarios.len().max(1);
        let all = scenarios.iter().map(|one| one.result_bytes().saturating_mul(each as u64));
        let bytes = all.fold(0, u64::saturating_add);
        if bytes > WARNING_BYTES {
            let (runs, gigabytes) = (each * scenarios.len(), bytes as f64 / 1e9);
            warn(&format!(
                "the results of all runs ({runs}) take up to {gigabytes:.0} GB of memory; a longer sample_ms, fewer flows or fewer runs take less"
            ));
        }
        Ok(scenarios)
    }

    /// Runs everything. qlog files go into the store, if there is one.
    ///
    /// # Errors
    /// Interrupted, or the qlog directory cannot be made.
    pub(super) fn run(&self, scenarios: &[Scenario], store: Option<&Store>) -> Result<Results, CliError> {
        let stop = interrupt()?;
        self.run_in(Host::new(&stop), &self.progress(), scenarios, store)
    }

    fn progress(&self) -> Progress {
        Progress::new(self.combinations().len() as u64 * STEPS)
    }

    /// [`Batch::run`] in another program.
    ///
    /// # Errors
    /// It was stopped, or the qlog directory cannot be made.
    pub(super) fn run_in(
        &self,
        host: Host<'_>,
        progress: &Progress,
        scenarios: &[Scenario],
        store: Option<&Store>,
    ) -> Result<Results, CliError> {
        let logs = match (store, self.logs) {
            (Some(store), Some(settings)) => Some((settings, store.qlog_dir()?)),
            _ => None,
        };
        let logs = logs.as_ref().map(|(settings, dir)| (*settings, dir.as_path()));
        let runs = self.carry_out(host, progress, logs)?;
        Ok(Results {
            schema: SCHEMA.to_owned(),
            windlass: env!("CARGO_PKG_VERSION").to_owned(),
            title: self.title.clone(),
            seed: self.seed.unwrap_or_else(|| scenarios.first().map_or(0, |scenario| scenario.seed)),
            stacks: self.stacks.iter().map(|stack| stack.name().to_owned()).collect(),
            scenarios: scenarios.iter().map(scene).collect(),
            controllers: self.contenders(),
            ranking: rank(&runs),
            runs,
        })
    }

    fn contenders(&self) -> Vec<Contender> {
        if self.controllers.is_empty() {
            let summary = "each flow with the controller its scenario names".to_owned();
            return vec![Contender { name: String::new(), summary, source: String::new() }];
        }
        self.controllers.iter().map(|name| contender(name)).collect()
    }

    fn carry_out(
        &self,
        host: Host<'_>,
        progress: &Progress,
        logs: Option<(LogSettings, &Path)>,
    ) -> Result<Vec<Run>, CliError> {
        let mut jobs = self.combinations();
        if host.divides {
            let threads = if self.jobs == 0 { available_parallelism().map_or(1, usize::from) } else { self.jobs };
            // What fewer runs leave of the threads is shared among them.
            let each = threads / jobs.len().clamp(1, threads);
            jobs.iter_mut().for_each(|job| job.threads = each);
        }
        let stopping = || host.stop.load(Ordering::Relaxed);
        let carry_out = |job: &Job<'_>| {
            let mut reported = Cell::new(0);
            let watch = |part: f64| {
                reported.set(progress.advance(STEPS, reported.get(), part));
                stopping()
            };
            let run = if stopping() { None } else { execute(job, logs, &watch).ok() };
            let controller = job.controller.unwrap_or_default();
            progress.done(STEPS, *reported.get_mut(), format!("{} {controller} {}", job.source.name, job.stack.name()));
            run
        };
        // In their order, so that the runs of one time are of one scenario and share the payload that is kept of it.
        let in_order =
            || jobs.iter().enumerate().par_bridge().map(|(number, job)| carry_out(job).map(|run| (number, run)));
        let all = |pool: &rayon::ThreadPool| pool.install(|| in_order().collect());
        let worker = |thread: rayon::ThreadBuilder| {
            let mut thread = Some(thread);
            (host.thread)(&mut || {
                if let Some(thread) = thread.take() {
                    thread.run();
                }
            });
        };
        let runs: Option<BTreeMap<usize, Run>> = rayon::ThreadPoolBuilder::new()
            .num_threads(self.jobs)
            .build_scoped(worker, all)
            .map_err(|error| CliError::Failed(format!("cannot start threads: {error}")))?;
        progress.finish();
        let runs = runs.filter(|_| !stopping()).ok_or(CliError::Interrupted)?;
        Ok(runs.into_values().collect())
    }
}

/// The program that has runs carried out.
#[derive(Clone, Copy, Debug)]
pub struct Host<'a> {
    /// Ends the runs when it is raised.
    pub stop: &'a AtomicBool,
    /// Calls what a thread has to do, once: around it, what the program needs for calls from there.
    pub thread: fn(&mut (dyn FnMut() + Send)),
    /// Whether one run may use several threads, around which nothing is called.
    pub divides: bool,
}

impl<'a> Host<'a> {
    /// A program that needs nothing for its threads.
    #[must_use]
    pub fn new(stop: &'a AtomicBool) -> Host<'a> {
        Host { stop, thread: |work| work(), divides: true }
    }
}

fn contender(name: &str) -> Contender {
    let entry = windlass_adapter::NamedController::all()
        .find(|entry| name.split(':').next() == Some(entry.name))
        .map_or(("", ""), |entry| (entry.summary, entry.source));
    Contender { name: name.to_owned(), summary: entry.0.to_owned(), source: entry.1.to_owned() }
}

/// Writes results and puts them into their place; the path of the report.
///
/// # Errors
/// They cannot be written.
pub(super) fn save(mut store: Store, results: &Results) -> Result<PathBuf, CliError> {
    store.write(results, crate::report::evaluation::page)?;
    let Saved { report, kept } = store.finish()?;
    if let Some(kept) = kept {
        let fresh = report.parent().unwrap_or(&report);
        warn(&format!(
            "the earlier result in {} stays, since a run went wrong; this one is in {}",
            shown(&kept),
            shown(fresh)
        ));
    }
    Ok(report)
}

/// Runs that went wrong, as an error.
pub(super) fn failures(results: &Results) -> Result<(), CliError> {
    let failed: Vec<&Run> = results.runs.iter().filter(|run| run.status == Status::Failed).collect();
    let Some(first) = failed.first() else { return Ok(()) };
    let run = if failed.len() == 1 { "run" } else { "runs" };
    Err(CliError::Failed(format!(
        "{} of {} {run} failed; the first: {} with {:?} on {}: {}",
        failed.len(),
        results.runs.len(),
        first.scenario,
        first.controller,
        first.stack,
        first.reason.as_deref().unwrap_or_default()
    )))
}

/// A flag that an interrupt (Ctrl-C) or a request to terminate raises.
pub(super) fn interrupt() -> Result<Arc<AtomicBool>, CliError> {
    // A process may have one handler, which two threads may ask for at once.
    static FLAG: Mutex<Option<Arc<AtomicBool>>> = Mutex::new(None);
    let mut known = FLAG.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(flag) = &*known {
        return Ok(Arc::clone(flag));
    }
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    ctrlc::set_handler(move || raised.store(true, Ordering::Relaxed))
        .map_err(|error| CliError::Failed(format!("cannot handle interrupts: {error}")))?;
    Ok(Arc::clone(known.insert(flag)))
}

/// Has `engine` carry out those of `cells` that `store` lacks, with progress.
///
/// # Errors
/// Interrupted, or a run went wrong; what is done is in the store.
pub(super) fn carry_out<T: Serialize + DeserializeOwned>(
    cells: &[grid::Cell],
    store: &grid::Store<T>,
    engine: &dyn Engine<T>,
) -> Result<Tally, CliError> {
    watched(|watch| grid::run(cells, store, engine, watch))
}

/// Has those of `cells` that `store` lacks carried out on the cores of this machine, with progress: `measure` runs a cell,
/// and gets what is asked of its scenario, by its text.
///
/// # Errors
/// Interrupted, or a run went wrong; what is done is in the store.
pub(super) fn carry_out_asked<T: Serialize + DeserializeOwned + Send, A: Sync>(
    cells: &[grid::Cell],
    asked: &HashMap<String, A>,
    store: &grid::Store<T>,
    jobs: usize,
    measure: impl Fn(&grid::Cell, &A, &dyn Fn(f64) -> bool) -> Result<Reading<T>, Failure> + Sync,
) -> Result<Tally, CliError> {
    let run = |cell: &grid::Cell, stop: &dyn Fn(f64) -> bool| match asked.get(&cell.scenario) {
        Some(what) => measure(cell, what, stop),
        None => Err(Failure::Run(format!("{} is not asked", cell.name))),
    };
    carry_out(cells, store, &Cores { jobs, run })
}

/// What was run, as a line.
pub(super) fn total(tally: &Tally) -> String {
    let Tally { cells, made, cpu_s, packets, .. } = tally;
    format!(
        "{cells} runs, {made} of them made now: {:.1} million packets in {cpu_s:.1} s of CPU\n",
        *packets as f64 / 1e6
    )
}

/// Has `run` run cells, with progress.
///
/// # Errors
/// Interrupted, or a run went wrong; what is done is in the store.
pub(super) fn watched(run: impl FnOnce(&dyn Watch) -> Done) -> Result<Tally, CliError> {
    let watched = Watched { progress: Progress::new(0), stop: interrupt()? };
    let Done { tally, failure } = run(&watched);
    watched.progress.finish();
    match failure {
        None => Ok(tally),
        Some(Failure::Stopped) => Err(CliError::Paused { done: tally.kept, runs: tally.cells }),
        Some(Failure::Run(reason)) => Err(CliError::Failed(reason)),
        Some(Failure::Store(error)) => Err(error.into()),
    }
}

/// Progress of cells that an interrupt ends.
struct Watched {
    progress: Progress,
    stop: Arc<AtomicBool>,
}

impl Watch for Watched {
    fn begin(&self, work: u64) {
        self.progress.0.set_length(work);
    }

    fn advance(&self, cell: &grid::Cell, before: u64, part: f64) -> u64 {
        self.progress.advance(cell.work, before, part)
    }

    fn done(&self, cell: &grid::Cell, before: u64) {
        self.progress.done(cell.work, before, cell.name.clone());
    }

    fn stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Steps a run is counted in where all are taken for equal.
const STEPS: u64 = 100;

/// How many runs are done, and how far the others are.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// A bar of so many steps.
    fn new(steps: u64) -> Progress {
        let style = ProgressStyle::with_template("{wide_bar:.blue} {percent}% {elapsed} (left {eta})  {msg:40!}");
        let bar = ProgressBar::new(steps);
        Progress(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
    }

    /// Not read.
    pub(super) fn hidden() -> Progress {
        Progress(ProgressBar::hidden())
    }

    /// A run of `all` steps that had done `steps` has done `part` of its work; what it has done now.
    fn advance(&self, all: u64, steps: u64, part: f64) -> u64 {
        let now = ((part * all as f64) as u64).clamp(steps, all);
        if now > steps {
            self.0.inc(now - steps);
        }
        now
    }

    /// A run of `all` steps that had done `steps` is over; `what` says which.
    fn done(&self, all: u64, steps: u64, what: String) {
        self.0.inc(all - steps);
        self.0.set_message(what);
    }

    /// Removes the bar from the terminal.
    fn finish(&self) {
        self.0.finish_and_clear();
    }
}
