//! Many runs: what is asked for are [`Cell`]s, what is missing is run, what was run is kept.
//!
//! A cell is a scenario, a controller, a stack, a seed and what is read off; its [`key`](Cell::key) is a hash of these
//! and of the code. [`run`] has an [`Engine`] carry out the cells whose records the [`Store`] lacks. A record is in the
//! store as soon as its run is over, so that a kill at any moment loses no more than the cells in hand.

mod cell;
mod read_off;
mod run;
#[cfg(feature = "object-store")]
mod shards;
mod store;

pub use cell::{CODE, Cell};
pub use read_off::{Measured, NoOutcome, measured, prepared, read_off};
pub(crate) use run::cpu_seconds;
pub use run::{Cores, Done, Engine, Failure, Keep, Reading, Tally, Watch, run};
pub use store::{Record, Store};

#[cfg(test)]
mod tests;
