//! The rows of a file, read into wherever they are to go.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read};
use std::sync::Arc;

use arrow::array::{RecordBatch, StringDictionaryBuilder, UInt32Array, UInt64Array};
use arrow::datatypes::Int32Type;
use windlass_qlog_analysis::metrics::{Measured, Shares, measure};
use windlass_qlog_analysis::model::{Batch, Trace};
use windlass_qlog_analysis::read::{Options, ReadError, Summary, read, twice};

use crate::{Error, Labels, Row, Table, Tables, connections, sharing};

/// Where rows go.
pub(crate) trait Sink {
    /// Takes rows of a table whose connections have their place in `folder`.
    fn write(&mut self, folder: &str, table: Table, batch: RecordBatch) -> Result<(), Error>;
}

/// A file whose rows are in a sink.
pub(crate) struct Filled<S> {
    pub(crate) sink: S,
    pub(crate) summary: Summary,
    pub(crate) measured: Vec<Measured>,
    /// Number of fields and events that are unknown and only counted.
    pub(crate) unknown: u64,
}

/// Reads a file, twice or more: `open` gives it from its start. All its rows but those of connections and paths go into
/// the sink that `sink` makes once the file has been read. `place` says in which folder a connection has its place. State variables are
/// read whatever `options` say.
pub(crate) fn fill<R: Read, S: Sink>(
    file: &str,
    open: impl Fn() -> io::Result<R>,
    options: &Options,
    place: &dyn Fn(&Measured) -> String,
    sink: impl FnOnce() -> Result<S, Error>,
) -> Result<Filled<S>, Error> {
    let mut known = options.clone();
    let (summary, measured) = twice(
        || open().map_err(ReadError::from),
        options,
        |input, options| {
            known = Options { state_variables: true, ..options.clone() };
            measure(input, options)
        },
    )?;
    let mut filling = Filling {
        file,
        places: measured.iter().map(|one| ((one.trace.index, one.group.clone()), place(one))).collect(),
        groups: summary.traces.iter().map(|trace| trace.group.clone()).collect(),
        parts: HashMap::new(),
        before: Vec::new(),
        unknown: BTreeMap::new(),
        sink: sink()?,
    };
    let again = open().map_err(ReadError::Io)?;
    let mut failed = None;
    let read = read(again, &known, &mut |trace, batch| {
        filling.add(trace, &batch).map_err(|error| {
            let text = error.to_string();
            failed = Some(error);
            ReadError::Stopped(text)
        })
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let again = read?;
    let unknown = filling.rest()?;
    Ok(Filled { sink: filling.sink, summary: Summary { checks: summary.checks, ..again }, measured, unknown })
}

/// The tables of a file in memory.
pub struct Loaded {
    /// What is said of the file.
    pub summary: Summary,
    /// Its connections.
    pub measured: Vec<Measured>,
    /// Rows of each table that has any, in the order of their events for each connection; connections and paths are
    /// `measured`'s.
    pub rows: BTreeMap<Table, Vec<RecordBatch>>,
}

impl Loaded {
    /// Reads a file, twice or more: `open` gives it from its start. State variables are read whatever `options` say. Takes memory for
    /// all rows.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read<R: Read>(file: &str, open: impl Fn() -> io::Result<R>, options: &Options) -> Result<Loaded, Error> {
        let nowhere = Labels::default().folder();
        let filled = fill(file, open, options, &|_| nowhere.clone(), || Ok(BTreeMap::new()))?;
        Ok(Loaded { summary: filled.summary, measured: filled.measured, rows: filled.sink })
    }
}

impl Sink for BTreeMap<Table, Vec<RecordBatch>> {
    fn write(&mut self, _: &str, table: Table, batch: RecordBatch) -> Result<(), Error> {
        self.entry(table).or_default().push(batch);
        Ok(())
    }
}

/// A record batch of the measures of connections, each with its file, and with a column of controllers; each path of a
/// connection that has several comes after it. Of how they share, what is one number for all stands in every row.
///
/// # Errors
/// If the columns do not fit together.
pub fn measures<'a>(
    measured: impl IntoIterator<Item = (&'a str, &'a Measured)>,
    shares: Option<&Shares>,
) -> Result<RecordBatch, Error> {
    let rows = measured.into_iter();
    let rows = rows.flat_map(|(file, one)| std::iter::once(Row::whole(file, one)).chain(Row::paths(file, one)));
    let rows: Vec<Row<'_>> = rows.collect();
    sharing(&connections(&rows)?, &rows, shares)
}

/// The rows of one file.
struct Filling<'a, S> {
    file: &'a str,
    /// Folder of each connection's rows, by trace and connection.
    places: HashMap<(u32, String), String>,
    /// Connection in each trace's header.
    groups: Vec<String>,
    parts: HashMap<String, Tables>,
    /// Events of each trace so far.
    before: Vec<u64>,
    /// Unknown fields and events, by trace and name.
    unknown: BTreeMap<(u32, String), u64>,
    sink: S,
}

impl<S: Sink> Filling<'_, S> {
    fn add(&mut self, trace: &Trace, batch: &Batch) -> Result<(), Error> {
        let index = trace.index as usize;
        self.before.resize(self.before.len().max(index + 1), 0);
        let before = self.before[index];
        let mut at = 0;
        while let Some(first) = batch.events.get(at) {
            let run = batch.events[at..].iter().take_while(|event| event.group == first.group).count();
            let connection = match batch.name(first.group) {
                "" => self.groups.get(index).cloned().unwrap_or_default(),
                group => group.to_owned(),
            };
            let folder = self.folder(trace.index, &connection);
            let tables = self.parts.entry(folder.clone()).or_default();
            let mut full = Vec::new();
            for event in at..at + run {
                tables.add(self.file, &connection, before, batch, event);
                if event % 1024 == 0 {
                    full.extend(tables.take_full()?);
                }
            }
            full.extend(tables.take_full()?);
            self.write(&folder, full)?;
            at += run;
        }
        self.before[index] += batch.events.len() as u64;
        for (&name, &count) in &batch.unknown {
            let key = (trace.index, batch.name(name).to_owned());
            *self.unknown.entry(key).or_default() += count;
        }
        Ok(())
    }

    fn folder(&self, trace: u32, connection: &str) -> String {
        let place = self.places.get(&(trace, connection.to_owned()));
        place.cloned().unwrap_or_else(|| Labels::default().folder())
    }

    fn write(&mut self, folder: &str, batches: Vec<(Table, RecordBatch)>) -> Result<(), Error> {
        batches.into_iter().try_for_each(|(table, batch)| self.sink.write(folder, table, batch))
    }

    /// Writes what is left, and what was not understood; how much of that there is.
    fn rest(&mut self) -> Result<u64, Error> {
        let mut parts: Vec<(String, Tables)> = self.parts.drain().collect();
        parts.sort_by(|one, other| one.0.cmp(&other.0));
        for (folder, mut tables) in parts {
            let batches = tables.take()?;
            self.write(&folder, batches)?;
        }
        let mut by_folder: BTreeMap<String, Vec<(u32, String, u64)>> = BTreeMap::new();
        let mut all = 0;
        for ((trace, name), count) in std::mem::take(&mut self.unknown) {
            let group = self.groups.get(trace as usize).cloned().unwrap_or_default();
            let first = self.places.iter().filter(|((index, _), _)| *index == trace).map(|(_, folder)| folder).min();
            let folder = match self.places.get(&(trace, group)).or(first) {
                Some(folder) => folder.clone(),
                None => Labels::default().folder(),
            };
            by_folder.entry(folder).or_default().push((trace, name, count));
            all += count;
        }
        for (folder, rows) in by_folder {
            self.sink.write(&folder, Table::Unknown, unknown(self.file, &rows)?)?;
        }
        Ok(all)
    }
}

/// Rows of what was not understood: trace, name, count.
fn unknown(file: &str, rows: &[(u32, String, u64)]) -> Result<RecordBatch, Error> {
    let mut files = StringDictionaryBuilder::<Int32Type>::new();
    let mut names = StringDictionaryBuilder::<Int32Type>::new();
    for (_, name, _) in rows {
        files.append_value(file);
        names.append_value(name);
    }
    Ok(RecordBatch::try_new(
        Table::Unknown.schema(),
        vec![
            Arc::new(files.finish()),
            Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.0))),
            Arc::new(names.finish()),
            Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.2))),
        ],
    )?)
}
