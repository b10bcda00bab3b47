//! The cache of runs: what is done is not run again.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::cell::Cell;
use super::quantity::{Curve, Quantity};
use crate::results::{StoreError, replace};

/// Hash of all sources that the numbers of a run depend on: controllers, adapters, simulator
/// and these experiments.
pub const CODE: &str = env!("WINDLASS_CODE");

/// Hash of the further sources that the numbers of real stacks depend on.
const STACK_CODE: &str = env!("WINDLASS_STACK_CODE");

/// The record of a run that is done.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The [`key`] of the run.
    pub key: String,
    /// The seed of the run.
    pub seed: u64,
    /// Numbers read off the run.
    pub quantities: Vec<Quantity>,
    /// Curves, of the first repetition only.
    pub curves: Vec<Curve>,
    /// CPU time of the run, s; 0 if unknown.
    #[serde(default)]
    pub cpu_s: f64,
    /// Packets sent by its flows.
    #[serde(default)]
    pub packets: u64,
}

/// The hash of everything that decides what the run of `cell` with `seed` on `stack`
/// yields: scenario, observation, measure, code. Cells of several experiments that are the same run
/// share it.
#[must_use]
pub fn key(cell: &Cell, seed: u64, stack: &str) -> String {
    let mut hash = Sha256::new();
    let step = cell.step_ms.to_string();
    let stack_code = if stack == "sim" { "" } else { STACK_CODE };
    for part in [&cell.scenario, cell.bottleneck, &step, &cell.measure.name, &seed.to_string(), stack, CODE, stack_code]
    {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// A directory with a record for each run.
#[derive(Clone, Debug)]
pub struct ResultCache(PathBuf);

impl ResultCache {
    /// The cache in the directory `cache` below `out`, which is made if need be.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn open(out: &Path) -> Result<ResultCache, StoreError> {
        let dir = out.join("cache");
        fs::create_dir_all(&dir).map_err(|source| StoreError::Unwritable { path: dir.clone(), source })?;
        Ok(ResultCache(dir))
    }

    fn path(&self, key: &str) -> PathBuf {
        self.0.join(format!("{key}.json"))
    }

    /// The record with this key; `None` if there is none that can be read.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Record> {
        let text = fs::read_to_string(self.path(key)).ok()?;
        serde_json::from_str(&text).ok().filter(|record: &Record| record.key == key)
    }

    /// Stores a record; its file is complete or not there.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn insert(&self, record: &Record) -> Result<(), StoreError> {
        replace(&self.path(&record.key), &serde_json::to_string(record)?)
    }
}
