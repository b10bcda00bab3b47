//! Tables as Parquet files.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, StringArray, UInt64Array};
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::{Table, Values};

/// Writes `table` to `path`, as [`writer`] does.
///
/// # Errors
/// The file cannot be written.
pub(super) fn save(table: &Table, path: &Path) -> Result<(), ParquetError> {
    let mut writer = writer(table, std::fs::File::create(path)?)?;
    writer.write(&batch(table)?)?;
    writer.close()?;
    Ok(())
}

/// Writes tables with the columns of `table` into `file`: Snappy-compressed, every column nullable; words are UTF-8, counts
/// `UINT_64`, numbers `DOUBLE`.
///
/// # Errors
/// The columns differ in length.
pub(super) fn writer<W: Write + Send>(table: &Table, file: W) -> Result<ArrowWriter<W>, ParquetError> {
    ArrowWriter::try_new(file, batch(table)?.schema(), Some(compressed()))
}

/// How files are written: compressed with Snappy.
pub(crate) fn compressed() -> WriterProperties {
    WriterProperties::builder().set_compression(parquet::basic::Compression::SNAPPY).build()
}

/// The table as Arrow columns, every one nullable.
///
/// # Errors
/// The columns differ in length.
pub fn batch(table: &Table) -> Result<RecordBatch, ArrowError> {
    let columns = table.columns.iter().map(|column| {
        let array: ArrayRef = match &column.values {
            Values::Text(cells) => Arc::new(StringArray::from(cells.clone())),
            Values::Count(cells) => Arc::new(UInt64Array::from(cells.clone())),
            Values::Number(cells) => Arc::new(Float64Array::from(cells.clone())),
        };
        (&*column.name, array, true)
    });
    RecordBatch::try_from_iter_with_nullable(columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Array, AsArray};
    use arrow::datatypes::{Float64Type, UInt64Type};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    #[test]
    fn every_table_reads_back() {
        let dir = tempfile::tempdir().unwrap();
        for table in super::super::tables(&crate::testkit::sample()) {
            let path = dir.path().join(table.name);
            save(&table, &path).unwrap();
            let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(&path).unwrap()).unwrap();
            let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
            assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), table.rows(), "{}", table.name);
            for column in &table.columns {
                let array = batches[0].column_by_name(&column.name).unwrap();
                for row in 0..table.rows() {
                    let there = array.is_valid(row);
                    match &column.values {
                        Values::Text(cells) => {
                            assert_eq!(there.then(|| array.as_string::<i32>().value(row)), cells[row].as_deref());
                        }
                        Values::Count(cells) => {
                            assert_eq!(there.then(|| array.as_primitive::<UInt64Type>().value(row)), cells[row]);
                        }
                        Values::Number(cells) => {
                            assert_eq!(there.then(|| array.as_primitive::<Float64Type>().value(row)), cells[row]);
                        }
                    }
                }
            }
        }
    }
}
