//! `draft-chung-ccwg-search §3, §4`.

use super::*;
use crate::testkit;

const MS: u64 = 1_000_000;
const RTT: u64 = 100 * MS;
/// A bin of a path of 100 ms: 3.5 round trips over ten.
const BIN: u64 = 35 * MS;
/// When the first ACK comes.
const START: u64 = 1_000 * MS;

fn acked(bytes: u64, rtt: u64) -> PacketsAcked {
    PacketsAcked { bytes, rtt: Some(testkit::rtt(Span(rtt))), ..testkit::acked(1, Time(0)) }
}

/// A flow whose first ACK, of no bytes, came at [`START`].
fn started() -> Search {
    let mut search = Search::default();
    assert_eq!(search.on_ack(Time(START), &acked(0, RTT)), None);
    assert_eq!((search.bin_duration, search.bin_end, search.filled), (35_000, Time(START + BIN), Some(0)));
    search
}

/// A started flow whose bins hold `bins` bytes, one after the other, and the time after them.
fn filled(bins: &[u64]) -> (Search, u64) {
    let mut search = started();
    let mut now = START;
    for &bytes in bins {
        now += BIN;
        assert_eq!(search.on_ack(Time(now + 1), &acked(bytes, RTT)), None);
    }
    assert_eq!(search.filled.map(usize::from), Some(bins.len()));
    (search, now)
}

/// `§4`, the text's examples of a window of four round trips.
#[test]
fn vectors_of_the_norm() {
    assert_eq!(norm_diff(2.0 + 4.0 + 8.0 + 16.0, 1.0 + 2.0 + 4.0 + 8.0), 0.0);
    let reached = norm_diff(4.0 + 8.0 + 16.0 + 16.0, 2.0 + 4.0 + 8.0 + 16.0);
    assert_eq!(libm::round(100.0 * reached), 27.0);
    assert_eq!(norm_diff(64.0, 64.0), 0.5);
}

/// `§3 l. 1-5`: the first RTT decides.
#[test]
fn the_first_rtt_alone_decides_how_long_a_bin_is() {
    let mut search = started();
    search.on_ack(Time(START + 200 * MS), &acked(1200, 2 * RTT));
    assert_eq!(search.bin_duration, 35_000);
    assert_ne!(search.filled, Some(0));
}

#[test]
fn an_rtt_of_nothing_divides_nothing() {
    let mut search = Search::default();
    for at in 0..100 {
        search.on_ack(Time(START + at * MS), &acked(1200, 0));
    }
}

/// `§3 l. 10`: at its end a bin is not yet over.
#[test]
fn a_bin_is_full_after_its_end() {
    let mut search = started();
    search.on_ack(Time(START + BIN), &acked(1200, RTT));
    assert_eq!((search.filled, search.delivered), (Some(0), 1200));
    search.on_ack(Time(START + BIN + 1), &acked(1200, RTT));
    assert_eq!((search.filled, search.delivered, search.bins[0]), (Some(1), 0, 2400), "all since the latest boundary");
    assert_eq!(search.bin_end, Time(START + 2 * BIN), "from boundary to boundary, not from ACK to ACK");
}

/// `§3 l. 24-30`.
#[test]
fn bins_without_an_ack_are_empty() {
    let (mut search, now) = filled(&[1200]);
    search.on_ack(Time(now + 2 * BIN + 1), &acked(1300, RTT));
    assert_eq!((search.filled, &search.bins[..4]), (Some(3), &[1300, 0, 1200, 0][..]));
}

#[test]
fn more_than_a_window_without_a_boundary_begins_anew() {
    let (mut search, now) = filled(&[1200]);
    search.on_ack(Time(now + 10 * BIN + 1), &acked(1200, RTT));
    assert_eq!(search.filled, Some(11));
    search.on_ack(Time(now + 21 * BIN + 1), &acked(1200, RTT));
    assert_eq!(search, Search::default());
    search.on_ack(Time(now + 22 * BIN), &acked(1200, 2 * RTT));
    assert_eq!((search.bin_duration, search.bin_end), (70_000, Time(now + 24 * BIN)), "with the RTT of now");
}

#[test]
fn an_application_that_sends_nothing_says_nothing_of_the_path() {
    let (mut search, now) = filled(&[1200; 12]);
    search.on_ack(Time(now + 1), &PacketsAcked { app_limited: true, ..acked(1200, RTT) });
    assert_eq!(search, Search::default());
}

/// `§3 l. 12-14`: 100 ms are 2.86 bins, so that the twelfth bin after the first is the first to be held against others.
#[test]
fn a_window_and_a_round_trip_of_bins_are_needed() {
    assert_eq!(filled(&[1000; 12]).0.norm_diff(12, Span(RTT)), None);
    let mut search = filled(&[1000; 12]).0;
    assert!(search.on_ack(Time(START + 13 * BIN + 1), &acked(1000, RTT)).is_some(), "which did not double at all");
}

/// `§3 l. 14`: what is kept reaches 14 bins back.
#[test]
fn an_rtt_that_outgrew_the_bins_is_not_judged() {
    let doubling: std::vec::Vec<u64> = (0..29).map(|i| 100 << (i / 3)).collect();
    let mut search = started();
    for (i, &bytes) in (1..).zip(&doubling) {
        search.on_ack(Time(START + i * BIN + 1), &acked(bytes, RTT));
    }
    assert!(search.norm_diff(25, Span(15 * BIN - 1)).is_some());
    assert_eq!(search.norm_diff(25, Span(15 * BIN)), None);
    assert_eq!(search.norm_diff(25, Span(17 * BIN)), None);
}

#[test]
fn nothing_delivered_is_no_measure() {
    let mut search = filled(&[0; 12]).0;
    assert_eq!(search.on_ack(Time(START + 13 * BIN + 1), &acked(1000, RTT)), None);
}

/// `§3 l. 16, 32-38`: of the bins at both ends a fraction counts.
#[test]
fn a_round_trip_between_boundaries_is_interpolated() {
    let search = Search { bins: core::array::from_fn(|i| 19u16.saturating_sub(i as u16)), ..started() };
    let whole: f64 = (6..15).map(f64::from).sum();
    assert_eq!(search.sum_bins(4, 10, 0.0), whole + 15.0);
    assert_eq!(search.sum_bins(4, 10, 0.25), whole + 0.25 * 5.0 + 0.75 * 15.0);
    // 100 ms are two bins and 30/35 of one.
    let (curr, prev) = (search.sum_bins(0, 10, 0.0), search.sum_bins(2, 10, 30.0 / 35.0));
    testkit::assert_close(search.norm_diff(20, Span(RTT)).unwrap(), norm_diff(curr, prev), 1e-12);
}

/// 16 bits hold any rate.
#[test]
fn bins_become_coarser_as_deliveries_grow() {
    let (mut search, now) = filled(&[40_001, 65_535]);
    search.on_ack(Time(now + BIN + 1), &acked(65_536, RTT));
    assert_eq!((search.shift, &search.bins[..3]), (1, &[32_768, 32_767, 20_000][..]));
    search.on_ack(Time(now + 2 * BIN + 1), &acked(u64::MAX, RTT));
    assert_eq!((search.shift, &search.bins[..3]), (16, &[65_535, 1, 0][..]));
}

/// A flow that doubles per round trip until `full` bytes are delivered in one, and has as many from then on: the
/// round trip in which slow start ends, and the overshoot in round trips of the path.
fn found(full: u64) -> (u64, f64) {
    let mut search = started();
    let pieces = 20;
    for round in 0..40u64 {
        let bytes = (12_000 << round).min(full);
        for piece in 1..=pieces {
            let now = Time(START + round * RTT + piece * RTT / pieces);
            if let Some(overshoot) = search.on_ack(now, &acked(bytes / pieces, RTT)) {
                return (round, overshoot / full as f64);
            }
        }
    }
    panic!("deliveries stand still and slow start goes on");
}

/// `§4`: about two round trips after the path is full, whatever it carries.
#[test]
fn slow_start_ends_two_round_trips_after_deliveries_stand_still() {
    for doublings in 5..16 {
        let (round, overshoot) = found(12_000 << doublings);
        assert!((doublings + 1..=doublings + 3).contains(&round), "full in {doublings}, found in {round}");
        // `§3 l. 39, 40`: five bins, which are 1.75 round trips.
        testkit::assert_close(overshoot, 1.75, 0.1);
    }
}
