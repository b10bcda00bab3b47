//! `spec: arumaithurai §5.2` 2a–2c.

use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::testkit::cases;

const SECOND: u64 = 1_000_000_000;

fn fed(rollover: Rollover, minutes: u32, samples: &[(u64, i64)]) -> QueueingDelay {
    let mut delay = QueueingDelay::default();
    for &(at, ns) in samples {
        delay.sample(rollover, minutes, Time(at), ns);
    }
    delay
}

#[test]
fn the_current_delay_is_the_least_of_the_latest_samples() {
    let delay = fed(Rollover::Clock, 10, &[(0, 10), (1, 50), (2, 40), (3, 60), (4, 70)]);
    assert_eq!((delay.get(1), delay.get(2), delay.get(4)), (Some(60), Some(50), Some(30)));
    assert_eq!(QueueingDelay::default().get(4), None);
}

#[test]
fn a_pause_forgets_the_current_delay_only() {
    let mut delay = fed(Rollover::Clock, 10, &[(0, -10), (1, 50)]);
    delay.pause();
    assert_eq!((delay.get(4), delay.base()), (None, Some(-10)));
}

/// `RFC 6817 §2.4.2`.
#[test]
fn samples_older_than_a_round_trip_are_forgotten() {
    let mut delay = fed(Rollover::Clock, 10, &[(0, 10), (1, 50), (2, 40), (3, 60), (4, 70)]);
    let mut current = |since: u64| {
        delay.forget_before(8, Time(since));
        delay.get(8).map(|queued| queued + 10)
    };
    assert_eq!([0, 1, 2, 3, 4, 5].map(&mut current), [Some(10), Some(40), Some(40), Some(60), Some(70), None]);
    assert_eq!(delay.base(), Some(10), "the base stays");
    for at in 5..30 {
        delay.sample(Rollover::Clock, 10, Time(at), 100 - at as i64);
    }
    delay.forget_before(8, Time(27));
    assert_eq!(delay.get(8), Some(71 - 10));
    assert_eq!(delay.get(2), Some(71 - 10));
    delay.forget_before(8, Time(30));
    delay.sample(Rollover::Clock, 10, Time(30), 99);
    assert_eq!(delay.get(8), Some(99 - 10), "what was forgotten does not come back");
}

#[test]
fn a_base_is_forgotten_after_as_many_minutes() {
    let after = |minutes: u64, remembered: u32| {
        let samples: Vec<_> = (0..=minutes).map(|i| (i * 60 * SECOND, if i == 0 { 5 } else { 100 })).collect();
        fed(Rollover::Clock, remembered, &samples).base()
    };
    assert_eq!(after(9, 10), Some(5));
    assert_eq!(after(10, 10), Some(100));
    assert_eq!(after(2, 3), Some(5));
    assert_eq!(after(3, 3), Some(100));
    // A long silence drops one minute, not all.
    assert_eq!(fed(Rollover::Clock, 10, &[(0, 5), (6000 * SECOND, 100)]).base(), Some(5));
}

#[test]
fn minutes_are_the_clocks_or_counted() {
    // 59 s and 61 s are two minutes of the clock but not a minute apart.
    let samples = [(59 * SECOND, 5), (61 * SECOND, 9)];
    assert_eq!(fed(Rollover::Clock, 1, &samples).base(), Some(9));
    assert_eq!(fed(Rollover::Elapsed, 1, &samples).base(), Some(5));
    assert_eq!(fed(Rollover::Elapsed, 1, &[(0, 5), (60 * SECOND, 9)]).base(), Some(5), "not more than a minute");
    assert_eq!(fed(Rollover::Elapsed, 1, &[(0, 5), (60 * SECOND + 1, 9)]).base(), Some(9));
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn it_is_no_less_than_nothing_and_no_more_than_the_latest_sample_over_the_least(
        samples in prop::collection::vec((0..200 * SECOND, -1000i64..1000), 1..60),
        few in 1u32..9,
        minutes in 1u32..20,
    ) {
        let mut now = 0;
        let mut delay = QueueingDelay::default();
        let mut least = i64::MAX;
        for (after, ns) in samples {
            now += after;
            delay.sample(Rollover::Clock, minutes, Time(now), ns);
            least = least.min(ns);
            let queued = delay.get(few).unwrap();
            prop_assert!(queued >= 0 && queued <= ns - least, "{queued}");
        }
    }
}

#[test]
fn a_base_alone_is_the_least_of_so_many_minutes() {
    let mut base = BaseDelayMinutes::default();
    let mut at = |minute: u64, ns| base.sample(3, Time(minute * MINUTE), ns);
    assert_eq!([at(0, 7), at(0, 5), at(1, 9), at(2, 8)], [7, 5, 5, 5]);
    assert_eq!([at(3, 9), at(4, 9), at(5, 9)], [8, 8, 9]);
}
