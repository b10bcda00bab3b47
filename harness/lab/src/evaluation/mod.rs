//! Running controllers through scenarios on stacks.

mod job;
mod scenarios;

pub use job::{Job, Stopped, execute};
pub use scenarios::{Source, scene};
