//! Other controllers on the events of a trace that any stack wrote.
//!
//! A trace with packets and ACK frames tells what its sender knew and when. [`Rebuild`]
//! makes the occurrences of one connection of it: departures, ACK frames with what they
//! acknowledged, marked and lost, timers. A [`Rerun`] gives them to a controller as the
//! [events](windlass_controllers::Event) an adapter would. What the controller decides has
//! no effect on what follows, for the network of a trace does not react: it answers what
//! the controller would have done at that moment, not what would have come of it.
//!
//! [`what_if`] runs controllers of the user's choice beside the window the stack told;
//! [`identify`] runs all of the catalogue and finds whose window comes nearest.

mod candidate;
mod facts;
mod frame;
mod identify;
mod rebuild;
mod rerun;
mod select;
mod series;
mod what_if;

pub use facts::{Facts, Missing};
pub use frame::{Frame, Occurrence, Told};
pub use identify::{Guess, Identified, identify};
pub use rebuild::{LossSource, Rebuild};
pub use rerun::Rerun;
pub use select::{Connection, HindsightError};
pub use series::{Point, Series};
pub use what_if::{Rerunning, WhatIf, what_if};
