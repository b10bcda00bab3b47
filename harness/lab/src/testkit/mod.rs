//! What tests of stacks and of the command share.

mod identification;
mod passive;
mod results;

pub use identification::{
    SCENARIOS, limits, logged, logged_as, look, natives, place, received, recorded_traces, trace,
};
pub use passive::{Confusion, Flow, HELD_OUT, KNOWN, all, flows};
pub use results::{flow, outcome, sample};
