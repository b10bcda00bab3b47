//! Golden traces: what every controller does on the scenario that shows its character,
//! frozen as text in `harness/lab/golden/`.
//!
//! `tests/golden.rs` runs them again and compares; it says how to look at a change and how
//! to accept it. `windlass explain` and the book draw them.

mod draw;
mod record;
mod stage;
mod trace;

pub use draw::Picture;
pub use record::record;
pub use stage::{STAGES, Stage};
pub use trace::{Line, Malformed, Trace};
