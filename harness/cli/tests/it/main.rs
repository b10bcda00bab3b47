//! The `windlass` binary as a user runs it.

mod book;
mod capture;
mod choose_and_judged;
mod citations;
mod cli;
mod command;
mod conformance;
mod controllers_table;
mod datasets;
mod grids;
mod interrupt;
mod outputs;
mod own;
mod papers;
mod qlog_commands;
mod qlog_inputs;
mod qlog_pages;
mod sweep;
mod writer;
