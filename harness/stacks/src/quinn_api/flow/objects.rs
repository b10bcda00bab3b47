//! A media object sequence over a connection: a unidirectional stream for each group, with a priority by its number.

use std::time::Instant;

use super::{Flow, READY, STREAM_STEP, StreamState, UNIDIRECTIONAL};
use crate::driver::datagrams::Role;
use crate::driver::sender_log::lock;
use crate::payload::Transfer;
use crate::quinn_api::{QuinnApi, Way};
use windlass_simulator::scenario::GroupOrder;

impl<S: QuinnApi> Flow<S> {
    /// Has the application produce the objects that are due and gives them to the streams of their groups, of which those
    /// are reset that are not acknowledged in time.
    pub(super) fn write_objects(&mut self, now: Instant) -> Result<(), String> {
        // The first stream opens when the handshake allows, and then the application begins.
        self.open_groups(1)?;
        if self.ended || self.streams.is_empty() {
            return Ok(());
        }
        let mut log = lock(&self.sender_log);
        if let Some(window) = self.granted.take() {
            log.granted(window);
        }
        let time = log.by_network();
        self.writer.write(now, 0, time, &mut log.meter);
        let Some(groups) = &mut self.writer.groups else { return Ok(()) };
        while let Some(group) = groups.expired(time, |group| log.stream_acknowledged(stream_id(group))) {
            log.meter.dropped(group);
        }
        let (count, order) = (groups.count(), groups.order());
        drop(log);
        self.open_groups(count)?;
        let opened = self.streams.len() as u64;
        // Where the receiver's window limits the connection, what goes first takes of it first.
        for turn in 0..opened {
            self.write_group(if order == GroupOrder::Ascending { turn } else { opened - 1 - turn })?;
        }
        Ok(())
    }

    /// Opens streams until there are `count`, or as many as the receiver allows.
    fn open_groups(&mut self, count: u64) -> Result<(), String> {
        let Some(connection) = self.ends[Role::Sender as usize].connection() else { return Ok(()) };
        let Some(groups) = &self.writer.groups else { return Ok(()) };
        for number in self.streams.len() as u64..count {
            let Some(id) = S::open(connection, Way::One) else { break };
            let later = i32::try_from(number).unwrap_or(i32::MAX);
            S::set_priority(connection, id, if groups.order() == GroupOrder::Ascending { -later } else { later })?;
            let stream = StreamState { id: stream_id(number), sending: Some(id), ..StreamState::new(false, 0) };
            self.streams.push(stream);
            self.transfers.push(Transfer::new(self.seed, &self.name, number, u64::MAX));
        }
        Ok(())
    }

    /// Gives the stream of group `number` what it takes, or resets it if the group is dropped.
    fn write_group(&mut self, number: u64) -> Result<(), String> {
        let Some(connection) = self.ends[Role::Sender as usize].connection() else { return Ok(()) };
        let Some(groups) = &self.writer.groups else { return Ok(()) };
        let (stream, transfer) = (&mut self.streams[number as usize], &mut self.transfers[number as usize]);
        let Some(id) = stream.sending.filter(|_| !stream.finished) else { return Ok(()) };
        if groups.is_dropped(number) {
            stream.finished = true;
            return S::reset(connection, id);
        }
        let sent = lock(&self.sender_log).stream_sent(stream.id);
        while transfer.written() < sent + READY {
            let left = groups.bytes(number) - transfer.made();
            if left == 0 && transfer.unwritten.is_empty() {
                stream.finished = groups.is_complete(number);
                return if stream.finished { S::finish(connection, id) } else { Ok(()) };
            }
            transfer.make(left);
            if !S::write(connection, id, &mut transfer.unwritten) {
                break;
            }
        }
        Ok(())
    }
}

/// The stream of group `number`.
fn stream_id(number: u64) -> u64 {
    UNIDIRECTIONAL + STREAM_STEP * number
}
