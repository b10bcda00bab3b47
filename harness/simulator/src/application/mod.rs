//! Applications of flows at work, on the simulator's ends as on those of a real stack.

mod groups;
mod player;
mod source;

pub use groups::Groups;
pub use player::Player;
pub use source::Source;
