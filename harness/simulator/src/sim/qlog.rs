//! Writing a simulated flow as qlog: its packets, its ACKs, its losses, and what its
//! controller makes of them.

use std::io::Write;

use windlass_adapter::qlog::Level;
use windlass_adapter::{QlogRecorder, SharedTrace, StateVariables};
use windlass_controllers::Time;
use windlass_controllers::event::LossTrigger;
use windlass_qlog::{
    Ack, Detail, EcnCounts, Frame, Header, Packet, PacketType, Profile, RecoveryParameters, SendTrigger, Trace,
};

use super::observer::{AckSeen, FlowObserver, LossSeen, PacketSeen, SendReason};
use super::parts::Beginning;
use super::simulation::Simulation;
use crate::scenario::REQUEST_BYTES;

/// How a flow is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QlogSettings {
    /// Schema version of the trace.
    pub profile: Profile,
    /// How much of the packets and metrics.
    pub detail: Detail,
    /// How much of the controller.
    pub level: Level,
}

impl Simulation {
    /// Writes flow `number` to `writer` as qlog. Only before the run has begun. When the
    /// simulation is finished, the trace is the caller's alone to
    /// [`finish`](SharedTrace::finish).
    pub fn qlog<W: Write + Send + 'static>(
        &mut self,
        number: usize,
        writer: W,
        settings: QlogSettings,
    ) -> SharedTrace<W> {
        let Beginning { spec, path, decision, state_variables } = self.beginning(number);
        let description = format!("{} on {}, seed {}", spec.controller, self.scenario().name, self.scenario().seed);
        let header = Header { title: &spec.name, description: &description, name: "sim", ..Header::default() };
        let mut trace = Trace::new(writer, settings.profile, settings.detail, &header);
        trace.recovery_parameters_set(path.now.0, &RecoveryParameters::rfc9002(&spec.controller, spec.packet_bytes));
        let trace = SharedTrace::from(trace);
        let inspect = |visit: &mut dyn FnMut(&'static str, f64)| {
            state_variables.iter().for_each(|(name, value)| visit(name, *value));
        };
        let start = (&decision, &inspect as &StateVariables<'_>);
        let recorder = QlogRecorder::beginning(trace.clone(), settings.level, start, &spec.controller, &path);
        let chunk_bytes = u64::from(spec.packet_bytes - spec.header_bytes);
        let observer = QlogObserver {
            trace: trace.clone(),
            all_losses: settings.level == Level::StepsOnly,
            streams: u64::from(spec.requests.unwrap_or(1)),
            chunk_bytes,
            chunks: spec.transfer_bytes.map_or(u64::MAX, |bytes| bytes.div_ceil(chunk_bytes)),
            before_acks: 0,
            acks: 0,
            answers: Vec::new(),
            groups: Vec::new(),
        };
        self.watch(number, Some(Box::new(observer)), Some(Box::new(recorder)));
        trace
    }
}

/// Writes the packets a flow sends and receives.
struct QlogObserver<W: Write> {
    trace: SharedTrace<W>,
    /// The recorder does not write losses of a single packet.
    all_losses: bool,
    /// Streams, whose data go out in turn, a packet each.
    streams: u64,
    /// Data in a full packet, bytes.
    chunk_bytes: u64,
    /// How many packets it takes to send everything once.
    chunks: u64,
    /// Packets the receiver sent that are no ACKs.
    before_acks: u64,
    /// ACKs that came.
    acks: u64,
    /// Where the answers to requests of a video's client begin and end in the data, bytes; each has a stream.
    answers: Vec<(u64, u64)>,
    /// Where groups of objects begin in the data, bytes; each has a stream.
    groups: Vec<u64>,
}

impl<W: Write> QlogObserver<W> {
    /// The frame of the data at `offset` of the whole transfer.
    fn stream_frame(&self, offset: u64, length: u64) -> Frame<'static> {
        if let Some(number) = self.groups.partition_point(|begin| *begin <= offset).checked_sub(1) {
            if offset == u64::MAX {
                return Frame::Ping;
            }
            // The next object may follow, so that the end of the stream comes in a frame of its own.
            let (id, offset) = (UNIDIRECTIONAL + STREAM_STEP * number as u64, offset - self.groups[number]);
            return Frame::Stream { id, offset, length, fin: false };
        }
        if let Some(number) = self.answers.partition_point(|(begin, _)| *begin <= offset).checked_sub(1) {
            let (begin, end) = self.answers[number];
            let (id, offset) = (STREAM_STEP * number as u64, offset - begin);
            return Frame::Stream { id, offset, length, fin: begin + offset + self.chunk_bytes >= end };
        }
        let chunk = offset / self.chunk_bytes;
        Frame::Stream {
            id: STREAM_STEP * (chunk % self.streams),
            offset: chunk / self.streams * self.chunk_bytes,
            length,
            fin: chunk.saturating_add(self.streams) >= self.chunks,
        }
    }
}

/// A client's bidirectional streams are so far apart (`RFC 9000 §2.1`).
const STREAM_STEP: u64 = 4;
/// Its first unidirectional one.
const UNIDIRECTIONAL: u64 = 2;

impl<W: Write + Send> FlowObserver for QlogObserver<W> {
    fn sent(&mut self, now: Time, packet: &PacketSeen) {
        let trigger = match packet.reason {
            SendReason::Data => None,
            SendReason::Retransmission(LossTrigger::TimeThreshold) => Some(SendTrigger::RetransmitTimeout),
            SendReason::Retransmission(_) => Some(SendTrigger::RetransmitReordered),
            SendReason::ProbeTimeout => Some(SendTrigger::PtoProbe),
        };
        let bytes = u64::from(packet.bytes);
        let frame = self.stream_frame(packet.offset, u64::from(packet.payload));
        let packet = Packet { trigger, ..Packet::one_rtt(packet.number, bytes) };
        self.trace.lock().packet_sent(now.0, &packet, &[frame]);
    }

    fn acked(&mut self, now: Time, ack: &AckSeen<'_>) {
        let ecn = ack.ecn.map(|[ect0, ect1, ce]| EcnCounts { ect0, ect1, ce });
        let frame = Frame::Ack(Ack { delay_ns: Some(ack.delay.0), ranges: ack.ranges, ecn });
        let packet = Packet::one_rtt(self.before_acks + ack.number, u64::from(ack.bytes));
        self.acks = ack.number + 1;
        self.trace.lock().packet_received(now.0, &packet, &[frame]);
    }

    fn requested(&mut self, now: Time, number: Option<u64>, bytes: u32) {
        let number = number.unwrap_or(self.before_acks + self.acks);
        let first = self.answers.len() as u64;
        self.before_acks = number + 1 - self.acks;
        let length = u64::from(REQUEST_BYTES);
        let frames: Vec<_> = (first..first + self.streams)
            .map(|stream| Frame::Stream { id: STREAM_STEP * stream, offset: 0, length, fin: true })
            .collect();
        self.trace.lock().packet_received(now.0, &Packet::one_rtt(number, bytes.into()), &frames);
    }

    fn answered(&mut self, begin: u64, end: u64) {
        self.answers.push((begin, end));
    }

    fn group_began(&mut self, begin: u64) {
        self.groups.push(begin);
    }

    fn lost(&mut self, now: Time, loss: &LossSeen) {
        if loss.together != 1 || self.all_losses {
            let trigger = match loss.trigger {
                LossTrigger::PacketThreshold => Some(windlass_qlog::LossTrigger::ReorderingThreshold),
                LossTrigger::TimeThreshold => Some(windlass_qlog::LossTrigger::TimeThreshold),
                _ => None,
            };
            self.trace.lock().packet_lost(now.0, PacketType::OneRtt, loss.number, trigger);
        }
    }
}

#[cfg(test)]
mod tests;
