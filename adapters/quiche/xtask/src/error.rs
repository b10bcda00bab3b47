//! Errors, each with what to do about it.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why no source was written.
#[derive(thiserror::Error)]
pub enum Error {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Path of the file or directory.
        path: PathBuf,
        /// The error of the operation.
        source: io::Error,
    },
    /// An archive is not the one that was released.
    #[error(
        "{} has sha256 {found}, expected {expected} for quiche {version}; it was changed or is incomplete: remove it and run this again, Cargo then fetches it anew",
        path.display()
    )]
    Hash {
        /// Path at which the archive is looked for.
        path: PathBuf,
        /// The release it should be.
        version: String,
        /// The SHA-256 of the archive.
        found: String,
        /// The SHA-256 of the release.
        expected: String,
    },
    /// A release the patches were not tested with.
    #[error(
        "quiche {found} is not known here; known: {known}. Take one of those, or see whether the patches fit with --unknown-version (the archive is Cargo's, or another with --crate FILE) and, once the tests pass, add the release to xtask/src/release.rs"
    )]
    UnknownVersion {
        /// The version that was asked for or found.
        found: String,
        /// The versions the patches were tested with.
        known: String,
    },
    /// The source is not quiche's.
    #[error("{} is not the source of quiche: {reason}", path.display())]
    NotQuiche {
        /// The directory it was expected in.
        path: PathBuf,
        /// What is missing in it.
        reason: String,
    },
    /// An archive that cannot be unpacked, or tries to write elsewhere.
    #[error("{archive}: {source}")]
    Archive {
        /// Path of the archive.
        archive: String,
        /// What is wrong with it.
        source: io::Error,
    },
    /// The source was patched before.
    #[error("{} has the hook already; start from the source as it was released", .0.display())]
    HookedAlready(PathBuf),
    /// A list of edits cannot be read.
    #[error("{file}: {reason}")]
    Edits {
        /// The list, relative to adapters/quiche.
        file: &'static str,
        /// The line and what is wrong with it.
        reason: String,
    },
    /// A manifest has not the form that Cargo's documentation gives it.
    #[error("{}: {reason}", path.display())]
    Manifest {
        /// The manifest's path.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Programs that the build of quiche needs are missing.
    #[error("quiche's build, which takes minutes, would fail: {}. On Debian: apt-get install {}. --skip-tools makes the source without them", .0.iter().map(|tool| format!("there is no {}", tool.name)).collect::<Vec<_>>().join("; "), packages(.0))]
    Tools(Vec<crate::tools::Tool>),
    /// Edits did not find their place.
    #[error("quiche {version} is not what the patch expects, nothing was written:{}", Listed(mismatches))]
    Mismatches {
        /// The version of the source.
        version: String,
        /// All edits that did not find their place.
        mismatches: Vec<Mismatch>,
    },
    /// Cargo did not fetch the release.
    #[error("cargo fetch of quiche {version} failed: {reason}")]
    Fetch {
        /// The release it was to fetch.
        version: String,
        /// Cargo's message.
        reason: String,
    },
}

impl fmt::Debug for Error {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An edit that did not find its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mismatch {
    /// Its place in the list of edits.
    pub edit: String,
    /// Lines of the source to look at, with file and number.
    pub near: Vec<String>,
    /// The file, relative to the source.
    pub file: String,
    /// The line or text that was looked for.
    pub anchor: String,
    /// How often it was found; `None` if there is no such file.
    pub found: Option<usize>,
    /// How often it should be found.
    pub expected: usize,
    /// Why quiche needs the edit.
    pub why: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mismatch { edit, near, file, anchor, found, expected, why } = self;
        match found {
            None => write!(f, "{edit}: {file} is missing; expected {anchor:?} in it. {why}")?,
            Some(found) => write!(f, "{edit}: {file} has {anchor:?} {found} times, expected {expected}. {why}")?,
        }
        near.iter().try_for_each(|line| write!(f, "\n    {line}"))
    }
}

/// The Debian packages of `tools`, each once.
fn packages(tools: &[crate::tools::Tool]) -> String {
    let packages: std::collections::BTreeSet<_> = tools.iter().map(|tool| tool.package).collect();
    packages.into_iter().collect::<Vec<_>>().join(" ")
}

struct Listed<'a>(&'a [Mismatch]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|mismatch| write!(f, "\n  {mismatch}"))
    }
}

/// An [`io::Error`] of `path`.
pub(crate) fn at(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
    let path = path.into();
    |source| Error::File { path, source }
}
