//! A directory of Parquet files, partitioned by [`Labels`].
//!
//! A trace's rows are in `TABLE/controller=…/stack=…/scenario=…/NAME.parquet`. Files are
//! written into a hidden directory inside and moved when all of the trace are complete, so that
//! none is ever half written.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{RecordBatch, StringDictionaryBuilder, UInt32Array, UInt64Array};
use arrow::datatypes::{Int32Type, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use windlass_qlog_analysis::metrics::{Measured, measure};
use windlass_qlog_analysis::model::{Batch, Trace};
use windlass_qlog_analysis::read::{Options, ReadError, Summary, read, twice};

use crate::{Error, Labels, Row, Table, Tables, connections};

/// The file that marks a directory as a dataset.
pub(crate) const MARKER: &str = "windlass-dataset.json";
const MARKER_TEXT: &str = "{\"schema\":\"windlass-traces/1\"}\n";
const STAGING: &str = ".windlass-";

/// A dataset being added to, trace by trace. Several threads may add at once.
#[derive(Debug)]
pub struct Dataset {
    directory: PathBuf,
    /// Its files by their names; held while files take their places.
    files: Mutex<HashMap<OsString, BTreeSet<PathBuf>>>,
}

/// Result of adding a file.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Added {
    /// Counts of the trace file.
    pub summary: Summary,
    /// Number of connections.
    pub connections: usize,
    /// Rows written to each table.
    pub rows: BTreeMap<Table, u64>,
    /// Number of fields and events that are unknown and only counted.
    pub unknown: u64,
}

impl Dataset {
    /// Name of the file that marks a directory as a dataset.
    pub const MARKER: &str = MARKER;

    /// Whether the file at `path` is a marker.
    #[must_use]
    pub fn is_marker(path: &Path) -> bool {
        let mut text = Vec::new();
        let read = File::open(path).and_then(|file| file.take(1024).read_to_end(&mut text));
        read.is_ok() && text == MARKER_TEXT.as_bytes()
    }

    /// Whether a dataset has an entry of the name of `path`.
    #[must_use]
    pub fn is_entry(path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default();
        name == MARKER || Table::ALL.iter().any(|table| name == table.name())
    }

    /// Opens the dataset in `directory`, which need not exist.
    ///
    /// # Errors
    /// It cannot be written to, or is something else than a dataset.
    pub fn open(directory: &Path) -> Result<Dataset, Error> {
        fs::create_dir_all(directory).map_err(Error::at(directory))?;
        for entry in fs::read_dir(directory).map_err(Error::at(directory))? {
            let path = entry.map_err(Error::at(directory))?.path();
            let entry = path.file_name().unwrap_or_default().to_string_lossy();
            if !Dataset::is_entry(&path) && !entry.starts_with(STAGING) {
                return Err(Error::Occupied { dir: directory.to_owned(), entry: entry.into_owned() });
            }
        }
        let marker = directory.join(MARKER);
        if !Dataset::is_marker(&marker) {
            fs::write(&marker, MARKER_TEXT).map_err(Error::at(&marker))?;
        }
        let mut found = Vec::new();
        for table in Table::ALL {
            files(&directory.join(table.name()), &mut found)?;
        }
        let mut named: HashMap<OsString, BTreeSet<PathBuf>> = HashMap::new();
        for path in found {
            named.entry(path.file_name().unwrap_or_default().to_owned()).or_default().insert(path);
        }
        Ok(Dataset { directory: directory.to_owned(), files: Mutex::new(named) })
    }

    /// Adds the traces of a file, which is read twice or more: `open` gives it from its start. Labels in `said` take precedence over the traces' own. State variables are read
    /// whatever `options` say.
    ///
    /// The rows replace those of an earlier file called `file`, which are as they were where there is an error.
    ///
    /// # Errors
    /// It cannot be read, or the rows cannot be written.
    pub fn add<R: Read>(
        &self,
        file: &str,
        open: impl Fn() -> io::Result<R>,
        said: &Labels,
        options: &Options,
    ) -> Result<Added, Error> {
        let mut known = options.clone();
        let (summary, measured) = twice(
            || open().map_err(ReadError::from),
            options,
            |input, options| {
                known = Options { state_variables: true, ..options.clone() };
                measure(input, options)
            },
        )?;
        let staging = tempfile::Builder::new().prefix(STAGING).tempdir_in(&self.directory);
        let staging = staging.map_err(Error::at(&self.directory))?;
        let name = file_name(file);
        let mut filling = Filling {
            root: staging.path().to_owned(),
            name: name.clone(),
            file,
            places: places(&measured, said),
            groups: summary.traces.iter().map(|trace| trace.group.clone()).collect(),
            parts: HashMap::new(),
            outputs: BTreeMap::new(),
            before: Vec::new(),
            unknown: BTreeMap::new(),
            added: Added { connections: measured.len(), ..Added::default() },
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
        filling.rest()?;
        filling.connections(&measured, said)?;
        let mut added = filling.finish()?;
        added.summary = Summary { checks: summary.checks, ..again };
        self.place(staging.path(), &name)?;
        Ok(added)
    }

    /// Moves the files in `staging` to their places. Others called `name` are of an earlier time.
    fn place(&self, staging: &Path, name: &str) -> Result<(), Error> {
        let mut named = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = named.entry(name.into()).or_default();
        let (mut fresh, mut placed) = (Vec::new(), BTreeSet::new());
        files(staging, &mut fresh)?;
        for from in fresh {
            let to = self.directory.join(from.strip_prefix(staging).unwrap_or(&from));
            move_file(&from, &to)?;
            placed.insert(to);
        }
        for old in earlier.difference(&placed) {
            fs::remove_file(old).map_err(Error::at(old))?;
        }
        *earlier = placed;
        Ok(())
    }
}

fn move_file(from: &Path, to: &Path) -> Result<(), Error> {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(Error::at(parent))?;
    }
    fs::rename(from, to).map_err(Error::at(to))
}

/// The files under `directory`, if it is there.
pub(crate) fn files(directory: &Path, found: &mut Vec<PathBuf>) -> Result<(), Error> {
    let Ok(entries) = fs::read_dir(directory) else { return Ok(()) };
    for entry in entries {
        let path = entry.map_err(Error::at(directory))?.path();
        if path.is_dir() {
            files(&path, found)?;
        } else {
            found.push(path);
        }
    }
    Ok(())
}

/// What the rows of `file` are called: the end of its name, and a number made of all of it
/// (FNV-1a), so that files of one name in several directories stay apart.
fn file_name(file: &str) -> String {
    let hash = file
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let last = file.rsplit('/').next().unwrap_or(file);
    let plain: String =
        last.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' }).take(100).collect();
    format!("{}-{hash:016x}.parquet", plain.trim_start_matches('.'))
}

/// Where the rows of each connection go, by trace and connection.
fn places(measured: &[Measured], said: &Labels) -> HashMap<(u32, String), String> {
    let place = |one: &Measured| ((one.trace.index, one.group.clone()), said.or(&Labels::of(one)).folder());
    measured.iter().map(place).collect()
}

/// The rows of one file.
struct Filling<'a> {
    root: PathBuf,
    name: String,
    file: &'a str,
    /// Directory of each connection's rows.
    places: HashMap<(u32, String), String>,
    /// Connection in each trace's header.
    groups: Vec<String>,
    parts: HashMap<String, Tables>,
    outputs: BTreeMap<(String, Table), Output>,
    /// Events of each trace so far.
    before: Vec<u64>,
    /// Unknown fields and events, by trace and name.
    unknown: BTreeMap<(u32, String), u64>,
    added: Added,
}

impl Filling<'_> {
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
            self.added.unknown += count;
        }
        Ok(())
    }

    fn folder(&self, trace: u32, connection: &str) -> String {
        let place = self.places.get(&(trace, connection.to_owned()));
        place.cloned().unwrap_or_else(|| Labels::default().folder())
    }

    fn write(&mut self, folder: &str, batches: Vec<(Table, RecordBatch)>) -> Result<(), Error> {
        for (table, batch) in batches {
            let key = (folder.to_owned(), table);
            let output = match self.outputs.entry(key) {
                std::collections::btree_map::Entry::Occupied(there) => there.into_mut(),
                std::collections::btree_map::Entry::Vacant(free) => {
                    let directory = self.root.join(table.name()).join(folder);
                    fs::create_dir_all(&directory).map_err(Error::at(&directory))?;
                    free.insert(Output::new(&directory.join(&self.name), table.schema())?)
                }
            };
            output.add(&batch)?;
            *self.added.rows.entry(table).or_default() += batch.num_rows() as u64;
        }
        Ok(())
    }

    /// Writes what is left, and what was not understood.
    fn rest(&mut self) -> Result<(), Error> {
        let mut parts: Vec<(String, Tables)> = self.parts.drain().collect();
        parts.sort_by(|one, other| one.0.cmp(&other.0));
        for (folder, mut tables) in parts {
            let batches = tables.take()?;
            self.write(&folder, batches)?;
        }
        let mut by_folder: BTreeMap<String, Vec<(u32, String, u64)>> = BTreeMap::new();
        for ((trace, name), count) in std::mem::take(&mut self.unknown) {
            let group = self.groups.get(trace as usize).cloned().unwrap_or_default();
            let first = self.places.iter().filter(|((index, _), _)| *index == trace).map(|(_, folder)| folder).min();
            let folder = match self.places.get(&(trace, group)).or(first) {
                Some(folder) => folder.clone(),
                None => Labels::default().folder(),
            };
            by_folder.entry(folder).or_default().push((trace, name, count));
        }
        for (folder, rows) in by_folder {
            let batch = unknown(self.file, &rows)?;
            self.write(&folder, vec![(Table::Unknown, batch)])?;
        }
        Ok(())
    }

    /// Writes the rows of the connections, and of paths.
    fn connections(&mut self, measured: &[Measured], said: &Labels) -> Result<(), Error> {
        let mut by_folder: BTreeMap<String, [Vec<Row<'_>>; 2]> = BTreeMap::new();
        for one in measured {
            let [whole, paths] = by_folder.entry(said.or(&Labels::of(one)).folder()).or_default();
            whole.push(Row::whole(self.file, one));
            paths.extend(Row::paths(self.file, one));
        }
        for (folder, [whole, paths]) in by_folder {
            self.write(&folder, vec![(Table::Connections, connections(&whole)?)])?;
            if !paths.is_empty() {
                self.write(&folder, vec![(Table::Paths, connections(&paths)?)])?;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Added, Error> {
        for (_, output) in self.outputs {
            output.finish()?;
        }
        Ok(self.added)
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

/// Rows of a row group. What is not yet a group is held in memory, encoded.
const GROUP: usize = 1 << 17;

fn properties() -> WriterProperties {
    WriterProperties::builder().set_compression(Compression::SNAPPY).set_max_row_group_row_count(Some(GROUP)).build()
}

/// A Parquet file that appears when it is complete.
struct Output(ArrowWriter<File>);

impl Output {
    fn new(path: &Path, schema: SchemaRef) -> Result<Output, Error> {
        let file = File::create(path).map_err(Error::at(path))?;
        Ok(Output(ArrowWriter::try_new(file, schema, Some(properties()))?))
    }

    fn add(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        Ok(self.0.write(batch)?)
    }

    /// Writes the end, without which it is no Parquet file.
    fn finish(self) -> Result<(), Error> {
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
