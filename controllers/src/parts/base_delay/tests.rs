use super::*;
use std::vec::Vec;

const MS: i64 = 1_000_000;

/// Samples of `delay(time)` ms, ten a round trip of 100 ms, from `from` to `until` s. Gives when the base rose.
fn feed(base: &mut BaseDelay, settings: &Settings, from: f64, until: f64, delay: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut rises = Vec::new();
    for number in 0.. {
        let at = from + 0.01 * f64::from(number);
        if at >= until {
            return rises;
        }
        let now = Time((at * 1e9) as u64);
        let sent_at = Time(now.0.saturating_sub(100_000_000));
        let sample = Sample { now, sent_at, ns: (delay(at) * MS as f64) as i64, rtt: Span(100_000_000) };
        if base.sample(settings, sample) {
            rises.push(at);
        }
    }
    unreachable!()
}

fn cwnd(base: &BaseDelay) -> u64 {
    let mut decision = Decision::new(100_000);
    base.hold(&Limits::default(), 1000.0, &mut decision);
    decision.cwnd
}

/// `draft-ietf-ccwg-bbr-06 §5.3.4`.
#[test]
fn a_longer_path_is_believed_once_the_time_is_over() {
    let (mut base, settings) = (BaseDelay::default(), Settings::default());
    assert_eq!(base.get(), None);
    assert_eq!(feed(&mut base, &settings, 0.0, 5.0, |_| 40.0), []);
    let rises = feed(&mut base, &settings, 5.0, 30.0, |_| 90.0);
    assert!(rises.len() == 1 && (15.0..15.5).contains(&rises[0]), "{rises:?}");
    assert_eq!(base.get(), Some(90 * MS));
    feed(&mut base, &settings, 30.0, 30.1, |_| 50.0);
    assert_eq!(base.get(), Some(50 * MS), "a shorter one at once");
}

#[test]
fn half_of_the_path_is_unused_while_the_flow_looks() {
    let (mut base, settings) = (BaseDelay::default(), Settings::default());
    feed(&mut base, &settings, 0.0, 10.0, |at| 40.0 + 20.0 * f64::from(u8::from(at > 0.5)));
    assert_eq!(cwnd(&base), 100_000);
    let mut held = 0.0;
    for step in 0..100 {
        let at = 10.0 + 0.01 * f64::from(step);
        feed(&mut base, &settings, at, at + 0.01, |_| 60.0);
        if cwnd(&base) < 100_000 {
            // 20 of 100 ms are queueing.
            assert_eq!(cwnd(&base), 40_000);
            held += 0.01;
        }
    }
    assert!((0.19..=0.25).contains(&held), "two round trips: {held}");
    let mut small = Decision::new(1500);
    base.stage = Stage::Drained;
    base.hold(&Limits::default(), 1000.0, &mut small);
    assert_eq!(small.cwnd, 1500, "no window below the smallest is lowered");
    base.hold(&Limits { min_window: 1.0, ..Limits::default() }, 1000.0, &mut small);
    assert_eq!(small.cwnd, 1000, "which is a parameter");
}

/// A queue that others fill and loss empties by half is no path.
#[test]
fn a_queue_that_moves_is_not_the_path() {
    let (mut base, settings) = (BaseDelay::default(), Settings::default());
    feed(&mut base, &settings, 0.0, 1.0, |_| 40.0);
    let sawtooth = |at: f64| 100.0 + 60.0 * (at / 4.0).fract();
    assert_eq!(feed(&mut base, &settings, 1.0, 120.0, sawtooth), []);
    let jitter = |at: f64| 80.0 + 10.0 * (at * 377.0).fract();
    assert_eq!(feed(&mut base, &settings, 120.0, 160.0, jitter).len(), 1, "round trips' least delays leave jitter out");
}

#[test]
fn what_returns_in_time_changes_nothing() {
    let (mut base, settings) = (BaseDelay::default(), Settings::default());
    feed(&mut base, &settings, 0.0, 5.0, |_| 40.0);
    for lap in 0..5 {
        let at = 5.0 + 10.0 * f64::from(lap);
        assert_eq!(feed(&mut base, &settings, at, at + 9.0, |_| 90.0), []);
        feed(&mut base, &settings, at + 9.0, at + 10.0, |_| 40.0);
    }
    let (mut idle, late) = (base, 1000.0);
    feed(&mut idle, &settings, late, late + 5.0, |_| 90.0);
    assert_eq!((idle.get(), cwnd(&idle)), (Some(40 * MS), 100_000), "silence tells nothing");
}

/// Two packets every 96 round trips, as Nice may send, have a sample less often than the least delay is believed for.
#[test]
fn a_flow_that_sends_seldom_finds_a_longer_path_too() {
    let (mut base, settings) = (BaseDelay::default(), Settings::default());
    feed(&mut base, &settings, 0.0, 1.0, |_| 40.0);
    let rose = (1..10).find(|pair| {
        let at = 44.0 * f64::from(*pair);
        !feed(&mut base, &settings, at, at + 0.02, |_| 90.0).is_empty()
    });
    assert_eq!((rose, base.get()), (Some(5), Some(90 * MS)));
}

/// `spec: chan §3.8`.
#[test]
fn the_documents_believe_it_for_ever() {
    let mut base = BaseDelay::default();
    let settings = <Settings as crate::Parameters>::paper();
    feed(&mut base, &settings, 0.0, 1.0, |_| 40.0);
    feed(&mut base, &settings, 1.0, 600.0, |_| 90.0);
    assert_eq!((base.get(), cwnd(&base)), (Some(40 * MS), 100_000));
}
