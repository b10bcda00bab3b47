//! The packets of a connection in order, and what became of each, in bounded memory.

use std::collections::BTreeMap;

use serde::Serialize;

use super::about::{differences, varint};
use crate::flight::{Flight, PacketStatus, Sent};
use crate::model::{Batch, Event, EventKind, Name, Packet, PacketType, Stream};

/// Packet number spaces, one each path, that are followed.
const SPACES: usize = 32;

/// Reasons of loss that are kept; further ones are not told.
const REASONS: usize = 64;

/// A packet as it was sent or received.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Row {
    time: i64,
    sent: bool,
    packet: Packet,
    /// Its data frames, a part of the log's: first and number.
    streams: (u32, u32),
    /// When it was declared lost, and why: an index into the log's reasons from 1, 0 if it is not told.
    lost: Option<(i64, u32)>,
    /// When it was acknowledged, and the number of the packet whose ACK frame did.
    acked: Option<(i64, Option<u64>)>,
}

/// The packets of a connection.
#[derive(Clone, PartialEq, Debug)]
pub struct PacketLog {
    rows: Vec<Row>,
    streams: Vec<Stream>,
    reasons: Vec<String>,
    left_out: u64,
}

/// What a page is told of a [`PacketLog`] beside its bytes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PacketInfo {
    /// Packets in the log, the first of the connection.
    pub packets: usize,
    /// Data frames of them.
    pub frames: usize,
    /// Packets after those, for which there was no room.
    pub left_out: u64,
    /// Why packets were declared lost, by their number from 1.
    pub reasons: Vec<String>,
    /// Packet types, by their number.
    pub types: [&'static str; 6],
}

/// Packet types by the number that [`PacketLog::encode`] writes.
const TYPES: [PacketType; 6] = [
    PacketType::Initial,
    PacketType::Handshake,
    PacketType::ZeroRtt,
    PacketType::OneRtt,
    PacketType::Unnumbered,
    PacketType::Unknown,
];

/// Collects the packets of one connection.
#[derive(Clone, Debug)]
pub(super) struct Packets {
    log: PacketLog,
    most: usize,
    flights: BTreeMap<(PacketType, u32), Flight<u32>>,
}

impl Packets {
    /// No packet yet; at most `most` will be kept, and as many data frames.
    pub(super) fn new(most: usize) -> Packets {
        let log = PacketLog { rows: Vec::new(), streams: Vec::new(), reasons: Vec::new(), left_out: 0 };
        Packets { log, most: most.min(u32::MAX as usize), flights: BTreeMap::new() }
    }

    /// Takes as much less memory as is fit for one of `followers`.
    pub(super) fn share_memory(&mut self, followers: usize) {
        self.most = (self.most / followers.max(1)).max(64);
        let most = self.most;
        self.flights.values_mut().for_each(|flight| flight.limit(most));
    }

    pub(super) fn event(&mut self, batch: &Batch, event: &Event) {
        match event.kind {
            EventKind::PacketSent(index) => self.add(event.time, true, batch, &batch.packets[index as usize]),
            EventKind::PacketReceived(index) => {
                let packet = &batch.packets[index as usize];
                self.add(event.time, false, batch, packet);
                self.acknowledge(event.time, packet, batch.ranges_of(packet));
            }
            EventKind::PacketLost(index) => {
                let packet = &batch.packets[index as usize];
                let reason = self.reason(batch, packet.trigger);
                let Some(number) = packet.number else { return };
                let space = space_of(packet);
                let Some(sent) = self.flights.get_mut(&space).and_then(|flight| flight.get(number)) else { return };
                self.log.rows[sent.extra as usize].lost = Some((event.time, reason));
            }
            _ => {}
        }
    }

    fn add(&mut self, time: i64, sent: bool, batch: &Batch, packet: &Packet) {
        let frames = batch.streams_of(packet);
        let log = &mut self.log;
        if log.left_out > 0 || log.rows.len() >= self.most || log.streams.len() + frames.len() > self.most {
            log.left_out += 1;
            return;
        }
        let streams = (log.streams.len() as u32, frames.len() as u32);
        log.streams.extend(frames);
        let row = log.rows.len() as u32;
        log.rows.push(Row { time, sent, packet: *packet, streams, lost: None, acked: None });
        let space = space_of(packet);
        if let Some(number) = packet.number.filter(|_| sent && packet.ack_eliciting != Some(false))
            && (self.flights.len() < SPACES || self.flights.contains_key(&space))
        {
            let kept = Sent { time, bytes: packet.bytes.unwrap_or(0), status: PacketStatus::InFlight, extra: row };
            let flight = self.flights.entry(space).or_default();
            flight.limit(self.most);
            flight.sent(number, kept);
        }
    }

    fn acknowledge(&mut self, time: i64, by: &Packet, ranges: &[(u64, u64)]) {
        let Some(flight) = self.flights.get_mut(&space_of(by)) else { return };
        let rows = &mut self.log.rows;
        for range in ranges {
            flight.range(*range, |_, sent| {
                if sent.status != PacketStatus::Acked {
                    sent.status = PacketStatus::Acked;
                    rows[sent.extra as usize].acked = Some((time, by.number));
                }
                true
            });
        }
    }

    fn reason(&mut self, batch: &Batch, trigger: Option<Name>) -> u32 {
        let Some(trigger) = trigger else { return 0 };
        let text = batch.name(trigger);
        let reasons = &mut self.log.reasons;
        let known = reasons.iter().position(|reason| reason == text);
        match known {
            Some(index) => index as u32 + 1,
            None if reasons.len() < REASONS => {
                reasons.push(text.to_owned());
                reasons.len() as u32
            }
            None => 0,
        }
    }

    pub(super) fn finish(self) -> PacketLog {
        self.log
    }
}

/// Packets whose type is not told count as 1-RTT, which nearly all are.
fn space_of(packet: &Packet) -> (PacketType, u32) {
    let kind = match packet.kind.space() {
        PacketType::Unknown => PacketType::OneRtt,
        kind => kind,
    };
    (kind, packet.path)
}

impl PacketLog {
    /// What is told of it in JSON.
    #[must_use]
    pub fn info(&self) -> PacketInfo {
        PacketInfo {
            packets: self.rows.len(),
            frames: self.streams.len(),
            left_out: self.left_out,
            reasons: self.reasons.clone(),
            types: TYPES.map(PacketType::name),
        }
    }

    /// The packets as bytes, column after column of variable-length integers, as
    /// [`ConnectionSeries::encode`](super::ConnectionSeries::encode) writes them. Times count from
    /// `start`, ns; what is not told is 0, and all else one more than it is.
    #[must_use]
    pub fn encode(&self, start: i64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.rows.len() * 8);
        let rows = &self.rows;
        let mut column = |value: &dyn Fn(&Row) -> u64| rows.iter().for_each(|row| varint(value(row), &mut bytes));
        let told = |value: Option<u64>| value.map_or(0, |value| value.saturating_add(1));
        let after = |row: &Row, time: i64| time.saturating_sub(row.time).max(0) as u64;
        let kind = |row: &Row| TYPES.iter().position(|kind| *kind == row.packet.kind).unwrap_or(0) as u64;
        column(&|row| u64::from(row.sent) | u64::from(row.packet.acks) << 1 | kind(row) << 2);
        column(&|row| told(row.packet.bytes.map(u64::from)));
        column(&|row| u64::from(row.streams.1));
        column(&|row| told(row.lost.map(|(time, _)| after(row, time))));
        column(&|row| row.lost.map_or(0, |(_, reason)| u64::from(reason)));
        column(&|row| told(row.acked.map(|(time, _)| after(row, time))));
        let number = |number: Option<u64>| number.map_or(0, |number| number as i64 + 1);
        differences(rows.iter().map(|row| row.time.saturating_sub(start)), 0, &mut bytes);
        differences(rows.iter().map(|row| number(row.packet.number)), 0, &mut bytes);
        differences(rows.iter().map(|row| number(row.acked.and_then(|(_, by)| by))), 0, &mut bytes);
        differences(self.streams.iter().map(|frame| frame.id as i64), 0, &mut bytes);
        differences(self.streams.iter().map(|frame| frame.offset as i64), 0, &mut bytes);
        self.streams.iter().for_each(|frame| varint(frame.length << 1 | u64::from(frame.fin), &mut bytes));
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connections::{Connection, connections};
    use crate::metrics::tests::file;
    use crate::read::Options;
    use crate::series::Series;

    fn log(records: &[&str], most: usize) -> PacketLog {
        let (_, found) =
            connections(file(records).as_slice(), &Options::default(), || Series::with_packets(100, most)).unwrap();
        let connection: Vec<Connection<Series>> = found;
        Series::finish(connection.into_iter().next().unwrap()).packets.unwrap()
    }

    const TRACE: [&str; 5] = [
        r#"{"time":1,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":7},"raw":{"length":1200},"frames":[{"frame_type":"stream","stream_id":4,"offset":10,"length":5,"fin":true}]}}"#,
        r#"{"time":2,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":8},"frames":[{"frame_type":"ping"}]}}"#,
        r#"{"time":40,"name":"quic:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":3},"frames":[{"frame_type":"ack","acked_ranges":[[8]]}]}}"#,
        r#"{"time":41,"name":"quic:packet_lost","data":{"header":{"packet_type":"1RTT","packet_number":7},"trigger":"time_threshold"}}"#,
        r#"{"time":50,"name":"quic:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":4},"frames":[{"frame_type":"ack","acked_ranges":[[7,8]]}]}}"#,
    ];

    #[test]
    fn a_packet_is_acknowledged_or_lost_when_and_by_what() {
        let log = log(&TRACE, 100);
        let [first, second, ack, later] = &log.rows[..] else { panic!("{} rows", log.rows.len()) };
        assert_eq!((first.time, first.packet.number, first.sent), (1_000_000, Some(7), true));
        // Lost, and acknowledged later all the same.
        assert_eq!(first.lost, Some((41_000_000, 1)));
        assert_eq!(first.acked, Some((50_000_000, Some(4))));
        assert_eq!((second.lost, second.acked), (None, Some((40_000_000, Some(3)))));
        assert!(!ack.sent && ack.packet.acks && ack.acked.is_none() && !later.sent);
        assert_eq!(log.info().reasons, ["time_threshold"]);
        assert_eq!(log.streams, [Stream { id: 4, offset: 10, length: 5, fin: true }]);
    }

    #[test]
    fn only_so_many_packets_are_kept_and_the_others_counted() {
        let log = log(&TRACE, 2);
        assert_eq!((log.info().packets, log.info().left_out), (2, 2));
        assert_eq!(log.rows[0].acked, Some((50_000_000, Some(4))), "what became of those is told");
    }

    #[test]
    fn a_packet_takes_few_bytes() {
        let bytes = log(&TRACE[..1], 100).encode(1_000_000);
        // sent, 1RTT; 1200 + 1; one frame; neither lost nor acknowledged; time 0; number 7 + 1, zigzag; by nobody;
        // stream 4 and offset 10, zigzag; five bytes and the end.
        assert_eq!(bytes, [13, 0xb1, 0x09, 1, 0, 0, 0, 0, 16, 0, 8, 20, 11]);
    }
}
