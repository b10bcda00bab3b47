//! `RFC 9438 §4.2, §4.3`; `spec: sharma §6`; `spec: arumaithurai §6.5, §10, I35`.

use proptest::prelude::*;

use super::*;
use crate::testkit::{self, assert_close};

const C: f64 = 0.4;

/// `spec: sharma §6`, check values: W_max 1000, 0.8 of it kept.
#[test]
fn check_values_of_the_2005_curve() {
    let epoch = Epoch::start(C, Time::ZERO, 800.0, 1000.0);
    assert_close(epoch.k, 7.937_005, 1e-7);
    for (t, w) in [(0.0, 800.0), (2.0, 916.2929), (5.0, 989.8662), (10.0, 1003.5120), (15.0, 1140.9375)] {
        assert_close(epoch.w_cubic(C, t), w, 1e-7);
    }
    assert_eq!(epoch.w_cubic(C, epoch.k), 1000.0);
    // The slope reaches 160 packets/s at t − K = 11.547 s.
    let (t, h) = (epoch.k + 11.547, 1e-4);
    assert_close((epoch.w_cubic(C, t + h) - epoch.w_cubic(C, t - h)) / (2.0 * h), 160.0, 1e-4);
}

/// `spec: arumaithurai §10`.
#[test]
fn check_values_of_rfc_9438() {
    let epoch = Epoch::start(C, Time::ZERO, 700.0, 1000.0);
    assert_close(epoch.k, 9.085_603_0, 1e-8);
    assert_close(epoch.w_cubic(C, 2.0), 857.7047, 1e-7);
    assert_close(alpha_cubic(0.7), 0.529_411_8, 1e-7);
    assert_eq!(alpha_cubic(0.5), 1.0);
}

#[test]
fn a_window_at_or_above_its_maximum_starts_on_the_plateau() {
    for cwnd in [10.0, 12.5] {
        let epoch = Epoch::start(C, Time::ZERO, cwnd, 10.0);
        assert_eq!((epoch.k, epoch.plateau), (0.0, cwnd));
    }
}

#[test]
fn what_is_paused_does_not_count_and_never_runs_ahead() {
    let mut current = CurrentEpoch::Started(Epoch::start(C, Time(1_000_000_000), 7.0, 10.0));
    let elapsed = |current: CurrentEpoch, now| current.get().map(|epoch| { *epoch }.elapsed(Time(now)));
    current.pause(Time(4_000_000_000), Span(1_000_000_000));
    assert_eq!(elapsed(current, 4_000_000_000), Some(2.0));
    current.pause(Time(4_000_000_000), Span(u64::MAX));
    assert_eq!(elapsed(current, 4_000_000_000), Some(0.0));
    assert_eq!(elapsed(current, 5_000_000_000), Some(1.0));
    let mut ended = CurrentEpoch::Ended;
    ended.pause(Time(1), Span(1));
    assert_eq!(ended, CurrentEpoch::Ended);
}

/// `RFC 9438 §4.7`; `spec: sharma §6 rule 2`: equality is not "less".
#[test]
fn fast_convergence_gives_up_more_of_a_shrinking_maximum() {
    assert_eq!(next_w_max(1000.0, 1100.0, 0.7, true), 850.0);
    assert_eq!(next_w_max(1000.0, 1100.0, 0.8, true), 900.0);
    assert_eq!(next_w_max(1000.0, 1000.0, 0.7, true), 1000.0);
    assert_eq!(next_w_max(1000.0, 1100.0, 0.7, false), 1000.0);
    assert_eq!(next_w_max(1000.0, 0.0, 0.7, true), 1000.0);
}

proptest! {
    #![proptest_config(testkit::cases(20_000))]

    /// `spec: sharma §6` and `spec: arumaithurai §8 I35`: the curve starts at the window,
    /// reaches the plateau at K, and never falls.
    #[test]
    fn starts_at_the_window_is_flat_at_k_and_never_falls(
        cwnd in 1.0..1e6f64, above in 0.0..1e6f64, c in 0.01..10.0f64, t in 0.0..1e4f64, dt in 0.0..1e3f64,
    ) {
        let w_max = cwnd + above;
        let epoch = Epoch::start(c, Time(7), cwnd, w_max);
        assert_close(epoch.w_cubic(c, 0.0), cwnd, 1e-9);
        prop_assert_eq!(epoch.w_cubic(c, epoch.k), w_max);
        prop_assert!(epoch.w_cubic(c, t + dt) >= epoch.w_cubic(c, t));
    }

    /// A stage begun anew on the way up, from where it was, is the same curve.
    #[test]
    fn beginning_anew_below_the_plateau_changes_nothing(
        cwnd in 1.0..1e5f64, above in 1.0..1e5f64, share in 0.0..0.99f64, ahead in 0.0..100.0f64,
    ) {
        let epoch = Epoch::start(C, Time::ZERO, cwnd, cwnd + above);
        let t = share * epoch.k;
        let anew = Epoch::start(C, Time::ZERO, epoch.w_cubic(C, t), cwnd + above);
        assert_close(anew.w_cubic(C, ahead), epoch.w_cubic(C, t + ahead), 1e-6);
    }
}
