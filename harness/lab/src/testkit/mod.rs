//! What tests of stacks and of the command share.

mod confusion;
mod identification;
mod passive;
mod results;

pub use confusion::{AtShare, Confusion, Unit, renamed};
pub use identification::{
    SCENARIOS, limits, logged, logged_as, look, natives, place, received, recorded_traces, trace,
};
pub use passive::{HELD_OUT, KNOWN, all, changed, flows, kept, senders};
pub use results::{flow, outcome, sample};
