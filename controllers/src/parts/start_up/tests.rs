//! `RFC 9406 §4.2, §4.3`.

use super::*;
use crate::testkit::window;

const MS: u64 = 1_000_000;

/// A flow of rounds, each 100 ms after the one before.
#[derive(Default)]
struct Rounds {
    hystart: HyStart,
    now: u64,
}

impl Rounds {
    /// A round of `samples` ACKs that all measure `rtt_us`; whether slow start ended.
    fn round(&mut self, samples: u32, rtt_us: u64) -> bool {
        let sent_at = Time(self.now);
        let mut over = false;
        for i in 0..samples {
            let now = Time(self.now + 100 * MS + u64::from(i));
            over |= self.hystart.on_rtt_sample(now, sent_at, Some(Span::from_micros(rtt_us)));
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
    assert!(Rounds::after(&[(1, 50_000), (8, 90_000)]).conservative(), "of the round that rose, not of the one before");
    assert!(!Rounds::after(&[(8, 90_000)]).conservative(), "there is no round before the first");
}

#[test]
fn the_smallest_of_a_round_is_compared() {
    let mut flow = Rounds::after(&[(8, 50_000)]);
    let sent_at = Time(flow.now);
    for i in 0..20u64 {
        let rtt = if i == 3 { 50_000 } else { 90_000 };
        flow.hystart.on_rtt_sample(Time(flow.now + 100 * MS + i), sent_at, Some(Span::from_micros(rtt)));
    }
    assert!(!flow.conservative());
}

#[test]
fn conservative_slow_start_grows_by_a_quarter() {
    let flow = Rounds::after(&[(8, 50_000), (8, 90_000)]);
    let grown = |hystart: &HyStart, l: f64, added: f64| {
        let base = Base { hystart_l: l, ..Base::default() };
        hystart.on_ack(&base, &window(10.0), added, added)
    };
    assert_eq!(grown(&flow.hystart, f64::INFINITY, 2.0), 0.5);
    assert_eq!(grown(&flow.hystart, 8.0, 20.0), 2.0, "L");
    assert_eq!(grown(&HyStart::default(), f64::INFINITY, 20.0), 20.0);
    assert_eq!(grown(&HyStart::default(), 8.0, 20.0), 8.0);
}

/// The partial round in which it was entered counts towards the five.
#[test]
fn slow_start_ends_after_five_rounds_of_it() {
    let mut flow = Rounds::after(&[(8, 50_000), (8, 90_000), (8, 90_000), (8, 90_000), (8, 90_000), (8, 90_000)]);
    assert!(flow.conservative());
    assert!(flow.round(8, 90_000));
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
        assert!(!flow.hystart.on_rtt_sample(Time((2 + round) * 100 * MS), Time((1 + round) * 100 * MS), None));
    }
    assert!(!flow.conservative());
    assert_eq!(flow.hystart.last_round_min_rtt, u32::MAX, "a round without samples has no minimum");
}
