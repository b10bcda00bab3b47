//! One path of a connection as a windlass flow.

use windlass_adapter::{FellBack, Flow, LostPackets, PathFlow, Sent, one_way_delays};
use windlass_controllers::event;
use windlass_controllers::{ConfiguredController, Phase, Span, Time};
use windlass_msquic_abi as abi;

/// MsQuic's clock as a time.
pub(crate) fn time(us: u64) -> Time {
    Time(us.saturating_mul(1000))
}

fn span(us: u64) -> Span {
    Span(us.saturating_mul(1000))
}

/// A [`PathFlow`] as MsQuic has it.
#[derive(Debug)]
pub(crate) struct Path<E: ConfiguredController> {
    path: PathFlow<E>,
    /// Time zero of the flow, on MsQuic's clock.
    origin: Time,
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
    /// Decision for MsQuic's sender.
    fn control(&self) -> abi::Control;
}

impl<E: ConfiguredController> Path<E> {
    /// `flow` on a path with datagrams of `mtu` bytes, of which `in_flight` bytes are in flight.
    pub(crate) fn new(flow: Flow<E>, now: Time, mtu: u32, in_flight: u32) -> Self {
        let mut path = PathFlow::new(flow, now, mtu);
        if in_flight > 0 {
            path.discarded(in_flight.into());
        }
        Path { path, origin: Time::ZERO }
    }

    /// Sets time zero of the flow, on MsQuic's clock.
    pub(crate) fn since(mut self, origin: Time) -> Self {
        self.origin = origin;
        self
    }

    fn time(&self, us: u64) -> Time {
        Time(time(us).since(self.origin).0)
    }

    /// Sets the time and the size of datagrams.
    fn at(&mut self, now_us: u64, mtu: u32) {
        self.path.at(self.time(now_us));
        if mtu != self.path.mtu() {
            self.path.mtu_updated(mtu);
        }
    }

    /// Whether `flight` bytes left more than half of the window unused although no rate of the
    /// controller limits the sender (`RFC 9002 §7.8`). A sender slower than its path may do so
    /// without being application-limited; MsQuic's own controllers bound their windows by the bytes
    /// in flight for the same reason.
    fn unused(&self, flight: u32) -> bool {
        let flow = self.path.flow();
        flow.with_decision(|decision| decision.pacing_rate.is_none() && u64::from(flight) < decision.cwnd / 2)
    }

    /// The RTT sample of a frame; `None` if it has none.
    fn sample(&mut self, acked: &abi::Acked) -> Option<event::RttSample> {
        if acked.flags & abi::acked::RTT == 0 {
            return None;
        }
        let rtt = &acked.rtt;
        let sample =
            event::RttSample::new(span(rtt.latest_us), span(rtt.smoothed_us), span(rtt.variation_us), span(rtt.min_us))
                .with_ack_delay(span(rtt.ack_delay_us));
        self.path.sampled(sample);
        Some(sample)
    }
}

impl<E: ConfiguredController> PathEvents for Path<E> {
    fn on_sent(&mut self, sent: &abi::Sent) -> bool {
        let mtu_changed = sent.mtu != self.path.mtu();
        self.at(sent.now_us, sent.mtu);
        let bytes = u64::from(sent.bytes);
        self.path.resumed(u64::from(sent.in_flight).saturating_sub(bytes));
        // MsQuic's send times are a little older than its other readings of the clock.
        let packet = Sent { at: self.time(sent.now_us), bytes, pn: Some(sent.number), may_be_bare_ack: false };
        let had_event = self.path.sent(packet, |_| sent.flags & abi::sent::APP_LIMITED != 0);
        mtu_changed || had_event
    }

    fn on_acked(&mut self, acked: &abi::Acked, packets: &[abi::Packet]) {
        self.at(acked.now_us, acked.mtu);
        let rtt = self.sample(acked);
        let app_limited = acked.flags & abi::acked::APP_LIMITED != 0 || self.unused(acked.in_flight_before);
        for packet in packets {
            self.path.acked(self.time(packet.sent_us), packet.bytes.into(), app_limited);
        }
        let one_way = rtt.filter(|_| acked.flags & abi::acked::ONE_WAY != 0);
        let newest = packets.last();
        self.path.counted(acked.in_flight.into(), newest.map_or(Time::ZERO, |newest| self.time(newest.sent_us)));
        let newest_pn = newest.map(|newest| newest.number);
        self.path.end_of_frame(acked.in_flight.into(), app_limited, |acks| {
            acks.newest_pn = newest_pn;
            acks.one_way = one_way.map(|rtt| one_way_delays(&rtt, acked.one_way_us.saturating_mul(1000)));
            acks.in_flight_before = acks.in_flight_before.max(acked.in_flight_before.into());
        });
    }

    fn on_ecn_ce(&mut self, ecn_ce: &abi::EcnCe) {
        self.at(ecn_ce.now_us, ecn_ce.mtu);
        self.path.ecn_ce(ecn_ce.packets);
        let in_flight = u64::from(ecn_ce.in_flight);
        let newest = (self.time(ecn_ce.newest_sent_us), Some(ecn_ce.newest_number));
        self.path.congestion(newest, (in_flight, in_flight));
    }

    fn on_lost(&mut self, lost: &abi::Lost, packets: &[abi::Packet]) {
        self.at(lost.now_us, lost.mtu);
        let newest = packets.last();
        let newest_sent_at = newest.map_or(self.path.now(), |newest| self.time(newest.sent_us));
        let newest_pn = newest.map(|newest| newest.number);
        self.path.lost(LostPackets {
            packets: u32::try_from(packets.len()).unwrap_or(u32::MAX).max(1),
            bytes: lost.bytes.into(),
            newest_sent_at,
            newest_pn,
            persistent: lost.flags & abi::lost::PERSISTENT != 0,
        });
        self.path.congestion((newest_sent_at, newest_pn), (lost.in_flight_before.into(), lost.in_flight.into()));
    }

    fn on_spurious_loss(&mut self, spurious_loss: &abi::SpuriousLoss) {
        self.at(spurious_loss.now_us, spurious_loss.mtu);
        self.path.spurious_loss(self.time(spurious_loss.newest_sent_us));
    }

    fn on_discarded(&mut self, now_us: u64, in_flight: u32) {
        self.at(now_us, self.path.mtu());
        self.path.discarded(in_flight.into());
    }

    fn fall_back(&mut self) -> Option<FellBack> {
        self.path.fall_back()
    }

    fn control(&self) -> abi::Control {
        let (path, flow) = (&self.path, self.path.flow());
        let shared = if flow.is_grouped() { abi::control::SHARED } else { 0 };
        let every = path.wants_packet_sent() || path.in_flight().keeps_snapshots();
        let every = if every { abi::control::EVERY_SENT } else { 0 };
        let bytes = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        flow.with_decision(|decision| {
            let decided = if decision.pacing_rate.is_some() { abi::control::DECIDED } else { 0 };
            abi::Control {
                pacing_rate: path.pacing_rate(decision).unwrap_or(0),
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
