//! One path of a connection as a flow.

use std::time::{Duration, Instant};

use windlass_controllers::event::{Idle, LossTrigger, Lost, Marked, Sent, SpuriousLoss};
use windlass_controllers::{Engine, Event, Time, What};

use super::clock::Clock;
use super::rtt::Sampler;
use crate::{AckBatch, Flow, InFlight};

/// One path: a flow with the bookkeeping between its stack's calls and its events.
///
/// The stack's calls for one ACK frame come in this order: [`acked`](Self::acked) for each
/// packet, [`end_acks`](Self::end_acks), [`lost`](Self::lost), [`marked`](Self::marked).
#[derive(Debug)]
pub struct PathFlow<E: Engine> {
    flow: Flow<E>,
    clock: Clock,
    mtu: u32,
    batch: AckBatch<Instant>,
    /// When the latest recovery period started, as the flow and as the stack tells it.
    recovery: Option<(Time, Instant)>,
    in_flight: InFlight,
    /// Bytes in flight before the latest frame's packets were taken out.
    before: u64,
    rtt: Sampler,
    /// Largest packet number of the frame so far, where the stack tells.
    newest_pn: Option<u64>,
    largest: Option<u64>,
    newest_lost: Time,
    heeds_sent: bool,
}

/// A packet that was acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// When it left.
    pub sent: Instant,
    /// Its size, bytes.
    pub bytes: u64,
    /// Its number, where the stack tells.
    pub pn: Option<u64>,
}

/// Packets declared lost together, as a stack tells of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Loss {
    /// Bytes lost.
    pub bytes: u64,
    /// Packets lost; worked out from the datagram size where the stack does not tell.
    pub packets: Option<u32>,
    /// The largest packet number among them, where the stack tells.
    pub newest_pn: Option<u64>,
    /// They span the persistent-congestion period (`RFC 9002 §7.6`).
    pub persistent: bool,
}

impl<E: Engine> PathFlow<E> {
    /// `flow` on a path of datagrams of `mtu` bytes.
    #[must_use]
    pub fn new(flow: Flow<E>, clock: Clock, mtu: u16) -> Self {
        let mut path = PathFlow {
            heeds_sent: flow.heeds_sent(),
            in_flight: InFlight::new(flow.engine()),
            flow,
            clock,
            mtu: u32::from(mtu),
            batch: AckBatch::default(),
            recovery: None,
            before: 0,
            rtt: Sampler::default(),
            newest_pn: None,
            largest: None,
            newest_lost: Time::ZERO,
        };
        path.note_recovery();
        path
    }

    /// An event that comes rarely.
    #[inline(never)]
    fn tell(&mut self, now: Time, what: What) {
        self.step(&Event { now, what });
    }

    #[inline(always)]
    fn step(&mut self, event: &Event) {
        self.flow.on(event);
        if self.flow.recovery_start() != self.recovery.map(|(start, _)| start) {
            self.note_recovery();
        }
    }

    #[cold]
    fn note_recovery(&mut self) {
        self.recovery = self.flow.recovery_start().map(|start| (start, self.clock.instant(start)));
    }

    /// The flow: its algorithm, state and decision in force.
    #[must_use]
    pub fn flow(&self) -> &Flow<E> {
        &self.flow
    }

    /// The decided window, bytes; two datagrams at least (`RFC 9002 §7.2`). With one, a
    /// server of quinn's kin stops for good: part of its first flight is never
    /// acknowledged, the rest of the window holds no datagram, and no timer runs.
    #[must_use]
    #[inline]
    pub fn window(&self) -> u64 {
        self.flow.cwnd().max(self.least_window())
    }

    /// What [`window`](Self::window) is at least, bytes.
    #[must_use]
    #[inline]
    pub fn least_window(&self) -> u64 {
        2 * u64::from(self.mtu)
    }

    /// `bytes` left, the last packet of them numbered `pn`. Whether they may be a bare ACK:
    /// some stacks tell of those too; see [`InFlight::sent`].
    #[inline]
    pub fn sent(&mut self, now: Instant, bytes: u64, pn: u64, perhaps_bare_ack: bool) {
        let now = self.clock.advance(now);
        let mtu = if perhaps_bare_ack { self.mtu } else { 0 };
        if let Some(idle) = self.in_flight.sent(now, bytes, mtu) {
            self.tell(now, What::Idle(Idle { idle, pto: self.rtt.pto() }));
        }
        if self.heeds_sent {
            let sent = Sent { bytes, pn: Some(pn), in_flight: self.in_flight.bytes(), app_limited: false, place: None };
            self.step(&Event { now, what: What::Sent(sent) });
        }
    }

    /// A packet that left was acknowledged. `smoothed` and `min` are the stack's RTTs before
    /// the frame's own sample.
    #[inline]
    pub fn acked(&mut self, packet: Packet, app_limited: bool, smoothed: Duration, min: Duration) {
        let Packet { sent, bytes, pn } = packet;
        self.newest_pn = self.newest_pn.max(pn);
        if self.batch.is_empty() {
            self.rtt.note(smoothed, min);
        }
        self.batch.add(sent, bytes, self.recovery.map(|(_, start)| start));
        self.batch.app_limited(app_limited);
    }

    /// The frame's acknowledgements are complete; the stack counts `in_flight` bytes in
    /// flight, and `largest` is the largest packet number acknowledged so far. Whether the
    /// application had nothing to send when the frame came.
    #[inline]
    pub fn end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        let now = self.clock.advance(now);
        self.in_flight.acknowledged(now, in_flight);
        self.before = in_flight;
        // Nothing that asked for an ACK, or a path that is not validated yet.
        let Some(newest) = self.batch.newest_sent() else { return };
        let newest = self.clock.time(newest);
        let rtt = self.rtt.sample(now, newest, largest);
        let pn = self.newest_pn.take().or(if rtt.is_some() { largest } else { None });
        self.largest = self.largest.max(pn);
        self.batch.newest(pn, None);
        if let Some(departure) = self.in_flight.departure(now, newest, self.batch.bytes(), app_limited) {
            self.batch.departed(departure);
        }
        self.before = in_flight.saturating_add(self.batch.bytes());
        let event = Event { now, what: What::Acked(self.batch.finish(newest, in_flight, rtt)) };
        self.step(&event);
    }

    /// The frame brought CE marks. Its newest packet left at `sent` and was numbered `pn`,
    /// where the stack tells; otherwise it is the largest acknowledged yet.
    pub fn marked(&mut self, now: Instant, sent: Instant, pn: Option<u64>) {
        let (now, newest_sent_at) = (self.clock.advance(now), self.clock.time(sent));
        let newest_pn = pn.or(self.largest);
        let marked = Marked { packets: 1, newest_sent_at, newest_pn, in_flight: self.before };
        self.tell(now, What::Marked(marked));
    }

    /// Packets were declared lost, the newest of them sent at `sent`.
    pub fn lost(&mut self, now: Instant, sent: Instant, loss: Loss) {
        let (now, newest_sent_at) = (self.clock.advance(now), self.clock.time(sent));
        self.newest_lost = self.newest_lost.max(newest_sent_at);
        let before = self.in_flight.bytes();
        self.in_flight.lost(loss.bytes);
        let worked_out = || u32::try_from(loss.bytes.div_ceil(u64::from(self.mtu.max(1)))).unwrap_or(u32::MAX);
        let lost = Lost {
            bytes: loss.bytes,
            packets: loss.packets.unwrap_or_else(worked_out),
            newest_sent_at,
            newest_pn: loss.newest_pn,
            in_flight_before: before,
            in_flight: self.in_flight.bytes(),
            trigger: LossTrigger::Unknown,
            transmissions: 1,
        };
        let what = if loss.persistent { What::PersistentCongestion(lost) } else { What::Lost(lost) };
        self.tell(now, what);
    }

    /// All packets of the latest losses were acknowledged after all. Stacks do not tell
    /// when, so it is the latest time heard of.
    pub fn spurious(&mut self) {
        let what = What::SpuriousLoss(SpuriousLoss { newest_sent_at: self.newest_lost });
        self.tell(self.clock.now(), what);
    }

    /// The datagram size changed; bytes.
    pub fn mtu(&mut self, mtu: u16) {
        self.mtu = u32::from(mtu);
        self.tell(self.clock.now(), What::Mtu(self.mtu));
    }

    /// The peer holds ACKs for so long at most.
    pub fn max_ack_delay(&mut self, delay: Duration) {
        self.rtt.max_ack_delay(delay);
    }
}

/// A path that moved: the same state, the same seat in its group, no recorder.
impl<E: Engine> Clone for PathFlow<E> {
    fn clone(&self) -> Self {
        PathFlow { flow: self.flow.clone(), in_flight: self.in_flight.clone(), ..*self }
    }
}

#[cfg(test)]
mod tests;
