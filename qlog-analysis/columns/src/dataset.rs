//! A directory of Parquet files, partitioned by [`Labels`].
//!
//! A trace's rows are in `TABLE/controller=…/stack=…/scenario=…/NAME.parquet`. Files are
//! written into a hidden directory inside and moved when all of the trace are complete, so that
//! none is ever half written.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use windlass_qlog_analysis::metrics::Measured;
use windlass_qlog_analysis::read::{Options, Summary};

use crate::filling::{Filled, Sink, fill};
use crate::{Error, Labels, Row, Table, connections};

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
        let place = |one: &Measured| said.or(&Labels::of(one)).folder();
        let staging = || {
            let staging = tempfile::Builder::new().prefix(STAGING).tempdir_in(&self.directory);
            let staging = staging.map_err(Error::at(&self.directory))?;
            Ok(Staged { name: file_name(file), outputs: BTreeMap::new(), rows: BTreeMap::new(), staging })
        };
        let Filled { mut sink, summary, measured, unknown } = fill(file, open, options, &place, staging)?;
        sink.connections(file, &measured, &place)?;
        let Staged { name, outputs, rows, staging } = sink;
        for output in outputs.into_values() {
            output.finish()?;
        }
        self.place(staging.path(), &name)?;
        Ok(Added { summary, connections: measured.len(), rows, unknown })
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

/// The Parquet files of one trace file, not yet in their places.
struct Staged {
    name: String,
    outputs: BTreeMap<(String, Table), Output>,
    rows: BTreeMap<Table, u64>,
    staging: tempfile::TempDir,
}

impl Sink for Staged {
    fn write(&mut self, folder: &str, table: Table, batch: RecordBatch) -> Result<(), Error> {
        let output = match self.outputs.entry((folder.to_owned(), table)) {
            Entry::Occupied(there) => there.into_mut(),
            Entry::Vacant(free) => {
                let directory = self.staging.path().join(table.name()).join(folder);
                fs::create_dir_all(&directory).map_err(Error::at(&directory))?;
                free.insert(Output::new(&directory.join(&self.name), table.schema())?)
            }
        };
        output.add(&batch)?;
        *self.rows.entry(table).or_default() += batch.num_rows() as u64;
        Ok(())
    }
}

impl Staged {
    /// Writes the rows of the connections, and of paths.
    fn connections(
        &mut self,
        file: &str,
        measured: &[Measured],
        place: &dyn Fn(&Measured) -> String,
    ) -> Result<(), Error> {
        let mut by_folder: BTreeMap<String, [Vec<Row<'_>>; 2]> = BTreeMap::new();
        for one in measured {
            let [whole, paths] = by_folder.entry(place(one)).or_default();
            whole.push(Row::whole(file, one));
            paths.extend(Row::paths(file, one));
        }
        for (folder, [whole, paths]) in by_folder {
            self.write(&folder, Table::Connections, connections(&whole)?)?;
            if !paths.is_empty() {
                self.write(&folder, Table::Paths, connections(&paths)?)?;
            }
        }
        Ok(())
    }
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
