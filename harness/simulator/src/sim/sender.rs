//! The sending end of a flow: its controller, what it remembers of packets, and the order
//! in which the controller hears of things.

use windlass_adapter::{AckedPackets, DeliveryRateState, Flow};
use windlass_controllers::event::{
    EcnCe, LossTrigger, OneWay, PacketSent as SentEvent, PacketsAcked, PacketsLost, Place, ProbeReceived, Queueing,
    RttSample, SpuriousLoss,
};
use windlass_controllers::{ConfiguredController, Decision, Ecn, Event, EventKind, Signals, Span, Time, TrainPlan};

use super::counts::LossClassification;
use super::data::{Chunk, Data};
use super::observer::{AckSeen, FlowObserver, LossSeen, PacketSeen, SendReason};
use super::pacer::Pacer;
use super::receiver::{Received, Receiver};
use super::recovery::{Acknowledged, LostBatch, PACKET_THRESHOLD, Recovery};
use super::recovery::{Sent, State};
use super::rtt::RttEstimator;
use super::tcp::{Flavour, Tcp};
use super::timers::{NEVER, Timer, Timers};
use super::train::{PROBE, Trains, handle, of_handle};
use crate::measure::Meter;
use crate::scenario::FlowSpec;
use windlass_network::{Class, Codepoint, Packet};

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

/// The latest response of the controller, and the latest loss episode, which may turn out
/// spurious whatever marks came since.
#[derive(Clone, Copy, Debug, Default)]
struct Period {
    /// When the response was taken; a packet sent later deserves one of its own
    /// (`RFC 9002 §7.3.2`).
    start: Option<u64>,
    /// When the first loss of the episode was found; `None` before the first episode.
    found_at: Option<u64>,
    /// Packets of the episode declared lost and not acknowledged late; `None` if all were
    /// acknowledged.
    outstanding: Option<u32>,
    newest_sent_at: u64,
}

impl Period {
    /// Packets were declared lost at `now`.
    fn on_packets_lost(&mut self, now: u64, lost: &LostBatch) {
        let responds = self.start.is_none_or(|start| lost.newest_sent_at > start);
        if responds {
            self.start = Some(now);
        }
        let later = self.found_at.is_none_or(|found_at| lost.newest_sent_at > found_at);
        if responds || (later && self.outstanding.is_some()) {
            self.found_at = Some(now);
            self.outstanding = Some(lost.packets);
            self.newest_sent_at = lost.newest_sent_at;
        } else if let Some(outstanding) = &mut self.outstanding {
            *outstanding += lost.packets;
            self.newest_sent_at = self.newest_sent_at.max(lost.newest_sent_at);
        }
    }
}

/// What an ACK brought besides its sample.
struct AckOutcome {
    /// CE marks the ACK newly reports.
    marks: u32,
    /// The newest packet newly acknowledged, and when it was sent.
    newest: Option<(u64, Time)>,
    bytes: u64,
    lost: Option<LostBatch>,
    /// Packets of the latest response that were declared lost and are acknowledged now.
    late: u32,
}

/// The newest packet that an ACK newly acknowledges.
#[derive(Clone, Copy)]
struct NewestAcked {
    arrival: Received,
    /// Bytes in flight when it was sent, itself included.
    in_flight: u64,
}

/// A packet ready for the network.
pub(super) struct OutgoingPacket {
    pub number: u64,
    pub packet: Packet,
}

/// The sending end of one flow.
pub(super) struct Sender<E: ConfiguredController> {
    host: Flow<E>,
    wants_packet_sent: bool,
    /// Siblings can change the decision in force.
    grouped: bool,
    active: ActiveDecision,
    ecn: Option<bool>,
    pacing: bool,
    flow: u32,
    overhead: u32,
    max_ack_delay: u64,
    /// A packet of the window for each of so many bytes has to be acknowledged before a loss.
    bytes_per_duplicate: Option<u64>,
    clock_offset: i64,
    /// Some link of the route gives congestion-indication marks.
    ci_path: bool,
    pub recovery: Recovery,
    rtt: RttEstimator,
    pacer: Pacer,
    pub data: Data,
    pub trains: Trains,
    batch: AckedPackets,
    /// Kept for controllers that need delivery rates.
    departures: Option<DeliveryRateState>,
    period: Period,
    /// The wake-up the controller got last; it is not called twice for one.
    woken_for: Option<Time>,
    /// The window has room and there is nothing to send.
    app_limited: bool,
    /// For the observer: packets an ACK tells of, and the counts by codepoint.
    told: Vec<u64>,
    told_ecn: [u64; 3],
    told_acks: u64,
    /// Only of a flow that repairs losses as TCP does, not QUIC.
    tcp: Option<Box<Tcp>>,
    pub loss_classification: LossClassification,
}

/// What the sender needs of the rest of its flow.
pub(super) struct Context<'a> {
    pub timers: &'a mut Timers,
    pub meter: &'a mut Meter,
    pub observer: &'a mut Option<Box<dyn FlowObserver>>,
}

impl<E: ConfiguredController> Sender<E> {
    pub fn new(spec: &FlowSpec, flow: u32, host: Flow<E>, ci_path: bool) -> Sender<E> {
        Sender {
            wants_packet_sent: host.wants_packet_sent(),
            active: ActiveDecision::of(&host.decision(), spec.ecn),
            departures: host.controller().needs().contains(Signals::DELIVERY_RATE).then(DeliveryRateState::default),
            host,
            grouped: spec.group.is_some(),
            ecn: spec.ecn,
            pacing: spec.pacing,
            flow,
            overhead: spec.overhead_bytes,
            max_ack_delay: spec.ack.max_delay.0,
            bytes_per_duplicate: spec.dupthresh_frac.map(|frac| u64::from(frac) * u64::from(spec.packet_bytes)),
            clock_offset: spec.clock_offset,
            ci_path,
            recovery: Recovery::new(),
            rtt: RttEstimator::new(),
            pacer: Pacer::new(spec.burst_packets),
            data: Data::new(spec.packet_bytes, spec.header_bytes, spec.transfer_bytes),
            trains: Trains::default(),
            batch: AckedPackets::default(),
            period: Period::default(),
            woken_for: None,
            app_limited: false,
            told: Vec::new(),
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
        self.apply(now, ActiveDecision::of(&decision, self.ecn), decision.wake_at, decision.train, context);
    }

    /// Gives the controller an event and starts carrying out what it decides.
    #[inline]
    fn emit(&mut self, now: u64, kind: EventKind, context: &mut Context<'_>) {
        let decision = self.host.on_event(&Event::new(Time(now), kind));
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
            self.trains.begin(now, plan);
            context.timers.set(Timer::Train, self.trains.next());
        }
    }

    /// Names the private facts of the controller.
    pub fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.host.inspect(visit);
    }

    /// The controller asked to be called now.
    pub fn wake(&mut self, now: u64, context: &mut Context<'_>) {
        self.woken_for = self.host.decision().wake_at.filter(|at| at.0 <= now);
        self.emit(now, EventKind::TimerExpired, context);
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
        // With nothing in flight one packet may leave whatever the window: nobody would
        // ever call again.
        let room = self.recovery.in_flight + bytes <= self.active.cwnd
            || self.recovery.in_flight == 0
            || self.tcp.as_ref().is_some_and(|tcp| tcp.lets(self.recovery.in_flight + bytes, bytes, self.active.cwnd));
        self.app_limited = room && chunk.is_none();
        let chunk = chunk.filter(|_| room)?;
        let due = self.trains.carries_at().unwrap_or(self.pacer.next);
        if now < due {
            context.timers.set(Timer::Pace, due);
            return None;
        }
        self.data.take(chunk);
        let reason = chunk.lost_by.map_or(SendReason::Data, SendReason::Retransmission);
        Some(self.depart(now, chunk, reason, context))
    }

    // Packets are put together where they go on the network, and not moved there.
    #[inline(always)]
    fn depart(&mut self, now: u64, chunk: Chunk, reason: SendReason, context: &mut Context<'_>) -> OutgoingPacket {
        let before = self.recovery.in_flight;
        let number = self.recovery.sent(Sent {
            sent_at: now,
            in_flight_or_lost_at: 0,
            chunk: chunk.number,
            bytes: chunk.bytes,
            transmissions: chunk.transmissions,
            state: State::InFlight,
            repeated: chunk.transmissions > 1,
            arrived: false,
        });
        if let Some(tcp) = &mut self.tcp {
            tcp.sent(now, number, chunk.number, chunk.transmissions, before);
        }
        if let Some(departures) = &mut self.departures {
            departures.sent(Time(now), self.recovery.in_flight, before == 0);
        }
        // A probe timeout's packet waits for no train and leaves in none.
        let place = if reason == SendReason::ProbeTimeout { None } else { self.trains.carry(now, number) };
        let spread = (self.pacing && self.rtt.first_sample.is_some()).then_some((self.active.cwnd, self.rtt.smoothed));
        self.pacer.sent(now, chunk.bytes, self.active.pacing_rate(), spread);
        context.meter.packets_sent += 1;
        if let Some(observer) = context.observer {
            let (offset, last) = (self.data.offset(chunk), self.data.is_last(chunk));
            observer.sent(
                Time(now),
                &PacketSeen { number, bytes: chunk.bytes, payload: self.data.payload(chunk), offset, last, reason },
            );
        }
        if self.wants_packet_sent {
            let app_limited = self.data.peek().is_none();
            let sent = SentEvent::new(u64::from(chunk.bytes), self.recovery.in_flight)
                .with_pn(Some(number))
                .with_app_limited(app_limited)
                .with_place(place);
            self.emit(now, EventKind::PacketSent(sent), context);
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

    /// An ACK arrives that tells of the receiver's log up to `upto`.
    #[inline]
    pub fn acknowledged(
        &mut self,
        now: u64,
        upto: u64,
        ack: &Packet,
        receiver: &mut Receiver,
        context: &mut Context<'_>,
    ) {
        if let Some(tcp) = self.tcp.take() {
            self.tcp = Some(match tcp.flavour {
                Flavour::Sack => self.acknowledged_sack(tcp, now, upto, ack, receiver, context),
                _ => self.acknowledged_tcp(tcp, now, upto, ack, receiver, context),
            });
            return;
        }
        let Some(&last) = receiver.log.get(upto) else { return };
        let mut marks = 0;
        let mut ci = false;
        let mut newest: Option<NewestAcked> = None;
        let mut late = 0;
        let recovery_start = self.active.recovery_start();
        // Where nothing has to be read back from memory just after it was written.
        let mut batch = self.batch;
        for position in receiver.log.first()..=upto {
            let Some(&seen) = receiver.log.get(position) else { continue };
            if seen.id & PROBE != 0 {
                let (train, index) = of_handle(seen.id);
                self.probed(now, Place::new(train, index), seen.at.saturating_sub(seen.took), &seen, context);
                continue;
            }
            if context.observer.is_some() {
                self.note(&seen);
            }
            marks += u32::from(seen.ecn == Codepoint::Ce);
            if !receiver.tells(&seen, last.range) {
                continue;
            }
            ci |= seen.ci;
            if let Some(carried) = self.trains.carried(seen.id) {
                self.probed(now, carried.place, carried.sent_at, &seen, context);
            }
            match self.recovery.acked(seen.id) {
                Acknowledged::New(packet) => {
                    self.data.acked(packet, false);
                    batch.add(Time(packet.sent_at), u64::from(packet.bytes), recovery_start);
                    if newest.is_none_or(|newest| seen.id > newest.arrival.id) {
                        newest = Some(NewestAcked { arrival: seen, in_flight: packet.in_flight_or_lost_at });
                    }
                }
                Acknowledged::Late(packet) => {
                    self.data.acked(packet, true);
                    late +=
                        u32::from(self.period.found_at.is_some_and(|found_at| packet.in_flight_or_lost_at >= found_at));
                }
                Acknowledged::Known => {}
            }
        }
        receiver.log.forget_before(upto + 1);
        if context.observer.is_some() {
            self.show_ack(now, Time(last.at), ack, context);
        }
        let ack_delay = ack.sent_at.0.saturating_sub(last.at).min(self.max_ack_delay);
        let mut rtt = None;
        let newest_sent_at = batch.newest_sent_at().unwrap_or_default();
        if let Some(newest) = &newest
            && self.recovery.frame(newest.arrival.id)
        {
            let latest = now - newest_sent_at.0;
            context.meter.rtt.add(latest);
            rtt = Some(self.rtt.sample(now, latest, ack_delay));
        }
        let lost = self.detect(now, context);
        if marks > 0 || lost.is_some() || late > 0 {
            let newest = newest.map(|newest| (newest.arrival.id, newest_sent_at));
            let news = AckOutcome { marks, newest, bytes: batch.bytes(), lost, late };
            self.congestion(now, rtt.take(), &news, context);
        }
        if let Some(newest) = &newest {
            let mut acked = self.finish_batch(now, batch, newest, rtt, ack);
            acked.congestion_indication = self.ci_path.then_some(ci);
            if self.active.recovery_start() != recovery_start {
                // A response was taken just now; whatever is acknowledged left before it.
                acked.fresh_bytes = if self.active.recovery_start().is_some() { 0 } else { acked.bytes };
            }
            self.emit(now, EventKind::PacketsAcked(acked), context);
            self.recovery.reclaim(now, 2 * self.rtt.pto(self.max_ack_delay));
            self.trains.forget_before(self.recovery.sent.first());
        }
    }

    /// The acknowledgements of an ACK, for the controller: their sums, the delivery rate where it is
    /// needed, and what is known of the newest packet. `rtt` is `None` if the controller has the
    /// sample already.
    #[inline(always)]
    fn finish_batch(
        &mut self,
        now: u64,
        mut batch: AckedPackets,
        newest: &NewestAcked,
        rtt: Option<RttSample>,
        ack: &Packet,
    ) -> PacketsAcked {
        let (bytes, in_flight) = (batch.bytes(), self.recovery.in_flight);
        let sent_at = batch.newest_sent_at().unwrap_or_default();
        batch.app_limited(self.app_limited);
        let departure = self
            .departures
            .as_mut()
            .and_then(|departures| departures.acknowledged(Time(now), sent_at, bytes, in_flight, self.app_limited));
        let mut acked = *batch.finish(in_flight, rtt).acked();
        self.batch = batch;
        acked.newest_pn = Some(newest.arrival.id);
        acked.newest_in_flight = Some(newest.in_flight);
        if let Some(departure) = departure {
            departure.apply_to(&mut acked);
        }
        let arrival = &newest.arrival;
        acked.one_way = Some(self.one_way(now, arrival, sent_at.0, ack));
        acked.queueing = Some(Queueing::new(Span(arrival.took), ack.waited));
        acked
    }

    /// One-way times of a packet that left at `sent_at` and of its ACK, which comes at `now`.
    #[inline]
    fn one_way(&self, now: u64, arrival: &Received, sent_at: u64, ack: &Packet) -> OneWay {
        OneWay::new(
            difference(arrival.at, sent_at).saturating_add(self.clock_offset),
            difference(now, ack.sent_at.0).saturating_sub(self.clock_offset),
        )
    }

    /// What comes between the samples of an ACK and its growth, in the order
    /// [`windlass_controllers::event`] gives.
    #[cold]
    fn congestion(&mut self, now: u64, rtt: Option<RttSample>, news: &AckOutcome, context: &mut Context<'_>) {
        if let Some(rtt) = rtt {
            self.emit(now, EventKind::RttSampled(rtt), context);
        }
        if news.marks > 0 {
            self.marked(now, news, context);
        }
        if let Some(lost) = &news.lost {
            self.lost(now, lost, news.bytes, context);
        }
        if let Some(outstanding) = self.period.outstanding.filter(|_| news.late > 0) {
            let left = outstanding.saturating_sub(news.late);
            self.period.outstanding = (left > 0).then_some(left);
            if left == 0 {
                let newest_sent_at = Time(self.period.newest_sent_at);
                self.emit(now, EventKind::SpuriousLoss(SpuriousLoss::new(newest_sent_at)), context);
            }
        }
    }

    fn marked(&mut self, now: u64, news: &AckOutcome, context: &mut Context<'_>) {
        // Marks on packets taken for lost come with nothing newly acknowledged: they are
        // answered as news of this moment.
        let (newest_pn, newest_sent_at) = news.newest.map_or((None, Time(now)), |(number, at)| (Some(number), at));
        if self.period.start.is_none_or(|start| newest_sent_at.0 > start) {
            self.period.start = Some(now);
        }
        let in_flight = self.recovery.in_flight + news.lost.map_or(0, |lost| lost.bytes) + news.bytes;
        self.emit(
            now,
            EventKind::EcnCe(EcnCe::new(news.marks, newest_sent_at, in_flight).with_newest_pn(newest_pn)),
            context,
        );
    }

    /// The controller hears of lost packets, which are out of flight already, as are
    /// `acked` bytes of which it hears next.
    fn lost(&mut self, now: u64, lost: &LostBatch, acked: u64, context: &mut Context<'_>) {
        context.meter.packets_lost += u64::from(lost.packets);
        if let Some(departures) = &mut self.departures {
            departures.lost(lost.bytes);
        }
        let after = self.recovery.in_flight + acked;
        let body = PacketsLost::new(lost.bytes, lost.packets, Time(lost.newest_sent_at), after)
            .with_newest_pn(Some(lost.newest))
            .with_trigger(lost.trigger)
            .with_transmissions(u32::from(lost.transmissions));
        if lost.persistent {
            self.period = Period::default();
            self.rtt.restart_min();
            context.meter.congestion_events += 1;
            self.emit(now, EventKind::PersistentCongestion(body), context);
            return;
        }
        self.period.on_packets_lost(now, lost);
        self.emit(now, EventKind::PacketsLost(body), context);
    }

    /// Keeps what the observer wants to know of a packet an ACK tells of.
    #[cold]
    fn note(&mut self, seen: &Received) {
        self.told.push(seen.id);
        match seen.ecn {
            Codepoint::NotEct => {}
            Codepoint::Ect0 => self.told_ecn[0] += 1,
            Codepoint::Ect1 => self.told_ecn[1] += 1,
            Codepoint::Ce => self.told_ecn[2] += 1,
        }
    }

    /// Shows an ACK to the observer.
    #[cold]
    fn show_ack(&mut self, now: u64, last_arrival: Time, ack: &Packet, context: &mut Context<'_>) {
        let Some(observer) = context.observer else { return };
        self.told.sort_unstable();
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for number in self.told.drain(..) {
            match ranges.last_mut() {
                Some((_, high)) if *high + 1 == number => *high = number,
                _ => ranges.push((number, number)),
            }
        }
        if !ranges.is_empty() {
            let ack = AckSeen {
                number: self.told_acks,
                ranges: &ranges,
                delay: ack.sent_at.since(last_arrival),
                ecn: (self.told_ecn != [0; 3]).then_some(self.told_ecn),
                bytes: ack.bytes.saturating_sub(self.overhead),
            };
            observer.acked(Time(now), &ack);
            self.told_acks += 1;
        }
    }

    #[inline]
    fn detect(&mut self, now: u64, context: &mut Context<'_>) -> Option<LostBatch> {
        let data = &mut self.data;
        let mut gone: Vec<(u64, LossTrigger)> = Vec::new();
        let watched = context.observer.is_some();
        if let Some(bytes) = self.bytes_per_duplicate {
            self.recovery.packet_threshold = (self.active.cwnd / bytes).max(PACKET_THRESHOLD);
        }
        let lost = self.recovery.detect(now, &self.rtt, self.max_ack_delay, |packet, number, trigger| {
            data.lost(packet, trigger);
            if watched {
                gone.push((number, trigger));
            }
        });
        if let Some(observer) = context.observer {
            let together = gone.len() as u32;
            for (number, trigger) in gone {
                observer.lost(Time(now), &LossSeen { number, trigger, together });
            }
        }
        lost
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

    /// A packet of a train that left at `sent_at` was received.
    fn probed(&mut self, now: u64, place: Place, sent_at: u64, seen: &Received, context: &mut Context<'_>) {
        let Place { train, index, .. } = place;
        let one_way = Some(difference(seen.at, sent_at).saturating_add(self.clock_offset));
        let ce = seen.ecn == Codepoint::Ce;
        self.emit(
            now,
            EventKind::ProbeReceived(ProbeReceived::new(train, index, Time(sent_at)).with_ce(ce).with_one_way(one_way)),
            context,
        );
    }
}

/// `a − b`, as far as it can be told.
fn difference(a: u64, b: u64) -> i64 {
    i64::try_from(i128::from(a) - i128::from(b)).unwrap_or(if a > b { i64::MAX } else { i64::MIN })
}
