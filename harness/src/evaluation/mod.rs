//! Running controllers through scenarios on stacks.

mod guest;
mod job;
mod live;
mod logs;
mod real;
mod scenarios;
mod simulated;
mod stack;

pub use guest::Guest;
pub use job::{Job, Stopped, execute};
pub use live::Live;
pub use logs::{LogDetail, LogSettings, Logs};
pub use real::{Run, RunLive};
pub use scenarios::{BUILTIN, Builtin, Source, scene};
pub use stack::{RunError, Stack};
