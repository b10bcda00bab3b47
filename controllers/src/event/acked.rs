//! What an ACK frame acknowledges, and what is known of its packets.

use super::{RttSample, with};
use crate::{Span, Time};

/// Newly acknowledged packets. Counts cover packets that were in flight; an ACK of
/// a packet already declared lost is not among them.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PacketsAcked {
    /// Bytes newly acknowledged that counted as in flight.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact::unsigned"))]
    pub bytes: u64,
    /// Packets newly acknowledged that counted as in flight.
    pub packets: u32,
    /// Of `bytes`, those sent after the start of the latest recovery period as the
    /// last [`Decision::recovery_start`](crate::Decision::recovery_start) gave it;
    /// all of them if there was none.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact::unsigned"))]
    pub fresh_bytes: u64,
    /// When the newest of them was sent.
    pub newest_sent_at: Time,
    /// The largest packet number among them, where the stack reports it.
    #[cfg_attr(
        feature = "serde",
        serde(with = "crate::exact::optional_unsigned", default, skip_serializing_if = "Option::is_none")
    )]
    pub newest_pn: Option<u64>,
    /// Bytes in flight just after the newest of them was sent, where the stack reports it.
    #[cfg_attr(
        feature = "serde",
        serde(with = "crate::exact::optional_unsigned", default, skip_serializing_if = "Option::is_none")
    )]
    pub newest_in_flight: Option<u64>,
    /// Bytes in flight before these packets were taken out.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact::unsigned"))]
    pub in_flight_before: u64,
    /// Bytes in flight after the event.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact::unsigned"))]
    pub in_flight: u64,
    /// Bytes acknowledged on this path since it started, these included, and those of packets declared lost that
    /// were acknowledged after all, where the stack reports them.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact::unsigned"))]
    pub delivered: u64,
    /// The sender did not use its window: it had nothing to send or was held back
    /// by flow control.
    pub app_limited: bool,
    /// RTT sample of this frame, unless an `RttSampled` came before.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub rtt: Option<RttSample>,
    /// One-way delays of the newest packet and of this ACK.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub one_way: Option<OneWay>,
    /// Router queueing times met by the newest packet and by this ACK (AQT).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub queueing: Option<Queueing>,
    /// Whether the ACK echoes a congestion-indication mark; `None` on a path
    /// without such marking.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub congestion_indication: Option<bool>,
    /// What had been delivered when the newest of them was sent, for controllers that need
    /// [`DELIVERY_RATE`](crate::Signals::DELIVERY_RATE).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub delivery: Option<Delivery>,
}

impl PacketsAcked {
    /// An acknowledgement of `packets` packets of `bytes` bytes together, the newest sent at
    /// `newest_sent_at`, after which `in_flight` bytes are in flight and `delivered` bytes
    /// acknowledged on the path.
    ///
    /// All of it counts as [fresh](Self::fresh_bytes), the flight before as `in_flight +
    /// bytes`, the sender as using its window; every optional fact is absent.
    #[must_use]
    #[inline]
    pub const fn new(bytes: u64, packets: u32, newest_sent_at: Time, in_flight: u64, delivered: u64) -> PacketsAcked {
        PacketsAcked {
            bytes,
            packets,
            fresh_bytes: bytes,
            newest_sent_at,
            newest_pn: None,
            newest_in_flight: None,
            in_flight_before: in_flight.saturating_add(bytes),
            in_flight,
            delivered,
            app_limited: false,
            rtt: None,
            one_way: None,
            queueing: None,
            congestion_indication: None,
            delivery: None,
        }
    }

    with! {
        /// With the bytes sent after the start of the latest recovery period.
        with_fresh_bytes(fresh_bytes: u64);
        /// With the largest packet number among them.
        with_newest_pn(newest_pn: Option<u64>);
        /// With the bytes in flight just after the newest was sent.
        with_newest_in_flight(newest_in_flight: Option<u64>);
        /// With the bytes in flight before these packets were taken out.
        with_in_flight_before(in_flight_before: u64);
        /// The same with [`app_limited`](Self::app_limited).
        with_app_limited(app_limited: bool);
        /// With the RTT sample of the frame.
        with_rtt(rtt: Option<RttSample>);
        /// With the one-way delays of the newest packet and of the ACK.
        with_one_way(one_way: Option<OneWay>);
        /// With the queueing times met by the newest packet and by the ACK.
        with_queueing(queueing: Option<Queueing>);
        /// With whether the ACK echoes a congestion-indication mark.
        with_congestion_indication(congestion_indication: Option<bool>);
        /// With what had been delivered when the newest was sent.
        with_delivery(delivery: Option<Delivery>);
    }
}

/// What a sender knew of its deliveries when a packet left; with the ACK of the packet it
/// makes a sample of the delivery rate (`draft-ietf-ccwg-bbr §4.1.1`).
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Delivery {
    /// Bytes acknowledged on this path when the packet left ([`PacketsAcked::delivered`] counts on).
    #[cfg_attr(feature = "serde", serde(with = "crate::exact::unsigned"))]
    pub delivered: u64,
    /// When the latest of those were acknowledged, or the flight began the packet was in,
    /// whichever is later.
    pub delivered_at: Time,
    /// When the newest packet acknowledged by then was sent, or that flight began,
    /// whichever is later.
    pub first_sent_at: Time,
    /// Bytes declared lost since the packet left, and before its ACK was read to the end.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact::unsigned"))]
    pub lost: u64,
    /// The application had nothing to send at some moment of the flight before the packet,
    /// so that a sample may show less than the path can carry.
    pub app_limited: bool,
}

impl Delivery {
    /// `delivered` bytes, the latest of them acknowledged at `delivered_at`, their newest
    /// packet sent at `first_sent_at`; nothing lost since, and the path was kept busy.
    #[must_use]
    #[inline]
    pub const fn new(delivered: u64, delivered_at: Time, first_sent_at: Time) -> Delivery {
        Delivery { delivered, delivered_at, first_sent_at, lost: 0, app_limited: false }
    }

    with! {
        /// With the bytes declared lost since the packet left.
        with_lost(lost: u64);
        /// The same with [`app_limited`](Self::app_limited).
        with_app_limited(app_limited: bool);
    }
}

/// Relative one-way delays, nanoseconds. Each is measured across two clocks, so it
/// carries an unknown constant offset and may be negative: only differences of the
/// same field mean anything. Their sum is the RTT without the receiver's ACK delay.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct OneWay {
    /// Data packet: reception at the peer minus departure here.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact::signed"))]
    pub forward: i64,
    /// ACK: reception here minus departure at the peer.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact::signed"))]
    pub backward: i64,
}

impl OneWay {
    /// Delays of the data packet and of the ACK, nanoseconds.
    #[must_use]
    #[inline]
    pub const fn new(forward: i64, backward: i64) -> OneWay {
        OneWay { forward, backward }
    }
}

/// Time spent waiting in instrumented router queues (`spec: chan §4.2`).
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Queueing {
    /// By the data packet (AQT-Echo).
    pub forward: Span,
    /// Queueing time of the ACK on its way back (AQT, `spec: chan §4`).
    pub backward: Span,
}

impl Queueing {
    /// Waiting times of the data packet and of the ACK.
    #[must_use]
    #[inline]
    pub const fn new(forward: Span, backward: Span) -> Queueing {
        Queueing { forward, backward }
    }
}
