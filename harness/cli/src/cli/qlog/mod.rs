//! `windlass qlog`: the commands for qlog files.

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

use std::path::Path;

use windlass_qlog_analysis::read::Summary;

use super::CliError;

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
}

impl Qlog {
    pub(super) fn run(&self) -> Result<(), CliError> {
        match &self.command {
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
        }
    }
}

/// The error of a command whose feature this binary was built without.
#[cfg(not(feature = "sql"))]
fn not_built(what: &str, feature: &str) -> CliError {
    CliError::Usage(format!(
        "this windlass was built without {what}; build it in with `cargo install --path harness/cli --features {feature}`"
    ))
}

/// Prints on standard error how many records of a file could not be read, and which totals
/// disagree with its events.
fn print_doubts(path: &Path, summary: &Summary) {
    let file = path.display();
    if summary.bad_records > 0 {
        eprintln!("{file}: {} records could not be read; `windlass qlog lint` says why", summary.bad_records);
    }
    if summary.unfollowed > 0 {
        let (most, events) = (windlass_qlog_analysis::connections::MAX_CONNECTIONS, summary.unfollowed);
        eprintln!("warning: {file}: it has more than {most} connections; {events} events of further ones are left out");
    }
    for check in summary.checks.iter().filter(|check| !check.agrees()) {
        let (connection, counter, reported) = (&check.connection, check.counter, check.reported);
        match check.counted {
            Some(found) => {
                eprintln!(
                    "warning: {file}: {connection}: Chromium counted {reported} {counter}, its events have {found}"
                );
            }
            None => {
                eprintln!("warning: {file}: {connection}: Chromium counted {reported} {counter}, its events have none")
            }
        }
    }
}
