//! What tests of stacks and of the command share.

mod identified;
mod plain;
mod recorded;
mod results;

pub use identified::{SCENARIOS, look, natives, place};
pub use plain::trace;
pub use recorded::recorded_traces;
pub use results::{flow, outcome, sample};
