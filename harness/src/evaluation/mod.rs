//! Running controllers through scenarios on stacks.

mod job;
mod live;
mod logs;
mod real;
mod scenarios;
mod simulated;
mod stack;

pub use job::{Job, Stopped, execute};
pub use live::Live;
pub use logs::{LogDetail, LogSettings, Logs};
pub use scenarios::{BUILTIN, Builtin, Source, scene};
pub use stack::{RunError, Stack};
