//! `windlass paper report`: a page for each document.

use std::path::PathBuf;

use super::super::error::print;
use super::run::results;
use super::{CliError, OUT, place};
use crate::report::papers;
use windlass_lab::output::replace;
use windlass_papers::documents::{self, DOCUMENTS};
use windlass_papers::{ExperimentResult, SCHEMA, Scale};
use windlass_stacks::stack::Runner;

/// Write an HTML page for each document with results
#[derive(Debug, clap::Args)]
pub(super) struct Report {
    /// Documents, separated by commas [default: all that have results]
    #[arg(value_name = "DOCUMENT", value_delimiter = ',')]
    documents: Vec<String>,
    /// Report the results of quick runs
    #[arg(long)]
    quick: bool,
    /// The directory that `windlass paper run` wrote to
    #[arg(long, value_name = "DIR", default_value = OUT)]
    out: PathBuf,
}

impl Report {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let scale = if self.quick { Scale::Quick } else { Scale::Full };
        let dir = self.out.join(place(scale, Runner::SIMULATOR.name()));
        if let Some(name) = self.documents.iter().find(|name| documents::named(name).is_none()) {
            let names: Vec<&str> = DOCUMENTS.iter().map(|document| document.name).collect();
            return Err(CliError::Usage(format!("unknown document {name:?}; expected {}", names.join(", "))));
        }
        let mut pages = String::new();
        for document in DOCUMENTS {
            if !self.documents.is_empty() && !self.documents.iter().any(|name| name == document.name) {
                continue;
            }
            let files = results(&dir, document);
            if files.is_empty() {
                continue;
            }
            let results = files.iter().map(read).collect::<Result<Vec<_>, _>>()?;
            let mut others = Vec::new();
            for stack in Runner::builtin().iter().skip(1).map(|stack| stack.name()) {
                let files = super::run::results(&self.out.join(place(scale, stack)), document);
                if !files.is_empty() {
                    others.push((stack, files.iter().map(read).collect::<Result<Vec<_>, _>>()?));
                }
            }
            let path = dir.join(format!("{}.html", document.name));
            replace(&path, papers::page(document, scale, &results, &others))?;
            pages.push_str(&format!("{}\n", path.display()));
        }
        if pages.is_empty() {
            let quick = if self.quick { " --quick" } else { "" };
            let dir = dir.display();
            return Err(CliError::Usage(format!("{dir} has no results; `windlass paper run ID{quick}` writes them")));
        }
        print(&pages)
    }
}

pub(super) fn read(path: &PathBuf) -> Result<ExperimentResult, CliError> {
    let shown = path.display();
    let text =
        std::fs::read_to_string(path).map_err(|error| CliError::Failed(format!("cannot read {shown}: {error}")))?;
    let result: ExperimentResult = serde_json::from_str(&text)
        .map_err(|error| CliError::Failed(format!("{shown} is not the result of an experiment: {error}")))?;
    if result.schema != SCHEMA {
        return Err(CliError::Failed(format!("{shown} has schema {:?}; expected {SCHEMA:?}", result.schema)));
    }
    Ok(result)
}
