//! `spec: arumaithurai §5.5, §8 I37`.

use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::parts::chirp::Chirp;
use crate::testkit::{assert_close, cases};

const CHIRP: Chirp = Chirp { packets: 15, bytes: 1000, min_rate: 1e7, spread: 1.2 };
const PAPER: Params = Params { decrease: 1.5, busy: 5, turn: Turn::Rise };

fn send_times(chirp: &Chirp) -> Vec<Time> {
    (0..chirp.packets).map(|i| Time((1e9 * chirp.offset(i)) as u64)).collect()
}

fn read(params: &Params, sent: &[Time], delays: &[i64]) -> Finding {
    let mut train = PathChirp::begin(sent[0], delays[0]);
    for (sent_at, delay) in sent.iter().zip(delays).skip(1) {
        train.packet(params, *sent_at, *delay);
    }
    train.finding(1000.0).unwrap()
}

/// The rate of gap `k`, from 1, by the send times.
fn rate(sent: &[Time], k: usize) -> f64 {
    8e12 / sent[k].since(sent[k - 1]).0 as f64
}

/// The document's algorithm as it is written down, over the whole vector
/// (`spec: arumaithurai §5.5`, steps 1 to 4).
fn by_the_letter(params: &Params, sent: &[Time], q: &[i64]) -> f64 {
    let n = q.len();
    let q = |k: usize| q[k - 1];
    let gap = |k: usize| sent[k].since(sent[k - 1]).0 as f64;
    let next_rise = |from: usize| (from..n).find(|&k| q(k) < q(k + 1)).unwrap_or(n);
    let mut estimates = std::vec![None; n];
    let mut i = next_rise(1);
    let (mut j, mut most) = (i + 1, 0);
    while j <= n {
        most = most.max(q(j) - q(i));
        if ((q(j) - q(i)) as f64) < most as f64 / params.decrease {
            if j - i >= params.busy as usize {
                for k in (i..j).filter(|&k| q(k) < q(k + 1)) {
                    estimates[k] = Some(rate(sent, k));
                }
            }
            i = next_rise(j);
            (j, most) = (i, 0);
        }
        j += 1;
    }
    let l = i.min(n - 1);
    let (mut sum, mut total) = (0.0, 0.0);
    for (k, estimate) in estimates.iter().enumerate().skip(1) {
        let estimate = estimate.filter(|_| k < l).unwrap_or(rate(sent, l));
        sum += estimate * gap(k);
        total += gap(k);
    }
    sum / total
}

/// I37: constant delays mean the highest rate.
#[test]
fn without_a_queue_it_is_the_highest_rate() {
    let sent = send_times(&CHIRP);
    let finding = read(&PAPER, &sent, &[700; 15]);
    assert_close(finding.available, rate(&sent, 14), 1e-12);
    assert_eq!(finding.available, finding.rates.1);
    assert_close(finding.rates.0, 1e7, 1e-5);
    assert_eq!((finding.packets, finding.began, finding.lasted), (15, Time(0), sent[14].since(sent[0])));
}

/// I37: delays that rise from packet i to the end mean the rate of gap i, or of the one
/// before.
#[test]
fn a_rise_to_the_end_is_the_rate_it_began_at() {
    let sent = send_times(&CHIRP);
    for i in 1..15usize {
        let delays: Vec<i64> = (1..=15).map(|k| 50 * (k - i as i64).max(0)).collect();
        assert_close(read(&PAPER, &sent, &delays).available, rate(&sent, i), 1e-12);
        let before = Params { turn: Turn::Before, ..PAPER };
        assert_close(read(&before, &sent, &delays).available, rate(&sent, (i - 1).max(1)), 1e-12);
    }
}

/// Eq. 2.5: an excursion that ended counts by the gaps over which it rose, if it lasted.
#[test]
fn a_burst_on_the_way_counts_where_it_lasted() {
    let sent = send_times(&CHIRP);
    let mut delays = [0i64; 15];
    // Rises over gaps 3, 4, 5, holds, and is gone at packet 8: five gaps.
    delays[3..7].copy_from_slice(&[100, 200, 300, 300]);
    let long = read(&PAPER, &sent, &delays).available;
    let gap = |k: usize| sent[k].since(sent[k - 1]).0 as f64;
    let total: f64 = (1..15).map(gap).sum();
    let own: f64 = (3..6).map(gap).sum();
    let expected = (3.0 * 8e12 + rate(&sent, 14) * (total - own)) / total;
    assert_close(long, expected, 1e-12);
    // One packet less, and it is overlooked.
    delays[6] = 0;
    assert_close(read(&PAPER, &sent, &delays).available, rate(&sent, 14), 1e-12);
}

#[test]
fn a_pause_of_the_sender_is_noticed() {
    let sent = send_times(&CHIRP);
    let pass = |extra: u64| {
        let mut train = PathChirp::begin(sent[0], 0);
        for (i, at) in sent.iter().enumerate().skip(1) {
            train.packet(&PAPER, Time(at.0 + if i > 7 { extra } else { 0 }), 0);
        }
        train.paused()
    };
    assert!(!pass(0));
    assert!(pass(300_000));
    assert_eq!(PathChirp::begin(Time(0), 0).finding(1000.0), None);
}

fn delays() -> impl Strategy<Value = Vec<i64>> {
    prop::collection::vec(prop_oneof![-500i64..500, Just(0), Just(100)], 2..40)
}

proptest! {
    #![proptest_config(cases(10_000))]

    /// In constant space it is the document's algorithm, and never outside the rates that
    /// were sent (I37).
    #[test]
    fn packet_by_packet_as_by_the_letter(delays in delays(), decrease in 1.0..4.0f64, busy in 1u32..8) {
        let chirp = Chirp { packets: delays.len() as u32, ..CHIRP };
        let params = Params { decrease, busy, turn: Turn::Rise };
        let sent = send_times(&chirp);
        let finding = read(&params, &sent, &delays);
        assert_close(finding.available, by_the_letter(&params, &sent, &delays), 1e-9);
        prop_assert!(finding.rates.0 <= finding.available && finding.available <= finding.rates.1);
    }

    #[test]
    fn nothing_hostile_upsets_it(packets in prop::collection::vec((any::<u64>(), any::<i64>()), 2..70)) {
        let mut train = PathChirp::begin(Time(packets[0].0), packets[0].1);
        for (at, delay) in &packets[1..] {
            train.packet(&Params::default(), Time(*at), *delay);
        }
        let finding = train.finding(1200.0).unwrap();
        prop_assert!(finding.available.is_finite() && finding.available > 0.0);
    }
}
