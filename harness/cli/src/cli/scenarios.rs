//! `windlass scenarios`: the built-in scenarios.

use super::CliError;
use super::choice;
use super::error::print;
use super::text::{width, wrapped};
use windlass_lab::evaluation::Source;
use windlass_simulator::scenario::BUILTIN;

/// List the built-in scenarios, or print one to start a file of your own from
#[derive(Debug, clap::Args)]
pub(super) struct Scenarios {
    /// The scenario to print
    name: Option<String>,
}

impl Scenarios {
    pub(super) fn run(&self) -> Result<(), CliError> {
        match &self.name {
            Some(name) => print(&choice::builtin(name)?.text),
            None => print(&list()),
        }
    }
}

fn list() -> String {
    let mut text = String::new();
    for (heading, evaluated) in [("Run by `windlass evaluate`:", true), ("Examples:", false)] {
        text.push_str(&format!("{heading}\n"));
        for scenario in BUILTIN.iter().filter(|scenario| scenario.evaluated == evaluated) {
            let description = Source::builtin(scenario.name)
                .and_then(|source| source.read(Some("reno")).ok())
                .map(|scenario| scenario.description)
                .unwrap_or_default();
            text.push_str(&format!("  {}\n{}", scenario.name, wrapped(&description, 6, width())));
        }
        text.push('\n');
    }
    text.push_str("`windlass scenarios NAME` prints one; docs/scenarios.md explains the keys.\n");
    text
}
