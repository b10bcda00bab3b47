//! The `windlass` binary as a user runs it.

mod book;
mod cli;
mod command;
mod conformance;
mod explain;
mod interrupt;
mod outputs;
mod papers;
mod qlog_commands;
mod qlog_pages;
