//! One path of a connection of such a stack.

use std::time::{Duration, Instant};

use windlass_controllers::{ConfiguredController, Span, Time};

use super::clock::{Clock, span};
use crate::{Flow, LostPackets, PathFlow, Sent};

/// A [`PathFlow`] as these stacks call it.
///
/// The stack's calls for one ACK frame come in this order: [`on_packet_acked`](Self::on_packet_acked) for each
/// packet, [`on_end_acks`](Self::on_end_acks), [`on_packets_lost`](Self::on_packets_lost), [`on_ecn_ce`](Self::on_ecn_ce).
#[derive(Debug)]
pub struct Path<C: ConfiguredController> {
    path: PathFlow<C>,
    clock: Clock,
    /// When the packet acknowledged last was sent: as an instant, and as a time.
    sent: (Instant, Time),
    /// Bytes in flight before the latest frame's packets were taken out.
    in_flight_before: u64,
    /// The stack's smoothed and minimum RTT before the current frame.
    estimates: (Duration, Duration),
    /// The newest packet that brought an RTT sample: its number, and when it was sent.
    sampled: (Number, Time),
    /// Largest packet number of the frame so far, where the stack reports it.
    newest_pn: Number,
    largest: Number,
    newest_lost: Time,
}

/// A packet number in one word, smaller than any when unknown: an `Option` takes two, and
/// several instructions to compare.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Number(u64);

impl Number {
    #[inline]
    fn get(self) -> Option<u64> {
        self.0.checked_sub(1)
    }

    #[inline]
    fn is_known(self) -> bool {
        self.0 > 0
    }
}

impl From<Option<u64>> for Number {
    /// There are less than 2⁶² numbers (`RFC 9000 §12.3`); a larger one counts as unknown.
    #[inline]
    fn from(pn: Option<u64>) -> Number {
        Number(pn.map_or(0, |pn| pn.wrapping_add(1)))
    }
}

/// A packet that was acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// Time it was sent.
    pub sent: Instant,
    /// Bytes that counted as in flight.
    pub bytes: u64,
    /// Its number, where the stack reports it.
    pub pn: Option<u64>,
}

/// Packets declared lost together, as a stack reports them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Loss {
    /// Bytes lost that counted as in flight.
    pub bytes: u64,
    /// Packets lost; worked out from the datagram size where the stack does not report it.
    pub packets: Option<u32>,
    /// The largest packet number among them, where the stack reports it.
    pub newest_pn: Option<u64>,
    /// They span the persistent-congestion period (`RFC 9002 §7.6`).
    pub persistent: bool,
}

impl<C: ConfiguredController> Path<C> {
    /// `flow` on a path of datagrams of `mtu` bytes.
    #[must_use]
    pub fn new(flow: Flow<C>, clock: Clock, mtu: u16) -> Self {
        let mut path = PathFlow::new(flow, clock.latest(), mtu.into());
        // What the stack assumes before its first sample is not known until then.
        (path.rtt().smoothed, path.rtt().variation) = (Span::ZERO, Span::ZERO);
        Path {
            path,
            sent: clock.origin(),
            clock,
            in_flight_before: 0,
            estimates: (Duration::ZERO, Duration::ZERO),
            sampled: (Number::default(), Time::ZERO),
            newest_pn: Number::default(),
            largest: Number::default(),
            newest_lost: Time::ZERO,
        }
    }

    /// The flow: its algorithm, state and decision in force.
    #[must_use]
    pub fn flow(&self) -> &Flow<C> {
        self.path.flow()
    }

    /// The decided window, bytes; two datagrams at least (`RFC 9002 §7.2`). With one, a
    /// server on quinn or a fork of it stops for good: part of its first flight is never
    /// acknowledged, the rest of the window holds no datagram, and no timer runs.
    #[must_use]
    #[inline]
    pub fn window(&self) -> u64 {
        self.flow().cwnd().max(self.least_window())
    }

    /// Least value of [`window`](Self::window), bytes.
    #[must_use]
    #[inline]
    pub fn least_window(&self) -> u64 {
        2 * u64::from(self.path.mtu())
    }

    /// Bytes that may leave at once; see [`PathFlow::send_quantum`].
    #[must_use]
    pub fn send_quantum(&self) -> Option<u64> {
        self.path.send_quantum()
    }

    /// Sets the time.
    #[inline]
    fn at(&mut self, now: Instant) -> Time {
        let now = self.clock.read(now);
        self.path.at(now)
    }

    /// `bytes` left, the last packet of them numbered `pn`. Where they `may_be_bare_ack`, the stack reports those too.
    #[inline]
    pub fn on_packet_sent(&mut self, now: Instant, bytes: u64, pn: u64, may_be_bare_ack: bool) {
        if self.path.counts(bytes) {
            self.at(now);
        } else {
            self.sent_with_events(now, bytes, pn, may_be_bare_ack);
        }
    }

    // A function of its own, so that the usual case needs no stack.
    #[inline(never)]
    fn sent_with_events(&mut self, now: Instant, bytes: u64, pn: u64, may_be_bare_ack: bool) {
        let at = self.at(now);
        self.path.sent(Sent { at, bytes, pn: Some(pn), may_be_bare_ack }, |_| false);
    }

    /// A packet that left was acknowledged. `estimates` returns the stack's smoothed and minimum
    /// RTT before the frame's own sample.
    #[inline]
    pub fn on_packet_acked(
        &mut self,
        packet: Packet,
        app_limited: bool,
        estimates: impl FnOnce() -> (Duration, Duration),
    ) {
        let Packet { sent, bytes, pn } = packet;
        self.newest_pn = self.newest_pn.max(pn.into());
        if self.path.acknowledged().is_empty() {
            self.estimates = estimates();
        }
        if sent != self.sent.0 {
            self.sent = (sent, self.clock.time(sent));
        }
        self.path.acked(self.sent.1, bytes, app_limited);
    }

    /// The frame's acknowledgements are complete; the stack counts `in_flight` bytes in
    /// flight, and `largest` is the largest packet number acknowledged so far. The application had nothing to send when
    /// the frame came if it is `app_limited`.
    #[inline]
    pub fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        let now = self.at(now);
        let acked = self.path.acknowledged();
        self.in_flight_before = in_flight.saturating_add(acked.bytes());
        // `None`: nothing that asked for an ACK, or a path that is not validated yet.
        let mut pn = Number::default();
        if let Some(newest) = acked.newest_sent_at() {
            let largest = largest.into();
            let reported = if self.sample(now, newest, largest) { largest } else { Number::default() };
            let newest_pn = std::mem::take(&mut self.newest_pn);
            pn = if newest_pn.is_known() { newest_pn } else { reported };
            self.largest = self.largest.max(pn);
        }
        self.path.end_of_frame(in_flight, app_limited, |acked| acked.newest_pn = pn.get());
    }

    /// The sample of a frame that ended at `now`, whose newest packet was sent at `sent_at` and after which `largest` is
    /// the largest packet number acknowledged in its number space. Only a frame that acknowledges a new largest packet
    /// brings one (`RFC 9002 §5.1`); number spaces are not distinguished, so a packet sent later than any acknowledged
    /// before counts as a new largest too. Until its first sample the stack's estimates are its configured guess.
    #[inline]
    fn sample(&mut self, now: Time, sent_at: Time, largest: Number) -> bool {
        if largest <= self.sampled.0 && sent_at <= self.sampled.1 {
            return false;
        }
        self.sampled = (largest, sent_at.max(self.sampled.1));
        let rtt = self.path.rtt();
        if rtt.first_sample.is_some() {
            (rtt.smoothed, rtt.min) = (span(self.estimates.0), span(self.estimates.1));
        }
        let sample = rtt.sample(now, now.since(sent_at), Span::ZERO);
        self.path.sampled(sample);
        true
    }

    /// The frame brought CE marks. Its newest packet left at `sent` and was numbered `pn`,
    /// where the stack reports it; otherwise it is the largest acknowledged yet.
    pub fn on_ecn_ce(&mut self, now: Instant, sent: Instant, pn: Option<u64>) {
        self.at(now);
        self.path.ecn_ce(1);
        let newest = (self.clock.time(sent), pn.or(self.largest.get()));
        self.path.congestion(newest, (self.in_flight_before, self.path.in_flight().bytes()));
    }

    /// Packets were declared lost, the newest of them sent at `sent`.
    pub fn on_packets_lost(&mut self, now: Instant, sent: Instant, loss: Loss) {
        self.at(now);
        let newest_sent_at = self.clock.time(sent);
        self.newest_lost = self.newest_lost.max(newest_sent_at);
        let Loss { bytes, packets, newest_pn, persistent } = loss;
        let worked_out = || u32::try_from(bytes.div_ceil(u64::from(self.path.mtu().max(1)))).unwrap_or(u32::MAX);
        let packets = packets.unwrap_or_else(worked_out);
        let before = self.path.in_flight().bytes();
        self.path.lost(LostPackets { packets, bytes, newest_sent_at, newest_pn, persistent });
        self.path.congestion((newest_sent_at, newest_pn), (before, self.path.in_flight().bytes()));
    }

    /// All packets of the latest losses were acknowledged after all. Stacks do not report
    /// when, so it is the latest time known.
    pub fn on_spurious_loss(&mut self) {
        self.path.spurious_loss(self.newest_lost);
    }

    /// The datagram size changed; bytes.
    pub fn on_mtu_update(&mut self, mtu: u16) {
        self.path.mtu_updated(mtu.into());
    }

    /// The peer holds ACKs for so long at most.
    pub fn set_max_ack_delay(&mut self, delay: Duration) {
        self.path.set_max_ack_delay(span(delay));
    }
}

/// A path that moved: the same state, the same membership in its group, no recorder.
impl<C: ConfiguredController> Clone for Path<C> {
    fn clone(&self) -> Self {
        Path { path: self.path.clone(), ..*self }
    }
}

#[cfg(test)]
mod tests;
