//! Records that machines share: Parquet files in a directory or an object store.

use std::collections::{HashMap, HashSet};
use std::path::Path as File;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, AsArray, RecordBatch, StringArray};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, parse_url_opts};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use sha2::{Digest, Sha256};
use tokio::runtime::Runtime;
use url::Url;

use super::cell::hex;
use crate::output::StoreError;

/// Records of a file at most, and how long the first of them waits for others.
const RECORDS: usize = 1000;
const PATIENCE: Duration = Duration::from_secs(30);

/// Files that are read at the same time.
const AT_ONCE: usize = 16;

/// Records, as JSON, by their keys.
#[derive(Default)]
struct Records {
    by_key: HashMap<String, Arc<str>>,
    /// Keys of those that are in no file.
    waiting: HashSet<String>,
    /// When the first of these came.
    since: Option<Instant>,
}

/// Files `HASH.parquet`, named by what they hold, with the columns `key` and `record`, JSON. Any number of processes add files; none
/// changes one.
pub(super) struct Shards {
    /// What the user typed.
    name: String,
    objects: Arc<dyn ObjectStore>,
    folder: Path,
    runtime: Runtime,
    records: Mutex<Records>,
}

impl std::fmt::Debug for Shards {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shards").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Shards {
    /// Reads all files at `name`: a URL, `s3://BUCKET/FOLDER`, whose credentials and endpoint are in the variables `AWS_…` of the
    /// environment, or a directory, which need not be there.
    ///
    /// # Errors
    /// It cannot be reached, or a file is none of records.
    pub(super) fn open(name: &str) -> Result<Shards, StoreError> {
        let failed = |reason: String| StoreError::Remote { name: name.to_owned(), reason };
        let odd =
            |reason: String| failed(format!("{reason}; expected a directory or a URL, such as s3://bucket/folder"));
        let url = if name.contains("://") {
            Url::parse(name).map_err(|error| odd(error.to_string()))?
        } else {
            let path = std::path::absolute(File::new(name)).map_err(|error| failed(error.to_string()))?;
            Url::from_directory_path(&path).map_err(|()| failed("expected a directory".to_owned()))?
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| failed(error.to_string()))?;
        let (objects, folder) = parse_url_opts(&url, settings()).map_err(|error| odd(error.to_string()))?;
        let shards =
            Shards { name: name.to_owned(), objects: objects.into(), folder, runtime, records: Mutex::default() };
        shards.read().map_err(failed)?;
        Ok(shards)
    }

    fn locked(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the records of all files.
    fn read(&self) -> Result<(), String> {
        let listed = self.runtime.block_on(self.objects.list_with_delimiter(Some(&self.folder)));
        let mut files = listed.map_err(|error| error.to_string())?.objects;
        files.retain(|file| file.location.extension() == Some("parquet"));
        // Of two records of a cell, which was run again, the later counts.
        files.sort_by(|a, b| (a.last_modified, &a.location).cmp(&(b.last_modified, &b.location)));
        for some in files.chunks(AT_ONCE) {
            let get = |location: Path| {
                let objects = Arc::clone(&self.objects);
                self.runtime.spawn(async move { objects.get(&location).await?.bytes().await })
            };
            let begun: Vec<_> = some.iter().map(|file| (&file.location, get(file.location.clone()))).collect();
            for (location, task) in begun {
                let bytes = self.runtime.block_on(task).map_err(|error| error.to_string())?;
                let bytes = bytes.map_err(|error| error.to_string())?;
                let pairs = unpacked(bytes).map_err(|error| format!("{location} holds no records: {error}"))?;
                self.locked().by_key.extend(pairs);
            }
        }
        Ok(())
    }

    /// The record with this key, as JSON.
    pub(super) fn get(&self, key: &str) -> Option<Arc<str>> {
        self.locked().by_key.get(key).cloned()
    }

    /// Adds a record, which waits for a file.
    pub(super) fn hold(&self, key: &str, record: &str) {
        let mut records = self.locked();
        records.by_key.insert(key.to_owned(), record.into());
        records.waiting.insert(key.to_owned());
        records.since.get_or_insert_with(Instant::now);
    }

    /// Adds a record, and writes files where enough of them wait, or one waits long enough.
    ///
    /// # Errors
    /// A file cannot be written; its records wait for the next.
    pub(super) fn insert(&self, key: &str, record: &str) -> Result<(), StoreError> {
        self.hold(key, record);
        let records = self.locked();
        let is_late = records.since.is_some_and(|since| since.elapsed() >= PATIENCE);
        let is_due = is_late || records.waiting.len() >= RECORDS;
        drop(records);
        if is_due { self.flush() } else { Ok(()) }
    }

    /// Takes a record away; a file that has it stays.
    pub(super) fn remove(&self, key: &str) {
        let mut records = self.locked();
        records.by_key.remove(key);
        records.waiting.remove(key);
    }

    /// Writes files of the records that are in none.
    ///
    /// # Errors
    /// One cannot be written; its records and those behind them wait for the next.
    pub(super) fn flush(&self) -> Result<(), StoreError> {
        let mut records = self.locked();
        let keys = std::mem::take(&mut records.waiting);
        let since = records.since.take();
        let mut pairs: Vec<(String, Arc<str>)> =
            keys.into_iter().filter_map(|key| records.by_key.get(&key).cloned().map(|record| (key, record))).collect();
        drop(records);
        pairs.sort();
        let mut left = pairs.chunks(RECORDS);
        while let Some(some) = left.next() {
            if let Err(reason) = self.write(some) {
                let mut records = self.locked();
                records.waiting.extend(some.iter().chain(left.flatten()).map(|(key, _)| key.clone()));
                records.since = since;
                return Err(StoreError::Remote { name: self.name.clone(), reason });
            }
        }
        Ok(())
    }

    fn write(&self, pairs: &[(String, Arc<str>)]) -> Result<(), String> {
        let mut hash = Sha256::new();
        pairs.iter().for_each(|(_, record)| hash.update(record.as_bytes()));
        let bytes = packed(pairs).map_err(|error| error.to_string())?;
        let location = self.folder.clone().join(format!("{}.parquet", hex(hash)));
        self.runtime.block_on(self.objects.put(&location, bytes.into())).map_err(|error| error.to_string())?;
        Ok(())
    }
}

/// The variables `AWS_…` of the environment.
fn settings() -> impl Iterator<Item = (String, String)> {
    let texts =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    texts.filter(|(name, _)| name.starts_with("AWS_"))
}

/// Records as a Parquet file.
fn packed(pairs: &[(String, Arc<str>)]) -> Result<Vec<u8>, parquet::errors::ParquetError> {
    let keys: ArrayRef = Arc::new(StringArray::from_iter_values(pairs.iter().map(|(key, _)| key)));
    let records: ArrayRef = Arc::new(StringArray::from_iter_values(pairs.iter().map(|(_, record)| record)));
    let batch = RecordBatch::try_from_iter([("key", keys), ("record", records)])?;
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(crate::results::compressed()))?;
    writer.write(&batch)?;
    writer.into_inner()
}

/// The records of a Parquet file.
fn unpacked(bytes: bytes::Bytes) -> Result<Vec<(String, Arc<str>)>, String> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes).and_then(ParquetRecordBatchReaderBuilder::build);
    let mut pairs = Vec::new();
    for batch in reader.map_err(|error| error.to_string())? {
        let batch = batch.map_err(|error| error.to_string())?;
        let texts = |name: &str| batch.column_by_name(name).and_then(|column| column.as_string_opt::<i32>());
        let (Some(keys), Some(records)) = (texts("key"), texts("record")) else {
            return Err("expected the columns key and record, of texts".to_owned());
        };
        pairs.extend(keys.iter().zip(records).filter_map(|(key, record)| Some((key?.to_owned(), record?.into()))));
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(dir: &tempfile::TempDir) -> String {
        dir.path().join("deep/store").display().to_string()
    }

    fn files(dir: &tempfile::TempDir) -> Vec<std::path::PathBuf> {
        let entries = std::fs::read_dir(dir.path().join("deep/store")).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    #[test]
    fn what_one_process_writes_another_finds() {
        let dir = tempfile::tempdir().unwrap();
        let one = Shards::open(&text(&dir)).unwrap();
        assert_eq!((one.get("a"), files(&dir).len()), (None, 0));
        one.flush().unwrap();
        assert_eq!(files(&dir).len(), 0, "there was nothing to write");
        one.insert("a", "{\"key\":\"a\"}").unwrap();
        one.insert("b", "{\"key\":\"b\"}").unwrap();
        assert_eq!(one.get("a").as_deref(), Some("{\"key\":\"a\"}"));
        assert_eq!(Shards::open(&text(&dir)).unwrap().get("a"), None, "it waits for others");
        one.flush().unwrap();
        let other = Shards::open(&format!("file://{}", text(&dir))).unwrap();
        assert_eq!(["a", "b", "c"].map(|key| other.get(key).is_some()), [true, true, false]);
        // The same records are the same file.
        other.insert("b", "{\"key\":\"b\"}").unwrap();
        other.insert("a", "{\"key\":\"a\"}").unwrap();
        other.flush().unwrap();
        assert_eq!(files(&dir).len(), 1);
    }

    #[test]
    fn enough_records_are_a_file_and_a_later_record_counts() {
        let dir = tempfile::tempdir().unwrap();
        let one = Shards::open(&text(&dir)).unwrap();
        (0..=RECORDS).for_each(|number| one.insert(&format!("{number:05}"), "first").unwrap());
        assert_eq!(files(&dir).len(), 1);
        let found = Shards::open(&text(&dir)).unwrap();
        assert_eq!((found.get("00999").is_some(), found.get("01000").is_some()), (true, false));
        found.remove("00007");
        assert_eq!(found.get("00007"), None);
        // Those that a process finds in its own directory wait for what it adds.
        (0..=RECORDS).for_each(|number| found.hold(&format!("late {number}"), "found"));
        assert_eq!(files(&dir).len(), 1);
        found.flush().unwrap();
        assert_eq!(files(&dir).len(), 3);
        // Files of the same moment are told apart by their names alone.
        std::thread::sleep(Duration::from_millis(20));
        found.insert("00007", "second").unwrap();
        found.flush().unwrap();
        let again = Shards::open(&text(&dir)).unwrap();
        assert_eq!([again.get("00007").as_deref(), again.get("00008").as_deref()], [Some("second"), Some("first")]);
    }

    #[test]
    fn what_is_no_store_is_said() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("deep/store")).unwrap();
        std::fs::write(dir.path().join("deep/store/other.parquet"), "PAR1").unwrap();
        for (name, expected) in [
            (text(&dir).as_str(), "other.parquet holds no records: "),
            ("://folder", "relative URL without a base; expected a directory or a URL, such as s3://bucket/folder"),
            ("s3:bucket://", "; expected a directory or a URL, such as s3://bucket/folder"),
            ("gopher://bucket/folder", "cannot use the store gopher://bucket/folder: "),
        ] {
            let error = Shards::open(name).unwrap_err().to_string();
            assert!(error.contains(expected), "{name}: {error}");
        }
    }
}
