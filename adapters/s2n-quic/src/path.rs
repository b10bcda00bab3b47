//! One path of an s2n-quic connection as a windlass flow.

use std::cell::Cell;

use s2n_quic::provider::congestion_controller::{RttEstimator, Timestamp};
use windlass_adapter::{Flow, InFlight};
use windlass_controllers::event::{Acked, Idle, LossTrigger, Lost, Marked, Rtt, Sent};
use windlass_controllers::{Engine, Event, Span, Time, What};

use crate::PacketInfo;
use crate::boarding::Boarding;
use crate::clock::{Clock, span};
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
    /// The next packet has to wait.
    pub(crate) held: Cell<bool>,
    /// Not for long: a report is not complete, or siblings may change the window.
    pub(crate) stale: Cell<bool>,
}

/// A flow starts when its first packet leaves: nothing tells the time before.
#[derive(Clone, Debug)]
enum Stage<E: Engine> {
    Waiting(Boarding<E>),
    Running(Flow<E>),
}

/// Turns what s2n-quic tells of a path into events of a flow.
#[derive(Clone, Debug)]
pub(crate) struct Path<E: Engine> {
    stage: Stage<E>,
    clock: Option<Clock>,
    mtu: u32,
    /// Bytes, as the latest event left it.
    window: u64,
    in_flight: InFlight,
    /// Congestion-controlled bytes sent.
    sent: u64,
    /// `sent` when the latest recovery period began.
    sent_at_recovery: u64,
    recovery_start: Option<Time>,
    delivered: u64,
    newest_acked_at: Time,
    frame: Frame,
    pacer: Pacer,
    /// Zero before the first sample.
    smoothed: Span,
    grouped: bool,
    heeds_sent: bool,
    retransmit: bool,
}

impl<E: Engine> Path<E> {
    /// A path of datagrams of `mtu` bytes.
    pub(crate) fn new(boarding: Boarding<E>, mtu: u16) -> Self {
        let mtu = u32::from(mtu);
        Path {
            heeds_sent: boarding.engine().heeds_sent(),
            in_flight: InFlight::new(boarding.engine()),
            window: boarding.initial_window(mtu),
            stage: Stage::Waiting(boarding),
            clock: None,
            mtu,
            sent: 0,
            sent_at_recovery: 0,
            recovery_start: None,
            delivered: 0,
            newest_acked_at: Time::ZERO,
            frame: Frame::default(),
            pacer: Pacer::default(),
            smoothed: Span::ZERO,
            grouped: false,
            retransmit: false,
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
        answers.window.set(narrow(self.window));
        answers.in_flight.set(narrow(self.in_flight.bytes()));
        answers.mtu.set(self.mtu);
        answers.retransmit.set(self.retransmit);
        answers.held.set(self.pacer.due() > self.now());
        answers.stale.set(self.frame.open || self.grouped);
    }

    /// When the next packet may leave.
    pub(crate) fn departure(&self) -> Option<Timestamp> {
        self.clock.as_ref().map(|clock| clock.timestamp(self.pacer.due()))
    }

    /// Completes what was reported, and asks for what siblings made of the window.
    pub(crate) fn refresh(&mut self) {
        self.settle();
        if let Stage::Running(flow) = &self.stage {
            self.window = flow.cwnd();
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
            let flow = boarding.board(now, self.mtu);
            let decision = flow.decision();
            self.recovery_start = decision.recovery_start;
            self.pacer.heed(&decision, self.smoothed, self.mtu);
            self.window = decision.cwnd;
            self.grouped = flow.is_grouped();
            self.stage = Stage::Running(flow);
        }
    }

    /// Tells the flow of `event`.
    #[inline(always)]
    fn hear(&mut self, event: &Event) {
        let Stage::Running(flow) = &mut self.stage else { return };
        let decision = flow.on(event);
        self.pacer.heed(decision, self.smoothed, self.mtu);
        self.window = decision.cwnd;
        if decision.recovery_start != self.recovery_start {
            self.recovery_start = decision.recovery_start;
            self.sent_at_recovery = self.sent;
            self.retransmit = matches!(event.what, What::Lost(_) | What::PersistentCongestion(_));
        }
    }

    /// Tells the flow of what comes rarely.
    #[inline(never)]
    fn tell(&mut self, now: Time, what: What) {
        self.hear(&Event { now, what });
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
        let Frame { rtt, marks, lost, .. } = std::mem::take(&mut self.frame);
        let in_flight = self.in_flight.bytes();
        if let Some(rtt) = rtt {
            self.tell(now, What::Sampled(rtt));
        }
        if marks > 0 {
            let in_flight = in_flight.saturating_add(lost.bytes);
            self.tell(now, What::Marked(Marked { packets: marks, newest_sent_at, newest_pn: None, in_flight }));
        }
        if lost.packets > 0 {
            let told = Lost {
                bytes: lost.bytes,
                packets: lost.packets,
                newest_sent_at: lost.newest_sent_at,
                newest_pn: None,
                in_flight_before: in_flight.saturating_add(lost.bytes),
                in_flight,
                trigger: LossTrigger::Unknown,
                transmissions: 1,
            };
            self.tell(now, if lost.persistent { What::PersistentCongestion(told) } else { What::Lost(told) });
            if acked == 0 {
                // Nothing follows that could tell that the path fell silent.
                self.in_flight.acknowledged(now, in_flight);
            }
        }
    }

    /// Of `bytes` acknowledged up to `newest`, those sent since the latest recovery began:
    /// exact if the packets acknowledged left one after the other.
    #[inline]
    fn fresh(&self, newest: &PacketInfo, bytes: u64) -> u64 {
        match self.recovery_start {
            None => bytes,
            Some(start) if newest.sent_at <= start => 0,
            Some(_) => bytes.min(newest.sent_bytes.saturating_sub(self.sent_at_recovery)),
        }
    }

    /// Opens the frame that `now` brings, closing another that was left open.
    #[inline]
    fn open(&mut self, now: Timestamp) -> Time {
        if self.frame.open && self.clock.is_some_and(|clock| clock.is_past(now)) {
            self.settle();
        }
        self.frame.open = true;
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
    ) -> PacketInfo {
        self.settle();
        let now = self.read(at);
        if bytes > 0 {
            if matches!(self.stage, Stage::Waiting(_)) {
                self.start(now);
            }
            if !self.in_flight.add(bytes) {
                self.left(now, bytes, rtt);
            }
            self.sent += bytes;
            self.pacer.sent(now, bytes);
            self.retransmit = false;
        }
        let in_flight = self.in_flight.bytes();
        // Handshakes are short of data by nature; s2n-quic does not say so.
        let app_limited = app_limited.unwrap_or(true)
            && self.window.saturating_sub(in_flight) >= SLACK_DATAGRAMS * u64::from(self.mtu);
        if self.heeds_sent && bytes > 0 {
            self.tell(now, What::Sent(Sent { bytes, pn: None, in_flight, app_limited, place: None }));
        }
        PacketInfo { sent_at: now, sent_bytes: self.sent, in_flight: narrow(in_flight), app_limited }
    }

    /// `bytes` left, and there is more to that than bytes in flight.
    #[inline(never)]
    fn left(&mut self, now: Time, bytes: u64, rtt: &RttEstimator) {
        if let Some(idle) = self.in_flight.sent(now, bytes, 0) {
            self.tell(now, What::Idle(Idle { idle, pto: pto(rtt) }));
        }
    }

    /// The RTT sample of a frame.
    #[inline]
    pub(crate) fn sampled(&mut self, now: Timestamp, rtt: &RttEstimator) {
        self.open(now);
        let before = Some(self.smoothed).filter(|smoothed| *smoothed > Span::ZERO);
        let (latest, smoothed) = (span(rtt.latest_rtt()), span(rtt.smoothed_rtt()));
        let sample = sample(rtt, held(before, smoothed, latest, span(rtt.max_ack_delay())));
        self.smoothed = smoothed;
        self.frame.rtt = Some(sample);
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

    /// A frame ends with acknowledgements of `bytes`. If it brought a sample, `rtt` still tells it.
    #[inline]
    pub(crate) fn acked(&mut self, now: Timestamp, bytes: u64, newest: &PacketInfo, rtt: &RttEstimator) {
        let now = self.open(now);
        self.newest_acked_at = self.newest_acked_at.max(newest.sent_at);
        let rtt = if self.frame.marks > 0 || self.frame.lost.packets > 0 {
            self.congestion(now, newest.sent_at, bytes);
            None
        } else {
            self.frame.open = false;
            // Worked out again: the processor would wait for it to be copied.
            self.frame.rtt.take().map(|told| sample(rtt, told.ack_delay))
        };
        let in_flight_before = self.in_flight.bytes();
        let in_flight = in_flight_before.saturating_sub(bytes);
        self.in_flight.acknowledged(now, in_flight);
        self.delivered += bytes;
        let mut event = Event {
            now,
            what: What::Acked(Acked {
                bytes,
                packets: packets(bytes, self.mtu),
                fresh_bytes: self.fresh(newest, bytes),
                newest_sent_at: newest.sent_at,
                newest_pn: None,
                newest_in_flight: Some(u64::from(newest.in_flight)),
                in_flight_before,
                in_flight,
                delivered: self.delivered,
                app_limited: newest.app_limited,
                rtt,
                one_way: None,
                queueing: None,
                congestion_indication: None,
                delivery: None,
            }),
        };
        if self.in_flight.remembers()
            && let What::Acked(acked) = &mut event.what
        {
            self.in_flight.depart(now, acked, newest.app_limited);
            // Its own, not that of the last packet of its instant.
            acked.newest_in_flight = Some(u64::from(newest.in_flight));
        }
        self.hear(&event);
    }

    /// Datagrams may have `mtu` bytes from now on.
    pub(crate) fn resized(&mut self, mtu: u32) {
        self.mtu = mtu;
        if let Stage::Waiting(boarding) = &self.stage {
            self.window = boarding.initial_window(mtu);
        }
        self.tell(self.now(), What::Mtu(mtu));
    }

    /// `bytes` are in flight no more, for no reason of the network's.
    pub(crate) fn discarded(&mut self, bytes: u64) {
        let left = self.in_flight.bytes().saturating_sub(bytes);
        self.in_flight.acknowledged(self.now(), left);
    }
}

/// The sample a frame brought, with s2n-quic's estimates.
#[inline]
fn sample(rtt: &RttEstimator, ack_delay: Span) -> Rtt {
    Rtt {
        latest: span(rtt.latest_rtt()),
        smoothed: span(rtt.smoothed_rtt()),
        variation: span(rtt.rttvar()),
        min: span(rtt.min_rtt()),
        ack_delay,
    }
}

/// The probe timeout (`RFC 9002 §6.2.1`).
fn pto(rtt: &RttEstimator) -> Span {
    let spread = span(rtt.rttvar().saturating_mul(4)).max(GRANULARITY);
    span(rtt.smoothed_rtt()) + spread + span(rtt.max_ack_delay())
}

/// How many packets `bytes` are, all but the last full. Acknowledgements fit into 32 bits,
/// where a division takes half the time.
#[inline]
fn packets(bytes: u64, mtu: u32) -> u32 {
    let mtu = mtu.max(1);
    match u32::try_from(bytes) {
        Ok(bytes) => bytes.div_ceil(mtu),
        Err(_) => u32::try_from(bytes.div_ceil(u64::from(mtu))).unwrap_or(u32::MAX),
    }
}

#[inline]
fn narrow(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
