//! Where recorded traces of many implementations lie, if they are at hand.

use std::path::PathBuf;

/// The directory `WINDLASS_TRACES` names, or `shared/traces` beside the workspace.
pub fn folder() -> PathBuf {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/traces"));
    std::env::var_os("WINDLASS_TRACES").map_or_else(beside, PathBuf::from)
}
