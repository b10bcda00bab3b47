//! One path of a quiche connection as a windlass flow.

use std::time::{Duration, Instant};

use quiche::external::{self, CongestionEvent, Decision, PacketSent, Space};
use windlass_adapter::rfc9002::GRANULARITY;
use windlass_adapter::std_time::{Clock, span};
use windlass_adapter::{AckFrame, AckedPackets, Flow, InFlight, default_pacing, rfc9002, to_f64, to_u64};
use windlass_controllers::event::{self, SpuriousLoss};
use windlass_controllers::{ConfiguredController, Event, EventKind, Phase, Span, Time};

use crate::app_limited::AppLimited;
use crate::congestion::{CeCounts, Episode, LostPacket, is_persistent};

/// Room for this many datagrams does not make a flow limited by its application: it may be
/// about to write more, or wait for the pacer.
const SLACK_DATAGRAMS: u64 = 3;

/// Probe timeouts after which a packet declared lost is taken for really lost, and not for
/// reordered.
const LONGEST_REORDERING: u64 = 3;

/// Translates quiche's calls for a path into events of a flow, and the flow's decision back.
// In this order, so that what an acknowledgement needs takes few cache lines: on a server the next
// one is another connection's, and finds none of them at hand.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Path<E: ConfiguredController> {
    clock: Clock,
    /// When the packet acknowledged last was sent: as an instant, and as a time.
    sent: (Instant, Time),
    in_flight: InFlight,
    rate: DeliveryRate,
    /// Bytes acknowledged since the start of the path.
    delivered: u64,
    /// The smoothed RTT; `None` before there was a sample.
    smoothed: Option<Span>,
    variation: Span,
    max_ack_delay: Duration,
    mtu: u32,
    app_limited: bool,
    /// The application had nothing to send after the packet that left last.
    out_of_data: bool,
    wants_packet_sent: bool,
    limited: AppLimited,
    first_rtt_sample: Option<Time>,
    flow: Flow<E>,
    episode: Episode,
    ce_counts: CeCounts,
}

/// How fast the path delivers, over spans of about a round trip.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct DeliveryRate {
    /// When the span under way ends.
    until: Time,
    /// When it began, and the bytes delivered by then.
    began: Option<(Time, u64)>,
    /// The rate of the latest span, bit/s.
    latest: Option<u64>,
}

impl DeliveryRate {
    /// Ends the span under way, with `bytes` delivered in all, and begins one as long as `span`.
    fn end_span(&mut self, now: Time, bytes: u64, span: Span) {
        let rate = |(began, before)| to_u64(8e9 * to_f64(bytes - before) / to_f64(now.since(began).0));
        *self = DeliveryRate { until: now + span, began: Some((now, bytes)), latest: self.began.map(rate) };
    }
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
            in_flight: InFlight::new(flow.controller()),
            flow,
            sent: clock.origin(),
            clock,
            mtu,
            limited: AppLimited::default(),
            delivered: 0,
            episode: Episode::default(),
            ce_counts: CeCounts::default(),
            rate: DeliveryRate::default(),
            first_rtt_sample: None,
            smoothed: None,
            variation: Span::ZERO,
            max_ack_delay: Duration::ZERO,
            app_limited: false,
            out_of_data: false,
        }
    }

    pub(crate) fn flow(&self) -> &Flow<E> {
        &self.flow
    }

    pub(crate) fn mtu(&self) -> u64 {
        u64::from(self.mtu)
    }

    #[inline]
    pub(crate) fn cwnd(&self) -> u64 {
        self.flow.cwnd()
    }

    /// The flow's decision. Without a pacing rate it is the window over the smoothed RTT, a
    /// little faster (`RFC 9002 §7.7`).
    pub(crate) fn decision(&self) -> Decision {
        let mut decision = Decision {
            cwnd: 0,
            pacing_rate: None,
            delivery_rate: None,
            shared: self.flow.is_grouped(),
            missing: None,
            skip_packet_sent: false,
        };
        self.write_decision(&mut decision);
        decision
    }

    /// Writes the whole decision in place: a copy would take as long as making it.
    fn write_decision(&self, decision: &mut Decision) {
        self.write_cwnd_and_pacing(decision);
        decision.delivery_rate = self.rate.latest;
        decision.missing = self.episode.missing();
        // Congestion events say what is in flight. Each packet has to be seen only where the
        // controller wants it, or the application has nothing to send.
        let limited = self.app_limited || self.limited.latest();
        decision.skip_packet_sent = !(self.wants_packet_sent || self.in_flight.keeps_snapshots() || limited);
    }

    /// Writes the part of the decision that may change with every acknowledgement.
    #[inline]
    fn write_cwnd_and_pacing(&self, decision: &mut Decision) {
        self.flow.with_decision(|ours| {
            decision.cwnd = ours.cwnd;
            decision.pacing_rate = ours.pacing_rate.or_else(|| default_pacing(ours, self.smoothed?));
        });
    }

    pub(crate) fn is_in_recovery(&self) -> bool {
        self.flow.with_decision(|decision| decision.phase == Phase::Recovery)
    }

    #[inline]
    fn emit(&mut self, now: Time, kind: EventKind) {
        self.flow.on_event(&Event::new(now, kind));
    }

    /// A packet left; returns whether the flow had an event.
    #[inline]
    pub(crate) fn on_packet_sent(&mut self, packet: &PacketSent) -> bool {
        let previous = self.clock.now();
        let now = self.clock.advance(packet.at);
        let bytes = packet.bytes as u64;
        let before = packet.in_flight as u64;
        if self.in_flight.bytes() != before {
            // quiche reports neither packets whose keys are discarded nor losses of a path change.
            self.in_flight.acknowledged(previous, before, Time::ZERO);
        }
        let mut emitted = self.wants_packet_sent;
        if self.in_flight.counts_only() {
            self.in_flight.add(bytes);
        } else if let Some(silence) = self.in_flight.sent(now, bytes, 0) {
            let (smoothed, pto) = (self.smoothed.unwrap_or_default(), self.pto());
            if let Some(restart) = silence.end_of(&self.flow, now, smoothed, self.mtu, pto) {
                self.emit(now, EventKind::IdleRestart(restart));
                emitted = true;
            }
        }
        let in_flight = self.in_flight.bytes();
        self.out_of_data = false;
        self.limited.on_packet_sent(packet.number, self.app_limited);
        if self.app_limited && !self.leaves_room(in_flight) {
            self.app_limited = false;
        }
        if self.wants_packet_sent {
            let sent = event::PacketSent::new(bytes, in_flight).with_pn(Some(packet.number));
            self.emit(now, EventKind::PacketSent(sent));
        }
        emitted
    }

    /// The probe timeout (`RFC 9002 §6.2.1`); that of the initial RTT before there was a sample.
    fn pto(&self) -> Span {
        let max_ack_delay = span(self.max_ack_delay);
        let timeout = |smoothed| rfc9002::probe_timeout(smoothed, self.variation, max_ack_delay);
        self.smoothed.map_or_else(|| rfc9002::RttEstimator::new().pto(max_ack_delay), timeout)
    }

    /// The span of `count` probe timeouts.
    fn probe_timeouts(&self, count: u64) -> Span {
        Span(self.pto().0.saturating_mul(count))
    }

    /// Whether the window has room for a few more datagrams.
    fn leaves_room(&self, in_flight: u64) -> bool {
        self.cwnd().saturating_sub(in_flight) >= SLACK_DATAGRAMS * u64::from(self.mtu)
    }

    /// The application has nothing to send.
    pub(crate) fn on_app_limited(&mut self, in_flight: u64) {
        self.out_of_data = self.leaves_room(in_flight);
        self.app_limited |= self.out_of_data;
    }

    /// An ACK frame came; returns whether that changed the decision.
    pub(crate) fn on_ack_frame(&mut self, now: Instant, acknowledges: &dyn Fn(u64) -> bool) -> bool {
        if let Some(newest_sent_at) = self.episode.on_ack_frame(acknowledges) {
            let now = self.clock.advance(now);
            self.emit(now, EventKind::SpuriousLoss(SpuriousLoss::new(newest_sent_at)));
        }
        // Where nothing is missing any more, the decision says so.
        self.episode.missing().is_none()
    }

    /// Packets were acknowledged or lost; updates the decision.
    #[inline]
    pub(crate) fn on_congestion_event(&mut self, event: &CongestionEvent<'_>, decision: &mut Decision) {
        let now = self.clock.advance(event.now);
        let marks = event.ack_frame.map_or(0, |frame| self.ce_counts.new_marks(frame.space, frame.ecn.as_ref()));
        if marks > 0 || !event.lost.is_empty() {
            return self.on_congestion(now, event, marks, decision);
        }
        let rtt = self.rtt_sample(now, event);
        self.on_acked(now, event, rtt);
        if now >= self.rate.until {
            return self.end_round(now, decision);
        }
        self.write_cwnd_and_pacing(decision);
    }

    /// A round trip is over: updates what changes once in one, and the whole decision.
    #[cold]
    fn end_round(&mut self, now: Time, decision: &mut Decision) {
        self.rate.end_span(now, self.delivered, self.smoothed.unwrap_or(GRANULARITY).max(GRANULARITY));
        self.episode.expire(now, self.probe_timeouts(LONGEST_REORDERING));
        self.write_decision(decision);
    }

    /// A congestion event with marks or losses: the RTT sample first, the acknowledgements last.
    #[cold]
    #[inline(never)]
    fn on_congestion(&mut self, now: Time, event: &CongestionEvent<'_>, marks: u32, decision: &mut Decision) {
        self.on_marks_and_losses(now, event, marks);
        self.on_acked(now, event, None);
        self.write_decision(decision);
    }

    /// The RTT sample of a congestion event, if it has one.
    #[inline]
    fn rtt_sample(&mut self, now: Time, event: &CongestionEvent<'_>) -> Option<event::RttSample> {
        if !event.rtt_updated {
            return None;
        }
        let rtt = event.rtt;
        if self.smoothed.is_none() {
            self.first_rtt_sample = Some(now);
        }
        let (smoothed, variation) = (span(rtt.smoothed()), span(rtt.variation()));
        self.smoothed = Some(smoothed);
        self.variation = variation;
        self.max_ack_delay = rtt.max_ack_delay();
        // Acknowledgements of Initial packets are not delayed (`RFC 9000 §13.2.1`).
        let delayed = event.ack_frame.filter(|frame| frame.space != Space::Initial);
        let ack_delay = delayed.map_or(Span::ZERO, |frame| Span::from_micros(frame.ack_delay));
        Some(event::RttSample::new(span(rtt.latest()), smoothed, variation, span(rtt.min())).with_ack_delay(ack_delay))
    }

    /// The RTT sample, CE marks and losses of a congestion event.
    fn on_marks_and_losses(&mut self, now: Time, event: &CongestionEvent<'_>, marks: u32) {
        let mut frame = AckFrame::default();
        *frame.rtt() = self.rtt_sample(now, event);
        let newest = newest(event.acked).map(|newest| (self.clock.time(newest.sent_at()), Some(newest.number())));
        if newest.is_some() {
            frame.add_ecn_ce(marks);
        }
        if frame.is_congested() {
            // The response to a mark is final.
            self.episode.end();
        }
        for lost in event.lost.iter().filter(|lost| lost.bytes() > 0) {
            let losses = frame.lost();
            losses.add(lost.bytes() as u64, self.clock.time(lost.sent_at()));
            losses.newest_pn = Some(lost.number());
            self.episode.on_packet_lost(now, lost.number(), self.clock.time(lost.sent_at()));
        }
        let lost_bytes = frame.lost_bytes();
        if let Some(bytes) = lost_bytes {
            self.in_flight.lost(now, bytes);
            frame.lost().persistent = frame.lost().packets > 1 && self.is_persistent(event.lost);
        }
        let before = event.in_flight_before as u64;
        let in_flight = (before, before.saturating_sub(lost_bytes.unwrap_or(0)));
        frame.emit_congestion(now, newest.unwrap_or((Time::ZERO, None)), in_flight, |event| {
            self.flow.on_event(event);
        });
    }

    /// Whether `lost` is persistent congestion (`RFC 9002 §7.6`).
    fn is_persistent(&self, lost: &[external::Lost]) -> bool {
        let packet = |lost: &external::Lost| LostPacket {
            sent_at: self.clock.time(lost.sent_at()),
            in_flight: lost.bytes() > 0,
            new_loss_burst: lost.is_new_loss_burst(),
        };
        let duration = rfc9002::persistent_congestion_duration(self.pto());
        self.first_rtt_sample.is_some_and(|sample| is_persistent(lost.iter().map(packet), duration, sample))
    }

    /// The acknowledgements of a congestion event, and its RTT sample unless it was emitted before.
    #[inline(always)]
    fn on_acked(&mut self, now: Time, event: &CongestionEvent<'_>, rtt: Option<event::RttSample>) {
        let (mut acked, newest) = self.acked_packets(event.acked, rtt.as_ref());
        self.in_flight.acknowledged(now, event.in_flight as u64, acked.newest_sent_at().unwrap_or_default());
        if acked.is_empty() {
            return self.on_rtt_sample(now, rtt);
        }
        let app_limited = self.limited.at_send_of(newest);
        acked.app_limited(app_limited);
        let mut frame = acked.finish(event.in_flight as u64, rtt);
        self.delivered = frame.acked().delivered;
        frame.acked().newest_pn = Some(newest);
        // By now, not when the newest packet left (`draft-ietf-ccwg-bbr §4.1.2.4`).
        self.in_flight.fill_delivery_rate(now, frame.acked(), self.out_of_data);
        frame.emit_acked(now, |event| {
            self.flow.on_event(event);
        });
    }

    /// The packets of `acked` that counted as in flight, and the newest number among them. `rtt` is
    /// the sample of the newest of `acked`.
    ///
    /// That one costs no subtraction of instants, nor do packets that left with it or with that of the
    /// frame before: the standard library subtracts them in a function that is never inlined.
    #[inline(always)]
    fn acked_packets(&mut self, acked: &[external::Acked], rtt: Option<&event::RttSample>) -> (AckedPackets, u64) {
        let recovery_start = self.flow.recovery_start();
        let mut packets = AckedPackets::after(self.delivered);
        let mut newest = 0;
        let Some(last) = acked.last().map(external::Acked::sent_at) else { return (packets, newest) };
        let last_sent_at = match rtt {
            // None was taken where the clock went back.
            Some(rtt) if rtt.latest > Span::ZERO => self.clock.before_latest(rtt.latest),
            _ => self.clock.time(last),
        };
        for packet in acked.iter().filter(|packet| packet.bytes() > 0) {
            newest = packet.number();
            let sent = packet.sent_at();
            let sent_at = match sent {
                _ if sent == last => last_sent_at,
                _ if sent == self.sent.0 => self.sent.1,
                _ => self.clock.time(sent),
            };
            packets.add(sent_at, packet.bytes() as u64, recovery_start);
        }
        self.sent = (last, last_sent_at);
        (packets, newest)
    }

    /// The RTT sample as an event of its own: of a congestion event that acknowledges nothing that
    /// counted as in flight.
    #[cold]
    fn on_rtt_sample(&mut self, now: Time, rtt: Option<event::RttSample>) {
        if let Some(rtt) = rtt {
            self.emit(now, EventKind::RttSampled(rtt));
        }
    }

    /// Datagrams have up to `mtu` bytes from here on.
    pub(crate) fn on_mtu_update(&mut self, mtu: usize) {
        let mtu = u32::try_from(mtu).unwrap_or(u32::MAX);
        if mtu != self.mtu {
            self.mtu = mtu;
            self.emit(self.clock.now(), EventKind::MtuUpdated(mtu));
        }
    }
}
