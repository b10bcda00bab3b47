//! `windlass qlog replay`: run recorded flows again, or other controllers on them.

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use windlass_adapter::NamedController;
use windlass_adapter::replay::{Outcome, replay};
use windlass_lab::output::OutputFile;
use windlass_lab::replay::{ControllerReplay, LossSource, ReplayError, WindowStatistics, replay_controllers};
use windlass_qlog_analysis::escape;
use windlass_qlog_analysis::read::{Input, ReadError};

use super::files::{Again, Files, readable};
use super::output::Csv;
use crate::cli::CliError;
use crate::cli::choice;
use crate::cli::error::{print, shown, unreadable, warn};
use crate::cli::text::{Align, aligned, width};

/// Bytes at the beginning of a file in which our recorder is looked for.
const BEGINNING: u64 = 1 << 16;

/// Run recorded flows again and compare every decision, bit for bit; or run other
/// controllers on the events of any trace
///
/// Traces that our recorder wrote with every step (`windlass run --qlog-detail steps`, or a
/// recorder at that level in production) are replayed and compared with what was recorded.
/// Flows of one group are replayed together, so give the traces of all its members.
///
/// Any other trace with packets and ACK frames, or any trace if --controller is given,
/// shows what controllers would have decided beside what the stack did. The network of a
/// trace does not react: a larger window would have filled queues and a smaller one emptied
/// them, and neither is in it.
#[derive(Debug, clap::Args)]
pub(super) struct Replay {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    others: OtherControllers,
}

impl Replay {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let inputs = self.files.inputs()?;
        let svg = self.others.svg.as_deref().map(|path| OutputFile::open(path, &inputs)).transpose()?;
        let files = readable(self.files.paths()?.iter().map(|path| Again::at(path)))?;
        if self.others.is_asked_for() {
            return self.others.run(&files, svg);
        }
        let mut ours = Vec::new();
        let mut foreign = Vec::new();
        for (file, is_ours) in readable(files.into_iter().map(|file| is_ours(&file).map(|ours| (file, ours))))? {
            if is_ours { ours.push(file) } else { foreign.push(file) }
        }
        // Other traces first: if they fail, they do so before a long replay.
        if !foreign.is_empty() {
            self.others.run(&foreign, svg)?;
        }
        if ours.is_empty() { Ok(()) } else { again(&ours) }
    }
}

/// Replays the traces of windlass's recorder and prints how each came out.
fn again(files: &[Again]) -> Result<(), CliError> {
    let mut logs = Vec::new();
    for file in files {
        logs.push(BufReader::new(file.open().map_err(|error| unreadable(file.path(), &error))?));
    }
    let outcomes = replay(logs);
    let mut wrong = 0;
    for (file, outcome) in files.iter().zip(&outcomes) {
        wrong += usize::from(!outcome.is_equal());
        let hint = match outcome {
            Outcome::NoSteps => "; --controller NAME says what a controller would have decided",
            _ => "",
        };
        print(&format!("{}: {outcome}{hint}\n", shown(file.path())))?;
    }
    match wrong {
        0 => Ok(()),
        _ => Err(CliError::Failed(format!("{wrong} of {} traces did not replay", files.len()))),
    }
}

/// Whether our recorder wrote a file: its beginning names our schema or an event of it.
fn is_ours(file: &Again) -> Result<bool, CliError> {
    let mut beginning = Vec::new();
    let read = file.open().and_then(|input| input.take(BEGINNING).read_to_end(&mut beginning));
    read.map_err(|error| unreadable(file.path(), &error))?;
    let text = String::from_utf8_lossy(&beginning);
    Ok(text.contains("/events/windlass\"") || text.contains("\"windlass:"))
}

/// Controllers run unless others are named.
const USUAL: [&str; 3] = ["reno", "cubic", "bbr"];

/// Which controllers to run on which connection, and how to print the result.
#[derive(Debug, clap::Args)]
pub(super) struct OtherControllers {
    /// What to run, as NAME or NAME:parameter=value,…; may be given several times [default
    /// for traces that our recorder did not write: reno, cubic and bbr]
    #[arg(long, short, value_name = "NAME")]
    controller: Vec<String>,
    /// The connection to run on, by its name or as #N for the Nth trace of a file from 0
    /// [default: the one that sends most]
    #[arg(long, value_name = "NAME")]
    connection: Option<String>,
    /// Also run controllers that need one-way delays or router queueing times, with guesses
    /// of both from the RTTs
    #[arg(long)]
    estimate: bool,
    /// Print the numbers and windows over time as JSON, an object a file
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print windows over time as CSV
    #[arg(long)]
    csv: bool,
    /// Also draw the windows into this file; with several traces, the first
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl OtherControllers {
    /// Whether --controller is given, so that other controllers run on any trace.
    fn is_asked_for(&self) -> bool {
        !self.controller.is_empty()
    }

    fn run(&self, files: &[Again], mut svg: Option<OutputFile>) -> Result<(), CliError> {
        let controllers = self.algorithms()?;
        let one = |file| {
            let found = replay_controllers(&opener(file), self.connection.as_deref(), &controllers, self.estimate);
            found.map(|found| (file.path(), found)).map_err(|error| failed(file.path(), &error))
        };
        for (index, (file, found)) in readable(files.iter().map(one))?.into_iter().enumerate() {
            if self.csv {
                warn(&format!("{}: {}", shown(file), caveat(found.losses_from)));
            }
            print(&if self.json {
                json(file, &found)
            } else if self.csv {
                csv(file, &found, index == 0)?
            } else {
                text(file, &found)
            })?;
            if let Some(output) = svg.take() {
                output.finish_with(found.svg().map_err(|error| CliError::Failed(format!("cannot draw: {error}")))?)?;
            }
        }
        Ok(())
    }

    fn algorithms(&self) -> Result<Vec<(String, NamedController)>, CliError> {
        let usual = || USUAL.map(str::to_owned).to_vec();
        let names = if self.controller.is_empty() { usual() } else { choice::controllers(&self.controller)? };
        names.into_iter().map(|name| choice::controller(&name).map(|algorithm| (name, algorithm))).collect()
    }
}

fn text(file: &Path, found: &ControllerReplay) -> String {
    let mut text = format!("{}: ", shown(file));
    if !found.connection.group.is_empty() {
        text.push_str(&format!("connection {}, ", escape::line(&found.connection.group)));
    }
    let contents = &found.connection.contents;
    text.push_str(&format!("{} packets sent, {} ACK frames", contents.sent, contents.acks));
    if found.connection.others > 0 {
        text.push_str(&format!(", {} other connections (--connection)", found.connection.others));
    }
    text.push_str(&format!("\n{}\n", caveat(found.losses_from)));
    if found.stack.is_none() {
        text.push_str("The trace has no congestion window; there is nothing to compare with.\n");
    }
    text.push('\n');
    text.push_str(&found.text(width()));
    text.push_str(&table(found));
    text
}

fn table(found: &ControllerReplay) -> String {
    let heads = [
        ("controller", Align::Left),
        ("mean kB", Align::Right),
        ("least", Align::Right),
        ("most", Align::Right),
        ("last", Align::Right),
        ("smaller", Align::Right),
    ];
    let row = |name: String, tally: &WindowStatistics| {
        let kilobytes = |bytes: f64| format!("{:.1}", bytes / 1e3);
        let bytes = [tally.min_bytes, tally.max_bytes, tally.last_bytes].map(|bytes| kilobytes(bytes as f64));
        let mut cells = vec![name, kilobytes(tally.mean_bytes)];
        cells.extend(bytes);
        cells.push(tally.reductions.to_string());
        cells
    };
    let stack = found.stack.iter().map(|tally| row(found.stack_label(), tally));
    let rows: Vec<_> =
        stack.chain(found.controllers.iter().map(|tally| row(tally.controller.clone(), tally))).collect();
    aligned(&heads, &rows).iter().map(|line| format!("{line}\n")).collect()
}

fn json(file: &Path, found: &ControllerReplay) -> String {
    let value = serde_json::json!({
        "file": file.display().to_string(),
        "connection": found.connection.group,
        "caveat": caveat(found.losses_from),
        "stack": found.stack,
        "controllers": found.controllers,
        "series": found.series,
    });
    format!("{value}\n")
}

fn csv(file: &Path, found: &ControllerReplay, first: bool) -> Result<String, CliError> {
    let mut csv = Csv::new();
    if first {
        let heads = ["file", "time_s", "in_flight_bytes", "packets_lost", "stack_cwnd_bytes"].into_iter();
        let heads = heads.map(str::to_owned);
        csv.row(heads.chain(found.controllers.iter().map(|tally| format!("{}_cwnd_bytes", tally.controller))))?;
    }
    let name = file.display().to_string();
    for point in found.series.points() {
        let mut cells = vec![name.clone(), point.time_s.to_string(), point.in_flight.to_string()];
        cells.push(point.lost.to_string());
        cells.push(point.stack.map_or_else(String::new, |cwnd| cwnd.to_string()));
        cells.extend(point.cwnd.iter().map(u64::to_string));
        csv.row(&cells)?;
    }
    csv.finish()
}

type Opened = Result<Input<Box<dyn Read + Send>>, ReplayError>;

/// A function that opens a file, as often as it is called.
pub(super) fn opener(file: &Again) -> impl Fn() -> Opened + '_ {
    move || file.open().map_err(|error| ReplayError::Read(ReadError::Stopped(error.to_string())))
}

/// The error of a command that could not replay a file.
pub(super) fn failed(file: &Path, error: &ReplayError) -> CliError {
    match error {
        ReplayError::Read(error) => unreadable(file, error),
        ReplayError::NoConnection { .. } => {
            CliError::Unreadable { reason: format!("{}: {error}", shown(file)), code: 2 }
        }
        ReplayError::Controller(_) => CliError::Usage(format!("{}: {error}", shown(file))),
        ReplayError::Missing(_) => CliError::Unreadable { reason: format!("{}: {error}", shown(file)), code: 1 },
    }
}

/// The caveat to print with windows that were not in force.
pub(super) fn caveat(losses: LossSource) -> String {
    let source = match losses {
        LossSource::Logged => "",
        LossSource::Detected => " The trace logs no lost packets; RFC 9002's thresholds found them.",
    };
    format!("The network does not react: windows are what a controller would have decided on these events.{source}")
}
