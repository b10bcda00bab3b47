//! Applications of flows at work, on the simulator's ends as on those of a real stack.

mod player;
mod source;

pub use player::Player;
pub use source::Source;
