//! The sending end of a flow: its controller, what it remembers of packets, and the order
//! in which the controller gets its events.

use std::mem::offset_of;
use std::ops::Range;

use windlass_adapter::rfc9002::RttEstimator;
use windlass_adapter::{
    AckedPackets, DeliveryRateState, Flow, LossEpisode, SendRate, Silence, spread, windows_per_rtt,
};
use windlass_controllers::event::PacketSent as SentEvent;
use windlass_controllers::{ConfiguredController, Decision, Ecn, Event, EventKind, Signals, Span, Time, TrainPlan};

use ack::{AckOutcome, NewestAcked};

use super::counts::LossClassification;
use super::data::{Chunk, Data};
use super::observer::{FlowObserver, PacketSeen, SendReason};
use super::pacer::Pacer;
use super::recovery::{Recovery, Sent, State};
use super::tcp::Tcp;
use super::timers::{NEVER, Timer, Timers};
use super::train::{Trains, handle};
use crate::measure::Meter;
use crate::scenario::FlowSpec;
use windlass_network::ring::Ring;
use windlass_network::{Class, Codepoint, Packet};

mod ack;
mod sack;
mod tcp;

/// What the decision in force asks of the sender, as far as it is needed per packet. Options
/// are kept as one number each: the processor would wait for the two halves of what was just
/// decided to copy them together.
#[derive(Clone, Copy, Debug)]
struct ActiveDecision {
    cwnd: u64,
    /// Bit/s; 0 without one.
    pacing_rate: u64,
    /// What leaves in a smoothed RTT without one.
    windows_per_rtt: f64,
    ecn: Codepoint,
    class: Class,
    /// [`NEVER`] before the first one.
    recovery_start: u64,
}

impl ActiveDecision {
    /// Of `decision`, where the flow's own word on ECN is `ecn`.
    #[inline]
    fn of(decision: &Decision, ecn: Option<bool>) -> ActiveDecision {
        let ecn = match (ecn, decision.ecn) {
            (Some(false), _) | (_, Ecn::NotEct) | (None, Ecn::Unspecified) => Codepoint::NotEct,
            (_, Ecn::Ect0) | (Some(true), Ecn::Unspecified) => Codepoint::Ect0,
            (_, Ecn::Ect1) => Codepoint::Ect1,
        };
        ActiveDecision {
            cwnd: decision.cwnd,
            pacing_rate: decision.pacing_rate.map_or(0, |rate| rate.max(1)),
            windows_per_rtt: windows_per_rtt(decision.phase),
            ecn,
            class: Class::of_dscp(decision.dscp),
            recovery_start: decision.recovery_start.map_or(NEVER, |start| start.0),
        }
    }

    #[inline]
    fn pacing_rate(&self) -> Option<u64> {
        (self.pacing_rate > 0).then_some(self.pacing_rate)
    }

    #[inline]
    fn recovery_start(&self) -> Option<Time> {
        (self.recovery_start != NEVER).then_some(Time(self.recovery_start))
    }
}

/// A packet ready for the network.
pub(super) struct OutgoingPacket {
    pub number: u64,
    pub packet: Packet,
}

/// The sending end of one flow.
// In this order, so that what a packet needs lies together.
#[repr(C)]
pub(super) struct Sender<E: ConfiguredController> {
    /// Nothing is in flight and there is nothing to send. Here lies, too, whether there is a sender.
    silence: Option<Silence>,
    pub recovery: Recovery,
    wants_packet_sent: bool,
    /// Siblings can change the decision in force.
    grouped: bool,
    pacing: bool,
    /// Some link of the route gives congestion-indication marks.
    ci_path: bool,
    /// The window has room and there is nothing to send.
    app_limited: bool,
    ecn: Option<bool>,
    flow: u32,
    overhead: u32,
    active: ActiveDecision,
    pacer: Pacer,
    pub data: Data,
    rtt: RttEstimator,
    max_ack_delay: Span,
    clock_offset: i64,
    batch: AckedPackets,
    episode: LossEpisode,
    /// A packet of the window for each of so many bytes has to be acknowledged before a loss.
    bytes_per_duplicate: Option<u64>,
    /// The wake-up the controller got last; it is not called twice for one.
    woken_for: Option<Time>,
    /// Only of a flow that repairs losses as TCP does, not QUIC.
    tcp: Option<Box<Tcp>>,
    /// Kept for controllers that need delivery rates.
    delivery_rate: Option<Box<DeliveryRateState>>,
    /// `None` before the first.
    pub trains: Option<Box<Trains>>,
    host: Flow<E>,
    /// For the observer: packets an ACK tells of, their ranges, and the counts by codepoint.
    told: Vec<u64>,
    told_ranges: Vec<(u64, u64)>,
    told_ecn: [u64; 3],
    told_acks: u64,
    pub loss_classification: LossClassification,
}

/// What the sender needs of the rest of its flow.
pub(super) struct Context<'a> {
    pub timers: &'a mut Timers,
    pub meter: &'a mut Meter,
    pub observer: &'a mut Option<Box<dyn FlowObserver>>,
}

impl<E: ConfiguredController> Sender<E> {
    /// Where in its memory lies what data that reach the receiver touch.
    pub const ON_DATA: [Range<usize>; 2] =
        [0..offset_of!(Self, recovery) + size_of::<Ring<Sent>>(), offset_of!(Self, data)..offset_of!(Self, rtt)];
    /// The same of an ACK.
    pub const ON_ACK: [Range<usize>; 3] = {
        let (host, [decision, rate]) = (offset_of!(Self, host), Flow::<E>::ON_EVENT);
        [0..host, host + decision.start..host + decision.end, host + rate.start..host + rate.end]
    };

    pub fn new(spec: &FlowSpec, flow: u32, host: Flow<E>, ci_path: bool) -> Sender<E> {
        Sender {
            wants_packet_sent: host.wants_packet_sent(),
            active: ActiveDecision::of(&host.decision(), spec.ecn),
            delivery_rate: host.controller().needs().contains(Signals::DELIVERY_RATE).then(Box::default),
            host,
            grouped: spec.group.is_some(),
            ecn: spec.ecn,
            pacing: spec.pacing,
            flow,
            overhead: spec.overhead_bytes,
            max_ack_delay: spec.ack.max_delay,
            bytes_per_duplicate: spec.dupthresh_frac.map(|frac| u64::from(frac) * u64::from(spec.packet_bytes)),
            clock_offset: spec.clock_offset,
            ci_path,
            recovery: Recovery::new(spec.adaptive_loss_detection),
            rtt: RttEstimator::new(),
            pacer: Pacer::new(spec.burst_packets),
            data: match spec.video {
                Some(_) => Data::answers(spec.packet_bytes, spec.header_bytes),
                None => Data::new(spec.packet_bytes, spec.header_bytes, spec.transfer_bytes, spec.writes),
            },
            trains: None,
            batch: AckedPackets::default(),
            episode: LossEpisode::default(),
            woken_for: None,
            app_limited: false,
            silence: None,
            told: Vec::new(),
            told_ranges: Vec::new(),
            told_ecn: [0; 3],
            told_acks: 0,
            tcp: Tcp::new(spec.recovery),
            loss_classification: LossClassification::default(),
        }
    }

    /// Starts carrying out the decision in force at `now`.
    pub fn begin(&mut self, now: u64, context: &mut Context<'_>) {
        let decision = self.host.decision();
        context.meter.start(now, decision.cwnd);
        self.write_data(now, context);
        self.apply(now, ActiveDecision::of(&decision, self.ecn), decision.wake_at, decision.train, context);
    }

    /// The application writes, and waits until it writes again.
    fn write_data(&mut self, now: u64, context: &mut Context<'_>) {
        if self.data.has_objects() {
            return self.write_objects(now, context);
        }
        let host = &self.host;
        if let Some(written) = self.data.write(|| host.send_rate().map(|rate| rate.bits_per_s)) {
            context.meter.wrote(Time(now), written);
        }
        let next = self.data.next_write();
        context.timers.set(Timer::Write, next.map_or(NEVER, |next| now.saturating_add(next.0)));
    }

    /// The application produces the object that is due, and drops the groups that are not acknowledged in time.
    #[cold]
    fn write_objects(&mut self, now: u64, context: &mut Context<'_>) {
        let host = &self.host;
        if let Some((written, begin)) = self.data.produce(Time(now), || host.send_rate().map(|rate| rate.bits_per_s)) {
            context.meter.wrote(Time(now), written);
            if let (Some(observer), Some(begin)) = (context.observer.as_mut(), begin) {
                observer.group_began(begin);
            }
        }
        while let Some(group) = self.data.expire(Time(now)) {
            context.meter.dropped(group);
        }
        context.timers.set(Timer::Write, self.data.next_of_objects().map_or(NEVER, |at| at.0));
    }

    /// The application writes. A sender that was idle until now tells its controller before the first
    /// packet leaves.
    #[cold]
    pub fn write(&mut self, now: u64, context: &mut Context<'_>) {
        self.write_data(now, context);
        if self.data.peek().is_some() {
            self.end_silence(now, context);
        }
    }

    /// The application answers a request with `bytes`; the same goes for a sender that was idle.
    #[cold]
    pub fn answer(&mut self, now: u64, bytes: u64, context: &mut Context<'_>) {
        let (begin, end) = self.data.answer(bytes);
        if let Some(observer) = context.observer {
            observer.answered(begin, end);
        }
        self.end_silence(now, context);
    }

    /// Probe timeout, ns.
    pub fn pto(&self) -> u64 {
        self.rtt.pto(self.max_ack_delay).0
    }

    fn end_silence(&mut self, now: u64, context: &mut Context<'_>) {
        let pto = self.rtt.pto(self.max_ack_delay);
        // It knows what there is to send, and need not guess whether the pacer held it.
        let restart = self.silence.take().and_then(|silence| silence.end(Time(now), Time::ZERO, pto));
        if let Some(restart) = restart {
            self.emit_rare(now, EventKind::IdleRestart(restart), context);
        }
    }

    #[cold]
    fn falls_silent(&mut self, now: u64) {
        if self.rtt.first_sample.is_some() {
            self.silence.get_or_insert(Silence { since: Time(now), newest_sent_at: Time::ZERO });
        }
    }

    /// Gives the controller an event that comes rarely and starts carrying out what it decides.
    #[inline(never)]
    fn emit_rare(&mut self, now: u64, kind: EventKind, context: &mut Context<'_>) {
        self.emit(now, kind, context);
    }

    /// The same for acknowledgements and packets sent: inlined, the event is written where it is read.
    #[inline(always)]
    fn emit(&mut self, now: u64, kind: EventKind, context: &mut Context<'_>) {
        self.emit_event(now, &Event::new(Time(now), kind), context);
    }

    #[inline(always)]
    fn emit_event(&mut self, now: u64, event: &Event, context: &mut Context<'_>) {
        let decision = self.host.on_event(event);
        let train = if decision.train.is_some() { decision.train } else { None };
        let (active, wake_at) = (ActiveDecision::of(decision, self.ecn), decision.wake_at);
        self.apply(now, active, wake_at, train, context);
    }

    #[inline]
    fn apply(
        &mut self,
        now: u64,
        active: ActiveDecision,
        wake_at: Option<Time>,
        train: Option<TrainPlan>,
        context: &mut Context<'_>,
    ) {
        let before = self.active.recovery_start;
        self.active = active;
        context.meter.window(now, active.cwnd);
        if active.recovery_start != before && active.recovery_start != NEVER {
            context.meter.congestion_events += 1;
        }
        let wake_at = wake_at.filter(|at| Some(*at) != self.woken_for);
        context.timers.set(Timer::Wake, wake_at.map_or(NEVER, |at| at.0.max(now + 1)));
        if let Some(plan) = train {
            let trains = self.trains.get_or_insert_default();
            trains.begin(now, plan);
            context.timers.set(Timer::Train, trains.next());
        }
    }

    /// Names the private facts of the controller.
    pub fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.host.inspect(visit);
    }

    /// What the adapter estimates of the rate at which it can send.
    pub fn send_rate(&self) -> Option<SendRate> {
        self.host.send_rate()
    }

    /// The controller asked to be called now.
    pub fn wake(&mut self, now: u64, context: &mut Context<'_>) {
        self.woken_for = self.host.decision().wake_at.filter(|at| at.0 <= now);
        self.emit_rare(now, EventKind::TimerExpired, context);
    }

    /// The next packet, if there is something to send, the window has room and pacing
    /// lets it leave at `now`.
    #[inline(always)]
    pub fn next_packet(&mut self, now: u64, context: &mut Context<'_>) -> Option<OutgoingPacket> {
        if self.grouped {
            let ecn = self.ecn;
            self.active = self.host.with_decision(|decision| ActiveDecision::of(decision, ecn));
            context.meter.window(now, self.active.cwnd);
        }
        let chunk = self.data.peek();
        let bytes = chunk.map_or(1, |chunk| u64::from(chunk.bytes));
        // With nothing in flight one packet may leave whatever the window: no event would
        // come to send it later.
        let room = self.recovery.in_flight + bytes <= self.active.cwnd
            || self.recovery.in_flight == 0
            || self.tcp.as_ref().is_some_and(|tcp| tcp.lets(self.recovery.in_flight + bytes, bytes, self.active.cwnd));
        self.app_limited = room && chunk.is_none();
        if self.app_limited && self.recovery.in_flight == 0 {
            self.falls_silent(now);
        }
        let chunk = chunk.filter(|_| room)?;
        let due = self.trains.as_ref().and_then(|trains| trains.carries_at()).unwrap_or(self.pacer.next);
        if now < due {
            context.timers.set(Timer::Pace, due);
            return None;
        }
        self.data.take(chunk);
        let reason = chunk.lost_by.map_or(SendReason::Data, SendReason::Retransmission);
        Some(self.depart(now, chunk, reason, context))
    }

    /// The pacing rate of the window, bit/s, where the controller decides none.
    #[inline]
    fn spread(&self) -> Option<u64> {
        if !self.pacing || self.rtt.first_sample.is_none() {
            return None;
        }
        spread(self.active.cwnd, self.active.windows_per_rtt, self.rtt.smoothed)
    }

    // Packets are put together where they go on the network, and not moved there.
    #[inline(always)]
    fn depart(&mut self, now: u64, chunk: Chunk, reason: SendReason, context: &mut Context<'_>) -> OutgoingPacket {
        let before = self.recovery.in_flight;
        let number = self.recovery.sent(Sent {
            sent_at: now,
            in_flight_or_lost_at: 0,
            chunk: chunk.number,
            bytes: u16::try_from(chunk.bytes).unwrap_or(u16::MAX),
            transmissions: chunk.transmissions,
            state: State::InFlight,
            repeated: chunk.transmissions > 1,
            arrived: false,
        });
        if let Some(tcp) = &mut self.tcp {
            tcp.sent(now, number, chunk.number, chunk.transmissions, before);
        }
        if let Some(delivery_rate) = &mut self.delivery_rate {
            delivery_rate.sent(Time(now), self.recovery.in_flight, before == 0);
        }
        // A probe timeout's packet waits for no train and leaves in none.
        let carrier = self.trains.as_mut().filter(|_| reason != SendReason::ProbeTimeout);
        let place = carrier.and_then(|trains| trains.carry(now, number));
        let rate = self.active.pacing_rate().or_else(|| self.spread());
        self.pacer.sent(now, chunk.bytes, rate);
        context.meter.packets_sent += 1;
        if let Some(observer) = context.observer {
            let (offset, payload) = (self.data.offset(chunk), self.data.payload(chunk));
            observer.sent(Time(now), &PacketSeen { number, bytes: chunk.bytes, payload, offset, reason });
        }
        if self.wants_packet_sent {
            let app_limited = self.data.peek().is_none();
            let sent = SentEvent::new(u64::from(chunk.bytes), self.recovery.in_flight)
                .with_pn(Some(number))
                .with_app_limited(app_limited)
                .with_place(place);
            self.emit(now, EventKind::PacketSent(sent), context);
            self.wants_packet_sent = self.host.wants_packet_sent();
        }
        let packet = Packet {
            ecn: self.active.ecn,
            class: self.active.class,
            ci_capable: self.ci_path,
            ..Packet::new(self.flow, number, chunk.bytes + self.overhead)
        };
        OutgoingPacket { number, packet }
    }

    /// Probe `index` of a train.
    pub fn probe(&mut self, plan: &TrainPlan, index: u32, context: &mut Context<'_>) -> Packet {
        context.meter.packets_sent += 1;
        Packet {
            ecn: self.active.ecn,
            class: Class::of_dscp(plan.dscp),
            ..Packet::new(self.flow, handle(plan.id, index), plan.bytes)
        }
    }

    /// Data packet `number` reaches the receiver; how many of its bytes are new there.
    #[inline]
    pub fn arrived(&mut self, number: u64) -> u64 {
        let Some(packet) = self.recovery.sent.get_mut(number) else { return 0 };
        let lost = packet.state == State::Lost;
        self.data.arrived(packet, lost)
    }

    /// The recovery timer expired: a packet is lost by time, or a probe goes out.
    pub fn recovery_due(&mut self, now: u64, context: &mut Context<'_>) -> Option<OutgoingPacket> {
        if let Some(tcp) = self.tcp.take() {
            self.tcp = Some(self.timed_out(tcp, now, context));
            return None;
        }
        if self.recovery.waits_for_loss() {
            if let Some(lost) = self.detect(now, context) {
                self.lost(now, &lost, 0, context);
            }
            return None;
        }
        if self.recovery.deadline(&self.rtt, self.max_ack_delay) > now {
            return None;
        }
        self.recovery.back_off();
        let chunk = match self.data.peek() {
            Some(chunk) => {
                self.data.take(chunk);
                chunk
            }
            None => self.data.duplicate(self.recovery.oldest_in_flight()?),
        };
        Some(self.depart(now, chunk, SendReason::ProbeTimeout, context))
    }

    /// Sets the recovery timer to what it waits for now.
    #[inline]
    pub fn rearm(&self, timers: &mut Timers) {
        let deadline = match &self.tcp {
            Some(tcp) => tcp.deadline(self.recovery.in_flight),
            None => self.recovery.deadline(&self.rtt, self.max_ack_delay),
        };
        timers.set(Timer::Recovery, deadline);
    }
}
