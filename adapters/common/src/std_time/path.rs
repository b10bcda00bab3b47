//! One path of a connection as a flow.

use std::time::{Duration, Instant};

use windlass_controllers::event::{PacketSent, SpuriousLoss};
use windlass_controllers::{ConfiguredController, Event, EventKind, Time};

use super::clock::Clock;
use super::number::Number;
use super::rtt::Sampler;
use crate::{AckFrame, AckedPackets, Flow, InFlight, LostPackets, Silence, default_pacing, send_quantum};

/// One path: a flow with the bookkeeping between its stack's calls and its events.
///
/// The stack's calls for one ACK frame come in this order: [`on_packet_acked`](Self::on_packet_acked) for each
/// packet, [`on_end_acks`](Self::on_end_acks), [`on_packets_lost`](Self::on_packets_lost), [`on_ecn_ce`](Self::on_ecn_ce).
#[derive(Debug)]
pub struct PathFlow<C: ConfiguredController> {
    flow: Flow<C>,
    clock: Clock,
    /// When the packet acknowledged last was sent: as an instant, and as a time.
    sent: (Instant, Time),
    mtu: u32,
    /// As the flow's latest event left it, bytes.
    window: u64,
    acked: AckedPackets,
    in_flight: InFlight,
    /// Bytes in flight before the latest frame's packets were taken out.
    in_flight_before: u64,
    rtt: Sampler,
    /// Largest packet number of the frame so far, where the stack reports it.
    newest_pn: Number,
    largest: Number,
    newest_lost: Time,
    wants_packet_sent: bool,
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

impl<C: ConfiguredController> PathFlow<C> {
    /// `flow` on a path of datagrams of `mtu` bytes.
    #[must_use]
    pub fn new(flow: Flow<C>, clock: Clock, mtu: u16) -> Self {
        PathFlow {
            wants_packet_sent: flow.wants_packet_sent(),
            in_flight: InFlight::new(flow.controller()),
            window: flow.cwnd().max(2 * u64::from(mtu)),
            flow,
            sent: clock.origin(),
            clock,
            mtu: u32::from(mtu),
            acked: AckedPackets::default(),
            in_flight_before: 0,
            rtt: Sampler::default(),
            newest_pn: Number::default(),
            largest: Number::default(),
            newest_lost: Time::ZERO,
        }
    }

    #[inline(always)]
    fn on_event(&mut self, event: &Event) {
        self.window = self.flow.on_event(event).cwnd.max(self.least_window());
    }

    /// An event that comes rarely, or matters to few controllers.
    #[inline(never)]
    fn on_rare_event(&mut self, now: Time, kind: EventKind) {
        self.on_event(&Event::new(now, kind));
    }

    /// The flow: its algorithm, state and decision in force.
    #[must_use]
    pub fn flow(&self) -> &Flow<C> {
        &self.flow
    }

    /// The decided window, bytes; two datagrams at least (`RFC 9002 §7.2`). With one, a
    /// server on quinn or a fork of it stops for good: part of its first flight is never
    /// acknowledged, the rest of the window holds no datagram, and no timer runs.
    #[must_use]
    #[inline]
    pub fn window(&self) -> u64 {
        if self.flow.is_grouped() { self.window_in_group() } else { self.window }
    }

    #[cold]
    fn window_in_group(&self) -> u64 {
        self.flow.cwnd().max(self.least_window())
    }

    /// What [`window`](Self::window) is at least, bytes.
    #[must_use]
    #[inline]
    pub fn least_window(&self) -> u64 {
        2 * u64::from(self.mtu)
    }

    /// The rate at which packets are to leave, bit/s: the decided one, or that of the window
    /// ([`default_pacing`]); `None` before the first RTT sample.
    #[must_use]
    #[inline]
    pub fn pacing_rate(&self) -> Option<u64> {
        let smoothed = self.rtt.sampled();
        self.flow.with_decision(|decision| decision.pacing_rate.or_else(|| default_pacing(decision, smoothed?)))
    }

    /// Bytes that may leave at once ([`send_quantum`]); `None` where no rate is decided.
    #[must_use]
    pub fn send_quantum(&self) -> Option<u64> {
        self.flow.with_decision(|decision| decision.pacing_rate).map(|rate| send_quantum(rate, self.mtu))
    }

    /// `bytes` left, the last packet of them numbered `pn`. Whether they may be a bare ACK:
    /// some stacks report those too; see [`InFlight::sent`].
    #[inline]
    pub fn on_packet_sent(&mut self, now: Instant, bytes: u64, pn: u64, may_be_bare_ack: bool) {
        if self.wants_packet_sent || !self.in_flight.counts_only() {
            return self.on_packet_sent_slow(now, bytes, pn, may_be_bare_ack);
        }
        self.in_flight.add(bytes);
        self.clock.advance(now);
    }

    /// What [`on_packet_sent`](Self::on_packet_sent) does where there is more to it than bytes in flight.
    #[inline(never)]
    fn on_packet_sent_slow(&mut self, now: Instant, bytes: u64, pn: u64, may_be_bare_ack: bool) {
        let now = self.clock.advance(now);
        let mtu = if may_be_bare_ack { self.mtu } else { 0 };
        if let Some(silence) = self.in_flight.sent(now, bytes, mtu) {
            self.end_silence(now, silence);
        }
        if self.wants_packet_sent {
            let sent = PacketSent::new(bytes, self.in_flight.bytes()).with_pn(Some(pn));
            self.on_rare_event(now, EventKind::PacketSent(sent));
        }
    }

    #[cold]
    fn end_silence(&mut self, now: Time, silence: Silence) {
        if let Some(restart) = silence.end_of(&self.flow, now, self.rtt.smoothed(), self.mtu, self.rtt.pto()) {
            self.on_rare_event(now, EventKind::IdleRestart(restart));
        }
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
        if self.acked.is_empty() {
            let (smoothed, min) = estimates();
            self.rtt.note(smoothed, min);
        }
        if sent != self.sent.0 {
            self.sent = (sent, self.clock.time(sent));
        }
        self.acked.add(self.sent.1, bytes, self.flow.recovery_start());
        self.acked.app_limited(app_limited);
    }

    /// The frame's acknowledgements are complete; the stack counts `in_flight` bytes in
    /// flight, and `largest` is the largest packet number acknowledged so far. Whether the
    /// application had nothing to send when the frame came.
    #[inline]
    pub fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        let now = self.clock.advance(now);
        let newest = self.acked.newest_sent_at();
        self.in_flight.acknowledged(now, in_flight, newest.unwrap_or_default());
        self.in_flight_before = in_flight.saturating_add(self.acked.bytes());
        // Nothing that asked for an ACK, or a path that is not validated yet.
        let Some(newest) = newest else { return };
        let largest = largest.into();
        let rtt = self.rtt.sample(now, newest, largest);
        let reported = if rtt.is_some() { largest } else { Number::default() };
        let newest_pn = std::mem::take(&mut self.newest_pn);
        let pn = if newest_pn.is_known() { newest_pn } else { reported };
        self.largest = self.largest.max(pn);
        let mut frame = self.acked.finish(in_flight, rtt);
        frame.acked().newest_pn = pn.get();
        self.in_flight.fill_delivery_rate(now, frame.acked(), app_limited);
        frame.emit_acked(now, |event| self.on_event(event));
    }

    /// The frame brought CE marks. Its newest packet left at `sent` and was numbered `pn`,
    /// where the stack reports it; otherwise it is the largest acknowledged yet.
    pub fn on_ecn_ce(&mut self, now: Instant, sent: Instant, pn: Option<u64>) {
        let (now, newest_sent_at) = (self.clock.advance(now), self.clock.time(sent));
        let newest_pn = pn.or(self.largest.get());
        let mut frame = AckFrame::default();
        frame.add_ecn_ce(1);
        let in_flight = (self.in_flight_before, self.in_flight.bytes());
        frame.emit_congestion(now, (newest_sent_at, newest_pn), in_flight, |event| {
            self.on_rare_event(event.now, event.kind)
        });
    }

    /// Packets were declared lost, the newest of them sent at `sent`.
    pub fn on_packets_lost(&mut self, now: Instant, sent: Instant, loss: Loss) {
        let (now, newest_sent_at) = (self.clock.advance(now), self.clock.time(sent));
        self.newest_lost = self.newest_lost.max(newest_sent_at);
        let before = self.in_flight.bytes();
        self.in_flight.lost(now, loss.bytes);
        let worked_out = || u32::try_from(loss.bytes.div_ceil(u64::from(self.mtu.max(1)))).unwrap_or(u32::MAX);
        let mut frame = AckFrame::default();
        *frame.lost() = LostPackets {
            packets: loss.packets.unwrap_or_else(worked_out),
            bytes: loss.bytes,
            newest_sent_at,
            newest_pn: loss.newest_pn,
            persistent: loss.persistent,
        };
        let in_flight = (before, self.in_flight.bytes());
        frame.emit_congestion(now, (newest_sent_at, loss.newest_pn), in_flight, |event| {
            self.on_rare_event(event.now, event.kind)
        });
    }

    /// All packets of the latest losses were acknowledged after all. Stacks do not report
    /// when, so it is the latest time known.
    pub fn on_spurious_loss(&mut self) {
        let kind = EventKind::SpuriousLoss(SpuriousLoss::new(self.newest_lost));
        self.on_rare_event(self.clock.now(), kind);
    }

    /// The datagram size changed; bytes.
    pub fn on_mtu_update(&mut self, mtu: u16) {
        self.mtu = u32::from(mtu);
        self.on_rare_event(self.clock.now(), EventKind::MtuUpdated(self.mtu));
    }

    /// The peer holds ACKs for so long at most.
    pub fn set_max_ack_delay(&mut self, delay: Duration) {
        self.rtt.max_ack_delay(delay);
    }
}

/// A path that moved: the same state, the same membership in its group, no recorder.
impl<C: ConfiguredController> Clone for PathFlow<C> {
    fn clone(&self) -> Self {
        PathFlow { flow: self.flow.clone(), in_flight: self.in_flight.clone(), ..*self }
    }
}

#[cfg(test)]
mod tests;
