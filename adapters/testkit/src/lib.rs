//! What the benchmarks and example programs of the adapters share.
//!
//! * [`rounds`] runs candidates in turns and compares each with its baseline; [`ours`] makes
//!   candidates of the catalogue's controllers, [`losses`] decides which packets are lost, and
//!   [`quinn_like_bench!`] drives stacks whose traits resemble quinn's.
//! * [`files`] is the file server's and client's part that has nothing to do with a stack.

pub mod files;
pub mod losses;
pub mod ours;
mod quinn_like;
pub mod rounds;
