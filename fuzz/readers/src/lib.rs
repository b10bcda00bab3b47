//! Every reader of the project on any bytes at all, by name, and seeds for each. The fuzz targets run these, and so do
//! plain tests on the seeds and on what fuzzing found.

#[cfg(feature = "harness")]
mod harness;
mod readers;
#[cfg(feature = "harness")]
mod seeds;

#[cfg(feature = "harness")]
pub use harness::*;
pub use readers::*;
#[cfg(feature = "harness")]
pub use seeds::seeds;
