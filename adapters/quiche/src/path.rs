//! One path of a quiche connection as a windlass flow.

use std::mem;
use std::time::Instant;

use quiche::external::{self, CongestionEvent, Decision, PacketSent, Space};
use windlass_adapter::rfc9002::GRANULARITY;
use windlass_adapter::std_time::{Clock, span};
use windlass_adapter::{Flow, LostPackets, PathFlow, Sent, to_f64, to_u64};
use windlass_controllers::event::RttSample;
use windlass_controllers::{ConfiguredController, Phase, Span, Time};

use crate::app_limited::AppLimited;
use crate::congestion::{CeCounts, Episode};

/// Probe timeouts after which a packet declared lost is taken for really lost, and not for
/// reordered.
const LONGEST_REORDERING: u64 = 3;

/// A [`PathFlow`] as quiche has it.
#[derive(Debug)]
pub(crate) struct Path<E: ConfiguredController> {
    path: PathFlow<E>,
    clock: Clock,
    /// When the packet acknowledged last was sent: as an instant, and as a time.
    sent: (Instant, Time),
    rate: DeliveryRate,
    app_limited: bool,
    /// The application had nothing to send after the packet that left last.
    out_of_data: bool,
    limited: AppLimited,
    episode: Episode,
    ce_counts: CeCounts,
}

/// How fast the path delivers, over spans of about a round trip.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct DeliveryRate {
    /// End of the present span.
    until: Time,
    /// Its beginning, and the bytes delivered by then.
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

impl<E: ConfiguredController> Path<E> {
    /// `flow` on a path of datagrams of `mtu` bytes.
    pub(crate) fn new(flow: Flow<E>, clock: Clock, mtu: u32) -> Self {
        let mut path = PathFlow::new(flow, clock.latest(), mtu);
        path.set_max_ack_delay(Span::ZERO);
        Path {
            path,
            sent: clock.origin(),
            clock,
            rate: DeliveryRate::default(),
            app_limited: false,
            out_of_data: false,
            limited: AppLimited::default(),
            episode: Episode::default(),
            ce_counts: CeCounts::default(),
        }
    }

    pub(crate) fn flow(&self) -> &Flow<E> {
        self.path.flow()
    }

    pub(crate) fn mtu(&self) -> u64 {
        self.path.mtu().into()
    }

    /// The flow's decision. Without a pacing rate it is the window over the smoothed RTT, a
    /// little faster (`RFC 9002 §7.7`).
    pub(crate) fn decision(&self) -> Decision {
        let mut decision = Decision {
            cwnd: 0,
            pacing_rate: None,
            delivery_rate: None,
            shared: self.flow().is_grouped(),
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
        decision.skip_packet_sent =
            !(self.path.wants_packet_sent() || self.path.in_flight().keeps_snapshots() || limited);
    }

    /// Writes the part of the decision that may change with every acknowledgement.
    #[inline]
    fn write_cwnd_and_pacing(&self, decision: &mut Decision) {
        self.flow().with_decision(|ours| {
            decision.cwnd = ours.cwnd;
            decision.pacing_rate = self.path.pacing_rate(ours);
        });
    }

    pub(crate) fn is_in_recovery(&self) -> bool {
        self.flow().with_decision(|decision| decision.phase == Phase::Recovery)
    }

    /// A packet left; returns whether the flow had an event.
    #[inline]
    pub(crate) fn on_packet_sent(&mut self, packet: &PacketSent) -> bool {
        let before = packet.in_flight as u64;
        if self.path.in_flight().bytes() != before {
            // quiche reports neither packets whose keys are discarded nor losses of a path change.
            self.path.discarded(before);
        }
        let at = self.path.at(self.clock.read(packet.at));
        if mem::take(&mut self.out_of_data) {
            self.limited.on_burst(packet.number);
        }
        let sent = Sent { at, bytes: packet.bytes as u64, pn: Some(packet.number), may_be_bare_ack: false };
        self.path.sent(sent, |path| {
            self.limited.on_packet_sent(packet.number, self.app_limited);
            if self.app_limited && !path.leaves_room(path.in_flight().bytes()) {
                self.app_limited = false;
                self.limited.on_window_full();
            }
            false
        })
    }

    /// The application has nothing to send.
    pub(crate) fn on_app_limited(&mut self, in_flight: u64) {
        self.out_of_data = self.path.leaves_room(in_flight);
        self.app_limited |= self.out_of_data;
    }

    /// The same without a packet: it counts for samples of the rate (`draft-ietf-ccwg-bbr §4.1.2.4`), while packets that
    /// leave later are not limited for that.
    pub(crate) fn on_nothing_to_send(&mut self) {
        if self.path.leaves_room(self.path.in_flight().bytes()) {
            self.path.limited();
        }
    }

    /// An ACK frame came; returns whether that changed the decision.
    pub(crate) fn on_ack_frame(&mut self, now: Instant, acknowledges: &dyn Fn(u64) -> bool) -> bool {
        if let Some(newest_sent_at) = self.episode.on_ack_frame(acknowledges) {
            self.path.at(self.clock.read(now));
            self.path.spurious_loss(newest_sent_at);
        }
        // Where nothing is missing any more, the decision says so.
        self.episode.missing().is_none()
    }

    /// Packets were acknowledged or lost; updates the decision.
    #[inline]
    pub(crate) fn on_congestion_event(&mut self, event: &CongestionEvent<'_>, decision: &mut Decision) {
        let now = self.path.at(self.clock.read(event.now));
        let marks = event.ack_frame.map_or(0, |frame| self.ce_counts.new_marks(frame.space, frame.ecn.as_ref()));
        let latest = self.sample(event);
        if marks > 0 || !event.lost.is_empty() {
            self.on_marks_and_losses(event, marks);
            self.on_acked(event, Span::ZERO);
            return self.write_decision(decision);
        }
        self.on_acked(event, latest);
        if now >= self.rate.until {
            return self.end_round(now, decision);
        }
        self.write_cwnd_and_pacing(decision);
    }

    /// A round trip is over: updates what changes once in one, and the whole decision.
    #[cold]
    fn end_round(&mut self, now: Time, decision: &mut Decision) {
        let delivered = self.path.acknowledged().delivered();
        self.rate.end_span(now, delivered, self.path.smoothed().max(GRANULARITY));
        self.episode.expire(now, Span(self.path.pto().0.saturating_mul(LONGEST_REORDERING)));
        self.write_decision(decision);
    }

    /// The RTT sample of a congestion event, zero if it has none.
    #[inline]
    fn sample(&mut self, event: &CongestionEvent<'_>) -> Span {
        if !event.rtt_updated {
            return Span::ZERO;
        }
        let rtt = event.rtt;
        self.path.set_max_ack_delay(span(rtt.max_ack_delay()));
        // Acknowledgements of Initial packets are not delayed (`RFC 9000 §13.2.1`).
        let delayed = event.ack_frame.filter(|frame| frame.space != Space::Initial);
        let ack_delay = delayed.map_or(Span::ZERO, |frame| Span::from_micros(frame.ack_delay));
        let latest = span(rtt.latest());
        let sample = RttSample::new(latest, span(rtt.smoothed()), span(rtt.variation()), span(rtt.min()));
        self.path.sampled(sample.with_ack_delay(ack_delay));
        latest
    }

    /// The RTT sample, CE marks and losses of a congestion event.
    #[cold]
    fn on_marks_and_losses(&mut self, event: &CongestionEvent<'_>, marks: u32) {
        let newest = event.acked.iter().rev().find(|packet| packet.bytes() > 0);
        let newest = newest.map(|newest| (self.clock.time(newest.sent_at()), Some(newest.number())));
        if newest.is_some() && marks > 0 {
            self.path.ecn_ce(marks);
            // The response to a mark is final.
            self.episode.end();
        }
        let mut losses = LostPackets::default();
        for lost in event.lost.iter().filter(|lost| lost.bytes() > 0) {
            let sent_at = self.clock.time(lost.sent_at());
            losses
                .add(LostPackets { newest_pn: Some(lost.number()), ..LostPackets::one(lost.bytes() as u64, sent_at) });
            self.episode.on_packet_lost(self.path.now(), lost.number(), sent_at);
        }
        if losses.packets > 0 {
            losses.persistent = losses.packets > 1 && self.is_persistent(event.lost);
            self.path.lost(losses);
        }
        let before = event.in_flight_before as u64;
        let in_flight = (before, before.saturating_sub(losses.bytes));
        self.path.congestion(newest.unwrap_or((Time::ZERO, None)), in_flight);
    }

    /// Whether `lost` is persistent congestion (`RFC 9002 §7.6`).
    fn is_persistent(&self, lost: &[external::Lost]) -> bool {
        let sent_at = |lost: &external::Lost| (lost.bytes() > 0).then(|| self.clock.time(lost.sent_at()));
        self.path.is_persistent(lost.iter().map(|lost| (sent_at(lost), lost.is_new_loss_burst())))
    }

    /// The acknowledgements of a congestion event whose sample is `latest`, zero if it has none or it was reported
    /// before.
    #[inline(always)]
    fn on_acked(&mut self, event: &CongestionEvent<'_>, latest: Span) {
        let newest = self.acked_packets(event.acked, latest);
        let limited = self.limited.at_send_of(newest);
        // By now, not when the newest packet left (`draft-ietf-ccwg-bbr §4.1.2.4`).
        self.path.end_of_frame(event.in_flight as u64, self.out_of_data, |acked| {
            (acked.newest_pn, acked.app_limited) = (Some(newest), limited);
        });
    }

    /// Reports the packets of `acked` that counted as in flight, and returns the newest number among them. `latest` is
    /// the sample of the newest of `acked`.
    ///
    /// That one costs no subtraction of instants, nor do packets that left with it or with that of the
    /// frame before: the standard library subtracts them in a function that is never inlined.
    #[inline(always)]
    fn acked_packets(&mut self, acked: &[external::Acked], latest: Span) -> u64 {
        let mut newest = 0;
        let Some(last) = acked.last().map(external::Acked::sent_at) else { return newest };
        // None was taken where the clock went back.
        let last_sent_at = if latest > Span::ZERO { self.clock.before_latest(latest) } else { self.clock.time(last) };
        for packet in acked.iter().filter(|packet| packet.bytes() > 0) {
            newest = packet.number();
            let sent = packet.sent_at();
            let sent_at = match sent {
                _ if sent == last => last_sent_at,
                _ if sent == self.sent.0 => self.sent.1,
                _ => self.clock.time(sent),
            };
            self.path.acked(sent_at, packet.bytes() as u64, false);
        }
        self.sent = (last, last_sent_at);
        newest
    }

    /// Datagrams have up to `mtu` bytes from here on.
    pub(crate) fn on_mtu_update(&mut self, mtu: usize) {
        let mtu = u32::try_from(mtu).unwrap_or(u32::MAX);
        if mtu != self.path.mtu() {
            self.path.mtu_updated(mtu);
        }
    }
}
