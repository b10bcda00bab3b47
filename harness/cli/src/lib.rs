//! The `windlass` [command](cli), its [reports](report) and the [book] it generates.

pub mod book;
pub mod cli;
pub mod report;
