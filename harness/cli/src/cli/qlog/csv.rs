//! Rows as CSV.

use crate::cli::CliError;

/// Rows of cells, quoted where need be.
pub(super) struct Csv(csv::Writer<Vec<u8>>);

impl Csv {
    /// No rows yet.
    pub(super) fn new() -> Self {
        Csv(csv::Writer::from_writer(Vec::new()))
    }

    /// A row.
    pub(super) fn row<C: AsRef<[u8]>>(&mut self, cells: impl IntoIterator<Item = C>) -> Result<(), CliError> {
        self.0.write_record(cells).map_err(|error| failed(&error))
    }

    /// The text of all rows.
    pub(super) fn finish(self) -> Result<String, CliError> {
        let bytes = self.0.into_inner().map_err(|error| failed(&error))?;
        String::from_utf8(bytes).map_err(|error| failed(&error))
    }
}

/// A number, or nothing.
pub(super) fn cell(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn failed(error: &dyn std::fmt::Display) -> CliError {
    CliError::Failed(format!("cannot write CSV: {error}"))
}
