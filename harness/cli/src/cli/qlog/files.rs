//! Which files a command is to read, and reading several at once.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use windlass_qlog_analysis::read::{self, Input, Options, UnitSource};

use crate::cli::CliError;

/// Files to read, and how many at once.
#[derive(Debug, clap::Args)]
pub(super) struct Files {
    /// Files, directories (searched for traces), patterns such as 'logs/*.sqlog.zst', or - for standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Threads to read with [default: one a core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    jobs: usize,
}

/// What values are read in.
#[derive(Debug, clap::Args)]
pub(super) struct Reading {
    /// Units of RTTs, times and pacing rates
    #[arg(long, value_enum, default_value_t = Units::Evidence)]
    units: Units,
}

/// Whose word is taken for units.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Units {
    /// Those that the events show, where the trace is wrong
    Evidence,
    /// Those that the trace declares or the schema has
    Declared,
}

/// A stream whose bytes are counted, and that ends when `stop` is raised.
pub(super) struct Watched<'a> {
    input: Box<dyn Read + Send>,
    bar: &'a ProgressBar,
    stop: &'a AtomicBool,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("another file could not be read"));
        }
        let read = self.input.read(buffer)?;
        self.bar.inc(read as u64);
        Ok(read)
    }
}

impl Reading {
    /// Options to read a file with on so many threads.
    pub(super) fn options(&self, jobs: usize) -> Options {
        let units = match self.units {
            Units::Evidence => UnitSource::Evidence,
            Units::Declared => UnitSource::Declared,
        };
        Options { jobs, units, ..Options::default() }
    }
}

impl Files {
    /// The files the arguments name, in their order.
    pub(super) fn paths(&self) -> Result<Vec<PathBuf>, CliError> {
        let mut files = Vec::new();
        for path in &self.paths {
            collect(path, &mut files)?;
        }
        Ok(files)
    }

    /// Threads to read several files with.
    pub(super) fn pool(&self) -> Result<rayon::ThreadPool, CliError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.jobs).build();
        pool.map_err(|error| CliError::Failed(format!("cannot start threads: {error}")))
    }

    /// Does `work` with every file, several at a time, and gives the results in order. A
    /// single file gets all threads. The last argument of `work` is how many
    /// it may use.
    pub(super) fn each<T: Send>(
        &self,
        work: impl Fn(&Path, Input<Watched<'_>>, usize) -> Result<T, CliError> + Sync,
    ) -> Result<Vec<(PathBuf, T)>, CliError> {
        let files = self.paths()?;
        let bytes = files.iter().filter_map(|file| file.metadata().ok()).map(|data| data.len()).sum();
        let bar = ProgressBar::new(bytes);
        let style = ProgressStyle::with_template("{wide_bar:.blue} {bytes}/{total_bytes} {bytes_per_sec} (left {eta})");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let stop = AtomicBool::new(false);
        let one = |file: &PathBuf, jobs: usize| {
            let opened = open(file)?;
            let input = Input::new(Watched { input: opened, bar: &bar, stop: &stop });
            let result = input.map_err(|error| unreadable(file, &error)).and_then(|input| work(file, input, jobs));
            if result.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            result.map(|result| (file.clone(), result))
        };
        let results = match files.as_slice() {
            [file] => one(file, self.jobs).map(|result| vec![result]),
            files => {
                let pool = self.pool()?;
                let results = pool.install(|| files.par_iter().map(|file| one(file, 1)).collect::<Vec<_>>());
                // The first mistake in order of the files, not in order of time.
                let failed = results.iter().position(|result| result.as_ref().is_err_and(|error| !is_stop(error)));
                match failed {
                    Some(at) => results.into_iter().nth(at).map_or(Ok(Vec::new()), |error| error.map(|one| vec![one])),
                    None => results.into_iter().collect(),
                }
            }
        };
        bar.finish_and_clear();
        results
    }
}

fn is_stop(error: &CliError) -> bool {
    matches!(error, CliError::Failed(text) if text.ends_with("another file could not be read"))
}

/// A file that is read more than once. Standard input and pipes are copied to
/// a temporary file.
pub(super) struct Again {
    path: PathBuf,
    /// A copy, which has no name.
    kept: Option<std::fs::File>,
}

impl Again {
    /// `path`, of which `input` is what can be read once.
    pub(super) fn of(path: &Path, mut input: impl Read) -> io::Result<Again> {
        let mut kept = None;
        if !path.is_file() {
            let mut copy = tempfile::tempfile()?;
            io::copy(&mut input, &mut copy)?;
            kept = Some(copy);
        }
        Ok(Again { path: path.to_owned(), kept })
    }

    /// `path`, or the standard input if it is called `-`.
    pub(super) fn at(path: &Path) -> Result<Again, CliError> {
        Again::of(path, open(path)?).map_err(|error| unreadable(path, &error))
    }

    /// The path as the user gave it, `-` for standard input.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens it from its start. Readers share one position, so only one at a time may be used.
    pub(super) fn open(&self) -> io::Result<Input<Box<dyn Read + Send>>> {
        let Some(kept) = &self.kept else { return read::open(&self.path) };
        let mut kept = kept.try_clone()?;
        io::Seek::rewind(&mut kept)?;
        Input::new(Box::new(kept))
    }
}

/// The error of a file that cannot be read.
pub(super) fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> CliError {
    CliError::Failed(format!("cannot read {}: {error}", path.display()))
}

/// A file, or the standard input if it is called `-`.
pub(super) fn open(path: &Path) -> Result<Box<dyn Read + Send>, CliError> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin()));
    }
    match std::fs::File::open(path) {
        Ok(file) => Ok(Box::new(file)),
        Err(error) => Err(CliError::Usage(format!("cannot read {}: {error}", path.display()))),
    }
}

/// A file, decompressed if its first bytes are those of gzip or Zstandard.
pub(super) fn decompressed(path: &Path) -> Result<read::Input<Box<dyn Read + Send>>, CliError> {
    Input::new(open(path)?).map_err(|error| unreadable(path, &error))
}

/// Whether a file found in a directory is a trace, by its name.
fn is_trace(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    [".sqlog", ".qlog", ".qlog.js", ".netlog", ".netlog.json"].iter().any(|suffix| name.ends_with(suffix))
}

/// `path`, or the traces under it or that it matches, in order of their names.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), CliError> {
    let before = files.len();
    if !path.exists()
        && let Some(pattern) = path.to_str().filter(|text| text.contains(['*', '?', '[']))
    {
        let wrong = |error: &dyn std::fmt::Display| CliError::Usage(format!("{pattern:?} is no pattern: {error}"));
        for found in glob::glob(pattern).map_err(|error| wrong(&error))? {
            collect(&found.map_err(|error| wrong(&error))?, files)?;
        }
        if files.len() == before {
            return Err(CliError::Usage(format!("no file matches {pattern:?}")));
        }
        return Ok(());
    }
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let unreadable = |error: io::Error| CliError::Usage(format!("cannot read {}: {error}", path.display()));
    let mut entries = std::fs::read_dir(path)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>())
        .map_err(unreadable)?;
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            // An empty directory below the one asked for is no mistake.
            let _ = collect(&entry, files);
        } else if is_trace(&entry) {
            files.push(entry);
        }
    }
    if files.len() == before {
        return Err(CliError::Usage(format!("no .sqlog, .qlog or .netlog file in {}", path.display())));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_searched_and_an_empty_one_is_a_mistake() {
        let directory = tempfile::tempdir().unwrap();
        let inner = directory.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let mut files = Vec::new();
        assert!(collect(directory.path(), &mut files).is_err());
        for name in ["b.sqlog", "a.qlog.zst", "c.txt", "d.json"] {
            std::fs::write(inner.join(name), "").unwrap();
        }
        collect(directory.path(), &mut files).unwrap();
        assert_eq!(files, [inner.join("a.qlog.zst"), inner.join("b.sqlog")]);
        files.clear();
        collect(&directory.path().join("*/*.sqlog"), &mut files).unwrap();
        assert_eq!(files, [inner.join("b.sqlog")]);
        assert!(collect(&directory.path().join("*.none"), &mut files).is_err());
    }
}
