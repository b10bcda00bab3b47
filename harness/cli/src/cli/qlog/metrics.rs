//! `windlass qlog metrics`: measures of connections.

use std::io::Write;
use std::path::PathBuf;
#[cfg(feature = "parquet")]
use std::sync::{Arc, atomic::AtomicBool};

use clap::ValueEnum;
use windlass_qlog_analysis::escape;
use windlass_qlog_analysis::metrics::{LossSource, Measured, Measures, Shares, measure, path_name, shares};
use windlass_qlog_analysis::read::{ReadError, twice};
#[cfg(feature = "parquet")]
use windlass_qlog_columns::RecordBatch;

use super::files::{Files, Reading};
#[cfg(feature = "parquet")]
use super::output::unless_stopped;
use super::output::{Compression, Csv, Output, cell, unwritable};
use crate::cli::CliError;
use crate::cli::error::unreadable;
use crate::cli::text::{Align, aligned};

/// Measure the connections of qlog files: goodput, losses, delays, windows, sharing
#[derive(Debug, clap::Args)]
pub(super) struct Metrics {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    reading: Reading,
    /// How to print them
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// File to write to, complete or not at all [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Also measure how evenly connections that are active at the same time share their rate
    #[arg(long)]
    sharing: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Format {
    /// The main ones in aligned columns
    Table,
    /// All of them, one JSON object per connection and one on how they share
    Json,
    /// All of them, a row per connection and path
    Csv,
    /// All of them, a row per connection and path, as a Parquet file
    Parquet,
}

struct Row {
    file: String,
    measured: Measured,
}

impl Metrics {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let path = self.out.as_deref();
        if self.format == Format::Parquet {
            Output::refuse_terminal(path, "a Parquet file")?;
        }
        let mut output = Output::open(path, Compression::None, &self.files.inputs()?)?;
        let rows = rows(&self.files, &self.reading)?;
        let rates: Vec<_> = rows.iter().map(|row| &row.measured.rates).collect();
        let shares = if self.sharing { shares(&rates) } else { None };
        let bytes = match self.format {
            Format::Table => table(&rows, shares.as_ref()).into_bytes(),
            Format::Json => escape::lines(&json(&rows, shares.as_ref())).into_owned().into_bytes(),
            Format::Csv => csv(&rows, shares.as_ref())?.into_bytes(),
            Format::Parquet => parquet(&rows, shares.as_ref())?,
        };
        output.write_all(&bytes).map_err(|error| unwritable(path, &error))?;
        output.finish()
    }
}

fn rows(files: &Files, reading: &Reading) -> Result<Vec<Row>, CliError> {
    let results = files.each(|file, open, jobs| {
        let done = twice(open, &reading.options(jobs), measure);
        done.map_err(|error: ReadError| unreadable(file.path(), &error))
    })?;
    let mut rows = Vec::new();
    for (path, (summary, measured)) in results {
        super::print_doubts(&path, &summary);
        measured.iter().for_each(|measured| super::print_doubt(&path, measured));
        let file = path.display().to_string();
        rows.extend(measured.into_iter().map(|measured| Row { file: file.clone(), measured }));
    }
    Ok(rows)
}

fn table(rows: &[Row], shares: Option<&Shares>) -> String {
    const SHOWN: [(&str, &str, usize); 16] = [
        ("duration_s", "s", 2),
        ("packets_sent", "sent", 0),
        ("goodput_mbps", "goodput", 3),
        ("received_goodput_mbps", "received", 3),
        ("loss_percent", "lost %", 2),
        ("spurious_percent", "spurious %", 1),
        ("rtt_p50_ms", "RTT p50", 2),
        ("rtt_p95_ms", "p95 ms", 2),
        ("queueing_p95_ms", "queueing p95", 2),
        ("cwnd_mean_bytes", "cwnd", 0),
        ("reductions", "smaller", 0),
        ("app_limited_percent", "app-limited %", 0),
        ("limited_by_window_percent", "by window", 0),
        ("limited_by_application_percent", "application", 0),
        ("limited_by_flow_control_percent", "flow control", 0),
        ("limited_by_pacer_percent", "pacer %", 0),
    ];
    let mut heads = vec![("connection", Align::Left), ("controller", Align::Left)];
    heads.extend(SHOWN.iter().map(|(_, head, _)| (*head, Align::Right)));
    // Each path of a connection that has several comes after it.
    let named = rows.iter().flat_map(|row| {
        let name = name(row, rows);
        let of_path =
            |(path, measures): &'_ (u32, Measures)| (format!("{name} {}", path_name(*path)), measures.clone());
        let paths: Vec<_> = row.measured.paths.iter().map(of_path).collect();
        std::iter::once((name, row.measured.measures.clone())).chain(paths)
    });
    let lines: Vec<Vec<String>> = named
        .map(|(name, measures)| {
            let measures = &measures;
            let mut cells = vec![name, measures.controller.clone().unwrap_or_else(|| "–".to_owned())];
            cells.extend(SHOWN.iter().map(|&(column, _, decimals)| {
                let get = Measures::COLUMNS.iter().find(|(name, _)| *name == column);
                let value = get.and_then(|(_, get)| get(measures));
                let inferred = column == "loss_percent" && measures.losses == Some(LossSource::Inferred);
                let suffix = if inferred { " inferred" } else { "" };
                value.map_or_else(|| "–".to_owned(), |value| format!("{value:.decimals$}{suffix}"))
            }));
            cells
        })
        .collect();
    let mut text: String = aligned(&heads, &lines).iter().map(|line| format!("{line}\n")).collect();
    if let Some(shares) = shares {
        text.push_str(&format!("together {:.2} s: Jain's index {:.3}", shares.together, shares.jain));
        if let Some(asymmetry) = shares.asymmetry {
            text.push_str(&format!(", asymmetry {asymmetry:+.3}"));
        }
        match shares.convergence {
            Some(time) => text.push_str(&format!(", even after {time:.0} s\n")),
            None => text.push_str(", never even for good\n"),
        }
    }
    text
}

/// The file, the connection where a file has several, and the end where it has both.
fn name(row: &Row, rows: &[Row]) -> String {
    let of_file = || rows.iter().filter(|other| other.file == row.file);
    let index = row.measured.trace.index;
    match (of_file().count() > 1, row.measured.group.as_str()) {
        (false, _) => row.file.clone(),
        (true, "") => format!("{}#{index}", row.file),
        (true, group) if of_file().filter(|other| other.measured.group == group).count() > 1 => {
            format!("{}#{group} ({}, trace {index})", row.file, row.measured.trace.vantage.name())
        }
        (true, group) => format!("{}#{group}", row.file),
    }
}

fn json(rows: &[Row], shares: Option<&Shares>) -> String {
    let mut text = String::new();
    for row in rows {
        text.push_str(&format!("{}\n", row.measured.to_json(&row.file)));
    }
    if let Some(shares) = shares {
        text.push_str(&format!("{}\n", serde_json::json!({ "sharing": shares })));
    }
    text
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: &[Row], _: Option<&Shares>) -> Result<Vec<u8>, CliError> {
    Err(super::not_built("writing Parquet", "parquet"))
}

#[cfg(feature = "parquet")]
fn parquet(rows: &[Row], shares: Option<&Shares>) -> Result<Vec<u8>, CliError> {
    use windlass_qlog_columns::single;

    let mut bytes = Vec::new();
    batch(rows, shares)
        .and_then(|batch| single(&batch, &mut bytes))
        .map_err(|error| CliError::Failed(error.to_string()))?;
    Ok(bytes)
}

#[cfg(feature = "parquet")]
fn batch(rows: &[Row], shares: Option<&Shares>) -> Result<RecordBatch, windlass_qlog_columns::Error> {
    windlass_qlog_columns::measures(rows.iter().map(|row| (row.file.as_str(), &row.measured)), shares)
}

/// What `--format parquet` writes of the traces that `paths` lead to, all of which have to be readable.
///
/// # Errors
/// A path leads to no trace, a trace cannot be read, or `stop` was raised.
#[cfg(feature = "parquet")]
pub fn measured(paths: Vec<PathBuf>, stop: &Arc<AtomicBool>) -> Result<RecordBatch, CliError> {
    let rows = rows(&Files::for_program(paths, stop), &Reading::default());
    let rows = unless_stopped(stop, rows)?;
    batch(&rows, None).map_err(|error| CliError::Failed(error.to_string()))
}

/// All measures, a row a connection. Of how they share, what is one number for all stands in
/// every row.
fn csv(rows: &[Row], shares: Option<&Shares>) -> Result<String, CliError> {
    let mut csv = Csv::new();
    let shared = shares.map(Shares::columns);
    let mut heads = vec!["file", "trace", "connection", "vantage", "path", "controller", "peer", "losses"];
    heads.extend(Measures::COLUMNS.iter().map(|(name, _)| *name));
    if let Some(shared) = &shared {
        heads.extend(shared.iter().map(|(name, _)| *name));
        heads.push("shared_goodput_mbps");
    }
    csv.row(heads)?;
    for (index, row) in rows.iter().enumerate() {
        let Measured { trace, group, measures, paths, .. } = &row.measured;
        let whole = std::iter::once((None, measures));
        for (path, measures) in whole.chain(paths.iter().map(|(path, measures)| (Some(*path), measures))) {
            let mut cells = vec![row.file.clone(), trace.index.to_string(), group.clone()];
            cells.push(trace.vantage.name().to_owned());
            cells.push(path.map_or_else(String::new, |path| path.to_string()));
            cells.push(measures.controller.clone().unwrap_or_default());
            cells.push(measures.peer.clone().unwrap_or_default());
            cells.push(measures.losses.map_or("", LossSource::name).to_owned());
            cells.extend(Measures::COLUMNS.iter().map(|(_, get)| cell(get(measures))));
            if let Some(shared) = &shared {
                let of_whole = |value: Option<f64>| cell(value.filter(|_| path.is_none()));
                cells.extend(shared.iter().map(|(_, value)| of_whole(*value)));
                cells.push(of_whole(shares.and_then(|shares| shares.goodput.get(index).copied())));
            }
            csv.row(&cells)?;
        }
    }
    csv.finish()
}
