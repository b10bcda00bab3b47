//! Locks on files and directories, which end with the process that holds them.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

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
pub(super) fn open(path: &Path, instead: &Path) -> io::Result<File> {
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
