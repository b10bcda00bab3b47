//! Applications of flows at work, on the simulator's ends as on those of a real stack.

mod source;

pub use source::Source;
