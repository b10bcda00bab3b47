//! One path of an s2n-quic connection as a windlass flow.

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

/// What s2n-quic asks, until something happens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answers {
    /// Bytes.
    pub(crate) window: u32,
    /// Bytes.
    pub(crate) in_flight: u32,
    /// Bytes of window a packet needs.
    pub(crate) mtu: u32,
    /// A response to losses began and no packet was sent since.
    pub(crate) retransmit: bool,
    /// When the next packet may leave, if not at once.
    pub(crate) departure: Option<Timestamp>,
    /// Not for long: a report is not complete, or siblings may change the window.
    pub(crate) stale: bool,
}

/// A flow starts when its first packet leaves: nothing tells the time before.
#[derive(Clone, Debug)]
enum Stage<E: Engine> {
    Waiting { boarding: Boarding<E>, window: u64 },
    Running(Flow<E>),
}

/// Turns what s2n-quic tells of a path into events of a flow.
#[derive(Clone, Debug)]
pub(crate) struct Path<E: Engine> {
    stage: Stage<E>,
    clock: Option<Clock>,
    mtu: u32,
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
    smoothed: Option<Span>,
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
            stage: Stage::Waiting { window: boarding.initial_window(mtu), boarding },
            clock: None,
            mtu,
            sent: 0,
            sent_at_recovery: 0,
            recovery_start: None,
            delivered: 0,
            newest_acked_at: Time::ZERO,
            frame: Frame::default(),
            pacer: Pacer::default(),
            smoothed: None,
            retransmit: false,
        }
    }

    /// The flow, once it runs.
    pub(crate) fn flow(&self) -> Option<&Flow<E>> {
        match &self.stage {
            Stage::Running(flow) => Some(flow),
            Stage::Waiting { .. } => None,
        }
    }

    #[inline]
    pub(crate) fn answers(&self) -> Answers {
        Answers {
            window: narrow(self.window()),
            in_flight: narrow(self.in_flight.bytes()),
            mtu: self.mtu,
            retransmit: self.retransmit,
            departure: self.clock.as_ref().and_then(|clock| {
                let next = self.pacer.next(clock.latest())?;
                Some(clock.timestamp(next))
            }),
            stale: self.frame.open || self.flow().is_some_and(Flow::is_grouped),
        }
    }

    /// `timestamp` as a time that never goes back.
    #[inline]
    fn read(&mut self, timestamp: Timestamp) -> Time {
        self.clock.get_or_insert_with(|| Clock::of(timestamp)).read(timestamp)
    }

    #[inline]
    fn now(&self) -> Time {
        self.clock.as_ref().map_or(Time::ZERO, Clock::latest)
    }

    #[inline]
    fn window(&self) -> u64 {
        match &self.stage {
            Stage::Running(flow) => flow.window(),
            Stage::Waiting { window, .. } => *window,
        }
    }

    #[cold]
    fn start(&mut self, now: Time) {
        if let Stage::Waiting { boarding, .. } = &self.stage {
            let flow = boarding.board(now, self.mtu);
            self.recovery_start = flow.recovery_start();
            self.pacer.heed(&flow.decision(), self.smoothed);
            self.stage = Stage::Running(flow);
        }
    }

    /// Tells the flow of `what`.
    #[inline]
    fn tell(&mut self, now: Time, what: What) {
        let Stage::Running(flow) = &mut self.stage else { return };
        let decision = flow.on(&Event { now, what });
        self.pacer.heed(decision, self.smoothed);
        if decision.recovery_start != self.recovery_start {
            self.recovery_start = decision.recovery_start;
            self.sent_at_recovery = self.sent;
            self.retransmit = matches!(what, What::Lost(_) | What::PersistentCongestion(_));
        }
    }

    /// Delivers a frame, or a loss found by a timer, that no acknowledgement followed.
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
            if matches!(self.stage, Stage::Waiting { .. }) {
                self.start(now);
            }
            if let Some(idle) = self.in_flight.sent(now, bytes, 0) {
                self.tell(now, What::Idle(Idle { idle, pto: pto(rtt) }));
            }
            self.sent += bytes;
            self.pacer.sent(now, bytes, self.mtu);
            self.retransmit = false;
        }
        let in_flight = self.in_flight.bytes();
        // Handshakes are short of data by nature; s2n-quic does not say so.
        let app_limited = app_limited.unwrap_or(true)
            && self.window().saturating_sub(in_flight) >= SLACK_DATAGRAMS * u64::from(self.mtu);
        if self.heeds_sent && bytes > 0 {
            self.tell(now, What::Sent(Sent { bytes, pn: None, in_flight, app_limited, place: None }));
        }
        PacketInfo { sent_at: now, sent_bytes: self.sent, in_flight: narrow(in_flight), app_limited }
    }

    /// The RTT sample of a frame.
    #[inline]
    pub(crate) fn sampled(&mut self, now: Timestamp, rtt: &RttEstimator) {
        self.open(now);
        let (latest, smoothed) = (span(rtt.latest_rtt()), span(rtt.smoothed_rtt()));
        let ack_delay = held(self.smoothed, smoothed, latest, span(rtt.max_ack_delay()));
        self.smoothed = Some(smoothed);
        let (variation, min) = (span(rtt.rttvar()), span(rtt.min_rtt()));
        self.frame.rtt = Some(Rtt { latest, smoothed, variation, min, ack_delay });
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
    pub(crate) fn acked(&mut self, now: Timestamp, bytes: u64, newest: &PacketInfo) {
        let now = self.open(now);
        self.newest_acked_at = self.newest_acked_at.max(newest.sent_at);
        let rtt = if self.frame.marks > 0 || self.frame.lost.packets > 0 {
            self.congestion(now, newest.sent_at, bytes);
            None
        } else {
            self.frame.open = false;
            self.frame.rtt.take()
        };
        let in_flight_before = self.in_flight.bytes();
        let in_flight = in_flight_before.saturating_sub(bytes);
        self.in_flight.acknowledged(now, in_flight);
        self.delivered += bytes;
        let departure = self.in_flight.departure(now, newest.sent_at, bytes, newest.app_limited);
        let acked = Acked {
            bytes,
            packets: u32::try_from(bytes.div_ceil(u64::from(self.mtu.max(1)))).unwrap_or(u32::MAX),
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
            delivery: departure.map(|departure| departure.delivery),
        };
        self.tell(now, What::Acked(acked));
    }

    /// Datagrams may have `mtu` bytes from now on.
    pub(crate) fn resized(&mut self, mtu: u32) {
        self.mtu = mtu;
        if let Stage::Waiting { boarding, window } = &mut self.stage {
            *window = boarding.initial_window(mtu);
        }
        self.tell(self.now(), What::Mtu(mtu));
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
