//! Finds the source of MsQuic that Cargo downloaded. Refuses one that the adapter was not written
//! against, and a second native MsQuic in the same program.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sha2::{Digest, Sha256};

/// The files of MsQuic that the adapter relies on, with their hashes in the package.
const UPSTREAM: &str = include_str!("../upstream.sha256");
/// The hash of such a list, with a line's end after each line, for every release that the adapter was tested with.
const RELEASES: &str = include_str!("../releases.sha256");
/// Features of the package `msquic` that bring another native MsQuic.
const SECOND_NATIVE: [&str; 3] = ["src", "static", "find"];

/// The package `msquic` in a directory of downloaded packages.
const PACKAGE: &str = "msquic-2.5.1-beta";

/// The directory of the package `msquic`. Cargo passes it to build scripts only through its metadata.
pub fn find(here: &Path) -> Result<PathBuf, String> {
    // A downloaded package has its dependencies beside it. Cargo's metadata is that of a checkout.
    let beside = here.with_file_name(PACKAGE);
    if beside.is_dir() {
        return Ok(beside);
    }
    // Offline, Cargo may lack packages that are not part of this build; it downloads them.
    let metadata = metadata(here, true).or_else(|_| metadata(here, false))?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    let package = packages.iter().find(|package| package["name"] == "msquic").ok_or("msquic is no dependency")?;
    one_native(&metadata, &package["id"])?;
    let manifest = package["manifest_path"].as_str().ok_or("the package msquic has no manifest")?;
    Ok(Path::new(manifest).parent().unwrap_or(Path::new("")).to_owned())
}

fn metadata(here: &Path, offline: bool) -> Result<Value, String> {
    let variable = |name| env::var(name).map_err(|error| format!("{name}: {error}; expected what Cargo sets"));
    let mut command = Command::new(variable("CARGO")?);
    command.args(["metadata", "--format-version=1", "--filter-platform", &variable("TARGET")?, "--manifest-path"]);
    command.arg(here.join("Cargo.toml"));
    if offline {
        command.arg("--offline");
    }
    let output = command.output().map_err(|error| format!("cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))
}

/// Refuses features of `msquic` that bring another native MsQuic. Cargo unites features over all
/// dependents, so any of them could turn one on.
pub fn one_native(metadata: &Value, id: &Value) -> Result<(), String> {
    let nodes = metadata["resolve"]["nodes"].as_array().into_iter().flatten();
    let features = nodes.filter(|node| node["id"] == *id).flat_map(|node| node["features"].as_array());
    let found = features.flatten().find(|feature| SECOND_NATIVE.iter().any(|second| *feature == second));
    match found {
        Some(feature) => Err(format!(
            "a dependency turns on the feature {feature} of the package msquic, which brings a second native MsQuic; \
             expected every dependent to say default-features = false (cargo tree -e features -i msquic lists them)"
        )),
        None => Ok(()),
    }
}

fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    UPSTREAM.lines().filter_map(|line| line.split_once("  "))
}

/// The files of MsQuic that the adapter relies on, relative to its source.
pub fn files() -> impl Iterator<Item = &'static str> {
    lines().map(|(_, file)| file)
}

fn hash(bytes: impl AsRef<[u8]>) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compares the hashes of those files below `source` with those of the package and of the releases in `known`, lines of a hash
/// and a version.
pub fn check_with(source: &Path, known: &str) -> Result<(), String> {
    let found = lines().map(|(expected, file)| {
        let path = source.join(file);
        let found = std::fs::read(&path).map_or_else(|error| error.to_string(), hash);
        (file, path, found, expected)
    });
    let found = found.collect::<Vec<_>>();
    let list: String = found.iter().map(|(file, _, found, _)| format!("{found}  {file}\n")).collect();
    let wrong = found.iter().filter(|(.., found, expected)| found != expected);
    let wrong =
        wrong.map(|(_, path, found, expected)| format!("{}: found {found}, expected {expected}", path.display()));
    let (wrong, list) = (wrong.collect::<Vec<_>>(), hash(list));
    let releases = known.lines().filter_map(|line| line.split_once("  "));
    if wrong.is_empty() || releases.clone().any(|(known, _)| known == list) {
        return Ok(());
    }
    Err(format!(
        "this MsQuic is none that the adapter was tested with: not the one of the package, and none of {} (its list of files has \
         the sha256 {list}). It differs from the package's in: {}. Read what changed in these files, then run \
         adapters/msquic/versions, or see with WINDLASS_MSQUIC_UNKNOWN=1 whether it builds",
        releases.map(|(_, version)| version).collect::<Vec<_>>().join(", "),
        wrong.join("; ")
    ))
}

/// Checks that the source is the package's or that of a release that the adapter was tested with.
pub fn check(source: &Path) -> Result<(), String> {
    check_with(source, RELEASES)
}
