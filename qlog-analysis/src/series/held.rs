//! The events of a connection that a page can hold, beside those of packets: all of the kinds for which there is room, and the first of others.

use std::collections::BTreeMap;

use serde::Serialize;

/// Kinds that are told apart; those of further names are only counted.
const KINDS: usize = 256;

/// What all further kinds are called.
const OTHERS: &str = "further kinds";

/// About what an event takes beside its texts, bytes.
const ROW: usize = 48;

/// Events of a connection, without those of packets, in the order of the file.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct HeldEvents {
    /// Of each when it was logged, s from the connection's first event, its name and its data, JSON whose end may be missing.
    pub rows: Vec<(f64, String, String)>,
    /// Kinds of which there was no room for all.
    pub left_out: Vec<LeftOut>,
}

/// Events of a kind for which there was no room.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LeftOut {
    /// Their name.
    pub name: String,
    /// The first of them, s from the connection's first event.
    pub from_s: f64,
    /// How many they are.
    pub events: u64,
}

/// Collects them: where there is too little room, the kind that takes most of it keeps its earlier half.
#[derive(Clone, Debug)]
pub(super) struct Events {
    /// Bytes at most, of one connection alone and of as many as there are.
    alone: usize,
    most: usize,
    held: usize,
    /// Events so far.
    read: u64,
    kinds: BTreeMap<Box<str>, Kind>,
}

#[derive(Clone, Default, Debug)]
struct Kind {
    /// Number of each in the file, its time and its data.
    rows: Vec<(u64, i64, Box<str>)>,
    bytes: usize,
    left_out: u64,
    /// Time of the first that was left out.
    from: Option<i64>,
}

impl Kind {
    /// Leaves out the later half; the bytes that are free by it.
    fn halve(&mut self, name: &str) -> usize {
        let later = self.rows.split_off(self.rows.len() / 2);
        self.from = later.first().map(|row| row.1).or(self.from);
        self.left_out += later.len() as u64;
        let free = later.iter().map(|(_, _, data)| size(name, data)).sum();
        self.bytes -= free;
        free
    }
}

fn size(name: &str, data: &str) -> usize {
    name.len() + data.len() + ROW
}

impl Events {
    pub(super) fn new(most: usize) -> Events {
        Events { alone: most, most, held: 0, read: 0, kinds: BTreeMap::new() }
    }

    pub(super) fn share_memory(&mut self, followers: usize) {
        self.most = self.alone / followers.max(1);
        self.make_room();
    }

    /// Takes the next event.
    pub(super) fn record(&mut self, name: &str, time: i64, data: &str) {
        self.read += 1;
        let name = if self.kinds.len() < KINDS || self.kinds.contains_key(name) { name } else { OTHERS };
        let kind = self.kinds.entry(name.into()).or_default();
        if kind.from.is_some() || name == OTHERS {
            kind.from.get_or_insert(time);
            kind.left_out += 1;
            return;
        }
        let bytes = size(name, data);
        kind.rows.push((self.read, time, data.into()));
        kind.bytes += bytes;
        self.held += bytes;
        self.make_room();
    }

    fn make_room(&mut self) {
        while self.held > self.most {
            let Some((name, kind)) = self.kinds.iter_mut().max_by_key(|(_, kind)| kind.bytes) else { return };
            self.held -= kind.halve(name);
        }
    }

    pub(super) fn finish(self, start: i64) -> HeldEvents {
        let seconds = |time: i64| time.saturating_sub(start) as f64 * 1e-9;
        let mut rows = Vec::new();
        let mut left_out = Vec::new();
        for (name, kind) in self.kinds {
            if let Some(from) = kind.from {
                left_out.push(LeftOut { name: name.to_string(), from_s: seconds(from), events: kind.left_out });
            }
            rows.extend(kind.rows.into_iter().map(|(number, time, data)| (number, time, name.clone(), data)));
        }
        rows.sort_unstable_by_key(|row| row.0);
        let row = |(_, time, name, data): (u64, i64, Box<str>, Box<str>)| (seconds(time), name.into(), data.into());
        HeldEvents { rows: rows.into_iter().map(row).collect(), left_out }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::tests::file;
    use crate::read::{Options, Records};
    use crate::series::read_series_and_packets;

    fn held(records: &[String], most: usize) -> HeldEvents {
        let records: Vec<&str> = records.iter().map(String::as_str).collect();
        let options = Options { records: Records::WithoutPackets, jobs: 1, ..Options::default() };
        let (_, mut found) = read_series_and_packets(file(&records).as_slice(), &options, most, most).unwrap();
        found.remove(0).events.unwrap()
    }

    fn event(time: usize, name: &str) -> String {
        format!(r#"{{"time":{time},"name":"{name}","data":{{"at":{time}}}}}"#)
    }

    #[test]
    fn events_stand_in_the_order_of_the_file_without_packets() {
        let packet =
            r#"{"time":6,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":7}}}"#;
        let all = held(&[event(5, "x:b"), packet.to_owned(), event(7, "x:a"), event(8, "x:b")], 1 << 20);
        let expected = [(0.0, "x:b", 5), (0.002, "x:a", 7), (0.003, "x:b", 8)];
        let expected = expected.map(|(time, name, at)| (time, name.to_owned(), format!(r#"{{"at":{at}}}"#)));
        assert_eq!((all.rows.as_slice(), all.left_out.as_slice()), (expected.as_slice(), [].as_slice()));
    }

    #[test]
    fn the_most_frequent_kind_is_left_out_from_some_time_on() {
        let rare = |time: usize| event(time, if time % 100 == 99 { "x:rare" } else { "x:often" });
        let records: Vec<String> = (0..2000).map(rare).collect();
        let all = held(&records, 20_000);
        let count = |name: &str| all.rows.iter().filter(|row| row.1 == name).count();
        let [left_out] = &all.left_out[..] else { panic!("{:?}", all.left_out) };
        assert_eq!((count("x:rare"), left_out.name.as_str()), (20, "x:often"));
        assert_eq!(count("x:often") as u64 + left_out.events, 1980);
        assert!(count("x:often") > 50);
        let last = all.rows.iter().rfind(|row| row.1 == "x:often").unwrap();
        assert!(last.0 < left_out.from_s && left_out.from_s < last.0 + 0.0025, "{} to {}", last.0, left_out.from_s);
    }

    #[test]
    fn room_and_kinds_are_bounded() {
        let records: Vec<String> = (0..KINDS + 500).map(|i| event(i, &format!("x:{i}"))).collect();
        let all = held(&records, 4096);
        assert!(all.rows.iter().map(|(_, name, data)| size(name, data)).sum::<usize>() <= 4096);
        assert!(all.left_out.len() <= KINDS + 1 && all.left_out.iter().any(|kind| kind.name == OTHERS));
        assert_eq!(
            all.rows.len() as u64 + all.left_out.iter().map(|kind| kind.events).sum::<u64>(),
            KINDS as u64 + 500
        );
    }
}
