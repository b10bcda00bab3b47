//! Several files in a directory.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::staging::{Lock, PREFIX, Staging, lock_directory};
use super::{StoreError, followed, parent, refuse_inputs, unwritable};

/// New contents of a directory that is windlass's, which take the place of what is in it: what is there before is still to
/// be removed.
const READY: &str = ".windlass-ready";
/// Files that are being moved from here to where they belong.
const MOVING: &str = ".windlass-moving";
/// What is the lock where directories have none.
const LOCK: &str = ".windlass-lock";

/// What a directory that windlass owns holds, so that no other is replaced.
pub struct Owned<'a> {
    /// The file without which it is none of windlass's.
    pub marker: &'a str,
    /// Whether the marker at this path is one that windlass wrote.
    pub is_marker: &'a dyn Fn(&Path) -> bool,
    /// Whether windlass writes something of this name.
    pub is_entry: &'a dyn Fn(&Path) -> bool,
}

/// A directory being filled. Dropped before [`Folder::finish`], what was there before is there still.
pub struct Folder {
    /// Path as the user gave it, for messages.
    path: PathBuf,
    target: PathBuf,
    staging: Option<Staging>,
    /// Whether all that is in the directory is replaced.
    owned: bool,
    /// Whether the directory was there before.
    existed: bool,
    /// Directories made on the way, outermost first.
    made: Vec<PathBuf>,
    /// Held until the end.
    lock: Option<File>,
}

impl std::fmt::Debug for Folder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Folder").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Folder {
    /// A directory whose contents are replaced as a whole; no other process can write it meanwhile. It need not exist.
    ///
    /// # Errors
    /// It cannot be written, holds what windlass did not write, or one of `inputs`, which the command reads, or another
    /// process is writing it.
    pub fn owned<P: AsRef<Path>>(path: &Path, owned: &Owned<'_>, inputs: &[P]) -> Result<Folder, StoreError> {
        let mut folder = Folder::prepare(path, true)?;
        folder.lock = folder.locked(false)?;
        recover(&folder.target).map_err(unwritable(path))?;
        folder.check(owned)?;
        let target = fs::canonicalize(&folder.target).map_err(unwritable(path))?;
        let inside = |input: &&P| fs::canonicalize(input).is_ok_and(|input| input.starts_with(&target));
        if let Some(input) = inputs.iter().find(inside) {
            return Err(StoreError::Input { output: path.to_owned(), input: input.as_ref().to_owned() });
        }
        folder.target = target;
        let beside = folder.can_be_exchanged().then(|| Staging::directory(parent(&folder.target), &folder.target));
        let staging = match beside {
            Some(Ok(staging)) => staging,
            _ => Staging::directory(&folder.target, &folder.target).map_err(unwritable(path))?,
        };
        if folder.existed {
            let permissions = fs::metadata(&folder.target).map_err(unwritable(path))?.permissions();
            fs::set_permissions(staging.path(), permissions).map_err(unwritable(path))?;
        }
        folder.staging = Some(staging);
        Ok(folder)
    }

    /// A directory to which files are added, all at the end; others stay as they are. It need not exist.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn shared(path: &Path) -> Result<Folder, StoreError> {
        let mut folder = Folder::prepare(path, false)?;
        let lock = folder.locked(true)?;
        recover(&folder.target).map_err(unwritable(path))?;
        folder.staging = Some(Staging::directory(&folder.target, &folder.target).map_err(unwritable(path))?);
        drop(lock);
        Ok(folder)
    }

    /// Follows `path` and makes the directory if it is not there.
    fn prepare(path: &Path, owned: bool) -> Result<Folder, StoreError> {
        let target = followed(path)?;
        let mut folder = Folder {
            path: path.to_owned(),
            existed: target.exists(),
            target,
            staging: None,
            owned,
            made: Vec::new(),
            lock: None,
        };
        if folder.existed && !folder.target.is_dir() {
            let (path, found) = (path.to_owned(), "not a directory");
            return Err(StoreError::Kind { path, found, expected: "a directory" });
        }
        folder.make(&folder.target.clone())?;
        Ok(folder)
    }

    fn make(&mut self, dir: &Path) -> Result<(), StoreError> {
        if dir.as_os_str().is_empty() || dir.is_dir() {
            return Ok(());
        }
        if let Some(parent) = dir.parent() {
            self.make(parent)?;
        }
        match fs::create_dir(dir) {
            Ok(()) => self.made.push(dir.to_owned()),
            // Another process was quicker.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.is_dir() => {}
            Err(error) => {
                return Err(unwritable(&if dir == self.target { self.path.clone() } else { dir.to_owned() })(error));
            }
        }
        Ok(())
    }

    /// Locks the directory; `None` where the system has no locks.
    fn locked(&mut self, wait: bool) -> Result<Option<File>, StoreError> {
        loop {
            match lock_directory(&self.target, &self.target.join(LOCK), wait) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => self.make(&self.target.clone())?,
                Ok(Lock::Held(file)) => return Ok(Some(file)),
                Ok(Lock::Unsupported) | Err(_) => return Ok(None),
                Ok(Lock::Taken) => return Err(StoreError::InUse { path: self.path.clone() }),
                Ok(Lock::Moved) => {}
            }
        }
    }

    /// Whether the directory can be exchanged for one beside it: it is neither the root of a file system nor where somebody
    /// works in.
    fn can_be_exchanged(&self) -> bool {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let device = |path: &Path| fs::metadata(path).ok().map(|data| data.dev());
            let here = std::env::current_dir().is_ok_and(|here| here.starts_with(&self.target));
            !here && self.target.file_name().is_some() && device(&self.target) == device(parent(&self.target))
        }
        #[cfg(not(unix))]
        false
    }

    /// Fails if the directory holds something else than `owned`.
    fn check(&self, owned: &Owned<'_>) -> Result<(), StoreError> {
        let occupied = |entry: &Path| {
            let entry = entry.strip_prefix(&self.target).unwrap_or(entry).display().to_string();
            Err(StoreError::Occupied { dir: self.path.clone(), entry })
        };
        let there = entries(&self.target).map_err(unwritable(&self.path))?;
        match there.iter().find(|path| !(owned.is_entry)(path)) {
            Some(other) => occupied(other),
            None => match there.first() {
                Some(first) if !(owned.is_marker)(&self.target.join(owned.marker)) => occupied(first),
                _ => Ok(()),
            },
        }
    }

    /// Begins with what the directory holds: what is not replaced stays. The files are those that are there, by further
    /// names, so that they are to be replaced and never written into.
    ///
    /// # Errors
    /// Something cannot be read or linked.
    pub fn keep_earlier(&self) -> Result<(), StoreError> {
        link_all(&self.target, self.path()).map_err(unwritable(&self.path))
    }

    /// Where to write the files; they take their place at the end.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.staging.as_ref().map_or(&self.target, Staging::path)
    }

    /// Where the files will be, as the user gave it.
    #[must_use]
    pub fn shown(&self) -> &Path {
        &self.path
    }

    /// Fails where the file called `name` would overwrite one of `inputs`.
    ///
    /// # Errors
    /// [`StoreError::Input`].
    pub fn refuse_inputs<P: AsRef<Path>>(&self, name: &str, inputs: &[P]) -> Result<(), StoreError> {
        refuse_inputs(&self.path.join(name), inputs)
    }

    /// Writes the file called `name`.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> Result<(), StoreError> {
        fs::write(self.path().join(name), text).map_err(unwritable(&self.path.join(name)))
    }

    /// The same contents for `other` instead, which `owned` describes; this directory stays as it is.
    ///
    /// # Errors
    /// Those of [`Folder::owned`].
    pub fn instead(mut self, other: &Path, owned: &Owned<'_>) -> Result<Folder, StoreError> {
        let mut folder = Folder::owned::<&Path>(other, owned, &[])?;
        std::mem::swap(&mut self.staging, &mut folder.staging);
        Ok(folder)
    }

    /// Puts everything into its place.
    ///
    /// # Errors
    /// Something cannot be moved.
    pub fn finish(mut self) -> Result<(), StoreError> {
        let Some(mut staging) = self.staging.take() else { return Ok(()) };
        let shown = self.path.clone();
        let failed = |error| unwritable(&shown)(error);
        if self.owned {
            let beside = parent(staging.path()) == parent(&self.target);
            if !beside || staging.exchange(&self.target).is_err() {
                #[cfg(windows)]
                refuse_held(&self.target)?;
                staging.rename(&self.target.join(READY)).map_err(failed)?;
                recover(&self.target).map_err(failed)?;
            }
        } else {
            let lock = self.locked(true)?;
            recover(&self.target).map_err(failed)?;
            staging.rename(&self.target.join(MOVING)).map_err(failed)?;
            recover(&self.target).map_err(failed)?;
            drop(lock);
        }
        self.made.clear();
        Ok(())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(self.staging.take());
        // A directory without a lock may be another process's by now, which has locked it and is about to write into it.
        if !self.made.is_empty() && self.lock.is_none() {
            match self.locked(false) {
                Ok(lock) => self.lock = lock,
                Err(_) => self.made.clear(),
            }
        }
        // There the lock is a file in it. Whoever makes its own next keeps the directory.
        if cfg!(windows) {
            drop(self.lock.take());
        }
        for dir in self.made.iter().rev() {
            // This fails, as it should, where another program has put something into it.
            let _ = fs::remove_dir(dir);
        }
        drop(self.lock.take());
    }
}

/// What is in `dir` under names that are not hidden ones of windlass, sorted.
fn entries(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            all.push(entry.path());
        }
    }
    all.sort();
    Ok(all)
}

/// Fails with the first file below `dir` that another program has open so that it cannot be removed, which Windows allows:
/// else half of what is there would be gone by then.
#[cfg(windows)]
fn refuse_held(dir: &Path) -> Result<(), StoreError> {
    use std::os::windows::fs::OpenOptionsExt;
    /// The right to remove a file (Windows' `DELETE`).
    const REMOVE: u32 = 0x0001_0000;
    for path in entries(dir).map_err(unwritable(dir))? {
        if path.is_dir() {
            refuse_held(&path)?;
        } else {
            drop(File::options().access_mode(REMOVE).open(&path).map_err(unwritable(&path))?);
        }
    }
    Ok(())
}

/// Gives everything in `from` a further name in `to`; copies where the file system has no links.
fn link_all(from: &Path, to: &Path) -> io::Result<()> {
    for path in entries(from)? {
        let to = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            fs::create_dir(&to)?;
            link_all(&path, &to)?;
        } else if fs::hard_link(&path, &to).is_err() {
            fs::copy(&path, &to)?;
        }
    }
    Ok(())
}

/// Ends what a process began to move into `target` before it was killed; `target` is locked.
fn recover(target: &Path) -> io::Result<()> {
    let (ready, moving) = (target.join(READY), target.join(MOVING));
    if ready.is_dir() {
        for path in entries(target)? {
            if path.is_dir() && !path.is_symlink() { fs::remove_dir_all(&path)? } else { fs::remove_file(&path)? }
        }
        fs::rename(&ready, &moving)?;
    }
    if moving.is_dir() {
        for entry in fs::read_dir(&moving)? {
            let entry = entry?;
            fs::rename(entry.path(), target.join(entry.file_name()))?;
        }
        fs::remove_dir(&moving)?;
    }
    Ok(())
}
