//! A path whose stack calls by the structures of `windlass.h`.

use windlass_abi::{self as abi, Packet};
use windlass_controllers::event::{Delivery, RttSample};
use windlass_controllers::{ConfiguredController, Ecn, Phase, Span, Time};

use crate::{
    Confidence, FellBack, Flow, Limit, LostPackets, NamedController, PathFlow, Sent, one_way_delays, send_quantum,
};

/// Datagrams that may leave at once where there is no rate (`RFC 9002 §7.7`).
const BURST: u64 = 10;

/// The longest RTT that is believed, a day: no path is longer, and what follows from a longer one is no rate.
const LONGEST_RTT: u64 = 86_400_000_000_000;

/// An argument is out of its range; nothing changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Invalid;

/// A [`PathFlow`] as `windlass.h` has it.
#[derive(Debug)]
pub struct StackPath<C: ConfiguredController = NamedController> {
    path: PathFlow<C>,
    /// The latest sample.
    latest_rtt: Option<RttSample>,
    /// Whether the stack reports packet numbers.
    numbers: bool,
    /// Whether persistent congestion is looked for in losses that are not reported as such.
    finds_persistent_congestion: bool,
    /// Time zero of the flow, on the stack's clock.
    origin: Time,
}

fn bytes(packets: &[Packet]) -> u64 {
    packets.iter().fold(0, |sum: u64, packet| sum.saturating_add(packet.bytes))
}

fn count(packets: &[Packet]) -> u32 {
    packets.iter().fold(0, |sum: u32, packet| sum.saturating_add(packet.packets()))
}

impl<C: ConfiguredController> StackPath<C> {
    /// `flow` on a path of datagrams of `mtu` bytes, of a stack with these `WINDLASS_SIGNAL_…`.
    pub fn new(flow: Flow<C>, now: Time, mtu: u32, signals: u32) -> Self {
        let path = PathFlow::new(flow, now, mtu);
        let path = if signals & abi::signal::SENT != 0 { path } else { path.without_packets_sent() };
        StackPath {
            path,
            latest_rtt: None,
            numbers: signals & abi::signal::PACKET_NUMBERS != 0,
            finds_persistent_congestion: signals & abi::signal::PACKET_NUMBERS != 0,
            origin: Time::ZERO,
        }
    }

    /// The same of a stack that reports all persistent congestion itself.
    #[must_use]
    pub fn with_persistent_congestion_reported(mut self) -> Self {
        self.finds_persistent_congestion = false;
        self
    }

    /// The same with time zero of the flow at `origin` on the stack's clock.
    #[must_use]
    pub fn since(mut self, origin: Time) -> Self {
        self.origin = origin;
        self
    }

    /// The path, to read.
    #[must_use]
    pub fn path(&self) -> &PathFlow<C> {
        &self.path
    }

    fn time(&self, ns: u64) -> Time {
        Time(Time(ns).since(self.origin).0)
    }

    /// Ends the frame under way, whose sample is an event of its own without acknowledgements, and sets the time.
    fn begin(&mut self, now_ns: u64) {
        self.path.end_sample();
        self.path.at(self.time(now_ns));
    }

    fn number(&self, number: u64) -> Option<u64> {
        self.numbers.then_some(number)
    }

    /// A packet was sent. True if the flow got an event, so that the decision may have changed.
    ///
    /// # Errors
    /// It has no bytes, or more than are in flight.
    pub fn on_sent(&mut self, sent: &abi::Sent) -> Result<bool, Invalid> {
        let bytes = u64::from(sent.bytes);
        if bytes == 0 || sent.in_flight < bytes {
            return Err(Invalid);
        }
        self.begin(sent.now_ns);
        self.path.resumed(sent.in_flight - bytes);
        // A stack's send times may be a little older than its other readings of the clock.
        let at = self.time(sent.now_ns);
        let packet = Sent { at, bytes, pn: self.number(sent.number), may_be_bare_ack: false };
        Ok(self.path.sent(packet, |_| sent.flags & abi::sent::APP_LIMITED != 0))
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
        self.begin(now_ns);
        let sample = match spans {
            [latest, smoothed, variation, min] if smoothed != 0 && variation != 0 && min != 0 => {
                let sample = RttSample::new(Span(latest), Span(smoothed), Span(variation), Span(min));
                sample.with_ack_delay(Span(rtt.ack_delay_ns))
            }
            _ => self.sample(rtt),
        };
        self.latest_rtt = Some(sample);
        self.path.sampled(sample);
        Ok(())
    }

    /// A sample whose estimates are not all reported.
    #[cold]
    fn sample(&mut self, rtt: &abi::Rtt) -> RttSample {
        let now = self.path.now();
        let mut sample = self.path.rtt().sample(now, Span(rtt.latest_ns), Span(rtt.ack_delay_ns));
        let known = |reported: u64, own: Span| if reported == 0 { own } else { Span(reported) };
        sample.smoothed = known(rtt.smoothed_ns, sample.smoothed);
        sample.variation = known(rtt.variation_ns, sample.variation);
        sample.min = known(rtt.min_ns, sample.min);
        sample
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
        self.path.at(self.time(now_ns));
        self.path.ecn_ce(packets);
        self.path.congestion((self.time(newest.0), self.number(newest.1)), (in_flight, in_flight));
        Ok(())
    }

    /// `packets` were declared lost.
    ///
    /// # Errors
    /// There are none, or they have no bytes.
    pub fn on_lost(&mut self, lost: &abi::Lost, packets: &[Packet]) -> Result<(), Invalid> {
        let bytes = bytes(packets);
        let Some(newest) = packets.last().filter(|_| bytes > 0) else { return Err(Invalid) };
        self.path.at(self.time(lost.now_ns));
        let newest = (self.time(newest.sent_ns), self.number(newest.number));
        self.path.lost(LostPackets {
            packets: count(packets),
            bytes,
            newest_sent_at: newest.0,
            newest_pn: newest.1,
            persistent: lost.flags & abi::lost::PERSISTENT != 0 || self.is_persistent(packets),
        });
        self.path.congestion(newest, (lost.in_flight_before, lost.in_flight));
        Ok(())
    }

    /// Whether packets that were sent one after the other, and all lost, span the period of
    /// persistent congestion (`RFC 9002 §7.6.2`).
    fn is_persistent(&self, packets: &[Packet]) -> bool {
        let mut next = None;
        self.finds_persistent_congestion
            && self.path.is_persistent(packets.iter().map(|packet| {
                let interrupted = next != Some(packet.number);
                next = packet.number.checked_add(1);
                (Some(self.time(packet.sent_ns)), interrupted)
            }))
    }

    /// A frame acknowledged `packets`.
    ///
    /// # Errors
    /// They have more bytes than were in flight.
    pub fn on_acked(&mut self, acked: &abi::Acked, packets: &[Packet]) -> Result<(), Invalid> {
        if bytes(packets) > self.path.in_flight().bytes().max(acked.in_flight_before) {
            return Err(Invalid);
        }
        self.path.at(self.time(acked.now_ns));
        let app_limited = acked.flags & abi::acked::APP_LIMITED != 0;
        for packet in packets {
            self.path.acked(self.time(packet.sent_ns), packet.bytes, app_limited);
        }
        let one_way = self.latest_rtt.filter(|_| acked.flags & abi::acked::ONE_WAY != 0);
        let newest_sent_at = packets.last().map_or(Time::ZERO, |newest| self.time(newest.sent_ns));
        let newest = packets.last().copied().unwrap_or_default();
        let newest_pn = self.number(newest.number);
        let (delivered_at, delivered_sent_at) = (self.time(newest.delivered_ns), self.time(newest.delivered_sent_ns));
        self.path.counted(acked.in_flight, newest_sent_at);
        self.path.end_of_frame(acked.in_flight, app_limited, |acks| {
            acks.packets = count(packets);
            acks.newest_pn = newest_pn;
            acks.one_way = one_way.map(|rtt| one_way_delays(&rtt, acked.one_way_ns));
            acks.in_flight_before = acks.in_flight_before.max(acked.in_flight_before);
            if newest.flags & abi::packet::DELIVERY != 0 {
                acks.delivered = acked.delivered.max(newest.delivered);
                acks.newest_in_flight = Some(newest.in_flight);
                let delivery = Delivery::new(newest.delivered, delivered_at, delivered_sent_at).with_lost(newest.lost);
                acks.delivery = Some(delivery.with_app_limited(newest.flags & abi::packet::APP_LIMITED != 0));
            }
        });
        Ok(())
    }

    /// Has the flow go on with its fallback if the one-way delays that it needs do not come.
    pub fn fall_back(&mut self) -> Option<FellBack> {
        self.path.fall_back()
    }

    /// The last losses were spurious; the newest of their packets was sent at `newest_sent_ns`.
    pub fn on_spurious_loss(&mut self, now_ns: u64, newest_sent_ns: u64) {
        self.begin(now_ns);
        self.path.spurious_loss(self.time(newest_sent_ns));
    }

    /// Packets were discarded (`RFC 9002 §6.4`); `in_flight` bytes remain.
    pub fn on_discarded(&mut self, now_ns: u64, in_flight: u64) {
        self.begin(now_ns);
        self.path.discarded(in_flight);
    }

    /// Datagrams have up to `mtu` bytes from here on.
    ///
    /// # Errors
    /// That is 0.
    pub fn on_mtu(&mut self, now_ns: u64, mtu: u32) -> Result<(), Invalid> {
        if mtu == 0 {
            return Err(Invalid);
        }
        self.begin(now_ns);
        if mtu != self.path.mtu() {
            self.path.mtu_updated(mtu);
        }
        Ok(())
    }

    /// The time the controller asked for has come.
    pub fn on_timer(&mut self, now_ns: u64) {
        self.begin(now_ns);
        self.path.timer_expired();
    }

    /// The estimated send rate; all zero before the first RTT sample.
    #[must_use]
    pub fn send_rate(&self) -> abi::SendRate {
        self.path.flow().send_rate().map_or(abi::SendRate::default(), |rate| abi::SendRate {
            bits_per_s: rate.bits_per_s.max(1),
            confidence: match rate.confidence {
                Confidence::Low => 1,
                Confidence::Medium => 2,
                Confidence::High => 3,
            },
            limited_by: match rate.limited_by {
                Limit::Application => 1,
                Limit::StartUp => 2,
                Limit::Window => 3,
                Limit::Pacing => 4,
            },
            reserved: [0; 6],
        })
    }

    /// What the sender may do.
    #[must_use]
    pub fn decision(&self) -> abi::Decision {
        let (flow, mtu) = (self.path.flow(), self.path.mtu());
        let shared = if flow.is_grouped() { abi::decision::SHARED } else { 0 };
        flow.with_decision(|decision| {
            let decided = if decision.pacing_rate.is_some() { abi::decision::DECIDED } else { 0 };
            let pacing_rate = self.path.pacing_rate(decision);
            abi::Decision {
                cwnd: decision.cwnd,
                ssthresh: decision.ssthresh.unwrap_or(u64::MAX),
                // 0 says that there is none.
                pacing_rate: pacing_rate.map_or(0, |rate| rate.max(1)),
                send_quantum: pacing_rate.map_or(BURST * u64::from(mtu), |rate| send_quantum(rate, mtu)),
                wake_ns: decision.wake_at.map_or(u64::MAX, |at| at.0.saturating_add(self.origin.0)),
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
