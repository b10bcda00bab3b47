//! The program inside `windlass-viewer.html`: reads a trace or runs a scenario from the standard
//! input, and writes what the page draws to the standard output.
//!
//! Built for `wasm32-wasip1` it sees nothing but these streams and its arguments, which the page's
//! worker provides; built for this machine it does the same in a terminal. `docs/viewer.md` says why.
//!
//! ```text
//! windlass-viewer trace NAME POINTS   a trace, at most POINTS points a line
//! windlass-viewer packets TRACE CONNECTION FROM TO MOST
//!                                     a trace, at most MOST packets of a connection from FROM to before TO,
//!                                     ns from its first event
//! windlass-viewer scenario            a scenario file, run
//! windlass-viewer record              a scenario file, run, its flows as qlog
//! windlass-viewer catalogue           what can be chosen from
//! ```

mod output;
mod playground;
mod trace;

use std::io::{self, Read};
use std::process::ExitCode;

use output::Output;

/// Why nothing, or no more, was written.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0}")]
    Read(#[from] windlass_qlog_analysis::read::ReadError),
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("{0}")]
    Scenario(#[from] windlass_simulator::scenario::ScenarioError),
    #[error("{0}")]
    Simulation(#[from] windlass_simulator::sim::SimError),
    #[error("{0}")]
    Usage(String),
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<(), Failure> {
    let mut output = Output::new(io::stdout().lock());
    match arguments {
        ["trace", name, points] => trace::read(io::stdin().lock(), name, number("POINTS", points)?, &mut output),
        ["packets", trace, connection, from, to, most] => {
            let times = number("FROM", from)?..number("TO", to)?;
            let connection = (number("TRACE", trace)?, *connection);
            trace::packets(io::stdin().lock(), connection, times, number("MOST", most)?, &mut output)
        }
        ["scenario"] => playground::run(&text()?, &mut output),
        ["record"] => playground::record(&text()?, &mut output),
        ["catalogue"] => playground::catalogue(&mut output),
        _ => Err(Failure::Usage(
            "expected `trace NAME POINTS`, `packets TRACE CONNECTION FROM TO MOST`, `scenario`, `record` or \
             `catalogue`, and the input on stdin"
                .to_owned(),
        )),
    }
}

fn number<T: std::str::FromStr>(what: &str, text: &str) -> Result<T, Failure> {
    text.parse().map_err(|_| Failure::Usage(format!("{what} is {text:?}; expected a whole number")))
}

fn text() -> io::Result<String> {
    let mut text = String::new();
    io::stdin().lock().read_to_string(&mut text)?;
    Ok(text)
}
