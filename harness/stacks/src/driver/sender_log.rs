//! Log of a flow's sending end, kept while it runs.

use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_adapter::{Frames, GroupStep, QlogRecorder, Recorder, SharedTrace, StateVariables};
use windlass_controllers::{Decision, Event, EventKind, Span, Time};
use windlass_qlog::{Frame, Packet, PacketType, Side, TransportParameters};

use super::liveness::Liveness;
use super::outstanding::{OutstandingPackets, Weight};
use super::stream_acks::StreamAcks;
use windlass_simulator::measure::Meter;

/// Gets every packet of one end of a connection.
pub trait PacketObserver: Send + 'static {
    /// A packet of `bytes` with the frames `payload` leaves.
    fn sent(&mut self, kind: PacketType, number: u64, bytes: usize, payload: &[u8]);
    /// Such a packet arrived and is authentic.
    fn received(&mut self, kind: PacketType, number: u64, bytes: usize, payload: &[u8]);
}

/// Writer of a flow's qlog.
pub type Output = Box<dyn Write + Send>;

/// The sending end of one flow: its numbers and its log.
pub struct SenderLog {
    /// Time of the next event, by the sender's clock.
    pub now: Time,
    /// Lead of the sender's clock over the network's.
    pub ahead: Span,
    /// Whether it moves again after faults; `None` where there are none.
    pub liveness: Option<Liveness>,
    /// Recorders of its controllers that are not dropped yet.
    pub recorders: usize,
    /// RTT samples, window over time, congestion events.
    pub meter: Meter,
    /// Whether the sending end is the server.
    pub server: bool,
    /// Streams, and bytes of each that were sent at least once.
    streams: Vec<(u64, u64)>,
    /// What of them is acknowledged, where the application asks for that.
    pub acks: Option<StreamAcks>,
    /// Packets with stream data, retransmissions included.
    pub data_packets: u64,
    /// Bytes in flight after the latest ACK frame or loss reported to one of our controllers, and `data_packets` then.
    in_flight: Option<(u64, u64)>,
    /// The decision after the latest event.
    pub decision: Decision,
    /// Whether the transfer is over and nothing is measured any more.
    pub over: bool,
    frames: Frames,
    log: Option<Log>,
}

struct Log {
    trace: SharedTrace<Output>,
    /// Whether the trace takes packets.
    has_packets: bool,
    outstanding: OutstandingPackets,
    /// Reports of losses whose packets were not found.
    unexplained: u64,
}

impl SenderLog {
    /// Time of the next event, by the network's clock.
    #[must_use]
    pub fn by_network(&self) -> Time {
        Time(self.now.0.saturating_sub(self.ahead.0))
    }

    /// The sender log of a flow that starts with `decision`; with a `trace`, every packet is logged.
    pub fn new(meter: Meter, decision: Decision, trace: Option<SharedTrace<Output>>) -> SenderLog {
        SenderLog {
            now: Time::ZERO,
            ahead: Span::ZERO,
            liveness: None,
            recorders: 0,
            meter,
            server: false,
            streams: Vec::new(),
            acks: None,
            data_packets: 0,
            in_flight: None,
            decision,
            over: false,
            frames: Frames::default(),
            log: trace.map(|trace| {
                let has_packets = trace.lock().has_packets();
                Log { trace, has_packets, outstanding: OutstandingPackets::default(), unexplained: 0 }
            }),
        }
    }

    /// Losses of which the log does not name the packets.
    pub fn unexplained(&self) -> u64 {
        self.log.as_ref().map_or(0, |log| log.unexplained)
    }

    /// Bytes of stream `id` that were sent at least once.
    pub fn stream_sent(&self, id: u64) -> u64 {
        self.streams.iter().find(|(stream, _)| *stream == id).map_or(0, |(_, sent)| *sent)
    }

    /// Bytes of stream `id` that are acknowledged without a gap before them, where the application asks for that.
    pub fn stream_acknowledged(&self, id: u64) -> u64 {
        self.acks.as_ref().map_or(0, |acks| acks.in_order(id))
    }

    /// The other end's flow control limits (`RFC 9000 §18.2`), as its configuration has them.
    pub fn granted(&self, window: u64) {
        let Some(log) = &self.log else { return };
        let window = Some(window);
        let parameters = TransportParameters {
            initial_max_data: window,
            initial_max_stream_data_bidi_local: window,
            initial_max_stream_data_bidi_remote: window,
            initial_max_stream_data_uni: window,
            ..TransportParameters::default()
        };
        log.trace.lock().parameters_set(self.now.0, Side::Remote, &parameters);
    }

    fn on_event(&mut self, event: &Event, decision: &Decision) {
        if !self.over {
            let mut by_network = *event;
            by_network.now = Time(event.now.0.saturating_sub(self.ahead.0));
            self.meter.on_event(&by_network, decision, &self.decision);
            if let (Some(liveness), Some(rtt)) = (&mut self.liveness, event.rtt()) {
                liveness.on_rtt_sample(by_network.now, rtt.latest);
            }
        }
        self.decision = *decision;
        match &event.kind {
            EventKind::PacketsAcked(acked) => self.in_flight = Some((acked.in_flight, self.data_packets)),
            EventKind::PacketsLost(lost) => self.in_flight = Some((lost.in_flight, self.data_packets)),
            _ => {}
        }
        if let (EventKind::PacketsLost(lost) | EventKind::PersistentCongestion(lost), Some(log)) =
            (&event.kind, &mut self.log)
        {
            let mut trace = log.trace.lock();
            let explained = log.outstanding.lost(lost.bytes, lost.newest_sent_at, |loss| {
                trace.packet_lost(event.now.0, loss.kind, loss.number, Some(loss.trigger));
            });
            log.unexplained += u64::from(!explained);
        }
    }
}

impl SenderLog {
    /// Packets of `bytes` under way; 0 for a native controller, which does not report them.
    pub fn under_way(&self, bytes: u32) -> u64 {
        self.in_flight.map_or(0, |(in_flight, then)| in_flight / u64::from(bytes.max(1)) + self.data_packets - then)
    }
}

impl PacketObserver for SenderLog {
    fn sent(&mut self, kind: PacketType, number: u64, bytes: usize, payload: &[u8]) {
        self.frames.read(payload);
        self.data_packets += u64::from(self.frames.stream_end.is_some());
        for frame in self.frames.logged() {
            let Frame::Stream { id, offset, length, .. } = frame else { continue };
            let end = offset.saturating_add(length);
            if let Some(acks) = &mut self.acks {
                acks.sent(number, id, offset, length);
            }
            match self.streams.iter_mut().find(|(stream, _)| *stream == id) {
                Some((_, sent)) => *sent = end.max(*sent),
                None => self.streams.push((id, end)),
            }
        }
        let Some(log) = &mut self.log else { return };
        if kind == PacketType::Handshake && !self.server {
            // A client that has handshake keys is done with the initial ones (`RFC 9001 §4.9.1`).
            log.outstanding.discard(PacketType::Initial);
        }
        if self.frames.handshake_done {
            // A server confirms the handshake once it is complete (`RFC 9001 §4.1.2`).
            log.outstanding.discard(PacketType::Handshake);
        }
        let bytes = bytes as u64;
        let weight = match self.frames.in_flight {
            true if self.frames.probes_mtu() => Weight::Probe(bytes),
            true => Weight::InFlight(bytes),
            false => Weight::NotInFlight,
        };
        log.outstanding.sent(kind, number, self.now, weight);
        if !log.has_packets {
            return;
        }
        let frames: Vec<_> = self.frames.logged().collect();
        log.trace.lock().packet_sent(self.now.0, &Packet { kind, number, bytes, trigger: None }, &frames);
    }

    fn received(&mut self, kind: PacketType, number: u64, bytes: usize, payload: &[u8]) {
        if self.acks.is_none() && self.log.is_none() {
            return;
        }
        self.frames.read(payload);
        if let (Some(acks), PacketType::OneRtt) = (&mut self.acks, kind) {
            acks.acknowledged(self.frames.acknowledged());
        }
        let Some(log) = &mut self.log else { return };
        if kind == PacketType::Handshake && self.server {
            // A server is done with the initial keys when a Handshake packet arrives (`RFC 9001 §4.9.1`).
            log.outstanding.discard(PacketType::Initial);
        }
        log.outstanding.acknowledged(kind, self.frames.acknowledged());
        if self.frames.handshake_done {
            log.outstanding.discard(PacketType::Handshake);
        }
        if !log.has_packets {
            return;
        }
        let packet = Packet { kind, number, bytes: bytes as u64, trigger: None };
        let frames: Vec<_> = self.frames.logged().collect();
        log.trace.lock().packet_received(self.now.0, &packet, &frames);
    }
}

/// A recorder that writes to a sender log, and to a log after it.
pub struct SenderLogRecorder {
    sender_log: Arc<Mutex<SenderLog>>,
    qlog: Option<QlogRecorder<Output>>,
}

impl SenderLogRecorder {
    /// A recorder of events for `sender_log` and for the qlog trace, if there is one.
    #[must_use]
    pub fn new(sender_log: Arc<Mutex<SenderLog>>, qlog: Option<QlogRecorder<Output>>) -> SenderLogRecorder {
        lock(&sender_log).recorders += 1;
        SenderLogRecorder { sender_log, qlog }
    }
}

impl Drop for SenderLogRecorder {
    fn drop(&mut self) {
        lock(&self.sender_log).recorders -= 1;
    }
}

impl Recorder for SenderLogRecorder {
    fn on_group_step(&mut self, step: GroupStep) {
        if let Some(qlog) = &mut self.qlog {
            qlog.on_group_step(step);
        }
    }

    fn record(&mut self, event: &Event, decision: &Decision, facts: &StateVariables<'_>) {
        lock(&self.sender_log).on_event(event, decision);
        if let Some(qlog) = &mut self.qlog {
            qlog.record(event, decision, facts);
        }
    }
}

/// Ignores poisoning: after a panic of one observer the stack goes on.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
