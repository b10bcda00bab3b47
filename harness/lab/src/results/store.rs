//! An output directory that is either complete or not there.
//!
//! Everything is written into a hidden directory on the same file system and moved at
//! the end, `results.json` last. Dropping a [`Store`] before that leaves no trace.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use windlass_stacks::stack::QLOG_DIR;

use super::{Results, SCHEMA, tables};

const RESULTS: &str = "results.json";
const REPORT: &str = "report.html";
const STAGING: &str = ".windlass-";

/// Why an output directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Something on the way cannot be created, written or moved.
    #[error("cannot write to {path}: {source}", path = .path.display())]
    Unwritable {
        /// Path of the file or directory.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// It holds something that windlass did not write and will not replace.
    #[error(
        "{dir} holds {entry:?}, which is not part of an earlier result; expected a new or empty directory, or one that windlass wrote",
        dir = .dir.display()
    )]
    Occupied {
        /// Path of the directory.
        dir: PathBuf,
        /// The first entry that is in the way.
        entry: String,
    },
    /// A number is not finite, so the results cannot be written as JSON.
    #[error("the results cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A table could not be written.
    #[error("cannot write {table}: {reason}")]
    Table {
        /// File name of the table.
        table: String,
        /// The error of the writer, as text.
        reason: String,
    },
}

/// An output directory being filled.
#[derive(Debug)]
pub struct Store {
    target: PathBuf,
    /// Whether `target` was there before.
    existed: bool,
    /// `None` once it was moved.
    staging: Option<tempfile::TempDir>,
    /// Directories made on the way to `target`, outermost first.
    made: Vec<PathBuf>,
}

impl Store {
    /// Prepares `target`, which need not exist, and so checks that it can be written.
    ///
    /// # Errors
    /// It cannot be written, or holds what windlass did not write.
    pub fn open(target: &Path) -> Result<Store, StoreError> {
        let existed = target.exists();
        let mut store = Store { target: target.to_owned(), existed, staging: None, made: Vec::new() };
        let place = if existed {
            check_replaceable(target)?;
            target
        } else {
            let parent = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            store.make_all(parent)?;
            parent
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(STAGING);
        #[cfg(unix)]
        builder.permissions(<fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o777));
        store.staging = Some(builder.tempdir_in(place).map_err(unwritable(target))?);
        Ok(store)
    }

    fn make_all(&mut self, dir: &Path) -> Result<(), StoreError> {
        if dir.as_os_str().is_empty() || dir.is_dir() {
            return Ok(());
        }
        if let Some(parent) = dir.parent() {
            self.make_all(parent)?;
        }
        fs::create_dir(dir).map_err(unwritable(dir))?;
        self.made.push(dir.to_owned());
        Ok(())
    }

    /// The directory to write qlog files into, made on first use.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn qlog_dir(&self) -> Result<PathBuf, StoreError> {
        let dir = self.staged(QLOG_DIR);
        fs::create_dir_all(&dir).map_err(unwritable(&dir))?;
        Ok(dir)
    }

    fn staged(&self, name: &str) -> PathBuf {
        self.staging.as_ref().map_or_else(|| self.target.clone(), |dir| dir.path().to_owned()).join(name)
    }

    /// Writes the results in every form and the report: the page that `report` makes of a
    /// title and the text of `results.json`.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&self, results: &Results, report: impl FnOnce(&str, &str) -> String) -> Result<(), StoreError> {
        let json = results.to_json()?;
        let save = |name: &str, text: &str| {
            let path = self.staged(name);
            fs::write(&path, text).map_err(unwritable(&path))
        };
        save(RESULTS, &json)?;
        save(REPORT, &report(&results.title, &json))?;
        for table in tables(results) {
            let name = format!("{}.csv", table.name);
            let path = self.staged(&name);
            let file = fs::File::create(&path).map_err(unwritable(&path))?;
            let failed = |reason: String| StoreError::Table { table: name.clone(), reason };
            table.write_csv(io::BufWriter::new(file)).map_err(|error| failed(error.to_string()))?;
            #[cfg(feature = "parquet")]
            super::parquet::save(&table, &self.staged(&format!("{}.parquet", table.name)))
                .map_err(|error| failed(error.to_string()))?;
        }
        Ok(())
    }

    /// Moves everything to where it belongs and returns the path of the report.
    ///
    /// # Errors
    /// Something cannot be moved.
    pub fn finish(mut self) -> Result<PathBuf, StoreError> {
        let Some(staging) = self.staging.take() else { return Ok(self.target.join(REPORT)) };
        if self.existed {
            for name in entries(&self.target)?.iter().filter(|name| !name.starts_with(STAGING)) {
                remove(&self.target.join(name))?;
            }
            let mut fresh = entries(staging.path())?;
            fresh.sort_by_key(|name| name == RESULTS);
            for name in fresh {
                let to = self.target.join(&name);
                fs::rename(staging.path().join(&name), &to).map_err(unwritable(&to))?;
            }
        } else {
            fs::rename(staging.path(), &self.target).map_err(unwritable(&self.target))?;
            let _ = staging.keep();
        }
        self.made.clear();
        Ok(self.target.join(REPORT))
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        drop(self.staging.take());
        for dir in self.made.iter().rev() {
            // This fails, as it should, where another program has put something into it.
            let _ = fs::remove_dir(dir);
        }
    }
}

/// Writes one file, which is complete or not there.
///
/// # Errors
/// It cannot be written.
pub fn replace(path: &Path, text: &str) -> Result<(), StoreError> {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(STAGING);
    #[cfg(unix)]
    builder.permissions(<fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o666));
    let mut file = builder.tempfile_in(parent).map_err(unwritable(path))?;
    io::Write::write_all(&mut file, text.as_bytes()).map_err(unwritable(path))?;
    file.persist(path).map_err(|error| unwritable(path)(error.error))?;
    Ok(())
}

fn unwritable(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |source| StoreError::Unwritable { path, source }
}

/// The names in `dir`, sorted.
fn entries(dir: &Path) -> Result<Vec<String>, StoreError> {
    let mut names = Vec::new();
    for entry in fs::read_dir(dir).map_err(unwritable(dir))? {
        names.push(entry.map_err(unwritable(dir))?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn remove(path: &Path) -> Result<(), StoreError> {
    if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.map_err(unwritable(path))
}

/// An existing directory may be replaced if it is empty or an earlier result and holds
/// nothing else.
fn check_replaceable(dir: &Path) -> Result<(), StoreError> {
    let names = entries(dir)?;
    let ours = |name: &str| {
        [RESULTS, REPORT, QLOG_DIR].contains(&name)
            || name
                .rsplit_once('.')
                .is_some_and(|(stem, ending)| tables::NAMES.contains(&stem) && ["csv", "parquet"].contains(&ending))
    };
    let left = |name: &&String| !name.starts_with(STAGING);
    if let Some(entry) = names.iter().filter(left).find(|name| !ours(name)) {
        return Err(StoreError::Occupied { dir: dir.to_owned(), entry: entry.clone() });
    }
    if let Some(entry) = names.iter().find(left)
        && !is_result(&dir.join(RESULTS))
    {
        return Err(StoreError::Occupied { dir: dir.to_owned(), entry: entry.clone() });
    }
    Ok(())
}

fn is_result(path: &Path) -> bool {
    let mut head = [0; 64];
    let read = fs::File::open(path).and_then(|mut file| io::Read::read(&mut file, &mut head));
    let name = SCHEMA.split('/').next().unwrap_or(SCHEMA);
    read.is_ok_and(|n| String::from_utf8_lossy(&head[..n]).contains(name))
}
