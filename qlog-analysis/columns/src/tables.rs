//! Events into the tables they belong to.

use arrow::array::RecordBatch;
use windlass_qlog_analysis::model::{Batch, Event, EventKind};

use crate::rows::{Events, Facts, Origin, Packets, Recovery, Told};
use crate::{Error, Table};

/// Rows after which a table is full.
const FULL: usize = 1 << 15;

/// The tables of events, being filled. [`Tables::take_full`] gives what has become enough
/// for a record batch, [`Tables::take`] the rest.
#[derive(Default)]
pub struct Tables {
    packets: Packets,
    recovery: Recovery,
    events: Events,
    facts: Facts,
}

impl Tables {
    /// Adds the event number `index` of `batch`, with what else the batch tells of it.
    ///
    /// `file` names where it comes from, `connection` is its connection, and `before` is
    /// how many events of its trace came before the batch.
    pub fn add(&mut self, file: &str, connection: &str, before: u64, batch: &Batch, index: usize) {
        let Some(&Event { time, kind, .. }) = batch.events.get(index) else { return };
        let seq = before + index as u64;
        let origin = Origin { file, trace: batch.trace, connection, seq, time };
        let packet = |index: u32| &batch.packets[index as usize];
        match kind {
            EventKind::Sent(index) => self.packets.add(&origin, "sent", packet(index), batch),
            EventKind::Received(index) => self.packets.add(&origin, "received", packet(index), batch),
            EventKind::Lost(index) => self.packets.add(&origin, "lost", packet(index), batch),
            EventKind::Dropped(index) => self.packets.add(&origin, "dropped", packet(index), batch),
            EventKind::Metrics(index) => self.recovery.add(&origin, &batch.metrics[index as usize]),
            other => self.events.add(&origin, &told(other, batch, index)),
        }
        let event = index as u32;
        let first = batch.facts.partition_point(|fact| fact.event < event);
        for fact in batch.facts[first..].iter().take_while(|fact| fact.event == event) {
            self.facts.add(&origin, batch.name(fact.name), fact.value);
        }
    }

    /// Takes the tables that are full.
    ///
    /// # Errors
    /// If the columns do not fit together.
    pub fn take_full(&mut self) -> Result<Vec<(Table, RecordBatch)>, Error> {
        self.take_from(FULL)
    }

    /// Takes all that is there.
    ///
    /// # Errors
    /// If the columns do not fit together.
    pub fn take(&mut self) -> Result<Vec<(Table, RecordBatch)>, Error> {
        self.take_from(1)
    }

    fn take_from(&mut self, least: usize) -> Result<Vec<(Table, RecordBatch)>, Error> {
        let mut full = Vec::new();
        if self.packets.size() >= least {
            full.push((Table::Packets, self.packets.take()?));
        }
        if self.recovery.size() >= least {
            full.push((Table::Recovery, self.recovery.take()?));
        }
        if self.events.size() >= least {
            full.push((Table::Events, self.events.take()?));
        }
        if self.facts.size() >= least {
            full.push((Table::Facts, self.facts.take()?));
        }
        Ok(full)
    }
}

/// What an event tells that is neither packet nor metrics.
fn told(kind: EventKind, batch: &Batch, index: usize) -> Told<'_> {
    let number = |event, number| Told { event, number: Some(number), ..Told::default() };
    match kind {
        EventKind::State(state) => {
            let state = batch.states[state as usize];
            let trigger = state.trigger.map(|name| batch.name(name));
            Told { event: "congestion_state_updated", value: Some(batch.name(state.new)), trigger, ..Told::default() }
        }
        EventKind::Controller(name) => {
            Told { event: "congestion_controller", value: Some(batch.name(name)), ..Told::default() }
        }
        EventKind::Marked(packets) => number("marked", packets),
        EventKind::Losses(packets) => number("losses", packets),
        EventKind::Mtu(bytes) => number("mtu_updated", bytes),
        EventKind::Delivered(bytes) => number("delivered", bytes),
        EventKind::Spurious => Told { event: "spurious_loss", ..Told::default() },
        EventKind::Other(name) => {
            let at = batch.peers.binary_search_by_key(&(index as u32), |peer| peer.event);
            let peer = at.ok().map(|at| batch.name(batch.peers[at].address));
            Told { event: batch.name(name), peer, ..Told::default() }
        }
        EventKind::Sent(_)
        | EventKind::Received(_)
        | EventKind::Lost(_)
        | EventKind::Dropped(_)
        | EventKind::Metrics(_) => Told::default(),
    }
}
