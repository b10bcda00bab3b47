//! Where recorded traces of many implementations lie, if they are at hand.

use std::path::PathBuf;

/// The directory `WINDLASS_TRACES` names, or `shared/traces` beside the workspace.
pub fn folder() -> PathBuf {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/traces"));
    std::env::var_os("WINDLASS_TRACES").map_or_else(beside, PathBuf::from)
}

/// Small traces of our own, in this repository.
pub fn own() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/traces"))
}

/// The folder of recorded traces; says so where there is none.
pub fn at_hand() -> Option<PathBuf> {
    let folder = folder();
    let there = folder.join("MANIFEST.md").exists();
    if !there {
        println!("skipped: there are no recorded traces at {}; our own are read", folder.display());
    }
    there.then_some(folder)
}

/// Our own traces, and the recorded ones where they are at hand.
pub fn all() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in [Some(own()), at_hand()].into_iter().flatten() {
        files.extend(folder.read_dir().unwrap().map(|entry| entry.unwrap().path()));
    }
    files.retain(|path| path.extension().is_none_or(|ending| ending != "md"));
    files.sort();
    assert!(files.len() >= 15, "only {} traces", files.len());
    files
}
