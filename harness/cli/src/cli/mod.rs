//! The commands of the `windlass` binary, and what some of them print as values for other programs.

mod batch;
mod bbr_cases;
mod choice;
mod choose;
mod conformance;
mod error;
mod evaluate;
mod explain;
mod harm;
mod judged;
mod list;
mod markdown;
mod media;
mod paper;
mod qlog;
mod regimes;
mod rfc9743;
mod run;
mod start_up;
mod summary;
mod sweep;
mod text;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use batch::Host;
pub use choice::scenario;
pub use error::CliError;
pub use list::controllers;
#[cfg(feature = "parquet")]
pub use qlog::{drawn, loaded, measured};
pub use run::{Asked, json, results};

use windlass_adapter::NamedController;
use windlass_controllers::Entry;
use windlass_stacks::stack::{Stack, register};

/// Congestion controllers for QUIC: run, compare and explain them, and analyse qlog files.
#[derive(Debug, Parser)]
#[command(name = "windlass", version = env!("WINDLASS_VERSION"), max_term_width = 100, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done; 1 a run went wrong or output could not be written; \
    2 an argument names something that does not exist or cannot work; 3 done, but files that could not be read \
    are left out; 130 interrupted.";

#[derive(Debug, Subcommand)]
enum Command {
    List(list::List),
    Explain(explain::Explain),
    Qlog(qlog::Qlog),
    Scenarios(list::Scenarios),
    Run(run::RunScenario),
    Link(run::CarryDatagrams),
    Evaluate(evaluate::Evaluate),
    Conformance(conformance::Compare),
    Paper(paper::Paper),
    Regimes(regimes::Regimes),
    StartUp(start_up::StartUp),
    Rfc9743(rfc9743::Rfc9743),
    Harm(harm::Harm),
    SendRate(media::SendRate),
    FrameDelay(media::FrameDelay),
    Choose(choose::Choose),
    Sweep(sweep::Sweep),
    Judged(judged::Judged),
    BbrCases(bbr_cases::BbrCases),
    Report(evaluate::Report),
    Book(explain::Book),
}

/// Runs the command of the command line and returns its exit code.
#[must_use]
pub fn main() -> ExitCode {
    run(std::env::args_os(), &[], Vec::new())
}

/// [`main`] for the command line `args`, whose first word is the program's name, with further stacks, which `--stack`
/// then accepts by their names, and further controllers, which every command and file then knows as it does those of the
/// catalogue: entries of [`NamedController::own`].
#[must_use]
pub fn run<I>(args: I, stacks: &[&'static dyn Stack], controllers: Vec<Entry<NamedController>>) -> ExitCode
where
    I: IntoIterator<Item: Into<OsString> + Clone>,
{
    stacks.iter().for_each(|stack| register(*stack));
    if !controllers.is_empty()
        && let Err(error) = NamedController::add(controllers)
    {
        return CliError::Usage(error.to_string()).report();
    }
    let command = match Cli::try_parse_from(args) {
        Ok(cli) => cli.command,
        // Help and version are output like any other, which may not be written.
        Err(asked) if !asked.use_stderr() => {
            return match asked.print().and_then(|()| std::io::stdout().flush()) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => error::unprintable(&error).report(),
            };
        }
        Err(wrong) => wrong.exit(),
    };
    let done = match command {
        Command::List(command) => command.run(),
        Command::Explain(command) => command.run(),
        Command::Qlog(command) => command.run(),
        Command::Scenarios(command) => command.run(),
        Command::Run(command) => command.run(),
        Command::Link(command) => command.run(),
        Command::Evaluate(command) => command.run(),
        Command::Conformance(command) => command.run(),
        Command::Paper(command) => command.run(),
        Command::Regimes(command) => command.run(),
        Command::StartUp(command) => command.run(),
        Command::Rfc9743(command) => command.run(),
        Command::Harm(command) => command.run(),
        Command::SendRate(command) => command.run(),
        Command::FrameDelay(command) => command.run(),
        Command::Choose(command) => command.run(),
        Command::Sweep(command) => command.run(),
        Command::Judged(command) => command.run(),
        Command::BbrCases(command) => command.run(),
        Command::Report(command) => command.run(),
        Command::Book(command) => command.run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}
