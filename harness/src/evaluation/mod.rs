//! Running controllers through scenarios on stacks.

mod stack;

pub use stack::Stack;
