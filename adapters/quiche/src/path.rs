//! One path of a quiche connection as a windlass flow.

use std::time::{Duration, Instant};

use quiche::external::{self, Decided, PacketSent, Report, Space};
use windlass_adapter::std_time::{Clock, span};
use windlass_adapter::{AckBatch, Flow, InFlight, default_pacing, float, whole};
use windlass_controllers::event::{self, EcnCe, IdleRestart, LossTrigger, PacketsAcked, PacketsLost, SpuriousLoss};
use windlass_controllers::{ConfiguredController, Event, EventKind, Phase, Span, Time};

use crate::ecn::Marks;
use crate::limited::Limited;
use crate::losses::{Episode, Missing, persistent};

/// Room for this many datagrams does not make a flow limited by its application: it may be
/// about to write more, or wait for the pacer.
const SLACK_DATAGRAMS: u64 = 3;

/// Granularity of timers (`RFC 9002 §6.1.2`).
const GRANULARITY: Span = Span::from_millis(1);

/// Persistent congestion lasts so many probe timeouts (`RFC 9002 §7.6.1`).
const PERSISTENT_CONGESTION_THRESHOLD: u64 = 3;

/// A packet declared lost is no longer waited for after so many probe timeouts: reordering that
/// takes longer is none.
const LONGEST_REORDERING: u64 = 3;

/// Turns what quiche tells of a path into events of a flow.
// In this order, so that what an acknowledgement needs takes few cache lines: on a server the next
// one is another connection's, and finds none of them at hand.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Path<E: ConfiguredController> {
    clock: Clock,
    in_flight: InFlight,
    rate: Rate,
    /// Bytes acknowledged.
    delivered: u64,
    smoothed: Option<Span>,
    variation: Span,
    max_ack_delay: Duration,
    mtu: u32,
    app_limited: bool,
    wants_packet_sent: bool,
    limited: Limited,
    /// When the first RTT sample was taken.
    sampled_since: Option<Time>,
    flow: Flow<E>,
    episode: Episode,
    marks: Marks,
}

/// How fast the path delivers, over spans of about a round trip.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Rate {
    /// When the span under way is long enough.
    until: Time,
    /// When it began, and what had been delivered by then.
    began: Option<(Time, u64)>,
    /// bit/s
    latest: Option<u64>,
}

impl Rate {
    /// A span is over now that `bytes` have arrived, and one as long as `span` begins.
    fn next(&mut self, now: Time, bytes: u64, span: Span) {
        let over = |(began, before)| whole(8e9 * float(bytes - before) / float(now.since(began).0));
        *self = Rate { until: now + span, began: Some((now, bytes)), latest: self.began.map(over) };
    }
}

/// Packets declared lost together.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Losses {
    packets: u32,
    bytes: u64,
    newest: Option<(Time, u64)>,
}

/// The newest of `acked` that counted as in flight.
#[inline]
fn newest(acked: &[external::Acked]) -> Option<&external::Acked> {
    acked.iter().rev().find(|packet| packet.bytes() > 0)
}

impl<E: ConfiguredController> Path<E> {
    /// `flow` on a path of datagrams of `mtu` bytes.
    pub(crate) fn new(flow: Flow<E>, clock: Clock, mtu: u32) -> Self {
        Path {
            wants_packet_sent: flow.wants_packet_sent(),
            in_flight: InFlight::new(flow.engine()),
            flow,
            clock,
            mtu,
            limited: Limited::default(),
            delivered: 0,
            episode: Episode::default(),
            marks: Marks::default(),
            rate: Rate::default(),
            sampled_since: None,
            smoothed: None,
            variation: Span::ZERO,
            max_ack_delay: Duration::ZERO,
            app_limited: false,
        }
    }

    pub(crate) fn flow(&self) -> &Flow<E> {
        &self.flow
    }

    pub(crate) fn mtu(&self) -> u64 {
        u64::from(self.mtu)
    }

    /// Bytes.
    #[inline]
    pub(crate) fn window(&self) -> u64 {
        self.flow.cwnd()
    }

    /// What holds now. Without a rate decided it is the window over the smoothed RTT, a
    /// little faster.
    pub(crate) fn decided(&self) -> Decided {
        let mut decided = Decided {
            window: 0,
            pacing_rate: None,
            delivery_rate: None,
            shared: self.flow.is_grouped(),
            awaits: None,
            quiet: false,
        };
        self.decide(&mut decided);
        decided
    }

    /// Writes what holds now where it is needed: copying it would take as long as working it out.
    fn decide(&self, decided: &mut Decided) {
        self.grant(decided);
        decided.delivery_rate = self.rate.latest;
        decided.awaits = self.episode.missing();
        // A report tells what is in flight. More than that is to be known of a packet only where the
        // controller wants it, or the application has nothing to send.
        let limited = self.app_limited || self.limited.is_now();
        decided.quiet = !(self.wants_packet_sent || self.in_flight.remembers() || limited);
    }

    /// Of what holds, what may change with every acknowledgement.
    #[inline]
    fn grant(&self, decided: &mut Decided) {
        self.flow.look(|decision| {
            decided.window = decision.cwnd;
            decided.pacing_rate = decision.pacing_rate.or_else(|| default_pacing(decision, self.smoothed?));
        });
    }

    pub(crate) fn in_recovery(&self) -> bool {
        self.flow.look(|decision| decision.phase == Phase::Recovery)
    }

    #[inline]
    fn tell(&mut self, now: Time, kind: EventKind) {
        self.flow.on(&Event { now, kind });
    }

    /// A packet left; whether the flow was told of something.
    #[inline]
    pub(crate) fn sent(&mut self, packet: &PacketSent) -> bool {
        let heard = self.clock.now();
        let now = self.clock.advance(packet.at);
        let bytes = packet.bytes as u64;
        let before = packet.in_flight as u64;
        if self.in_flight.bytes() != before {
            // Nobody tells of packets whose keys are gone, nor of losses found when a path changes.
            self.in_flight.acknowledged(heard, before);
        }
        let mut told = self.wants_packet_sent;
        if self.in_flight.counts_only() {
            self.in_flight.add(bytes);
        } else if let Some(idle) = self.in_flight.sent(now, bytes, 0) {
            let pto = self.pto();
            self.tell(now, EventKind::IdleRestart(IdleRestart { idle, pto }));
            told = true;
        }
        let in_flight = self.in_flight.bytes();
        self.limited.sent(packet.number, self.app_limited);
        if self.app_limited && !self.leaves_room(in_flight) {
            self.app_limited = false;
        }
        if self.wants_packet_sent {
            let sent = event::PacketSent { bytes, pn: Some(packet.number), in_flight, app_limited: false, place: None };
            self.tell(now, EventKind::PacketSent(sent));
        }
        told
    }

    /// The probe timeout (`RFC 9002 §6.2.1`); zero before there was a sample.
    fn pto(&self) -> Span {
        let after = Span(self.variation.0.saturating_mul(4)).max(GRANULARITY) + span(self.max_ack_delay);
        self.smoothed.map_or(Span::ZERO, |smoothed| smoothed + after)
    }

    /// So many probe timeouts.
    fn probe_timeouts(&self, count: u64) -> Span {
        Span(self.pto().0.saturating_mul(count))
    }

    fn leaves_room(&self, in_flight: u64) -> bool {
        self.window().saturating_sub(in_flight) >= SLACK_DATAGRAMS * u64::from(self.mtu)
    }

    /// There is nothing to send.
    pub(crate) fn app_limited(&mut self, in_flight: u64) {
        self.app_limited |= self.leaves_room(in_flight);
    }

    /// An ACK frame came; whether that changed what holds.
    pub(crate) fn frame(&mut self, now: Instant, acknowledges: &dyn Fn(u64) -> bool) -> bool {
        if let Some(newest_sent_at) = self.episode.heard(acknowledges) {
            let now = self.clock.advance(now);
            self.tell(now, EventKind::SpuriousLoss(SpuriousLoss { newest_sent_at }));
        }
        // Whether it told of something or not: what is missing is no longer.
        self.episode.missing().is_none()
    }

    /// Packets were acknowledged or lost; writes what holds now over what held before.
    #[inline]
    pub(crate) fn report(&mut self, report: &Report<'_>, decided: &mut Decided) {
        let now = self.clock.advance(report.now);
        let marks = report.frame.map_or(0, |frame| self.marks.added(frame.space, frame.ecn.as_ref()));
        if marks > 0 || !report.lost.is_empty() {
            return self.congested(now, report, marks, decided);
        }
        self.acknowledge(now, report, |path| path.sample(now, report));
        if now >= self.rate.until {
            return self.round(now, decided);
        }
        self.grant(decided);
    }

    /// A round trip is over: writes all that holds.
    #[cold]
    fn round(&mut self, now: Time, decided: &mut Decided) {
        self.rate.next(now, self.delivered, self.smoothed.unwrap_or(GRANULARITY).max(GRANULARITY));
        self.episode.expire(now, self.probe_timeouts(LONGEST_REORDERING));
        self.decide(decided);
    }

    /// The same where there is more to it than acknowledgements, out of their way.
    #[cold]
    #[inline(never)]
    fn congested(&mut self, now: Time, report: &Report<'_>, marks: u32, decided: &mut Decided) {
        self.sampled(now, |path| path.sample(now, report));
        self.congestion(now, report, marks);
        self.acknowledge(now, report, |_| None);
        self.decide(decided);
    }

    /// The RTT sample of a report, if it brings one.
    #[inline]
    fn sample(&mut self, now: Time, report: &Report<'_>) -> Option<event::RttSample> {
        if !report.sampled {
            return None;
        }
        let rtt = report.rtt;
        if self.smoothed.is_none() {
            self.sampled_since = Some(now);
        }
        let (smoothed, variation) = (span(rtt.smoothed()), span(rtt.variation()));
        self.smoothed = Some(smoothed);
        self.variation = variation;
        self.max_ack_delay = rtt.max_ack_delay();
        // Acknowledgements of Initial packets are not held (`RFC 9000 §13.2.1`).
        let held = report.frame.filter(|frame| frame.space != Space::Initial);
        let ack_delay = held.map_or(Span::ZERO, |frame| Span::from_micros(frame.ack_delay));
        Some(event::RttSample { latest: span(rtt.latest()), smoothed, variation, min: span(rtt.min()), ack_delay })
    }

    /// What a report brings besides acknowledgements and the sample: marks, losses.
    fn congestion(&mut self, now: Time, report: &Report<'_>, marks: u32) {
        let before = report.in_flight_before as u64;
        if let Some(newest) = newest(report.acked).filter(|_| marks > 0) {
            let marked = EcnCe {
                packets: marks,
                newest_sent_at: self.clock.time(newest.sent_at()),
                newest_pn: Some(newest.number()),
                in_flight: before,
            };
            self.tell(now, EventKind::EcnCe(marked));
        }
        let mut losses = Losses::default();
        for lost in report.lost.iter().filter(|lost| lost.bytes() > 0) {
            let sent_at = self.clock.time(lost.sent_at());
            losses.packets += 1;
            losses.bytes += lost.bytes() as u64;
            losses.newest = Some((sent_at, lost.number()));
            self.episode.lost(now, lost.number(), sent_at);
        }
        let Some((newest_sent_at, newest_pn)) = losses.newest else { return };
        self.in_flight.lost(losses.bytes);
        let lost = PacketsLost {
            bytes: losses.bytes,
            packets: losses.packets,
            newest_sent_at,
            newest_pn: Some(newest_pn),
            in_flight_before: before,
            in_flight: before.saturating_sub(losses.bytes),
            trigger: LossTrigger::Unknown,
            transmissions: 1,
        };
        let persistent = losses.packets > 1 && self.persistent(report.lost);
        self.tell(now, if persistent { EventKind::PersistentCongestion(lost) } else { EventKind::PacketsLost(lost) });
    }

    /// Whether `lost` is persistent congestion (`RFC 9002 §7.6`).
    fn persistent(&self, lost: &[external::Lost]) -> bool {
        let missing = |lost: &external::Lost| Missing {
            sent_at: self.clock.time(lost.sent_at()),
            in_flight: lost.bytes() > 0,
            apart: lost.is_apart(),
        };
        let duration = self.probe_timeouts(PERSISTENT_CONGESTION_THRESHOLD);
        self.sampled_since.is_some_and(|sampled| persistent(lost.iter().map(missing), duration, sampled))
    }

    /// The acknowledgements of a report, and the sample that comes with them.
    #[inline(always)]
    fn acknowledge(
        &mut self,
        now: Time,
        report: &Report<'_>,
        sample: impl FnOnce(&mut Self) -> Option<event::RttSample>,
    ) {
        let (mut batch, newest) = match self.clock.reader() {
            Some(reader) => self.batch(report.acked, |instant| reader.time(instant)),
            None => self.batch(report.acked, |instant| self.clock.time(instant)),
        };
        self.in_flight.acknowledged(now, report.in_flight as u64);
        if batch.is_empty() {
            return self.sampled(now, sample);
        }
        let rtt = sample(self);
        let app_limited = self.limited.of(newest);
        batch.app_limited(app_limited);
        let acked = PacketsAcked { newest_pn: Some(newest), ..batch.finish(report.in_flight as u64, rtt) };
        self.delivered = acked.delivered;
        // Where it is, and not moved there: that would cost a tenth of the rest.
        let mut event = Event { now, kind: EventKind::PacketsAcked(acked) };
        if let EventKind::PacketsAcked(acked) = &mut event.kind {
            self.in_flight.depart(now, acked, app_limited);
        }
        self.flow.on(&event);
    }

    /// What counted as in flight of `acked`, and the newest number among it.
    #[inline(always)]
    fn batch(&self, acked: &[external::Acked], time: impl Fn(Instant) -> Time) -> (AckBatch, u64) {
        let recovery_start = self.flow.recovery_start();
        let mut batch = AckBatch::after(self.delivered);
        let mut newest = 0;
        for packet in acked.iter().filter(|packet| packet.bytes() > 0) {
            newest = packet.number();
            batch.add(time(packet.sent_at()), packet.bytes() as u64, recovery_start);
        }
        (batch, newest)
    }

    /// The sample of a report by itself: it acknowledges nothing that counted as in flight, or brings
    /// more than acknowledgements.
    #[cold]
    fn sampled(&mut self, now: Time, sample: impl FnOnce(&mut Self) -> Option<event::RttSample>) {
        if let Some(rtt) = sample(self) {
            self.tell(now, EventKind::RttSampled(rtt));
        }
    }

    /// Datagrams may have `mtu` bytes from now on.
    pub(crate) fn resized(&mut self, mtu: usize) {
        let mtu = u32::try_from(mtu).unwrap_or(u32::MAX);
        if mtu != self.mtu {
            self.mtu = mtu;
            self.tell(self.clock.now(), EventKind::MtuUpdated(mtu));
        }
    }
}
