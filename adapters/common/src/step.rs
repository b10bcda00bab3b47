//! A recorded step of a flow, as data that survives a file bit for bit.
//!
//! JSON keeps integers exact only below 2^53 and knows no infinities, so larger integers
//! are strings and non-finite floats are the bits of the float as a string. Times and
//! spans are nanoseconds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use windlass_controllers::{Decision, Event, Path, Time};

use crate::GroupStep;

mod read;

pub use read::{Entry, ReadError, Steps};

/// How a recorded flow began: what a replay starts from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Start {
    /// The controller with its parameters, as a user types it.
    pub controller: String,
    /// The path the flow started on.
    pub path: Path,
    /// The decision before the first event.
    pub decision: Decision,
}

/// An event and the decision it led to.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Step {
    /// The event the controller got.
    pub event: Event,
    /// The decision in effect after the event.
    pub decision: Decision,
    /// When in its group's life it happened; `None` for a flow outside any group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_step: Option<GroupStep>,
}

impl Step {
    /// Time of the step's event.
    #[must_use]
    pub fn now(&self) -> Time {
        self.event.now
    }
}

/// The fields of a decision as they are written in a log.
pub(crate) fn fields(decision: &Decision) -> BTreeMap<String, String> {
    match serde_json::to_value(decision) {
        Ok(serde_json::Value::Object(fields)) => {
            fields.into_iter().map(|(name, value)| (name, value.to_string())).collect()
        }
        _ => BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests;
