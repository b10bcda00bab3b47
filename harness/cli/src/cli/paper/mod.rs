//! `windlass paper`: the documents' own evaluation scenarios.

mod block;
mod claims;
mod list;
mod report;
mod results;
mod run;
mod table;

use super::CliError;

/// Run the documents' own evaluation scenarios and report the results
#[derive(Debug, clap::Args)]
pub(super) struct Paper {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(list::List),
    Run(run::Run),
    Report(report::Report),
    Table(block::Table),
    Fill(block::Fill),
}

/// Default of `--out`.
const OUT: &str = "target/windlass/papers";

/// The directory below `--out` for runs of `scale` by `stack`.
fn place(scale: windlass_papers::Scale, stack: &str) -> String {
    match stack {
        "sim" => scale.name().to_owned(),
        stack => format!("{}-{stack}", scale.name()),
    }
}

impl Paper {
    pub(super) fn run(&self) -> Result<(), CliError> {
        match &self.command {
            Command::List(command) => command.run(),
            Command::Run(command) => command.run(),
            Command::Report(command) => command.run(),
            Command::Table(command) => command.run(),
            Command::Fill(command) => command.run(),
        }
    }
}
