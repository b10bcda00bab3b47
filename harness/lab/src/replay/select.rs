//! Which connection of a file is replayed, and reading its events.

use std::collections::BTreeMap;
use std::io::Read;

use windlass_controllers::{Path, Time};
use windlass_qlog_analysis::model::{Batch, Event, Trace};
use windlass_qlog_analysis::read::{Headers, Options, ReadError, read, twice};

use super::contents::{Missing, TraceContents};
use super::event::TraceEvent;
use super::rebuild::{LossSource, Rebuild};

/// Most connections of a file that are followed; further ones are left out.
const CONNECTIONS: usize = 10_000;

/// Why a trace cannot be replayed.
#[derive(thiserror::Error)]
pub enum ReplayError {
    /// The trace cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It lacks what the events of a controller are made of.
    #[error("events cannot be made of this trace: {0}")]
    Missing(Missing),
    /// It has no connection of that name.
    #[error("the trace has no connection {asked:?}; it has {}", .known.join(", "))]
    NoConnection {
        /// The name that was asked for.
        asked: String,
        /// The connections it has, at most 20.
        known: Vec<String>,
    },
    /// The trace lacks a signal that the controller needs.
    #[error(transparent)]
    Controller(#[from] windlass_adapter::ChoiceError),
}

impl std::fmt::Debug for ReplayError {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// One connection of a file.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The header of its trace.
    pub trace: Trace,
    /// Its name in the events; empty where they name none.
    pub group: String,
    /// What the trace holds, for judging whether it can be replayed.
    pub contents: TraceContents,
    /// How many other connections the file has.
    pub others: usize,
    /// What the file says of its traces behind their events, where it does.
    headers: Headers,
}

impl Connection {
    /// The connection called `asked`, or the one that sends most, of what `open` gives.
    ///
    /// # Errors
    /// The trace cannot be read, has no such connection, or lacks what events are made of.
    pub fn choose<R: Read>(
        open: &dyn Fn() -> Result<R, ReplayError>,
        asked: Option<&str>,
    ) -> Result<Connection, ReplayError> {
        let (summary, found, headers) = twice(open, &options(), |input, options| {
            let mut found: BTreeMap<(u32, String), TraceContents> = BTreeMap::new();
            let summary = read(input, options, &mut |trace, batch| {
                for run in batch.events.chunk_by(|one, next| one.group == next.group) {
                    let key = (trace.index, batch.name(run[0].group).to_owned());
                    if found.len() < CONNECTIONS || found.contains_key(&key) {
                        let contents = found.entry(key).or_default();
                        run.iter().for_each(|event| contents.count(&batch, event));
                    }
                }
                Ok(())
            })?;
            Ok((summary, found, options.headers.clone()))
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
            .max_by_key(|(_, contents)| (contents.suffice().is_ok(), contents.bytes, contents.sent));
        let Some(((index, group), contents)) = best else {
            return match asked {
                Some(asked) if others > 0 || !found.is_empty() => Err(ReplayError::NoConnection {
                    asked: asked.to_owned(),
                    known: found.keys().take(20).map(|key| format!("#{} {}", key.0, name(key))).collect(),
                }),
                _ => Err(ReplayError::Missing(Missing::Packets)),
            };
        };
        contents.suffice().map_err(ReplayError::Missing)?;
        let trace = summary.traces.get(*index as usize).cloned().unwrap_or_default();
        Ok(Connection { trace, group: group.clone(), contents: contents.clone(), others, headers })
    }

    /// The path as a flow knows it at its start.
    #[must_use]
    pub fn path(&self) -> Path {
        Path::new(Time::ZERO, self.contents.mtu(), 0)
    }

    /// Reads the connection again and calls `visit` with what happened to its sender, in order.
    /// Returns how it is known which packets were lost.
    ///
    /// # Errors
    /// The trace cannot be read.
    pub fn for_each_event(
        &self,
        input: impl Read,
        visit: &mut dyn FnMut(&TraceEvent<'_>),
    ) -> Result<LossSource, ReplayError> {
        let mut rebuild = Rebuild::new(&self.contents);
        read(input, &Options { headers: self.headers.clone(), ..options() }, &mut |trace, batch| {
            if trace.index == self.trace.index {
                for event in &batch.events {
                    if self.is_of(&batch, event) {
                        rebuild.on_event(&batch, event, visit);
                    }
                }
            }
            Ok(())
        })?;
        rebuild.finish(visit);
        Ok(rebuild.losses_from())
    }

    fn is_of(&self, batch: &Batch, event: &Event) -> bool {
        batch.name(event.group) == self.group
    }
}

fn options() -> Options {
    Options { jobs: 1, ..Options::default() }
}
