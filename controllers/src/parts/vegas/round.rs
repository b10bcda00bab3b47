//! One round trip after another (`spec: chan §1.4`).

use crate::Time;

/// Tells rounds apart and keeps what is seen during one.
///
/// Rounds are kept by send time, which every stack knows, not by packet number: "the
/// first packet sent from now on ends the next round" (`T2`) is read as "the first ACK
/// of a packet sent at or after the start of the round ends it". The first ACK of a
/// flow ends its round 0 (`T1`).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Round {
    start: Option<Time>,
    in_flight: u64,
    used: bool,
}

impl Round {
    /// Whether the ACK of a packet sent at `newest_sent_at` ends the round.
    #[must_use]
    #[inline]
    pub fn ends(&self, newest_sent_at: Time) -> bool {
        self.start.is_none_or(|start| newest_sent_at >= start)
    }

    /// Whether nothing has been acknowledged yet: round 0.
    #[must_use]
    #[inline]
    pub fn is_first(&self) -> bool {
        self.start.is_none()
    }

    /// A new round starts at `now`.
    pub fn begin(&mut self, now: Time) {
        *self = Round { start: Some(now), ..Round::default() };
    }

    /// A new round starts at `now`, unless the flow is still in round 0.
    pub fn restart(&mut self, now: Time) {
        *self = Round { start: self.start.map(|_| now), ..Round::default() };
    }

    /// Records `bytes` in flight, of which the round keeps the most.
    #[inline]
    pub fn saw(&mut self, bytes: u64) {
        self.in_flight = self.in_flight.max(bytes);
    }

    /// The most bytes in flight during the round; `None` before an ACK in it reported any.
    #[must_use]
    pub fn most_in_flight(&self) -> Option<u64> {
        (self.in_flight > 0).then_some(self.in_flight)
    }

    /// Records that an ACK found the window filled.
    #[inline]
    pub fn filled(&mut self) {
        self.used = true;
    }

    /// Whether any ACK of the round found the window filled.
    #[must_use]
    pub fn was_filled(&self) -> bool {
        self.used
    }
}

/// The mean of a round's samples, nanoseconds. Sums are whole numbers, so what cancels
/// between two samples cancels exactly.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mean {
    sum: i64,
    count: u32,
}

impl Mean {
    /// Adds a sample to the mean, nanoseconds.
    #[inline]
    pub fn add(&mut self, ns: i64) {
        self.sum = self.sum.saturating_add(ns);
        self.count = self.count.saturating_add(1);
    }

    /// The mean; `None` without samples.
    #[must_use]
    pub fn get(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / f64::from(self.count))
    }
}

#[cfg(test)]
mod tests {
    //! `spec: chan §1.4`.

    use super::*;

    #[test]
    fn the_first_ack_ends_round_0_and_the_first_packet_sent_since_ends_the_next() {
        let mut round = Round::default();
        assert!(round.is_first() && round.ends(Time(0)));
        round.begin(Time(100));
        assert!(!round.is_first());
        assert!(!round.ends(Time(99)));
        assert!(round.ends(Time(100)), "sent at the very start");
    }

    #[test]
    fn a_new_round_has_seen_nothing() {
        let mut round = Round::default();
        assert_eq!(round.most_in_flight(), None);
        round.saw(7);
        round.saw(5);
        round.filled();
        assert_eq!((round.most_in_flight(), round.was_filled()), (Some(7), true));
        round.begin(Time(1));
        assert_eq!((round.most_in_flight(), round.was_filled()), (None, false));
    }

    #[test]
    fn a_restart_leaves_round_0_what_it_is() {
        let mut round = Round::default();
        round.restart(Time(5));
        assert!(round.is_first());
        round.begin(Time(6));
        round.restart(Time(9));
        assert!(!round.ends(Time(8)) && round.ends(Time(9)));
    }

    #[test]
    fn a_mean_of_whole_numbers() {
        let mut mean = Mean::default();
        assert_eq!(mean.get(), None);
        mean.add(-3);
        mean.add(8);
        assert_eq!(mean.get(), Some(2.5));
        mean.add(i64::MAX);
        mean.add(i64::MAX);
        assert_eq!(mean.get(), Some(i64::MAX as f64 / 4.0), "saturates");
    }
}
