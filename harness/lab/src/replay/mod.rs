//! Offline replay: other controllers on the events of a trace that any stack wrote.
//!
//! A trace with packets and ACK frames shows what its sender knew and when. [`Rebuild`]
//! makes the [`TraceEvent`]s of one connection of it: packets sent, ACK frames with what they
//! acknowledged, marked and lost, timers. A [`Rerun`] gives them to a controller as the
//! [events](windlass_controllers::Event) an adapter would. What the controller decides has
//! no effect on what follows, since the network of a trace does not react: a replay shows what
//! the controller would have decided at each moment, not what would have followed from it.
//!
//! [`replay_controllers`] runs controllers of the user's choice beside the window the stack logged;
//! [`identify`] runs all of the catalogue and finds whose window comes nearest; [`answer`] asks the trace itself, the
//! windows and the arrivals, and [`of_one_sender`] joins the answers of several traces.

mod contents;
mod controllers;
mod event;
mod identify;
mod rebuild;
mod rerun;
mod select;
mod series;

pub use contents::{Missing, TraceContents};
pub use controllers::{ControllerReplay, WindowStatistics, replay_controllers};
pub use event::{Frame, StackMetrics, TraceEvent};
pub use identify::{
    Answer, Classification, Guess, Identified, NAMED_FROM, OneSender, TwoControllers, Windows, answer, by_arrivals,
    identify, observe, of_one_sender,
};
pub use rebuild::{LossSource, Rebuild};
pub use rerun::Rerun;
pub use select::{Connection, ReplayError};
pub use series::{Point, Series};
