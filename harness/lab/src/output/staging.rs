//! Hidden names under which something is written until it takes its place.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// What every hidden name begins with.
pub(super) const PREFIX: &str = ".windlass-";

/// Characters of the number at the end of a hidden name.
const DIGITS: usize = 16;

/// A file or directory under a hidden name. Dropped, it is removed.
pub(super) struct Staging {
    path: PathBuf,
    /// Locked as long as the process lives; `None` where the system has no locks.
    lock: Option<File>,
    keep: bool,
}

impl Staging {
    /// A new, empty file beside `target`, and the file open for writing.
    pub(super) fn file(target: &Path) -> io::Result<(Staging, File)> {
        let create = |path: &Path| OpenOptions::new().write(true).read(true).create_new(true).open(path);
        let (path, file) = Staging::create(super::parent(target), target.file_name(), &create)?;
        let lock = file.try_clone().ok();
        Ok((Staging { path, lock, keep: false }, file))
    }

    /// A new, empty directory in `place` for what is to become `target`.
    pub(super) fn directory(place: &Path, target: &Path) -> io::Result<Staging> {
        let create = |path: &Path| fs::create_dir(path).and_then(|()| open_to_lock(path, &lock_of(path)));
        let (path, lock) = Staging::create(place, target.file_name(), &create)?;
        Ok(Staging { path, lock: Some(lock), keep: false })
    }

    /// Creates under the first name that is free, locked.
    fn create(
        place: &Path,
        name: Option<&OsStr>,
        create: &dyn Fn(&Path) -> io::Result<File>,
    ) -> io::Result<(PathBuf, File)> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        sweep(place);
        let name: String = name.unwrap_or_default().to_string_lossy().chars().take(40).collect();
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = place.join(format!("{PREFIX}{name}~{:08x}{number:08x}", std::process::id()));
            let file = match create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                created => created?,
            };
            // Whoever sweeps may have come between: then it is gone, or about to be.
            if let Lock::Held | Lock::Unsupported = lock(&file, &path, false) {
                return Ok((path, file));
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Moves it to `to`, over a file that is there, where nobody else may remove it.
    pub(super) fn rename(&mut self, to: &Path) -> io::Result<()> {
        fs::rename(&self.path, to)?;
        self.keep = true;
        if cfg!(not(unix)) {
            let _ = fs::remove_file(lock_of(&self.path));
        }
        Ok(())
    }

    /// Exchanges it for the directory at `target` in one step, so that it is that which is removed.
    pub(super) fn exchange(&mut self, target: &Path) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        {
            use rustix::fs::{CWD, RenameFlags, renameat_with};
            renameat_with(CWD, &self.path, CWD, target, RenameFlags::EXCHANGE)?;
            Ok(())
        }
        #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
        {
            let _ = target;
            Err(io::ErrorKind::Unsupported.into())
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.keep {
            remove(&self.path);
        }
        drop(self.lock.take());
    }
}

/// The ending of what stands beside a hidden directory and is locked in its place, where directories cannot be.
const LOCK: &str = ".lock";

fn lock_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(LOCK);
    name.into()
}

/// Removes a file or directory and its lock; what cannot be removed is the next one's.
fn remove(path: &Path) {
    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    if cfg!(not(unix)) {
        let _ = fs::remove_file(lock_of(path));
    }
}

/// Removes from `place` what processes left behind that are no more; once in each process.
pub(super) fn sweep(place: &Path) {
    static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let full = fs::canonicalize(place).unwrap_or_else(|_| place.to_owned());
    if !SWEPT.lock().unwrap_or_else(PoisonError::into_inner).insert(full) {
        return;
    }
    let Ok(entries) = fs::read_dir(place) else { return };
    for entry in entries.flatten() {
        let known = entry.file_type().is_ok_and(|kind| kind.is_file() || kind.is_dir());
        if !known || !is_staging(&entry.file_name()) {
            continue;
        }
        let path = entry.path();
        // Only its process can hold the lock.
        if let Ok(file) = open_to_lock(&path, &lock_of(&path))
            && let Lock::Held = lock(&file, &path, false)
        {
            remove(&path);
        }
    }
}

/// The directories in `place` in which processes are writing, each with the name of what it is to become, of which long
/// ones are cut.
pub(super) fn directories(place: &Path) -> Vec<(PathBuf, String)> {
    let Ok(entries) = fs::read_dir(place) else { return Vec::new() };
    let directories = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let of = |entry: fs::DirEntry| Some((entry.path(), becomes(&entry.file_name())?));
    let is_locked = |path: &Path| {
        let file = if cfg!(unix) { File::open(path) } else { File::open(lock_of(path)) };
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    };
    directories.filter_map(of).filter(|(path, _)| is_locked(path)).collect()
}

fn is_staging(name: &OsStr) -> bool {
    becomes(name).is_some()
}

/// The name of what is to become of what has a hidden name.
fn becomes(name: &OsStr) -> Option<String> {
    let name = name.to_string_lossy();
    let (becomes, number) = name.strip_prefix(PREFIX)?.rsplit_once('~')?;
    let numbered = number.len() == DIGITS && number.bytes().all(|byte| byte.is_ascii_hexdigit());
    numbered.then(|| becomes.to_owned())
}

/// What came of locking what `path` names.
pub(super) enum Lock {
    /// It is locked for as long as the file is open.
    Held,
    /// The system has no locks for it.
    Unsupported,
    /// Another process, or another part of this one, has it.
    Taken,
    /// `path` is the name of something else by now.
    Moved,
}

/// Locks `file`, which was opened at `path`; `wait` until it is free.
pub(super) fn lock(file: &File, path: &Path, wait: bool) -> Lock {
    let locked = if wait { file.lock().map_err(TryLockError::Error) } else { file.try_lock() };
    match locked {
        Err(TryLockError::WouldBlock) => Lock::Taken,
        Err(TryLockError::Error(_)) => Lock::Unsupported,
        // It may have been removed or exchanged meanwhile.
        Ok(()) if is_at(file, path) => Lock::Held,
        Ok(()) => Lock::Moved,
    }
}

/// Opens what is locked for `path`: itself, or on systems that do not open directories the file `instead`.
pub(super) fn open_to_lock(path: &Path, instead: &Path) -> io::Result<File> {
    if cfg!(not(unix)) && path.is_dir() {
        return File::options().write(true).create(true).truncate(false).open(instead);
    }
    File::open(path)
}

/// Whether `path` is still the name of the open `file`.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let id = |data: fs::Metadata| (data.dev(), data.ino());
        match (file.metadata(), fs::symlink_metadata(path)) {
            (Ok(open), Ok(there)) => id(open) == id(there),
            _ => false,
        }
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        path.exists()
    }
}
