//! A row a connection: what is said of it, and its measures.

use std::sync::{Arc, LazyLock};

use arrow::array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use windlass_qlog_analysis::metrics::{Measured, Measures, Shares};

use crate::Error;
use crate::schema::{always, perhaps};

/// Reads one word of a connection.
type Word = fn(&Measured) -> Option<&str>;

/// Columns of words, with what fills them.
const WORDS: [(&str, Word); 13] = [
    ("connection", |one| Some(&one.group)),
    ("peer", |one| one.measures.peer.as_deref()),
    ("destination", |one| one.measures.peer.as_deref().map(host)),
    ("title", |one| Some(&one.trace.title)),
    ("vantage", |one| Some(one.trace.vantage.name())),
    ("implementation", |one| Some(&one.trace.implementation)),
    ("schema_version", |one| Some(one.trace.schema_version.name())),
    ("version", |one| Some(&one.trace.version)),
    ("framing", |one| Some(one.trace.framing.name())),
    ("rtt_unit", |one| Some(one.trace.units.rtt.unwrap_or("ms"))),
    ("time_unit", |one| one.trace.units.time),
    ("pacing_rate_unit", |one| Some(one.trace.units.pacing_rate.unwrap_or("bit/s"))),
    ("losses", |one| one.measures.losses.map(|source| source.name())),
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
    let mut fields = vec![always("file", DataType::Utf8), always("trace", DataType::UInt32)];
    fields.extend(WORDS.map(|(name, _)| perhaps(name, DataType::Utf8)));
    fields.push(always("events", DataType::UInt64));
    fields.extend(Measures::COLUMNS.iter().map(|(name, _)| perhaps(name, DataType::Float64)));
    Arc::new(Schema::new(fields))
});

/// A record batch of connections, each with the file it comes from; the columns are those of
/// [`Table::Connections`](crate::Table::Connections), in the units of `docs/metrics.md`.
///
/// # Errors
/// If the columns do not fit together.
pub fn connections(rows: &[(&str, &Measured)]) -> Result<RecordBatch, Error> {
    let text = |get: &dyn Fn(&(&str, &Measured)) -> Option<String>| -> ArrayRef {
        Arc::new(StringArray::from_iter(rows.iter().map(get)))
    };
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values(rows.iter().map(|(file, _)| file))),
        Arc::new(UInt32Array::from_iter_values(rows.iter().map(|(_, one)| one.trace.index))),
    ];
    for (_, get) in WORDS {
        columns.push(text(&|(_, one)| get(one).filter(|word| !word.is_empty()).map(str::to_owned)));
    }
    columns.push(Arc::new(UInt64Array::from_iter_values(rows.iter().map(|(_, one)| one.measures.events))));
    for (_, get) in Measures::COLUMNS {
        columns.push(Arc::new(Float64Array::from_iter(rows.iter().map(|(_, one)| get(&one.measures)))));
    }
    Ok(RecordBatch::try_new(SCHEMA.clone(), columns)?)
}

/// `batch` of [`connections`] with a column of their controllers, and if it is told how they
/// share, columns of that: what is one number for all stands in every row.
///
/// # Errors
/// If the columns do not fit together.
pub fn sharing(batch: &RecordBatch, rows: &[(&str, &Measured)], shares: Option<&Shares>) -> Result<RecordBatch, Error> {
    let mut fields: Vec<Arc<Field>> = batch.schema().fields().iter().cloned().collect();
    let mut columns = batch.columns().to_vec();
    let mut add = |name: &str, of: DataType, column: ArrayRef| {
        fields.push(Arc::new(perhaps(name, of)));
        columns.push(column);
    };
    let controllers = rows.iter().map(|(_, one)| one.measures.controller.as_deref());
    add("controller", DataType::Utf8, Arc::new(StringArray::from_iter(controllers)));
    if let Some(shares) = shares {
        for (name, value) in shares.columns() {
            add(name, DataType::Float64, Arc::new(Float64Array::from(vec![value; rows.len()])));
        }
        add("shared_goodput_mbps", DataType::Float64, Arc::new(Float64Array::from(shares.goodput.clone())));
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
