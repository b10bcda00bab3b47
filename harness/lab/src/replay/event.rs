//! What happened to a sender, as its trace shows it and independent of any controller.

use windlass_adapter::Silence;
use windlass_controllers::event::{Delivery, PacketsAcked};
use windlass_controllers::event::{EcnCe, OneWay, PacketSent, PacketsLost, Queueing, RttSample, SpuriousLoss};
use windlass_controllers::{Span, Time};

/// Something that happened at `now`.
#[derive(Clone, Copy, Debug)]
pub enum TraceEvent<'a> {
    /// An ack-eliciting packet was sent; `Some` with the probe timeout if nothing had been in flight before it.
    PacketSent(Time, PacketSent, Option<(Silence, Span)>),
    /// An ACK frame arrived, or losses were declared.
    Frame(&'a Frame),
    /// The datagram size changed to this many bytes.
    Mtu(Time, u32),
    /// The stack logged its congestion window or pacing rate.
    Metrics(Time, StackMetrics),
}

impl TraceEvent<'_> {
    /// The time of the event, from the first event of the connection on.
    #[must_use]
    pub fn now(&self) -> Time {
        match self {
            TraceEvent::PacketSent(now, ..) | TraceEvent::Mtu(now, _) | TraceEvent::Metrics(now, _) => *now,
            TraceEvent::Frame(frame) => frame.now,
        }
    }
}

/// Congestion window and pacing rate as the stack logged them; `None` where it did not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StackMetrics {
    /// Congestion window after the event, bytes; `None` if the trace does not say.
    pub cwnd: Option<u64>,
    /// Pacing rate after the event, bit/s; `None` if the trace does not say.
    pub pacing_rate: Option<u64>,
}

impl StackMetrics {
    /// The values of `newer`, and those of `self` where `newer` has none.
    #[must_use]
    pub fn updated_by(self, newer: StackMetrics) -> StackMetrics {
        StackMetrics { cwnd: newer.cwnd.or(self.cwnd), pacing_rate: newer.pacing_rate.or(self.pacing_rate) }
    }
}

/// What one ACK frame acknowledged, marked and lost, or which packets a timer declared lost.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Time of arrival, or of the timer.
    pub now: Time,
    /// Packets newly acknowledged: when they were sent, bytes.
    pub acked: Vec<(Time, u32)>,
    /// Of them, when the newest was sent, and the largest number.
    pub newest: Option<(Time, u64)>,
    /// RTT sample; `None` if the frame gives none.
    pub rtt: Option<RttSample>,
    /// Increase of the CE count.
    pub marks: u32,
    /// Packets declared lost; `None` without any.
    pub lost: Option<PacketsLost>,
    /// Whether `lost` establishes persistent congestion (RFC 9002 §7.6).
    pub persistent: bool,
    /// `Some` if all packets of the latest losses have been acknowledged after all.
    pub spurious: Option<SpuriousLoss>,
    /// Bytes in flight after all of this.
    pub in_flight: u64,
    /// Bytes in flight when the newest packet left.
    pub newest_in_flight: Option<u64>,
    /// What was delivered when the newest packet left.
    pub delivery: Option<Delivery>,
    /// Bytes acknowledged since the connection began, these included.
    pub delivered: u64,
    /// Whether the sender was application-limited: it did not use its window.
    pub app_limited: bool,
    /// The ACK delay the peer reports, at most `max_ack_delay`.
    pub ack_delay: Span,
    /// The minimum RTT so far.
    pub min_rtt: Span,
}

impl Frame {
    /// Bytes newly acknowledged.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.acked.iter().map(|(_, bytes)| u64::from(*bytes)).sum()
    }

    /// The CE marks as the payload of an event; `None` without any.
    #[must_use]
    pub fn marked(&self) -> Option<EcnCe> {
        // Marks on packets taken for lost come with nothing newly acknowledged: they are
        // treated as those of a packet sent at this moment.
        let newest_sent_at = self.newest.map_or(self.now, |(sent_at, _)| sent_at);
        let lost = self.lost.map_or(0, |lost| lost.bytes);
        let in_flight = self.in_flight.saturating_add(lost).saturating_add(self.bytes());
        let newest_pn = self.newest.map(|(_, number)| number);
        (self.marks > 0).then_some(EcnCe::new(self.marks, newest_sent_at, in_flight).with_newest_pn(newest_pn))
    }

    /// The acknowledged packets as the payload of an event, for a controller whose latest
    /// recovery period began at `recovery_start`; `None` if nothing is newly acknowledged.
    #[must_use]
    pub fn acknowledged(&self, recovery_start: Option<Time>, rtt: Option<RttSample>) -> Option<PacketsAcked> {
        let (newest_sent_at, newest_pn) = self.newest?;
        let bytes = self.bytes();
        let fresh = self.acked.iter().filter(|(sent_at, _)| recovery_start.is_none_or(|start| *sent_at > start));
        let way = self.now.since(newest_sent_at);
        let without_ack_delay = way - self.ack_delay.min(way);
        let packets = u32::try_from(self.acked.len()).unwrap_or(u32::MAX);
        let acked = PacketsAcked::new(bytes, packets, newest_sent_at, self.in_flight, self.delivered)
            .with_fresh_bytes(fresh.map(|(_, bytes)| u64::from(*bytes)).sum())
            .with_newest_pn(Some(newest_pn))
            .with_newest_in_flight(self.newest_in_flight)
            .with_app_limited(self.app_limited)
            .with_rtt(rtt)
            // Guesses; only controllers that ask for them look.
            .with_one_way(Some(OneWay::new(i64::try_from(without_ack_delay.0).unwrap_or(i64::MAX), 0)))
            .with_queueing(Some(Queueing::new(without_ack_delay - self.min_rtt.min(without_ack_delay), Span::ZERO)))
            .with_delivery(self.delivery);
        Some(acked)
    }
}
