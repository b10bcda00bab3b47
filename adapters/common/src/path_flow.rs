//! One path of a connection as a flow: the one translation of what stacks report into events.
//!
//! A stack's calls become these, whatever it calls them: [`sent`](PathFlow::sent),
//! [`acked`](PathFlow::acked), [`end_of_frame`](PathFlow::end_of_frame), [`lost`](PathFlow::lost),
//! [`ecn_ce`](PathFlow::ecn_ce), [`spurious_loss`](PathFlow::spurious_loss),
//! [`discarded`](PathFlow::discarded), [`mtu_updated`](PathFlow::mtu_updated). Each happens at the time
//! that [`at`](PathFlow::at) set last.

use windlass_controllers::event::{PacketSent, PacketsAcked, RttSample, SpuriousLoss};
use windlass_controllers::{ConfiguredController, Decision, Event, EventKind, Span, Time};

use crate::rfc9002::{self, LossRun, RttEstimator};
use crate::{
    AckFrame, AckedPackets, FellBack, Flow, InFlight, LostPackets, OneWayWatch, Silence, default_pacing, send_quantum,
};

/// Room for this many datagrams does not make a flow limited by its application: it may be
/// about to write more, or wait for the pacer.
const SLACK_DATAGRAMS: u64 = 3;

/// One path: a flow with the bookkeeping between its stack's calls and its events.
#[derive(Debug)]
pub struct PathFlow<C: ConfiguredController> {
    now: Time,
    mtu: u32,
    wants_packet_sent: bool,
    in_flight: InFlight,
    acked: AckedPackets,
    rtt: RttEstimator,
    max_ack_delay: Span,
    one_way: OneWayWatch,
    flow: Flow<C>,
    /// What the frame under way brought besides acknowledgements.
    frame: AckFrame,
}

/// A packet that leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// Time at which it is sent; what its acknowledgement will say of it.
    pub at: Time,
    /// Bytes that count as in flight.
    pub bytes: u64,
    /// Its number, where the stack reports it.
    pub pn: Option<u64>,
    /// The stack reports bare ACKs, too, which do not count as in flight; see [`InFlight::sent`].
    pub may_be_bare_ack: bool,
}

impl<C: ConfiguredController> PathFlow<C> {
    /// `flow`, which starts `now` on a path of datagrams of `mtu` bytes.
    #[must_use]
    pub fn new(flow: Flow<C>, now: Time, mtu: u32) -> Self {
        PathFlow {
            now,
            mtu,
            wants_packet_sent: flow.wants_packet_sent(),
            in_flight: InFlight::new(flow.controller()),
            acked: AckedPackets::default(),
            rtt: RttEstimator::new(),
            max_ack_delay: rfc9002::DEFAULT_MAX_ACK_DELAY,
            one_way: OneWayWatch::new(flow.controller()),
            flow,
            frame: AckFrame::default(),
        }
    }

    /// The stack reports no packet that leaves while something is in flight.
    #[must_use]
    pub fn without_packets_sent(self) -> Self {
        PathFlow { wants_packet_sent: false, ..self }
    }

    /// The flow: its algorithm, state and decision in force.
    #[must_use]
    #[inline]
    pub fn flow(&self) -> &Flow<C> {
        &self.flow
    }

    /// The time of the latest call.
    #[must_use]
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Bytes of a datagram.
    #[must_use]
    #[inline]
    pub fn mtu(&self) -> u32 {
        self.mtu
    }

    /// Bytes in flight, and what is kept with them.
    #[must_use]
    #[inline]
    pub fn in_flight(&self) -> &InFlight {
        &self.in_flight
    }

    /// Whether each packet sent is an event.
    #[must_use]
    #[inline]
    pub fn wants_packet_sent(&self) -> bool {
        self.wants_packet_sent
    }

    /// The estimates of its RTT. A stack that has its own writes them here before it [`samples`](Self::sampled).
    #[must_use]
    #[inline]
    pub fn rtt(&mut self) -> &mut RttEstimator {
        &mut self.rtt
    }

    /// The smoothed RTT; zero before the first sample.
    #[must_use]
    #[inline]
    pub fn smoothed(&self) -> Span {
        if self.rtt.first_sample.is_some() { self.rtt.smoothed } else { Span::ZERO }
    }

    /// The probe timeout (`RFC 9002 §6.2.1`); that of the initial RTT before there was a sample.
    #[must_use]
    pub fn pto(&self) -> Span {
        self.rtt.pto(self.max_ack_delay)
    }

    /// The peer holds ACKs for so long at most.
    #[inline]
    pub fn set_max_ack_delay(&mut self, delay: Span) {
        self.max_ack_delay = delay;
    }

    /// What `decision` lets leave, bit/s: the rate decided, or that of the window ([`default_pacing`]); `None`
    /// before the first RTT sample.
    #[must_use]
    #[inline]
    pub fn pacing_rate(&self, decision: &Decision) -> Option<u64> {
        decision.pacing_rate.or_else(|| default_pacing(decision, self.smoothed()))
    }

    /// Bytes that may leave at once ([`send_quantum`]); `None` where no rate is decided.
    #[must_use]
    pub fn send_quantum(&self) -> Option<u64> {
        self.flow.with_decision(|decision| decision.pacing_rate).map(|rate| send_quantum(rate, self.mtu))
    }

    /// Whether the window has room for a few more datagrams beside `in_flight` bytes: only then does an application that has nothing to send
    /// limit the flow.
    #[must_use]
    #[inline]
    pub fn leaves_room(&self, in_flight: u64) -> bool {
        self.flow.cwnd().saturating_sub(in_flight) >= SLACK_DATAGRAMS * u64::from(self.mtu)
    }

    /// Sets the time, which never goes back, and returns it.
    #[inline]
    pub fn at(&mut self, now: Time) -> Time {
        self.now = self.now.max(now);
        self.now
    }

    /// Not inlined: what comes rarely, or matters to few controllers.
    #[inline(never)]
    fn emit(&mut self, kind: EventKind) {
        self.flow.on_event(&Event::new(self.now, kind));
    }

    /// A packet leaves. Once it is counted, `app_limited` says whether the application left the window unused. Returns
    /// whether there was an event, so that the decision may have changed.
    #[inline]
    pub fn sent(&mut self, sent: Sent, app_limited: impl FnOnce(&Self) -> bool) -> bool {
        if !self.counts(sent.bytes) {
            return self.sent_with_events(sent, app_limited);
        }
        app_limited(self);
        false
    }

    /// A packet of `bytes` leaves; counts them if that is all there is to it. Otherwise, and returns `false`, it has to be
    /// [`sent`](Self::sent).
    #[inline]
    pub(crate) fn counts(&mut self, bytes: u64) -> bool {
        let counts_only = !self.wants_packet_sent && self.in_flight.counts_only();
        if counts_only {
            self.in_flight.add(bytes);
        }
        counts_only
    }

    #[inline(never)]
    fn sent_with_events(&mut self, sent: Sent, app_limited: impl FnOnce(&Self) -> bool) -> bool {
        let bare_ack_below = if sent.may_be_bare_ack { self.mtu } else { 0 };
        let silence = self.in_flight.sent(sent.at, sent.bytes, bare_ack_below);
        let restarted = silence.is_some_and(|silence| self.end_silence(sent.at, silence));
        let app_limited = app_limited(self);
        if self.wants_packet_sent {
            let event = PacketSent::new(sent.bytes, self.in_flight.bytes()).with_pn(sent.pn);
            self.emit(EventKind::PacketSent(event.with_app_limited(app_limited)));
            self.wants_packet_sent = self.flow.wants_packet_sent();
            return true;
        }
        restarted
    }

    #[cold]
    fn end_silence(&mut self, at: Time, silence: Silence) -> bool {
        let restart = silence.end_of(&self.flow, at, self.smoothed(), self.mtu, self.pto());
        if let Some(restart) = restart {
            self.emit(EventKind::IdleRestart(restart));
        }
        restart.is_some()
    }

    /// The stack counts `in_flight` bytes before a packet that it is about to report, and does not report every packet.
    /// If they are none, what it did not report is lost.
    pub fn resumed(&mut self, in_flight: u64) {
        if self.in_flight.bytes() == in_flight {
            return;
        }
        if in_flight > 0 {
            self.discarded(in_flight);
        } else {
            self.in_flight.lost(self.now, self.in_flight.bytes());
        }
    }

    /// The frame under way brings an RTT sample, with the estimates after it.
    #[inline]
    pub fn sampled(&mut self, sample: RttSample) {
        self.rtt.first_sample.get_or_insert(self.now);
        (self.rtt.smoothed, self.rtt.variation, self.rtt.min) = (sample.smoothed, sample.variation, sample.min);
        *self.frame.rtt() = Some(sample);
    }

    /// A frame acknowledges a packet that left at `sent_at` and had `bytes` in flight; `app_limited` if the application
    /// had nothing to send then although the window had room.
    #[inline]
    pub fn acked(&mut self, sent_at: Time, bytes: u64, app_limited: bool) {
        self.acked.add(sent_at, bytes, self.flow.recovery_start());
        self.acked.app_limited(app_limited);
    }

    /// The packets that the frame under way acknowledges.
    #[must_use]
    #[inline]
    pub fn acknowledged(&mut self) -> &mut AckedPackets {
        &mut self.acked
    }

    /// The frame's acknowledgements are complete, and `in_flight` bytes are left in flight; `app_limited` if the
    /// application has nothing to send by now (`draft-ietf-ccwg-bbr §4.1.2.4`). `complete` adds what else the stack
    /// knows of them. A frame that acknowledges nothing is its sample alone.
    #[inline(always)]
    pub fn end_of_frame(&mut self, in_flight: u64, app_limited: bool, complete: impl FnOnce(&mut PacketsAcked)) {
        let newest_sent_at = self.acked.newest_sent_at();
        self.in_flight.acknowledged(self.now, in_flight, newest_sent_at.unwrap_or_default());
        if newest_sent_at.is_none() {
            return self.end_sample();
        }
        let rtt = self.frame.rtt().take();
        let mut event = Event::new(self.now, EventKind::PacketsAcked(self.acked.take(in_flight, rtt)));
        let EventKind::PacketsAcked(acked) = &mut event.kind else { unreachable!("it was just made") };
        self.in_flight.fill_delivery_rate(self.now, acked, app_limited);
        complete(acked);
        self.one_way.on_acked(self.now, acked.one_way.is_some(), self.rtt.smoothed);
        self.flow.on_event(&event);
    }

    /// A sample that no acknowledgement followed is an event of its own.
    #[inline]
    pub fn end_sample(&mut self) {
        if let Some(rtt) = self.frame.rtt().take() {
            self.emit(EventKind::RttSampled(rtt));
        }
    }

    /// The application has nothing to send although the window has room: samples of the rate are limited by it until
    /// what is in flight has arrived.
    pub fn limited(&mut self) {
        self.in_flight.limited();
    }

    /// Packets are declared lost; [`congestion`](Self::congestion) reports them.
    pub fn lost(&mut self, lost: LostPackets) {
        self.in_flight.lost(self.now, lost.bytes);
        self.frame.lost().add(lost);
    }

    /// The frame brings CE marks of `packets` packets; [`congestion`](Self::congestion) reports them.
    pub fn ecn_ce(&mut self, packets: u32) {
        self.frame.add_ecn_ce(packets);
    }

    /// Losses and marks that are not reported yet.
    #[must_use]
    #[inline]
    pub fn frame(&self) -> &AckFrame {
        &self.frame
    }

    /// Reports the frame's sample, marks and losses. `newest` is when the newest packet it acknowledges was sent, and
    /// its number if known; `in_flight` the bytes in flight before and after the losses were taken out.
    pub fn congestion(&mut self, newest: (Time, Option<u64>), in_flight: (u64, u64)) {
        self.congestion_with(newest, in_flight, |_, _| {});
    }

    /// As [`congestion`](Self::congestion); `decided` gets each decision with what led to it.
    #[inline(never)]
    pub fn congestion_with(
        &mut self,
        newest: (Time, Option<u64>),
        in_flight: (u64, u64),
        mut decided: impl FnMut(&Decision, &EventKind),
    ) {
        let flow = &mut self.flow;
        self.frame.emit_congestion(self.now, newest, in_flight, |event| decided(flow.on_event(event), &event.kind));
    }

    /// Whether `lost` are persistent congestion (`RFC 9002 §7.6.2`): when each packet was sent, in that order, `None` if
    /// it did not ask for an ACK; and whether one between it and the one before may have been acknowledged.
    pub fn is_persistent(&self, lost: impl IntoIterator<Item = (Option<Time>, bool)>) -> bool {
        let duration = rfc9002::persistent_congestion_duration(self.pto());
        let mut run = LossRun::default();
        lost.into_iter().any(|(sent_at, interrupted)| {
            if interrupted {
                run.interrupt();
            }
            sent_at.is_some_and(|sent_at| run.add(sent_at, self.rtt.first_sample, || duration))
        })
    }

    /// The last losses were spurious; the newest of their packets was sent at `newest_sent_at`.
    pub fn spurious_loss(&mut self, newest_sent_at: Time) {
        self.emit(EventKind::SpuriousLoss(SpuriousLoss::new(newest_sent_at)));
    }

    /// Packets are no longer in flight for no reason of the network's (`RFC 9002 §6.4`); `in_flight` bytes are.
    pub fn discarded(&mut self, in_flight: u64) {
        self.counted(in_flight, Time::ZERO);
    }

    /// `in_flight` bytes are in flight, after a frame whose newest packet was sent at `newest_sent_at`.
    pub fn counted(&mut self, in_flight: u64, newest_sent_at: Time) {
        self.in_flight.acknowledged(self.now, in_flight, newest_sent_at);
    }

    /// Datagrams have up to `mtu` bytes from here on.
    pub fn mtu_updated(&mut self, mtu: u32) {
        self.mtu = mtu;
        self.emit(EventKind::MtuUpdated(mtu));
    }

    /// The time the controller asked for has come.
    pub fn timer_expired(&mut self) {
        self.emit(EventKind::TimerExpired);
    }

    /// Has the flow go on with its fallback if the one-way delays that it needs do not come.
    pub fn fall_back(&mut self) -> Option<FellBack> {
        self.one_way.fall_back(&mut self.flow, self.now, self.mtu)
    }
}

/// A path that moved: the same state, the same membership in its group, no recorder.
impl<C: ConfiguredController> Clone for PathFlow<C> {
    fn clone(&self) -> Self {
        PathFlow { flow: self.flow.clone(), in_flight: self.in_flight.clone(), ..*self }
    }
}

#[cfg(test)]
mod tests {
    use windlass_controllers::{Algorithm, Path};

    use super::*;

    fn path() -> PathFlow<Algorithm> {
        let flow =
            Flow::ungrouped(Algorithm::named("reno").expect("it is in the catalogue"), &Path::new(Time(0), 1000, 1));
        PathFlow::new(flow, Time(0), 1000)
    }

    /// A path whose probe timeout is 10 ns and a timer's granularity, and whose first RTT sample was taken at
    /// `first_sample`.
    fn sampled(first_sample: u64) -> PathFlow<Algorithm> {
        let mut path = path();
        path.set_max_ack_delay(Span::ZERO);
        path.at(Time(first_sample));
        path.sampled(RttSample::new(Span(10), Span(10), Span(0), Span(10)));
        path
    }

    #[test]
    fn persistent_congestion_needs_an_unbroken_span() {
        let period = 3 * (10 + rfc9002::GRANULARITY.0);
        let spans = |first_sample, lost: &[(u64, bool)]| {
            sampled(first_sample).is_persistent(lost.iter().map(|(at, interrupted)| (Some(Time(*at)), *interrupted)))
        };
        let (begin, end) = (20, 21 + period);
        assert!(spans(0, &[(begin, false), (50, false), (end, false)]));
        assert!(!spans(0, &[(begin, false), (end - 1, false)]), "no longer than the period");
        assert!(!spans(begin, &[(begin, false), (end, false)]), "the first left before there was a sample");
        assert!(spans(begin, &[(begin, false), (50, false), (51 + period, false)]), "the others are far enough apart");
        assert!(!spans(0, &[(begin, false), (50, true), (end, false)]), "something arrived in between");
        assert!(!spans(0, &[(begin, false), (50, false), (end, true)]));
        assert!(!path().is_persistent([(Some(Time(1)), false), (Some(Time(u64::MAX)), false)]), "no sample at all");
        let bare = |at| [(Some(Time(begin)), false), (None, true), (Some(Time(at)), false)];
        assert!(!sampled(0).is_persistent(bare(end)), "also where the packet after the break asked for no ACK");
        let last = [(Some(Time(begin)), false), (None, false)];
        assert!(!sampled(0).is_persistent(last));
    }

    #[test]
    fn an_application_leaves_a_window_unused_that_has_room_for_three_datagrams() {
        let path = path();
        let cwnd = path.flow().cwnd();
        assert!(path.leaves_room(cwnd - 3000));
        assert!(!path.leaves_room(cwnd - 2999));
        assert!(!path.leaves_room(cwnd + 1));
    }

    #[test]
    fn time_never_goes_back() {
        let mut path = path();
        assert_eq!([5, 3, 7].map(|at| path.at(Time(at))), [Time(5), Time(5), Time(7)]);
        assert_eq!(path.now(), Time(7));
    }

    /// `RFC 9002 §5.3`: the estimates are the stack's where it has some.
    #[test]
    fn before_the_first_sample_the_rtt_is_not_known() {
        let path = path();
        assert_eq!(path.smoothed(), Span::ZERO);
        assert_eq!(path.flow().with_decision(|decision| path.pacing_rate(decision)), None);
        assert_eq!(path.pto(), RttEstimator::new().pto(rfc9002::DEFAULT_MAX_ACK_DELAY));
        assert_eq!((sampled(1).smoothed(), sampled(1).pto()), (Span(10), Span(10) + rfc9002::GRANULARITY));
    }
}
