//! Runs that are done, kept.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::cell::Cell;
use super::quantity::{Curve, Quantity};
use crate::results::{StoreError, replace};

/// Of all sources a run's numbers depend on: those of controllers, adapters, simulator and
/// these experiments.
pub const CODE: &str = env!("WINDLASS_CODE");

/// Of the sources that real stacks' numbers depend on besides.
const STACK_CODE: &str = env!("WINDLASS_STACK_CODE");

/// A run that is done.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Its [`key`].
    pub key: String,
    /// Its seed.
    pub seed: u64,
    /// What was read off.
    pub quantities: Vec<Quantity>,
    /// Curves, of the first repetition only.
    pub curves: Vec<Curve>,
    /// CPU time it took, s; 0 if unknown.
    #[serde(default)]
    pub cpu_s: f64,
    /// Packets its flows sent.
    #[serde(default)]
    pub packets: u64,
}

/// The name of everything that decides what the run of `cell` with `seed` on `stack`
/// yields: scenario, watching, measure, code. Cells of several experiments that are the same run
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

/// A directory of records.
#[derive(Clone, Debug)]
pub struct Keep(PathBuf);

impl Keep {
    /// The directory below `out`, which is made.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn open(out: &Path) -> Result<Keep, StoreError> {
        let dir = out.join("kept");
        fs::create_dir_all(&dir).map_err(|source| StoreError::Unwritable { path: dir.clone(), source })?;
        Ok(Keep(dir))
    }

    fn path(&self, key: &str) -> PathBuf {
        self.0.join(format!("{key}.json"))
    }

    /// The record with this key, if there is one that can be read.
    #[must_use]
    pub fn find(&self, key: &str) -> Option<Record> {
        let text = fs::read_to_string(self.path(key)).ok()?;
        serde_json::from_str(&text).ok().filter(|record: &Record| record.key == key)
    }

    /// Keeps a record; its file is complete or not there.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn put(&self, record: &Record) -> Result<(), StoreError> {
        replace(&self.path(&record.key), &serde_json::to_string(record)?)
    }
}
