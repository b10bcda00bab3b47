//! The releases the patches are known to fit, and their archives as Cargo keeps them.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use crate::Error;
use crate::error::at;

/// A release of quiche and the checksum its archive has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Release {
    /// The version, as crates are named by it.
    pub version: &'static str,
    /// The SHA-256 of its archive, as Cargo.lock has it.
    pub sha256: &'static str,
}

/// The releases the patches were tested with, the one taken by default first.
#[rustfmt::skip]
pub const KNOWN: &[Release] = &[
    Release { version: "0.30.0", sha256: "52b35a721a2a56797347929745fa783fc99e680d9484b80324ce40106b75493a" },
    Release { version: "0.29.3", sha256: "61166d27591eb7cb1310eec2b8fc6ae0e0686e9e4ed742a3ffc6317171175e7d" },
    Release { version: "0.29.2", sha256: "bad15d1a90dc1de62c4fdf46ebc68511e0959bb2fa35e16bfce50f462a4aa539" },
    Release { version: "0.29.1", sha256: "c1f7537688130c9bb919e2afdc4f89fae5e71c11001573f175fd79b4dc3ffae9" },
    Release { version: "0.29.0", sha256: "71228fde982fa2cdfc827a78c09628a586ee5a8830cd5a40339b359526d7acc8" },
    Release { version: "0.28.0", sha256: "882f4a3c27bedb806b4944a82700fc5ab3c0f1bd57ba98155b103e6d61dc7e25" },
];

/// The versions the patches were tested with, with commas.
#[must_use]
pub fn versions() -> String {
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

/// Where Cargo keeps the archive of the release `version`; has Cargo fetch it if it is not there.
///
/// # Errors
/// Cargo cannot fetch it.
pub fn released(version: &str) -> Result<PathBuf, Error> {
    let cache = cargo_home().join("registry").join("cache");
    if let Some(found) = cached(&cache, version) {
        return Ok(found);
    }
    fetch(version)?;
    cached(&cache, version).ok_or_else(|| Error::Fetch {
        version: version.to_owned(),
        reason: format!("no quiche-{version}.crate below {}", cache.display()),
    })
}

fn cargo_home() -> PathBuf {
    let home = || std::env::home_dir().unwrap_or_default().join(".cargo");
    std::env::var_os("CARGO_HOME").map_or_else(home, PathBuf::from)
}

/// The archive in one of the registries of `cache`.
fn cached(cache: &Path, version: &str) -> Option<PathBuf> {
    let name = format!("quiche-{version}.crate");
    let registries = fs::read_dir(cache).ok()?.flatten();
    registries.map(|registry| registry.path().join(&name)).filter(|archive| archive.is_file()).min()
}

/// Has Cargo fetch what a package without code depends on.
fn fetch(version: &str) -> Result<(), Error> {
    let package = tempfile::tempdir().map_err(at(std::env::temp_dir()))?;
    let manifest = package.path().join("Cargo.toml");
    let text = format!(
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[lib]\npath = \"lib.rs\"\n\
         [workspace]\n[dependencies]\nquiche = \"={version}\"\n"
    );
    fs::write(&manifest, text).map_err(at(&manifest))?;
    let lib = package.path().join("lib.rs");
    fs::write(&lib, "").map_err(at(&lib))?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let failed = |reason: String| Error::Fetch { version: version.to_owned(), reason };
    let output = Command::new(cargo)
        .args(["fetch", "--quiet", "--manifest-path"])
        .arg(&manifest)
        .current_dir(package.path())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}
