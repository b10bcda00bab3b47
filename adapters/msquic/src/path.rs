//! One path of a connection as a windlass flow.

use windlass_adapter::{
    AckFrame, AckedPackets, FellBack, Flow, InFlight, LostPackets, OneWayWatch, default_pacing, one_way_delays, rfc9002,
};
use windlass_controllers::event::{self, SpuriousLoss};
use windlass_controllers::{ConfiguredController, Event, EventKind, Phase, Span, Time};
use windlass_msquic_abi as abi;

/// MsQuic's clock as a time.
pub(crate) fn time(us: u64) -> Time {
    Time(us.saturating_mul(1000))
}

fn span(us: u64) -> Span {
    Span(us.saturating_mul(1000))
}

/// Turns MsQuic's events of a path into events of a flow.
#[derive(Debug)]
pub(crate) struct Path<E: ConfiguredController> {
    flow: Flow<E>,
    /// Time zero of the flow, on MsQuic's clock.
    origin: Time,
    now: Time,
    mtu: u32,
    in_flight: InFlight,
    acked: AckedPackets,
    smoothed: Option<Span>,
    pto: Span,
    wants_packet_sent: bool,
    one_way: OneWayWatch,
}

/// A path with any controller.
pub(crate) trait PathEvents: Send {
    /// A packet was sent. True if the flow got an event, so that the control may have changed.
    fn on_sent(&mut self, sent: &abi::Sent) -> bool;
    /// An ACK frame acknowledged `packets`.
    fn on_acked(&mut self, acked: &abi::Acked, packets: &[abi::Packet]);
    /// The peer reported CE marks.
    fn on_ecn_ce(&mut self, ecn_ce: &abi::EcnCe);
    /// `packets` are all packets one loss detection declared lost.
    fn on_lost(&mut self, lost: &abi::Lost, packets: &[abi::Packet]);
    /// The last losses were spurious.
    fn on_spurious_loss(&mut self, spurious_loss: &abi::SpuriousLoss);
    /// Packets were discarded (`RFC 9002 §6.4`); `in_flight` bytes remain.
    fn on_discarded(&mut self, now_us: u64, in_flight: u32);
    /// Has the flow go on with its fallback if the one-way delays that it needs do not come.
    fn fall_back(&mut self) -> Option<FellBack>;
    /// What the sender may do.
    fn control(&self) -> abi::Control;
}

impl<E: ConfiguredController> Path<E> {
    /// `flow` on a path with datagrams of `mtu` bytes, of which `in_flight` bytes are in flight.
    pub(crate) fn new(flow: Flow<E>, now: Time, mtu: u32, in_flight: u32) -> Self {
        let mut counted = InFlight::new(flow.controller());
        if in_flight > 0 {
            counted.acknowledged(now, in_flight.into(), Time::ZERO);
        }
        Path {
            wants_packet_sent: flow.wants_packet_sent(),
            in_flight: counted,
            one_way: OneWayWatch::new(flow.controller()),
            flow,
            origin: Time::ZERO,
            now,
            mtu,
            acked: AckedPackets::default(),
            smoothed: None,
            pto: rfc9002::RttEstimator::new().pto(rfc9002::DEFAULT_MAX_ACK_DELAY),
        }
    }

    /// Sets time zero of the flow, on MsQuic's clock.
    pub(crate) fn since(mut self, origin: Time) -> Self {
        self.origin = origin;
        self
    }

    fn time(&self, us: u64) -> Time {
        Time(time(us).since(self.origin).0)
    }

    fn emit(&mut self, kind: EventKind) {
        self.flow.on_event(&Event::new(self.now, kind));
    }

    /// Sets the time and the size of datagrams. Time never goes back: MsQuic's send times are a
    /// little older than its other readings of the clock.
    fn at(&mut self, now_us: u64, mtu: u32) {
        self.now = self.now.max(self.time(now_us));
        if mtu != self.mtu {
            self.mtu = mtu;
            self.emit(EventKind::MtuUpdated(mtu));
        }
    }

    /// Whether `flight` bytes left more than half of the window unused although no rate of the
    /// controller limits the sender (`RFC 9002 §7.8`). A sender slower than its path may do so
    /// without being application-limited; MsQuic's own controllers bound their windows by the bytes
    /// in flight for the same reason.
    fn unused(&self, flight: u32) -> bool {
        self.flow.with_decision(|decision| decision.pacing_rate.is_none() && u64::from(flight) < decision.cwnd / 2)
    }

    /// The RTT sample of a frame; `None` if it has none.
    fn sample(&mut self, acked: &abi::Acked) -> Option<event::RttSample> {
        if acked.flags & abi::acked::RTT == 0 {
            return None;
        }
        let rtt = &acked.rtt;
        let (smoothed, variation) = (span(rtt.smoothed_us), span(rtt.variation_us));
        self.smoothed = Some(smoothed);
        self.pto = rfc9002::probe_timeout(smoothed, variation, rfc9002::DEFAULT_MAX_ACK_DELAY);
        let (latest, min, ack_delay) = (span(rtt.latest_us), span(rtt.min_us), span(rtt.ack_delay_us));
        Some(event::RttSample::new(latest, smoothed, variation, min).with_ack_delay(ack_delay))
    }
}

impl<E: ConfiguredController> PathEvents for Path<E> {
    fn on_sent(&mut self, sent: &abi::Sent) -> bool {
        let mtu_changed = sent.mtu != self.mtu;
        self.at(sent.now_us, sent.mtu);
        let (bytes, in_flight) = (u64::from(sent.bytes), u64::from(sent.in_flight));
        let before = in_flight.saturating_sub(bytes);
        if self.in_flight.bytes() != before {
            if before > 0 {
                self.in_flight.acknowledged(self.now, before, Time::ZERO);
            } else {
                // Without `EVERY_SENT` not every packet is reported; these are known to be lost.
                self.in_flight.lost(self.now, self.in_flight.bytes());
            }
        }
        let at = self.time(sent.now_us);
        let (smoothed, pto) = (self.smoothed.unwrap_or_default(), self.pto);
        let silence = self.in_flight.sent(at, bytes, 0);
        let restart = silence.and_then(|silence| silence.end_of(&self.flow, at, smoothed, self.mtu, pto));
        if let Some(restart) = restart {
            self.emit(EventKind::IdleRestart(restart));
        }
        if self.wants_packet_sent {
            let app_limited = sent.flags & abi::sent::APP_LIMITED != 0;
            self.emit(EventKind::PacketSent(
                event::PacketSent::new(bytes, in_flight).with_pn(Some(sent.number)).with_app_limited(app_limited),
            ));
        }
        mtu_changed || restart.is_some() || self.wants_packet_sent
    }

    fn on_acked(&mut self, acked: &abi::Acked, packets: &[abi::Packet]) {
        self.at(acked.now_us, acked.mtu);
        let in_flight = u64::from(acked.in_flight);
        let rtt = self.sample(acked);
        let newest_sent_at = packets.last().map(|newest| self.time(newest.sent_us));
        self.in_flight.acknowledged(self.now, in_flight, newest_sent_at.unwrap_or_default());
        let Some(newest) = packets.last() else {
            if let Some(rtt) = rtt {
                self.emit(EventKind::RttSampled(rtt));
            }
            return;
        };
        let recovery_start = self.flow.recovery_start();
        for packet in packets {
            self.acked.add(self.time(packet.sent_us), packet.bytes.into(), recovery_start);
        }
        let app_limited = acked.flags & abi::acked::APP_LIMITED != 0 || self.unused(acked.in_flight_before);
        self.acked.app_limited(app_limited);
        let one_way = rtt.filter(|_| acked.flags & abi::acked::ONE_WAY != 0);
        let one_way = one_way.map(|rtt| one_way_delays(&rtt, acked.one_way_us.saturating_mul(1000)));
        let mut frame = self.acked.finish(in_flight, rtt);
        let acks = frame.acked();
        (acks.newest_pn, acks.one_way) = (Some(newest.number), one_way);
        acks.in_flight_before = acks.in_flight_before.max(acked.in_flight_before.into());
        self.one_way.on_acked(self.now, one_way.is_some(), self.smoothed.unwrap_or(rfc9002::INITIAL_RTT));
        self.in_flight.fill_delivery_rate(self.now, acks, app_limited);
        frame.emit_acked(self.now, |event| {
            self.flow.on_event(event);
        });
    }

    fn on_ecn_ce(&mut self, ecn_ce: &abi::EcnCe) {
        self.at(ecn_ce.now_us, ecn_ce.mtu);
        let mut frame = AckFrame::default();
        frame.add_ecn_ce(ecn_ce.packets);
        let newest = (self.time(ecn_ce.newest_sent_us), Some(ecn_ce.newest_number));
        let in_flight = u64::from(ecn_ce.in_flight);
        frame.emit_congestion(self.now, newest, (in_flight, in_flight), |event| {
            self.flow.on_event(event);
        });
    }

    fn on_lost(&mut self, lost: &abi::Lost, packets: &[abi::Packet]) {
        self.at(lost.now_us, lost.mtu);
        self.in_flight.lost(self.now, lost.bytes.into());
        let newest = packets.last();
        let newest = (newest.map_or(self.now, |newest| self.time(newest.sent_us)), newest.map(|newest| newest.number));
        let mut frame = AckFrame::default();
        *frame.lost() = LostPackets {
            packets: u32::try_from(packets.len()).unwrap_or(u32::MAX).max(1),
            bytes: lost.bytes.into(),
            newest_sent_at: newest.0,
            newest_pn: newest.1,
            persistent: lost.flags & abi::lost::PERSISTENT != 0,
        };
        let in_flight = (lost.in_flight_before.into(), lost.in_flight.into());
        frame.emit_congestion(self.now, newest, in_flight, |event| {
            self.flow.on_event(event);
        });
    }

    fn on_spurious_loss(&mut self, spurious_loss: &abi::SpuriousLoss) {
        self.at(spurious_loss.now_us, spurious_loss.mtu);
        self.emit(EventKind::SpuriousLoss(SpuriousLoss::new(self.time(spurious_loss.newest_sent_us))));
    }

    fn on_discarded(&mut self, now_us: u64, in_flight: u32) {
        self.at(now_us, self.mtu);
        self.in_flight.acknowledged(self.now, in_flight.into(), Time::ZERO);
    }

    fn fall_back(&mut self) -> Option<FellBack> {
        self.one_way.fall_back(&mut self.flow, self.now, self.mtu)
    }

    fn control(&self) -> abi::Control {
        let shared = if self.flow.is_grouped() { abi::control::SHARED } else { 0 };
        let every =
            if self.wants_packet_sent || self.in_flight.keeps_snapshots() { abi::control::EVERY_SENT } else { 0 };
        let bytes = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        self.flow.with_decision(|decision| {
            let derived = || default_pacing(decision, self.smoothed?);
            let decided = if decision.pacing_rate.is_some() { abi::control::DECIDED } else { 0 };
            abi::Control {
                pacing_rate: decision.pacing_rate.or_else(derived).unwrap_or(0),
                cwnd: bytes(decision.cwnd),
                ssthresh: decision.ssthresh.map_or(u32::MAX, bytes),
                flags: shared | decided | every,
                phase: match decision.phase {
                    Phase::SlowStart => 0,
                    Phase::CongestionAvoidance => 1,
                    Phase::Recovery => 2,
                },
            }
        })
    }
}

#[cfg(test)]
mod tests;
