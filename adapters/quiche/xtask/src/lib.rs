//! Makes a quiche with a hook for congestion controllers out of the released one.
//!
//! quiche has no public interface for congestion controllers. This tool takes its released
//! source as Cargo verified and cached it, checks that it is a known one, applies the edits of
//! `patches/hook/edits.toml`, adds the module `patches/hook/external.rs`, and writes the
//! result. On request it applies `patches/harness` on top: virtual time, seeded randomness and
//! access for benchmarks. Nothing is written unless every edit found its place.

mod edits;
mod error;
mod manifest;
mod patch;
mod release;
mod tools;
mod tree;

pub use edits::{Edit, Edits};
pub use error::{Error, Mismatch};
pub use manifest::inline_workspace;
pub use patch::{FEATURE, HARNESS_MODULE, Patch, SLOTS};
pub use release::{KNOWN, Release, check, released, versions};
pub use tools::{Tool, missing as missing_tools};
pub use tree::{MODULE, Tree, Written};
