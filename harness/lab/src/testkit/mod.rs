//! What tests of stacks and of the command share.

mod identification;
mod results;

pub use identification::{SCENARIOS, look, natives, place, recorded_traces, trace};
pub use results::{flow, outcome, sample};
