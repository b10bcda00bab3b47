//! Where commands write: a file or a directory is whole, or as it was.
//!
//! Everything is written under a hidden name on the same file system and takes its place at the end, in one step. What a
//! process that was killed left under such a name is removed by the next one that writes beside it. A hidden name is
//! locked for as long as its process lives, so nothing that is still being written is taken for that.

mod file;
mod folder;
mod staging;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use file::{OutputFile, replace};
pub use folder::{Folder, Owned};

/// Why something cannot be written.
#[derive(thiserror::Error)]
pub enum StoreError {
    /// Something on the way cannot be created, written or moved.
    #[error("cannot write to {path}: {source}", path = .path.display())]
    Unwritable {
        /// Path of the file or directory.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// It is a directory where a file is to be, or the other way round.
    #[error("cannot write to {path}: it is {found}; expected {expected}", path = .path.display())]
    Kind {
        /// Path as it was given.
        path: PathBuf,
        /// Kind of file found.
        found: &'static str,
        /// Kind of file expected.
        expected: &'static str,
    },
    /// It is read by the same command.
    #[error("{output} is read by this command ({input}) and would be overwritten; name another output",
        output = .output.display(), input = .input.display())]
    Input {
        /// Path that was to be written.
        output: PathBuf,
        /// Path that is read.
        input: PathBuf,
    },
    /// The place that is written to by default holds something else.
    #[error("{path} is no page that windlass wrote, and stays; name another file with --out, or this one to replace it",
        path = .path.display())]
    Foreign {
        /// Path of the file.
        path: PathBuf,
    },
    /// Another process is writing to it.
    #[error("another windlass is writing to {path}; wait until it is done, or name another directory", path = .path.display())]
    InUse {
        /// Path of the directory.
        path: PathBuf,
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
    /// A store that machines share cannot be read or written.
    #[error("cannot use the store {name}: {reason}")]
    Remote {
        /// The URL or directory, as the user gave it.
        name: String,
        /// Why, as text.
        reason: String,
    },
    /// A table could not be written.
    #[error("cannot write {table}: {reason}")]
    Table {
        /// File name of the table.
        table: String,
        /// The error of the writer, as text.
        reason: String,
    },
}

impl std::fmt::Debug for StoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// The error of `path`, which is as the user gave it.
fn unwritable(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |source| StoreError::Unwritable { path, source }
}

/// Fails where writing `output` would overwrite one of `inputs`; `-` among them is the standard input.
///
/// # Errors
/// [`StoreError::Input`].
pub fn refuse_inputs<P: AsRef<Path>>(output: &Path, inputs: &[P]) -> Result<(), StoreError> {
    if !output.is_file() {
        return Ok(());
    }
    let is_read = |input: &&P| {
        let input = input.as_ref();
        same_file(output, if input == Path::new("-") { Path::new("/dev/stdin") } else { input })
    };
    match inputs.iter().find(is_read) {
        None => Ok(()),
        Some(input) => Err(StoreError::Input { output: output.to_owned(), input: input.as_ref().to_owned() }),
    }
}

/// Fails where a file is at `path`, which the user has not named, that is not windlass's by `is_ours`.
///
/// # Errors
/// [`StoreError::Foreign`].
pub fn refuse_foreign(path: &Path, is_ours: impl FnOnce(&Path) -> bool) -> Result<(), StoreError> {
    if path.is_file() && !is_ours(path) {
        return Err(StoreError::Foreign { path: path.to_owned() });
    }
    Ok(())
}

/// The directories in which commands are writing what will be at `path` or below it, each with where it will be.
#[must_use]
pub fn in_progress(path: &Path) -> Vec<(PathBuf, PathBuf)> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let beside = staging::directories(parent(path)).into_iter().filter(|(_, becomes)| Some(becomes) == name.as_ref());
    let mut found: Vec<_> = beside.map(|(dir, _)| (dir, path.to_owned())).collect();
    below(path, &mut found);
    found
}

fn below(dir: &Path, found: &mut Vec<(PathBuf, PathBuf)>) {
    let name = dir.file_name().map(|name| name.to_string_lossy().into_owned());
    for (staged, becomes) in staging::directories(dir) {
        let is_dir_itself = Some(&becomes) == name.as_ref();
        found.push((staged, if is_dir_itself { dir.to_owned() } else { dir.join(becomes) }));
    }
    let Ok(entries) = fs::read_dir(dir) else { return };
    let is_visible = |entry: &fs::DirEntry| !entry.file_name().to_string_lossy().starts_with('.');
    let directories = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    directories.filter(is_visible).for_each(|entry| below(&entry.path(), found));
}

/// Whether two paths are the same file, by whatever links or names. `false` where one is not there.
fn same_file(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    let id = |path: &Path| {
        let data = fs::metadata(path).ok()?;
        Some((std::os::unix::fs::MetadataExt::dev(&data), std::os::unix::fs::MetadataExt::ino(&data)))
    };
    #[cfg(not(unix))]
    let id = |path: &Path| fs::canonicalize(path).ok();
    id(one).is_some_and(|one| Some(one) == id(other))
}

/// Most symbolic links that are followed one after another.
const MOST_LINKS: usize = 40;

/// Where `path` leads when its symbolic links are followed, whether or not there is something at their end.
fn followed(path: &Path) -> Result<PathBuf, StoreError> {
    // Without a slash at the end, which would name what a link leads to. Windows takes more than 260 characters of an absolute
    // path alone.
    let whole = if cfg!(windows) { std::path::absolute(path).map_err(unwritable(path))? } else { path.to_owned() };
    let mut at: PathBuf = whole.components().collect();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&at) {
            Ok(to) => at = parent(&at).join(to).components().collect(),
            Err(_) => return Ok(at),
        }
    }
    Err(unwritable(path)(io::Error::other("too many symbolic links")))
}

/// The directory that `path` is in.
fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests;
