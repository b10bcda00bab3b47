//! `windlass run`: a scenario.

use std::path::{Path, PathBuf};

use super::CliError;
use super::batch::{Batch, failures};
use super::choice;
use super::error::print;
use super::qlog_options::QlogOptions;
use super::summary;
use windlass_lab::results::Store;
use windlass_stacks::stack::{LogDetail, Runner};

/// Run a scenario and print what came of it
#[derive(Debug, clap::Args)]
pub(super) struct RunScenario {
    /// A scenario file (TOML), or the name of a built-in one; see `windlass scenarios`
    #[arg(default_value = "clean-link")]
    scenario: String,
    /// Controller for the flows under test, as NAME or NAME:parameter=value,…, or as
    /// native:NAME for one of the stack's own; may be given several times [default: the
    /// scenario's own]
    #[arg(long, short, value_name = "NAME")]
    controller: Vec<String>,
    /// What runs it: sim (the packet simulator), quinn or noq; may be given several times
    #[arg(long, value_name = "STACK", default_value = "sim")]
    stack: Vec<String>,
    /// Run in real time over UDP sockets of this machine, through a userspace link that is
    /// the network model; needs a real stack. Results differ from run to run
    #[arg(long)]
    wire: bool,
    /// Seed of everything random [default: the scenario's]
    #[arg(long)]
    seed: Option<u64>,
    /// Write results.json, CSV files, qlog files and report.html into this directory;
    /// without it nothing is written
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print results.json instead of tables
    #[arg(long)]
    json: bool,
    /// Runs at the same time [default: one per core, or one with --wire]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    jobs: usize,
    #[command(flatten)]
    qlog: QlogOptions,
}

impl RunScenario {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let sources = [choice::scenario(&self.scenario)?];
        let controllers = choice::controllers(&self.controller)?;
        let mut stacks = choice::stacks(&self.stack)?;
        if self.wire {
            stacks = choice::on_wire(&stacks)?;
        }
        let batch = Batch {
            title: title(&sources[0].name, &controllers, &stacks),
            sources: &sources,
            controllers: &controllers,
            stacks: &stacks,
            seed: self.seed,
            // Runs in real time disturb each other.
            jobs: if self.wire { self.jobs.max(1) } else { self.jobs },
            logs: self.qlog.settings(LogDetail::Packets),
        };
        let scenarios = batch.check(true)?;
        let store = self.out.as_deref().map(Store::open).transpose()?;
        let results = batch.run(&scenarios, store.as_ref())?;
        let json = results.to_json().map_err(|error| CliError::Failed(format!("cannot write JSON: {error}")))?;
        let report = match store {
            Some(store) => {
                store.write(&results, crate::report::evaluation::page)?;
                Some(store.finish()?)
            }
            None => None,
        };
        print(&if self.json { json } else { summary::of_runs(&results) })?;
        if let Some(report) = report {
            tell_report(&report, self.json)?;
        }
        failures(&results)
    }
}

/// With JSON on standard output, the path goes to standard error.
fn tell_report(report: &Path, aside: bool) -> Result<(), CliError> {
    let line = format!("report: {}\n", report.display());
    if aside {
        eprint!("{line}");
        return Ok(());
    }
    print(&line)
}

fn title(scenario: &str, controllers: &[String], stacks: &[Runner]) -> String {
    let scenario = scenario.replace('-', " ");
    let stacks: Vec<&str> = stacks.iter().map(|stack| stack.name()).collect();
    match controllers {
        [] => format!("{scenario} on {}", stacks.join(" and ")),
        some if some.len() <= 4 => format!("{scenario}: {} on {}", some.join(", "), stacks.join(" and ")),
        many => format!("{scenario}: {} controllers on {}", many.len(), stacks.join(" and ")),
    }
}
