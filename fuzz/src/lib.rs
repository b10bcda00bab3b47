//! What the fuzz targets run; see `readers.rs`.

#[cfg(feature = "harness")]
mod harness;
mod readers;

#[cfg(feature = "harness")]
pub use harness::*;
pub use readers::*;
