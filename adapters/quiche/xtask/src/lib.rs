//! Makes a quiche with a hook for congestion controllers out of the released one.
//!
//! quiche has no public interface for congestion controllers. This tool takes its released
//! source as Cargo verified and cached it, checks that it is the one known here, applies
//! the edits of `hook/edits.toml`, adds the module `hook/external.rs`, and writes the
//! result. Nothing is written unless every edit found its place.

mod edits;
mod error;
mod fetch;
mod hook;
mod known;
mod tree;

pub use edits::{Edit, Edits};
pub use error::{Error, Misfit};
pub use fetch::released;
pub use hook::{Added, MODULE, SLOTS, hook};
pub use known::{KNOWN, Release, check};
pub use tree::{Tree, Written};
