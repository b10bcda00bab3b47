//! Events into the tables they belong to.

use arrow::array::RecordBatch;
use windlass_qlog_analysis::model::{Batch, Event, EventKind};

use crate::rows::{Events, Origin, OtherRow, Packets, Recovery, StateVariables};
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
    state_variables: StateVariables,
}

impl Tables {
    /// Adds event `index` of `batch` with its rows in the batch's tables.
    ///
    /// `file` names where it comes from, `connection` is its connection, and `before` is
    /// how many events of its trace came before the batch.
    pub fn add(&mut self, file: &str, connection: &str, before: u64, batch: &Batch, index: usize) {
        let Some(&Event { time, kind, .. }) = batch.events.get(index) else { return };
        let seq = before + index as u64;
        let origin = Origin { file, trace: batch.trace, connection, seq, time };
        let packet = |index: u32| &batch.packets[index as usize];
        match kind {
            EventKind::PacketSent(index) => self.packets.add(&origin, "sent", packet(index), batch),
            EventKind::PacketReceived(index) => self.packets.add(&origin, "received", packet(index), batch),
            EventKind::PacketLost(index) => self.packets.add(&origin, "lost", packet(index), batch),
            EventKind::PacketDropped(index) => self.packets.add(&origin, "dropped", packet(index), batch),
            EventKind::MetricsUpdated(index) => self.recovery.add(&origin, &batch.metrics[index as usize]),
            other => self.events.add(&origin, &other_row(other, batch, index)),
        }
        let event = index as u32;
        let first = batch.state_variables.partition_point(|fact| fact.event < event);
        for fact in batch.state_variables[first..].iter().take_while(|fact| fact.event == event) {
            self.state_variables.add(&origin, batch.name(fact.name), fact.value);
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
        if self.state_variables.size() >= least {
            full.push((Table::StateVariables, self.state_variables.take()?));
        }
        Ok(full)
    }
}

/// Data of an event that is neither packet nor metrics.
fn other_row(kind: EventKind, batch: &Batch, index: usize) -> OtherRow<'_> {
    let number = |event, number| OtherRow { event, number: Some(number), ..OtherRow::default() };
    let text = |event, value: String| OtherRow { event, value: Some(value.into()), ..OtherRow::default() };
    match kind {
        EventKind::CongestionState(state) => {
            let state = batch.states[state as usize];
            let trigger = state.trigger.map(|name| batch.name(name));
            OtherRow {
                event: "congestion_state_updated",
                value: Some(batch.name(state.new).into()),
                trigger,
                ..OtherRow::default()
            }
        }
        EventKind::Controller(name) => {
            OtherRow { event: "congestion_controller", value: Some(batch.name(name).into()), ..OtherRow::default() }
        }
        EventKind::EcnCe(packets) => number("marked", packets),
        EventKind::PacketsLost(packets) => number("losses", packets),
        EventKind::MtuUpdated(bytes) => number("mtu_updated", bytes),
        EventKind::DataDelivered(bytes) => number("delivered", bytes),
        EventKind::TransportParameters(index) => text("parameters_set", batch.parameters[index as usize].to_string()),
        EventKind::FlowControlSent(index) => text("flow_control_sent", batch.flow_control[index as usize].to_string()),
        EventKind::FlowControlReceived(index) => {
            text("flow_control_received", batch.flow_control[index as usize].to_string())
        }
        EventKind::HttpFrameCreated(index) => {
            text("http_frame_created", batch.http_frame_json(&batch.http[index as usize]))
        }
        EventKind::HttpFrameParsed(index) => {
            text("http_frame_parsed", batch.http_frame_json(&batch.http[index as usize]))
        }
        EventKind::PacketsAcked(index) => {
            let packet = &batch.packets[index as usize];
            let ranges: Vec<String> =
                batch.ranges_of(packet).iter().map(|(low, high)| format!("{low}-{high}")).collect();
            let number = Some(packet.path).filter(|&path| path > 0);
            OtherRow { number, ..text("packets_acked", ranges.join(" ")) }
        }
        EventKind::Migrated => OtherRow { event: "migrated", ..OtherRow::default() },
        EventKind::SpuriousLoss => OtherRow { event: "spurious_loss", ..OtherRow::default() },
        EventKind::Other(name) => {
            let at = batch.peers.binary_search_by_key(&(index as u32), |peer| peer.event);
            let peer = at.ok().map(|at| batch.name(batch.peers[at].address));
            OtherRow { event: batch.name(name), peer, ..OtherRow::default() }
        }
        EventKind::PacketSent(_)
        | EventKind::PacketReceived(_)
        | EventKind::PacketLost(_)
        | EventKind::PacketDropped(_)
        | EventKind::MetricsUpdated(_) => OtherRow::default(),
    }
}
