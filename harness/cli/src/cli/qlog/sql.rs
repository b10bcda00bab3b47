//! `windlass qlog sql`: SQL queries over a dataset.

use std::path::PathBuf;

use clap::ValueEnum;

use crate::cli::CliError;

/// Query a dataset of `windlass qlog parquet` in SQL
///
/// Tables: packets, recovery, events, state_variables, unknown, connections, paths, each with
/// the columns controller, stack and scenario. Files of it that are broken are left out and named. `--example` lists example queries; the name of one
/// in place of the SQL runs it.
#[derive(Debug, clap::Args)]
pub(super) struct Sql {
    /// Directory of the dataset
    #[arg(value_name = "DIR", required_unless_present = "example")]
    dataset: Option<PathBuf>,
    /// The query in SQL, or the name of an example
    #[arg(value_name = "SQL", required_unless_present = "example")]
    question: Option<String>,
    /// How to print the rows
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// List the example queries, or print the SQL of one
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    example: Option<String>,
    /// Let a cluster of Apache Ballista answer, by its scheduler; DIR is one that all nodes see, or a URL such as s3://BUCKET/FOLDER
    #[cfg(feature = "ballista")]
    #[arg(long, value_name = "HOST:PORT", value_parser = scheduler)]
    ballista: Option<String>,
}

#[cfg(feature = "ballista")]
fn scheduler(typed: &str) -> Result<String, String> {
    let port = typed.rsplit_once(':').filter(|(host, _)| !host.is_empty()).map(|(_, port)| port.parse::<u16>());
    if let Some(Ok(1..)) = port { Ok(typed.to_owned()) } else { Err("expected HOST:PORT".to_owned()) }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Format {
    /// Aligned columns
    Table,
    /// A JSON object a row
    Json,
    /// CSV with a header
    Csv,
}

impl Sql {
    #[cfg(not(feature = "sql"))]
    pub(super) fn run(&self) -> Result<(), CliError> {
        Err(super::not_built("SQL", "sql"))
    }

    #[cfg(feature = "sql")]
    pub(super) fn run(&self) -> Result<(), CliError> {
        use windlass_qlog_columns::sql::{self, EXAMPLES, SqlError};

        use super::files::leave_out;
        use super::output::{Compression, Output, unwritable};
        #[cfg(feature = "ballista")]
        use crate::cli::error::shown;
        use crate::cli::error::{print, unreadable};

        let named = |name: &str| EXAMPLES.iter().find(|example| example.name == name);
        if let Some(name) = &self.example {
            let text: String = match (name.as_str(), named(name)) {
                ("", _) => EXAMPLES.iter().map(|one| format!("{:<16}{}\n", one.name, one.question)).collect(),
                (_, Some(one)) => format!("-- {}\n{}\n", one.question, one.sql),
                (name, None) => {
                    let names: Vec<&str> = EXAMPLES.iter().map(|one| one.name).collect();
                    let message = format!("there is no example {name:?}; there are {}", names.join(", "));
                    return Err(CliError::Usage(message));
                }
            };
            return print(&text);
        }
        let (Some(dataset), Some(question)) = (&self.dataset, &self.question) else { return Ok(()) };
        let question = named(question).map_or(question.as_str(), |one| one.sql);
        let format = match self.format {
            Format::Table => sql::Format::Table,
            Format::Json => sql::Format::Json,
            Format::Csv => sql::Format::Csv,
        };
        let mut output = Output::open(None, Compression::None, &[])?;
        let failed = |error| match error {
            error @ (SqlError::NoDataset(_) | SqlError::Query(_)) => CliError::Usage(error.to_string()),
            SqlError::Output(error) => unwritable(None, &error),
            SqlError::Unreadable { file, reason } => unreadable(&file, &reason),
            #[cfg(feature = "ballista")]
            error @ SqlError::IgnoreNulls(_) => CliError::Usage(error.to_string()),
            error => CliError::Failed(error.to_string()),
        };
        #[cfg(feature = "ballista")]
        if let Some(scheduler) = &self.ballista {
            let dataset = dataset.to_str().ok_or_else(|| {
                CliError::Usage(format!("{}: expected a directory or a URL in UTF-8", shown(dataset)))
            })?;
            sql::query_on(scheduler, dataset, question, format, &mut output).map_err(failed)?;
            return output.finish();
        }
        let answered = sql::query(dataset, question, format, &mut output).map_err(failed)?;
        for (file, reason) in &answered.left_out {
            if let CliError::Unreadable { reason, .. } = unreadable(file, reason) {
                leave_out(&reason);
            }
        }
        output.finish()
    }
}
