//! `windlass paper`: the evaluation scenarios of the documents.

mod list;
mod report;
mod run;
mod table;

use super::CliError;

/// Run the documents' own evaluation scenarios and report what comes of them
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
}

/// Where results go unless somewhere else is asked for.
const OUT: &str = "target/windlass/papers";

/// The directory below `--out` for runs of `extent` by `stack`.
fn place(extent: windlass_lab::papers::Extent, stack: &str) -> String {
    match stack {
        "sim" => extent.name().to_owned(),
        stack => format!("{}-{stack}", extent.name()),
    }
}

impl Paper {
    pub(super) fn run(&self) -> Result<(), CliError> {
        match &self.command {
            Command::List(command) => command.run(),
            Command::Run(command) => command.run(),
            Command::Report(command) => command.run(),
        }
    }
}
