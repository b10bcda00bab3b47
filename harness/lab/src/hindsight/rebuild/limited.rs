//! Whether a sender used its window.

/// A sender that had less than this part of its window in flight for a whole round trip
/// had too little to send.
const PART: u64 = 3;

/// As the stack tells, or else by what was in flight.
#[derive(Debug, Default)]
pub(super) struct Limited {
    told: Option<bool>,
    window: Option<u64>,
    /// Most bytes in flight in the previous round trip and in this one.
    peaks: (Option<u64>, u64),
    /// When this one ends, ns.
    round_ends: u64,
}

impl Limited {
    /// The stack says so.
    pub fn told(&mut self, limited: bool) {
        self.told = Some(limited);
    }

    /// The stack tells its window.
    pub fn window(&mut self, window: Option<u64>) {
        self.window = window.or(self.window);
    }

    /// A packet left at `now` and made it `in_flight` bytes in flight; a round trip takes
    /// `rtt` ns.
    pub fn sent(&mut self, now: u64, in_flight: u64, rtt: u64) {
        if now >= self.round_ends {
            let first = self.round_ends == 0;
            self.peaks = ((!first).then_some(self.peaks.1), 0);
            self.round_ends = now.saturating_add(rtt.max(1));
        }
        self.peaks.1 = self.peaks.1.max(in_flight);
    }

    /// Whether it had too little to send.
    pub fn is(&self) -> bool {
        self.told.unwrap_or_else(|| match (self.window, self.peaks) {
            (Some(window), (Some(before), now)) => before.max(now) < window / PART,
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
        limited.window(Some(30_000));
        limited.sent(1, 1200, 100);
        assert!(!limited.is(), "nothing is known yet");
        limited.sent(150, 2400, 100);
        assert!(limited.is());
        limited.sent(160, 10_000, 100);
        assert!(!limited.is());
        limited.sent(300, 1200, 100);
        assert!(!limited.is(), "it was used in the round trip before");
        limited.sent(450, 1200, 100);
        assert!(limited.is());
        limited.told(false);
        assert!(!limited.is(), "the stack knows better");
    }
}
