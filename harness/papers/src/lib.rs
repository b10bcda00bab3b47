//! The experiments of the documents, with their parameters and their metrics.
//!
//! A [`Document`] has [`Experiment`]s under the ids of its specification. An experiment
//! is a list of [`Cell`]s: a scenario, how it is observed, and what is read off. A cell is
//! run once per repetition, each with a seed of its own, and a [`Record`] of each run is
//! kept in the [grid's store](windlass_lab::grid), so that no run is made twice. From the records come means with confidence intervals, what
//! follows from several cells together, figures, and a page per document.
//!
//! Every run is checked while it goes on: no packet appears or disappears, no queue is
//! longer than its limit, no link sends more than it can ([`watch`]). A run that shows an artefact,
//! one of many flows that are alike with the link to itself or a window at its cap, is an error too.

mod artefact;
mod cell;
mod chart;
mod claim;
mod document;
pub mod documents;
mod mutation;
mod observe;
mod published;
mod quantity;
mod result;
mod template;
mod time_series;
mod watch;

pub use cell::{Cell, Figure, Measure, Measured, Read, Settings};
pub use claim::{Claim, Criterion, Mutant, Trial};
pub use document::{Document, Experiment, Plan, Transport, conclude, nothing};
pub use mutation::{TrialError, TrialResult, TrialRuns, Tried, run_trial, trial_cells, trial_packets};
pub use observe::{ObserveError, Record, ResultCache, code, observe};
pub use published::{Bound, Published, published};
pub use quantity::{Curve, Mean, Number, Quantity, mean_of};
pub use result::{Answer, BarGroup, CellResult, Chart, ChartLine, Comparison, Derived, ExperimentResult, SCHEMA};
pub use template::{Part, Scale, Template};
pub use time_series::{FlowTimeSeries, TimeSeries};
pub use watch::{WatchError, watch};
