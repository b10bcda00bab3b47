//! A cell, and the name that its content gives it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use windlass_adapter::NamedController;
use windlass_simulator::scenario::capacity_files;

/// Hash of all sources that the numbers of a simulated run depend on.
pub const CODE: &str = env!("WINDLASS_CODE");

/// Hash of the further sources that the numbers of real stacks depend on.
const STACK_CODE: &str = env!("WINDLASS_STACK_CODE");

/// One run, and what is read off it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Cell {
    /// What messages call it; not part of its content.
    pub name: String,
    /// The scenario as TOML; its own seed is not used.
    pub scenario: String,
    /// Name of the scenario's file, beside which the files lie that it names; not part of its content, but what they hold
    /// is.
    pub file: String,
    /// The controller of the flows under test; empty for the scenario's own.
    pub controller: String,
    /// The stack that runs it; `sim` is the simulator.
    pub stack: String,
    /// Seed of all random numbers.
    pub seed: u64,
    /// What is read off, with all its parameters: cells of equal texts read the same.
    pub reads: String,
    /// Estimated work, in any unit that all cells of a command share; not part of its content.
    pub work: u64,
}

impl Cell {
    /// The hash of everything that decides what the run yields, code included. Cells of several questions that are the
    /// same run share it.
    #[must_use]
    pub fn key(&self) -> String {
        let mut hash = Sha256::new();
        let stack_code = if self.stack == "sim" { "" } else { STACK_CODE };
        let seed = self.seed.to_string();
        let own = if self.uses_own() { program() } else { "" };
        let parts: [&str; 7] = [&self.scenario, &self.controller, &self.stack, &seed, &self.reads, CODE, stack_code];
        let folder = Path::new(&self.file).parent().unwrap_or(Path::new(""));
        // Most scenarios name no file, and are not parsed for it.
        let named = if self.scenario.contains("capacity") { capacity_files(&self.scenario) } else { Vec::new() };
        let files: Vec<String> = named.iter().map(|name| content(&folder.join(name))).collect();
        let more = (!own.is_empty()).then_some(own).into_iter().chain(files.iter().map(String::as_str));
        for part in parts.into_iter().chain(more) {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        hex(hash)
    }

    /// Whether a controller of another crate may take part, whose sources are not among those of [`CODE`].
    fn uses_own(&self) -> bool {
        NamedController::added()
            .iter()
            .any(|entry| self.controller.contains(entry.name) || self.scenario.contains(entry.name))
    }
}

/// Hash of the program that runs; the time where it cannot be read, so that nothing of before counts.
fn program() -> &'static str {
    static HASH: OnceLock<String> = OnceLock::new();
    HASH.get_or_init(|| match std::env::current_exe().and_then(std::fs::read) {
        Ok(bytes) => hex(Sha256::new().chain_update(bytes)),
        Err(_) => format!("{:?}", SystemTime::now()),
    })
}

/// Hash of what the file at `path` holds; of its error where it cannot be read, as it is for the run. A file of a known size
/// and time is not read again.
fn content(path: &Path) -> String {
    type Known = HashMap<PathBuf, (u64, SystemTime, String)>;
    static KNOWN: Mutex<Option<Known>> = Mutex::new(None);
    let stamp = std::fs::metadata(path).and_then(|data| Ok((data.len(), data.modified()?)));
    let Ok((size, time)) = stamp else { return "not there".to_owned() };
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    match known.get(path) {
        Some((of_size, of_time, hash)) if (*of_size, *of_time) == (size, time) => hash.clone(),
        _ => match std::fs::read(path) {
            Ok(bytes) => {
                let hash = hex(Sha256::new().chain_update(bytes));
                known.insert(path.to_owned(), (size, time, hash.clone()));
                hash
            }
            Err(error) => error.to_string(),
        },
    }
}

pub(super) fn hex(hash: Sha256) -> String {
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
