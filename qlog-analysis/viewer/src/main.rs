//! The program inside `windlass-viewer.html`: reads a trace or runs a scenario from the standard
//! input, and writes what the page draws to the standard output.
//!
//! Built for `wasm32-wasip1` it sees nothing but these streams and its arguments, which the page's
//! worker provides; built for this machine it does the same in a terminal. `docs/viewer.md` says why.
//!
//! ```text
//! windlass-viewer trace NAME POINTS PACKETS
//!                                     a trace, at most POINTS points a line, and PACKETS packets of its
//!                                     connections together
//! windlass-viewer packets TRACE CONNECTION FROM TO MOST
//!                                     a trace, at most MOST packets of a connection from FROM to before TO,
//!                                     ns from its first event
//! windlass-viewer events TRACE CONNECTION FROM TO MOST all|no-packets WORDS
//!                                     a trace, at most MOST events of a connection with all WORDS in them, as they
//!                                     stand there; of packets that were sent or received all or none
//! windlass-viewer share NAME pseudonyms|names
//!                                     a trace to be shared, with pseudonyms or with its names
//! windlass-viewer scenario            a scenario file, run
//! windlass-viewer record              a scenario file, run, its flows as qlog
//! windlass-viewer catalogue           what can be chosen from
//! ```

mod output;
mod playground;
mod share;
mod trace;

use std::io::{self, Read, Write};
use std::process::ExitCode;

use output::Output;
use windlass_qlog_analysis::series::EventFilter;

/// Error that ended the output.
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
        ["trace", name, points, packets] => {
            let (points, packets) = (number("POINTS", points)?, number("PACKETS", packets)?);
            trace::read(&mut Stdin::default(), name, points, packets, &mut output)
        }
        ["packets", trace, connection, from, to, most] => {
            let times = number("FROM", from)?..number("TO", to)?;
            let connection = (number("TRACE", trace)?, *connection);
            trace::packets(&mut Stdin::default(), connection, times, number("MOST", most)?, &mut output)
        }
        ["events", trace, connection, from, to, most, which @ ("all" | "no-packets"), words] => {
            let filter = EventFilter {
                times: number("FROM", from)?..number("TO", to)?,
                words: words.split_whitespace().collect(),
                packets: *which == "all",
                most: number("MOST", most)?,
            };
            trace::events(&mut Stdin::default(), (number("TRACE", trace)?, connection), &filter, &mut output)
        }
        ["share", name, "pseudonyms"] => share::share(&mut Stdin::default(), name, false, &mut output),
        ["share", name, "names"] => share::share(&mut Stdin::default(), name, true, &mut output),
        ["scenario"] => playground::run(&text()?, &mut output),
        ["record"] => playground::record(&text()?, &mut output),
        ["catalogue"] => playground::catalogue(&mut output),
        _ => Err(Failure::Usage(
            "expected `trace NAME POINTS PACKETS`, `packets TRACE CONNECTION FROM TO MOST`, \
             `events TRACE CONNECTION FROM TO MOST all|no-packets WORDS`, `share NAME pseudonyms|names`, \
             `scenario`, `record` or `catalogue`, and the input on stdin"
                .to_owned(),
        )),
    }
}

/// The standard input, which is read a second time where it has to be.
#[derive(Default)]
struct Stdin {
    opened: bool,
}

impl trace::Source for Stdin {
    fn open(&mut self, output: &mut Output<impl Write>) -> io::Result<Box<dyn Read + '_>> {
        let mut input = io::stdin().lock();
        if std::mem::replace(&mut self.opened, true) {
            // What is left of it is in a buffer, or before the end.
            io::copy(&mut input, &mut io::sink())?;
            rewind(output)?;
        }
        Ok(Box::new(input))
    }
}

/// Asks the page, which reads the file, to begin at its start.
#[cfg(not(unix))]
fn rewind(output: &mut Output<impl Write>) -> io::Result<()> {
    if cfg!(not(target_family = "wasm")) {
        let message = "it says behind its events how they are to be read, and is read once here";
        return Err(io::Error::new(io::ErrorKind::Unsupported, message));
    }
    output.message(&serde_json::json!({ "kind": "rewind" }))
}

/// Goes to the start of the file.
#[cfg(unix)]
fn rewind(_: &mut Output<impl Write>) -> io::Result<()> {
    use std::os::fd::AsFd;
    let mut file = std::fs::File::from(io::stdin().as_fd().try_clone_to_owned()?);
    io::Seek::rewind(&mut file).map_err(|error| {
        let message = format!("it says behind its events how they are to be read, and cannot be read again: {error}");
        io::Error::new(error.kind(), message)
    })
}

fn number<T: std::str::FromStr>(what: &str, text: &str) -> Result<T, Failure> {
    text.parse().map_err(|_| Failure::Usage(format!("{what} is {text:?}; expected a whole number")))
}

fn text() -> io::Result<String> {
    let mut text = String::new();
    io::stdin().lock().read_to_string(&mut text)?;
    Ok(text)
}
