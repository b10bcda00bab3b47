//! What can go wrong, and what to do then.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::known::versions;

/// Why there is no tree.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// An archive is not the one that was released.
    #[error(
        "{} has sha256 {found}, expected {expected} for quiche {version}; it was changed or is incomplete: remove it and run this again, Cargo then fetches it anew",
        path.display()
    )]
    Hash {
        /// The archive.
        path: PathBuf,
        /// The release it should be.
        version: String,
        /// Its hash.
        found: String,
        /// The hash of the release.
        expected: String,
    },
    /// A release nobody has looked at.
    #[error(
        "quiche {found} is not known here; known: {known}. Take one of those, or see whether the hook fits with --unknown-version and, once the tests pass, add the release to xtask/src/known.rs",
        known = versions()
    )]
    UnknownVersion {
        /// What was found.
        found: String,
    },
    /// There is no quiche.
    #[error("{} is not the source of quiche: {reason}", path.display())]
    NotQuiche {
        /// Where it was expected.
        path: PathBuf,
        /// What is missing.
        reason: String,
    },
    /// An archive that cannot be unpacked, or tries to write elsewhere.
    #[error("{what}: {source}")]
    Archive {
        /// Which.
        what: String,
        /// Why.
        source: io::Error,
    },
    /// The hook is there already.
    #[error("{} carries the hook already; start from the source as it was released", .0.display())]
    HookedAlready(PathBuf),
    /// The list of edits cannot be read.
    #[error("hook/edits.toml: {0}")]
    Edits(String),
    /// Edits did not find their place.
    #[error("quiche {version} is not what the hook expects, nothing was written:{}", Listed(misfits))]
    Misfits {
        /// Of what.
        version: String,
        /// Which.
        misfits: Vec<Misfit>,
    },
    /// Cargo did not fetch the release.
    #[error("cargo fetch of quiche {version} failed: {reason}")]
    Fetch {
        /// The release.
        version: String,
        /// What Cargo said.
        reason: String,
    },
}

/// An edit that did not find its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misfit {
    /// The file.
    pub file: String,
    /// What was looked for.
    pub anchor: String,
    /// How often it was found; `None`: there is no such file.
    pub found: Option<usize>,
    /// How often it should be found.
    pub expected: usize,
    /// What the edit is for.
    pub why: String,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Misfit { file, anchor, found, expected, why } = self;
        match found {
            None => write!(f, "{file} is missing; expected {anchor:?} in it. {why}"),
            Some(found) => write!(f, "{file} has {anchor:?} {found} times, expected {expected}. {why}"),
        }
    }
}

struct Listed<'a>(&'a [Misfit]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|misfit| write!(f, "\n  {misfit}"))
    }
}

/// An [`io::Error`] of `path`.
pub(crate) fn at(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
    let path = path.into();
    |source| Error::File { path, source }
}
