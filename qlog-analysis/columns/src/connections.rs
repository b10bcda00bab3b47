//! A row for each connection or path: its description and its measures.

use std::sync::{Arc, LazyLock};

use arrow::array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use windlass_qlog_analysis::metrics::{Measured, Measures, Shares};

use crate::Error;

/// A connection of a file, or one of its paths.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The file it comes from.
    pub file: &'a str,
    /// The connection.
    pub measured: &'a Measured,
    /// Number of the path; `None` for the connection as a whole.
    pub path: Option<u32>,
    /// Its measures.
    pub measures: &'a Measures,
}

impl<'a> Row<'a> {
    /// A connection as a whole.
    #[must_use]
    pub fn whole(file: &'a str, measured: &'a Measured) -> Row<'a> {
        Row { file, measured, path: None, measures: &measured.measures }
    }

    /// Its paths, where there are several.
    pub fn paths(file: &'a str, measured: &'a Measured) -> impl Iterator<Item = Row<'a>> {
        measured.paths.iter().map(move |(path, measures)| Row { file, measured, path: Some(*path), measures })
    }
}

/// Reads one word of a row.
type Word = for<'a> fn(&Row<'a>) -> Option<&'a str>;

/// Columns of words, with what fills them.
const WORDS: [(&str, Word); 13] = [
    ("connection", |row| Some(&row.measured.group)),
    ("peer", |row| row.measures.peer.as_deref()),
    ("destination", |row| row.measures.peer.as_deref().map(host)),
    ("title", |row| Some(&row.measured.trace.title)),
    ("vantage", |row| Some(row.measured.trace.vantage.name())),
    ("implementation", |row| Some(&row.measured.trace.implementation)),
    ("schema_version", |row| Some(row.measured.trace.schema_version.name())),
    ("version", |row| Some(&row.measured.trace.version)),
    ("framing", |row| Some(row.measured.trace.framing.name())),
    ("rtt_unit", |row| Some(row.measured.trace.units.rtt.unwrap_or("ms"))),
    ("time_unit", |row| row.measured.trace.units.time),
    ("pacing_rate_unit", |row| Some(row.measured.trace.units.pacing_rate.unwrap_or("bit/s"))),
    ("losses", |row| row.measures.losses.map(|source| source.name())),
];

/// An address without its port.
fn host(address: &str) -> &str {
    if let Some((host, _)) = address.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return host;
    }
    match address.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') && port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => address,
    }
}

pub(crate) static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    let mut fields = vec![Field::new("file", DataType::Utf8, false), Field::new("trace", DataType::UInt32, false)];
    fields.extend(WORDS.map(|(name, _)| Field::new(name, DataType::Utf8, true)));
    fields.push(Field::new("path", DataType::UInt32, true));
    fields.push(Field::new("events", DataType::UInt64, false));
    fields.extend(Measures::COLUMNS.iter().map(|(name, _)| Field::new(*name, DataType::Float64, true)));
    Arc::new(Schema::new(fields))
});

/// A record batch of connections or paths; the columns are those of [`Table::Connections`](crate::Table::Connections), in
/// the units of `docs/metrics.md`.
///
/// # Errors
/// If the columns do not fit together.
pub fn connections(rows: &[Row<'_>]) -> Result<RecordBatch, Error> {
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.file))),
        Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.measured.trace.index))),
    ];
    for (_, get) in WORDS {
        columns.push(Arc::new(StringArray::from_iter(rows.iter().map(|row| get(row).filter(|word| !word.is_empty())))));
    }
    columns.push(Arc::new(UInt32Array::from_iter(rows.iter().map(|row| row.path))));
    columns.push(Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.measures.events))));
    for (_, get) in Measures::COLUMNS {
        columns.push(Arc::new(Float64Array::from_iter(rows.iter().map(|row| get(row.measures)))));
    }
    Ok(RecordBatch::try_new(SCHEMA.clone(), columns)?)
}

/// `batch` of [`connections`] with a column of controllers and, where `shares` is given, its columns: a
/// number for all connections stands in every row but those of paths.
///
/// # Errors
/// If the columns do not fit together.
pub fn sharing(batch: &RecordBatch, rows: &[Row<'_>], shares: Option<&Shares>) -> Result<RecordBatch, Error> {
    let mut fields: Vec<Arc<Field>> = batch.schema().fields().iter().cloned().collect();
    let mut columns = batch.columns().to_vec();
    let mut add = |name: &str, of: DataType, column: ArrayRef| {
        fields.push(Arc::new(Field::new(name, of, true)));
        columns.push(column);
    };
    let controllers = rows.iter().map(|row| row.measures.controller.as_deref());
    add("controller", DataType::Utf8, Arc::new(StringArray::from_iter(controllers)));
    if let Some(shares) = shares {
        let whole = |row: &Row<'_>| row.path.is_none();
        for (name, value) in shares.columns() {
            let values = rows.iter().map(|row| value.filter(|_| whole(row)));
            add(name, DataType::Float64, Arc::new(Float64Array::from_iter(values)));
        }
        let mut goodput = shares.goodput.iter().copied();
        let values = rows.iter().map(|row| if whole(row) { goodput.next() } else { None });
        add("shared_goodput_mbps", DataType::Float64, Arc::new(Float64Array::from_iter(values)));
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn a_destination_has_no_port() {
        for (address, expected) in [
            ("192.0.2.1:443", "192.0.2.1"),
            ("[2001:db8::1]:443", "2001:db8::1"),
            ("2001:db8::1", "2001:db8::1"),
            ("cdn.example:8443", "cdn.example"),
            ("cdn.example", "cdn.example"),
        ] {
            assert_eq!(host(address), expected);
        }
    }
}
