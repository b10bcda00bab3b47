//! The store of records: a directory with a file for each run; with the feature `object-store` also Parquet files that machines
//! share.

use std::fs;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

#[cfg(feature = "object-store")]
use super::shards::Shards;
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
    #[cfg(feature = "object-store")]
    shards: Option<Shards>,
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
        Store {
            dir: out.join("cache"),
            #[cfg(feature = "object-store")]
            shards: None,
            reads: PhantomData,
        }
    }

    /// The same with the records that others have put at `name`, a directory or the URL of a folder in an object store. Records
    /// go there some together: a process that is killed leaves them in its own directory, and the next puts them there.
    ///
    /// # Errors
    /// It cannot be reached, or holds files that are none of records.
    #[cfg(feature = "object-store")]
    pub fn shared(self, name: &str) -> Result<Store<T>, StoreError> {
        let shards = Shards::open(name)?;
        for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let key = name.to_str().and_then(|name| name.strip_suffix(".json"));
            let Some(key) = key.filter(|key| shards.get(key).is_none()) else { continue };
            if let Some(record) = self.get(key) {
                shards.hold(key, &serde_json::to_string(&record)?);
            }
        }
        Ok(Store { shards: Some(shards), ..self })
    }

    fn path(&self, key: &str) -> PathBuf {
        self.dir.join(format!("{key}.json"))
    }

    /// The record with this key; `None` if there is none that can be read.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Record<T>> {
        #[cfg(feature = "object-store")]
        if let Some(text) = self.shards.as_ref().and_then(|shards| shards.get(key)) {
            return serde_json::from_str(&text).ok();
        }
        let text = fs::read_to_string(self.path(key)).ok()?;
        serde_json::from_str(&text).ok().filter(|record: &Record<T>| record.key == key)
    }

    /// Stores a record; its file is complete or not there.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn insert(&self, record: &Record<T>) -> Result<(), StoreError> {
        let text = serde_json::to_string(record)?;
        replace(&self.path(&record.key), &text)?;
        #[cfg(feature = "object-store")]
        if let Some(shards) = &self.shards {
            shards.insert(&record.key, &text)?;
        }
        Ok(())
    }

    /// Puts what others do not see yet where they do.
    ///
    /// # Errors
    /// It cannot be put there; it is in the own directory.
    pub fn flush(&self) -> Result<(), StoreError> {
        #[cfg(feature = "object-store")]
        if let Some(shards) = &self.shards {
            shards.flush()?;
        }
        Ok(())
    }

    /// Removes the record with this key, if there is one.
    ///
    /// # Errors
    /// Its file cannot be removed.
    pub fn remove(&self, key: &str) -> Result<(), StoreError> {
        #[cfg(feature = "object-store")]
        if let Some(shards) = &self.shards {
            shards.remove(key);
        }
        let path = self.path(key);
        match fs::remove_file(&path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                Err(StoreError::Unwritable { path, source })
            }
            _ => Ok(()),
        }
    }
}
