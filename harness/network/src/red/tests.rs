use super::*;
use crate::Codepoint;
use proptest::prelude::*;

/// The 600 Mbit/s, 100 ms set of the document (`spec: arumaithurai §4.2`, Table 5.1).
fn table_5_1() -> RedSpec {
    RedSpec::two_class(7500, 1000.0)
}

fn busy(waiting: u64) -> Arrival {
    Arrival { now: 0, wait: 0, waiting, waiting_bytes: 0, idle: 0, rate: 600e6 }
}

fn of_class(class: Class) -> Packet {
    Packet { class, ecn: Codepoint::Ect0, ..Packet::new(0, 0, 1000) }
}

#[test]
fn thresholds_scale_as_the_document_has_them() {
    // (buffer, Q_min^N, Q_max^N, Q_min^T, Q_max^T) of Tables 4.1, 5.1, 5.2 and the scaled 250 Mbit/s set.
    for (buffer, sets) in [
        (1250, [12.0, 625.0, 1133.0, 1250.0]),
        (7500, [75.0, 3750.0, 6800.0, 7500.0]),
        (15000, [150.0, 7500.0, 13600.0, 15000.0]),
        (3125, [31.0, 1562.0, 2833.0, 3125.0]),
    ] {
        let spec = RedSpec::two_class(buffer, 1000.0);
        let low = spec.low_priority.unwrap();
        assert_eq!([low.min, low.max, spec.normal.min, spec.normal.max], sets, "{buffer}");
    }
}

#[test]
fn base_probabilities_of_the_spec() {
    let spec = table_5_1();
    let low = spec.low_priority.unwrap();
    for (ramp, avg, p) in [
        (low, 150.0, 0.020_408_2),
        (low, 1000.0, 0.251_700_7),
        (low, 3749.0, 0.999_727_9),
        (spec.normal, 7000.0, 0.028_571_4),
    ] {
        assert!((ramp.probability(avg).unwrap() - p).abs() < 1e-7, "{avg}");
    }
    let flat = Ramp { flat: true, ..low };
    assert_eq!(flat.probability(76.0), Some(1.0));
    let gentle = Ramp { gentle: true, ..spec.normal };
    assert_eq!(gentle.probability(7500.0 * 1.5), Some(0.55));
    assert_eq!(gentle.probability(15000.0), Some(1.0));
}

#[test]
fn the_average_follows_the_queue_and_decays_when_idle() {
    let mut red = Red::new(RedSpec { weight: 0.5, ..RedSpec::new(1e3, 2e3, 0.1, 1000.0) });
    let mut random = Stream::new(1, "red");
    red.hits(busy(8), &of_class(Class::Normal), &mut random);
    red.hits(busy(8), &of_class(Class::Normal), &mut random);
    assert_eq!(red.avg, 6.0);
    // 8 Mbit/s: 1000 bytes a millisecond; 3.5 ms idle count as three packets.
    red.hits(Arrival { idle: 3_500_000, rate: 8e6, ..busy(0) }, &of_class(Class::Normal), &mut random);
    assert_eq!(red.avg, 6.0 / 8.0 / 2.0);
}

/// I21, system part: below, nothing; above, everything; in between, as often as the
/// spread probability says.
#[test]
fn hits_are_as_frequent_as_the_ramp_says() {
    let mut random = Stream::new(1, "red");
    for (avg, wait) in [(1500.0, false), (1500.0, true), (500.0, false), (2500.0, false)] {
        let spec = RedSpec { weight: 1.0, wait, ..RedSpec::new(1000.0, 2000.0, 0.1, 1000.0) };
        let base = spec.normal.probability(avg);
        let mut red = Red::new(spec);
        let hits: Vec<usize> =
            (0..200_000).filter(|_| red.hits(busy(avg as u64), &of_class(Class::Normal), &mut random)).collect();
        // Spread evenly, the gap between hits is uniform: over 1..=1/p−1 without waiting,
        // over 1/p..=2/p−1 with it.
        let (share, longest) = match (base, wait) {
            (None, _) => (0.0, 0),
            (Some(p), _) if p >= 1.0 => (1.0, 1),
            (Some(p), false) => (2.0 * p, (1.0 / p) as usize),
            (Some(p), true) => (2.0 / (3.0 / p - 1.0), (2.0 / p) as usize),
        };
        let seen = hits.len() as f64 / 200_000.0;
        assert!((seen - share).abs() <= 0.02 * share, "avg {avg} wait {wait}: {seen}, expected {share}");
        assert!(hits.windows(2).all(|pair| pair[1] - pair[0] <= longest), "avg {avg} wait {wait}");
    }
}

proptest! {
    /// I21: probability 0 below the minimum, 1 from the maximum, never falling in between.
    #[test]
    fn the_ramp_never_falls(min in 0.0f64..100.0, width in 0.1f64..100.0, max_p in 0.01f64..=1.0,
                            gentle: bool, flat: bool, a in 0.0f64..500.0, b in 0.0f64..500.0) {
        let ramp = Ramp { min, max: min + width, max_p, gentle, flat };
        let (a, b) = (a.min(b), a.max(b));
        let p = |avg| ramp.probability(avg).unwrap_or(0.0);
        prop_assert!(p(a) <= p(b));
        prop_assert!((0.0..=1.0).contains(&p(a)));
        prop_assert_eq!(p(min * 0.999), 0.0);
        prop_assert_eq!(p(2.0 * (min + width)), 1.0);
    }

    /// I22: at any average low priority is hit at least as often as normal.
    #[test]
    fn low_priority_is_hit_first(buffer in 100u64..20_000, share in 0.0f64..1.2) {
        let spec = RedSpec::two_class(buffer, 1000.0);
        let avg = share * buffer as f64;
        let p = |ramp: Ramp| ramp.probability(avg).unwrap_or(0.0);
        prop_assert!(p(spec.low_priority.unwrap()) >= p(spec.normal));
    }

    /// I24: a probe is hit exactly if more than one packet waits, whatever the average.
    #[test]
    fn probes_see_the_instantaneous_queue(history in proptest::collection::vec(0u64..9000, 0..50), waiting in 0u64..4) {
        let mut red = Red::new(table_5_1());
        let mut random = Stream::new(1, "red");
        for q in history {
            red.hits(busy(q), &of_class(Class::Normal), &mut random);
        }
        prop_assert_eq!(red.hits(busy(waiting), &of_class(Class::Probe), &mut random), waiting > 1);
    }

    /// I25: low-priority arrivals change what happens to normal packets only through the
    /// queue and its average: with the same average, the same luck meets the same count.
    #[test]
    fn classes_count_their_own_gaps(pattern in proptest::collection::vec(any::<bool>(), 1..300)) {
        let spec = RedSpec { weight: 1.0, ..table_5_1() };
        let (mut mixed, mut alone) = (Red::new(spec.clone()), Red::new(spec));
        // Average below the low-priority ramp's start for those, so they draw no luck.
        let (mut luck, mut same_luck) = (Stream::new(3, "red"), Stream::new(3, "red"));
        for low in pattern {
            if low {
                mixed.hits(busy(10), &of_class(Class::LowPriority), &mut luck);
            } else {
                let hit = mixed.hits(busy(7000), &of_class(Class::Normal), &mut luck);
                prop_assert_eq!(hit, alone.hits(busy(7000), &of_class(Class::Normal), &mut same_luck));
            }
        }
    }
}
