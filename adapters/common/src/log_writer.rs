//! Writing files without ever making the caller wait for a disk.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;

use windlass_qlog::RECORD_SEPARATOR;

mod private;

/// Bytes that may wait to be written by default.
const CAPACITY: usize = 64 << 20;

/// Writes any number of files into one directory on a thread of its own. What would make
/// more bytes wait than it was made for is dropped, and counted by record; only the
/// beginning of a file is always taken. The last clone to be dropped waits until
/// everything is written.
///
/// All writers that are [open](Self::open) for one directory are clones of each other, so that
/// a configuration that is read again starts no further thread.
///
/// What it makes is for its owner alone: files on Unix, directories everywhere.
#[derive(Clone, Debug)]
pub struct LogWriter(Arc<Handle>);

#[derive(Debug)]
struct Handle {
    shared: Arc<Shared>,
    files: AtomicU64,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Shared {
    directory: PathBuf,
    capacity: usize,
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    jobs: VecDeque<Job>,
    /// Bytes that wait in `jobs`.
    bytes: usize,
    /// Whether the thread has taken jobs it is not done with.
    busy: bool,
    closed: bool,
    report: Report,
}

#[derive(Debug)]
enum Job {
    Write { file: u64, bytes: Vec<u8>, name: Arc<str> },
    Close { file: u64 },
}

/// Records that did not reach the disk.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Records dropped since the disk did not keep up.
    pub dropped_records: u64,
    /// Bytes of the dropped records.
    pub dropped_bytes: u64,
    /// Files that could not be written, or not to their end.
    pub failed_files: u64,
    /// The first thing that failed.
    pub error: Option<String>,
}

/// Writers by their directories.
static OPEN: Mutex<BTreeMap<PathBuf, Weak<Handle>>> = Mutex::new(BTreeMap::new());

impl LogWriter {
    /// The writer to `directory`, which is made if it is not there.
    ///
    /// # Errors
    /// The directory cannot be made or written to, or no thread can be made.
    pub fn open(directory: impl Into<PathBuf>) -> io::Result<LogWriter> {
        let directory = directory.into();
        private::directory(&directory)?;
        check_writable(&directory)?;
        let key = fs::canonicalize(&directory)?;
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(handle) = open.get(&key).and_then(Weak::upgrade) {
            return Ok(LogWriter(handle));
        }
        let writer = Self::with_capacity(key.clone(), CAPACITY)?;
        open.retain(|_, handle| handle.strong_count() > 0);
        open.insert(key, Arc::downgrade(&writer.0));
        Ok(writer)
    }

    /// Waits until everything handed over to writers of [`open`](Self::open) is written. For the end of
    /// a process, whose flows may still hold them.
    pub fn wait_for_all() {
        let open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let writers: Vec<_> = open.values().filter_map(Weak::upgrade).map(LogWriter).collect();
        drop(open);
        for writer in writers {
            writer.wait();
        }
    }

    /// A writer of its own to `directory`, with at most `bytes` waiting.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn with_capacity(directory: impl Into<PathBuf>, bytes: usize) -> io::Result<LogWriter> {
        let directory = directory.into();
        private::directory(&directory)?;
        let shared = Arc::new(Shared { directory, capacity: bytes, queue: Mutex::default(), changed: Condvar::new() });
        let writing = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("windlass-log".to_owned()).spawn(move || writing.run())?;
        Ok(LogWriter(Arc::new(Handle { shared, files: AtomicU64::new(0), thread: Mutex::new(Some(thread)) })))
    }

    /// A new file called `name`; it must not exist.
    #[must_use]
    pub fn file(&self, name: &str) -> LogFile {
        let id = self.0.files.fetch_add(1, Ordering::Relaxed);
        LogFile { writer: self.clone(), id, name: name.into(), begun: false, lost: Arc::default() }
    }

    /// Records dropped and errors so far.
    #[must_use]
    pub fn report(&self) -> Report {
        self.0.shared.lock().report.clone()
    }

    /// Waits until everything handed over is written.
    pub fn wait(&self) {
        let shared = &self.0.shared;
        let queue = shared.lock();
        let written = shared.changed.wait_while(queue, |queue| queue.busy || !queue.jobs.is_empty());
        drop(written.unwrap_or_else(PoisonError::into_inner));
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
        let thread = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // A thread that panicked has printed so itself.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut files = HashMap::new();
        loop {
            let queue = self.lock();
            let waited = self.changed.wait_while(queue, |queue| queue.jobs.is_empty() && !queue.closed);
            let mut queue = waited.unwrap_or_else(PoisonError::into_inner);
            let jobs = std::mem::take(&mut queue.jobs);
            queue.bytes = 0;
            if jobs.is_empty() {
                return;
            }
            queue.busy = true;
            drop(queue);
            for job in jobs {
                self.carry_out(job, &mut files);
            }
            self.lock().busy = false;
            self.changed.notify_all();
        }
    }

    /// `None` among the files is one that failed.
    fn carry_out(&self, job: Job, files: &mut HashMap<u64, Option<File>>) {
        match job {
            Job::Close { file } => {
                files.remove(&file);
            }
            Job::Write { file, bytes, name } => {
                let path = self.directory.join(&*name);
                let open = files.entry(file).or_insert_with(|| self.report_error(&path, private::file(&path)));
                if let Some(opened) = open {
                    if self.report_error(&path, opened.write_all(&bytes)).is_none() {
                        *open = None;
                    }
                }
            }
        }
    }

    /// The result, or a report of its error.
    fn report_error<T>(&self, path: &Path, result: io::Result<T>) -> Option<T> {
        result
            .inspect_err(|error| {
                let report = &mut self.lock().report;
                report.failed_files += 1;
                report.error.get_or_insert_with(|| format!("{}: {error}", path.display()));
            })
            .ok()
    }
}

/// Writes to `directory` as every file will, and leaves nothing there.
fn check_writable(directory: &Path) -> io::Result<()> {
    static TRIED: AtomicU64 = AtomicU64::new(0);
    let nth = TRIED.fetch_add(1, Ordering::Relaxed);
    let path = directory.join(format!(".windlass-{}-{nth}", std::process::id()));
    let written = private::file(&path).and_then(|mut file| file.write_all(b"\n"));
    let removed = fs::remove_file(&path);
    written.and(removed)
}

/// A file of a [`LogWriter`]. Give it whole records: what does not fit is dropped by the call.
#[derive(Debug)]
pub struct LogFile {
    writer: LogWriter,
    id: u64,
    name: Arc<str>,
    begun: bool,
    lost: Arc<AtomicU64>,
}

impl LogFile {
    /// Live count of the file's dropped records.
    #[must_use]
    pub fn lost(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.lost)
    }
}

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        let shared = &self.writer.0.shared;
        let job = Job::Write { file: self.id, bytes: bytes.to_vec(), name: Arc::clone(&self.name) };
        let mut queue = shared.lock();
        if self.begun && queue.bytes + bytes.len() > shared.capacity {
            let records = bytes.iter().filter(|byte| **byte == RECORD_SEPARATOR).count() as u64;
            queue.report.dropped_records += records;
            queue.report.dropped_bytes += bytes.len() as u64;
            self.lost.fetch_add(records, Ordering::Relaxed);
            return Ok(bytes.len());
        }
        queue.bytes += bytes.len();
        queue.jobs.push_back(job);
        drop(queue);
        self.begun = true;
        shared.changed.notify_all();
        Ok(bytes.len())
    }

    /// Does nothing: the writer thread writes as soon as it can.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LogFile {
    fn drop(&mut self) {
        let shared = &self.writer.0.shared;
        shared.lock().jobs.push_back(Job::Close { file: self.id });
        shared.changed.notify_all();
    }
}

#[cfg(test)]
mod tests;
