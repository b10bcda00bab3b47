//! The releases the hook is known to fit.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::Error;

/// A release of quiche.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Release {
    /// Its version.
    pub version: &'static str,
    /// The SHA-256 of its archive, as Cargo.lock has it.
    pub sha256: &'static str,
}

/// The releases the hook was tested with, the one taken by default first.
pub const KNOWN: &[Release] =
    &[Release { version: "0.30.0", sha256: "52b35a721a2a56797347929745fa783fc99e680d9484b80324ce40106b75493a" }];

pub(crate) fn versions() -> String {
    KNOWN.iter().map(|release| release.version).collect::<Vec<_>>().join(", ")
}

/// Checks that `archive`, read from `path`, is `release`.
///
/// # Errors
/// It is not.
pub fn check(release: &Release, path: &Path, archive: &[u8]) -> Result<(), Error> {
    let found: String = Sha256::digest(archive).iter().map(|byte| format!("{byte:02x}")).collect();
    if found == release.sha256 {
        return Ok(());
    }
    let (version, expected) = (release.version.to_owned(), release.sha256.to_owned());
    Err(Error::Hash { path: path.to_owned(), version, found, expected })
}
