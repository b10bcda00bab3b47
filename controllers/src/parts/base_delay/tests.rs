use super::*;
use crate::parts::limits::Limits;
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
    base.hold(1000.0 * Limits::default().min_window, &mut decision);
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
    base.hold(1000.0 * Limits::default().min_window, &mut small);
    assert_eq!(small.cwnd, 1500, "no window below the smallest is lowered");
    base.hold(1000.0, &mut small);
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

/// A flow that sends two packets every `every` s from `phase` on looks for ten minutes at a queue that Reno fills behind
/// ten BDPs of `packets`, on a path of 40 ms: its window grows by a packet a round trip, so that its square grows evenly.
/// Gives how often the base rose, and the most that delays were lifted by against what they varied by where the flow judged.
fn beside_reno(packets: f64, every: f64, phase: f64) -> (usize, f64) {
    let window = |at: f64| {
        let (least, most) = (5.5f64 * 5.5, 11.0f64 * 11.0);
        (least + (2.0 * at / (0.04 * packets)) % (most - least)).sqrt()
    };
    let (mut base, settings) = (BaseDelay::default(), Settings::default());
    feed(&mut base, &settings, 0.0, 1.0, |_| 40.0);
    let (mut rises, mut lift) = (0, 0.0f64);
    for pair in 1..(600.0 / every) as u32 {
        let (at, before) = (phase + every * f64::from(pair), base);
        rises += feed(&mut base, &settings, at, at + 0.02, |at| 40.0 * window(at)).len();
        if base.recent_at > before.recent_at && base.recent > before.recent {
            let (low, high) = base.range;
            lift = lift.max((low - 40 * MS) as f64 / (high - low).max(1) as f64);
        }
    }
    (rises, lift)
}

/// What [`STEADY_SPARSE`] is for, and its limit: Reno's cycle of 22 s on a path of twelve packets is told from the path, one of 73 s
/// on forty is not.
#[test]
fn a_flow_that_sends_seldom_does_not_take_renos_queue_for_the_path() {
    let worst = |packets: f64| {
        let runs =
            (4..49).flat_map(|every| (0..10).map(move |phase| (f64::from(every) / 10.0, f64::from(phase) * 0.71)));
        let all = runs.map(|(every, phase)| beside_reno(packets, every, phase));
        all.fold((0, 0.0f64), |(rises, most), (more, lift)| (rises + more, most.max(lift)))
    };
    for packets in [5.0, 8.0, 10.0, 12.0] {
        let (rises, lift) = worst(packets);
        assert!(rises == 0 && lift > STEADY as f64, "{packets} packets: {rises} rises, lifted {lift} times");
    }
    assert!(worst(12.0).1 > (STEADY_SPARSE - 1) as f64, "with a smaller one it would");
    assert!(worst(40.0).0 > 0);
}
