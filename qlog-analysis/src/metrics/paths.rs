//! Which path an event belongs to, and which packet number space its packet is of.
//!
//! A path of multipath QUIC numbers its packets from 0 (`draft-ietf-quic-multipath §2`). After a migration the numbers go
//! on, while window and RTTs begin anew (`RFC 9000 §9.4`).

use crate::model::{Batch, Event, EventKind, PacketType};

/// Most paths of one connection.
pub(crate) const PATHS: usize = 32;

/// Paths after a migration that the trace does not number are called this and more.
const MIGRATED: u32 = 1 << 30;

/// The paths of one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paths {
    /// All paths so far, in the order in which they were met.
    known: Vec<u32>,
    /// Paths that have packet numbers of their own.
    numbering: Vec<u32>,
    /// The largest packet number sent that is none of those; of 1-RTT packets.
    largest: Option<u64>,
    migrations: u32,
}

impl Paths {
    /// The path an event belongs to; `None` where it belongs to the connection as a whole.
    #[inline]
    pub(crate) fn on_event(&mut self, batch: &Batch, event: &Event) -> Option<u32> {
        let path = match event.kind {
            EventKind::PacketSent(index) => {
                let packet = &batch.packets[index as usize];
                if packet.kind.space() == PacketType::OneRtt {
                    self.sent(packet.path, packet.number);
                }
                packet.path
            }
            EventKind::PacketReceived(index) | EventKind::PacketLost(index) => batch.packets[index as usize].path,
            EventKind::MetricsUpdated(index) => batch.metrics[index as usize].path,
            EventKind::Migrated => {
                self.migrations += 1;
                return None;
            }
            _ => return None,
        };
        if self.migrations == 0 && self.known == [path] {
            return Some(path);
        }
        let path = self.named(path);
        if !self.known.contains(&path) && self.known.len() < PATHS {
            self.known.push(path);
        }
        Some(path)
    }

    fn sent(&mut self, path: u32, number: Option<u64>) {
        if path == 0 && self.numbering.is_empty() {
            self.largest = self.largest.max(number);
            return;
        }
        let Some(number) = number.filter(|_| !self.numbering.contains(&path)) else { return };
        if path > 0 && self.largest.is_some_and(|largest| number <= largest) && self.numbering.len() < PATHS {
            self.numbering.push(path);
        } else {
            self.largest = self.largest.max(Some(number));
        }
    }

    /// The number of `path`: one of its own after each migration that the trace does not number.
    fn named(&self, path: u32) -> u32 {
        if path == 0 && self.migrations > 0 { MIGRATED.saturating_add(self.migrations) } else { path }
    }

    /// The packet number space of a path: 0 is the one that all share.
    pub(crate) fn numbering(&self, path: u32) -> u32 {
        if self.numbering.contains(&path) { path.saturating_add(1) } else { 0 }
    }

    /// Whether several paths are used at a time.
    pub(crate) fn simultaneous(&self) -> bool {
        !self.numbering.is_empty()
    }

    /// All paths so far, in the order in which they were met.
    pub(crate) fn known(&self) -> &[u32] {
        &self.known
    }
}

/// Name of a path in tables and figures.
#[must_use]
pub fn path_name(path: u32) -> String {
    match path.checked_sub(MIGRATED) {
        Some(migration) => format!("path after migration {migration}"),
        None => format!("path {path}"),
    }
}
