//! The store of records: a directory with a file for each run.

use std::fs;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::output::{StoreError, replace};

/// The record of a run that is done.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Record<T> {
    /// The [`key`](super::Cell::key) of the run.
    pub key: String,
    /// The seed of the run.
    pub seed: u64,
    /// What was read off.
    #[serde(flatten)]
    pub read: T,
    /// CPU time of the run, s; 0 if unknown.
    #[serde(default)]
    pub cpu_s: f64,
    /// Packets sent by its flows.
    #[serde(default)]
    pub packets: u64,
}

/// A directory with a record for each run. Several processes may use one at a time.
#[derive(Debug)]
pub struct Store<T> {
    dir: PathBuf,
    reads: PhantomData<fn() -> T>,
}

impl<T: Serialize + DeserializeOwned> Store<T> {
    /// The store in the directory `cache` below `out`, which is made if need be.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn open(out: &Path) -> Result<Store<T>, StoreError> {
        let store = Store::at(out);
        let made = fs::create_dir_all(&store.dir);
        made.map_err(|source| StoreError::Unwritable { path: store.dir.clone(), source })?;
        Ok(store)
    }

    /// The store of [`open`](Store::open) for those who only read: where there is no directory there are no records.
    #[must_use]
    pub fn at(out: &Path) -> Store<T> {
        Store { dir: out.join("cache"), reads: PhantomData }
    }

    fn path(&self, key: &str) -> PathBuf {
        self.dir.join(format!("{key}.json"))
    }

    /// The record with this key; `None` if there is none that can be read.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Record<T>> {
        let text = fs::read_to_string(self.path(key)).ok()?;
        serde_json::from_str(&text).ok().filter(|record: &Record<T>| record.key == key)
    }

    /// Stores a record; its file is complete or not there.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn insert(&self, record: &Record<T>) -> Result<(), StoreError> {
        replace(&self.path(&record.key), &serde_json::to_string(record)?)
    }

    /// Removes the record with this key, if there is one.
    ///
    /// # Errors
    /// Its file cannot be removed.
    pub fn remove(&self, key: &str) -> Result<(), StoreError> {
        let path = self.path(key);
        match fs::remove_file(&path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                Err(StoreError::Unwritable { path, source })
            }
            _ => Ok(()),
        }
    }
}
