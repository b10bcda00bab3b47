//! The packets of a connection in order, with their acknowledgement or loss, in bounded memory.

use std::collections::BTreeMap;
use std::io::Read;
use std::ops::Range;

use serde::Serialize;

use crate::connections::MAX_NAME;
use crate::flight::{Flight, PacketStatus, Sent};
use crate::model::{Batch, Event, EventKind, FrameTypes, Name, Packet, PacketType, Stream};
use crate::read::encoding::truncated;
use crate::read::{Options, ReadError, read};

/// Packet number spaces, one each path, that are followed.
const SPACES: usize = 32;

/// Most reasons of loss kept; further ones are left out.
const REASONS: usize = 64;

/// A packet as it was sent or received, in few bytes, as there are millions: what is not logged is 0, all else one more
/// than its value.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Row {
    time: i64,
    number: u64,
    /// From its time until it was acknowledged, ns.
    acked: u64,
    /// Number of the packet whose ACK frame did.
    by: u64,
    bytes: u32,
    frames: FrameTypes,
    /// Number of its data frames, which follow those of the row before.
    streams: u32,
    sent: bool,
    kind: PacketType,
}

/// When a packet was declared lost.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Loss {
    /// From the packet's time, ns, and one more.
    after: u64,
    /// Why: an index into the log's reasons from 1, 0 if it is not logged.
    reason: u32,
}

/// The packets of a connection.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct PacketLog {
    rows: Vec<Row>,
    /// By the row of the packet.
    losses: BTreeMap<u32, Loss>,
    streams: Vec<Stream>,
    reasons: Vec<String>,
    left_out: u64,
    /// When the connection begins, ns of the trace's clock.
    start: i64,
}

/// Description of a [`PacketLog`] for a page, beside its bytes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PacketInfo {
    /// Packets in the log, the first of the connection or of the times asked for.
    pub packets: usize,
    /// Data frames of them.
    pub frames: usize,
    /// Packets after those, for which there was no room.
    pub left_out: u64,
    /// Why packets were declared lost, by their number from 1.
    pub reasons: Vec<String>,
    /// Packet types, by their number.
    pub types: [&'static str; 6],
    /// Frame types, by their bit.
    pub frame_types: [&'static str; FrameTypes::NAMES.len()],
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
    /// Room for all that share it, and for this one.
    whole: usize,
    most: usize,
    /// Packets of other times, from the connection's first event, ns, are passed over.
    times: Range<i64>,
    first: Option<i64>,
    flights: BTreeMap<(PacketType, u32), Flight<u32>>,
}

impl Packets {
    /// No packet yet; at most `most` of those in `times` will be kept, and as many data frames.
    pub(super) fn new(most: usize, times: Range<i64>) -> Packets {
        let log = PacketLog::default();
        let most = most.min(u32::MAX as usize);
        Packets { log, whole: most, most, times, first: None, flights: BTreeMap::new() }
    }

    /// Takes as much less memory as is fit for one of `followers`.
    pub(super) fn share_memory(&mut self, followers: usize) {
        self.most = (self.whole / followers.max(1)).max(64);
        let most = self.most;
        self.flights.values_mut().for_each(|flight| flight.limit(most));
    }

    pub(super) fn event(&mut self, batch: &Batch, event: &Event) {
        self.log.start = *self.first.get_or_insert(event.time);
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
                let after = since(&self.log.rows[sent.extra as usize], event.time);
                self.log.losses.insert(sent.extra, Loss { after, reason });
            }
            _ => {}
        }
    }

    fn add(&mut self, time: i64, sent: bool, batch: &Batch, packet: &Packet) {
        if !self.times.contains(&time.saturating_sub(self.log.start)) {
            return;
        }
        let frames = batch.streams_of(packet);
        let log = &mut self.log;
        if log.left_out > 0 || log.rows.len() >= self.most || log.streams.len() + frames.len() > self.most {
            log.left_out += 1;
            return;
        }
        let streams = frames.len() as u32;
        log.streams.extend(frames);
        let row = log.rows.len() as u32;
        let Packet { kind, number, bytes, frames, .. } = *packet;
        let (number, bytes) = (one_more(number), bytes.map_or(0, |bytes| bytes.saturating_add(1)));
        log.rows.push(Row { time, number, acked: 0, by: 0, bytes, frames, streams, sent, kind });
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
                    let row = &mut rows[sent.extra as usize];
                    (row.acked, row.by) = (since(row, time), one_more(by.number));
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

/// A value as rows have it.
fn one_more(value: Option<u64>) -> u64 {
    value.map_or(0, |value| value.saturating_add(1))
}

/// From a packet's time until `time`, ns, and one more.
fn since(row: &Row, time: i64) -> u64 {
    time.saturating_sub(row.time).max(0) as u64 + 1
}

/// Packets of unknown type count as 1-RTT, which nearly all are.
fn space_of(packet: &Packet) -> (PacketType, u32) {
    let kind = match packet.kind.space() {
        PacketType::Unknown => PacketType::OneRtt,
        kind => kind,
    };
    (kind, packet.path)
}

impl PacketLog {
    /// Counts, names and reasons, for JSON.
    #[must_use]
    pub fn info(&self) -> PacketInfo {
        PacketInfo {
            packets: self.rows.len(),
            frames: self.streams.len(),
            left_out: self.left_out,
            reasons: self.reasons.clone(),
            types: TYPES.map(PacketType::name),
            frame_types: FrameTypes::NAMES,
        }
    }

    /// The packets as bytes, column after column of variable-length integers, as
    /// [`ConnectionSeries::encode`](super::ConnectionSeries::encode) writes them. Times count from
    /// the connection's first event, ns; what is not logged is 0, all else one more than its value.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.rows.len() * 8);
        let rows = &self.rows;
        let mut column = |value: &dyn Fn(&Row) -> u64| rows.iter().for_each(|row| varint(value(row), &mut bytes));
        let kind = |row: &Row| TYPES.iter().position(|kind| *kind == row.kind).unwrap_or(0) as u64;
        column(&|row| u64::from(row.sent) | kind(row) << 1);
        column(&|row| row.frames.bits().into());
        column(&|row| row.bytes.into());
        column(&|row| row.streams.into());
        for part in [|loss: &Loss| loss.after, |loss: &Loss| loss.reason.into()] {
            (0..rows.len() as u32).for_each(|row| varint(self.losses.get(&row).map_or(0, part), &mut bytes));
        }
        rows.iter().for_each(|row| varint(row.acked, &mut bytes));
        differences(rows.iter().map(|row| row.time.saturating_sub(self.start)), 0, &mut bytes);
        differences(rows.iter().map(|row| row.number as i64), 0, &mut bytes);
        differences(rows.iter().map(|row| row.by as i64), 0, &mut bytes);
        differences(self.streams.iter().map(|frame| frame.id as i64), 0, &mut bytes);
        differences(self.streams.iter().map(|frame| frame.offset as i64), 0, &mut bytes);
        self.streams.iter().for_each(|frame| varint(frame.length << 1 | u64::from(frame.fin), &mut bytes));
        bytes
    }
}

/// Reads a file again for packets of one connection: of the trace numbered `trace`, those whose connection
/// is called `group`, `times` after its first event, ns, and at most `most` of them.
///
/// # Errors
/// As [`read`].
pub fn read_packets(
    input: impl Read,
    options: &Options,
    (trace, group): (u32, &str),
    times: Range<i64>,
    most: usize,
) -> Result<PacketLog, ReadError> {
    let mut packets = Packets::new(most, times);
    read(input, options, &mut |found, batch| {
        if found.index == trace {
            for event in &batch.events {
                let name = truncated(batch.name(event.group), MAX_NAME);
                if name == group || name.is_empty() && found.group == group {
                    packets.event(&batch, event);
                }
            }
        }
        Ok(())
    })?;
    Ok(packets.finish())
}

/// Adds each value as the difference to the one before.
pub(super) fn differences(values: impl Iterator<Item = i64>, first: i64, bytes: &mut Vec<u8>) {
    let mut before = first;
    for value in values {
        varint(zigzag(value.wrapping_sub(before)), bytes);
        before = value;
    }
}

/// Small numbers for small differences of either sign.
fn zigzag(difference: i64) -> u64 {
    ((difference << 1) ^ (difference >> 63)) as u64
}

/// Adds a variable-length integer.
fn varint(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connections::{Connection, connections};
    use crate::metrics::tests::file;
    use crate::series::Series;

    fn log(records: &[&str], most: usize) -> PacketLog {
        let (_, found) =
            connections(file(records).as_slice(), &Options::default(), || Series::with_packets(100, most)).unwrap();
        let connection: Vec<Connection<Series>> = found;
        Series::finish(connection.into_iter().next().unwrap()).remove(0).packets.unwrap()
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
        assert_eq!((first.time, first.number, first.sent), (1_000_000, 7 + 1, true));
        // Lost, and acknowledged later all the same.
        assert_eq!(log.losses, [(0, Loss { after: 40_000_000 + 1, reason: 1 })].into());
        assert_eq!((first.acked, first.by), (49_000_000 + 1, 4 + 1));
        assert_eq!((second.acked, second.by), (38_000_000 + 1, 3 + 1));
        assert!(!ack.sent && ack.frames.names().eq(["ack"]) && ack.acked == 0 && !later.sent);
        assert_eq!(log.info().reasons, ["time_threshold"]);
        assert_eq!(log.streams, [Stream { id: 4, offset: 10, length: 5, fin: true }]);
    }

    #[test]
    fn only_so_many_packets_are_kept_and_the_others_counted() {
        let log = log(&TRACE, 2);
        assert_eq!((log.info().packets, log.info().left_out), (2, 2));
        assert_eq!((log.rows[0].acked, log.rows[0].by), (49_000_000 + 1, 4 + 1), "and their acknowledgements stay");
    }

    #[test]
    fn room_is_shared_by_all_that_are_followed_at_last() {
        let mut packets = Packets::new(1 << 16, 0..1);
        [2, 4, 8, 16, 16].into_iter().for_each(|followers| packets.share_memory(followers));
        assert_eq!(packets.most, 1 << 12);
    }

    #[test]
    fn packets_of_some_times_are_read_with_what_becomes_of_them_later() {
        let text = file(&TRACE);
        let some =
            |group: &str, times| read_packets(text.as_slice(), &Options::default(), (0, group), times, 100).unwrap();
        let [second] = &some("", 1_000_000..2_000_000).rows[..] else { panic!() };
        assert_eq!((second.number, second.acked, second.by), (8 + 1, 38_000_000 + 1, 3 + 1));
        let late = some("", 10_000_000..i64::MAX);
        assert_eq!((late.rows.len(), late.start), (2, 1_000_000));
        assert_eq!(some("another", 0..i64::MAX).rows.len(), 0);
        assert_eq!(some("", 0..i64::MAX), log(&TRACE, 100));
    }

    #[test]
    fn a_packet_takes_few_bytes() {
        assert!(size_of::<Row>() <= 48, "in memory: {}", size_of::<Row>());
        let bytes = log(&TRACE[..1], 100).encode();
        // sent, 1RTT; a stream frame; 1200 + 1; one data frame; neither lost nor acknowledged; time 0; number 7 + 1, zigzag; acknowledged by none;
        // stream 4 and offset 10, zigzag; five bytes and the end.
        assert_eq!(bytes, [7, 0x80, 0x01, 0xb1, 0x09, 1, 0, 0, 0, 0, 16, 0, 8, 20, 11]);
    }
}
