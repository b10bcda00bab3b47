//! Sweeps: every combination of scenarios, values of their keys, controllers, stacks and seeds that a plan names.
//!
//! A [`Plan`] is a TOML file (`docs/fleet.md`). [`run`] carries out those of its cells that the [`Store`] lacks, or a [`Share`] of
//! them, [`status`] says what is done, and [`collect`] writes one dataset. The store is that of the [grid](crate::grid): several
//! processes may use one at a time, and a kill at any moment loses the cells in hand.
//!
//! ```no_run
//! use windlass_lab::grid::Cores;
//! use windlass_lab::sweep::{Plan, Share, Store, collect, measure, run};
//! # use windlass_lab::grid::Watch;
//! # fn example(watch: &dyn Watch) -> Result<(), Box<dyn std::error::Error>> {
//! let plan = Plan::load("plan.toml".as_ref())?;
//! let out = std::path::Path::new("results");
//! let store = Store::open(out)?;
//! let done = run(&plan, &store, Share::WHOLE, &Cores { jobs: 0, run: measure }, watch);
//! println!("{} cells run, {} packets", done.tally.made, done.tally.packets);
//! let collected = collect(&plan, &store, out)?;
//! println!("{} cells in runs.csv, {} failed, {} missing", collected.done, collected.failed, collected.missing);
//! # Ok(())
//! # }
//! ```

mod axes;
mod collect;
mod measure;
mod plan;
mod read;
mod run;

pub use axes::{Axis, set};
pub use collect::{Collected, Group, MEASURES, collect};
pub use measure::measure;
pub use plan::{Plan, Settings};
pub use read::PlanError;
pub use run::{Share, Status, Store, forget_failed, run, status};

#[cfg(test)]
mod tests;
