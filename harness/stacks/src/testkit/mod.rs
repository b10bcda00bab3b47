//! Tests shared by all stacks.

pub mod careful_resume;
pub mod faults;
mod fixed_window;
mod logs;
mod matrix;
mod twice;

pub use fixed_window::fixed_windows;
pub use logs::Logs;
pub use matrix::matrix;
pub use twice::{busy_link, record_steps, twice};
