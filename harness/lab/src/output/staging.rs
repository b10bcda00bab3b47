//! Hidden names under which something is written until it takes its place.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Prefix of hidden names.
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
        let create = |path: &Path| {
            let file = OpenOptions::new().write(true).read(true).create_new(true).open(path)?;
            let lock = lock(file.try_clone()?, path, false);
            Ok((file, lock))
        };
        Staging::create(super::parent(target), target.file_name(), &create)
    }

    /// A new, empty directory in `place` for what is to become `target`.
    pub(super) fn directory(place: &Path, target: &Path) -> io::Result<Staging> {
        let create = |path: &Path| {
            fs::create_dir(path)?;
            Ok(((), lock_directory(path, &lock_of(path), false)?))
        };
        Staging::create(place, target.file_name(), &create).map(|(staging, ())| staging)
    }

    /// Creates under the first name that is free, locked.
    fn create<T>(
        place: &Path,
        name: Option<&OsStr>,
        create: &dyn Fn(&Path) -> io::Result<(T, Lock)>,
    ) -> io::Result<(Staging, T)> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        sweep(place);
        let name: String = name.unwrap_or_default().to_string_lossy().chars().take(40).collect();
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = place.join(format!("{PREFIX}{name}~{:08x}{number:08x}", std::process::id()));
            let (created, lock) = match create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                created => created?,
            };
            let lock = match lock {
                Lock::Held(file) => Some(file),
                Lock::Unsupported => None,
                // Whoever sweeps came between: then it is gone, or about to be.
                Lock::Taken | Lock::Moved => continue,
            };
            return Ok((Staging { path, lock, keep: false }, created));
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Moves it to `to`, over a file that is there, in a directory where no other user may remove it.
    pub(super) fn rename(&mut self, to: &Path) -> io::Result<()> {
        fs::rename(&self.path, to)?;
        self.keep = true;
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

/// The ending of what stands beside a hidden directory and is its lock, where directories have none.
const LOCK: &str = ".lock";

fn lock_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(LOCK);
    name.into()
}

/// Removes a file or directory; what cannot be removed is the next one's.
fn remove(path: &Path) {
    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
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
        if becomes(&entry.file_name()).is_none() {
            continue;
        }
        let path = entry.path();
        let lock = match entry.file_type() {
            Ok(kind) if kind.is_dir() => lock_directory(&path, &lock_of(&path), false),
            Ok(kind) if kind.is_file() => File::open(&path).map(|file| lock(file, &path, false)),
            _ => continue,
        };
        // Only its process can hold the lock.
        if let Ok(Lock::Held(_file)) = lock {
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
    directories.filter_map(of).filter(|(path, _)| is_locked(path)).collect()
}

/// Whether a process has the hidden directory `path`.
fn is_locked(path: &Path) -> bool {
    #[cfg(not(windows))]
    {
        let file = File::open(path);
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
    #[cfg(windows)]
    File::open(lock_of(path)).is_err_and(|error| error.raw_os_error() == Some(SHARING_VIOLATION))
}

/// The name of what is to become of what has a hidden name.
fn becomes(name: &OsStr) -> Option<String> {
    let name = name.to_string_lossy();
    let (becomes, number) = name.strip_prefix(PREFIX)?.rsplit_once('~')?;
    let numbered = number.len() == DIGITS && number.bytes().all(|byte| byte.is_ascii_hexdigit());
    numbered.then(|| becomes.to_owned())
}

/// Result of locking a file or directory.
pub(super) enum Lock {
    /// It is locked for as long as the file is open.
    Held(File),
    /// The system has no locks for it.
    Unsupported,
    /// Another process, or another part of this one, has it.
    Taken,
    /// Its path is the name of something else by now.
    Moved,
}

/// Locks `file`, which was opened at `path`; `wait` until it is free.
fn lock(file: File, path: &Path, wait: bool) -> Lock {
    let locked = if wait { file.lock().map_err(TryLockError::Error) } else { file.try_lock() };
    match locked {
        Err(TryLockError::WouldBlock) => Lock::Taken,
        Err(TryLockError::Error(_)) => Lock::Unsupported,
        // It may have been removed or exchanged meanwhile.
        Ok(()) if is_at(&file, path) => Lock::Held(file),
        Ok(()) => Lock::Moved,
    }
}

/// Locks the directory `path`; `wait` until it is free.
#[cfg(not(windows))]
pub(super) fn lock_directory(path: &Path, _instead: &Path, wait: bool) -> io::Result<Lock> {
    Ok(lock(File::open(path)?, path, wait))
}

/// Windows' error where another process has a file open without sharing it (`ERROR_SHARING_VIOLATION`).
#[cfg(windows)]
const SHARING_VIOLATION: i32 = 32;

/// Locks a directory, which Windows has no locks for: by the file `instead`, which only its process can open, and
/// which is gone when it is closed or its process ends. `wait` until it is free.
#[cfg(windows)]
pub(super) fn lock_directory(_path: &Path, instead: &Path, wait: bool) -> io::Result<Lock> {
    use std::os::windows::fs::OpenOptionsExt;
    /// The rights to write and to remove (`GENERIC_WRITE`, `DELETE`).
    const RIGHTS: u32 = 0x4000_0000 | 0x0001_0000;
    const FILE_FLAG_DELETE_ON_CLOSE: u32 = 0x0400_0000;
    /// What Windows says of a file that is being removed, and of one that must not be made (`ERROR_ACCESS_DENIED`).
    const ACCESS_DENIED: i32 = 5;
    const PAUSE: std::time::Duration = std::time::Duration::from_millis(5);
    let mut denied = 0;
    let mut options = File::options();
    options.write(true).create(true).truncate(false).access_mode(RIGHTS).share_mode(0);
    options.custom_flags(FILE_FLAG_DELETE_ON_CLOSE);
    loop {
        let error = match options.open(instead) {
            Ok(file) => return Ok(Lock::Held(file)),
            Err(error) => error,
        };
        match error.raw_os_error() {
            Some(SHARING_VIOLATION) if !wait => return Ok(Lock::Taken),
            Some(SHARING_VIOLATION) => {}
            Some(ACCESS_DENIED) if denied < 20 => denied += 1,
            _ => return Err(error),
        }
        std::thread::sleep(PAUSE);
    }
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
