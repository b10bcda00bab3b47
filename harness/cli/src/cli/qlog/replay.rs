//! `windlass qlog replay`: run recorded flows again, or other controllers on them.

mod what_if;

use std::io::{BufReader, Read};

use windlass_adapter::replay::{Outcome, replay};

use super::files::{Again, Files, unreadable};
use crate::cli::CliError;
use crate::cli::error::print;

/// Bytes at the beginning of a file in which our recorder is looked for.
const BEGINNING: u64 = 1 << 16;

/// Run recorded flows again and compare every decision, bit for bit; or run other
/// controllers on what happened to any stack
///
/// Traces that our recorder wrote with every step (`windlass run --qlog-detail steps`, or a
/// recorder at that level in production) are replayed and compared with what was recorded.
/// Flows of one group are replayed together, so give the traces of all its members.
///
/// Any other trace with packets and ACK frames, or any trace if --controller is given,
/// shows what controllers would have decided beside what the stack did. The network of a
/// trace does not react: a larger window would have filled queues and a smaller one emptied
/// them, and neither is in it.
#[derive(Debug, clap::Args)]
pub(super) struct Replay {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    what_if: what_if::Options,
}

impl Replay {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let files = self.files.paths()?.iter().map(|path| Again::at(path)).collect::<Result<Vec<_>, _>>()?;
        if self.what_if.is_asked_for() {
            return self.what_if.run(&files);
        }
        let mut ours = Vec::new();
        let mut foreign = Vec::new();
        for file in files {
            if is_ours(&file)? { ours.push(file) } else { foreign.push(file) }
        }
        // What is not ours first: it fails before a long replay rather than after it.
        if !foreign.is_empty() {
            self.what_if.run(&foreign)?;
        }
        if ours.is_empty() { Ok(()) } else { again(&ours) }
    }
}

/// Replays our recorder's traces.
fn again(files: &[Again]) -> Result<(), CliError> {
    let mut logs = Vec::new();
    for file in files {
        logs.push(BufReader::new(file.open().map_err(|error| unreadable(file.path(), &error))?));
    }
    let outcomes = replay(logs);
    let mut wrong = 0;
    for (file, outcome) in files.iter().zip(&outcomes) {
        wrong += usize::from(!matches!(outcome, Outcome::Equal { .. }));
        let hint = match outcome {
            Outcome::NoSteps => "; --controller NAME says what a controller would have decided",
            _ => "",
        };
        print(&format!("{}: {outcome}{hint}\n", file.path().display()))?;
    }
    match wrong {
        0 => Ok(()),
        _ => Err(CliError::Failed(format!("{wrong} of {} traces did not replay", files.len()))),
    }
}

/// Whether our recorder wrote a file: its beginning names our schema or an event of it.
fn is_ours(file: &Again) -> Result<bool, CliError> {
    let mut beginning = Vec::new();
    let read = file.open().and_then(|input| input.take(BEGINNING).read_to_end(&mut beginning));
    read.map_err(|error| unreadable(file.path(), &error))?;
    let text = String::from_utf8_lossy(&beginning);
    Ok(text.contains("/events/windlass\"") || text.contains("\"windlass:"))
}
