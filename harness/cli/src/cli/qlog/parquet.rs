//! `windlass qlog parquet`: traces as a dataset of Parquet files.

use std::path::PathBuf;
#[cfg(feature = "parquet")]
use std::{
    path::Path,
    sync::{Arc, atomic::AtomicBool},
};

#[cfg(feature = "parquet")]
use windlass_qlog_columns::{Dataset, Error, Labels, Loaded};

use super::files::{Files, Reading};
#[cfg(feature = "parquet")]
use super::output::{Stoppable, unless_stopped};
use crate::cli::CliError;
#[cfg(feature = "parquet")]
use crate::cli::error::{print, shown, unreadable, warn};

/// Turn qlog files into a dataset: Parquet files by controller, stack and scenario
///
/// Tables: packets, recovery, events, state_variables, unknown, connections, paths. Traces are added to a
/// dataset that is there, all at once at the end; rows of a file of the same name are replaced.
/// The labels come from the traces, unless they are given here.
#[derive(Debug, clap::Args)]
pub(super) struct Parquet {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    reading: Reading,
    /// Directory of the dataset
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    labels: LabelOptions,
}

/// The labels of the traces.
#[derive(Debug, clap::Args)]
struct LabelOptions {
    /// Congestion controller of all these traces
    #[arg(long, value_name = "NAME")]
    controller: Option<String>,
    /// Stack of all these traces
    #[arg(long, value_name = "NAME")]
    stack: Option<String>,
    /// Scenario, deployment or experiment of all these traces
    #[arg(long, value_name = "NAME")]
    scenario: Option<String>,
}

impl Parquet {
    #[cfg(not(feature = "parquet"))]
    pub(super) fn run(&self) -> Result<(), CliError> {
        Err(super::not_built("writing Parquet", "parquet"))
    }

    #[cfg(feature = "parquet")]
    pub(super) fn run(&self) -> Result<(), CliError> {
        use windlass_lab::output::{Folder, Owned, StoreError};

        use crate::cli::batch::interrupt;

        let owned = Owned { marker: Dataset::MARKER, is_marker: &Dataset::is_marker, is_entry: &Dataset::is_entry };
        let folder = Folder::owned(&self.out, &owned, &self.files.inputs()?)?;
        folder.keep_earlier()?;
        // Where it is written is no name that the user knows.
        let wrong = |error: Error| match error {
            Error::Unwritable { path, source } => {
                let path = folder.shown().join(path.strip_prefix(folder.path()).unwrap_or(&path));
                CliError::Store(StoreError::Unwritable { path, source })
            }
            other => CliError::Failed(other.to_string()),
        };
        let dataset = Dataset::open(folder.path()).map_err(wrong)?;
        let LabelOptions { controller, stack, scenario } = &self.labels;
        let said = Labels { controller: controller.clone(), stack: stack.clone(), scenario: scenario.clone() };
        let stop = interrupt()?;
        let results = self.files.each(|file, _, jobs| {
            let path = file.path();
            let open = || file.open().map(|input| Stoppable { input, stop: stop.clone() });
            dataset.add(&path.display().to_string(), open, &said, &self.reading.options(jobs)).map_err(|error| {
                match error {
                    Error::Read(error) => unreadable(path, &error),
                    other => wrong(other),
                }
            })
        });
        let results = unless_stopped(&stop, results)?;
        let (mut connections, mut rows) = (0, 0);
        for (path, added) in &results {
            super::print_doubts(path, &added.summary);
            if added.unknown > 0 {
                let (path, count) = (shown(path), added.unknown);
                warn(&format!("{path}: {count} fields were not understood; the table `unknown` counts them"));
            }
            connections += added.connections;
            rows += added.rows.values().sum::<u64>();
        }
        folder.finish()?;
        let (files, out) = (results.len(), shown(&self.out));
        print(&format!("{files} files, {connections} connections, {rows} rows in {out}\n"))
    }
}

/// The tables of a trace in memory.
///
/// # Errors
/// `path` leads to no trace or to several, it cannot be read, or `stop` was raised.
#[cfg(feature = "parquet")]
pub fn loaded(path: &Path, stop: &Arc<AtomicBool>) -> Result<Loaded, CliError> {
    let files = Files::for_program(vec![path.to_owned()], stop);
    let found = files.paths()?.len();
    if found != 1 {
        return Err(CliError::Usage(format!("{} leads to {found} traces; expected one", shown(path))));
    }
    let loaded = files.each(|file, _, jobs| {
        let open = || file.open().map(|input| Stoppable { input, stop: Arc::clone(stop) });
        let name = file.path().display().to_string();
        Loaded::read(&name, open, &Reading::default().options(jobs)).map_err(|error| match error {
            Error::Read(error) => unreadable(file.path(), &error),
            other => CliError::Failed(other.to_string()),
        })
    });
    let mut loaded = unless_stopped(stop, loaded)?;
    let (path, loaded) = loaded.pop().ok_or(CliError::Interrupted)?;
    super::print_doubts(&path, &loaded.summary);
    Ok(loaded)
}
