//! Which connection of a file is looked at, and reading its occurrences.

use std::collections::BTreeMap;
use std::io::Read;

use windlass_controllers::{Path, Time};
use windlass_qlog_analysis::model::{Batch, Event, Trace};
use windlass_qlog_analysis::read::{Options, ReadError, read};

use super::facts::{Facts, Missing};
use super::frame::Occurrence;
use super::rebuild::{LossSource, Rebuild};

/// Connections of a file that are told apart; further ones are not looked at.
const CONNECTIONS: usize = 10_000;

/// Why hindsight is impossible.
#[derive(Debug, thiserror::Error)]
pub enum HindsightError {
    /// The trace cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It lacks what events are made of.
    #[error("events cannot be made of this trace: {0}")]
    Missing(Missing),
    /// There is no such connection in it.
    #[error("the trace has no connection {asked:?}; it has {}", .known.join(", "))]
    NoConnection {
        /// What was asked for.
        asked: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// The controller cannot run on it.
    #[error(transparent)]
    Controller(#[from] windlass_adapter::ChoiceError),
}

/// One connection of a file.
#[derive(Clone, Debug)]
pub struct Connection {
    /// What the file says of its trace.
    pub trace: Trace,
    /// Its name in the events; empty where they name none.
    pub group: String,
    /// What is told of it.
    pub facts: Facts,
    /// How many other connections there are.
    pub others: usize,
}

impl Connection {
    /// The connection called `asked`, or the one that sends most, of what `input` gives.
    ///
    /// # Errors
    /// The trace cannot be read, has no such connection, or lacks what events are made of.
    pub fn choose(input: impl Read, asked: Option<&str>) -> Result<Connection, HindsightError> {
        let mut found: BTreeMap<(u32, String), Facts> = BTreeMap::new();
        let summary = read(input, &options(), &mut |trace, batch| {
            for run in batch.events.chunk_by(|one, next| one.group == next.group) {
                let key = (trace.index, batch.name(run[0].group).to_owned());
                if found.len() < CONNECTIONS || found.contains_key(&key) {
                    let facts = found.entry(key).or_default();
                    run.iter().for_each(|event| facts.event(&batch, event));
                }
            }
            Ok(())
        })?;
        let name = |(index, group): &(u32, String)| match group.as_str() {
            "" => summary.traces.get(*index as usize).map_or(String::new(), |trace| trace.group.clone()),
            group => group.to_owned(),
        };
        let matches = |key: &(u32, String)| {
            asked.is_none_or(|asked| name(key) == asked || asked.strip_prefix('#') == Some(&key.0.to_string()))
        };
        let others = found.len().saturating_sub(1);
        let best = found
            .iter()
            .filter(|(key, _)| matches(key))
            .max_by_key(|(_, facts)| (facts.suffice().is_ok(), facts.bytes, facts.sent));
        let Some(((index, group), facts)) = best else {
            return match asked {
                Some(asked) if others > 0 || !found.is_empty() => Err(HindsightError::NoConnection {
                    asked: asked.to_owned(),
                    known: found.keys().take(20).map(|key| format!("#{} {}", key.0, name(key))).collect(),
                }),
                _ => Err(HindsightError::Missing(Missing::Packets)),
            };
        };
        facts.suffice().map_err(HindsightError::Missing)?;
        let trace = summary.traces.get(*index as usize).cloned().unwrap_or_default();
        Ok(Connection { trace, group: group.clone(), facts: facts.clone(), others })
    }

    /// What a flow would be told of its path at the start.
    #[must_use]
    pub fn path(&self) -> Path {
        Path { now: Time::ZERO, mtu: self.facts.mtu(), seed: 0 }
    }

    /// Reads the connection again, and tells what happened to its sender, in order. Returns
    /// how it was known which packets were lost.
    ///
    /// # Errors
    /// The trace cannot be read.
    pub fn relive(
        &self,
        input: impl Read,
        tell: &mut dyn FnMut(&Occurrence<'_>),
    ) -> Result<LossSource, HindsightError> {
        let mut rebuild = Rebuild::new(&self.facts);
        read(input, &options(), &mut |trace, batch| {
            if trace.index == self.trace.index {
                for event in &batch.events {
                    if self.is_of(&batch, event) {
                        rebuild.event(&batch, event, tell);
                    }
                }
            }
            Ok(())
        })?;
        rebuild.finish(tell);
        Ok(rebuild.losses_from())
    }

    fn is_of(&self, batch: &Batch, event: &Event) -> bool {
        batch.name(event.group) == self.group
    }
}

fn options() -> Options {
    Options { jobs: 1, ..Options::default() }
}
