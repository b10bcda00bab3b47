//! `windlass qlog replay`: run recorded flows again.

use std::io::BufReader;

use windlass_adapter::replay::{Outcome, replay};

use super::files::{Files, decompressed};
use crate::cli::CliError;
use crate::cli::error::print;

/// Run recorded flows again and compare every decision, bit for bit
///
/// The traces need every step: `windlass run --qlog-detail steps`, or a recorder at that
/// level in production. Flows of one group are replayed together, so give the traces of
/// all its members.
#[derive(Debug, clap::Args)]
pub(super) struct Replay {
    #[command(flatten)]
    files: Files,
}

impl Replay {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let files = self.files.paths()?;
        let mut logs = Vec::new();
        for file in &files {
            logs.push(BufReader::new(decompressed(file)?));
        }
        let outcomes = replay(logs);
        let mut wrong = 0;
        for (file, outcome) in files.iter().zip(&outcomes) {
            wrong += usize::from(!matches!(outcome, Outcome::Equal { .. }));
            print(&format!("{}: {outcome}\n", file.display()))?;
        }
        match wrong {
            0 => Ok(()),
            _ => Err(CliError::Failed(format!("{wrong} of {} traces did not replay", files.len()))),
        }
    }
}
