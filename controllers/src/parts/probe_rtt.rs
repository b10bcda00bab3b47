//! BBR's ProbeRTT: how long a flow stays small for the minimum RTT to be seen, and which packets left meanwhile.
//!
//! What small is, and what else entering and leaving do, is the version's (`draft-ietf-ccwg-bbr §5.3.4.3`;
//! `draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.5`).

use crate::{Span, Time};

/// ProbeRTT of one flow.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ProbeRtt {
    /// `probe_rtt_done_stamp`; `None` until little enough is in flight.
    done_stamp: Option<Time>,
    /// `probe_rtt_round_done`.
    round_done: bool,
    /// Packets that left between these counts of delivered bytes left while it held the flow back (`C.app_limited`); none if
    /// the second is 0.
    limited: (u64, u64),
}

/// What an ACK brings ProbeRTT to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// Too much is in flight, or the round trip goes on.
    Waits,
    /// Little enough is in flight: time and a round trip begin.
    Drained,
    /// The round trip is over: it ends once its time is.
    RoundDone,
}

impl ProbeRtt {
    /// It begins, with `delivered` bytes delivered so far.
    pub fn enter(&mut self, delivered: u64) {
        self.done_stamp = None;
        self.limited = (delivered, delivered);
    }

    /// Whether a packet that left after `prior_delivered` bytes left while ProbeRTT held the flow back.
    #[must_use]
    #[inline]
    pub fn limits(&self, prior_delivered: u64) -> bool {
        self.limited.1 > 0 && (self.limited.0..=self.limited.1).contains(&prior_delivered)
    }

    /// An ACK at `now` that leaves `in_flight` bytes in flight after `delivered` ones, where `cwnd` are little enough and
    /// `duration` is the time it lasts from there; `round_start` is whether the ACK starts a round trip.
    pub fn on_ack(
        &mut self,
        now: Time,
        (delivered, in_flight): (u64, f64),
        cwnd: f64,
        duration: Span,
        round_start: bool,
    ) -> Progress {
        self.limited.1 = delivered.saturating_add(in_flight as u64).max(1);
        if self.done_stamp.is_none() {
            if in_flight > cwnd {
                return Progress::Waits;
            }
            self.done_stamp = Some(now + duration);
            self.round_done = false;
            return Progress::Drained;
        }
        self.round_done |= round_start;
        if self.round_done { Progress::RoundDone } else { Progress::Waits }
    }

    /// Whether its time is over.
    #[must_use]
    pub fn is_over(&self, now: Time) -> bool {
        self.done_stamp.is_some_and(|done_at| now > done_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DURATION: Span = Span::from_millis(200);

    #[test]
    fn it_lasts_its_time_and_a_round_trip_from_where_little_is_in_flight() {
        let mut probe = ProbeRtt::default();
        probe.enter(10_000);
        let at = |ms: u64| Time::ZERO + Span::from_millis(ms);
        let mut ack = |ms, in_flight, round| probe.on_ack(at(ms), (20_000, in_flight), 4_800.0, DURATION, round);
        assert_eq!(ack(0, 4_801.0, true), Progress::Waits);
        assert_eq!(ack(10, 4_800.0, true), Progress::Drained);
        assert_eq!(ack(300, 4_800.0, false), Progress::Waits, "time alone is not enough");
        assert_eq!(ack(310, 4_800.0, true), Progress::RoundDone);
        assert_eq!(ack(320, 4_800.0, false), Progress::RoundDone);
        assert_eq!([210, 211].map(|ms| probe.is_over(at(ms))), [false, true]);
    }

    #[test]
    fn packets_are_limited_that_left_from_its_beginning_until_what_was_in_flight_at_its_latest_ack() {
        let mut probe = ProbeRtt::default();
        assert!(!probe.limits(0), "of a flow that never had one none");
        probe.enter(10_000);
        probe.on_ack(Time::ZERO, (12_000, 3_000.0), 4_800.0, DURATION, false);
        assert_eq!([9_999, 10_000, 15_000, 15_001].map(|prior| probe.limits(prior)), [false, true, true, false]);
    }
}
