//! One path of an s2n-quic connection as a windlass flow.

use std::cell::{Ref, RefCell};

use s2n_quic::provider::congestion_controller::{
    CongestionController, Publisher, RandomGenerator, RttEstimator, Timestamp,
};
use windlass_adapter::{Flow, InFlight};
use windlass_controllers::event::{Acked, Idle, LossTrigger, Lost, Marked, Rtt, Sent};
use windlass_controllers::{Algorithm, Engine, Event, Span, Time, What};

use crate::PacketInfo;
use crate::boarding::Boarding;
use crate::clock::{Clock, span};
use crate::frame::Frame;
use crate::pacer::Pacer;

/// Room for this many datagrams does not make a flow limited by its application: it may be
/// about to write more, or wait for the pacer.
const SLACK_DATAGRAMS: u64 = 3;

/// Granularity of timers (`RFC 9002 §6.1.2`).
const GRANULARITY: Span = Span::from_millis(1);

/// A windlass controller in s2n-quic's clothes; made by an [`Endpoint`](crate::Endpoint).
#[derive(Clone, Debug)]
pub struct Controller<E: Engine = Algorithm> {
    /// s2n-quic asks a shared reference for the window after it reported losses, the last
    /// of which it does not name; whatever is asked first completes the report.
    path: RefCell<Path<E>>,
}

impl<E: Engine> Controller<E> {
    pub(crate) fn new(boarding: Boarding<E>, mtu: u16) -> Self {
        Controller { path: RefCell::new(Path::new(boarding, mtu)) }
    }

    /// The path, with everything reported so far delivered.
    #[inline]
    fn settled(&self) -> Ref<'_, Path<E>> {
        if self.path.borrow().frame.open {
            self.path.borrow_mut().settle();
        }
        self.path.borrow()
    }

    /// Shows the flow: its algorithm, state and decision in force. `None` while the path
    /// has not sent a packet.
    pub fn with_flow<R>(&self, look: impl FnOnce(&Flow<E>) -> R) -> Option<R> {
        match &self.settled().stage {
            Stage::Running(flow) => Some(look(flow)),
            Stage::Waiting { .. } => None,
        }
    }
}

/// A flow starts when its first packet leaves: nothing tells the time before.
#[derive(Clone, Debug)]
enum Stage<E: Engine> {
    Waiting { boarding: Boarding<E>, window: u64 },
    Running(Flow<E>),
}

#[derive(Clone, Debug)]
struct Path<E: Engine> {
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
    /// A response to losses began and no packet was sent since.
    retransmit: bool,
}

impl<E: Engine> Path<E> {
    fn new(boarding: Boarding<E>, mtu: u16) -> Self {
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
            Stage::Running(flow) => flow.decision().cwnd,
            Stage::Waiting { window, .. } => *window,
        }
    }

    #[inline]
    fn room(&self) -> u64 {
        self.window().saturating_sub(self.in_flight.bytes())
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

    /// Delivers a frame, or a loss found by a timer, that no acknowledgement follows.
    #[cold]
    fn settle(&mut self) {
        self.congestion(self.now(), self.newest_acked_at, 0);
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
}

impl<E: Engine> CongestionController for Controller<E> {
    type PacketInfo = PacketInfo;

    #[inline]
    fn congestion_window(&self) -> u32 {
        narrow(self.settled().window())
    }

    #[inline]
    fn bytes_in_flight(&self) -> u32 {
        narrow(self.settled().in_flight.bytes())
    }

    #[inline]
    fn is_congestion_limited(&self) -> bool {
        let path = self.settled();
        path.room() < u64::from(path.mtu)
    }

    /// One packet of lost data may leave when a response to losses begins, whatever the
    /// window (`RFC 9002 §7.3.2`).
    #[inline]
    fn requires_fast_retransmission(&self) -> bool {
        self.settled().retransmit
    }

    #[inline]
    fn on_packet_sent<P: Publisher>(
        &mut self,
        time_sent: Timestamp,
        sent_bytes: usize,
        app_limited: Option<bool>,
        rtt: &RttEstimator,
        _: &mut P,
    ) -> PacketInfo {
        let path = self.path.get_mut();
        if path.frame.open {
            path.settle();
        }
        let (now, bytes) = (path.read(time_sent), sent_bytes as u64);
        if bytes > 0 {
            if matches!(path.stage, Stage::Waiting { .. }) {
                path.start(now);
            }
            if let Some(idle) = path.in_flight.sent(now, bytes, 0) {
                path.tell(now, What::Idle(Idle { idle, pto: pto(rtt) }));
            }
            path.sent += bytes;
            path.pacer.sent(now, bytes);
            path.retransmit = false;
        }
        let in_flight = path.in_flight.bytes();
        // Handshakes are short of data by nature; s2n-quic does not say so.
        let app_limited = app_limited.unwrap_or(true) && path.room() >= SLACK_DATAGRAMS * u64::from(path.mtu);
        if path.heeds_sent && bytes > 0 {
            path.tell(now, What::Sent(Sent { bytes, pn: None, in_flight, app_limited }));
        }
        PacketInfo { sent_at: now, sent_bytes: path.sent, in_flight: narrow(in_flight), app_limited }
    }

    #[inline]
    fn on_rtt_update<P: Publisher>(&mut self, _: Timestamp, now: Timestamp, rtt: &RttEstimator, _: &mut P) {
        let path = self.path.get_mut();
        path.open(now);
        let smoothed = span(rtt.smoothed_rtt());
        path.smoothed = Some(smoothed);
        path.frame.rtt = Some(Rtt {
            latest: span(rtt.latest_rtt()),
            smoothed,
            variation: span(rtt.rttvar()),
            min: span(rtt.min_rtt()),
            ack_delay: Span::ZERO,
        });
    }

    #[inline]
    fn on_ack<P: Publisher>(
        &mut self,
        _: Timestamp,
        bytes_acknowledged: usize,
        newest: PacketInfo,
        _: &RttEstimator,
        _: &mut dyn RandomGenerator,
        ack_receive_time: Timestamp,
        _: &mut P,
    ) {
        let path = self.path.get_mut();
        let (now, bytes) = (path.open(ack_receive_time), bytes_acknowledged as u64);
        path.newest_acked_at = path.newest_acked_at.max(newest.sent_at);
        let rtt = if path.frame.marks > 0 || path.frame.lost.packets > 0 {
            path.congestion(now, newest.sent_at, bytes);
            None
        } else {
            path.frame.open = false;
            path.frame.rtt.take()
        };
        let in_flight_before = path.in_flight.bytes();
        let in_flight = in_flight_before.saturating_sub(bytes);
        path.in_flight.acknowledged(now, in_flight);
        path.delivered += bytes;
        let departure = path.in_flight.departure(now, newest.sent_at, bytes, newest.app_limited);
        let acked = Acked {
            bytes,
            packets: u32::try_from(bytes.div_ceil(u64::from(path.mtu.max(1)))).unwrap_or(u32::MAX),
            fresh_bytes: path.fresh(&newest, bytes),
            newest_sent_at: newest.sent_at,
            newest_pn: None,
            newest_in_flight: Some(u64::from(newest.in_flight)),
            in_flight_before,
            in_flight,
            delivered: path.delivered,
            app_limited: newest.app_limited,
            rtt,
            one_way: None,
            queueing: None,
            congestion_indication: None,
            delivery: departure.map(|departure| departure.delivery),
        };
        path.tell(now, What::Acked(acked));
    }

    #[inline]
    fn on_packet_lost<P: Publisher>(
        &mut self,
        lost_bytes: u32,
        packet: PacketInfo,
        persistent_congestion: bool,
        _: bool,
        _: &mut dyn RandomGenerator,
        timestamp: Timestamp,
        _: &mut P,
    ) {
        let path = self.path.get_mut();
        path.open(timestamp);
        path.frame.lost.add(u64::from(lost_bytes), &packet, persistent_congestion);
        path.in_flight.lost(u64::from(lost_bytes));
    }

    #[inline]
    fn on_explicit_congestion<P: Publisher>(&mut self, ce_count: u64, event_time: Timestamp, _: &mut P) {
        let path = self.path.get_mut();
        path.open(event_time);
        let marks = u32::try_from(ce_count).unwrap_or(u32::MAX);
        path.frame.marks = path.frame.marks.saturating_add(marks);
    }

    fn on_mtu_update<P: Publisher>(&mut self, max_data_size: u16, _: &mut P) {
        let path = self.path.get_mut();
        path.mtu = u32::from(max_data_size);
        if let Stage::Waiting { boarding, window } = &mut path.stage {
            *window = boarding.initial_window(path.mtu);
        }
        path.tell(path.now(), What::Mtu(path.mtu));
    }

    /// Packets of a discarded packet number space, and lost probes of the MTU: gone, and no
    /// sign of congestion.
    fn on_packet_discarded<P: Publisher>(&mut self, bytes_sent: usize, _: &mut P) {
        let path = self.path.get_mut();
        let left = path.in_flight.bytes().saturating_sub(bytes_sent as u64);
        path.in_flight.acknowledged(path.now(), left);
    }

    #[inline]
    fn earliest_departure_time(&self) -> Option<Timestamp> {
        let path = self.settled();
        let clock = path.clock.as_ref()?;
        path.pacer.next(clock.latest()).map(|time| clock.timestamp(time))
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
