//! What happened: the one event type all stacks translate into.
//!
//! # Order inside one ACK frame
//!
//! A frame that brings nothing but acknowledgements is one [`EventKind::PacketsAcked`] with
//! the RTT sample inside. A frame that also marks or loses packets is delivered
//! as `RttSampled`, then `EcnCe`, then `PacketsLost` (or `PersistentCongestion`), then
//! `PacketsAcked` with `rtt: None`: estimators first, then congestion, then growth
//! (`RFC 9002 §A.7`, `spec: cho §1.7`, `spec: arumaithurai §1.3`). A `SpuriousLoss` that the frame shows comes
//! before all of these: it is about an earlier response, not about one that the frame asks for. A stack that
//! cannot keep that order says so in its adapter's documentation.

mod acked;

pub use acked::{Delivery, OneWay, PacketsAcked, Queueing};

use crate::{Span, Time};

/// A method for each fact that a stack may or may not know: the value with that field set.
macro_rules! with {
    ($($(#[doc = $doc:literal])+ $method:ident($field:ident: $of:ty);)+) => {
        $(
            $(#[doc = $doc])+
            #[must_use]
            #[inline]
            pub const fn $method(mut self, $field: $of) -> Self {
                self.$field = $field;
                self
            }
        )+
    };
}
pub(crate) use with;

/// Something a QUIC sender learned or did at `now`.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Event {
    /// Never before the previous event of the same flow.
    pub now: Time,
    /// What the sender learned or did.
    #[cfg_attr(feature = "serde", serde(alias = "what"))]
    pub kind: EventKind,
}

/// What happened, of an [`Event`].
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum EventKind {
    /// A packet left. Delivered only to controllers with
    /// [`WANTS_PACKET_SENT`](crate::Controller::WANTS_PACKET_SENT).
    #[cfg_attr(feature = "serde", serde(alias = "sent"))]
    PacketSent(PacketSent),
    /// An RTT sample whose frame also brings marks or losses.
    #[cfg_attr(feature = "serde", serde(alias = "sampled"))]
    RttSampled(RttSample),
    /// An ACK frame newly acknowledged packets.
    #[cfg_attr(feature = "serde", serde(alias = "acked"))]
    PacketsAcked(PacketsAcked),
    /// The receiver reported new ECN-CE marks.
    #[cfg_attr(feature = "serde", serde(alias = "marked"))]
    EcnCe(EcnCe),
    /// Loss detection declared packets lost (`RFC 9002 §6.1`).
    #[cfg_attr(feature = "serde", serde(alias = "lost"))]
    PacketsLost(PacketsLost),
    /// Losses span the persistent-congestion period (`RFC 9002 §7.6`). Replaces the
    /// `PacketsLost` of the batch that established it.
    PersistentCongestion(PacketsLost),
    /// All packets of a loss episode arrived after all. Takes back the response to them, if it
    /// is the latest one and no mark came since.
    SpuriousLoss(SpuriousLoss),
    /// The maximum datagram size changed; bytes.
    #[cfg_attr(feature = "serde", serde(alias = "mtu"))]
    MtuUpdated(u32),
    /// Sending resumes after nothing was in flight.
    #[cfg_attr(feature = "serde", serde(alias = "idle"))]
    IdleRestart(IdleRestart),
    /// The time asked for in [`Decision::wake_at`](crate::Decision::wake_at) has come.
    #[cfg_attr(feature = "serde", serde(alias = "tick"))]
    TimerExpired,
    /// One probe of a train was received by the peer.
    #[cfg_attr(feature = "serde", serde(alias = "probed"))]
    ProbeReceived(ProbeReceived),
    /// [Careful resume](crate::parts::careful_resume) sets the window that the controller goes on with.
    WindowSet(WindowSet),
    /// This flow became a member of its group.
    Joined,
    /// This flow is about to leave its group.
    Left,
}

impl Event {
    /// An event of that kind at `now`.
    #[must_use]
    #[inline]
    pub const fn new(now: Time, kind: EventKind) -> Event {
        Event { now, kind }
    }

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

    /// Bytes in flight after the event; `None` where it does not say.
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

    /// Bytes in flight before the event, what it acknowledges or loses included: TCP's flight
    /// size (`RFC 5681 §2`). `None` where the event does not say.
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

/// An ack-eliciting packet was sent.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PacketSent {
    /// Bytes it adds to those in flight.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact::unsigned"))]
    pub bytes: u64,
    /// Its packet number, where the stack reports it.
    #[cfg_attr(
        feature = "serde",
        serde(with = "crate::exact::optional_unsigned", default, skip_serializing_if = "Option::is_none")
    )]
    pub pn: Option<u64>,
    /// Bytes in flight, this packet included.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact::unsigned"))]
    pub in_flight: u64,
    /// Whether the application had nothing more to send after it.
    pub app_limited: bool,
    /// Its place in a train that carries data, if it left in one.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub place: Option<Place>,
}

impl PacketSent {
    /// A packet of `bytes` after which `in_flight` bytes are in flight, of a sender that is
    /// not limited by the application; without a packet number and outside of trains.
    #[must_use]
    #[inline]
    pub const fn new(bytes: u64, in_flight: u64) -> PacketSent {
        PacketSent { bytes, pn: None, in_flight, app_limited: false, place: None }
    }

    with! {
        /// The same with its packet number; `None` where the stack does not report it.
        with_pn(pn: Option<u64>);
        /// The same with [`app_limited`](Self::app_limited).
        with_app_limited(app_limited: bool);
        /// With its place in a train that carries data.
        with_place(place: Option<Place>);
    }
}

/// A packet's place in a train.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Place {
    /// [`TrainPlan::id`](crate::TrainPlan::id) of the train.
    pub train: u32,
    /// Which packet of it, from 0.
    pub index: u32,
}

impl Place {
    /// Packet `index` (from 0) of train `train`.
    #[must_use]
    #[inline]
    pub const fn new(train: u32, index: u32) -> Place {
        Place { train, index }
    }
}

/// An RTT sample with the stack's own estimates.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
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
    /// A sample with the stack's estimates after it (`RFC 9002 §5`); the receiver's ACK
    /// delay counts as unknown.
    #[must_use]
    #[inline]
    pub const fn new(latest: Span, smoothed: Span, variation: Span, min: Span) -> RttSample {
        RttSample { latest, smoothed, variation, min, ack_delay: Span::ZERO }
    }

    with! {
        /// With the delay the receiver says it held the ACK.
        with_ack_delay(ack_delay: Span);
    }

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

/// New ECN-CE marks reported by an ACK frame.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct EcnCe {
    /// How many packets; 1 where the stack reports only that there were some.
    pub packets: u32,
    /// Send time of the newest packet acknowledged by the frame.
    pub newest_sent_at: Time,
    /// Largest packet number acknowledged by the frame, where the stack reports it.
    #[cfg_attr(
        feature = "serde",
        serde(with = "crate::exact::optional_unsigned", default, skip_serializing_if = "Option::is_none")
    )]
    pub newest_pn: Option<u64>,
    /// Bytes in flight when the frame arrived.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact::unsigned"))]
    pub in_flight: u64,
}

impl EcnCe {
    /// `packets` marks reported by a frame that came with `in_flight` bytes in flight and
    /// whose newest packet was sent at `newest_sent_at`.
    #[must_use]
    #[inline]
    pub const fn new(packets: u32, newest_sent_at: Time, in_flight: u64) -> EcnCe {
        EcnCe { packets, newest_sent_at, newest_pn: None, in_flight }
    }

    with! {
        /// With the largest packet number acknowledged by the frame.
        with_newest_pn(newest_pn: Option<u64>);
    }
}

/// Why packets were declared lost (`RFC 9002 §6.1`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum LossTrigger {
    /// A packet sent `kPacketThreshold` later was acknowledged.
    PacketThreshold,
    /// A later packet was acknowledged and enough time passed.
    TimeThreshold,
    /// The stack does not tell.
    Unknown,
}

/// Packets one loss detection declared lost (`RFC 9002 §6.1`).
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PacketsLost {
    /// Bytes lost that counted as in flight.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact::unsigned"))]
    pub bytes: u64,
    /// Packets lost that counted as in flight.
    pub packets: u32,
    /// When the newest of them was sent.
    pub newest_sent_at: Time,
    /// The largest packet number among them, where the stack reports it.
    #[cfg_attr(
        feature = "serde",
        serde(with = "crate::exact::optional_unsigned", default, skip_serializing_if = "Option::is_none")
    )]
    pub newest_pn: Option<u64>,
    /// Bytes in flight before they were taken out.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact::unsigned"))]
    pub in_flight_before: u64,
    /// Bytes in flight after the event.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact::unsigned"))]
    pub in_flight: u64,
    /// The rule that declared them lost.
    pub trigger: LossTrigger,
    /// How often the data of the newest was transmitted, this transmission
    /// included; 1 where the stack does not track it.
    pub transmissions: u32,
}

impl PacketsLost {
    /// A loss of `packets` packets of `bytes` bytes together, the newest sent at
    /// `newest_sent_at`, after which `in_flight` bytes are in flight.
    ///
    /// The flight before counts as `in_flight + bytes`, the data as sent for the first time.
    #[must_use]
    #[inline]
    pub const fn new(bytes: u64, packets: u32, newest_sent_at: Time, in_flight: u64) -> PacketsLost {
        PacketsLost {
            bytes,
            packets,
            newest_sent_at,
            newest_pn: None,
            in_flight_before: in_flight.saturating_add(bytes),
            in_flight,
            trigger: LossTrigger::Unknown,
            transmissions: 1,
        }
    }

    with! {
        /// With the largest packet number among them.
        with_newest_pn(newest_pn: Option<u64>);
        /// With the bytes in flight before they were taken out.
        with_in_flight_before(in_flight_before: u64);
        /// With the rule that found them.
        with_trigger(trigger: LossTrigger);
        /// With how often the data of the newest was transmitted.
        with_transmissions(transmissions: u32);
    }
}

/// A loss episode, all packets of which a late ACK reports as received.
///
/// Only the response to those packets may be taken back. A response to CE marks is final, as is
/// one to losses and marks together: what was marked met a congested queue, whether a packet
/// beside it was lost or not. A later response is not taken back for an earlier one's losses;
/// `newest_sent_at` tells which response is meant.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct SpuriousLoss {
    /// When the newest of the packets wrongly declared lost was sent.
    pub newest_sent_at: Time,
}

impl SpuriousLoss {
    /// The newest of the packets wrongly declared lost was sent at `newest_sent_at`.
    #[must_use]
    #[inline]
    pub const fn new(newest_sent_at: Time) -> SpuriousLoss {
        SpuriousLoss { newest_sent_at }
    }
}

/// Window and threshold to go on with. A controller whose window follows from a rate takes the rate that leads to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct WindowSet {
    /// Congestion window, bytes.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact::unsigned"))]
    pub cwnd: u64,
    /// Slow start threshold, bytes; `None` leaves it as it is.
    #[cfg_attr(
        feature = "serde",
        serde(with = "crate::exact::optional_unsigned", default, skip_serializing_if = "Option::is_none")
    )]
    pub ssthresh: Option<u64>,
    /// What the path carried for a flow that leaves careful resume's safe retreat, bytes (`PipeSize`, `RFC 9959 §2.4`), of which the
    /// threshold is half; `None` at any other time.
    #[cfg_attr(
        feature = "serde",
        serde(with = "crate::exact::optional_unsigned", default, skip_serializing_if = "Option::is_none")
    )]
    pub pipe_size: Option<u64>,
}

impl WindowSet {
    /// A window of `cwnd` bytes; the threshold stays.
    #[must_use]
    #[inline]
    pub const fn new(cwnd: u64) -> WindowSet {
        WindowSet { cwnd, ssthresh: None, pipe_size: None }
    }

    with! {
        /// With the threshold, bytes.
        with_ssthresh(ssthresh: Option<u64>);
        /// With what the path carried, bytes.
        with_pipe_size(pipe_size: Option<u64>);
    }
}

/// Sending goes on after a time with nothing in flight and nothing to send that was longer than a probe
/// timeout. A sender that waited for its pacer was not idle, nor one whose whole flight was just acknowledged.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct IdleRestart {
    /// How long that time was.
    pub idle: Span,
    /// The sender's probe timeout (`RFC 9002 §6.2.1`).
    pub pto: Span,
}

impl IdleRestart {
    /// A time of `idle` with nothing in flight and nothing to send, of a sender whose probe timeout is `pto`.
    #[must_use]
    #[inline]
    pub const fn new(idle: Span, pto: Span) -> IdleRestart {
        IdleRestart { idle, pto }
    }

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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ProbeReceived {
    /// [`TrainPlan::id`](crate::TrainPlan::id) of its train.
    pub train: u32,
    /// Its place in the train, from 0.
    pub index: u32,
    /// Whether it arrived CE-marked.
    pub ce: bool,
    /// Its relative forward one-way delay, nanoseconds, where known.
    #[cfg_attr(
        feature = "serde",
        serde(with = "crate::exact::optional_signed", default, skip_serializing_if = "Option::is_none")
    )]
    pub one_way: Option<i64>,
    /// Time the probe packet was sent.
    pub sent_at: Time,
}

impl ProbeReceived {
    /// Packet `index` (from 0) of train `train`, sent at `sent_at`, arrived unmarked; its
    /// delay is unknown.
    #[must_use]
    #[inline]
    pub const fn new(train: u32, index: u32, sent_at: Time) -> ProbeReceived {
        ProbeReceived { train, index, ce: false, one_way: None, sent_at }
    }

    with! {
        /// With whether it arrived CE-marked.
        with_ce(ce: bool);
        /// With its relative forward one-way delay, nanoseconds.
        with_one_way(one_way: Option<i64>);
    }
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
