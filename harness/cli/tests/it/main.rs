//! The `windlass` binary as a user runs it.

mod bbr_cases;
mod book;
mod capture;
mod choose;
mod citations;
mod cli;
mod command;
mod conformance;
mod controllers_table;
mod datasets;
mod explain;
mod grids;
mod interrupt;
mod judged;
mod outputs;
mod own;
mod papers;
mod qlog_commands;
mod qlog_inputs;
mod qlog_pages;
mod sweep;
mod writer;
