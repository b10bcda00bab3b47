//! Bytes in flight for stacks that tell them only now and then.

use std::collections::VecDeque;

use windlass_controllers::{Span, Time};

/// Departures remembered at most; a path holds fewer distinct ones in flight.
const HISTORY: usize = 1 << 16;

/// Bytes in flight of one flow, between the exact figures a stack gives with its
/// acknowledgements: what was sent since is added, what was lost since is taken out.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct InFlight {
    bytes: u64,
    quiet_since: Option<Time>,
    departures: Option<VecDeque<(Time, u64)>>,
}

impl InFlight {
    /// Nothing in flight. Whether to `remember` what was in flight at each departure,
    /// which only controllers with
    /// [`WINDOW_AT_SEND`](windlass_controllers::Signals::WINDOW_AT_SEND) ask for.
    #[must_use]
    pub fn new(remember: bool) -> Self {
        InFlight { departures: remember.then(VecDeque::new), ..InFlight::default() }
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
        self.bytes = self.bytes.saturating_add(bytes);
        if let Some(departures) = &mut self.departures {
            match departures.back_mut() {
                Some((at, in_flight)) if *at == now => *in_flight = self.bytes,
                _ => {
                    if departures.len() >= HISTORY {
                        departures.pop_front();
                    }
                    departures.push_back((now, self.bytes));
                }
            }
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
    }

    /// Bytes in flight just after the departure at `sent_at`, if remembered. Forgets
    /// earlier departures.
    #[inline]
    pub fn at_departure(&mut self, sent_at: Time) -> Option<u64> {
        let departures = self.departures.as_mut()?;
        while departures.front().is_some_and(|(at, _)| *at < sent_at) {
            departures.pop_front();
        }
        departures.front().filter(|(at, _)| *at == sent_at).map(|(_, in_flight)| *in_flight)
    }
}

#[cfg(test)]
mod tests;
