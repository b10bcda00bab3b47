//! `windlass evaluate`, the controllers of the catalogue through the built-in scenarios, and
//! `windlass report`, the report of such results once more.

use std::path::PathBuf;

use windlass_adapter::NamedController;

use super::CliError;
use super::batch::{Batch, failures, save};
use super::choice;
use super::error::print;
use super::run::QlogOptions;
use super::summary;
use windlass_lab::output::{OutputFile, refuse_foreign};
use windlass_lab::results::{Results, SCHEMA, Store, is_report};
use windlass_simulator::scenario::BUILTIN;
use windlass_stacks::stack::{LogDetail, Runner};

/// Run the controllers through the built-in scenarios and write a report
#[derive(Debug, clap::Args)]
pub(super) struct Evaluate {
    /// Directory for results.json, CSV files, qlog files and report.html; an earlier
    /// result in it is replaced
    #[arg(long, value_name = "DIR", default_value = "target/windlass/evaluate")]
    out: PathBuf,
    /// Seed of all random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Runs at the same time [default: one per core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    jobs: usize,
    /// Controllers, separated by commas [default: the whole catalogue]
    #[arg(long, short, value_name = "NAME")]
    controllers: Vec<String>,
    /// Stacks, separated by commas [default: all]
    #[arg(long, value_name = "STACK", value_delimiter = ',')]
    stacks: Vec<String>,
    /// Scenarios, built-in names or files, separated by commas [default: those that
    /// `windlass scenarios` marks]
    #[arg(long, value_name = "SCENARIO", value_delimiter = ',')]
    scenarios: Vec<String>,
    #[command(flatten)]
    qlog: QlogOptions,
}

impl Evaluate {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let controllers = match choice::controllers(&self.controllers)? {
            none if none.is_empty() => NamedController::all().map(|entry| entry.name.to_owned()).collect(),
            some => some,
        };
        let stacks = match choice::stacks(&self.stacks)? {
            none if none.is_empty() => Runner::builtin().to_vec(),
            some => some,
        };
        let evaluated = BUILTIN.iter().filter(|scenario| scenario.evaluated).map(|scenario| scenario.name.to_owned());
        let names: Vec<String> = if self.scenarios.is_empty() { evaluated.collect() } else { self.scenarios.clone() };
        let sources = choice::scenarios(&names)?;
        let count = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
        let batch = Batch {
            title: format!(
                "Evaluation of {} in {}",
                count(controllers.len(), "controller"),
                count(sources.len(), "scenario")
            ),
            sources: &sources,
            controllers: &controllers,
            stacks: &stacks,
            seed: Some(self.seed),
            jobs: self.jobs,
            logs: self.qlog.settings(LogDetail::Recovery),
        };
        let scenarios = batch.check(false)?;
        let store = Store::open(&self.out)?;
        let results = batch.run(&scenarios, Some(&store))?;
        let report = save(store, &results)?;
        print(&summary::of_ranking(&results))?;
        print(&format!("report: {}\n", report.display()))?;
        failures(&results)
    }
}

/// Write the report of an existing results.json
#[derive(Debug, clap::Args)]
pub(super) struct Report {
    /// A results.json that `windlass run` or `windlass evaluate` wrote
    results: PathBuf,
    /// File to write the report to [default: report.html beside the results]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Report {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let shown = self.results.display();
        let text = std::fs::read_to_string(&self.results)
            .map_err(|error| CliError::Usage(format!("cannot read {shown}: {error}")))?;
        let results: Results = serde_json::from_str(&text)
            .map_err(|error| CliError::Usage(format!("{shown} is not a windlass results.json: {error}")))?;
        if results.schema != SCHEMA {
            return Err(CliError::Usage(format!("{shown} has schema {:?}; expected {:?}", results.schema, SCHEMA)));
        }
        let out = match &self.out {
            Some(out) => out.clone(),
            None => {
                let beside = self.results.with_file_name("report.html");
                refuse_foreign(&beside, is_report)?;
                beside
            }
        };
        OutputFile::open(&out, &[&self.results])?
            .finish_with(crate::report::evaluation::page(&results.title, &text))?;
        print(&format!("{}\n", out.display()))
    }
}
