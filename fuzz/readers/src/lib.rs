//! Everything of the project that takes any bytes at all, by name, and seeds for each: the readers of
//! files and packets, and the adapters under any sequence of their stacks' calls. The fuzz targets run
//! these, and so do plain tests on the seeds and on what fuzzing found.

#[cfg(feature = "harness")]
mod harness;
mod readers;
#[cfg(all(feature = "harness", feature = "stacks"))]
mod seeds;
#[cfg(feature = "stacks")]
mod stacks;

#[cfg(feature = "harness")]
pub use harness::*;
pub use readers::*;
#[cfg(all(feature = "harness", feature = "stacks"))]
pub use seeds::seeds;
#[cfg(feature = "stacks")]
pub use stacks::*;
