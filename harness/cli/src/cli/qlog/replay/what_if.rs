//! Other controllers on a trace.

use std::path::{Path, PathBuf};

use windlass_controllers::Algorithm;

use super::super::csv::Csv;
use super::super::files::Again;
use super::super::hindsight::{caveat, failed, opener};
use crate::cli::CliError;
use crate::cli::choice;
use crate::cli::error::print;
use crate::cli::text::{Align, aligned, width};
use windlass_lab::hindsight::{Rerunning, WhatIf, what_if};

/// Controllers run unless others are named.
const USUAL: [&str; 3] = ["reno", "cubic", "bbr"];

/// Which controllers on what, and how to show them.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// What to run, as NAME or NAME:parameter=value,…; may be given several times [default
    /// for traces that our recorder did not write: reno, cubic and bbr]
    #[arg(long, short, value_name = "NAME")]
    controller: Vec<String>,
    /// The connection to run on, by its name or as #N for the Nth trace of a file from 0
    /// [default: the one that sends most]
    #[arg(long, value_name = "NAME")]
    connection: Option<String>,
    /// Also run controllers that need one-way delays or router queueing times, with guesses
    /// of them from the RTTs
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

impl Options {
    /// Whether other controllers are wanted whatever the trace.
    pub fn is_asked_for(&self) -> bool {
        !self.controller.is_empty()
    }

    pub fn run(&self, files: &[Again]) -> Result<(), CliError> {
        let engines = self.engines()?;
        for (index, file) in files.iter().enumerate() {
            let found = what_if(&opener(file), self.connection.as_deref(), &engines, self.estimate)
                .map_err(|error| failed(file.path(), &error))?;
            let file = file.path();
            if self.csv {
                eprintln!("{}: {}", file.display(), caveat(found.losses_from));
            }
            print(&if self.json {
                json(file, &found)
            } else if self.csv {
                csv(file, &found, index == 0)?
            } else {
                text(file, &found)
            })?;
            if let Some(path) = self.svg.as_deref().filter(|_| index == 0) {
                let svg = found.svg().map_err(|error| CliError::Failed(format!("cannot draw: {error}")))?;
                let written = std::fs::write(path, svg);
                written.map_err(|error| CliError::Failed(format!("cannot write {}: {error}", path.display())))?;
            }
        }
        Ok(())
    }

    fn engines(&self) -> Result<Vec<(String, Algorithm)>, CliError> {
        let usual = || USUAL.map(str::to_owned).to_vec();
        let names = if self.controller.is_empty() { usual() } else { choice::controllers(&self.controller)? };
        names.into_iter().map(|name| choice::controller(&name).map(|engine| (name, engine))).collect()
    }
}

fn text(file: &Path, found: &WhatIf) -> String {
    let mut text = format!("{}: ", file.display());
    if !found.connection.group.is_empty() {
        text.push_str(&format!("connection {}, ", found.connection.group));
    }
    let facts = &found.connection.facts;
    text.push_str(&format!("{} packets sent, {} ACK frames", facts.sent, facts.acks));
    if found.connection.others > 0 {
        text.push_str(&format!(", {} other connections (--connection)", found.connection.others));
    }
    text.push_str(&format!("\n{}\n", caveat(found.losses_from)));
    if found.stack.is_none() {
        text.push_str("The trace tells no congestion window; there is nothing to compare with.\n");
    }
    text.push('\n');
    text.push_str(&found.text(width()));
    text.push_str(&table(found));
    text
}

fn table(found: &WhatIf) -> String {
    let heads = [
        ("controller", Align::Left),
        ("mean kB", Align::Right),
        ("least", Align::Right),
        ("most", Align::Right),
        ("last", Align::Right),
        ("smaller", Align::Right),
    ];
    let row = |name: String, tally: &Rerunning| {
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

fn json(file: &Path, found: &WhatIf) -> String {
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

fn csv(file: &Path, found: &WhatIf, first: bool) -> Result<String, CliError> {
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
