//! What happened: the one event type all stacks translate into.
//!
//! # Order inside one ACK frame
//!
//! A frame that brings nothing but acknowledgements is one [`EventKind::PacketsAcked`] with
//! the RTT sample inside. A frame that also marks or loses packets is delivered
//! as `RttSampled`, then `EcnCe`, then `PacketsLost` (or `PersistentCongestion`), then
//! `PacketsAcked` with `rtt: None`: estimators first, then congestion, then growth
//! (`RFC 9002 §A.7`, `spec: cho §1.7`, `spec: arumaithurai §1.3`). A stack that
//! cannot keep that order says so in its adapter's documentation.

use crate::{Span, Time};

/// Something a QUIC sender learned or did at `now`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Event {
    /// When; never before the previous event of the same flow.
    pub now: Time,
    /// What happened.
    pub kind: EventKind,
}

/// The kinds of [`Event`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum EventKind {
    /// A packet left. Delivered only to controllers with
    /// [`WANTS_PACKET_SENT`](crate::Controller::WANTS_PACKET_SENT).
    PacketSent(PacketSent),
    /// An RTT sample whose frame also brings marks or losses.
    RttSampled(RttSample),
    /// Packets were newly acknowledged.
    PacketsAcked(PacketsAcked),
    /// The receiver reported new ECN-CE marks.
    EcnCe(EcnCe),
    /// Packets were declared lost.
    PacketsLost(PacketsLost),
    /// Losses span the persistent-congestion period (`RFC 9002 §7.6`). Replaces the
    /// `PacketsLost` of the batch that established it.
    PersistentCongestion(PacketsLost),
    /// Everything in the latest recovery period was lost only in appearance.
    SpuriousLoss(SpuriousLoss),
    /// The maximum datagram size changed; bytes.
    MtuUpdated(u32),
    /// Sending resumes after nothing was in flight.
    IdleRestart(IdleRestart),
    /// The time asked for in [`Decision::wake_at`](crate::Decision::wake_at) has come.
    TimerExpired,
    /// One probe of a train was received by the peer.
    ProbeReceived(ProbeReceived),
    /// This flow became a member of its group.
    Joined,
    /// This flow is about to leave its group.
    Left,
}

impl Event {
    /// The RTT sample the event carries, wherever it rides.
    #[must_use]
    #[inline]
    pub fn rtt(&self) -> Option<RttSample> {
        match self.kind {
            EventKind::PacketsAcked(ref acked) => acked.rtt,
            EventKind::RttSampled(rtt) => Some(rtt),
            _ => None,
        }
    }

    /// Bytes in flight after the event, where it tells.
    #[must_use]
    #[inline]
    pub fn in_flight(&self) -> Option<u64> {
        match &self.kind {
            EventKind::PacketSent(sent) => Some(sent.in_flight),
            EventKind::PacketsAcked(acked) => Some(acked.in_flight),
            EventKind::EcnCe(marked) => Some(marked.in_flight),
            EventKind::PacketsLost(lost) | EventKind::PersistentCongestion(lost) => Some(lost.in_flight),
            _ => None,
        }
    }

    /// Bytes in flight when the event came, what it acknowledges or loses included,
    /// where it tells: TCP's flight size (`RFC 5681 §2`).
    #[must_use]
    #[inline]
    pub fn flight(&self) -> Option<u64> {
        match &self.kind {
            EventKind::PacketsAcked(acked) => Some(acked.in_flight_before),
            EventKind::PacketsLost(lost) | EventKind::PersistentCongestion(lost) => Some(lost.in_flight_before),
            _ => self.in_flight(),
        }
    }
}

/// A packet that left.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PacketSent {
    /// Its size, bytes.
    pub bytes: u64,
    /// Its packet number, where the stack tells.
    pub pn: Option<u64>,
    /// Bytes in flight, this packet included.
    pub in_flight: u64,
    /// Whether the application had nothing more to send after it.
    pub app_limited: bool,
    /// Its place in a train that carries data, if it left in one.
    pub place: Option<Place>,
}

/// A packet's place in a train.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// [`TrainPlan::id`](crate::TrainPlan::id) of the train.
    pub train: u32,
    /// Which packet of it, from 0.
    pub index: u32,
}

/// An RTT sample with the stack's own estimates.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RttSample {
    /// The sample: ACK arrival minus send time of the newest acknowledged packet.
    pub latest: Span,
    /// The stack's smoothed RTT, this sample included (`RFC 9002 §5.3`).
    pub smoothed: Span,
    /// The stack's RTT variation.
    pub variation: Span,
    /// The stack's minimum RTT.
    pub min: Span,
    /// The delay the receiver says it held the ACK; zero where unknown.
    pub ack_delay: Span,
}

impl RttSample {
    /// The sample less the time the receiver says it held the ACK, at most `most` of it,
    /// which cannot bring it below the minimum RTT (`RFC 9002 §5.3`; `spec: chan §1.3`).
    #[must_use]
    #[inline]
    pub fn without_ack_delay(&self, most: Span) -> Span {
        (self.latest - self.ack_delay.min(most)).max(self.min).min(self.latest)
    }

    /// The sample less all the time the receiver says it held the ACK (`spec: cho §11`).
    #[must_use]
    #[inline]
    pub fn adjusted(&self) -> Span {
        self.without_ack_delay(Span(u64::MAX))
    }
}

/// Newly acknowledged packets. Counts cover packets that were in flight; an ACK of
/// a packet already declared lost is not among them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PacketsAcked {
    /// Bytes newly acknowledged.
    pub bytes: u64,
    /// Packets newly acknowledged.
    pub packets: u32,
    /// Of `bytes`, those sent after the start of the latest recovery period as the
    /// last [`Decision::recovery_start`](crate::Decision::recovery_start) told it;
    /// all of them if there was none.
    pub fresh_bytes: u64,
    /// When the newest of them was sent.
    pub newest_sent_at: Time,
    /// The largest packet number among them, where the stack tells.
    pub newest_pn: Option<u64>,
    /// Bytes in flight just after the newest of them was sent, where the stack tells.
    pub newest_in_flight: Option<u64>,
    /// Bytes in flight before these packets were taken out.
    pub in_flight_before: u64,
    /// Bytes in flight after.
    pub in_flight: u64,
    /// Bytes acknowledged on this path since it started, these included.
    pub delivered: u64,
    /// The sender did not use its window: it had nothing to send or was held back
    /// by flow control.
    pub app_limited: bool,
    /// RTT sample of this frame, unless an `RttSampled` came before.
    pub rtt: Option<RttSample>,
    /// One-way delays of the newest packet and of this ACK.
    pub one_way: Option<OneWay>,
    /// Router queueing times met by the newest packet and by this ACK (AQT).
    pub queueing: Option<Queueing>,
    /// Whether the ACK echoes a congestion-indication mark; `None` on a path
    /// without such marking.
    pub congestion_indication: Option<bool>,
    /// What had been delivered when the newest of them was sent, for controllers that need
    /// [`DELIVERY_RATE`](crate::Signals::DELIVERY_RATE).
    pub delivery: Option<Delivery>,
}

/// What a sender knew of its deliveries when a packet left; with the ACK of the packet it
/// makes a sample of the delivery rate (`draft-ietf-ccwg-bbr §4.1.1`).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Delivery {
    /// Bytes acknowledged on this path when the packet left ([`PacketsAcked::delivered`] counts on).
    pub delivered: u64,
    /// When the latest of those were acknowledged, or the flight began the packet was in,
    /// whichever is later.
    pub delivered_at: Time,
    /// When the newest packet acknowledged by then was sent, or that flight began,
    /// whichever is later.
    pub first_sent_at: Time,
    /// Bytes declared lost since the packet left, and before its ACK was read to the end.
    pub lost: u64,
    /// The application had nothing to send at some moment of the flight before the packet,
    /// so that a sample may show less than the path can carry.
    pub app_limited: bool,
}

/// Relative one-way delays, nanoseconds. Each is measured across two clocks, so it
/// carries an unknown constant offset and may be negative: only differences of the
/// same field mean anything. Their sum is the RTT without the receiver's ACK delay.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OneWay {
    /// Data packet: reception at the peer minus departure here.
    pub forward: i64,
    /// ACK: reception here minus departure at the peer.
    pub backward: i64,
}

/// Time spent waiting in instrumented router queues (`spec: chan §4.2`).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Queueing {
    /// By the data packet (AQT-Echo).
    pub forward: Span,
    /// By the ACK (AQT).
    pub backward: Span,
}

/// New ECN-CE marks reported by an ACK frame.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EcnCe {
    /// How many packets; 1 where the stack only tells that there were some.
    pub packets: u32,
    /// Send time of the newest packet acknowledged by the frame.
    pub newest_sent_at: Time,
    /// Largest packet number acknowledged by the frame, where the stack tells.
    pub newest_pn: Option<u64>,
    /// Bytes in flight when the frame arrived.
    pub in_flight: u64,
}

/// Why packets were declared lost (`RFC 9002 §6.1`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossTrigger {
    /// A packet sent `kPacketThreshold` later was acknowledged.
    PacketThreshold,
    /// A later packet was acknowledged and enough time passed.
    TimeThreshold,
    /// The stack does not tell.
    Unknown,
}

/// Packets declared lost together.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PacketsLost {
    /// Bytes lost.
    pub bytes: u64,
    /// Packets lost.
    pub packets: u32,
    /// When the newest of them was sent.
    pub newest_sent_at: Time,
    /// The largest packet number among them, where the stack tells.
    pub newest_pn: Option<u64>,
    /// Bytes in flight before they were taken out.
    pub in_flight_before: u64,
    /// Bytes in flight after.
    pub in_flight: u64,
    /// Which rule found them.
    pub trigger: LossTrigger,
    /// How often the data of the newest was transmitted, this transmission
    /// included; 1 where the stack does not track it.
    pub transmissions: u32,
}

/// A congestion response that a late ACK showed to be unfounded.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SpuriousLoss {
    /// When the newest of the packets wrongly declared lost was sent.
    pub newest_sent_at: Time,
}

/// A period without anything in flight that ends now.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct IdleRestart {
    /// How long.
    pub idle: Span,
    /// The sender's probe timeout (`RFC 9002 §6.2.1`).
    pub pto: Span,
}

impl IdleRestart {
    /// Whether it lasted longer than the probe timeout, so that what was known of the
    /// path has aged (`spec: sharma §1.5 B-IDLE`; `spec: arumaithurai §3.5 F7`).
    #[must_use]
    pub fn is_long(&self) -> bool {
        self.idle > self.pto
    }
}

/// A packet of a train that reached the peer, probe or data; they are reported in the
/// order the peer received them, data also as [`EventKind::PacketsAcked`] after that. One that never
/// arrives is never reported.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ProbeReceived {
    /// [`TrainPlan::id`](crate::TrainPlan::id) of its train.
    pub train: u32,
    /// Its place in the train, from 0.
    pub index: u32,
    /// Whether it arrived CE-marked.
    pub ce: bool,
    /// Its relative forward one-way delay, nanoseconds, where known.
    pub one_way: Option<i64>,
    /// When it left.
    pub sent_at: Time,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit;

    fn held(latest: u64, min: u64, ack_delay: u64) -> RttSample {
        RttSample { min: Span(min), ack_delay: Span(ack_delay), ..testkit::rtt(Span(latest)) }
    }

    #[test]
    fn the_receivers_delay_is_taken_off_within_limits() {
        assert_eq!(held(120, 100, 15).without_ack_delay(Span(25)), Span(105));
        assert_eq!(held(160, 100, 40).without_ack_delay(Span(25)), Span(135), "no more than asked for");
        assert_eq!(held(110, 100, 15).without_ack_delay(Span(25)), Span(100), "not below the minimum RTT");
        assert_eq!(held(110, 100, 15).without_ack_delay(Span::ZERO), Span(110), "as it came");
        assert_eq!(held(110, 400, 15).without_ack_delay(Span(25)), Span(110), "a nonsensical minimum");
        assert_eq!(held(5, 0, 15).without_ack_delay(Span(25)), Span::ZERO);
        assert_eq!(held(160, 100, 40).adjusted(), Span(120));
        assert_eq!(held(160, 100, u64::MAX).adjusted(), Span(100));
    }
}
