//! One path of an s2n-quic connection as a windlass flow.

use std::cell::Cell;

use s2n_quic::provider::congestion_controller::{RttEstimator, Timestamp};
use windlass_adapter::{AckFrame, Flow, InFlight, rfc9002, send_quantum};
use windlass_controllers::event::{PacketSent, RttSample};
use windlass_controllers::{ConfiguredController, Decision, Event, EventKind, Span, Time};

use crate::PacketInfo;
use crate::ack_delay::ack_delay;
use crate::clock::{Clock, short, span};
use crate::datagrams::Datagrams;
use crate::pacer::Pacer;
use crate::pending_flow::PendingFlow;

/// Room for this many datagrams does not make a flow limited by its application: it may be
/// about to write more, or wait for the pacer.
const SLACK_DATAGRAMS: u64 = 3;

/// What s2n-quic asks, several times for each packet, until something happens. Each value
/// is read as it was written: a processor waits for several that are copied as one.
#[derive(Clone, Debug, Default)]
pub(crate) struct CachedState {
    /// Congestion window, bytes.
    pub(crate) window: Cell<u32>,
    /// Bytes in flight.
    pub(crate) in_flight: Cell<u32>,
    /// Bytes of window a packet needs.
    pub(crate) mtu: Cell<u32>,
    /// A response to losses began and no packet was sent since.
    pub(crate) retransmit: Cell<bool>,
    /// The next packet may have to wait: it has to, or these cached are stale.
    pub(crate) pacing_blocked: Cell<bool>,
    /// Not for long: a report is not complete, or siblings may change the window.
    pub(crate) stale: Cell<bool>,
    /// A packet that leaves is only to be counted.
    counts_only: Cell<bool>,
}

impl CachedState {
    /// Drops the cached state; the next query reads it anew.
    #[inline]
    pub(crate) fn invalidate(&self) {
        self.stale.set(true);
        self.pacing_blocked.set(true);
        self.counts_only.set(false);
    }
}

/// A flow starts when its first packet leaves: there is no time before.
#[derive(Clone, Debug)]
enum FlowState<C: ConfiguredController> {
    Pending(PendingFlow<C>),
    Running(Flow<C>),
}

/// Turns s2n-quic's callbacks for a path into events of a flow.
#[derive(Clone, Debug)]
pub(crate) struct Path<C: ConfiguredController> {
    flow_state: FlowState<C>,
    clock: Option<Clock>,
    in_flight: InFlight,
    delivered: u64,
    newest_acked_at: Time,
    /// What s2n-quic reports of an ACK frame comes in several callbacks: its sample, its losses one
    /// by one, its marks, its acknowledgements. It is kept until the last of them.
    frame: AckFrame,
    /// Whether the frame holds anything.
    frame_open: bool,
    sending: Sending,
    datagrams: Datagrams,
    grouped: bool,
    wants_packet_sent: bool,
    /// The flow runs and needs no events of packets sent.
    plain: bool,
    /// The application had nothing to send after the packet that left last, where snapshots are kept.
    app_limited: bool,
}

/// What was decided, carried out.
#[derive(Clone, Debug, Default)]
struct Sending {
    mtu: u32,
    /// Bytes, as the latest event left it.
    window: u64,
    /// Bytes sent that count as in flight, since the path began.
    sent: u64,
    /// `sent` when the latest recovery period began.
    sent_at_recovery: u64,
    recovery_start: Option<Time>,
    pacer: Pacer,
    /// Zero before the first sample.
    smoothed: Span,
    retransmit: bool,
}

impl Sending {
    /// What was decided on `event`.
    #[inline(always)]
    fn apply(&mut self, decision: &Decision, kind: &EventKind) {
        self.pacer.apply(decision, self.smoothed, self.mtu);
        self.window = decision.cwnd;
        if decision.recovery_start != self.recovery_start {
            self.recovery_start = decision.recovery_start;
            self.sent_at_recovery = self.sent;
            self.retransmit = matches!(kind, EventKind::PacketsLost(_) | EventKind::PersistentCongestion(_));
        }
    }

    /// Delivers `event` to the flow, if it runs, and applies the decision.
    #[inline(never)]
    fn deliver<C: ConfiguredController>(&mut self, flow_state: &mut FlowState<C>, event: &Event) {
        if let FlowState::Running(flow) = flow_state {
            self.apply(flow.on_event(event), &event.kind);
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

impl<C: ConfiguredController> Path<C> {
    /// A path of datagrams of `mtu` bytes.
    pub(crate) fn new(pending: PendingFlow<C>, mtu: u16) -> Self {
        let datagrams = Datagrams::of(mtu);
        let mtu = u32::from(mtu);
        Path {
            wants_packet_sent: pending.controller().wants_packet_sent(),
            in_flight: InFlight::new(pending.controller()),
            sending: Sending { mtu, window: pending.initial_window(mtu), ..Sending::default() },
            flow_state: FlowState::Pending(pending),
            clock: None,
            delivered: 0,
            newest_acked_at: Time::ZERO,
            frame: AckFrame::default(),
            frame_open: false,
            datagrams,
            grouped: false,
            plain: false,
            app_limited: false,
        }
    }

    /// The flow, once it runs.
    pub(crate) fn flow(&self) -> Option<&Flow<C>> {
        match &self.flow_state {
            FlowState::Running(flow) => Some(flow),
            FlowState::Pending(_) => None,
        }
    }

    #[inline]
    pub(crate) fn update_cache(&self, cached: &CachedState) {
        self.update_cache_at(self.now(), cached);
        cached.mtu.set(self.sending.mtu);
        if self.frame_open {
            cached.invalidate();
        }
    }

    /// As [`update_cache`](Self::update_cache) where it is `now`, the datagram size is what it was, and no
    /// frame is open.
    #[inline]
    fn update_cache_at(&self, now: Time, cached: &CachedState) {
        cached.window.set(narrow(self.sending.window));
        cached.in_flight.set(narrow(self.in_flight.bytes()));
        cached.retransmit.set(self.sending.retransmit);
        cached.pacing_blocked.set(self.grouped | (self.sending.pacer.due() > now));
        cached.stale.set(self.grouped);
        cached.counts_only.set(self.plain & self.in_flight.counts_only());
    }

    /// Bytes that may leave at once; `None` where no rate was decided.
    pub(crate) fn send_quantum(&self) -> Option<usize> {
        let rate = self.flow()?.with_decision(|decision| decision.pacing_rate)?;
        Some(send_quantum(rate, self.sending.mtu) as usize)
    }

    /// When the next packet may leave, if that is later.
    pub(crate) fn next_send_time(&self) -> Option<Timestamp> {
        let due = self.sending.pacer.due();
        self.clock.as_ref().filter(|clock| due > clock.latest()).map(|clock| clock.timestamp(due))
    }

    /// Completes what was reported, and asks for what siblings made of the window.
    pub(crate) fn refresh(&mut self) {
        self.finish_frame();
        if let FlowState::Running(flow) = &self.flow_state {
            self.sending.window = flow.cwnd();
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
        if let FlowState::Pending(pending) = &self.flow_state {
            let flow = pending.start(now, self.sending.mtu);
            let decision = flow.decision();
            self.sending.recovery_start = decision.recovery_start;
            self.sending.pacer.apply(&decision, self.sending.smoothed, self.sending.mtu);
            self.sending.window = decision.cwnd;
            self.grouped = flow.is_grouped();
            self.flow_state = FlowState::Running(flow);
            self.plain = !self.wants_packet_sent;
        }
    }

    /// Tells the flow of what comes rarely.
    #[inline(never)]
    fn on_event(&mut self, now: Time, kind: EventKind) {
        self.sending.deliver(&mut self.flow_state, &Event::new(now, kind));
    }

    /// Delivers a frame, or a loss found by a timer, that no acknowledgement followed.
    #[inline]
    pub(crate) fn finish_frame(&mut self) {
        if self.frame_open {
            self.congestion(self.now(), self.newest_acked_at, 0);
        }
    }

    /// Delivers what the frame brought besides acknowledgements: the sample, marks, losses.
    /// `newest_sent_at` is of the newest packet it acknowledges, and `acked` bytes will be
    /// taken out of flight afterwards.
    #[cold]
    fn congestion(&mut self, now: Time, newest_sent_at: Time, acked: u64) {
        self.frame_open = false;
        let in_flight = self.in_flight.bytes();
        let lost_bytes = self.frame.lost_bytes();
        let before = in_flight.saturating_add(lost_bytes.unwrap_or(0));
        let Path { frame, flow_state, sending, .. } = self;
        frame.emit_congestion(now, (newest_sent_at, None), (before, in_flight), |event| {
            sending.deliver(flow_state, event);
        });
        if lost_bytes.is_some() && acked == 0 {
            // No event follows that could report that the path fell silent.
            self.in_flight.acknowledged(now, in_flight, newest_sent_at);
        }
    }

    /// Opens the frame that `now` brings, closing another that was left open.
    #[inline]
    fn open(&mut self, now: Timestamp) -> Time {
        let now = self.begin_at(now);
        self.frame_open = true;
        now
    }

    /// As [`open`](Self::open), of a frame about to be closed.
    #[inline]
    fn begin_at(&mut self, now: Timestamp) -> Time {
        match &mut self.clock {
            Some(clock) if self.frame_open && clock.is_past(now) => self.finish_and_read(now),
            Some(clock) => clock.read(now),
            None => self.read_first(now),
        }
    }

    /// As [`begin_at`](Self::begin_at), closing the frame before.
    #[cold]
    fn finish_and_read(&mut self, now: Timestamp) -> Time {
        self.finish_frame();
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
        cached: &CachedState,
    ) -> PacketInfo {
        if !cached.counts_only.get() || bytes == 0 {
            return self.sent_slow(at, bytes, app_limited, rtt, cached);
        }
        self.in_flight.add(bytes);
        let now = self.read(at);
        self.count_sent(now, bytes);
        cached.in_flight.set(narrow(self.in_flight.bytes()));
        cached.retransmit.set(false);
        cached.pacing_blocked.set(self.grouped | (self.sending.pacer.due() > now));
        self.info(now, self.is_app_limited(app_limited))
    }

    /// A packet left, and there is more to that than bytes in flight.
    #[inline(never)]
    fn sent_slow(
        &mut self,
        at: Timestamp,
        bytes: u64,
        app_limited: Option<bool>,
        rtt: &RttEstimator,
        cached: &CachedState,
    ) -> PacketInfo {
        self.finish_frame();
        let now = self.read(at);
        if bytes > 0 {
            if matches!(self.flow_state, FlowState::Pending(_)) {
                self.start(now);
            }
            if let Some(silence) = self.in_flight.sent(now, bytes, 0)
                && let FlowState::Running(flow) = &self.flow_state
                && let Some(restart) = silence.end_of(flow, now, self.sending.smoothed, self.sending.mtu, pto(rtt))
            {
                self.on_event(now, EventKind::IdleRestart(restart));
            }
            self.count_sent(now, bytes);
        }
        let app_limited = self.is_app_limited(app_limited);
        self.app_limited = app_limited;
        if self.wants_packet_sent && bytes > 0 {
            let in_flight = self.in_flight.bytes();
            self.on_event(now, EventKind::PacketSent(PacketSent::new(bytes, in_flight).with_app_limited(app_limited)));
        }
        self.update_cache(cached);
        self.info(now, app_limited)
    }

    #[inline]
    fn count_sent(&mut self, now: Time, bytes: u64) {
        // Packets go by differences of less than 4 GiB.
        self.sending.sent = self.sending.sent.wrapping_add(bytes);
        self.sending.pacer.sent(now, bytes);
        self.sending.retransmit = false;
    }

    /// Whether the application left the window unused, if s2n-quic says `app_limited`.
    #[inline]
    fn is_app_limited(&self, app_limited: Option<bool>) -> bool {
        // Handshakes are short of data by nature; s2n-quic does not say so.
        app_limited.unwrap_or(true)
            && self.sending.window.saturating_sub(self.in_flight.bytes())
                >= SLACK_DATAGRAMS * u64::from(self.sending.mtu)
    }

    /// What to remember of a packet that left at `now`.
    #[inline]
    fn info(&self, now: Time, app_limited: bool) -> PacketInfo {
        PacketInfo::new(now, self.sending.sent, self.in_flight.bytes(), app_limited)
    }

    /// The RTT sample of a frame, with s2n-quic's estimates.
    #[inline]
    pub(crate) fn sampled(&mut self, now: Timestamp, rtt: &RttEstimator) {
        self.open(now);
        let (latest, smoothed) = (short(rtt.latest_rtt()), short(rtt.smoothed_rtt()));
        let ack_delay = ack_delay(self.sending.smoothed, smoothed, latest, || short(rtt.max_ack_delay()));
        self.sending.smoothed = smoothed;
        let (variation, min) = (short(rtt.rttvar()), short(rtt.min_rtt()));
        *self.frame.rtt() = Some(RttSample::new(latest, smoothed, variation, min).with_ack_delay(ack_delay));
    }

    /// A packet was declared lost.
    #[inline]
    pub(crate) fn lost(&mut self, now: Timestamp, bytes: u64, packet: &PacketInfo, persistent: bool) {
        let now = self.open(now);
        let lost = self.frame.lost();
        lost.add(bytes, packet.sent_at);
        lost.persistent |= persistent;
        self.in_flight.lost(now, bytes);
    }

    /// More packets were reported marked.
    #[inline]
    pub(crate) fn marked(&mut self, now: Timestamp, packets: u64) {
        self.open(now);
        let packets = u32::try_from(packets).unwrap_or(u32::MAX);
        self.frame.add_ecn_ce(packets);
    }

    /// A frame ends with acknowledgements of `bytes`.
    #[inline]
    pub(crate) fn acked(&mut self, now: Timestamp, bytes: u64, newest: &PacketInfo, cached: &CachedState) {
        let now = self.begin_at(now);
        self.newest_acked_at = self.newest_acked_at.max(newest.sent_at);
        if self.frame.is_congested() {
            self.congestion(now, newest.sent_at, bytes);
        }
        self.frame_open = false;
        let in_flight_before = self.in_flight.bytes();
        let in_flight = in_flight_before.saturating_sub(bytes);
        self.in_flight.acknowledged(now, in_flight, newest.sent_at);
        self.delivered = self.delivered.saturating_add(bytes);
        let acked = self.frame.acked();
        acked.bytes = bytes;
        acked.packets = self.datagrams.count(bytes);
        acked.fresh_bytes = self.sending.fresh(newest, bytes);
        acked.newest_sent_at = newest.sent_at;
        acked.in_flight_before = in_flight_before;
        acked.in_flight = in_flight;
        acked.delivered = self.delivered;
        acked.app_limited = newest.app_limited();
        if self.in_flight.keeps_snapshots() {
            acked.delivery = None;
            // By now, not when the newest packet left (`draft-ietf-ccwg-bbr §4.1.2.4`).
            self.in_flight.fill_delivery_rate(now, acked, self.app_limited);
        }
        // Its own, not that of the last packet of its instant.
        acked.newest_in_flight = Some(newest.in_flight());
        if let FlowState::Running(flow) = &mut self.flow_state {
            let sending = &mut self.sending;
            self.frame.emit_acked(now, |event| sending.apply(flow.on_event(event), &event.kind));
        }
        *self.frame.rtt() = None;
        self.update_cache_at(now, cached);
    }

    /// Datagrams may have `mtu` bytes from now on.
    pub(crate) fn resized(&mut self, mtu: u16) {
        self.datagrams = Datagrams::of(mtu);
        let mtu = u32::from(mtu);
        self.sending.mtu = mtu;
        if let FlowState::Pending(pending) = &self.flow_state {
            self.sending.window = pending.initial_window(mtu);
        }
        self.on_event(self.now(), EventKind::MtuUpdated(mtu));
    }

    /// `bytes` are in flight no more, for no reason of the network's.
    pub(crate) fn discarded(&mut self, bytes: u64) {
        let left = self.in_flight.bytes().saturating_sub(bytes);
        self.in_flight.acknowledged(self.now(), left, Time::ZERO);
    }
}

/// The probe timeout (`RFC 9002 §6.2.1`).
fn pto(rtt: &RttEstimator) -> Span {
    rfc9002::probe_timeout(span(rtt.smoothed_rtt()), span(rtt.rttvar()), span(rtt.max_ack_delay()))
}

#[inline]
fn narrow(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
