//! `spec: cho §6`.

use super::*;
use crate::Parameters;
use crate::parts::parallel::Weight;
use crate::testkit::{self, assert_close, window};
use proptest::prelude::*;
use std::vec::Vec;

const US: fn(u64) -> Time = Time::from_micros;

fn settings() -> Settings {
    Settings::paper()
}

fn sample(us: u64) -> Option<Span> {
    Some(Span::from_micros(us))
}

/// What holds after a row of the golden trace: smoothed RTT and its maximum, weight,
/// knee and its reference, weight at the knee, `check_knee` and `low_delay`.
type After = ((f64, f64), u32, (f64, f64), u32, (u8, u8));

enum Event {
    /// At, RTT sample, window; whether a check ran.
    Ack(u64, u64, f64, bool),
    /// So many ACKs, 10 ms apart, the last as above; when the only check ran.
    Acks(u64, u64, u64, f64, u64),
    /// At, window; window and threshold after the cut.
    Loss(u64, f64, (f64, f64)),
}

use Event::{Ack, Acks, Loss};

#[rustfmt::skip]
const GOLDEN: [(Event, After); 23] = [
    (Ack(50_000, 50_000, 10.0, true), ((50_000.0, 50_000.0), 1, (0.0, 0.0), 0, (0, 1))),
    (Loss(400_000, 64.0, (32.0, 32.0)), ((50_000.0, 50_000.0), 1, (0.0, 0.0), 1, (1, 0))),
    (Ack(900_000, 50_000, 40.0, false), ((50_000.0, 50_000.0), 1, (0.0, 0.0), 1, (1, 0))),
    (Ack(900_001, 50_000, 40.0, true), ((50_000.0, 50_000.0), 2, (0.0, 0.0), 1, (1, 1))),
    (Ack(1_400_002, 50_000, 50.0, true), ((50_000.0, 50_000.0), 3, (0.0, 0.0), 1, (1, 1))),
    (Ack(1_900_003, 50_000, 65.0, true), ((50_000.0, 50_000.0), 4, (0.0, 0.0), 1, (1, 1))),
    (Ack(2_400_004, 50_000, 85.0, true), ((50_000.0, 50_000.0), 5, (0.0, 0.0), 1, (1, 1))),
    (Ack(2_700_000, 90_000, 98.0, false), ((55_000.0, 55_000.0), 5, (0.0, 0.0), 1, (1, 1))),
    (Ack(2_900_005, 90_000, 100.0, true), ((59_375.0, 59_375.0), 1, (100.0, 100.0), 5, (0, 0))),
    (Ack(3_400_006, 90_000, 110.0, true), ((63_203.125, 63_203.125), 1, (100.0, 100.0), 5, (0, 0))),
    (Loss(3_600_000, 120.0, (90.0, 60.0)), ((63_203.125, 50_000.0), 2, (100.0, 100.0), 5, (1, 0))),
    (Ack(3_650_000, 90_000, 105.0, false), ((66_552.734375, 66_552.734375), 2, (100.0, 100.0), 5, (1, 0))),
    (Acks(48, 4_130_000, 50_000, 108.0, 4_110_000), ((50_027.243085, 66_552.734375), 3, (100.0, 100.0), 5, (1, 1))),
    (Ack(4_150_000, 50_000, 109.0, false), ((50_023.837700, 66_552.734375), 3, (100.0, 100.0), 5, (1, 1))),
    (Ack(4_660_000, 50_000, 118.0, true), ((50_020.857987, 66_552.734375), 4, (100.0, 100.0), 5, (1, 1))),
    (Ack(4_700_000, 90_000, 119.0, false), ((55_018.250739, 66_552.734375), 4, (100.0, 100.0), 5, (1, 1))),
    (Ack(5_170_000, 90_000, 80.0, true), ((59_390.969396, 66_552.734375), 1, (80.0, 100.0), 4, (0, 0))),
    (Loss(5_300_000, 82.0, (41.0, 41.0)), ((59_390.969396, 66_552.734375), 1, (80.0, 0.0), 1, (1, 0))),
    (Acks(60, 5_900_000, 50_000, 45.0, 5_810_000), ((50_003.113104, 66_552.734375), 1, (80.0, 0.0), 1, (1, 1))),
    (Ack(6_000_000, 90_000, 60.0, false), ((55_002.723966, 66_552.734375), 1, (80.0, 0.0), 1, (1, 1))),
    (Ack(6_500_001, 90_000, 66.0, true), ((59_377.383470, 66_552.734375), 1, (66.0, 66.0), 1, (0, 0))),
    (Loss(6_600_000, 70.0, (35.0, 35.0)), ((59_377.383470, 50_000.0), 1, (66.0, 66.0), 1, (1, 0))),
    (Ack(7_100_001, 90_000, 60.0, true), ((63_205.210536, 63_205.210536), 1, (66.0, 66.0), 1, (1, 0))),
];

/// Runs one row and returns when checks ran and when they were to run.
fn run(detector: &mut Detector, event: &Event) -> (Vec<u64>, Option<u64>) {
    let (acks, at, rtt, w, check) = match *event {
        Ack(at, rtt, w, check) => (1, at, rtt, w, check.then_some(at)),
        Acks(acks, at, rtt, w, check) => (acks, at, rtt, w, Some(check)),
        Loss(at, w, cut) => {
            detector.lost(&settings(), US(at));
            let taken = Weight::single(detector.k).own_reduction(&window(w));
            assert_eq!((taken.cwnd, taken.ssthresh), cut, "at {at}");
            return (Vec::new(), None);
        }
    };
    let mut checked = Vec::new();
    for step in (0..acks).rev() {
        let before = detector.modify_time;
        detector.acked(&settings(), US(at - step * 10_000), sample(rtt), w, false);
        if detector.modify_time != before {
            checked.push(at - step * 10_000);
        }
    }
    (checked, check)
}

/// `spec: cho §6.5`.
#[test]
fn golden_trace() {
    let mut detector = Detector::start(Time::ZERO);
    for (i, (event, ((srtt, srtt_max), k, knees, knee_k, flags))) in GOLDEN.iter().enumerate() {
        let row = i + 1;
        let (checked, check) = run(&mut detector, event);
        assert_eq!(checked.as_slice(), check.as_slice(), "row {row}");
        let Detector { rtt, .. } = detector;
        assert_eq!(
            (detector.k, (detector.knee, detector.knee_ref), detector.knee_k),
            (*k, *knees, *knee_k),
            "row {row}"
        );
        assert_eq!((u8::from(detector.check_knee), u8::from(detector.low_delay)), *flags, "row {row}");
        assert_eq!(rtt.min(), Some(50_000.0), "row {row}");
        assert!((rtt.value().unwrap() - srtt).abs() <= 5e-7, "row {row}: {:?}", rtt.value());
        assert!((rtt.max().unwrap() - srtt_max).abs() <= 5e-7, "row {row}: {:?}", rtt.max());
    }
}

#[test]
fn nothing_is_checked_before_the_first_sample() {
    let mut detector = Detector::start(US(5));
    let fresh = detector;
    detector.acked(&settings(), US(1_000_000), None, 10.0, false);
    assert_eq!(detector, fresh);
    // A loss without any sample waits for nothing.
    detector.lost(&settings(), US(2_000_000));
    assert_eq!(detector.wait_time, 0.0);
    detector.acked(&settings(), US(2_000_000), sample(50_000), 10.0, false);
    assert_eq!(detector.modify_time, US(2_000_000), "strictly later only");
    assert!(!detector.low_delay);
    detector.acked(&settings(), US(2_000_001), None, 10.0, false);
    assert!(detector.low_delay && detector.k == 2);
}

/// `spec: cho §6.2 3.1, AT-5`.
#[test]
fn an_application_limited_sender_does_not_raise_the_strength() {
    for (settings, app_limited, expected) in [
        (Settings::default(), true, 1),
        (Settings::default(), false, 11),
        (Settings::paper(), true, 11),
        (Settings { k_max: 4, ..Settings::default() }, false, 4),
    ] {
        let mut detector = Detector::start(Time::ZERO);
        detector.lost(&settings, US(1));
        for i in 1..=10 {
            detector.acked(&settings, US(i * 600_000), sample(50_000), 10.0, app_limited);
        }
        assert_eq!(detector.k, expected, "{settings:?}");
    }
}

/// `spec: cho §6.1 β, AT-6`: exactly at the margin the knees agree.
#[test]
fn margin_is_inclusive() {
    let settings = Settings { margin: 0.25, ..Settings::paper() };
    for (knee, agree) in [(75.0, true), (125.0, true), (74.9, false), (125.1, false)] {
        let mut detector = Detector { knee: 100.0, knee_ref: 100.0, low_delay: true, ..Detector::start(Time::ZERO) };
        detector.rtt.sample(Span::from_micros(50_000));
        detector.acked(&settings, US(600_000), sample(90_000), knee, false);
        assert_eq!((detector.knee, detector.knees_agree()), (knee, agree));
    }
}

/// `spec: cho §6.2 4.1 c, §6.4`: only the first knee after a loss records the weight, and
/// after it the weight stays 1 though the queue drains again.
#[test]
fn the_first_knee_of_an_epoch_counts() {
    let mut detector = Detector::start(Time::ZERO);
    detector.acked(&settings(), US(1), sample(50_000), 10.0, false);
    detector.lost(&settings(), US(2));
    let check = |detector: &mut Detector, number: u64, rtt: u64, w: f64| {
        // While the check waits, samples enough for the average to get there.
        for i in 1..60 {
            detector.acked(&settings(), US((number - 1) * 1_000_000 + i), sample(rtt), w, false);
        }
        detector.acked(&settings(), US(number * 1_000_000), sample(rtt), w, false);
    };
    let mut weights = Vec::new();
    for (number, rtt) in [(1, 50_000), (2, 50_000), (3, 90_000), (4, 50_000), (5, 90_000), (6, 50_000)] {
        check(&mut detector, number, rtt, 100.0 + number as f64);
        weights.push((detector.k, detector.knee_k, detector.knee));
    }
    let first = (1, 3, 103.0);
    assert_eq!(weights, [(2, 1, 0.0), (3, 1, 0.0), first, first, (1, 3, 105.0), (1, 3, 105.0)]);
}

/// `spec: cho §6.3`: the root is rounded down; without a counted knee it is 1.
#[test]
fn an_aggressive_loss_takes_the_root_of_the_strength_at_the_knee() {
    for (knee_k, k) in [(0, 1), (1, 1), (3, 1), (4, 2), (8, 2), (9, 3), (15, 3), (16, 4), (24, 4), (25, 5)] {
        let mut detector = Detector { knee_k, first: false, ..Detector::start(Time::ZERO) };
        detector.lost(&settings(), US(1));
        assert_eq!((detector.k, detector.knee_k), (k, knee_k));
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Ack { wait: u64, rtt: Option<u64>, w: f64, app_limited: bool },
    Loss { wait: u64 },
}

/// Flows whose checks see short and long queues, equal and different knees; times in
/// microseconds.
fn steps() -> impl Strategy<Value = Vec<Step>> {
    let rtt = testkit::one_of([
        (4, Just(Some(50_000)).boxed()),
        (4, (80_000u64..120_000).prop_map(Some).boxed()),
        (1, (1u64..1_000_000).prop_map(Some).boxed()),
        (1, Just(None).boxed()),
    ]);
    let w = testkit::one_of([(4, (95.0..105.0).boxed()), (1, (2.0..1000.0f64).boxed())]);
    let ack = (0u64..700_000, rtt, w, prop::bool::weighted(0.1)).prop_map(|(wait, rtt, w, app_limited)| Step::Ack {
        wait,
        rtt,
        w,
        app_limited,
    });
    let loss = (0u64..700_000).prop_map(|wait| Step::Loss { wait });
    prop::collection::vec(testkit::one_of([(6, ack.boxed()), (1, loss.boxed())]), 1..70)
}

/// Runs `steps`, showing each with the time, the detector before and the one after.
fn trace(
    settings: &Settings,
    steps: &[Step],
    scale: (u64, f64),
    mut show: impl FnMut(Step, Time, &Detector, &Detector),
) {
    let mut now = Time::ZERO;
    let mut detector = Detector::start(now);
    for step in steps {
        let before = detector;
        match *step {
            Step::Ack { wait, rtt, w, app_limited } => {
                now += Span::from_micros(wait * scale.0);
                let rtt = rtt.map(|us| Span::from_micros(us * scale.0));
                detector.acked(settings, now, rtt, w * scale.1, app_limited);
            }
            Step::Loss { wait } => {
                now += Span::from_micros(wait * scale.0);
                detector.lost(settings, now);
            }
        }
        show(*step, now, &before, &detector);
    }
}

proptest! {
    #![proptest_config(testkit::cases(2_000))]

    /// C1: the weight is at least 1 and rises by one per check; checks keep their distance.
    #[test]
    fn k_rises_slowly(steps in steps()) {
        let mut outcome = Ok(());
        trace(&settings(), &steps, (1, 1.0), |step, now, before, after| {
            if let (Step::Ack { .. }, Ok(())) = (step, &outcome) {
                let checked = after.modify_time != before.modify_time;
                let waited = now.since(before.modify_time).micros();
                let far = !checked || (waited > before.wait_time && after.wait_time == 10.0 * after.rtt.min().unwrap());
                if after.k < 1 || after.k > before.k + u32::from(checked) || !far {
                    outcome = Err(TestCaseError::fail(std::format!("{before:?}\n{after:?}")));
                }
            }
        });
        outcome?;
    }

    /// C2: a long queue means weight 1, a loss means 1 or the root.
    #[test]
    fn k_falls_at_once(steps in steps()) {
        let mut wrong = None;
        trace(&settings(), &steps, (1, 1.0), |step, _, before, after| {
            let fine = match step {
                Step::Loss { .. } => after.k == 1 || after.k == before.knee_k.isqrt(),
                Step::Ack { .. } if after.modify_time == before.modify_time => true,
                Step::Ack { .. } => {
                    let (srtt, min, max) = (after.rtt.value().unwrap(), after.rtt.min().unwrap(), after.rtt.max().unwrap());
                    srtt <= min + 0.2 * (max - min) || after.k == 1
                }
            };
            if !fine {
                wrong = Some((*before, *after));
            }
        });
        prop_assert_eq!(wrong, None);
    }

    /// C3 and C4: knees agree exactly when the last one seeded the reference or fell
    /// within the margin; competition found holds until the next loss.
    #[test]
    fn losses_find_competition_by_the_knees(steps in steps()) {
        let mut agree = true;
        let mut competition = false;
        let mut wrong = None;
        trace(&settings(), &steps, (1, 1.0), |step, _, before, after| {
            match step {
                Step::Loss { .. } => {
                    competition = !before.first && !agree;
                    agree = before.first || agree;
                }
                Step::Ack { w, .. } => {
                    if before.low_delay && !after.low_delay {
                        let near = 0.9 * before.knee_ref <= w && w <= 1.1 * before.knee_ref;
                        agree = before.knee_ref == 0.0 || near;
                    }
                    if competition && after.k != 1 {
                        wrong = Some((*before, *after));
                    }
                }
            }
            if after.knees_agree() != agree {
                wrong = Some((*before, *after));
            }
        });
        prop_assert_eq!(wrong, None);
    }

    /// C5: within the waiting time only the RTT is learnt.
    #[test]
    fn waiting_learns_the_rtt_only(steps in steps()) {
        let mut wrong = None;
        trace(&settings(), &steps, (1, 1.0), |step, now, before, after| {
            let waiting = now.since(before.modify_time).micros() <= before.wait_time;
            if matches!(step, Step::Ack { .. }) && waiting && *after != (Detector { rtt: after.rtt, ..*before }) {
                wrong = Some((*before, *after));
            }
        });
        prop_assert_eq!(wrong, None);
    }

    /// C6: units do not matter.
    #[test]
    fn scale_does_not_matter(steps in steps(), time in 0u32..12, size in -8i32..8) {
        let weights = |scale| {
            let mut all = Vec::new();
            trace(&settings(), &steps, scale, |_, _, _, after| all.push(after.k));
            all
        };
        prop_assert_eq!(weights((1, 1.0)), weights((1 << time, libm::ldexp(1.0, size))));
    }
}

#[test]
fn a_new_datagram_size_keeps_the_verdict() {
    let mut detector = Detector { knee: 30.0, knee_ref: 30.0, ..Detector::start(Time::ZERO) };
    detector.on_mtu_update(1200.0 / 1452.0);
    assert!(detector.knees_agree());
    assert_close(detector.knee, 30.0 * 1200.0 / 1452.0, 1e-12);
}

/// A queue shorter than what samples vary by is none: on a path that was never full the range of the
/// smoothed RTT is noise, and a fifth of it no knee.
#[test]
fn the_floor_of_noise_keeps_clean_samples_from_being_a_knee() {
    let knee = |noise_floor: f64| {
        let settings = Settings { noise_floor, ..settings() };
        let mut detector = Detector::start(US(0));
        detector.lost(&settings, US(1000));
        // Pairs of packets: every second sample is a tenth of a millisecond longer, then all are.
        for step in 0..400u64 {
            let late = if step > 200 { 100 } else { 100 * (step % 2) };
            detector.acked(&settings, US(2000 + 10_000 * step), sample(50_000 + late), 31.0, false);
        }
        (detector.knee, detector.k)
    };
    assert_eq!(knee(0.0).0, 31.0, "without a floor the pairs are a knee");
    let (none, k) = knee(1.0);
    assert!(none == 0.0 && k > 5, "{none} {k}");
}

/// A queue that is longer than the floor is one.
#[test]
fn the_floor_of_noise_hides_no_real_queue() {
    let settings = Settings { noise_floor: 1.0, ..settings() };
    let mut detector = Detector::start(US(0));
    detector.lost(&settings, US(1000));
    for step in 0..400u64 {
        let queue = if step > 200 { 40 * (step - 200) } else { 0 };
        detector.acked(&settings, US(2000 + 10_000 * step), sample(50_000 + queue), step as f64, false);
    }
    assert!(detector.knee > 200.0 && detector.knee_ref == detector.knee, "{detector:?}");
}
