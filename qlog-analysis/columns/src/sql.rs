//! SQL queries on a dataset, run by DataFusion in this process, or by a cluster of Apache Ballista. Texts of traces are escaped in the
//! results.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::error::DataFusionError;
use datafusion::execution::context::SQLOptions;
use datafusion::prelude::{DataFrame, SessionContext};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::reader::SerializedFileReader;
use windlass_qlog_analysis::escape::{self, Printed};

use crate::dataset::files;
use crate::{PARTITIONS, Table};

#[cfg(feature = "ballista")]
mod cluster;
mod examples;

#[cfg(feature = "ballista")]
pub use cluster::query_on;
pub use examples::{EXAMPLES, Example};

/// Error of a query.
#[derive(thiserror::Error)]
pub enum SqlError {
    /// It is no dataset, or cannot be read.
    #[error("{0} is no dataset; `windlass qlog parquet` makes one")]
    NoDataset(String),
    /// Its files cannot be listed.
    #[error(transparent)]
    Files(#[from] crate::Error),
    /// No file of it can be read, or one is damaged within.
    #[error("cannot read {file}: {reason}", file = .file.display())]
    Unreadable {
        /// The first of its files, or that one.
        file: PathBuf,
        /// Error of the reader.
        reason: String,
    },
    /// The scheduler of a cluster does not answer.
    #[cfg(feature = "ballista")]
    #[error("cannot reach the scheduler {scheduler}: {source}")]
    Unreachable {
        /// `HOST:PORT`, as given.
        scheduler: String,
        /// The error of the connection.
        source: std::io::Error,
    },
    /// A cluster would answer another question.
    #[cfg(feature = "ballista")]
    #[error(
        "Ballista loses IGNORE NULLS of {0}; ask in one process, or find the row that has the value, \
         as the example window-at-loss does"
    )]
    IgnoreNulls(String),
    /// The question is wrong, or the answer could not be found.
    #[error("{0}")]
    Query(#[from] DataFusionError),
    /// The answer could not be written.
    #[error("cannot write the answer: {0}")]
    Write(#[from] arrow::error::ArrowError),
    /// The answer could not be written.
    #[error("cannot write the answer: {0}")]
    Output(#[from] std::io::Error),
}

/// Its text, since that is what `?` in `main` prints.
impl std::fmt::Debug for SqlError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Format of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Columns aligned with spaces.
    Table,
    /// A JSON object a row.
    Json,
    /// CSV with a header line.
    Csv,
}

/// Result of a query.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Answered {
    /// Rows of the answer.
    pub rows: u64,
    /// Files whose rows are missing in it, since they cannot be read as Parquet, each with the reason.
    pub left_out: Vec<(PathBuf, String)>,
}

/// Asks the dataset in `directory` a question and writes the answer, row by row unless it is
/// a table.
///
/// Each table of the dataset is a table of its name, with the columns the dataset is
/// partitioned by at its end. A question changes nothing: what would is refused. Files that cannot be read are left out.
///
/// # Errors
/// It is no dataset, none of its files can be read, the question is wrong, or the answer cannot be written.
pub fn query(directory: &Path, question: &str, format: Format, out: &mut dyn Write) -> Result<Answered, SqlError> {
    if !directory.join(crate::dataset::MARKER).is_file() {
        return Err(SqlError::NoDataset(directory.display().to_string()));
    }
    let (mut readable, mut left_out) = (Vec::new(), Vec::new());
    let mut found = Vec::new();
    for table in Table::ALL {
        files(&directory.join(table.name()), &mut found)?;
    }
    found.sort();
    for file in found.into_iter().filter(|file| file.extension().is_some_and(|ending| ending == "parquet")) {
        match unreadable(&file) {
            Some(reason) => left_out.push((file, reason)),
            None => readable.push(file),
        }
    }
    if let ([], Some((file, reason))) = (&readable[..], left_out.first()) {
        return Err(SqlError::Unreadable { file: file.clone(), reason: reason.clone() });
    }
    let without = if left_out.is_empty() { None } else { Some(linked(directory, &readable)?) };
    let context = SessionContext::new();
    let root = std::path::absolute(without.as_ref().map_or(directory, tempfile::TempDir::path))?;
    register(&context, &root.display().to_string(), Table::schema)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    // What is within lists and structures is escaped here.
    let mut printed = Printed::new(out);
    let answered = async { answer(planned(&context, question).await?, format, &mut printed).await };
    let rows = runtime.block_on(answered).map_err(|error| match &error {
        SqlError::Query(cause)
            if matches!(cause.find_root(), DataFusionError::ParquetError(_) | DataFusionError::ArrowError(..)) =>
        {
            let damaged = readable.into_iter().find_map(|file| Some((damaged(&file)?, file)));
            damaged.map_or(error, |(reason, file)| SqlError::Unreadable { file, reason })
        }
        _ => error,
    })?;
    printed.into_inner()?;
    Ok(Answered { rows, left_out })
}

/// Why a file is no Parquet file with its end, where its columns stand (a file that was cut has none).
fn unreadable(file: &Path) -> Option<String> {
    let opened = File::open(file).map_err(|error| error.to_string());
    let read = opened.and_then(|file| SerializedFileReader::new(file).map_err(|error| error.to_string()));
    read.err()
}

/// Error in reading the rows of a file; `None` if all can be read.
fn damaged(file: &Path) -> Option<String> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(file).ok()?).and_then(|builder| builder.build());
    let wrong = match reader {
        Ok(rows) => rows.filter_map(Result::err).next()?.to_string(),
        Err(error) => error.to_string(),
    };
    Some(wrong)
}

/// A directory with links to `files` of `directory`, in the same folders.
fn linked(directory: &Path, files: &[PathBuf]) -> Result<tempfile::TempDir, SqlError> {
    #[cfg(unix)]
    use std::os::unix::fs::symlink as link;
    #[cfg(not(unix))]
    let link = |from, to| std::fs::copy(from, to).map(drop);
    let links = tempfile::tempdir()?;
    for file in files {
        let to = links.path().join(file.strip_prefix(directory).unwrap_or(file));
        to.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        link(std::path::absolute(file)?, to)?;
    }
    Ok(links)
}

/// The plan of a question that changes nothing.
async fn planned(context: &SessionContext, question: &str) -> Result<DataFrame, SqlError> {
    let only_asks = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    Ok(context.sql_with_options(question, only_asks).await?)
}

/// Writes the rows of the answer and counts them.
async fn answer(frame: DataFrame, format: Format, out: &mut dyn Write) -> Result<u64, SqlError> {
    let mut rows = 0;
    if format == Format::Table {
        let schema = Arc::new(frame.schema().as_arrow().clone());
        let mut batches = frame.collect().await?;
        if batches.is_empty() {
            batches.push(RecordBatch::new_empty(schema));
        }
        rows += batches.iter().map(|batch| batch.num_rows() as u64).sum::<u64>();
        let batches = batches.iter().map(|batch| escaped(batch, format)).collect::<Result<Vec<_>, _>>()?;
        writeln!(out, "{}", arrow::util::pretty::pretty_format_batches(&batches)?)?;
        return Ok(rows);
    }
    let mut writer = match format {
        Format::Csv => Writer::Csv(Box::new(arrow::csv::Writer::new(out))),
        _ => Writer::Json(Box::new(arrow::json::LineDelimitedWriter::new(out))),
    };
    let mut stream = frame.execute_stream().await?;
    writer.write(&escaped(&RecordBatch::new_empty(stream.schema()), format)?)?;
    while let Some(batch) = std::future::poll_fn(|task| stream.as_mut().poll_next(task)).await {
        let batch = batch?;
        rows += batch.num_rows() as u64;
        writer.write(&escaped(&batch, format)?)?;
    }
    if let Writer::Json(writer) = &mut writer {
        writer.finish()?;
    }
    Ok(rows)
}

/// The rows with texts that are one line each, and no formulas in CSV. JSON has escapes of its own.
fn escaped(batch: &RecordBatch, format: Format) -> Result<RecordBatch, SqlError> {
    let escape = match format {
        Format::Table => escape::line,
        Format::Csv => escape::cell,
        Format::Json => return Ok(batch.clone()),
    };
    let schema = batch.schema();
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for (field, column) in schema.fields().iter().zip(batch.columns()) {
        let text = match field.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
            DataType::Dictionary(_, values) => **values == DataType::Utf8,
            _ => false,
        };
        let name = escape::line(field.name());
        if text {
            let column = cast(column, &DataType::Utf8)?;
            let escaped: StringArray = column.as_string::<i32>().iter().map(|text| text.map(escape)).collect();
            columns.push(Arc::new(escaped) as ArrayRef);
            fields.push(Field::new(name, DataType::Utf8, true));
        } else {
            columns.push(Arc::clone(column));
            fields.push(field.as_ref().clone().with_name(name));
        }
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}

/// Writes rows as they come.
enum Writer<'w> {
    Csv(Box<arrow::csv::Writer<&'w mut dyn Write>>),
    Json(Box<arrow::json::LineDelimitedWriter<&'w mut dyn Write>>),
}

impl Writer<'_> {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), SqlError> {
        match self {
            Writer::Csv(writer) => writer.write(batch)?,
            Writer::Json(writer) => writer.write(batch)?,
        }
        Ok(())
    }
}

/// Makes the tables of the dataset at `root`, a directory or a URL, known under their names; one that has no rows is there all the same.
/// `schema` is that of its tables.
fn register(context: &SessionContext, root: &str, schema: impl Fn(Table) -> SchemaRef) -> Result<(), SqlError> {
    for table in Table::ALL {
        let url = ListingTableUrl::parse(format!("{}/{}/", root.trim_end_matches('/'), table.name()))?;
        let options = ListingOptions::new(Arc::new(ParquetFormat::default()))
            .with_file_extension(".parquet")
            .with_table_partition_cols(PARTITIONS.map(|name| (name.to_owned(), DataType::Utf8)).to_vec());
        let config = ListingTableConfig::new(url).with_listing_options(options).with_schema(schema(table));
        context.register_table(table.name(), Arc::new(ListingTable::try_new(config)?))?;
    }
    Ok(())
}
