//! The `windlass` [command](cli), its [reports](report) and the [book] it generates.

pub mod book;
pub mod cli;
pub mod report;

pub use windlass_adapter::{self, NamedController};
pub use windlass_controllers;
