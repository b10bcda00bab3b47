//! What the benchmarks, example programs and call-sequence tests of the adapters share.
//!
//! * [`rounds`] runs candidates in turns and compares each with its baseline; [`ours`] makes
//!   candidates of the catalogue's controllers, [`losses`] decides which packets are lost, and
//!   [`quinn_like_bench!`] drives stacks whose traits resemble quinn's.
//! * [`files`] is the file server's and client's part that has nothing to do with a stack.
//! * [`server`] compares the CPU time of a whole server.
//! * `calls` drives an adapter with any sequence of its stack's calls; the features name the stacks.

#[cfg(feature = "calls")]
pub mod calls;
pub mod files;
pub mod losses;
pub mod ours;
mod quinn_like;
pub mod rounds;
pub mod server;
