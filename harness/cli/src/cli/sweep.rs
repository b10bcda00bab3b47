//! `windlass sweep`: every combination that a plan names, kept in a store, on one machine or many.

mod slurm;

use std::path::{Path, PathBuf};

use clap::Subcommand;

use super::batch::{Batch, failures, save, watched};
use super::error::{print, warn};
use super::run::QlogOptions;
use super::{CliError, choice, summary};
use crate::report::sweep::page;
use windlass_lab::evaluation::Source;
use windlass_lab::grid::Cores;
use windlass_lab::output::replace;
use windlass_lab::results::Store as Results;
use windlass_lab::sweep::{
    Collected, Plan, PlanError, Share, Status, Store, collect, forget_failed, measure, run, status,
};
use windlass_stacks::stack::LogDetail;

/// Run every combination of scenarios, values of their keys, controllers, stacks and seeds that a plan names
///
/// Cells that are done are kept, so that a command that was killed at any moment goes on where it stopped, and several may work
/// on one directory at once. A cell that fails is a result with its reason; then the exit code is 1.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Sweep {
    #[command(subcommand)]
    command: Option<Command>,
    /// The plan (TOML); docs/fleet.md has its keys
    #[arg(value_name = "PLAN", required = true)]
    plan: Option<PathBuf>,
    /// Directory for the cells and the dataset [default: target/windlass/sweep/ and the plan's name]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    shared: Shared,
    /// Run the I-th of N shares of the cells and collect nothing: one of many processes, on this machine or others
    #[arg(long, value_name = "I/N", value_parser = Share::parse)]
    shard: Option<Share>,
    /// Cells at the same time [default: one per core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    jobs: usize,
    /// Run cells again that failed
    #[arg(long)]
    retry_failed: bool,
    /// Say how many cells there are and what they will take, and run and write nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Status(StatusOf),
    Collect(Collect),
    Trace(Trace),
    Slurm(slurm::Slurm),
}

/// Where cells are that machines share.
#[derive(Debug, clap::Args)]
struct Shared {
    /// Share cells with other machines: a directory, or the URL of a folder in an object store, such as s3://BUCKET/FOLDER
    #[cfg(feature = "object-store")]
    #[arg(long = "store", value_name = "DIR|URL")]
    name: Option<String>,
}

impl Shared {
    /// The option as words of a command that runs in any directory.
    fn words(&self) -> Result<Vec<String>, CliError> {
        #[cfg(feature = "object-store")]
        if let Some(name) = &self.name {
            let name =
                if name.contains("://") { name.clone() } else { absolute(Path::new(name))?.display().to_string() };
            return Ok(vec!["--store".to_owned(), name]);
        }
        Ok(Vec::new())
    }

    /// `store` with the cells that machines share, if the user names a place for them.
    fn with(&self, store: Store) -> Result<Store, CliError> {
        #[cfg(feature = "object-store")]
        if let Some(name) = &self.name {
            return Ok(store.shared(name)?);
        }
        Ok(store)
    }
}

/// The plan and where its cells are.
#[derive(Debug, clap::Args)]
struct Place {
    /// The plan (TOML)
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
    /// Directory with the cells [default: target/windlass/sweep/ and the plan's name]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    shared: Shared,
}

/// Say what is done, missing and failed, and what is left to do by the CPU time of what is done
#[derive(Debug, clap::Args)]
struct StatusOf {
    #[command(flatten)]
    place: Place,
    /// Print only which of N shares have cells that are missing, as 1,3,8; nothing if none has
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    shards: Option<u64>,
}

/// Write what is done as one dataset, runs.csv, flows.csv and queues.csv, and a page with heat maps, sweep.html
#[derive(Debug, clap::Args)]
struct Collect {
    #[command(flatten)]
    place: Place,
}

/// Run one cell again with its traces, report and results, as `windlass run --out` does
#[derive(Debug, clap::Args)]
struct Trace {
    /// The plan (TOML)
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
    /// Number of the cell, as the dataset has it
    #[arg(value_name = "CELL", value_parser = clap::value_parser!(u64).range(1..))]
    cell: u64,
    /// Directory for results.json, CSV files, qlog files and report.html
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    qlog: QlogOptions,
}

impl From<PlanError> for CliError {
    fn from(error: PlanError) -> CliError {
        match error {
            PlanError::Scenario(error) => CliError::Scenario(error),
            other => CliError::Usage(other.to_string()),
        }
    }
}

impl Sweep {
    pub(super) fn run(&self) -> Result<(), CliError> {
        match (&self.command, &self.plan) {
            (Some(Command::Status(command)), _) => command.run(),
            (Some(Command::Collect(command)), _) => command.run(),
            (Some(Command::Trace(command)), _) => command.run(),
            (Some(Command::Slurm(command)), _) => command.run(),
            (None, Some(plan)) => self.carry_out(plan),
            // Clap asks for the plan.
            (None, None) => Ok(()),
        }
    }

    fn carry_out(&self, path: &Path) -> Result<(), CliError> {
        let plan = Plan::load(path)?;
        let out = directory(path, self.out.as_deref());
        let share = self.shard.unwrap_or(Share::WHOLE);
        let told = |store: &Store| {
            let status = status(&plan, store, share);
            print(&format!("{}\n{}\n{}", extent(&plan, share), progress(&status), left(&status, self.jobs)))
        };
        if self.dry_run {
            return told(&self.shared.with(Store::at(&out))?);
        }
        let store = self.shared.with(Store::open(&out)?)?;
        if self.retry_failed {
            print(&format!("{} cells that failed are run again\n", forget_failed(&plan, &store, share)?))?;
        }
        told(&store)?;
        let engine = Cores { jobs: self.jobs, run: measure };
        let tally = watched(|watch| run(&plan, &store, share, &engine, watch))?;
        print(&format!(
            "{} cells run now: {:.1} million packets in {:.1} s of CPU\n",
            tally.made,
            tally.packets as f64 / 1e6,
            tally.cpu_s
        ))?;
        if self.shard.is_none() {
            gather(&plan, path, &store, &out)?;
        }
        failed(&plan, &status(&plan, &store, share))
    }
}

impl StatusOf {
    fn run(&self) -> Result<(), CliError> {
        let (plan, store, _) = self.place.open()?;
        let status = status(&plan, &store, Share::WHOLE);
        if let Some(of) = self.shards {
            let numbers: Vec<String> = status.shares(of as usize).iter().map(usize::to_string).collect();
            return print(&if numbers.is_empty() { String::new() } else { format!("{}\n", numbers.join(",")) });
        }
        print(&format!("{}\n{}\n{}", extent(&plan, Share::WHOLE), progress(&status), left(&status, 0)))?;
        for (reason, (cells, first)) in &status.reasons {
            print(&format!("{cells} failed, the first is cell {}: {reason}\n", first + 1))?;
        }
        failed(&plan, &status)
    }
}

impl Collect {
    fn run(&self) -> Result<(), CliError> {
        let (plan, store, out) = self.place.open()?;
        let collected = gather(&plan, &self.place.plan, &store, &out)?;
        match collected.missing {
            0 => Ok(()),
            missing => Err(CliError::Failed(format!("{missing} of {} cells are missing", plan.count()))),
        }
    }
}

impl Trace {
    fn run(&self) -> Result<(), CliError> {
        let plan = Plan::load(&self.plan)?;
        let number = usize::try_from(self.cell).ok().filter(|number| *number <= plan.count());
        let Some(number) = number else {
            return Err(CliError::Usage(format!("cell {}: the plan has cells 1 to {}", self.cell, plan.count())));
        };
        let cell = plan.cell(number - 1);
        let name = plan.scenario_name(plan.settings(number - 1).scenario).to_owned();
        let sources = [Source { name, file: cell.file, text: cell.scenario }];
        let controllers: Vec<String> = Some(cell.controller).filter(|name| !name.is_empty()).into_iter().collect();
        let batch = Batch {
            title: cell.name,
            sources: &sources,
            controllers: &controllers,
            stacks: &choice::stacks(&[cell.stack])?,
            seed: Some(cell.seed),
            jobs: 1,
            logs: self.qlog.settings(LogDetail::Packets),
        };
        let scenarios = batch.check(true)?;
        let store = Results::open(&self.out)?;
        let results = batch.run(&scenarios, Some(&store))?;
        print(&summary::of_runs(&results))?;
        print(&format!("report: {}\n", save(store, &results)?.display()))?;
        failures(&results)
    }
}

impl Place {
    fn open(&self) -> Result<(Plan, Store, PathBuf), CliError> {
        let plan = Plan::load(&self.plan)?;
        let out = directory(&self.plan, self.out.as_deref());
        Ok((plan, self.shared.with(Store::at(&out))?, out))
    }
}

/// Where the cells of a plan are unless the user says so.
fn directory(plan: &Path, out: Option<&Path>) -> PathBuf {
    let own = || Path::new("target/windlass/sweep").join(plan.file_stem().unwrap_or_default());
    out.map_or_else(own, Path::to_owned)
}

/// The same place for commands that run elsewhere.
fn absolute(path: &Path) -> Result<PathBuf, CliError> {
    std::path::absolute(path)
        .map_err(|error| CliError::Failed(format!("cannot tell where {} is: {error}", path.display())))
}

/// Writes the dataset and its page, and says where they are.
fn gather(plan: &Plan, path: &Path, store: &Store, out: &Path) -> Result<Collected, CliError> {
    let collected = collect(plan, store, out)?;
    let csv = out.join("runs.csv");
    match page(plan, &collected, &path.display().to_string()) {
        Some(html) => {
            let report = out.join("sweep.html");
            replace(&report, html)?;
            print(&format!("report: {}; every cell: {}\n", report.display(), csv.display()))?;
        }
        None => print(&format!("every cell: {}; there are too many for a page\n", csv.display()))?,
    }
    Ok(collected)
}

/// How many cells a plan has, and why.
fn extent(plan: &Plan, share: Share) -> String {
    let mut lists = vec![(plan.scenarios(), "scenario")];
    lists.extend(plan.axes.iter().map(|axis| (axis.values.len(), axis.key.as_str())));
    lists.extend([(plan.controllers.len(), "controller"), (plan.stacks.len(), "stack"), (plan.seeds.len(), "seed")]);
    let several = lists.into_iter().filter(|(count, _)| *count > 1);
    let product = several.map(|(count, name)| format!("{count} of {name}")).collect::<Vec<_>>().join(" × ");
    let of = if product.is_empty() { String::new() } else { format!(": {product}") };
    let here = share.count(plan);
    let part = if here == plan.count() { String::new() } else { format!(", {here} of them in this share") };
    format!("{} cells{of}{part}", plan.count())
}

fn progress(status: &Status) -> String {
    format!("{} done, {} failed, {} missing", status.done, status.failed, status.missing.len())
}

/// What is left to do, in a line; nothing if nothing is.
fn left(status: &Status, jobs: usize) -> String {
    if status.missing.is_empty() {
        return String::new();
    }
    let cores = if jobs > 0 { jobs } else { std::thread::available_parallelism().map_or(1, std::num::NonZero::get) };
    let by = if status.is_guess { "reckoned by packets alone" } else { "reckoned by the cells that are done" };
    format!(
        "left: about {} of CPU, {} on {cores} cores, {by}\n",
        time(status.left_s),
        time(status.left_s / cores as f64)
    )
}

/// A time in the unit that fits it.
fn time(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// Cells that failed, as an error.
fn failed(plan: &Plan, status: &Status) -> Result<(), CliError> {
    let first = status.reasons.iter().min_by_key(|(_, (_, first))| *first);
    let Some((reason, (_, first))) = first else { return Ok(()) };
    if status.missing.is_empty() {
        warn(&format!("`windlass sweep status` lists all {} reasons", status.reasons.len()));
    }
    let (failed, cells, name) = (status.failed, status.cells, plan.cell(*first).name);
    Err(CliError::Failed(format!("{failed} of {cells} cells failed; the first, cell {}, {name}: {reason}", first + 1)))
}
