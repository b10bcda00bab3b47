//! A table written bit by bit, as CSV and as Parquet.

use std::path::Path;

use super::Table;
use crate::output::{OutputFile, StoreError};

/// The files of a table of which the rows come in parts. Dropped before [`TableFile::finish`], what was there before is there
/// still.
pub struct TableFile {
    name: &'static str,
    csv: csv::Writer<OutputFile>,
    #[cfg(feature = "parquet")]
    parquet: parquet::arrow::ArrowWriter<OutputFile>,
}

impl TableFile {
    /// The files in `out`, which is made if need be, of tables with the name and the columns of `table`: `NAME.csv`, and with the
    /// feature `parquet` also `NAME.parquet`.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn open(out: &Path, table: &Table) -> Result<TableFile, StoreError> {
        std::fs::create_dir_all(out).map_err(|source| StoreError::Unwritable { path: out.to_owned(), source })?;
        let file = |ending: &str| OutputFile::open::<&Path>(&out.join(format!("{}.{ending}", table.name)), &[]);
        let mut csv = csv::Writer::from_writer(file("csv")?);
        table.write_head(&mut csv).map_err(|error| failed(table.name, &error))?;
        Ok(TableFile {
            name: table.name,
            csv,
            #[cfg(feature = "parquet")]
            parquet: super::parquet::writer(table, file("parquet")?).map_err(|error| failed(table.name, &error))?,
        })
    }

    /// Adds the rows of `table`.
    ///
    /// # Errors
    /// They cannot be written, or its columns are others.
    pub fn write(&mut self, table: &Table) -> Result<(), StoreError> {
        #[cfg(feature = "parquet")]
        {
            let batch = super::parquet::batch(table).map_err(|error| failed(self.name, &error))?;
            self.parquet.write(&batch).map_err(|error| failed(self.name, &error))?;
        }
        table.write_rows(&mut self.csv).map_err(|error| failed(self.name, &error))
    }

    /// Puts the files into their places.
    ///
    /// # Errors
    /// They cannot be written, or not moved there.
    pub fn finish(self) -> Result<(), StoreError> {
        #[cfg(feature = "parquet")]
        self.parquet.into_inner().map_err(|error| failed(self.name, &error))?.finish()?;
        self.csv.into_inner().map_err(|error| failed(self.name, &error))?.finish()
    }
}

fn failed(table: &str, error: &dyn std::fmt::Display) -> StoreError {
    StoreError::Table { table: table.to_owned(), reason: error.to_string() }
}
