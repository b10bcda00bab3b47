//! The ends of a connection: their addresses, when they changed, and the paths that packets took.

use serde::Serialize;

use crate::metrics::path_name;
use crate::model::{Batch, Event, EventKind};
use crate::read::encoding::truncated;

/// Changes of address, and paths, of one connection that are kept.
const CHANGES: usize = 256;
const PATHS: usize = 32;

/// Bytes of an address that are kept.
const ADDRESS: usize = 128;

/// Addresses of the two ends from a moment on.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct EndpointInfo {
    /// Time of its event, s from the connection's first event.
    pub time_s: f64,
    /// The event that has it.
    pub event: String,
    /// This end's address; empty if not logged.
    pub local: String,
    /// The other end's address; empty where only the change is logged.
    pub remote: String,
}

/// A path and what went over it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PathInfo {
    /// Its name.
    pub name: String,
    /// When its first packet was sent or received, s from the connection's first event.
    pub from_s: f64,
    /// When its last one was, s.
    pub to_s: f64,
    /// Packets sent.
    pub sent: u64,
    /// Packets received.
    pub received: u64,
    /// Bytes of those sent, as far as logged.
    pub sent_bytes: u64,
    /// Bytes of those received, as far as logged.
    pub received_bytes: u64,
}

/// Collects them of one connection.
#[derive(Clone, Debug)]
pub(super) struct Endpoints {
    /// Changes at most.
    most: usize,
    changes: Vec<(i64, EndpointInfo)>,
    paths: Vec<(u32, (i64, i64), PathInfo)>,
}

impl Endpoints {
    pub(super) fn new() -> Endpoints {
        Endpoints { most: CHANGES, changes: Vec::new(), paths: Vec::new() }
    }

    /// Takes as much less memory as is fit for one of `followers`.
    pub(super) fn share_memory(&mut self, followers: usize) {
        self.most = (CHANGES / followers.max(1)).max(8);
    }

    pub(super) fn event(&mut self, batch: &Batch, event: &Event, path: Option<u32>) {
        let (packet, sent) = match event.kind {
            EventKind::PacketSent(index) => (&batch.packets[index as usize], true),
            EventKind::PacketReceived(index) => (&batch.packets[index as usize], false),
            EventKind::Migrated => return self.change(event.time, "migration complete", "", ""),
            EventKind::Other(name) if !batch.peers.is_empty() => return self.address(batch, event, batch.name(name)),
            _ => return,
        };
        let number = path.unwrap_or(packet.path);
        let at = match self.paths.iter().position(|known| known.0 == number) {
            Some(at) => at,
            None if self.paths.len() < PATHS => {
                let info = PathInfo {
                    name: path_name(number),
                    from_s: 0.0,
                    to_s: 0.0,
                    sent: 0,
                    received: 0,
                    sent_bytes: 0,
                    received_bytes: 0,
                };
                self.paths.push((number, (event.time, event.time), info));
                self.paths.len() - 1
            }
            None => return,
        };
        let (_, (_, to), info) = &mut self.paths[at];
        *to = (*to).max(event.time);
        let (count, bytes) =
            if sent { (&mut info.sent, &mut info.sent_bytes) } else { (&mut info.received, &mut info.received_bytes) };
        *count += 1;
        *bytes += u64::from(packet.bytes.unwrap_or(0));
    }

    fn address(&mut self, batch: &Batch, event: &Event, name: &str) {
        // Several of one name and time are taken together.
        let of_this = batch.peers.iter().take(CHANGES).filter(|peer| batch.events[peer.event as usize] == *event);
        of_this.for_each(|peer| self.change(event.time, name, batch.name(peer.local), batch.name(peer.address)));
    }

    fn change(&mut self, time: i64, event: &str, local: &str, remote: &str) {
        let [event, local, remote] = [event, local, remote].map(|text| truncated(text, ADDRESS).to_owned());
        let same = |(_, before): &(i64, EndpointInfo)| (&before.local, &before.remote) == (&local, &remote);
        let told = self.changes.iter().rev().find(|(_, before)| !before.remote.is_empty());
        // What says the same again is no change.
        let again = told.is_some_and(same) || self.changes.iter().rev().take_while(|change| change.0 == time).any(same);
        if self.changes.len() < self.most && (remote.is_empty() || !again) {
            self.changes.push((time, EndpointInfo { time_s: 0.0, event, local, remote }));
        }
    }

    /// Changes of address in their order and paths, times from `start`.
    pub(super) fn finish(self, start: i64) -> (Vec<EndpointInfo>, Vec<PathInfo>) {
        let seconds = |time: i64| time.saturating_sub(start) as f64 / 1e9;
        let changes = self.changes.into_iter().map(|(time, info)| EndpointInfo { time_s: seconds(time), ..info });
        let paths = self.paths.into_iter();
        let paths = paths.map(|(_, (from, to), info)| PathInfo { from_s: seconds(from), to_s: seconds(to), ..info });
        (changes.collect(), paths.collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::metrics::tests::file;
    use crate::read::Options;
    use crate::series::read_series;

    #[test]
    fn addresses_paths_and_migrations_are_told_when_they_change() {
        let packet = |time: u32, event: &str, path: u32, number: u32| {
            let header = format!(r#"{{"packet_type":"1RTT","packet_number":{number},"path_id":{path}}}"#);
            format!(
                r#"{{"time":{time},"name":"quic:packet_{event}","data":{{"header":{header},"raw":{{"length":100}}}}}}"#
            )
        };
        let assigned = |time: u32, port: u32| {
            let end = |address: &str, port: u32| format!(r#"{{"ip_v4":"{address}","port_v4":{port}}}"#);
            let (remote, local) = (end("192.0.2.9", port), end("198.51.100.1", 443));
            format!(
                r#"{{"time":{time},"name":"quic:tuple_assigned","data":{{"tuple_remote":{remote},"tuple_local":{local}}}}}"#
            )
        };
        let records = [
            assigned(10, 4433),
            packet(11, "sent", 0, 1),
            assigned(12, 4433),
            assigned(20, 5000),
            assigned(20, 6000),
            packet(21, "received", 1, 1),
            packet(30, "sent", 1, 2),
            r#"{"time":31,"name":"quic:migration_state_updated","data":{"new":"migration_complete"}}"#.to_owned(),
        ];
        let records: Vec<&str> = records.iter().map(String::as_str).collect();
        let (_, found) = read_series(file(&records).as_slice(), &Options::default(), 100).unwrap();
        let told: Vec<_> =
            found[0].endpoints.iter().map(|end| (end.time_s, end.local.as_str(), end.remote.as_str())).collect();
        let local = "198.51.100.1:443";
        assert_eq!(
            told,
            [
                (0.0, local, "192.0.2.9:4433"),
                (0.01, local, "192.0.2.9:5000"),
                (0.01, local, "192.0.2.9:6000"),
                (0.021, "", "")
            ]
        );
        let paths: Vec<_> =
            found[0].used_paths.iter().map(|path| (path.name.as_str(), path.sent, path.received)).collect();
        assert_eq!(paths, [("path 0", 1, 0), ("path 1", 1, 1)]);
        let second = &found[0].used_paths[1];
        assert_eq!((second.from_s, second.to_s, second.sent_bytes, second.received_bytes), (0.011, 0.02, 100, 100));
    }
}
