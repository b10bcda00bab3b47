//! What can run a scenario, and the logs it writes.

mod guest;
mod kinds;
mod live;
mod logs;
mod real;
mod simulated;

pub use guest::Guest;
pub use kinds::{RunError, Stack};
pub use live::Live;
pub use logs::{LogDetail, LogSettings, Logs, QLOG_DIR};
pub use real::{Run, RunLive};
