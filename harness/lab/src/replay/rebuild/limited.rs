//! Whether a sender is application-limited.

/// A sender with less than this part of its window in flight for a whole round trip is
/// application-limited: the window divided by three.
const UNUSED_BELOW: u64 = 3;

/// Application-limited as the stack logs it, or else by the bytes in flight.
#[derive(Debug, Default)]
pub(super) struct Limited {
    logged: Option<bool>,
    window: Option<u64>,
    /// Most bytes in flight in the previous round trip and in this one.
    peaks: (Option<u64>, u64),
    /// End of the round trip under way, ns.
    round_ends: u64,
}

impl Limited {
    /// The stack logged whether it is application-limited.
    pub fn on_app_limited(&mut self, limited: bool) {
        self.logged = Some(limited);
    }

    /// The stack logged its window, bytes; `None` leaves the one before.
    pub fn on_window(&mut self, window: Option<u64>) {
        self.window = window.or(self.window);
    }

    /// A packet sent at `now`, ns, brought the flight to `in_flight` bytes; a round trip takes
    /// `rtt` ns.
    pub fn on_packet_sent(&mut self, now: u64, in_flight: u64, rtt: u64) {
        if now >= self.round_ends {
            let first = self.round_ends == 0;
            self.peaks = ((!first).then_some(self.peaks.1), 0);
            self.round_ends = now.saturating_add(rtt.max(1));
        }
        self.peaks.1 = self.peaks.1.max(in_flight);
    }

    /// Whether the sender has too little to send.
    pub fn is_limited(&self) -> bool {
        self.logged.unwrap_or_else(|| match (self.window, self.peaks) {
            (Some(window), (Some(before), now)) => before.max(now) < window / UNUSED_BELOW,
            _ => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_used_by_less_than_a_third_for_a_round_trip_is_not_used() {
        let mut limited = Limited::default();
        limited.on_window(Some(30_000));
        limited.on_packet_sent(1, 1200, 100);
        assert!(!limited.is_limited(), "nothing is known yet");
        limited.on_packet_sent(150, 2400, 100);
        assert!(limited.is_limited());
        limited.on_packet_sent(160, 10_000, 100);
        assert!(!limited.is_limited());
        limited.on_packet_sent(300, 1200, 100);
        assert!(!limited.is_limited(), "it was used in the round trip before");
        limited.on_packet_sent(450, 1200, 100);
        assert!(limited.is_limited());
        limited.on_app_limited(false);
        assert!(!limited.is_limited(), "the stack knows better");
    }
}
