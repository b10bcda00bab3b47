//! The evaluation scenarios of the documents, with their parameters and their metrics.
//!
//! A [`Document`] has [`Experiment`]s under the ids of its specification. An experiment
//! is a list of [`Cell`]s: a scenario, how it is watched, and what is read off. A cell is
//! run once per repetition, each with a seed of its own, and a [`Record`] of each run is
//! kept under a key of everything that decides its content, so that no run is made
//! twice. From the records come means with confidence intervals, what follows from
//! several cells together, figures, and a page per document.
//!
//! Every run is checked while it goes on: no packet appears or disappears, no queue is
//! longer than its limit, no link sends more than it can ([`watch`]).

mod cell;
mod chart;
mod claim;
mod document;
mod extent;
mod keep;
mod published;
mod quantity;
mod result;
mod trail;
mod watch;

mod arumaithurai;
mod chan;
mod cho;
mod sharma;

pub use cell::{Cell, Figure, Measure, Measured, Read};
pub use claim::{Answer, Claim};
pub use document::{DOCUMENTS, Document, Experiment, Plan};
pub use extent::Extent;
pub use keep::{CODE, Keep, Record, key};
pub use published::{Bound, Published, published};
pub use quantity::{Curve, Mean, Quantity, mean_of};
pub use result::{CellResult, Comparison, Derived, Drawn, ExperimentResult, SCHEMA, conclude};
pub use trail::{FlowTrail, Trail};
pub use watch::{Broken, watch};

#[cfg(test)]
mod tests;
