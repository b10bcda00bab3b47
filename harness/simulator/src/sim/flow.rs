//! One flow of a run: both its ends, its timers and its measurements.

use std::mem::offset_of;
use std::ops::Range;
use std::slice::from_ref;

use prefetch_index::prefetch_index;
use windlass_adapter::{Flow, Groups, Recorder, SavedPaths};
use windlass_controllers::{Algorithm, ConfiguredController, Path, Span, Time};

use super::counts::{Arrivals, FlowCounts, LossClassification};
use super::observer::FlowObserver;
use super::receiver::{Receiver, Reply};
use super::sender::{Context, OutgoingPacket, Sender};
use super::timers::{NEVER, Timer, Timers};
use super::train::PROBE;
use crate::measure::Meter;
use crate::outcome::{FlowOutcome, FlowSeries};
use crate::scenario::{FlowSpec, Misbehaviour, REQUEST_BYTES};
use windlass_network::{Fate, Network, Packet, RouteId, Stream};

/// Bytes of a line of memory.
const LINE: usize = 64;
/// The handle of an ACK has this bit; below it is the position in the receiver's log.
const ACK: u64 = 1 << 63;
/// The handle of a packet with requests has this bit, too; below it is its number.
const REQUEST: u64 = ACK | 1 << 62;
/// What a STREAM frame of a request has besides its data (`RFC 9000 §19.8`), bytes.
const REQUEST_FRAME: u32 = 4;
/// Before it has an RTT sample an end waits so long for an answer, and twice as long each further time
/// (`RFC 9002 §6.2.2`): three times the initial RTT.
const INITIAL_PTO: u64 = 999_000_000;
/// What a window may let go at one instant; the rest leaves with the next ACK or timer. More is a window that runs away.
const MOST_AT_ONCE: u32 = 1 << 24;

/// What each packet needs of the flow's description.
struct Wire {
    forward: RouteId,
    backward: RouteId,
    ack_bytes: u32,
    ack_every: u32,
    /// How often each ACK is sent.
    ack_copies: u32,
    /// Packets that may leave at one instant.
    at_once: u32,
    vanishes: bool,
}

/// One flow of a simulation, sender and receiver.
// In this order, so that what a packet needs lies together: with many flows, each line of memory
// that an event touches comes from afar.
#[repr(C, align(64))]
pub(super) struct FlowRun<E: ConfiguredController> {
    /// The time on the simulation's event_queue.
    pub armed: u64,
    pub timers: Timers,
    wire: Wire,
    receiver: Receiver,
    arrivals: Arrivals,
    arrived_bytes: u64,
    number: u32,
    /// It is over, and that has not been asked for yet.
    news: bool,
    pub observer: Option<Box<dyn FlowObserver>>,
    jitter: Option<Box<SendJitter>>,
    /// Packets that are lost before the network, the first one last.
    drop_packets: Vec<u64>,
    meter: Meter,
    sender: Option<Sender<E>>,
    pub spec: Box<FlowSpec>,
    engine: Box<E>,
    pub recorder: Option<Box<dyn Recorder>>,
    saved_paths: SavedPaths<String>,
    ci_path: bool,
    /// Data packets and probes that the network reported dropped or lost.
    dropped: u64,
    /// Kept from the sender of a flow that is over.
    loss_classification: LossClassification,
    /// Bytes of a chunk that the receiver asked for and the sender does not know of.
    chunk: Option<u64>,
    /// How often the receiver sent its requests.
    asked: u32,
    /// Whether they have arrived; true of a flow without any.
    is_requested: bool,
    started: Option<u64>,
    stopped: Option<u64>,
    completed: bool,
    start: Time,
    seed: u64,
}

impl<E: ConfiguredController> FlowRun<E> {
    /// A flow that has not started. `ci_path` says whether its route gives
    /// congestion-indication marks.
    pub fn new(
        spec: &FlowSpec,
        number: u32,
        engine: E,
        seed: u64,
        ci_path: bool,
        saved_paths: &SavedPaths<String>,
    ) -> FlowRun<E> {
        let mut timers = Timers::new();
        let mut spec = spec.clone();
        // An engine of the caller's need not be the controller that the scenario names.
        let typed = spec.controller.split(':').next().unwrap_or_default();
        if typed.strip_prefix(Algorithm::PREFIX).unwrap_or(typed) != engine.name() {
            spec.controller = engine.name().to_owned();
        }
        let start = spec.starts(seed);
        if start < spec.stop {
            timers.set(Timer::Start, start.0);
            timers.set(Timer::Stop, spec.stop.0);
        }
        FlowRun {
            wire: Wire {
                forward: spec.forward,
                backward: spec.backward,
                ack_bytes: spec.ack_wire_bytes,
                ack_every: spec.ack.every,
                ack_copies: if spec.misbehaves == Some(Misbehaviour::DividedAcks) { Misbehaviour::COPIES } else { 1 },
                at_once: spec.ack_burst_packets.unwrap_or(MOST_AT_ONCE),
                vanishes: spec.vanishes.is_some(),
            },
            number,
            engine: Box::new(engine),
            observer: None,
            recorder: None,
            saved_paths: saved_paths.clone(),
            ci_path,
            sender: None,
            receiver: Receiver::of(&spec),
            timers,
            armed: NEVER,
            meter: Meter::of(&spec),
            arrived_bytes: 0,
            arrivals: Arrivals::default(),
            dropped: 0,
            loss_classification: LossClassification::default(),
            jitter: SendJitter::new(&spec, seed),
            chunk: None,
            asked: 0,
            is_requested: spec.requests.is_none(),
            started: None,
            stopped: None,
            completed: false,
            news: false,
            start,
            seed: Stream::new(seed, &format!("controller {}", spec.name)).integer(),
            drop_packets: spec.drop_packets.iter().rev().copied().collect(),
            spec: Box::new(spec),
        }
    }

    /// Has the processor fetch what it takes to handle a packet that comes.
    #[inline]
    pub fn prefetch(&self, packet: &Packet) {
        let sender = offset_of!(Self, sender);
        if packet.id & ACK == 0 {
            self.fetch(0, &(0..offset_of!(Self, meter)));
            Sender::<E>::ON_DATA.iter().for_each(|bytes| self.fetch(sender, bytes));
        } else {
            self.fetch(0, &(0..sender));
            Sender::<E>::ON_ACK.iter().for_each(|bytes| self.fetch(sender, bytes));
        }
    }

    /// The same of some bytes of its state, from `base` on.
    #[inline(always)]
    fn fetch(&self, base: usize, bytes: &Range<usize>) {
        for line in (base + bytes.start) / LINE..(base + bytes.end).div_ceil(LINE) {
            prefetch_index(from_ref(&self.armed), line * LINE / size_of::<u64>());
        }
    }

    /// The same of what is written of the next packet that is sent.
    #[inline]
    pub fn prefetch_send(&self) {
        if let Some(sender) = &self.sender {
            sender.recovery.sent.prefetch(sender.recovery.sent.next());
        }
    }

    /// The same of what is remembered of a packet that comes.
    #[inline]
    pub fn prefetch_packet(&self, packet: &Packet) {
        let Some(sender) = &self.sender else { return };
        if packet.id & ACK == 0 {
            self.receiver.log.prefetch(self.receiver.log.next());
            sender.recovery.sent.prefetch(packet.id);
        } else {
            self.receiver.log.prefetch(packet.id & !ACK);
            self.meter.rtt.prefetch();
            sender.recovery.prefetch_acked();
        }
    }

    /// The path its controller starts with.
    pub fn path(&self) -> Path {
        Path::new(self.start, self.spec.packet_bytes, self.seed)
    }

    /// The controller of the flow.
    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// A packet of the flow leaves the network.
    #[inline]
    pub fn delivered(&mut self, now: u64, packet: &Packet, network: &mut Network) {
        if packet.id & ACK == 0 {
            self.data_arrives(now, packet, network);
        } else {
            self.ack_arrives(now, packet, network);
        }
    }

    /// The receiver sends its requests, all in one packet, once more if no data come.
    #[cold]
    fn ask(&mut self, now: u64, requests: u32, network: &mut Network) {
        if let Some(player) = self.meter.player.as_mut().filter(|_| self.asked == 0) {
            self.chunk = Some(player.ask(Time(now)));
        }
        self.send_request(now, requests, INITIAL_PTO, network);
    }

    /// The receiver asks for the next chunk of its video, or once more for one of which no data come.
    #[cold]
    fn ask_for_chunk(&mut self, now: u64, network: &mut Network) {
        let (Some(player), Some(sender)) = (&mut self.meter.player, &self.sender) else { return };
        if player.next().is_some() {
            self.chunk = Some(player.ask(Time(now)));
            self.asked = 0;
        }
        let pto = sender.pto();
        self.send_request(now, 1, pto, network);
    }

    fn send_request(&mut self, now: u64, requests: u32, pto: u64, network: &mut Network) {
        let bytes = self.request_bytes(requests) + self.spec.overhead_bytes;
        let packet = Packet::new(self.number, REQUEST | u64::from(self.asked), bytes);
        network.send(Time(now), self.spec.backward, packet);
        self.timers.set(Timer::Start, now.saturating_add(pto << self.asked.min(20)));
        self.asked += 1;
    }

    fn request_bytes(&self, requests: u32) -> u32 {
        self.spec.header_bytes + requests * (REQUEST_BYTES + REQUEST_FRAME)
    }

    /// The requests arrive, and the sender starts.
    #[cold]
    fn requested(&mut self, now: u64, packet: &Packet) {
        let Some(requests) = self.spec.requests.filter(|_| !self.is_requested) else { return };
        self.is_requested = true;
        self.timers.set(Timer::Start, now);
        let bytes = self.request_bytes(requests);
        if let Some(observer) = &mut self.observer {
            observer.requested(Time(now), Some(packet.id & !REQUEST), bytes);
        }
    }

    /// The request for a chunk arrives, and the sender answers it.
    #[cold]
    fn answer(&mut self, now: u64, network: &mut Network) {
        let (Some(sender), Some(chunk)) = (&mut self.sender, self.chunk.take()) else { return };
        self.timers.set(Timer::Start, NEVER);
        if let Some(observer) = &mut self.observer {
            observer.requested(Time(now), None, self.spec.header_bytes + REQUEST_BYTES + REQUEST_FRAME);
        }
        let mut context = Context { timers: &mut self.timers, meter: &mut self.meter, observer: &mut self.observer };
        sender.answer(now, chunk, &mut context);
        self.send(now, network);
    }

    #[inline]
    fn data_arrives(&mut self, now: u64, packet: &Packet, network: &mut Network) {
        let Some(sender) = &mut self.sender else { return };
        if self.wire.vanishes && self.spec.has_vanished(Time(now)) {
            return;
        }
        if packet.id & PROBE == 0 {
            self.arrived_bytes += sender.arrived(packet.id);
            if let Some(in_order) = sender.data.in_order() {
                self.meter.received(Time(now), in_order);
                if let Some(next) = self.meter.player.as_ref().and_then(|player| player.next()) {
                    self.timers.set(Timer::Start, next.0.max(now));
                }
            }
            if let Some((group, in_order)) = sender.data.in_order_of_group() {
                self.meter.received_of_group(Time(now), group, in_order);
            }
            self.arrivals.add(packet.bytes, now.saturating_sub(packet.sent_at.0));
        }
        match self.receiver.packet(now, packet) {
            Reply::Now => self.acknowledge(now, network),
            Reply::By(at) => self.timers.set(Timer::Ack, at),
            Reply::Pending => {}
        }
    }

    #[inline]
    fn acknowledge(&mut self, now: u64, network: &mut Network) {
        if self.wire.ack_every > 1 {
            self.timers.set(Timer::Ack, NEVER);
        }
        if let Some(position) = self.receiver.acknowledge() {
            for _ in 0..self.wire.ack_copies {
                let ack = Packet::new(self.number, ACK | position, self.wire.ack_bytes);
                network.send(Time(now), self.wire.backward, ack);
            }
        }
    }

    #[inline]
    fn ack_arrives(&mut self, now: u64, packet: &Packet, network: &mut Network) {
        if packet.id & REQUEST == REQUEST {
            return if self.sender.is_some() { self.answer(now, network) } else { self.requested(now, packet) };
        }
        if self.wire.vanishes {
            self.restart_idle_timeout(now);
        }
        let Some(sender) = &mut self.sender else { return };
        let mut context = Context { timers: &mut self.timers, meter: &mut self.meter, observer: &mut self.observer };
        sender.acknowledged(now, packet.id & !ACK, packet, &mut self.receiver, &mut context);
        if sender.data.is_complete() {
            self.completed = true;
            self.stop(now);
        } else if let Some(jitter) = &mut self.jitter {
            // The permission is used then; the recovery timer waits for nothing.
            sender.rearm(&mut self.timers);
            if let Some(at) = jitter.delays(now) {
                self.timers.set(Timer::Send, at);
            }
        } else {
            self.send(now, network);
        }
    }

    /// A sign of life: the idle timeout starts anew (`RFC 9000 §10.1`).
    #[cold]
    fn restart_idle_timeout(&mut self, now: u64) {
        self.timers.set(Timer::Stop, self.spec.stop.0.min(now.saturating_add(self.spec.idle_timeout.0)));
    }

    /// Sends what may leave now and sets the recovery timer.
    #[inline(never)]
    fn send(&mut self, now: u64, network: &mut Network) {
        let Some(sender) = &mut self.sender else { return };
        let mut context = Context { timers: &mut self.timers, meter: &mut self.meter, observer: &mut self.observer };
        let mut left = self.wire.at_once;
        while left > 0
            && let Some(departure) = sender.next_packet(now, &mut context)
        {
            left -= 1;
            put(&departure, now, &mut self.drop_packets, self.wire.forward, network);
        }
        sender.rearm(&mut self.timers);
    }

    /// Handles the timers due at `now`.
    pub fn due(&mut self, now: u64, network: &mut Network, groups: &Groups<E, String>) {
        while let Some(timer) = self.timers.due(now) {
            if timer == Timer::Start {
                match self.spec.requests.filter(|_| !self.is_requested) {
                    Some(requests) => self.ask(now, requests, network),
                    None if self.sender.is_some() => self.ask_for_chunk(now, network),
                    None => self.start(now, groups),
                }
            } else if timer == Timer::Stop {
                self.stop(now);
            } else if timer == Timer::Send {
                self.jitter.iter_mut().for_each(|jitter| jitter.is_pending = false);
            } else if timer == Timer::Ack && !self.spec.has_vanished(Time(now)) {
                self.acknowledge(now, network);
            }
            let Some(sender) = &mut self.sender else { continue };
            let mut context =
                Context { timers: &mut self.timers, meter: &mut self.meter, observer: &mut self.observer };
            match timer {
                Timer::Recovery => {
                    if let Some(departure) = sender.recovery_due(now, &mut context) {
                        put(&departure, now, &mut self.drop_packets, self.wire.forward, network);
                    }
                }
                Timer::Wake => sender.wake(now, &mut context),
                Timer::Write => sender.write(now, &mut context),
                Timer::Train => {
                    while let Some((plan, index)) = sender.trains.as_mut().and_then(|trains| trains.pop(now)) {
                        let probe = sender.probe(&plan, index, &mut context);
                        network.send(Time(now), self.wire.forward, probe);
                    }
                    let next = sender.trains.as_ref().map_or(NEVER, |trains| trains.next());
                    context.timers.set(Timer::Train, next);
                }
                Timer::Start | Timer::Stop | Timer::Ack | Timer::Pace | Timer::Send => {}
            }
            if timer != Timer::Ack && timer != Timer::Train {
                self.send(now, network);
            }
        }
    }

    fn start(&mut self, now: u64, groups: &Groups<E, String>) {
        let mut path = self.path();
        let mut recorder = self.recorder.take();
        if let Some(resume) = &self.spec.resume {
            path = self.saved_paths.resume(&resume.path, path);
            recorder = Some(self.saved_paths.observe(resume.path.clone(), &path, recorder));
        }
        let engine = (*self.engine).clone();
        let host = match &self.spec.group {
            Some(group) => Flow::grouped_with(engine, &path, groups, group.clone(), recorder),
            None => {
                let mut host = Flow::ungrouped(engine, &path);
                if let Some(recorder) = recorder {
                    host.record(recorder);
                }
                host
            }
        };
        let mut sender = Sender::new(&self.spec, self.number, host, self.ci_path);
        let mut context = Context { timers: &mut self.timers, meter: &mut self.meter, observer: &mut self.observer };
        sender.begin(now, &mut context);
        if let Some(chunk) = self.chunk.take() {
            sender.answer(now, chunk, &mut context);
        }
        self.sender = Some(sender);
        self.started = Some(now);
        if self.spec.vanishes.is_some() {
            self.restart_idle_timeout(now);
        }
    }

    /// The flow is over: its controller leaves, and what is still under way means nothing.
    fn stop(&mut self, now: u64) {
        if let Some(sender) = self.sender.take() {
            self.loss_classification = sender.loss_classification;
            self.stopped = Some(now);
            self.news = true;
            // The last stretch of the series belongs to the flow.
            self.meter.sample(now, self.arrived_bytes);
        }
        self.timers.clear();
    }

    /// Lets go of memory for many more packets than there are.
    pub fn fit(&mut self) {
        self.receiver.log.fit();
        if let Some(sender) = &mut self.sender {
            sender.recovery.sent.fit();
        }
    }

    /// Packets sent and neither acknowledged nor taken for lost.
    pub fn under_way(&self) -> u64 {
        let in_flight = self.sender.as_ref().map_or(0, |sender| sender.recovery.in_flight);
        in_flight / u64::from(self.spec.packet_bytes)
    }

    pub fn has_started(&self) -> bool {
        self.started.is_some()
    }

    /// Whether it is over since this was asked last.
    pub fn is_newly_over(&mut self) -> bool {
        std::mem::take(&mut self.news)
    }

    /// Has a flow that waited start at `at`.
    pub fn start_at(&mut self, at: Time) {
        if at < self.spec.stop {
            self.start = at;
            self.timers.set(Timer::Start, at.0);
            self.timers.set(Timer::Stop, self.spec.stop.0);
        }
    }

    /// Its counts from its start.
    pub fn counts(&self) -> FlowCounts {
        FlowCounts {
            is_active: self.sender.is_some(),
            cwnd_packets: if self.sender.is_some() { self.meter.cwnd_packets() } else { 0.0 },
            sent: self.meter.packets_sent,
            lost: self.meter.packets_lost,
            goodput_bytes: self.arrived_bytes,
            arrivals: self.arrivals,
            dropped: self.spec.recovery.classifies_losses().then_some(self.dropped),
            loss_classification: self
                .sender
                .as_ref()
                .map_or(self.loss_classification, |sender| sender.loss_classification),
        }
    }

    /// Its series up to now.
    pub fn series(&self) -> &FlowSeries {
        self.meter.series()
    }

    /// A packet of the flow never arrives.
    #[cold]
    pub fn gone(&mut self, packet: &Packet, fate: Fate) {
        if packet.id & ACK != 0 {
            return;
        }
        self.dropped += 1;
        if let Some(sender) = &mut self.sender {
            sender.gone(packet.id, fate);
        }
    }

    /// Names the private facts of its controller, while it is active.
    pub fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        if let Some(sender) = &self.sender {
            sender.inspect(visit);
        }
    }

    /// A point of the series.
    pub fn sample(&mut self, now: u64) {
        if let Some(sender) = &self.sender {
            self.meter.set_send_rate(sender.send_rate());
            self.meter.sample(now, self.arrived_bytes);
        }
    }

    /// The result, at the end of the run.
    pub fn outcome(mut self, end: u64) -> FlowOutcome {
        let start = self.started.unwrap_or(end);
        let stop = self.stopped.unwrap_or(end);
        let active = stop - start;
        let ms = |ns: f64| ns / 1e6;
        FlowOutcome {
            name: self.spec.name,
            controller: self.spec.controller,
            start_s: start as f64 / 1e9,
            stop_s: stop as f64 / 1e9,
            goodput_mbps: if active == 0 { 0.0 } else { self.arrived_bytes as f64 * 8e3 / active as f64 },
            packets_sent: self.meter.packets_sent,
            packets_lost: self.meter.packets_lost,
            packets_marked: self.receiver.marked,
            congestion_events: self.meter.congestion_events,
            rtt_mean_ms: self.meter.rtt.mean().map(ms),
            rtt_p95_ms: self.meter.rtt.quantile(0.95).map(ms),
            rtt_min_ms: self.meter.rtt.min().map(|ns| Span(ns).millis()),
            cwnd_mean_packets: self.meter.mean_window(stop, active),
            sha256: None,
            completed: self.completed,
            transfers: None,
            frames: self.meter.frames(Time(stop)),
            video: self.meter.video(Time(stop)),
            series: self.meter.take_series(),
        }
    }
}

/// Puts a data packet on the network, unless the scenario has it lost before.
#[inline(always)]
fn put(departure: &OutgoingPacket, now: u64, drop_packets: &mut Vec<u64>, route: RouteId, network: &mut Network) {
    if drop_packets.last() == Some(&departure.number) {
        drop_packets.pop();
    } else {
        network.send(Time(now), route, departure.packet);
    }
}

/// The random time from an ACK that permits sending to what is sent, as ns-2's `overhead_`
/// has it (`spec: sharma §13.3, A-25`).
struct SendJitter {
    most: u64,
    random: Stream,
    is_pending: bool,
}

impl SendJitter {
    fn new(spec: &FlowSpec, seed: u64) -> Option<Box<SendJitter>> {
        let most = spec.send_jitter.0;
        let random = || Stream::new(seed, &format!("send jitter {}", spec.name));
        (most > 0).then(|| Box::new(SendJitter { most, random: random(), is_pending: false }))
    }

    /// When what an ACK at `now` permits leaves; `None` if that is settled already.
    fn delays(&mut self, now: u64) -> Option<u64> {
        if self.is_pending {
            return None;
        }
        self.is_pending = true;
        Some(now.saturating_add((self.random.uniform() * self.most as f64) as u64))
    }
}
