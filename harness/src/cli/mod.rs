//! The commands of the `windlass` binary.

mod choice;
mod error;
mod list;
mod qlog;
mod report;
mod suggest;
mod text;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use error::CliError;

/// Congestion controllers for QUIC: try them, compare them, see what they do.
#[derive(Debug, Parser)]
#[command(name = "windlass", version, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done; 1 a run went wrong or output could not be written; \
    2 something asked for does not exist or cannot work; 130 interrupted.";

#[derive(Debug, Subcommand)]
enum Command {
    List(list::List),
    Qlog(qlog::Qlog),
    Report(report::Rebuild),
}

/// Runs the command line and says how it went.
#[must_use]
pub fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::List(command) => command.run(),
        Command::Qlog(command) => command.run(),
        Command::Report(command) => command.run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.tell(),
    }
}
