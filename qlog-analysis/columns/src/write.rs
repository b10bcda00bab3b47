//! Parquet files.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::Error;

/// Rows of a row group. What is not yet a group is held in memory, encoded.
const GROUP: usize = 1 << 17;

fn properties() -> WriterProperties {
    WriterProperties::builder().set_compression(Compression::SNAPPY).set_max_row_group_row_count(Some(GROUP)).build()
}

/// A file being written.
pub(crate) struct Output(ArrowWriter<File>);

impl Output {
    /// Makes `path`.
    pub(crate) fn new(path: &Path, schema: SchemaRef) -> Result<Output, Error> {
        let file = File::create(path).map_err(Error::at(path))?;
        Ok(Output(ArrowWriter::try_new(file, schema, Some(properties()))?))
    }

    pub(crate) fn add(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        Ok(self.0.write(batch)?)
    }

    /// Writes the end, without which it is no Parquet file.
    pub(crate) fn finish(self) -> Result<(), Error> {
        self.0.close()?;
        Ok(())
    }
}

/// Writes one record batch as a Parquet file.
///
/// # Errors
/// If `writer` cannot be written to.
pub fn single(batch: &RecordBatch, writer: impl Write + Send) -> Result<(), Error> {
    let mut writer = ArrowWriter::try_new(writer, batch.schema(), Some(properties()))?;
    writer.write(batch)?;
    writer.close()?;
    Ok(())
}
