//! The file of one connection.

use std::ops::RangeInclusive;
use std::sync::atomic::Ordering;
use std::time::Duration;

use s2n_quic::provider::event::events::{self, BbrState, PacketHeader, StreamType, TransmissionMode};
use serde::Serialize;
use windlass_adapter::SharedTrace;
use windlass_qlog::{Ack, EcnCounts, End, Frame, Metrics, Packet, PacketType, RecoveryParameters, SendTrigger, Trace};

use super::{Lost, Output};
use crate::endpoint::address;

/// Name of the qlog event that records are missing before it.
pub(super) const DROPPED: &str = "windlass:dropped";

/// A connection being logged: the context of its events.
pub struct Connection {
    trace: SharedTrace<Output>,
    /// Records of the file dropped so far, and how many of them the file reports.
    lost: (Lost, u64),
    controller: Option<String>,
    sending: Contents,
    /// The packet that is being read: s2n-quic reports it before its frames, and in the
    /// middle of them what its acknowledgements led to.
    receiving: Option<Receiving>,
    receiving_contents: Contents,
    mtu: Option<u32>,
}

#[derive(Default)]
struct Contents {
    of: Option<(PacketType, u64)>,
    seen: Vec<Seen>,
    ranges: Vec<(u64, u64)>,
    delay: Option<Duration>,
}

impl Contents {
    /// The contents of the packet of `header`, nothing if others were here.
    fn of(&mut self, header: &PacketHeader) -> &mut Self {
        let packet = packet(header);
        if self.of != packet {
            self.clear();
            self.of = packet;
        }
        self
    }

    fn clear(&mut self) {
        self.of = None;
        self.seen.clear();
        self.ranges.clear();
        self.delay = None;
    }

    fn range(&mut self, range: &RangeInclusive<u64>) {
        self.ranges.push((*range.start(), *range.end()));
    }

    fn frames(&self) -> Vec<Frame<'_>> {
        let delay_ns = self.delay.and_then(|delay| u64::try_from(delay.as_nanos()).ok());
        let frame = |seen: &Seen| match *seen {
            Seen::Ack(ecn) => Frame::Ack(Ack { delay_ns, ranges: &self.ranges, ecn }),
            Seen::Other(frame) => frame,
        };
        self.seen.iter().map(frame).collect()
    }
}

/// A packet that is being read, and what it led to so far.
struct Receiving {
    at: u64,
    packet: Packet,
    aside: Vec<Box<Write>>,
    metrics: Option<Metrics>,
}

type Write = dyn FnOnce(u64, &mut Trace<Output>) + Send;

#[derive(Serialize)]
struct Dropped {
    records: u64,
}

impl Connection {
    pub(super) fn new(trace: SharedTrace<Output>, lost: Lost, controller: Option<String>) -> Connection {
        Connection {
            trace,
            lost: (lost, 0),
            controller,
            sending: Contents::default(),
            receiving: None,
            receiving_contents: Contents::default(),
            mtu: None,
        }
    }

    /// Writes something of its own, after what is still to be written.
    fn write(&mut self, now: u64, write: impl FnOnce(u64, &mut Trace<Output>)) {
        self.flush();
        let mut trace = self.trace.lock();
        let dropped = self.lost.0.load(Ordering::Relaxed);
        if dropped > self.lost.1 {
            trace.private(now, DROPPED, &Dropped { records: dropped - self.lost.1 });
            self.lost.1 = dropped;
        }
        write(now, &mut trace);
    }

    /// Writes what a packet led to, after it: more of its frames may follow.
    pub(super) fn aside(&mut self, now: u64, write: impl FnOnce(u64, &mut Trace<Output>) + Send + 'static) {
        match self.reading(now) {
            Some(receiving) => receiving.aside.push(Box::new(write)),
            None => self.write(now, write),
        }
    }

    /// Writes the packet that was being read.
    fn flush(&mut self) {
        let Some(receiving) = self.receiving.take() else { return };
        let mut trace = self.trace.lock();
        trace.packet_received(receiving.at, &receiving.packet, &self.receiving_contents.frames());
        self.receiving_contents.clear();
        for write in receiving.aside {
            write(receiving.at, &mut trace);
        }
        if let Some(metrics) = receiving.metrics {
            trace.recovery_metrics(receiving.at, &metrics);
        }
    }

    /// The connection begins on `path`.
    pub(super) fn started(&mut self, now: u64, path: &events::Path<'_>) {
        self.write(now, |now, trace| {
            let local = End { address: address(&path.local_addr), connection_id: path.local_cid.bytes };
            let remote = End { address: address(&path.remote_addr), connection_id: path.remote_cid.bytes };
            trace.connection_started(now, local, remote);
        });
    }

    pub(super) fn frame_sent(&mut self, header: &PacketHeader, frame: &events::Frame) {
        self.sending.of(header).seen.extend(seen(frame));
    }

    pub(super) fn range_sent(&mut self, header: &PacketHeader, range: &RangeInclusive<u64>) {
        self.sending.of(header).range(range);
    }

    pub(super) fn delay_sent(&mut self, header: &PacketHeader, delay: Duration) {
        self.sending.of(header).delay = Some(delay);
    }

    pub(super) fn packet_sent(&mut self, now: u64, event: &events::PacketSent) {
        let Some((kind, number)) = packet(&event.packet_header) else { return };
        let trigger = matches!(event.transmission_mode, TransmissionMode::LossRecoveryProbing { .. })
            .then_some(SendTrigger::PtoProbe);
        let packet = Packet { kind, number, bytes: event.packet_len as u64, trigger };
        let mut contents = std::mem::take(&mut self.sending);
        contents.of(&event.packet_header);
        self.write(now, |now, trace| trace.packet_sent(now, &packet, &contents.frames()));
        contents.clear();
        self.sending = contents;
    }

    pub(super) fn packet_received(&mut self, now: u64, event: &events::PacketReceived) {
        self.flush();
        let Some((kind, number)) = packet(&event.packet_header) else { return };
        self.receiving_contents.of(&event.packet_header);
        let packet = Packet { kind, number, bytes: event.packet_len as u64, trigger: None };
        self.receiving = Some(Receiving { at: now, packet, aside: Vec::new(), metrics: None });
    }

    pub(super) fn frame_received(&mut self, header: &PacketHeader, frame: &events::Frame) {
        self.receiving_contents.of(header).seen.extend(seen(frame));
    }

    pub(super) fn range_received(&mut self, header: &PacketHeader, range: &RangeInclusive<u64>) {
        self.receiving_contents.of(header).range(range);
    }

    /// `Some` while the packet read at `now` may still have frames to come.
    fn reading(&mut self, now: u64) -> Option<&mut Receiving> {
        self.receiving.as_mut().filter(|receiving| receiving.at == now)
    }

    pub(super) fn packet_lost(&mut self, now: u64, event: &events::PacketLost<'_>) {
        let Some((kind, number)) = packet(&event.packet_header) else { return };
        self.aside(now, move |now, trace| trace.packet_lost(now, kind, number, None));
    }

    pub(super) fn metrics(&mut self, now: u64, event: &events::RecoveryMetrics<'_>) {
        let nanos = |duration: Duration| u64::try_from(duration.as_nanos()).ok();
        let mut metrics = Metrics {
            cwnd: Some(event.congestion_window.into()),
            bytes_in_flight: Some(event.bytes_in_flight.into()),
            pto_count: Some(event.pto_count.into()),
            ..Metrics::default()
        };
        // Before the first sample these are a guess, all the same.
        if event.latest_rtt != event.smoothed_rtt || event.rtt_variance != event.smoothed_rtt / 2 {
            metrics.latest_rtt = nanos(event.latest_rtt);
            metrics.smoothed_rtt = nanos(event.smoothed_rtt);
            metrics.min_rtt = nanos(event.min_rtt);
            metrics.rtt_variance = nanos(event.rtt_variance);
        }
        match self.reading(now) {
            Some(receiving) => receiving.metrics = Some(metrics),
            None => self.write(now, |now, trace| trace.recovery_metrics(now, &metrics)),
        }
    }

    pub(super) fn pacing_rate(&mut self, now: u64, rate: u64) {
        let metrics = Metrics { pacing_rate: Some(rate), ..Metrics::default() };
        match self.reading(now) {
            Some(receiving) => {
                let before = receiving.metrics.unwrap_or_default();
                receiving.metrics = Some(before.updated_by(&metrics));
            }
            None => self.write(now, |now, trace| trace.recovery_metrics(now, &metrics)),
        }
    }

    pub(super) fn state(&mut self, now: u64, state: &str) {
        self.trace.lock().congestion_state(now, state, None);
    }

    pub(super) fn mtu(&mut self, now: u64, mtu: u16) {
        let new = u32::from(mtu);
        let old = self.mtu.replace(new);
        if old == Some(new) {
            return;
        }
        let controller = self.controller.take();
        self.aside(now, move |now, trace| match (old, controller) {
            // The first is the size the connection starts with.
            (None, Some(name)) => trace.recovery_parameters_set(now, &RecoveryParameters::rfc9002(&name, new)),
            (None, None) => {}
            (Some(old), _) => trace.mtu_updated(now, Some(old), new),
        });
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.flush();
    }
}

/// A frame, without its acknowledged ranges, which are reported one by one.
#[derive(Clone, Copy)]
enum Seen {
    Ack(Option<EcnCounts>),
    Other(Frame<'static>),
}

/// Type and number of a packet, as qlog has them; `None` for those without a number.
fn packet(header: &PacketHeader) -> Option<(PacketType, u64)> {
    Some(match *header {
        PacketHeader::Initial { number, .. } => (PacketType::Initial, number),
        PacketHeader::Handshake { number, .. } => (PacketType::Handshake, number),
        PacketHeader::ZeroRtt { number, .. } => (PacketType::ZeroRtt, number),
        PacketHeader::OneRtt { number, .. } => (PacketType::OneRtt, number),
        _ => return None,
    })
}

/// A frame as qlog's; `None` for those of which s2n-quic reports too little for qlog.
fn seen(frame: &events::Frame) -> Option<Seen> {
    let bidirectional = |kind: &StreamType| matches!(kind, StreamType::Bidirectional { .. });
    Some(Seen::Other(match *frame {
        events::Frame::Ack { ref ecn_counts, .. } => {
            let counts = ecn_counts.as_ref();
            return Some(Seen::Ack(counts.map(|counts| EcnCounts {
                ect0: counts.ect_0_count,
                ect1: counts.ect_1_count,
                ce: counts.ce_count,
            })));
        }
        events::Frame::Padding { len, .. } => Frame::Padding { length: len.into() },
        events::Frame::Ping { .. } => Frame::Ping,
        events::Frame::Crypto { offset, len, .. } => Frame::Crypto { offset, length: len.into() },
        events::Frame::Stream { id, offset, len, is_fin, .. } => {
            Frame::Stream { id, offset, length: len.into(), fin: is_fin }
        }
        events::Frame::MaxData { value, .. } => Frame::MaxData { maximum: value },
        events::Frame::MaxStreamData { id, value, .. } => Frame::MaxStreamData { id, maximum: value },
        events::Frame::Datagram { len, .. } => Frame::Datagram { length: len.into() },
        events::Frame::HandshakeDone { .. } => Frame::HandshakeDone,
        events::Frame::ResetStream { id, error_code, final_size, .. } => {
            Frame::ResetStream { id, error_code, final_size }
        }
        events::Frame::StopSending { id, error_code, .. } => Frame::StopSending { id, error_code },
        events::Frame::MaxStreams { ref stream_type, value, .. } => {
            Frame::MaxStreams { bidirectional: bidirectional(stream_type), maximum: value }
        }
        events::Frame::DataBlocked { data_limit, .. } => Frame::DataBlocked { limit: data_limit },
        events::Frame::StreamDataBlocked { stream_id, stream_data_limit, .. } => {
            Frame::StreamDataBlocked { id: stream_id, limit: stream_data_limit }
        }
        events::Frame::StreamsBlocked { ref stream_type, stream_limit, .. } => {
            Frame::StreamsBlocked { bidirectional: bidirectional(stream_type), limit: stream_limit }
        }
        events::Frame::PathChallenge { .. } => Frame::PathChallenge,
        events::Frame::PathResponse { .. } => Frame::PathResponse,
        events::Frame::ConnectionClose { .. } => Frame::ConnectionClose,
        _ => return None,
    }))
}

/// States of s2n-quic's BBRv2, as qlog names them.
pub(super) fn bbr_state(state: &BbrState) -> &'static str {
    match state {
        BbrState::Startup { .. } => "startup",
        BbrState::Drain { .. } => "drain",
        BbrState::ProbeBwDown { .. } => "probe_bw_down",
        BbrState::ProbeBwCruise { .. } => "probe_bw_cruise",
        BbrState::ProbeBwRefill { .. } => "probe_bw_refill",
        BbrState::ProbeBwUp { .. } => "probe_bw_up",
        BbrState::ProbeRtt { .. } => "probe_rtt",
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use windlass_qlog::{Detail, Header, Profile};

    use super::*;

    #[derive(Clone, Default)]
    struct Text(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Text {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// s2n-quic reports a change of the MTU between the frames of the packet that acknowledges
    /// its probe, and the peer's parameters between those of the one that brought them.
    #[test]
    fn a_packet_keeps_the_frames_that_follow_what_it_led_to() {
        let text = Text::default();
        let output: Output = Box::new(text.clone());
        let trace = Trace::new(output, Profile::Ietf, Detail::Packets, &Header::default());
        let mut connection = Connection::new(SharedTrace::from(trace), Lost::default(), None);
        connection.mtu = Some(1200);
        let packet = Packet { kind: PacketType::OneRtt, number: 7, bytes: 50, trigger: None };
        connection.receiving = Some(Receiving { at: 5, packet, aside: Vec::new(), metrics: None });
        connection.receiving_contents.of = Some((PacketType::OneRtt, 7));
        connection.receiving_contents.seen.push(Seen::Other(Frame::Ping));
        connection.mtu(5, 1452);
        connection.receiving_contents.seen.push(Seen::Other(Frame::HandshakeDone));
        drop(connection);
        let text = String::from_utf8(text.0.lock().unwrap().clone()).unwrap();
        let events: Vec<&str> = text.lines().filter(|line| line.contains("\"data\"")).collect();
        assert!(events[0].contains("packet_received") && events[0].contains("ping"), "{text}");
        assert!(events[0].contains("handshake_done") && events[1].contains("mtu_updated"), "{text}");
    }
}
