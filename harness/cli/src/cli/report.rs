//! `windlass report`: the report of results that exist.

use std::path::PathBuf;

use super::CliError;
use super::error::print;
use windlass_lab::results::Results;

/// Write the report of an existing results.json
#[derive(Debug, clap::Args)]
pub(super) struct Rebuild {
    /// A results.json that `windlass run` or `windlass evaluate` wrote
    results: PathBuf,
    /// Where to write the report [default: report.html beside the results]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Rebuild {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let shown = self.results.display();
        let text = std::fs::read_to_string(&self.results)
            .map_err(|error| CliError::Usage(format!("cannot read {shown}: {error}")))?;
        let results: Results = serde_json::from_str(&text)
            .map_err(|error| CliError::Usage(format!("{shown} is not a windlass results.json: {error}")))?;
        if results.schema != windlass_lab::results::SCHEMA {
            return Err(CliError::Usage(format!(
                "{shown} has schema {:?}; expected {:?}",
                results.schema,
                windlass_lab::results::SCHEMA
            )));
        }
        let out = self.out.clone().unwrap_or_else(|| self.results.with_file_name("report.html"));
        windlass_lab::results::replace(&out, &crate::report::evaluation::page(&results.title, &text))?;
        print(&format!("{}\n", out.display()))
    }
}
