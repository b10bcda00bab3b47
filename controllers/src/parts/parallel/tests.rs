//! `spec: cho §4.2, §4.4, §4.6`.

use super::*;
use crate::testkit::{self, assert_close, window};
use proptest::prelude::*;

#[test]
fn sibling_factor_vector() {
    for (n, k, f) in [
        (2, 1, 0.5),
        (4, 2, 0.833333333),
        (4, 3, 0.944444444),
        (5, 2, 0.8125),
        (10, 2, 0.777777778),
        (10, 3, 0.870370370),
        (10, 5, 0.944444444),
        (10, 8, 0.986111111),
        (7, 7, 1.0),
    ] {
        assert!((Weight::of(k, n).f() - f).abs() <= 5e-10, "N={n} k={k}: {}", Weight::of(k, n).f());
    }
}

#[test]
fn increase_vector() {
    for (n, k, cwnd, increment) in [
        (2, 1, 10.0, 0.048780487805),
        (4, 1, 100.0, 0.002490660025),
        (10, 3, 50.0, 0.005946481665),
        (4, 6, 100.0, 0.014943960149),
        (1, 4, 100.0, 0.04),
    ] {
        let increase = Weight::of(k, n).increase(&window(cwnd), 1.0);
        assert!((increase - increment).abs() <= 5e-13, "N={n} k={k}: {increase}");
    }
}

#[test]
fn slow_start_shares_and_is_capped() {
    assert_eq!(Weight::of(1, 4).slow_start(2.0, f64::INFINITY), 0.5);
    assert_eq!(Weight::of(3, 3).slow_start(2.0, f64::INFINITY), 2.0);
    assert_eq!(Weight::of(4, 2).slow_start(2.0, f64::INFINITY), 4.0);
    assert_eq!(Weight::of(4, 2).slow_start(2.0, 1.0), 2.0);
    assert_eq!(Weight::single(4).slow_start(0.5, 1.0), 0.5);
}

#[test]
fn nothing_counts_as_one() {
    assert_eq!(Weight::of(0, 0), Weight::of(1, 1));
}

#[test]
fn whole_packets_round_down_and_exactly() {
    // 0.8333… of 12 is 10, which its nearest double would miss.
    let weight = Weight::of(2, 4).whole();
    assert_eq!(weight.sibling_cwnd(12.0), 10.0);
    assert_eq!(weight.sibling_cwnd(13.0), 10.0);
    assert_eq!(weight.own_reduction(&window(13.0)), Reduction { cwnd: 6.0, ssthresh: 6.0 });
    let weight = Weight::of(4, 2).whole();
    assert_eq!(weight.own_reduction(&window(13.0)), Reduction { cwnd: 11.0, ssthresh: 6.0 });
    assert_eq!(weight.sibling_cwnd(16.0), 14.0);
    for n in 2..40 {
        for k in 1..n {
            for whole in 2..60 {
                let (n, k, w) = (n as u64, k as u64, whole as u64);
                let exact = w * ((n - 1) * k + n * (k - 1)) / (2 * (n - 1) * k);
                assert_eq!(
                    Weight::of(k as u32, n as usize).whole().sibling_cwnd(w as f64),
                    exact as f64,
                    "N={n} k={k} W={w}"
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(testkit::cases(1_000))]

    /// P3.
    #[test]
    fn sibling_factor_is_between_a_half_and_one(n in 2usize..200, k in 1u32..200) {
        prop_assume!((k as usize) <= n);
        let f = Weight::of(k, n).f();
        prop_assert!((0.5..=1.0 + 1e-15).contains(&f));
        prop_assert!(k == 1 || Weight::of(k - 1, n).f() <= f);
        prop_assert_eq!(Weight::of(1, n).f(), 0.5);
        assert_close(Weight::of(n as u32, n).f(), 1.0, 1e-12);
    }

    /// P2: equal windows lose exactly 1/(2k) together, whatever the regime.
    #[test]
    fn equal_windows_lose_what_k_flows_would(n in 1usize..50, k in 1u32..50, w in 4.0..10_000.0f64) {
        let weight = Weight::of(k, n);
        let after = weight.own_reduction(&window(w)).cwnd + (n - 1) as f64 * weight.sibling_cwnd(w);
        let k = if weight.regime() == Regime::Standard { n as f64 } else { f64::from(k) };
        assert_close(after, n as f64 * w * (2.0 * k - 1.0) / (2.0 * k), 1e-12);
    }

    /// P4: a round of ACKs adds at most `k` packets to the group.
    #[test]
    fn a_round_adds_at_most_k(k in 1u32..20, windows in prop::collection::vec(2.0..5_000.0f64, 2..20)) {
        let n = windows.len();
        prop_assume!(k as usize != n);
        let weight = Weight::of(k, n);
        let (k, n) = (f64::from(k), n as f64);
        let gained: f64 = windows.iter().map(|w| weight.increase(&window(*w), *w)).sum();
        prop_assert!(gained <= k * (1.0 + 1e-12));
        let w = windows[0];
        let s = n * w;
        assert_close(n * weight.increase(&window(w), w), k * s / (s + (n - 1.0) / 2.0), 1e-12);
    }
}
