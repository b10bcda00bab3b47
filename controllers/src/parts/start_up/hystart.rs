//! HyStart++ (`RFC 9406`): a rise of the round-trip time ends slow start.

use super::Params;
use crate::{Span, Time, choice};

choice! {
    /// Which samples of a round the smallest is taken of.
    pub enum Samples {
        /// Of all until now: `currentRoundMinRTT` (`RFC 9406 §4.2`). Where a sender paces at twice the window per RTT, these
        /// are the first of a flight, which meet no queue before that flight is twice what the path carries.
        Round = "round",
        /// Of each eight in a row, from the first: the rise is seen in the middle of the flight that queues.
        Eights = "eights",
    }
}

/// `MIN_RTT_THRESH` (`RFC 9406 §4.3`), µs.
const MIN_RTT_THRESH: u32 = 4_000;
/// `MAX_RTT_THRESH` (`RFC 9406 §4.3`), µs.
const MAX_RTT_THRESH: u32 = 16_000;
/// `MIN_RTT_DIVISOR` (`RFC 9406 §4.3`).
const MIN_RTT_DIVISOR: u32 = 8;
/// `N_RTT_SAMPLE` (`RFC 9406 §4.3`).
const N_RTT_SAMPLE: u8 = 8;

/// HyStart++ (`RFC 9406 §4.2`): each round compares its smallest RTT with that of the round
/// before, and slow start ends where it rose.
///
/// Rounds are kept by send time: the first ACK of a packet sent at or after the start of a
/// round ends it. RTTs are whole microseconds; `u32::MAX` is infinity.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HyStart {
    /// Time the round started.
    round_start: Time,
    /// `lastRoundMinRTT`.
    last_round_min_rtt: u32,
    /// `currentRoundMinRTT`.
    current_round_min_rtt: u32,
    /// `rttSampleCount`, of the eight under way where these count.
    rtt_sample_count: u8,
    /// The smallest RTT of the eight under way, and of the slowest eight of the round; 0 before there was one.
    eight_min_rtt: u32,
    slowest_rtt: u32,
    /// Rounds of conservative slow start begun, the one in which it was entered included;
    /// `None` outside it.
    css_rounds: Option<u8>,
    /// `cssBaselineMinRtt`.
    css_baseline_min_rtt: u32,
}

impl Default for HyStart {
    fn default() -> Self {
        let infinity = u32::MAX;
        HyStart {
            round_start: Time::ZERO,
            last_round_min_rtt: infinity,
            current_round_min_rtt: infinity,
            rtt_sample_count: 0,
            eight_min_rtt: infinity,
            slowest_rtt: 0,
            css_rounds: None,
            css_baseline_min_rtt: infinity,
        }
    }
}

impl HyStart {
    /// Whether it is in conservative slow start.
    #[must_use]
    pub fn is_conservative(&self) -> bool {
        self.css_rounds.is_some()
    }

    /// A round starts at `now`; whether it is one more than `most` in conservative slow start.
    fn next_round(&mut self, now: Time, most: u32) -> bool {
        if (1..self.css_baseline_min_rtt).contains(&self.slowest_rtt) {
            self.css_rounds = None;
        }
        self.round_start = now;
        self.last_round_min_rtt = self.current_round_min_rtt;
        self.current_round_min_rtt = u32::MAX;
        self.rtt_sample_count = 0;
        (self.eight_min_rtt, self.slowest_rtt) = (u32::MAX, 0);
        self.css_rounds = self.css_rounds.map(|rounds| rounds.saturating_add(1));
        self.css_rounds.is_some_and(|rounds| u32::from(rounds) > most)
    }

    /// `added` packets in slow start: at most `l` of them, divided by `css_growth_divisor` in conservative slow start
    /// (`RFC 9406 §4.2`).
    #[must_use]
    #[inline]
    pub fn on_ack(&self, l: f64, css_growth_divisor: f64, added: f64) -> f64 {
        let added = added.min(l);
        if self.is_conservative() { added / css_growth_divisor } else { added }
    }

    /// An ACK frame of packets the newest of which was sent at `newest_sent_at`, with its RTT sample, after the
    /// window has grown by it. Returns whether slow start is over (`RFC 9406 §4.2`), after `css_rounds`, `CSS_ROUNDS`, of
    /// conservative slow start.
    pub fn on_rtt_sample(&mut self, params: &Params, now: Time, newest_sent_at: Time, rtt: Option<Span>) -> bool {
        if newest_sent_at >= self.round_start && self.next_round(now, params.css_rounds) {
            return true;
        }
        let Some(rtt) = rtt else { return false };
        let rtt = u32::try_from(rtt.0 / 1000).unwrap_or(u32::MAX);
        self.current_round_min_rtt = self.current_round_min_rtt.min(rtt);
        self.eight_min_rtt = self.eight_min_rtt.min(rtt);
        self.rtt_sample_count = self.rtt_sample_count.saturating_add(1);
        if self.rtt_sample_count < N_RTT_SAMPLE {
            return false;
        }
        let min_rtt = match params.hystart_samples {
            Samples::Round => self.current_round_min_rtt,
            Samples::Eights => {
                self.rtt_sample_count = 0;
                let eight = core::mem::replace(&mut self.eight_min_rtt, u32::MAX);
                self.slowest_rtt = self.slowest_rtt.max(eight);
                eight
            }
        };
        if self.is_conservative() {
            // Of a round of eights the slowest tells, once it is over.
            if params.hystart_samples == Samples::Round && min_rtt < self.css_baseline_min_rtt {
                self.css_rounds = None;
            }
        } else if self.last_round_min_rtt != u32::MAX {
            let thresh = (self.last_round_min_rtt / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
            if min_rtt >= self.last_round_min_rtt.saturating_add(thresh) {
                self.css_baseline_min_rtt = min_rtt;
                self.css_rounds = Some(1);
                return params.css_rounds == 0;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    //! `RFC 9406 §4.2, §4.3`.

    use super::*;

    const MS: u64 = 1_000_000;

    /// A flow of rounds, each 100 ms after the one before.
    #[derive(Default)]
    struct Rounds {
        hystart: HyStart,
        now: u64,
        params: Params,
    }

    impl Rounds {
        /// A round of `samples` ACKs that all measure `rtt_us`; whether slow start ended.
        fn round(&mut self, samples: u32, rtt_us: u64) -> bool {
            self.samples((0..samples).map(|_| rtt_us))
        }

        /// A round of these samples, µs.
        fn samples(&mut self, rtts: impl Iterator<Item = u64>) -> bool {
            let sent_at = Time(self.now);
            let mut over = false;
            for (i, rtt) in rtts.enumerate() {
                let now = Time(self.now + 100 * MS + i as u64);
                over |= self.hystart.on_rtt_sample(&self.params, now, sent_at, Some(Span::from_micros(rtt)));
            }
            self.now += 100 * MS;
            over
        }

        fn after(rounds: &[(u32, u64)]) -> Rounds {
            let mut flow = Rounds::default();
            for &(samples, rtt_us) in rounds {
                assert!(!flow.round(samples, rtt_us));
            }
            flow
        }

        fn conservative(&self) -> bool {
            self.hystart.is_conservative()
        }
    }

    #[test]
    fn the_rise_that_counts_is_an_eighth_within_4_and_16_ms() {
        for (base, rise) in [(10_000, 4_000), (32_000, 4_000), (80_000, 10_000), (128_000, 16_000), (400_000, 16_000)] {
            assert!(!Rounds::after(&[(8, base), (8, base + rise - 1)]).conservative(), "{base}");
            assert!(Rounds::after(&[(8, base), (8, base + rise)]).conservative(), "{base}");
        }
    }

    #[test]
    fn eight_samples_are_needed() {
        assert!(!Rounds::after(&[(8, 50_000), (7, 90_000)]).conservative());
        assert!(
            Rounds::after(&[(1, 50_000), (8, 90_000)]).conservative(),
            "of the round that rose, not of the one before"
        );
        assert!(!Rounds::after(&[(8, 90_000)]).conservative(), "there is no round before the first");
    }

    #[test]
    fn the_smallest_of_a_round_is_compared() {
        let mut flow = Rounds::after(&[(8, 50_000)]);
        flow.samples((0..20).map(|i| if i == 3 { 50_000 } else { 90_000 }));
        assert!(!flow.conservative());
    }

    fn by_eights() -> Params {
        Params { hystart_samples: Samples::Eights, ..Params::default() }
    }

    /// The head of the flight meets no queue, its middle does: the second eight is the one that rose.
    #[test]
    fn a_rise_in_the_middle_of_a_flight_is_seen_by_eights() {
        let flight = |head: u64| (0..16).map(move |i| if i < head { 50_000 } else { 90_000 });
        for (params, head, seen) in [(by_eights(), 8, true), (by_eights(), 9, false), (Params::default(), 8, false)] {
            let mut flow = Rounds { params, ..Rounds::default() };
            flow.round(8, 50_000);
            flow.samples(flight(head));
            assert_eq!(flow.conservative(), seen, "{params:?}, {head}");
        }
    }

    /// Heads without a queue do not resume slow start, nor does a round of fewer than eight samples; a whole round below does.
    #[test]
    fn the_slowest_eight_of_a_round_resumes_slow_start() {
        let mut flow = Rounds { params: by_eights(), ..Rounds::default() };
        let flight = |tail: u64| (0..16).map(move |i| if i < 8 { 50_000 } else { tail });
        flow.round(8, 50_000);
        flow.samples(flight(90_000));
        flow.samples(flight(90_000));
        flow.round(7, 50_000);
        flow.round(8, 90_000);
        assert!(flow.conservative());
        flow.samples(flight(89_999));
        assert!(flow.conservative(), "it is not over");
        flow.round(1, 50_000);
        assert!(!flow.conservative());
    }

    #[test]
    fn conservative_slow_start_grows_by_a_quarter() {
        let flow = Rounds::after(&[(8, 50_000), (8, 90_000)]);
        assert_eq!(flow.hystart.on_ack(f64::INFINITY, 4.0, 2.0), 0.5);
        assert_eq!(flow.hystart.on_ack(8.0, 4.0, 20.0), 2.0, "L");
        assert_eq!(flow.hystart.on_ack(8.0, f64::INFINITY, 20.0), 0.0, "it stands still");
        assert_eq!(HyStart::default().on_ack(f64::INFINITY, 4.0, 20.0), 20.0);
        assert_eq!(HyStart::default().on_ack(8.0, 4.0, 20.0), 8.0);
    }

    /// The partial round in which it was entered counts towards the five.
    #[test]
    fn slow_start_ends_after_five_rounds_of_it() {
        let mut flow = Rounds::after(&[(8, 50_000), (8, 90_000), (8, 90_000), (8, 90_000), (8, 90_000), (8, 90_000)]);
        assert!(flow.conservative());
        assert!(flow.round(8, 90_000));
    }

    /// Without any of them it ends at the rise, as hybrid slow start does.
    #[test]
    fn as_many_rounds_of_it_as_are_set() {
        for css_rounds in 0..4 {
            let params = Params { css_rounds, ..Params::default() };
            let mut flow = Rounds { params, ..Rounds::default() };
            assert!(!flow.round(8, 50_000));
            let conservative = (0..css_rounds).take_while(|_| !flow.round(8, 90_000)).count();
            assert_eq!(conservative, css_rounds as usize);
            assert!(flow.round(8, 90_000), "{css_rounds}");
        }
    }

    #[test]
    fn a_fall_below_the_baseline_resumes_slow_start() {
        let mut flow = Rounds::after(&[(8, 50_000), (8, 90_000), (8, 90_000), (8, 89_999)]);
        assert!(!flow.conservative());
        // And watches on.
        assert!(!flow.round(8, 200_000));
        assert!(flow.conservative());
    }

    #[test]
    fn acks_without_a_sample_count_rounds_only() {
        let mut flow = Rounds::after(&[(8, 50_000)]);
        for round in 0..9u64 {
            let (now, sent_at) = (Time((2 + round) * 100 * MS), Time((1 + round) * 100 * MS));
            assert!(!flow.hystart.on_rtt_sample(&flow.params, now, sent_at, None));
        }
        assert!(!flow.conservative());
        assert_eq!(flow.hystart.last_round_min_rtt, u32::MAX, "a round without samples has no minimum");
    }
}
