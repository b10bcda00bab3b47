//! The connections of a file, each followed by something of its own.

use std::collections::BTreeMap;
use std::io::Read;

use crate::model::{Batch, Event, Trace};
use crate::read::{Options, ReadError, Summary, read};

/// A connection and what followed it.
#[derive(Clone, PartialEq, Debug)]
pub struct Connection<T> {
    /// What the file says of the trace.
    pub trace: Trace,
    /// Its connection, where the events name one; otherwise the trace's.
    pub group: String,
    /// What followed it.
    pub follower: T,
}

/// Reads a file and tells what `new` gives, one for each connection of each trace, the
/// events of that connection in order.
///
/// # Errors
/// As [`read`].
pub fn connections<T>(
    input: impl Read,
    options: &Options,
    new: impl Fn() -> T,
    tell: impl Fn(&mut T, &Batch, &Event),
) -> Result<(Summary, Vec<Connection<T>>), ReadError> {
    let mut followers: BTreeMap<(u32, String), T> = BTreeMap::new();
    let summary = read(input, options, &mut |trace, batch| {
        let mut events = batch.events.as_slice();
        while let Some(first) = events.first() {
            let run = events.iter().take_while(|event| event.group == first.group).count();
            let (of_one, rest) = events.split_at(run);
            events = rest;
            let key = (trace.index, batch.name(first.group).to_owned());
            let follower = followers.entry(key).or_insert_with(&new);
            of_one.iter().for_each(|event| tell(follower, &batch, event));
        }
        Ok(())
    })?;
    let found = followers.into_iter().map(|((index, group), follower)| {
        let trace = summary.traces[index as usize].clone();
        let group = if group.is_empty() { trace.group.clone() } else { group };
        Connection { trace, group, follower }
    });
    let found = found.collect();
    Ok((summary, found))
}
