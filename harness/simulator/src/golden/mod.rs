//! Golden traces: what every controller does on the scenario that shows what is particular to
//! it, frozen as text in `harness/simulator/golden/`.
//!
//! `tests/it/golden.rs` runs them again and compares; it says how to look at a change and how
//! to accept it. `windlass explain` and the book draw them.

mod record;
mod scenario;
mod trace;

pub use record::record;
pub use scenario::{GoldenScenario, SCENARIOS};
pub use trace::{Line, Malformed, Trace};
