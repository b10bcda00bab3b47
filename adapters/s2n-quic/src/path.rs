//! One path of an s2n-quic connection as a windlass flow.

use std::cell::Cell;
use std::fmt;
use std::net::SocketAddr;

use s2n_quic::provider::congestion_controller::{RttEstimator, Timestamp};
#[cfg(feature = "qlog")]
use windlass_adapter::Recorder;
use windlass_adapter::{Choice, Flow, FlowBuilder, LostPackets, NewFlow, PathFlow, Sent};
use windlass_controllers::event::RttSample;
use windlass_controllers::{ConfiguredController, Decision, EventKind, Path as Start, Span, Time, View};

use crate::PacketInfo;
use crate::ack_delay::ack_delay;
use crate::clock::{Clock, short, span};
use crate::pacer::Pacer;
use crate::packet::Datagrams;
#[cfg(feature = "qlog")]
use crate::qlog::Place;

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
}

impl CachedState {
    /// Drops the cached state; the next query reads it anew.
    #[inline]
    pub(crate) fn invalidate(&self) {
        self.stale.set(true);
        self.pacing_blocked.set(true);
    }
}

/// A path that has not sent yet: everything decided of a flow before its first packet leaves.
#[derive(Clone)]
pub(crate) struct PendingFlow<C: ConfiguredController> {
    pub(crate) builder: FlowBuilder<C>,
    pub(crate) choice: Choice<C>,
    pub(crate) peer: SocketAddr,
    pub(crate) seed: u64,
    /// The log of the flow's connection.
    #[cfg(feature = "qlog")]
    pub(crate) log: Option<Place>,
}

impl<C: ConfiguredController> PendingFlow<C> {
    pub(crate) fn controller(&self) -> &C {
        &self.choice.controller
    }

    /// The window the flow will start with, bytes.
    pub(crate) fn initial_window(&self, mtu: u32) -> u64 {
        let controller = self.controller();
        let state = controller.start(&Start::new(Time::ZERO, mtu, self.seed));
        controller.decide(&state, View::solo(&controller.group())).cwnd
    }

    /// The flow, which starts `now` on a path of datagrams of `mtu` bytes.
    pub(crate) fn start(&self, now: Time, mtu: u32) -> Flow<C> {
        let peer = self.peer.into();
        let path = self.builder.path(self.controller(), &peer, Start::new(now, mtu, self.seed));
        let new = NewFlow { peer, controller: self.controller(), text: &self.choice.text, path: &path };
        let recorder = self.builder.recorder(&new);
        #[cfg(feature = "qlog")]
        let recorder = self.with_log(&new, recorder);
        self.builder.join(&new, recorder)
    }

    /// `recorder`, and the log of the flow's connection if it has one.
    #[cfg(feature = "qlog")]
    fn with_log(&self, new: &NewFlow<'_, C>, recorder: Option<Box<dyn Recorder>>) -> Option<Box<dyn Recorder>> {
        let log = self.log.as_ref().map(|log| log.recorder(new, self.initial_window(new.path.mtu)));
        match (recorder, log) {
            (Some(recorder), Some(log)) => Some(Box::new([recorder, log])),
            (recorder, log) => recorder.or(log),
        }
    }
}

impl<C: ConfiguredController> fmt::Debug for PendingFlow<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingFlow")
            .field("choice", &self.choice)
            .field("peer", &self.peer)
            .field("seed", &self.seed)
            .field("builder", &self.builder)
            .finish_non_exhaustive()
    }
}

/// A flow starts when its first packet leaves: there is no time before, and nothing to report.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a path is the other one nearly all its life")]
enum State<C: ConfiguredController> {
    Pending(PendingFlow<C>),
    Running(PathFlow<C>),
}

/// A [`PathFlow`] as s2n-quic has it.
#[derive(Clone, Debug)]
pub(crate) struct Path<C: ConfiguredController> {
    state: State<C>,
    clock: Option<Clock>,
    newest_acked_at: Time,
    /// Whether the frame holds anything. What s2n-quic reports of an ACK frame comes in several callbacks: its sample,
    /// its losses one by one, its marks, its acknowledgements; it is kept until the last of them.
    frame_open: bool,
    sending: Sending,
    datagrams: Datagrams,
    grouped: bool,
    /// The application had nothing to send after the packet that left last.
    app_limited: bool,
}

/// The decision in effect, and what s2n-quic asks of it.
#[derive(Clone, Debug, Default)]
struct Sending {
    mtu: u32,
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
    /// Puts a decision into effect; `after_losses` if losses led to it.
    #[inline(always)]
    fn apply(&mut self, decision: &Decision, after_losses: bool) {
        self.pacer.apply(decision, self.smoothed, self.mtu);
        if decision.recovery_start != self.recovery_start {
            self.recovery_start = decision.recovery_start;
            self.sent_at_recovery = self.sent;
            self.retransmit = after_losses;
        }
    }

    #[inline]
    fn count_sent(&mut self, now: Time, bytes: u64) {
        // Packets go by differences of less than 4 GiB.
        self.sent = self.sent.wrapping_add(bytes);
        self.pacer.sent(now, bytes);
        self.retransmit = false;
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
        Path {
            sending: Sending { mtu: mtu.into(), ..Sending::default() },
            state: State::Pending(pending),
            clock: None,
            newest_acked_at: Time::ZERO,
            frame_open: false,
            datagrams: Datagrams::of(mtu),
            grouped: false,
            app_limited: false,
        }
    }

    /// The flow, once it runs.
    pub(crate) fn flow(&self) -> Option<&Flow<C>> {
        match &self.state {
            State::Running(path) => Some(path.flow()),
            State::Pending(_) => None,
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
        let (window, in_flight) = match &self.state {
            State::Running(path) => (path.flow().cwnd(), path.in_flight().bytes()),
            State::Pending(pending) => (pending.initial_window(self.sending.mtu), 0),
        };
        cached.window.set(narrow(window));
        cached.in_flight.set(narrow(in_flight));
        cached.retransmit.set(self.sending.retransmit);
        cached.pacing_blocked.set(self.grouped | (self.sending.pacer.due() > now));
        cached.stale.set(self.grouped);
    }

    /// Bytes that may leave at once; `None` where no rate was decided.
    pub(crate) fn send_quantum(&self) -> Option<usize> {
        let State::Running(path) = &self.state else { return None };
        path.send_quantum().map(|bytes| bytes as usize)
    }

    /// Earliest time of the next packet; `None` for at once.
    pub(crate) fn next_send_time(&self) -> Option<Timestamp> {
        let due = self.sending.pacer.due();
        self.clock.as_ref().filter(|clock| due > clock.latest()).map(|clock| clock.timestamp(due))
    }

    /// `timestamp` as a time that never goes back, and is the path's from here on.
    #[inline]
    fn read(&mut self, timestamp: Timestamp) -> Time {
        let now = match &mut self.clock {
            Some(clock) => clock.read(timestamp),
            None => self.clock.insert(Clock::of(timestamp)).latest(),
        };
        if let State::Running(path) = &mut self.state {
            path.at(now);
        }
        now
    }

    #[inline]
    fn now(&self) -> Time {
        self.clock.as_ref().map_or(Time::ZERO, Clock::latest)
    }

    /// The running path. One starts `now`, if none has.
    #[inline]
    fn running(&mut self, now: Time) -> (&mut PathFlow<C>, &mut Sending) {
        if let State::Pending(pending) = &self.state {
            let flow = pending.start(now, self.sending.mtu);
            self.grouped = flow.is_grouped();
            flow.with_decision(|decision| {
                self.sending.recovery_start = decision.recovery_start;
                self.sending.apply(decision, false);
            });
            self.state = State::Running(PathFlow::new(flow, now, self.sending.mtu));
        }
        let State::Running(path) = &mut self.state else { unreachable!("it was just started") };
        (path, &mut self.sending)
    }

    /// Delivers a frame, or a loss found by a timer, that no acknowledgement followed.
    #[inline]
    pub(crate) fn finish_frame(&mut self) {
        if self.frame_open {
            self.congestion(self.newest_acked_at, 0);
        }
    }

    /// Delivers what the frame brought besides acknowledgements: the sample, marks, losses.
    /// `newest_sent_at` is of the newest packet it acknowledges, and `acked` bytes will be
    /// taken out of flight afterwards.
    #[cold]
    fn congestion(&mut self, newest_sent_at: Time, acked: u64) {
        self.frame_open = false;
        let Path { state: State::Running(path), sending, .. } = self else { return };
        let in_flight = path.in_flight().bytes();
        let lost_bytes = path.frame().lost_bytes();
        let before = in_flight.saturating_add(lost_bytes.unwrap_or(0));
        path.congestion_with((newest_sent_at, None), (before, in_flight), |decision, kind| {
            sending.apply(decision, matches!(kind, EventKind::PacketsLost(_) | EventKind::PersistentCongestion(_)));
        });
        if lost_bytes.is_some() && acked == 0 {
            // No event follows that could report that the path fell silent.
            path.counted(in_flight, newest_sent_at);
        }
    }

    /// Opens the frame that `now` brings, closing another that was left open.
    #[inline]
    fn open(&mut self, now: Timestamp) {
        self.begin_at(now);
        self.frame_open = true;
    }

    /// As [`open`](Self::open), of a frame about to be closed.
    #[inline]
    fn begin_at(&mut self, now: Timestamp) -> Time {
        if self.frame_open && self.clock.as_ref().is_some_and(|clock| clock.is_past(now)) {
            self.finish_frame();
        }
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
        self.finish_frame();
        let at = self.read(at);
        // Handshakes are short of data by nature; s2n-quic does not say so.
        let mut limited = app_limited.unwrap_or(true);
        if bytes > 0 {
            let (path, sending) = self.running(at);
            let counts_only = path.in_flight().counts_only();
            if !counts_only {
                path.set_max_ack_delay(span(rtt.max_ack_delay()));
            }
            let sent = Sent { at, bytes, pn: None, may_be_bare_ack: false };
            let had_event = path.sent(sent, |path| {
                if !counts_only {
                    path.flow().with_decision(|decision| sending.apply(decision, false));
                }
                sending.count_sent(at, bytes);
                limited = limited && path.leaves_room(path.in_flight().bytes());
                limited
            });
            if had_event {
                path.flow().with_decision(|decision| sending.apply(decision, false));
            }
        }
        self.app_limited = limited;
        self.update_cache(cached);
        self.info(at, limited)
    }

    /// Data to keep for a packet that left at `now`.
    #[inline]
    fn info(&self, now: Time, app_limited: bool) -> PacketInfo {
        let in_flight = match &self.state {
            State::Running(path) => path.in_flight().bytes(),
            State::Pending(_) => 0,
        };
        PacketInfo::new(now, self.sending.sent, in_flight, app_limited)
    }

    /// The RTT sample of a frame, with s2n-quic's estimates.
    #[inline]
    pub(crate) fn sampled(&mut self, now: Timestamp, rtt: &RttEstimator) {
        self.open(now);
        let (latest, smoothed) = (short(rtt.latest_rtt()), short(rtt.smoothed_rtt()));
        let ack_delay = ack_delay(self.sending.smoothed, smoothed, latest, || short(rtt.max_ack_delay()));
        self.sending.smoothed = smoothed;
        if let State::Running(path) = &mut self.state {
            let (variation, min) = (short(rtt.rttvar()), short(rtt.min_rtt()));
            path.sampled(RttSample::new(latest, smoothed, variation, min).with_ack_delay(ack_delay));
        }
    }

    /// A packet was declared lost.
    #[inline]
    pub(crate) fn lost(&mut self, now: Timestamp, bytes: u64, packet: &PacketInfo, persistent: bool) {
        self.open(now);
        if let State::Running(path) = &mut self.state {
            path.lost(LostPackets { persistent, ..LostPackets::one(bytes, packet.sent_at) });
        }
    }

    /// More packets were reported marked.
    #[inline]
    pub(crate) fn marked(&mut self, now: Timestamp, packets: u64) {
        self.open(now);
        if let State::Running(path) = &mut self.state {
            path.ecn_ce(u32::try_from(packets).unwrap_or(u32::MAX));
        }
    }

    /// A frame ends with acknowledgements of `bytes`.
    #[inline]
    pub(crate) fn acked(&mut self, now: Timestamp, bytes: u64, newest: &PacketInfo, cached: &CachedState) {
        let now = self.begin_at(now);
        self.newest_acked_at = self.newest_acked_at.max(newest.sent_at);
        if self.is_congested() {
            self.congestion(newest.sent_at, bytes);
        }
        self.frame_open = false;
        let Path { state: State::Running(path), sending, .. } = self else { return };
        let in_flight_before = path.in_flight().bytes();
        let packets = self.datagrams.count(bytes);
        path.acknowledged().add_sum(packets, bytes, sending.fresh(newest, bytes), newest.sent_at);
        path.end_of_frame(in_flight_before.saturating_sub(bytes), self.app_limited, |acked| {
            (acked.packets, acked.in_flight_before) = (packets, in_flight_before);
            acked.app_limited = newest.app_limited();
            // Its own, not that of the last packet of its instant.
            acked.newest_in_flight = Some(newest.in_flight());
        });
        path.flow().with_decision(|decision| sending.apply(decision, false));
        self.update_cache_at(now, cached);
    }

    #[inline]
    fn is_congested(&self) -> bool {
        matches!(&self.state, State::Running(path) if path.frame().is_congested())
    }

    /// Datagrams may have `mtu` bytes from now on.
    pub(crate) fn resized(&mut self, mtu: u16) {
        self.datagrams = Datagrams::of(mtu);
        self.sending.mtu = mtu.into();
        if let Path { state: State::Running(path), sending, .. } = self {
            path.mtu_updated(mtu.into());
            path.flow().with_decision(|decision| sending.apply(decision, false));
        }
    }

    /// `bytes` are in flight no more, for no reason of the network's.
    pub(crate) fn discarded(&mut self, bytes: u64) {
        if let State::Running(path) = &mut self.state {
            path.discarded(path.in_flight().bytes().saturating_sub(bytes));
        }
    }
}

#[inline]
fn narrow(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
