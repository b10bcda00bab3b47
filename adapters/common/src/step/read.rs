//! Reading recorded steps back.

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_qlog::Records;

use super::{Start, Step};
use crate::qlog::{STARTED, STEPPED};

/// A record of a flow's own history.
#[derive(Clone, PartialEq, Debug)]
pub enum Entry {
    /// The record that a flow started.
    Start(Start),
    /// A step it took, with the state variables of the controller after it, where they
    /// were recorded and finite.
    Step(Box<Step>, BTreeMap<String, f64>),
}

/// Error of reading a recorded step.
#[derive(thiserror::Error)]
pub enum ReadError {
    /// The file could not be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A record says it is a step and is none.
    #[error("record {number} (line {line}): {name}: {error}")]
    Record {
        /// Its place in the file, from 1.
        number: u64,
        /// The line it begins on, from 1.
        line: u64,
        /// Name of the record.
        name: &'static str,
        /// Error of the JSON reader.
        error: serde_json::Error,
    },
}

/// Its text, since that is what `?` in `main` prints.
impl std::fmt::Debug for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// The recorded steps of a qlog file, in order. Whatever else stands in the file is
/// passed over; a record that cannot be read is an error of its own, and the next may
/// be read after it.
#[derive(Debug)]
pub struct Steps<R> {
    records: Records<R>,
}

impl<R: BufRead> Steps<R> {
    /// The steps recorded in `reader`.
    pub fn new(reader: R) -> Self {
        Steps { records: Records::new(reader) }
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    name: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct StateVariables {
    #[serde(default)]
    state_variables: BTreeMap<String, Option<f64>>,
}

impl<R: BufRead> Iterator for Steps<R> {
    type Item = Result<Entry, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let record = match self.records.next() {
                Ok(Some(record)) => record,
                Ok(None) => return None,
                Err(error) => return Some(Err(error.into())),
            };
            let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(record.text) else { continue };
            let name = match envelope.name.as_deref() {
                Some(STARTED) => STARTED,
                Some(STEPPED) => STEPPED,
                _ => continue,
            };
            let data = envelope.data.map_or("null", RawValue::get);
            let read = if name == STARTED {
                serde_json::from_str(data).map(Entry::Start)
            } else {
                step(data).map(|(step, variables)| Entry::Step(Box::new(step), variables))
            };
            return Some(read.map_err(|error| ReadError::Record {
                number: record.number,
                line: record.line,
                name,
                error,
            }));
        }
    }
}

fn step(data: &str) -> serde_json::Result<(Step, BTreeMap<String, f64>)> {
    let step = serde_json::from_str(data)?;
    let StateVariables { state_variables } = serde_json::from_str(data)?;
    Ok((step, state_variables.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()))
}
