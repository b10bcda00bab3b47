//! One path of a stack in another language as a windlass flow.

use windlass_adapter::rfc9002::{self, LossRun, RttEstimator};
use windlass_adapter::{
    AckFrame, AckedPackets, FellBack, Flow, InFlight, LostPackets, OneWayWatch, default_pacing, one_way_delays,
    send_quantum,
};
use windlass_controllers::Ecn;
use windlass_controllers::event::{Delivery, PacketSent, RttSample, SpuriousLoss};
use windlass_controllers::{Algorithm, ConfiguredController, Event, EventKind, Phase, Span, Time};

use crate::abi::{self, Packet};

/// Datagrams that may leave at once where there is no rate (`RFC 9002 §7.7`).
const BURST: u64 = 10;

/// The longest RTT that is believed, a day: no path is longer, and what follows from a longer one is no rate.
const LONGEST_RTT: u64 = 86_400_000_000_000;

/// An argument is out of its range; nothing changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Invalid;

/// Turns what a stack reports of a path into events of a flow, and the flow's decision back.
#[derive(Debug)]
pub struct PathFlow<C: ConfiguredController = Algorithm> {
    flow: Flow<C>,
    now: Time,
    mtu: u32,
    in_flight: InFlight,
    acked: AckedPackets,
    rtt: RttEstimator,
    /// The latest sample.
    latest_rtt: Option<RttSample>,
    /// The sample of the frame that is under way.
    pending_rtt: Option<RttSample>,
    wants_packet_sent: bool,
    one_way: OneWayWatch,
    /// Whether the stack reports packet numbers.
    numbers: bool,
}

impl<C: ConfiguredController> PathFlow<C> {
    /// `flow` on a path of datagrams of `mtu` bytes, of a stack with these `WINDLASS_SIGNAL_…`.
    pub fn new(flow: Flow<C>, now: Time, mtu: u32, signals: u32) -> Self {
        PathFlow {
            wants_packet_sent: flow.wants_packet_sent() && signals & abi::SENT != 0,
            in_flight: InFlight::new(flow.controller()),
            one_way: OneWayWatch::new(flow.controller()),
            flow,
            now,
            mtu,
            acked: AckedPackets::default(),
            rtt: RttEstimator::new(),
            latest_rtt: None,
            pending_rtt: None,
            numbers: signals & abi::PACKET_NUMBERS != 0,
        }
    }

    fn emit(&mut self, kind: EventKind) {
        self.flow.on_event(&Event::new(self.now, kind));
    }

    /// Sets the time, which never goes back.
    fn at(&mut self, now_ns: u64) {
        self.now = self.now.max(Time(now_ns));
    }

    /// Ends the frame under way: a sample without acknowledgements is an event of its own.
    fn end_frame(&mut self) {
        if let Some(rtt) = self.pending_rtt.take() {
            self.emit(EventKind::RttSampled(rtt));
        }
    }

    fn number(&self, number: u64) -> Option<u64> {
        self.numbers.then_some(number)
    }

    /// The probe timeout (`RFC 9002 §6.2.1`); that of the initial RTT before there was a sample.
    fn pto(&self) -> Span {
        self.rtt.pto(rfc9002::DEFAULT_MAX_ACK_DELAY)
    }

    /// A packet was sent.
    ///
    /// # Errors
    /// It has no bytes, or more than are in flight.
    pub fn on_sent(&mut self, sent: &abi::Sent) -> Result<(), Invalid> {
        let bytes = u64::from(sent.bytes);
        if bytes == 0 || sent.in_flight < bytes {
            return Err(Invalid);
        }
        self.end_frame();
        self.at(sent.now_ns);
        let before = sent.in_flight - bytes;
        if self.in_flight.bytes() != before {
            if before > 0 {
                self.in_flight.acknowledged(self.now, before, Time::ZERO);
            } else {
                // Not every packet is reported; these were lost or discarded.
                self.in_flight.lost(self.now, self.in_flight.bytes());
            }
        }
        if let Some(silence) = self.in_flight.sent(self.now, bytes, 0) {
            let smoothed = self.latest_rtt.map_or(Span::ZERO, |rtt| rtt.smoothed);
            if let Some(restart) = silence.end_of(&self.flow, self.now, smoothed, self.mtu, self.pto()) {
                self.emit(EventKind::IdleRestart(restart));
            }
        }
        if self.wants_packet_sent {
            let app_limited = sent.flags & abi::sent::APP_LIMITED != 0;
            let event = PacketSent::new(bytes, sent.in_flight).with_pn(self.number(sent.number));
            self.emit(EventKind::PacketSent(event.with_app_limited(app_limited)));
        }
        Ok(())
    }

    /// A frame brings an RTT sample. Estimates that are 0 are worked out (`RFC 9002 §5`).
    ///
    /// # Errors
    /// The sample is 0, or it or an estimate is longer than a day.
    pub fn on_rtt(&mut self, now_ns: u64, rtt: &abi::Rtt) -> Result<(), Invalid> {
        let spans = [rtt.latest_ns, rtt.smoothed_ns, rtt.variation_ns, rtt.min_ns];
        if rtt.latest_ns == 0 || spans.into_iter().any(|span| span > LONGEST_RTT) {
            return Err(Invalid);
        }
        self.end_frame();
        self.at(now_ns);
        let mut sample = self.rtt.sample(self.now, Span(rtt.latest_ns), Span(rtt.ack_delay_ns));
        let known = |reported: u64, own: Span| if reported == 0 { own } else { Span(reported) };
        sample.smoothed = known(rtt.smoothed_ns, sample.smoothed);
        sample.variation = known(rtt.variation_ns, sample.variation);
        sample.min = known(rtt.min_ns, sample.min);
        (self.rtt.smoothed, self.rtt.variation, self.rtt.min) = (sample.smoothed, sample.variation, sample.min);
        self.latest_rtt = Some(sample);
        self.pending_rtt = Some(sample);
        Ok(())
    }

    /// A frame brings CE marks of `packets` packets; `newest` is when its newest packet was sent,
    /// and its number.
    ///
    /// # Errors
    /// There are none.
    pub fn on_ecn_ce(&mut self, now_ns: u64, packets: u32, newest: (u64, u64), in_flight: u64) -> Result<(), Invalid> {
        if packets == 0 {
            return Err(Invalid);
        }
        self.at(now_ns);
        let mut frame = AckFrame::default();
        *frame.rtt() = self.pending_rtt.take();
        frame.add_ecn_ce(packets);
        let newest = (Time(newest.0), self.number(newest.1));
        frame.emit_congestion(self.now, newest, (in_flight, in_flight), |event| {
            self.flow.on_event(event);
        });
        Ok(())
    }

    /// `packets` were declared lost.
    ///
    /// # Errors
    /// There are none, or they have no bytes.
    pub fn on_lost(&mut self, lost: &abi::Lost, packets: &[Packet]) -> Result<(), Invalid> {
        let Some(newest) = packets.last() else { return Err(Invalid) };
        let bytes = packets.iter().fold(0, |sum: u64, packet| sum.saturating_add(packet.bytes));
        if bytes == 0 {
            return Err(Invalid);
        }
        self.at(lost.now_ns);
        self.in_flight.lost(self.now, bytes);
        let mut frame = AckFrame::default();
        *frame.rtt() = self.pending_rtt.take();
        *frame.lost() = LostPackets {
            packets: packets.iter().fold(0, |sum: u32, packet| sum.saturating_add(packet.packets())),
            bytes,
            newest_sent_at: Time(newest.sent_ns),
            newest_pn: self.number(newest.number),
            persistent: lost.flags & abi::lost::PERSISTENT != 0 || self.is_persistent(packets),
        };
        let newest = (Time(newest.sent_ns), self.number(newest.number));
        frame.emit_congestion(self.now, newest, (lost.in_flight_before, lost.in_flight), |event| {
            self.flow.on_event(event);
        });
        Ok(())
    }

    /// Whether packets that were sent one after the other, and all lost, span the period of
    /// persistent congestion (`RFC 9002 §7.6.2`).
    fn is_persistent(&self, packets: &[Packet]) -> bool {
        if !self.numbers {
            return false;
        }
        let duration = rfc9002::persistent_congestion_duration(self.pto());
        let mut run = LossRun::default();
        let mut next = None;
        packets.iter().any(|packet| {
            if next != Some(packet.number) {
                run.interrupt();
            }
            next = packet.number.checked_add(1);
            run.add(Time(packet.sent_ns), self.rtt.first_sample, || duration)
        })
    }

    /// A frame acknowledged `packets`.
    ///
    /// # Errors
    /// They have more bytes than were in flight.
    pub fn on_acked(&mut self, acked: &abi::Acked, packets: &[Packet]) -> Result<(), Invalid> {
        let bytes = packets.iter().fold(0, |sum: u64, packet| sum.saturating_add(packet.bytes));
        if bytes > self.in_flight.bytes().max(acked.in_flight_before) {
            return Err(Invalid);
        }
        self.at(acked.now_ns);
        self.in_flight.acknowledged(
            self.now,
            acked.in_flight,
            packets.last().map_or(Time::ZERO, |newest| Time(newest.sent_ns)),
        );
        let Some(newest) = packets.last() else {
            self.end_frame();
            return Ok(());
        };
        let recovery_start = self.flow.recovery_start();
        for packet in packets {
            self.acked.add(Time(packet.sent_ns), packet.bytes, recovery_start);
        }
        let app_limited = acked.flags & abi::acked::APP_LIMITED != 0;
        self.acked.app_limited(app_limited);
        let rtt = self.pending_rtt.take();
        let one_way = self.latest_rtt.filter(|_| acked.flags & abi::acked::ONE_WAY != 0);
        let one_way = one_way.map(|rtt| one_way_delays(&rtt, acked.one_way_ns));
        let newest_pn = self.number(newest.number);
        let mut frame = self.acked.finish(acked.in_flight, rtt);
        let acks = frame.acked();
        acks.packets = packets.iter().fold(0, |sum: u32, packet| sum.saturating_add(packet.packets()));
        acks.newest_pn = newest_pn;
        acks.one_way = one_way;
        acks.in_flight_before = acks.in_flight_before.max(acked.in_flight_before);
        self.one_way.on_acked(self.now, one_way.is_some(), self.rtt.smoothed);
        self.in_flight.fill_delivery_rate(self.now, acks, app_limited);
        if newest.flags & abi::packet::DELIVERY != 0 {
            acks.delivered = acked.delivered.max(newest.delivered);
            acks.newest_in_flight = Some(newest.in_flight);
            let (delivered_at, sent_at) = (Time(newest.delivered_ns), Time(newest.delivered_sent_ns));
            let delivery = Delivery::new(newest.delivered, delivered_at, sent_at).with_lost(newest.lost);
            acks.delivery = Some(delivery.with_app_limited(newest.flags & abi::packet::APP_LIMITED != 0));
        }
        frame.emit_acked(self.now, |event| {
            self.flow.on_event(event);
        });
        Ok(())
    }

    /// Has the flow go on with its fallback if the one-way delays that it needs do not come.
    pub fn fall_back(&mut self) -> Option<FellBack> {
        self.one_way.fall_back(&mut self.flow, self.now, self.mtu)
    }

    /// The last losses were spurious; the newest of their packets was sent at `newest_sent_ns`.
    pub fn on_spurious_loss(&mut self, now_ns: u64, newest_sent_ns: u64) {
        self.end_frame();
        self.at(now_ns);
        self.emit(EventKind::SpuriousLoss(SpuriousLoss::new(Time(newest_sent_ns))));
    }

    /// Packets were discarded (`RFC 9002 §6.4`); `in_flight` bytes remain.
    pub fn on_discarded(&mut self, now_ns: u64, in_flight: u64) {
        self.end_frame();
        self.at(now_ns);
        self.in_flight.acknowledged(self.now, in_flight, Time::ZERO);
    }

    /// Datagrams have up to `mtu` bytes from here on.
    ///
    /// # Errors
    /// That is 0.
    pub fn on_mtu(&mut self, now_ns: u64, mtu: u32) -> Result<(), Invalid> {
        if mtu == 0 {
            return Err(Invalid);
        }
        self.end_frame();
        self.at(now_ns);
        if mtu != self.mtu {
            self.mtu = mtu;
            self.emit(EventKind::MtuUpdated(mtu));
        }
        Ok(())
    }

    /// The time the controller asked for has come.
    pub fn on_timer(&mut self, now_ns: u64) {
        self.end_frame();
        self.at(now_ns);
        self.emit(EventKind::TimerExpired);
    }

    /// What the sender may do.
    #[must_use]
    pub fn decision(&self) -> abi::Decision {
        let shared = if self.flow.is_grouped() { abi::decision::SHARED } else { 0 };
        self.flow.with_decision(|decision| {
            let decided = if decision.pacing_rate.is_some() { abi::decision::DECIDED } else { 0 };
            let pacing_rate = decision.pacing_rate.or_else(|| default_pacing(decision, self.latest_rtt?.smoothed));
            abi::Decision {
                cwnd: decision.cwnd,
                ssthresh: decision.ssthresh.unwrap_or(u64::MAX),
                // 0 says that there is none.
                pacing_rate: pacing_rate.map_or(0, |rate| rate.max(1)),
                send_quantum: pacing_rate.map_or(BURST * u64::from(self.mtu), |rate| send_quantum(rate, self.mtu)),
                wake_ns: decision.wake_at.map_or(u64::MAX, |at| at.0),
                flags: shared | decided,
                phase: match decision.phase {
                    Phase::SlowStart => 0,
                    Phase::CongestionAvoidance => 1,
                    Phase::Recovery => 2,
                },
                ecn: match decision.ecn {
                    Ecn::Unspecified => 0,
                    Ecn::NotEct => 1,
                    Ecn::Ect0 => 2,
                    Ecn::Ect1 => 3,
                },
                dscp: decision.dscp,
                reserved: 0,
            }
        })
    }
}

#[cfg(test)]
mod tests;
