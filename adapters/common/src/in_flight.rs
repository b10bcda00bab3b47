//! Bytes in flight for stacks that report them only now and then, and idle senders: nothing in flight and nothing to
//! send, for longer than a probe timeout.

use windlass_controllers::event::{IdleRestart, PacketsAcked};
use windlass_controllers::{ConfiguredController, Span, Time};

use crate::{DeliveryRateState, Flow, longest_pacing_delay};

/// Bytes in flight of one flow, between the exact figures a stack gives with its
/// acknowledgements: what was sent since is added, what was lost since is taken out.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct InFlight {
    bytes: u64,
    silence: Option<Silence>,
    delivery_rate: Option<Box<DeliveryRateState>>,
}

impl InFlight {
    /// Nothing in flight. Snapshots are kept only where `controller` needs them
    /// ([`DeliveryRateState::needed`]).
    #[must_use]
    pub fn new<C: ConfiguredController>(controller: &C) -> Self {
        let delivery_rate = DeliveryRateState::needed(controller.needs()).then(Box::default);
        InFlight { delivery_rate, ..InFlight::default() }
    }

    /// Bytes in flight (`bytes_in_flight`, `RFC 9002 §B.2`).
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// `bytes` left at `now` on a path of datagrams of `mtu` bytes. Returns since when
    /// nothing had been in flight, when that ends here.
    ///
    /// Stacks that do not distinguish a bare ACK from data call this for both. While nothing is
    /// in flight, a packet of less than half a datagram is taken for a bare ACK and
    /// does not end the silence; while something is, no snapshot is kept of it
    /// (`draft-ietf-ccwg-bbr §2.2`: `C.inflight` holds no bare ACK), since a peer that acknowledges
    /// nothing could have any number of them sent.
    #[inline]
    pub fn sent(&mut self, now: Time, bytes: u64, mtu: u32) -> Option<Silence> {
        let may_be_bare_ack = bytes < u64::from(mtu / 2);
        if self.silence.is_some() && may_be_bare_ack {
            return None;
        }
        let first = self.bytes == 0;
        self.bytes = self.bytes.saturating_add(bytes);
        if let Some(delivery_rate) = self.delivery_rate.as_mut().filter(|_| first || !may_be_bare_ack) {
            delivery_rate.sent(now, self.bytes, first);
        }
        self.silence.take()
    }

    /// Whether sending a packet changes no more than a count: something is in flight, or nothing
    /// ever was, and no snapshots are kept.
    #[must_use]
    #[inline]
    pub fn counts_only(&self) -> bool {
        self.silence.is_none() && self.delivery_rate.is_none()
    }

    /// `bytes` left, where it [`counts_only`](Self::counts_only); [`sent`](Self::sent) for
    /// less.
    #[inline]
    pub fn add(&mut self, bytes: u64) {
        debug_assert!(self.counts_only());
        // What is in flight comes near no type's end.
        self.bytes = self.bytes.wrapping_add(bytes);
    }

    /// Whether a snapshot is kept of each packet sent.
    #[must_use]
    #[inline]
    pub fn keeps_snapshots(&self) -> bool {
        self.delivery_rate.is_some()
    }

    /// At `now`, after acknowledgements of packets of which the newest was sent at `newest_sent_at` (zero if
    /// there were none), the stack counts `bytes` in flight.
    #[inline]
    pub fn acknowledged(&mut self, now: Time, bytes: u64, newest_sent_at: Time) {
        self.bytes = bytes;
        if bytes > 0 {
            self.silence = None;
        } else {
            self.silence.get_or_insert(Silence { since: now, newest_sent_at });
        }
    }

    /// `bytes` in flight were declared lost at `now`.
    #[inline]
    pub fn lost(&mut self, now: Time, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes);
        if let Some(delivery_rate) = &mut self.delivery_rate {
            delivery_rate.lost(now, bytes);
        }
    }

    /// The application has nothing to send although the window has room.
    pub fn limited(&mut self) {
        if let Some(delivery_rate) = &mut self.delivery_rate {
            delivery_rate.limited(self.bytes);
        }
    }

    /// Fills in what was in flight and delivered when the newest packet of `acked`, a frame read at
    /// `now`, was sent, where snapshots are kept. Call [`acknowledged`](Self::acknowledged) first. `app_limited`: the
    /// application had nothing to send although the window had room.
    #[inline]
    pub fn fill_delivery_rate(&mut self, now: Time, acked: &mut PacketsAcked, app_limited: bool) {
        if let Some(delivery_rate) = &mut self.delivery_rate {
            Self::snapshot_of_newest(delivery_rate, now, acked, self.bytes, app_limited);
        }
    }

    /// Out of the way of controllers that need none of it.
    #[inline(never)]
    fn snapshot_of_newest(
        delivery_rate: &mut DeliveryRateState,
        now: Time,
        acked: &mut PacketsAcked,
        in_flight: u64,
        app_limited: bool,
    ) {
        let newest = delivery_rate.acknowledged(now, acked.newest_sent_at, acked.delivered, in_flight, app_limited);
        if let Some(snapshot) = newest {
            snapshot.apply_to(acked);
        }
    }
}

/// A time with nothing in flight.
///
/// It alone does not make a sender idle: an acknowledgement of the whole flight empties it, and a
/// pacer whose gap is longer than a round trip empties it after every packet. With nothing in flight
/// the window has room, so that a sender with data waits for its pacer and for nothing else. Where a
/// stack does not report whether there is something to send, a sender that lets the time pass at
/// which its pacer would have let go had nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Silence {
    /// Since when nothing is in flight, and as far as the sender knows nothing is there to send.
    pub since: Time,
    /// When the newest packet before it was sent; zero if that is not known.
    pub newest_sent_at: Time,
}

impl Silence {
    /// The restart for the controller as the silence ends at `now`, if the sender had nothing to send for longer
    /// than its probe timeout `pto`. Its pacer might have blocked a packet until `held_until`.
    #[must_use]
    pub fn end(self, now: Time, held_until: Time, pto: Span) -> Option<IdleRestart> {
        let restart = IdleRestart::new(now.since(self.since.max(held_until)), pto);
        restart.is_long().then_some(restart)
    }

    /// As [`end`](Self::end), for a stack that does not report whether there is something to send. `flow` is on a
    /// path of datagrams of `mtu` bytes whose smoothed RTT is `smoothed`, zero if that is not known.
    #[must_use]
    pub fn end_of<C: ConfiguredController>(
        self,
        flow: &Flow<C>,
        now: Time,
        smoothed: Span,
        mtu: u32,
        pto: Span,
    ) -> Option<IdleRestart> {
        let delay = flow.with_decision(|decision| longest_pacing_delay(decision, smoothed, mtu));
        self.end(now, self.newest_sent_at + delay, pto)
    }
}

#[cfg(test)]
mod tests;
