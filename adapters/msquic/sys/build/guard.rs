//! Refusing an MsQuic that is not the one our sources were written against, and a second one.

use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};

/// The released files our sources rely on, with the hashes they were written against.
const UPSTREAM: &str = include_str!("../upstream.sha256");
/// Features of the package `msquic` that bring another native MsQuic.
const SECOND_NATIVE: [&str; 3] = ["src", "static", "find"];

/// Features are united over all dependents: one of them could bring a second MsQuic.
pub fn one_native(metadata: &Value, id: &Value) -> Result<(), String> {
    let nodes = metadata["resolve"]["nodes"].as_array().into_iter().flatten();
    let features = nodes.filter(|node| node["id"] == *id).flat_map(|node| node["features"].as_array());
    let found = features.flatten().find(|feature| SECOND_NATIVE.iter().any(|second| *feature == second));
    match found {
        Some(feature) => Err(format!(
            "a dependency turns on the feature {feature} of the package msquic, which brings a second native MsQuic; \
             expected every dependent to say default-features = false (cargo tree -e features -i msquic tells which)"
        )),
        None => Ok(()),
    }
}

fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    UPSTREAM.lines().filter_map(|line| line.split_once("  "))
}

/// The files our sources rely on.
pub fn files() -> impl Iterator<Item = &'static str> {
    lines().map(|(_, file)| file)
}

/// Compares those files below `source` with the ones known.
pub fn check(source: &Path) -> Result<(), String> {
    let wrong = lines().filter_map(|(expected, file)| {
        let path = source.join(file);
        let found = match std::fs::read(&path) {
            Ok(bytes) => Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect(),
            Err(error) => error.to_string(),
        };
        (found != expected).then(|| format!("{}: found {found}, expected {expected}", path.display()))
    });
    let wrong = wrong.collect::<Vec<_>>();
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!(
        "this MsQuic is not the one the adapter was written against (sha256): {}; read what changed in these files, \
         then bring sys/upstream.sha256 up to date",
        wrong.join("; ")
    ))
}
