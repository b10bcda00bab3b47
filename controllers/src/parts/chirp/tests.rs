//! `spec: arumaithurai §10`; invariants I11, I12, I17 to I20.

use std::vec::Vec;

use proptest::prelude::*;

use super::analyser::*;
use super::*;
use crate::Time;
use crate::TrainPlan;
use crate::event::ProbeReceived;
use crate::testkit::{assert_close, cases};

const FULL: Chirp = Chirp { packets: 15, bytes: 1000, min_rate: 1e6, spread: 1.2 };

#[test]
fn k_vectors() {
    for (n, spread, expected) in [
        (15, 1.2, 0.395_191_471_790_293_2),
        (4, 1.2, 0.842_592_592_6),
        (8, 1.2, 0.617_930_016_7),
        (30, 1.07, 0.453_003_836_24),
        (16, 2.0, 0.133_329_264_32),
    ] {
        assert_close(k(n, spread), expected, 1e-10);
    }
    assert_eq!((k(2, 1.2), k(15, 1.0)), (1.0, 1.0));
    assert_close(power(1.2, 13), 10.699_320_537_907_195, 1e-14);
    assert_close(power(1.2, 14), 12.839_184_645_488_633, 1e-14);
    assert_close(power(1.2, 13) * k(15, 1.2), 4.228_280_230_531_656, 1e-14);
    assert_close(power(1.07, 28) * k(30, 1.07), 3.011_949_3, 1e-7);
}

/// The whole offsets vector, also as an adapter asks for it.
#[test]
fn train_vector() {
    let expected = [
        0.0, 8_000.0, 14_666.667, 20_222.222, 24_851.852, 28_709.877, 31_924.897, 34_604.081, 36_836.734, 38_697.278,
        40_247.732, 41_539.777, 42_616.481, 43_513.734, 44_261.445,
    ];
    let plan = TrainPlan { id: 1, packets: 15, bytes: 1000, min_rate: 1e6, spread: 1.2, dscp: 0, carries_data: false };
    for (index, micros) in (0..).zip(expected) {
        assert!((FULL.offset(index) * 1e6 - micros).abs() < 0.001, "packet {index}");
        assert!((plan.offset(index).micros() - micros).abs() < 0.002, "packet {index}");
    }
    assert_eq!(FULL.duration(), plan.offset(14));
    assert_eq!(plan.offset(15), plan.offset(14), "there is no packet 15");
    assert_close(FULL.mean_rate(), 2.530_419e6, 1e-6);
}

#[test]
fn estimate_multipliers() {
    let expected = [
        0.0, 0.0, 1.2, 1.44, 1.728, 2.0736, 2.48832, 2.985984, 3.583181, 4.299817, 5.15978, 6.191736, 7.430084, 8.9161,
        10.699321, 12.839185,
    ];
    for (index, multiplier) in (1..).zip(expected) {
        assert_close(FULL.estimate(index), multiplier * 1e6, 1e-6);
    }
    assert_eq!(FULL.estimate(17), FULL.estimate(16));
    assert_eq!(FULL.estimate(15), FULL.max_rate());
}

const CE: Reading = Reading { turn: Turn::FirstMark, source: Source::Ce, margin: 100_000 };

fn probe(index: u32, ce: bool) -> ProbeReceived {
    ProbeReceived { train: 1, index, ce, one_way: None, sent_at: Time::ZERO }
}

/// Feeds a train; the finding and how many probes it took.
fn read(reading: &Reading, packets: u32, probes: &[ProbeReceived]) -> Option<(Finding, usize)> {
    let mut analyser = Analyser::new(packets);
    let mut found = None;
    for (i, probe) in probes.iter().enumerate() {
        if let Some(finding) = analyser.arrived(reading, probe) {
            assert!(found.is_none(), "one finding per train");
            found = Some((finding, i + 1));
        }
    }
    found
}

/// The estimate of a full train at 10 Mbit/s whose marked probes are given (from 1),
/// Mbit/s.
fn estimate(turn: Turn, marked: &[u32]) -> (f64, bool) {
    let probes: Vec<_> = (1..=15).map(|k| probe(k - 1, marked.contains(&k))).collect();
    let (finding, _) = read(&Reading { turn, ..CE }, 15, &probes).unwrap();
    (Chirp { min_rate: 10.0, ..FULL }.estimate(finding.index), finding.saturated)
}

#[test]
fn analyser_vectors() {
    use Turn::*;
    let tail: Vec<u32> = (9..=15).collect();
    let burst: Vec<u32> = [4].into_iter().chain(9..=15).collect();
    let all_but_first: Vec<u32> = (2..=15).collect();
    for (turn, marked, expected, saturated) in [
        (FirstMark, &tail[..], 35.83181, false),
        (TerminalExcursion, &tail, 35.83181, false),
        (FirstMark, &burst, 14.4, false),
        (TerminalExcursion, &burst, 35.83181, false),
        (FirstMark, &[], 128.39185, false),
        (FirstMark, &[1], 0.0, false),
        (TerminalExcursion, &[1], 128.39185, false),
        (FirstMark, &all_but_first, 0.0, true),
        (TerminalExcursion, &all_but_first, 0.0, true),
    ] {
        let (rate, was_saturated) = estimate(turn, marked);
        assert_close(rate, expected, 1e-6);
        assert_eq!(was_saturated, saturated, "{turn:?} {marked:?}");
    }
    let next = k(15, 1.2) * 0.5 * estimate(FirstMark, &tail).0;
    assert_close(next, 7.080213, 1e-6);
}

/// `R1.4`: a hole ends the train; what comes later is discarded until a new one begins.
#[test]
fn a_hole_ends_the_train() {
    let mut probes: Vec<_> = (0..6).map(|i| probe(i, false)).collect();
    probes.extend((8..15).map(|i| probe(i, true)));
    let (finding, after) = read(&CE, 15, &probes).unwrap();
    assert_eq!((finding, after), (Finding { index: 7, saturated: false }, 7));
    assert_close(Chirp { min_rate: 10.0, ..FULL }.estimate(finding.index), 24.8832, 1e-6);
}

/// `R1.5`: one probe, or none in sequence, shows nothing.
#[test]
fn too_short_a_prefix_shows_nothing() {
    assert_eq!(read(&CE, 15, &[probe(0, false), probe(2, false), probe(1, false), probe(3, false)]), None);
    assert_eq!(read(&CE, 15, &[probe(1, false), probe(2, false)]), None);
    assert_eq!(read(&CE, 15, &(0..14).map(|i| probe(i, false)).collect::<Vec<_>>()), None, "not over yet");
}

/// `R1.2`: the first probe starts over.
#[test]
fn the_first_probe_begins_again() {
    let mut probes: Vec<_> = [0, 1, 0].map(|i| probe(i, true)).into();
    probes.extend((1..15).map(|i| probe(i, false)));
    let reading = Reading { turn: Turn::TerminalExcursion, ..CE };
    assert_eq!(read(&reading, 15, &probes).unwrap().0, Finding { index: 16, saturated: false });
}

#[test]
fn delay_counts_when_it_exceeds_every_one_before() {
    let train = |delays: &[Option<i64>], source| {
        let probes: Vec<_> =
            (0..).zip(delays).map(|(i, &one_way)| ProbeReceived { one_way, ..probe(i, i == 4) }).collect();
        read(&Reading { source, ..CE }, delays.len() as u32, &probes).unwrap().0
    };
    let us = 1_000;
    let delays = [-500 * us, -450 * us, -400 * us, -399 * us, -1000 * us, -299 * us, -298 * us].map(Some);
    // 100 µs above the longest so far is not yet more; 101 µs is.
    assert_eq!(train(&delays, Source::Delay), Finding { index: 8, saturated: false });
    let delays = [-500 * us, -450 * us, -400 * us, -399 * us, -1000 * us, -298 * us, -297 * us].map(Some);
    assert_eq!(train(&delays, Source::Delay), Finding { index: 6, saturated: false });
    assert_eq!(train(&delays, Source::Both), Finding { index: 5, saturated: false });
    assert_eq!(train(&delays, Source::Ce), Finding { index: 5, saturated: false });
    // No delays at all: nothing is known to be clean, except by its mark.
    assert_eq!(train(&[None; 7], Source::Delay), Finding { index: 1, saturated: true });
    assert_eq!(train(&[None; 7], Source::Both), Finding { index: 5, saturated: false });
}

fn any_train() -> impl Strategy<Value = (Chirp, Reading, Vec<ProbeReceived>)> {
    let chirp = (2u32..40, 100u32..9000, 1e3..1e10f64, 1.05..2.0f64)
        .prop_map(|(packets, bytes, min_rate, spread)| Chirp { packets, bytes, min_rate, spread });
    let reading = (any::<bool>(), 0..3u8).prop_map(|(first, source)| Reading {
        turn: if first { Turn::FirstMark } else { Turn::TerminalExcursion },
        source: [Source::Ce, Source::Delay, Source::Both][usize::from(source)],
        margin: 100_000,
    });
    let met = (any::<bool>(), prop::option::weighted(0.9, -400_000..400_000i64), prop::bool::weighted(0.97));
    (chirp, reading, prop::collection::vec(met, 40)).prop_map(|(chirp, reading, met)| {
        let arrived = (0..chirp.packets).zip(met).filter(|(_, (_, _, arrives))| *arrives);
        let probes = arrived
            .map(|(index, (ce, one_way, _))| ProbeReceived { train: 1, index, ce, one_way, sent_at: Time::ZERO })
            .collect();
        (chirp, reading, probes)
    })
}

proptest! {
    #![proptest_config(cases(10_000))]

    /// I11, I12.
    #[test]
    fn rates_are_geometric_and_average_to_what_k_promises(
        packets in 2u32..64, bytes in 100u32..9000, average in 1e4..1e11f64, spread in 1.02..2.0f64,
    ) {
        let chirp = Chirp { packets, bytes, min_rate: k(packets, spread) * average, spread };
        prop_assert!((chirp.mean_rate() / average - 1.0).abs() < 1e-9);
        prop_assert_eq!(chirp.max_rate(), chirp.rate(packets - 1));
        for gap in 1..packets {
            prop_assert_eq!(chirp.rate(gap), chirp.min_rate * power(spread, gap - 1));
            prop_assert!((chirp.rate(gap + 1) / chirp.rate(gap) / spread - 1.0).abs() < 1e-12);
            let sent = chirp.offset(gap) - chirp.offset(gap - 1);
            let due = 8.0 * f64::from(bytes) / chirp.rate(gap);
            let rounding = 1e-15 * chirp.offset(gap) + 1e-9 * due;
            prop_assert!((sent - due).abs() < rounding, "gap {} of {}", sent, due);
        }
    }

    /// I17 and the definition of saturation.
    #[test]
    fn an_estimate_is_zero_or_a_rate_of_the_train((chirp, reading, probes) in any_train()) {
        if let Some((finding, _)) = read(&reading, chirp.packets, &probes) {
            let rate = chirp.estimate(finding.index);
            let rates: Vec<f64> = (1..chirp.packets).map(|j| chirp.min_rate * power(chirp.spread, j)).collect();
            prop_assert!(rate == 0.0 || rates.contains(&rate), "{}", rate);
            prop_assert!(!finding.saturated || rate == 0.0);
        }
    }

    /// I18, second half: a mark more never raises the first mark's estimate.
    #[test]
    fn marks_never_raise_the_estimate((chirp, reading, probes) in any_train(), extra in 0usize..40) {
        let reading = Reading { turn: Turn::FirstMark, ..reading };
        let mut more = probes.clone();
        if let Some(probe) = more.get_mut(extra) {
            probe.ce = true;
        }
        let rate = |probes: &[ProbeReceived]| read(&reading, chirp.packets, probes).map(|(f, _)| chirp.estimate(f.index));
        prop_assert!(rate(&more) <= rate(&probes));
    }

    /// I18, first half.
    #[test]
    fn later_congestion_means_more_bandwidth((chirp, _, _) in any_train(), index in 1u32..42) {
        prop_assert!(chirp.estimate(index) <= chirp.estimate(index + 1));
    }

    /// I19: a clean train cut short after `m` is a clean train of `m`.
    #[test]
    fn a_clean_prefix_is_a_shorter_train((chirp, _, _) in any_train(), m in 2u32..40) {
        let m = m.min(chirp.packets);
        let clean: Vec<_> = (0..m).map(|i| probe(i, false)).collect();
        let mut cut = clean.clone();
        cut.push(probe(m + 1, true));
        let whole = read(&CE, m, &clean).unwrap().0;
        let shorter = Chirp { packets: m, ..chirp };
        prop_assert_eq!(shorter.estimate(whole.index), chirp.min_rate * power(chirp.spread, m - 1));
        prop_assert_eq!(read(&CE, chirp.packets.max(m + 1), &cut).unwrap().0, whole);
    }

    /// I20.
    #[test]
    fn terminal_excursion_is_never_below_the_first_mark((chirp, reading, probes) in any_train()) {
        let with = |turn| read(&Reading { turn, ..reading }, chirp.packets, &probes).map(|(f, _)| f.index);
        prop_assert!(with(Turn::TerminalExcursion) >= with(Turn::FirstMark));
    }
}
