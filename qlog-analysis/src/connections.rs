//! The connections of a file, each with a [`Follower`] of its own.

use std::collections::BTreeMap;
use std::io::Read;

use crate::model::{Batch, Event, Record, Trace};
use crate::read::encoding::truncated;
use crate::read::{Options, ReadError, Summary, read};

pub use crate::read::MAX_CONNECTIONS;

/// Bytes of a connection's name that are looked at.
pub(crate) const MAX_NAME: usize = 1024;

/// Reads the events of one connection, one by one.
pub trait Follower {
    /// Reads the connection's next event.
    fn event(&mut self, batch: &Batch, event: &Event);

    /// Reads an event of the connection as it stands in the file, at `time`; none unless [`Options::records`] asks for them.
    fn record(&mut self, batch: &Batch, record: &Record, time: i64) {
        let _ = (batch, record, time);
    }

    /// Takes as much less memory as is fit for one of `followers`.
    fn share_memory(&mut self, followers: usize);
}

/// A connection and what followed it.
#[derive(Clone, PartialEq, Debug)]
pub struct Connection<T> {
    /// The trace's header.
    pub trace: Trace,
    /// Its connection, where the events name one; otherwise the trace's.
    pub group: String,
    /// The follower after the last event.
    pub follower: T,
}

impl<T> Connection<T> {
    fn new(trace: Trace, group: String, follower: T) -> Self {
        let group = if group.is_empty() { trace.group.clone() } else { group };
        Connection { trace, group, follower }
    }
}

/// The connections of a file that is being read.
#[derive(Debug)]
pub struct Progress<'a, T> {
    /// Traces of which an event was read, by their index.
    traces: &'a BTreeMap<u32, Trace>,
    followers: &'a BTreeMap<(u32, String), T>,
}

impl<T: Clone> Progress<'_, T> {
    /// The connections after the events read so far.
    #[must_use]
    pub fn connections(&self) -> Vec<Connection<T>> {
        let followed = self.followers.iter().filter_map(|((index, group), follower)| {
            let trace = self.traces.get(index)?.clone();
            Some(Connection::new(trace, group.clone(), follower.clone()))
        });
        followed.collect()
    }
}

/// Reads a file and gives a follower made by `new`, one for each connection of each trace, the
/// events of that connection in order; the first [`MAX_CONNECTIONS`] connections.
///
/// # Errors
/// As [`read`].
pub fn connections<T: Follower>(
    input: impl Read,
    options: &Options,
    new: impl Fn() -> T,
) -> Result<(Summary, Vec<Connection<T>>), ReadError> {
    connections_watched(input, options, new, &mut |_| Ok(()))
}

/// As [`connections`], and calls `watch` after every block of events: the first megabyte of the file, then a quarter of one.
///
/// # Errors
/// As [`read`], and those of `watch`.
pub fn connections_watched<T: Follower>(
    input: impl Read,
    options: &Options,
    new: impl Fn() -> T,
    watch: &mut dyn FnMut(&Progress<'_, T>) -> Result<(), ReadError>,
) -> Result<(Summary, Vec<Connection<T>>), ReadError> {
    let mut followers: BTreeMap<(u32, String), T> = BTreeMap::new();
    let mut traces: BTreeMap<u32, Trace> = BTreeMap::new();
    // A power of two.
    let mut among = 1;
    let mut unfollowed = 0;
    let mut summary = read(input, options, &mut |trace, batch| {
        let mut events = batch.events.as_slice();
        while let Some(first) = events.first() {
            let run = events.iter().take_while(|event| event.group == first.group).count();
            let (of_one, rest) = events.split_at(run);
            events = rest;
            let name = batch.name(first.group);
            let name = truncated(name, MAX_NAME);
            let key = (trace.index, name.to_owned());
            if !followers.contains_key(&key) {
                if followers.len() >= MAX_CONNECTIONS {
                    unfollowed += run as u64;
                    continue;
                }
                followers.insert(key.clone(), new());
                if followers.len() > among {
                    among *= 2;
                    followers.values_mut().for_each(|follower| follower.share_memory(among));
                } else if among > 1
                    && let Some(follower) = followers.get_mut(&key)
                {
                    follower.share_memory(among);
                }
            }
            if let Some(follower) = followers.get_mut(&key) {
                of_one.iter().for_each(|event| follower.event(&batch, event));
            }
        }
        let mut records = batch.records.as_slice();
        while let Some(first) = records.first() {
            let (_, group) = batch.moment_of(first);
            let run = records.iter().take_while(|record| batch.moment_of(record).1 == group).count();
            let (of_one, rest) = records.split_at(run);
            records = rest;
            let key = (trace.index, truncated(batch.name(group), MAX_NAME).to_owned());
            if let Some(follower) = followers.get_mut(&key) {
                of_one.iter().for_each(|record| follower.record(&batch, record, batch.moment_of(record).0));
            }
        }
        if traces.get(&trace.index) != Some(trace) {
            traces.insert(trace.index, trace.clone());
        }
        watch(&Progress { traces: &traces, followers: &followers })
    })?;
    summary.unfollowed = unfollowed;
    let found = followers
        .into_iter()
        .map(|((index, group), follower)| Connection::new(summary.traces[index as usize].clone(), group, follower));
    let found = found.collect();
    Ok((summary, found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::tests::file;

    #[derive(Clone, PartialEq, Debug)]
    struct Count(u64, usize);

    impl Follower for Count {
        fn event(&mut self, _: &Batch, _: &Event) {
            self.0 += 1;
        }

        fn share_memory(&mut self, followers: usize) {
            self.1 = followers;
        }
    }

    #[test]
    fn only_so_many_connections_are_followed() {
        let event = |group: usize| format!(r#"{{"time":1,"name":"x:y","group_id":"{group}","data":{{}}}}"#);
        let records: Vec<String> = (0..MAX_CONNECTIONS + 3).chain([0, MAX_CONNECTIONS]).map(event).collect();
        let records: Vec<&str> = records.iter().map(String::as_str).collect();
        let text = file(&records);
        let (summary, found) = connections(text.as_slice(), &Options::default(), || Count(0, 1)).unwrap();
        assert_eq!((summary.events, summary.unfollowed, found.len()), (MAX_CONNECTIONS as u64 + 5, 4, MAX_CONNECTIONS));
        assert_eq!(found.iter().map(|one| one.follower.0).sum::<u64>(), MAX_CONNECTIONS as u64 + 1);
        assert!(found.iter().all(|one| one.follower.1 == MAX_CONNECTIONS));
    }

    #[test]
    fn a_reader_can_be_watched_and_stopped() {
        let event = |group: &str| format!(r#"{{"time":1,"name":"x:y","group_id":"{group}","data":{{}}}}"#);
        let records: Vec<String> = ["a", "b"].iter().cycle().take(60_000).map(|group| event(group)).collect();
        let records: Vec<&str> = records.iter().map(String::as_str).collect();
        let text = file(&records);
        let mut seen = Vec::new();
        let options = Options { jobs: 1, ..Options::default() };
        let (_, found) = connections_watched(text.as_slice(), &options, || Count(0, 1), &mut |progress| {
            seen.push(progress.connections());
            Ok(())
        })
        .unwrap();
        assert!(seen.len() > 2, "{} times", seen.len());
        let counts: Vec<u64> = seen.iter().map(|found| found.iter().map(|one| one.follower.0).sum()).collect();
        assert!(counts.is_sorted() && counts[0] > 0 && counts[0] < 60_000, "{counts:?}");
        let of =
            |all: &[Connection<Count>]| all.iter().map(|one| (one.group.clone(), one.follower.0)).collect::<Vec<_>>();
        assert_eq!(of(seen.last().unwrap()), of(&found));
        let mut left = 2;
        let stopped = connections_watched(text.as_slice(), &options, || Count(0, 1), &mut |_| {
            left -= 1;
            if left == 0 { Err(ReadError::Stopped("enough".to_owned())) } else { Ok(()) }
        });
        assert!(matches!(stopped, Err(ReadError::Stopped(reason)) if reason == "enough"));
        assert_eq!(left, 0);
    }
}
