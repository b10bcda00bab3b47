//! Bytes in flight for stacks that tell them only now and then.

use windlass_controllers::{Engine, Span, Time};

use crate::{Departure, Departures};

/// Bytes in flight of one flow, between the exact figures a stack gives with its
/// acknowledgements: what was sent since is added, what was lost since is taken out.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct InFlight {
    bytes: u64,
    quiet_since: Option<Time>,
    departures: Option<Box<Departures>>,
}

impl InFlight {
    /// Nothing in flight. Departures are remembered only where `engine` needs what they
    /// tell ([`Departures::needed`]).
    #[must_use]
    pub fn new<E: Engine>(engine: &E) -> Self {
        let departures = Departures::needed(engine.needs()).then(Box::default);
        InFlight { departures, ..InFlight::default() }
    }

    /// Bytes in flight.
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// `bytes` left at `now` on a path of datagrams of `mtu` bytes. Returns how long
    /// nothing had been in flight, when that ends here.
    ///
    /// Stacks that do not tell a bare ACK from data call this for both. While nothing is
    /// in flight, a departure of less than half a datagram is taken for a bare ACK and
    /// does not end the quiet.
    #[inline]
    pub fn sent(&mut self, now: Time, bytes: u64, mtu: u32) -> Option<Span> {
        if self.quiet_since.is_some() && bytes < u64::from(mtu / 2) {
            return None;
        }
        let first = self.bytes == 0;
        self.bytes = self.bytes.saturating_add(bytes);
        if let Some(departures) = &mut self.departures {
            departures.sent(now, self.bytes, first);
        }
        self.quiet_since.take().map(|since| now.since(since))
    }

    /// At `now`, after acknowledgements, the stack counts `bytes` in flight.
    #[inline]
    pub fn acknowledged(&mut self, now: Time, bytes: u64) {
        self.bytes = bytes;
        self.quiet_since = if bytes > 0 { None } else { self.quiet_since.or(Some(now)) };
    }

    /// `bytes` in flight were declared lost.
    #[inline]
    pub fn lost(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes);
        if let Some(departures) = &mut self.departures {
            departures.lost(bytes);
        }
    }

    /// The departure of the newest packet of a frame, sent at `newest_sent_at`, if
    /// remembered; [`acknowledged`](Self::acknowledged) has told what the frame left in
    /// flight. `bytes` were acknowledged at `now`; whether the application had nothing to
    /// send although the window had room.
    #[inline]
    pub fn departure(&mut self, now: Time, newest_sent_at: Time, bytes: u64, app_limited: bool) -> Option<Departure> {
        self.departures.as_mut()?.acknowledged(now, newest_sent_at, bytes, self.bytes, app_limited)
    }
}

#[cfg(test)]
mod tests;
