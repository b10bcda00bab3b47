//! `windlass qlog`: the commands for qlog files.

mod capture;
mod compare;
mod convert;
mod files;
mod identify;
mod info;
mod lint;
mod metrics;
mod name;
mod output;
mod parquet;
mod replay;
mod report;
mod sql;
mod watch;

#[cfg(feature = "parquet")]
pub use {metrics::measured, parquet::loaded, report::drawn};

use std::path::Path;

use windlass_qlog_analysis::escape;
use windlass_qlog_analysis::metrics::Measured;
use windlass_qlog_analysis::read::Summary;

use super::CliError;
use super::error::{shown, warn};

/// Work with qlog files
#[derive(Debug, clap::Args)]
pub(super) struct Qlog {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Compare(compare::Compare),
    Identify(identify::Identify),
    Info(info::Info),
    Lint(lint::Lint),
    Metrics(metrics::Metrics),
    Convert(convert::Convert),
    Parquet(parquet::Parquet),
    Sql(sql::Sql),
    Replay(replay::Replay),
    Report(report::Report),
    Share(report::Share),
    Watch(watch::Watch),
}

impl Qlog {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let done = match &self.command {
            Command::Compare(command) => command.run(),
            Command::Identify(command) => command.run(),
            Command::Info(command) => command.run(),
            Command::Lint(command) => command.run(),
            Command::Metrics(command) => command.run(),
            Command::Convert(command) => command.run(),
            Command::Parquet(command) => command.run(),
            Command::Sql(command) => command.run(),
            Command::Replay(command) => command.run(),
            Command::Report(command) => command.run(),
            Command::Share(command) => command.run(),
            Command::Watch(command) => command.run(),
        };
        done.and_then(|()| files::complete())
    }
}

/// The error of a command whose feature this binary was built without.
#[cfg(not(feature = "sql"))]
fn not_built(what: &str, feature: &str) -> CliError {
    CliError::Usage(format!(
        "this windlass was built without {what}; build it in with `cargo install --path harness/cli --features {feature}`"
    ))
}

/// Prints on standard error what is doubtful about a connection.
fn print_doubt(path: &Path, measured: &Measured) {
    if let Some(doubt) = measured.measures.doubt() {
        warn(&format!("{}: {doubt}", shown(path)));
    }
}

/// Prints on standard error what is doubtful about a file.
fn print_doubts(path: &Path, summary: &Summary) {
    summary.doubts().iter().for_each(|doubt| warn(&format!("{}: {}", shown(path), escape::line(doubt))));
}
