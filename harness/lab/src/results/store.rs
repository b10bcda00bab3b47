//! A directory with the results of runs in every form.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use windlass_stacks::stack::QLOG_DIR;

use super::{Results, SCHEMA, Status, tables};
use crate::output::{Folder, Owned, StoreError};

const RESULTS: &str = "results.json";
const REPORT: &str = "report.html";

/// The directory of a result being filled. Dropped before [`Store::finish`], an earlier result is as it was.
#[derive(Debug)]
pub struct Store {
    folder: Folder,
    /// Whether a run of what was written went wrong.
    failed: bool,
}

/// Results that were saved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Saved {
    /// Path of the report.
    pub report: PathBuf,
    /// The directory of an earlier result that was not replaced, because one of the new runs went wrong.
    pub kept: Option<PathBuf>,
}

const OWNED: Owned<'_> = Owned { marker: RESULTS, is_marker: &is_result, is_entry: &is_entry };

impl Store {
    /// Prepares `target`, which need not exist, and so checks that it can be written; from now on no other
    /// process can write it.
    ///
    /// # Errors
    /// It cannot be written, holds what windlass did not write, or another process is writing it.
    pub fn open(target: &Path) -> Result<Store, StoreError> {
        Ok(Store { folder: Folder::owned::<&Path>(target, &OWNED, &[])?, failed: false })
    }

    /// The directory to write qlog files into, made on first use.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn qlog_dir(&self) -> Result<PathBuf, StoreError> {
        let dir = self.folder.path().join(QLOG_DIR);
        fs::create_dir_all(&dir)
            .map_err(|source| StoreError::Unwritable { path: self.folder.shown().join(QLOG_DIR), source })?;
        Ok(dir)
    }

    /// Writes the results in every form and the report: the page that `report` makes of a
    /// title and the text of `results.json`.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&mut self, results: &Results, report: impl FnOnce(&str, &str) -> String) -> Result<(), StoreError> {
        self.failed = results.runs.iter().any(|run| run.status == Status::Failed);
        let json = results.to_json()?;
        self.folder.write(RESULTS, &json)?;
        self.folder.write(REPORT, report(&results.title, &json))?;
        for table in tables(results) {
            self.folder.write(&format!("{}.csv", table.name), table.csv()?)?;
            #[cfg(feature = "parquet")]
            {
                let name = format!("{}.parquet", table.name);
                let failed = |reason: String| StoreError::Table { table: name.clone(), reason };
                super::parquet::save(&table, &self.folder.path().join(&name))
                    .map_err(|error| failed(error.to_string()))?;
            }
        }
        Ok(())
    }

    /// Puts everything into its place. Where a run went wrong and an earlier result has none that did, the earlier one stays,
    /// and the new one goes into the directory `…-failed` beside it.
    ///
    /// # Errors
    /// Something cannot be moved.
    pub fn finish(self) -> Result<Saved, StoreError> {
        let target = self.folder.shown().to_owned();
        let is_good = |text: String| !text.contains("\"status\":\"failed\"");
        if !self.failed || !fs::read_to_string(target.join(RESULTS)).is_ok_and(is_good) {
            self.folder.finish()?;
            return Ok(Saved { report: target.join(REPORT), kept: None });
        }
        let full = fs::canonicalize(&target).unwrap_or_else(|_| target.clone());
        let mut name = full.file_name().unwrap_or_default().to_owned();
        name.push("-failed");
        let beside = if target.file_name().is_some() { target.with_file_name(name) } else { full.with_file_name(name) };
        self.folder.instead(&beside, &OWNED)?.finish()?;
        Ok(Saved { report: beside.join(REPORT), kept: Some(target) })
    }
}

fn is_entry(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match name.as_ref() {
        RESULTS => true,
        REPORT => is_report(path),
        QLOG_DIR => holds_only_logs(path),
        other => other
            .rsplit_once('.')
            .is_some_and(|(stem, ending)| tables::NAMES.contains(&stem) && ["csv", "parquet"].contains(&ending)),
    }
}

fn holds_only_logs(dir: &Path) -> bool {
    let is_log = |entry: io::Result<fs::DirEntry>| {
        entry.is_ok_and(|entry| {
            let path = entry.path();
            if path.is_dir() { holds_only_logs(&path) } else { path.extension().is_some_and(|end| end == "sqlog") }
        })
    };
    fs::read_dir(dir).is_ok_and(|mut entries| entries.all(is_log))
}

fn is_result(path: &Path) -> bool {
    begins_with(path, 64, SCHEMA.split('/').next().unwrap_or(SCHEMA))
}

/// What every page that windlass writes has above its content.
pub const BRAND: &str = "<span class=\"brand\">windlass</span>";

/// Whether the file at `path` is a page that windlass wrote.
#[must_use]
pub fn is_report(path: &Path) -> bool {
    begins_with(path, 1 << 18, BRAND)
}

/// Whether `text` is among the first `bytes` of a file.
fn begins_with(path: &Path, bytes: u64, text: &str) -> bool {
    let mut head = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(bytes).read_to_end(&mut head));
    read.is_ok() && String::from_utf8_lossy(&head).contains(text)
}
