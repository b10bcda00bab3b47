//! Which files a command is to read, and reading several at once.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use windlass_qlog_analysis::read::{self, Input, Limits, Options, ReadError, Search, UnitSource};

use super::capture;
use crate::cli::CliError;
use crate::cli::error::{shown, unreadable, warn};

/// Files to read, and how many at once.
#[derive(Debug, clap::Args)]
pub(super) struct Files {
    /// Files, directories (searched for traces), patterns such as 'logs/*.sqlog.zst', or - for standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Threads to read with [default: one a core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    jobs: usize,
    /// Bytes a compressed file may decompress to, whatever its size; 0 for any number [default: 64 GiB, and 500
    /// for each byte of the file]
    #[arg(long, value_name = "BYTES")]
    max_decompressed: Option<u64>,
    /// What `paths` lead to.
    #[arg(skip)]
    found: OnceLock<Vec<PathBuf>>,
    /// Key log (SSLKEYLOGFILE) that decrypts captures (pcap, pcapng), which are read with tshark
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// Raised to stop, where a program asks: it sees no progress, and a file that cannot be read is an error.
    #[arg(skip)]
    stop: Option<Arc<AtomicBool>>,
}

/// What `--max-decompressed` allows.
static LIMITS: OnceLock<Limits> = OnceLock::new();

fn limits() -> Limits {
    LIMITS.get().copied().unwrap_or_default()
}

/// Files that were left out so far.
static LEFT_OUT: AtomicUsize = AtomicUsize::new(0);

/// Names a file that is left out, and why, on standard error.
pub(super) fn leave_out(reason: &str) {
    LEFT_OUT.fetch_add(1, Ordering::Relaxed);
    warn(&format!("{reason}; it is left out"));
}

/// Says by its error that files were left out.
pub(super) fn complete() -> Result<(), CliError> {
    match LEFT_OUT.load(Ordering::Relaxed) {
        0 => Ok(()),
        files => Err(CliError::LeftOut(files)),
    }
}

/// What is left of `results` without the files that cannot be read, which are named on standard error.
///
/// # Errors
/// Any other error of a result. Of files that cannot be read, the first if no result is left.
pub(super) fn readable<T>(results: impl IntoIterator<Item = Result<T, CliError>>) -> Result<Vec<T>, CliError> {
    let (mut left, mut wrong) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(result) => left.push(result),
            Err(CliError::Unreadable { reason, code }) => wrong.push((reason, code)),
            Err(other) => return Err(other),
        }
    }
    if left.is_empty()
        && let Some((reason, code)) = wrong.first()
    {
        wrong[1..].iter().for_each(|(reason, _)| warn(reason));
        return Err(CliError::Unreadable { reason: reason.clone(), code: *code });
    }
    wrong.iter().for_each(|(reason, _)| leave_out(reason));
    Ok(left)
}

/// What values are read in.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Reading {
    /// Units of RTTs, times and pacing rates
    #[arg(long, value_enum, default_value_t = Units::Evidence)]
    units: Units,
}

/// Whose word is taken for units.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
enum Units {
    /// Those that the events show, where the trace is wrong
    #[default]
    Evidence,
    /// Those that the trace declares or the schema has
    Declared,
}

/// A stream whose bytes are counted.
pub(super) struct Watched<'a> {
    input: Box<dyn Read + Send>,
    bar: &'a ProgressBar,
    stop: Option<&'a AtomicBool>,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(io::Error::other("interrupted"));
        }
        let read = self.input.read(buffer)?;
        self.bar.inc(read as u64);
        Ok(read)
    }
}

/// Opens a file from its start.
pub(super) type Open<'a> = dyn Fn() -> Result<Input<Watched<'a>>, ReadError> + 'a;

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
    /// The files that `paths` lead to, for a program that raises `stop` to stop.
    #[cfg(feature = "parquet")]
    pub(super) fn for_program(paths: Vec<PathBuf>, stop: &Arc<AtomicBool>) -> Files {
        let (found, stop) = (OnceLock::new(), Some(Arc::clone(stop)));
        Files { paths, jobs: 0, max_decompressed: None, found, keys: None, stop }
    }

    /// [`readable`], or all of `results` where a program asks.
    fn kept<T>(&self, results: impl IntoIterator<Item = Result<T, CliError>>) -> Result<Vec<T>, CliError> {
        if self.stop.is_some() { results.into_iter().collect() } else { readable(results) }
    }

    /// The files the arguments name, in their order.
    pub(super) fn paths(&self) -> Result<Vec<PathBuf>, CliError> {
        if let Some(bytes) = self.max_decompressed {
            let max_bytes = if bytes == 0 { u64::MAX } else { bytes };
            LIMITS.get_or_init(|| Limits { max_bytes, ..Limits::NONE });
        }
        if let Some(keys) = &self.keys {
            capture::set_keys(keys)?;
        }
        if let Some(found) = self.found.get() {
            return Ok(found.clone());
        }
        let mut search = Search::default();
        self.kept(self.paths.iter().map(|path| collect(path, &mut search)))?;
        for (path, reason) in search.skipped() {
            let reason = format!("cannot read {}: {reason}", shown(path));
            if self.stop.is_some() {
                return Err(absent(reason));
            }
            leave_out(&reason);
        }
        Ok(self.found.get_or_init(|| search.files().to_owned()).clone())
    }

    /// All files the command reads, none of which it may overwrite.
    pub(super) fn inputs(&self) -> Result<Vec<PathBuf>, CliError> {
        Ok(self.paths()?.into_iter().chain(self.keys.clone()).collect())
    }

    /// Threads to read several files with.
    pub(super) fn pool(&self) -> Result<rayon::ThreadPool, CliError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.jobs).build();
        pool.map_err(|error| CliError::Failed(format!("cannot start threads: {error}")))
    }

    /// Does `work` with every file, several at a time, and gives the results in order, without those of files
    /// that cannot be read ([`readable`]). A single file gets all threads. `work` gets what opens the file, as often
    /// as it is called, and how many threads it may use.
    pub(super) fn each<T: Send>(
        &self,
        work: impl Fn(&Again, &Open<'_>, usize) -> Result<T, CliError> + Sync,
    ) -> Result<Vec<(PathBuf, T)>, CliError> {
        let files = self.paths()?;
        let bytes = files.iter().filter_map(|file| file.metadata().ok()).map(|data| data.len()).sum();
        let bar = if self.stop.is_some() { ProgressBar::hidden() } else { ProgressBar::new(bytes) };
        let style = ProgressStyle::with_template("{wide_bar:.blue} {bytes}/{total_bytes} {bytes_per_sec} (left {eta})");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let one = |file: &PathBuf, jobs: usize| {
            let again = Again::at(file)?;
            let open = || {
                let input = Watched { input: again.open_raw()?, bar: &bar, stop: self.stop.as_deref() };
                Ok(Input::limited(input, limits())?)
            };
            work(&again, &open, jobs).map(|result| (file.clone(), result))
        };
        // A file that cannot be read does not end the work, any other error does.
        let kept = |result| match result {
            Err(error) if !matches!(error, CliError::Unreadable { .. }) => Err(error),
            result => Ok(result),
        };
        let results = match files.as_slice() {
            [file] => kept(one(file, self.jobs)).map(|result| vec![result]),
            files => {
                let pool = self.pool()?;
                pool.install(|| files.par_iter().map(|file| kept(one(file, 1))).collect::<Result<Vec<_>, _>>())
            }
        };
        bar.finish_and_clear();
        self.kept(results?)
    }
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
        if !path.is_file() || capture::is_capture(path) {
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
        Input::limited(self.open_raw()?, limits())
    }

    /// The same, compressed as it is.
    fn open_raw(&self) -> io::Result<Box<dyn Read + Send>> {
        let Some(kept) = &self.kept else { return read::open_raw(&self.path) };
        let mut kept = kept.try_clone()?;
        io::Seek::rewind(&mut kept)?;
        Ok(Box::new(kept))
    }
}

/// A file, or the standard input if it is called `-`; a capture of packets as qlog.
pub(super) fn open(path: &Path) -> Result<Box<dyn Read + Send>, CliError> {
    if capture::is_capture(path) {
        return capture::open(path);
    }
    read::open_raw(path).map_err(|error| absent(format!("cannot read {}: {error}", shown(path))))
}

/// The error of a path that leads to no file.
fn absent(reason: String) -> CliError {
    CliError::Unreadable { reason, code: 2 }
}

/// A file, decompressed if its first bytes are those of gzip or Zstandard.
pub(super) fn decompressed(path: &Path) -> Result<read::Input<Box<dyn Read + Send>>, CliError> {
    Input::limited(open(path)?, limits()).map_err(|error| unreadable(path, &error))
}

/// `path`, or the traces under it or that it matches, each once.
fn collect(path: &Path, search: &mut Search) -> Result<(), CliError> {
    if !path.exists()
        && let Some(pattern) = path.to_str().filter(|text| text.contains(['*', '?', '[']))
    {
        let wrong = |error: &dyn std::fmt::Display| CliError::Usage(format!("{pattern:?} is no pattern: {error}"));
        let mut any = false;
        for found in glob::glob(pattern).map_err(|error| wrong(&error))? {
            collect(&found.map_err(|error| wrong(&error))?, search)?;
            any = true;
        }
        return if any { Ok(()) } else { Err(absent(format!("no file matches {pattern:?}"))) };
    }
    match search.add(path) {
        Ok(true) => Ok(()),
        Ok(false) => Err(absent(format!("no .sqlog, .qlog or .netlog file in {}", shown(path)))),
        Err(error) => Err(absent(format!("cannot read {}: {error}", shown(path)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_searched_and_an_empty_one_is_a_mistake() {
        let directory = tempfile::tempdir().unwrap();
        let inner = directory.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let found = |path: &Path| {
            let mut search = Search::default();
            collect(path, &mut search).map(|()| search.files().to_owned())
        };
        assert!(found(directory.path()).is_err());
        for name in ["b.sqlog", "a.qlog.zst", "c.txt", "d.json"] {
            std::fs::write(inner.join(name), "").unwrap();
        }
        assert_eq!(found(directory.path()).unwrap(), [inner.join("a.qlog.zst"), inner.join("b.sqlog")]);
        assert_eq!(found(&directory.path().join("*/*.sqlog")).unwrap(), [inner.join("b.sqlog")]);
        assert!(found(&directory.path().join("*.none")).is_err());
    }
}
