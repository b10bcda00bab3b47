//! `windlass qlog`: what can be done with qlog files.

mod compare;
mod files;
mod hindsight;
mod identify;
mod info;
mod lint;
mod metrics;
mod name;
mod replay;
mod report;

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
            Command::Replay(command) => command.run(),
            Command::Report(command) => command.run(),
        }
    }
}
