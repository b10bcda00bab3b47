//! One path of an s2n-quic connection as a windlass flow.

use std::cell::Cell;

use s2n_quic::provider::congestion_controller::{RttEstimator, Timestamp};
use windlass_adapter::{Flow, InFlight};
use windlass_controllers::event::{EcnCe, IdleRestart, LossTrigger, PacketSent, PacketsLost, RttSample};
use windlass_controllers::{ConfiguredController, Decision, Event, EventKind, Span, Time};

use crate::PacketInfo;
use crate::boarding::Boarding;
use crate::clock::{Clock, short, span};
use crate::datagrams::Datagrams;
use crate::frame::Frame;
use crate::held::held;
use crate::pacer::Pacer;

/// Room for this many datagrams does not make a flow limited by its application: it may be
/// about to write more, or wait for the pacer.
const SLACK_DATAGRAMS: u64 = 3;

/// Granularity of timers (`RFC 9002 §6.1.2`).
const GRANULARITY: Span = Span::from_millis(1);

/// What s2n-quic asks, several times for each packet, until something happens. Each answer
/// is read as it was written: a processor waits for several that are copied as one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers {
    /// Bytes.
    pub(crate) window: Cell<u32>,
    /// Bytes.
    pub(crate) in_flight: Cell<u32>,
    /// Bytes of window a packet needs.
    pub(crate) mtu: Cell<u32>,
    /// A response to losses began and no packet was sent since.
    pub(crate) retransmit: Cell<bool>,
    /// The next packet may have to wait: it has to, or these answers are stale.
    pub(crate) held: Cell<bool>,
    /// Not for long: a report is not complete, or siblings may change the window.
    pub(crate) stale: Cell<bool>,
    /// A packet that leaves is only to be counted.
    counts_only: Cell<bool>,
}

impl Answers {
    /// A report begins.
    #[inline]
    pub(crate) fn spoil(&self) {
        self.stale.set(true);
        self.held.set(true);
        self.counts_only.set(false);
    }
}

/// A flow starts when its first packet leaves: nothing tells the time before.
#[derive(Clone, Debug)]
enum Stage<E: ConfiguredController> {
    Waiting(Boarding<E>),
    Running(Flow<E>),
}

/// Turns what s2n-quic tells of a path into events of a flow.
#[derive(Clone, Debug)]
pub(crate) struct Path<E: ConfiguredController> {
    stage: Stage<E>,
    clock: Option<Clock>,
    in_flight: InFlight,
    delivered: u64,
    newest_acked_at: Time,
    frame: Frame,
    course: Course,
    datagrams: Datagrams,
    grouped: bool,
    wants_packet_sent: bool,
    /// The flow runs and need not hear of packets sent.
    plain: bool,
}

/// What was decided, carried out.
#[derive(Clone, Debug, Default)]
struct Course {
    mtu: u32,
    /// Bytes, as the latest event left it.
    window: u64,
    /// Congestion-controlled bytes sent.
    sent: u64,
    /// `sent` when the latest recovery period began.
    sent_at_recovery: u64,
    recovery_start: Option<Time>,
    pacer: Pacer,
    /// Zero before the first sample.
    smoothed: Span,
    retransmit: bool,
}

impl Course {
    /// What was decided on `event`.
    #[inline(always)]
    fn heed(&mut self, decision: &Decision, kind: &EventKind) {
        self.pacer.heed(decision, self.smoothed, self.mtu);
        self.window = decision.cwnd;
        if decision.recovery_start != self.recovery_start {
            self.recovery_start = decision.recovery_start;
            self.sent_at_recovery = self.sent;
            self.retransmit = matches!(kind, EventKind::PacketsLost(_) | EventKind::PersistentCongestion(_));
        }
    }

    /// Of `bytes` acknowledged up to `newest`, those sent since the latest recovery began:
    /// exact if the packets acknowledged left one after the other.
    #[inline]
    fn fresh(&self, newest: &PacketInfo, bytes: u64) -> u64 {
        match self.recovery_start {
            None => bytes,
            Some(start) if newest.sent_at <= start => 0,
            Some(_) => bytes.min(newest.sent_bytes(self.sent).saturating_sub(self.sent_at_recovery)),
        }
    }
}

impl<E: ConfiguredController> Path<E> {
    /// A path of datagrams of `mtu` bytes.
    pub(crate) fn new(boarding: Boarding<E>, mtu: u16) -> Self {
        let datagrams = Datagrams::of(mtu);
        let mtu = u32::from(mtu);
        Path {
            wants_packet_sent: boarding.engine().wants_packet_sent(),
            in_flight: InFlight::new(boarding.engine()),
            course: Course { mtu, window: boarding.initial_window(mtu), ..Course::default() },
            stage: Stage::Waiting(boarding),
            clock: None,
            delivered: 0,
            newest_acked_at: Time::ZERO,
            frame: Frame::default(),
            datagrams,
            grouped: false,
            plain: false,
        }
    }

    /// The flow, once it runs.
    pub(crate) fn flow(&self) -> Option<&Flow<E>> {
        match &self.stage {
            Stage::Running(flow) => Some(flow),
            Stage::Waiting(_) => None,
        }
    }

    #[inline]
    pub(crate) fn answer(&self, answers: &Answers) {
        self.answer_at(self.now(), answers);
        answers.mtu.set(self.course.mtu);
        if self.frame.open {
            answers.spoil();
        }
    }

    /// As [`answer`](Self::answer) where it is `now`, the datagram size is what it was, and no
    /// frame is open.
    #[inline]
    fn answer_at(&self, now: Time, answers: &Answers) {
        answers.window.set(narrow(self.course.window));
        answers.in_flight.set(narrow(self.in_flight.bytes()));
        answers.retransmit.set(self.course.retransmit);
        answers.held.set(self.grouped | (self.course.pacer.due() > now));
        answers.stale.set(self.grouped);
        answers.counts_only.set(self.plain & self.in_flight.counts_only());
    }

    /// When the next packet may leave, if that is later.
    pub(crate) fn departure(&self) -> Option<Timestamp> {
        let due = self.course.pacer.due();
        self.clock.as_ref().filter(|clock| due > clock.latest()).map(|clock| clock.timestamp(due))
    }

    /// Completes what was reported, and asks for what siblings made of the window.
    pub(crate) fn refresh(&mut self) {
        self.settle();
        if let Stage::Running(flow) = &self.stage {
            self.course.window = flow.cwnd();
        }
    }

    /// `timestamp` as a time that never goes back.
    #[inline]
    fn read(&mut self, timestamp: Timestamp) -> Time {
        match &mut self.clock {
            Some(clock) => clock.read(timestamp),
            None => self.read_first(timestamp),
        }
    }

    #[cold]
    fn read_first(&mut self, timestamp: Timestamp) -> Time {
        self.clock.insert(Clock::of(timestamp)).latest()
    }

    #[inline]
    fn now(&self) -> Time {
        self.clock.as_ref().map_or(Time::ZERO, Clock::latest)
    }

    #[cold]
    fn start(&mut self, now: Time) {
        if let Stage::Waiting(boarding) = &self.stage {
            let flow = boarding.board(now, self.course.mtu);
            let decision = flow.decision();
            self.course.recovery_start = decision.recovery_start;
            self.course.pacer.heed(&decision, self.course.smoothed, self.course.mtu);
            self.course.window = decision.cwnd;
            self.grouped = flow.is_grouped();
            self.stage = Stage::Running(flow);
            self.plain = !self.wants_packet_sent;
        }
    }

    /// Tells the flow of what comes rarely.
    #[inline(never)]
    fn tell(&mut self, now: Time, kind: EventKind) {
        let Stage::Running(flow) = &mut self.stage else { return };
        let event = Event { now, kind };
        self.course.heed(flow.on(&event), &event.kind);
    }

    /// Delivers a frame, or a loss found by a timer, that no acknowledgement followed.
    #[inline]
    pub(crate) fn settle(&mut self) {
        if self.frame.open {
            self.congestion(self.now(), self.newest_acked_at, 0);
        }
    }

    /// Delivers what the frame brought besides acknowledgements: the sample, marks, losses.
    /// `newest_sent_at` is of the newest packet it acknowledges, and `acked` bytes will be
    /// taken out of flight afterwards.
    #[cold]
    fn congestion(&mut self, now: Time, newest_sent_at: Time, acked: u64) {
        self.frame.open = false;
        let rtt = self.frame.rtt().take();
        let marks = std::mem::take(&mut self.frame.marks);
        let lost = std::mem::take(&mut self.frame.lost);
        let in_flight = self.in_flight.bytes();
        if let Some(rtt) = rtt {
            self.tell(now, EventKind::RttSampled(rtt));
        }
        if marks > 0 {
            let in_flight = in_flight.saturating_add(lost.bytes);
            self.tell(now, EventKind::EcnCe(EcnCe { packets: marks, newest_sent_at, newest_pn: None, in_flight }));
        }
        if lost.packets > 0 {
            let told = PacketsLost {
                bytes: lost.bytes,
                packets: lost.packets,
                newest_sent_at: lost.newest_sent_at,
                newest_pn: None,
                in_flight_before: in_flight.saturating_add(lost.bytes),
                in_flight,
                trigger: LossTrigger::Unknown,
                transmissions: 1,
            };
            self.tell(
                now,
                if lost.persistent { EventKind::PersistentCongestion(told) } else { EventKind::PacketsLost(told) },
            );
            if acked == 0 {
                // Nothing follows that could tell that the path fell silent.
                self.in_flight.acknowledged(now, in_flight);
            }
        }
    }

    /// Opens the frame that `now` brings, closing another that was left open.
    #[inline]
    fn open(&mut self, now: Timestamp) -> Time {
        let now = self.turn_to(now);
        self.frame.open = true;
        now
    }

    /// As [`open`](Self::open), of a frame about to be closed.
    #[inline]
    fn turn_to(&mut self, now: Timestamp) -> Time {
        match &mut self.clock {
            Some(clock) if self.frame.open && clock.is_past(now) => self.turn_on(now),
            Some(clock) => clock.read(now),
            None => self.read_first(now),
        }
    }

    /// As [`turn_to`](Self::turn_to), closing the frame before.
    #[cold]
    fn turn_on(&mut self, now: Timestamp) -> Time {
        self.settle();
        self.read(now)
    }

    /// A packet left, `bytes` of which count as in flight.
    #[inline]
    pub(crate) fn sent(
        &mut self,
        at: Timestamp,
        bytes: u64,
        app_limited: Option<bool>,
        rtt: &RttEstimator,
        answers: &Answers,
    ) -> PacketInfo {
        if !answers.counts_only.get() || bytes == 0 {
            return self.departed(at, bytes, app_limited, rtt, answers);
        }
        self.in_flight.add(bytes);
        let now = self.read(at);
        self.gone(now, bytes);
        answers.in_flight.set(narrow(self.in_flight.bytes()));
        answers.retransmit.set(false);
        answers.held.set(self.grouped | (self.course.pacer.due() > now));
        self.info(now, self.is_app_limited(app_limited))
    }

    /// A packet left, and there is more to that than bytes in flight.
    #[inline(never)]
    fn departed(
        &mut self,
        at: Timestamp,
        bytes: u64,
        app_limited: Option<bool>,
        rtt: &RttEstimator,
        answers: &Answers,
    ) -> PacketInfo {
        self.settle();
        let now = self.read(at);
        if bytes > 0 {
            if matches!(self.stage, Stage::Waiting(_)) {
                self.start(now);
            }
            if let Some(idle) = self.in_flight.sent(now, bytes, 0) {
                self.tell(now, EventKind::IdleRestart(IdleRestart { idle, pto: pto(rtt) }));
            }
            self.gone(now, bytes);
        }
        let app_limited = self.is_app_limited(app_limited);
        if self.wants_packet_sent && bytes > 0 {
            let in_flight = self.in_flight.bytes();
            self.tell(now, EventKind::PacketSent(PacketSent { bytes, pn: None, in_flight, app_limited, place: None }));
        }
        self.answer(answers);
        self.info(now, app_limited)
    }

    /// `bytes` left at `now`.
    #[inline]
    fn gone(&mut self, now: Time, bytes: u64) {
        self.course.sent += bytes;
        self.course.pacer.sent(now, bytes);
        self.course.retransmit = false;
    }

    /// Whether the application left the window unused, if s2n-quic says `app_limited`.
    #[inline]
    fn is_app_limited(&self, app_limited: Option<bool>) -> bool {
        // Handshakes are short of data by nature; s2n-quic does not say so.
        app_limited.unwrap_or(true)
            && self.course.window.saturating_sub(self.in_flight.bytes()) >= SLACK_DATAGRAMS * u64::from(self.course.mtu)
    }

    /// What to remember of a packet that left at `now`.
    #[inline]
    fn info(&self, now: Time, app_limited: bool) -> PacketInfo {
        PacketInfo::new(now, self.course.sent, self.in_flight.bytes(), app_limited)
    }

    /// The RTT sample of a frame, with s2n-quic's estimates.
    #[inline]
    pub(crate) fn sampled(&mut self, now: Timestamp, rtt: &RttEstimator) {
        self.open(now);
        let (latest, smoothed) = (short(rtt.latest_rtt()), short(rtt.smoothed_rtt()));
        let ack_delay = held(self.course.smoothed, smoothed, latest, || short(rtt.max_ack_delay()));
        self.course.smoothed = smoothed;
        let (variation, min) = (short(rtt.rttvar()), short(rtt.min_rtt()));
        *self.frame.rtt() = Some(RttSample { latest, smoothed, variation, min, ack_delay });
    }

    /// A packet was declared lost.
    #[inline]
    pub(crate) fn lost(&mut self, now: Timestamp, bytes: u64, packet: &PacketInfo, persistent: bool) {
        self.open(now);
        self.frame.lost.add(bytes, packet, persistent);
        self.in_flight.lost(bytes);
    }

    /// More packets were reported marked.
    #[inline]
    pub(crate) fn marked(&mut self, now: Timestamp, packets: u64) {
        self.open(now);
        let packets = u32::try_from(packets).unwrap_or(u32::MAX);
        self.frame.marks = self.frame.marks.saturating_add(packets);
    }

    /// A frame ends with acknowledgements of `bytes`.
    #[inline]
    pub(crate) fn acked(&mut self, now: Timestamp, bytes: u64, newest: &PacketInfo, answers: &Answers) {
        let now = self.turn_to(now);
        self.newest_acked_at = self.newest_acked_at.max(newest.sent_at);
        if self.frame.is_congested() {
            self.congestion(now, newest.sent_at, bytes);
        }
        self.frame.open = false;
        let in_flight_before = self.in_flight.bytes();
        let in_flight = in_flight_before.saturating_sub(bytes);
        self.in_flight.acknowledged(now, in_flight);
        self.delivered += bytes;
        let acked = self.frame.acked();
        acked.bytes = bytes;
        acked.packets = self.datagrams.count(bytes);
        acked.fresh_bytes = self.course.fresh(newest, bytes);
        acked.newest_sent_at = newest.sent_at;
        acked.in_flight_before = in_flight_before;
        acked.in_flight = in_flight;
        acked.delivered = self.delivered;
        acked.app_limited = newest.app_limited();
        if self.in_flight.remembers() {
            acked.delivery = None;
            self.in_flight.depart(now, acked, newest.app_limited());
        }
        // Its own, not that of the last packet of its instant.
        acked.newest_in_flight = Some(newest.in_flight());
        if let Stage::Running(flow) = &mut self.stage {
            let event = self.frame.ack(now);
            self.course.heed(flow.on(event), &event.kind);
        }
        *self.frame.rtt() = None;
        self.answer_at(now, answers);
    }

    /// Datagrams may have `mtu` bytes from now on.
    pub(crate) fn resized(&mut self, mtu: u16) {
        self.datagrams = Datagrams::of(mtu);
        let mtu = u32::from(mtu);
        self.course.mtu = mtu;
        if let Stage::Waiting(boarding) = &self.stage {
            self.course.window = boarding.initial_window(mtu);
        }
        self.tell(self.now(), EventKind::MtuUpdated(mtu));
    }

    /// `bytes` are in flight no more, for no reason of the network's.
    pub(crate) fn discarded(&mut self, bytes: u64) {
        let left = self.in_flight.bytes().saturating_sub(bytes);
        self.in_flight.acknowledged(self.now(), left);
    }
}

/// The probe timeout (`RFC 9002 §6.2.1`).
fn pto(rtt: &RttEstimator) -> Span {
    let spread = span(rtt.rttvar().saturating_mul(4)).max(GRANULARITY);
    span(rtt.smoothed_rtt()) + spread + span(rtt.max_ack_delay())
}

#[inline]
fn narrow(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
