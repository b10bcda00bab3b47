//! `spec: cho §2, §4`. That a group of one is TCP/k and a group as large as its weight
//! so many Renos is in `tests/it/equivalences.rs` (P6), the rules against a second reading
//! of the document in `tests/it/tcp_p_replay.rs`.

use super::*;
use crate::Event;
use crate::event::{PacketsAcked, SpuriousLoss};
use crate::parts::window_controller::WindowController;
use crate::testkit::Flows;
use crate::testkit::groups::{ack, lose, on, thresholds, time_out, windows};
use crate::testkit::{self, PATH, acked, assert_close, lost, rtt};
use crate::{Controller, EventKind, Parameters, Span, Static, Table, Time};
use proptest::prelude::*;
use std::vec::Vec;

type TcpP = WindowController<super::TcpP>;

type Group = Flows<Static<TcpP>>;

/// A group of weight `k` whose members are in congestion avoidance with these windows
/// and have seen an RTT of 50 ms.
fn group_of(params: Params, k: u32, windows: &[f64]) -> Group {
    let mut group = Group::new(Static(Params { k, ..params }));
    for (i, cwnd) in windows.iter().enumerate() {
        group.join(&PATH);
        on(&mut group, i, 0, EventKind::RttSampled(rtt(Span::from_millis(50))));
        group.members[i].cwnd = *cwnd;
        group.members[i].ssthresh = 2.0;
    }
    group
}

fn group(k: u32, windows: &[f64]) -> Group {
    group_of(Params::default(), k, windows)
}

/// `spec: cho §4.6`, third vector.
#[test]
fn burst_guard_vector() {
    let mut group = group(2, &[10.0, 20.0, 30.0]);
    lose(&mut group, 1, 1000);
    assert_eq!(windows(&group), [8.75, 10.0, 26.25]);
    assert_eq!(thresholds(&group), [2.0, 10.0, 2.0]);
    lose(&mut group, 0, 1030);
    assert_eq!(windows(&group), [8.75, 10.0, 26.25]);
    assert_eq!(thresholds(&group), [4.375, 10.0, 2.0]);
    lose(&mut group, 2, 1060);
    assert_eq!(windows(&group), [7.65625, 8.75, 13.125]);
    assert_eq!(thresholds(&group), [4.375, 10.0, 13.125]);
}

/// `spec: cho §4.6`, fourth vector; `§4.3` rule 2: no guard above the number of flows.
#[test]
fn proportional_vector() {
    let mut group = group(4, &[10.0, 30.0]);
    lose(&mut group, 0, 1000);
    assert_eq!(windows(&group), [8.75, 26.25]);
    assert_eq!(thresholds(&group), [5.0, 2.0]);
    lose(&mut group, 1, 1001);
    assert_eq!(windows(&group), [8.75 * 7.0 / 8.0, 26.25 * 7.0 / 8.0]);
}

#[test]
fn machinery_is_off_at_k_equal_to_n() {
    let mut group = group(3, &[10.0, 20.0, 30.0]);
    lose(&mut group, 1, 1000);
    lose(&mut group, 0, 1001);
    assert_eq!(windows(&group), [5.0, 10.0, 30.0]);
    assert!(group.members.iter().all(|member| member.scaled_by_other.is_none()));
    ack(&mut group, 2, 1010, 3);
    assert_eq!(group.members[2].cwnd, 30.0 + 3.0 / 30.0);
}

/// `spec: cho §4.3` Ack rule 2.
#[test]
fn growth_is_shared() {
    let mut group = group(1, &[10.0, 10.0]);
    ack(&mut group, 0, 1000, 1);
    assert_eq!(group.members[0].cwnd, 10.0 + 1.0 / 20.5);
    group.members[1].ssthresh = 100.0;
    ack(&mut group, 1, 1000, 1);
    assert_eq!(group.members[1].cwnd, 10.5);
    let mut paper = group_of(Params::paper(), 6, &[10.0, 10.0]);
    paper.members[0].ssthresh = 100.0;
    ack(&mut paper, 0, 1000, 2);
    assert_eq!(paper.members[0].cwnd, 13.0, "one ACK, k/N");
    let mut capped = group_of(Params::default(), 6, &[10.0]);
    capped.members[0].ssthresh = 100.0;
    ack(&mut capped, 0, 1000, 2);
    assert_eq!(capped.members[0].cwnd, 12.0);
}

/// P4 of the guard's clock: cuts of one's own do not start it (`spec: cho P-4`).
#[test]
fn only_siblings_start_the_guard() {
    let mut group = group(1, &[100.0, 100.0]);
    lose(&mut group, 0, 1000);
    assert_eq!(windows(&group), [50.0, 50.0]);
    lose(&mut group, 0, 1010);
    assert_eq!(windows(&group), [25.0, 25.0]);
    // Strictly less than the smallest smoothed RTT after the sibling's cut.
    let mut later = group_of(Params::default(), 1, &[100.0, 100.0]);
    lose(&mut later, 0, 1000);
    lose(&mut later, 1, 1050);
    assert_eq!(windows(&later), [25.0, 25.0]);
    // A flow that never saw an RTT has no guard.
    group.states[1].scheme = super::State::default();
    lose(&mut group, 1, 1011);
    assert_eq!(windows(&group), [12.5, 12.5]);
}

/// The guard keeps the window, but the event counts: growth waits and so does the next
/// response.
#[test]
fn a_guarded_loss_is_a_congestion_event() {
    let mut group = group(1, &[100.0, 100.0]);
    lose(&mut group, 0, 1000);
    lose(&mut group, 1, 1010);
    let decision = group.decide(1);
    assert_eq!((decision.cwnd, decision.ssthresh), (50_000, Some(25_000)));
    assert_eq!(decision.phase, crate::Phase::Recovery);
    assert_eq!(decision.recovery_start, Some(Time(1_010_000_000)));
    assert_eq!(group.members[1].scaled_by_other, Some(Time(1_000_000_000)));
    on(&mut group, 1, 1070, EventKind::PacketsLost(lost(Time(1_010_000_000))));
    assert_eq!(windows(&group), [50.0, 50.0], "same flight");
    lose(&mut group, 1, 1071);
    assert_eq!(windows(&group), [25.0, 25.0]);
}

/// `spec: cho §4.8`: a sibling in slow start is scaled and stays there.
#[test]
fn siblings_in_slow_start_are_scaled_too() {
    let mut group = group(1, &[20.0, 20.0]);
    group.members[1].ssthresh = f64::INFINITY;
    lose(&mut group, 0, 1000);
    assert_eq!(windows(&group), [10.0, 10.0]);
    assert_eq!(group.decide(1).phase, crate::Phase::SlowStart);
}

/// `spec: cho §2.3`: the decision follows the table, no flow is woken.
#[test]
fn decisions_show_what_siblings_took() {
    let mut group = group(1, &[20.0, 20.0]);
    let before = group.states[1];
    lose(&mut group, 0, 1000);
    assert_eq!(group.states[1], before);
    assert_eq!(group.decide(1).cwnd, 10_000);
    let mut variables = Vec::new();
    group.engine.0.k = 99;
    crate::ConfiguredController::inspect(&group.engine, &group.states[1], group.view(1), &mut |name, value| {
        variables.push((name, value))
    });
    for variable in [("window", 10.0), ("group_window", 20.0), ("group_size", 2.0), ("k", 1.0), ("srtt_us", 50_000.0)] {
        assert!(variables.contains(&variable), "{variable:?} is not in {variables:?}");
    }
}

/// `spec: cho §4.3` Timeout, A-3.
#[test]
fn persistent_congestion_scales_siblings_once() {
    // k < N, k > N, k = N.
    for (k, kept) in [(1, 0.5), (4, 7.0 / 8.0), (2, 1.0)] {
        let mut group = group(k, &[100.0, 100.0]);
        time_out(&mut group, 0, 1000);
        assert_eq!(windows(&group), [2.0, 100.0 * kept]);
        assert_eq!(thresholds(&group), [50.0, 2.0]);
        assert_eq!(group.members[1].scaled_by_other.is_some(), k != 2);
        assert_eq!(group.decide(0).recovery_start, None);
    }
    // In recovery the group has given already; under the guard likewise.
    let mut group = group(1, &[100.0, 100.0]);
    lose(&mut group, 0, 1000);
    time_out(&mut group, 0, 1001);
    assert_eq!((windows(&group), thresholds(&group)), ([2.0, 50.0].into(), [25.0, 2.0].into()));
    time_out(&mut group, 1, 1002);
    assert_eq!((windows(&group), thresholds(&group)), ([2.0, 2.0].into(), [25.0, 25.0].into()));
}

/// The floor is one for cuts: a window below it, after a timeout of the paper's profile,
/// is not raised by anybody's loss (`spec: cho §2.3`).
#[test]
fn nobody_is_raised() {
    let mut group = group_of(Params::paper(), 1, &[100.0, 3.0, 100.0]);
    time_out(&mut group, 0, 1000);
    assert_eq!(windows(&group), [1.0, 2.0, 50.0]);
    lose(&mut group, 2, 1200);
    assert_eq!(windows(&group), [1.0, 2.0, 25.0]);
    lose(&mut group, 0, 1210);
    assert_eq!((windows(&group), group.members[0].ssthresh), ([1.0, 2.0, 25.0].into(), 2.0), "guarded");
}

/// `spec: cho §2.1`: joining and leaving change no window, but the rules of the next event.
#[test]
fn members_come_and_go() {
    let mut group = group(2, &[40.0, 40.0]);
    lose(&mut group, 0, 1000);
    assert_eq!(windows(&group), [20.0, 40.0], "k = N");
    group.join(&PATH);
    assert_eq!(windows(&group), [20.0, 40.0, 10.0]);
    assert_eq!(group.members[2].ssthresh, f64::INFINITY);
    lose(&mut group, 1, 1100);
    assert_eq!(windows(&group), [17.5, 20.0, 8.75], "k < N");
    let gone = group.leave(0, Time(1_200_000_000), true);
    assert_eq!(gone.window.cwnd, 17.5, "takes its window along");
    assert_eq!(windows(&group), [20.0, 8.75]);
    group.leave(1, Time(1_200_000_000), false);
    lose(&mut group, 0, 1300);
    assert_eq!(windows(&group), [15.0], "k > N");
    // Into the next group it comes with the window it has, and without a history.
    group.adopt(gone, Time(1_300_000_000));
    assert_eq!(windows(&group), [15.0, 17.5]);
    assert_eq!(group.members[1].scaled_by_other, None);
}

/// A new member brings its own window, whatever the entry held before.
#[test]
fn joining_fills_the_entry() {
    let mut group = group(1, &[40.0, 40.0]);
    lose(&mut group, 0, 1000);
    group.members[1].in_flight = 7;
    on(&mut group, 1, 1001, EventKind::Joined);
    assert_eq!(group.members[1], crate::Member { cwnd: 10.0, ssthresh: f64::INFINITY, ..crate::Member::new(1) });
}

/// `spec: cho §4.1`: the weight may change while flows run.
#[test]
fn strength_changes_at_run_time() {
    let mut group = group(1, &[64.0, 64.0, 64.0]);
    for (k, after) in [(1, [32.0, 32.0, 32.0]), (3, [16.0, 32.0, 32.0]), (8, [15.0, 30.0, 30.0])] {
        group.shared.k = k;
        lose(&mut group, 0, u64::from(k) * 1000);
        assert_eq!(windows(&group), after);
    }
    group.shared.k = 0;
    lose(&mut group, 2, 20_000);
    assert_eq!(windows(&group), [7.5, 15.0, 15.0], "0 counts as 1");
}

/// `spec: cho §11`: a spurious loss does not give siblings back what they gave; where they
/// gave nothing it is undone as in standard TCP.
#[test]
fn spurious_losses() {
    let sorry = EventKind::SpuriousLoss(SpuriousLoss { newest_sent_at: Time(1_000_000_000) });
    for (k, after) in [(1, [50.0, 50.0]), (2, [100.0, 100.0]), (4, [87.5, 87.5])] {
        let mut group = group(k, &[100.0, 100.0]);
        lose(&mut group, 0, 1000);
        on(&mut group, 0, 1100, sorry);
        assert_eq!(windows(&group), after);
    }
    // Nor does it give back what a sibling took since.
    let mut group = group(2, &[100.0, 100.0]);
    lose(&mut group, 0, 1000);
    group.shared.k = 1;
    lose(&mut group, 1, 1010);
    on(&mut group, 0, 1100, sorry);
    assert_eq!(windows(&group), [25.0, 50.0]);
}

/// Outside any group a flow is a group of one; its need for groups is stated.
#[test]
fn outside_a_group() {
    let params = Params { k: 4, ..Params::default() };
    assert!(TcpP::needs(&params).contains(Signals::GROUPS));
    let mut shared = TcpP::group(&params);
    let mut state = TcpP::start(&params, &PATH);
    state.window.cwnd = 80.0;
    let kind = EventKind::PacketsLost(lost(Time(5)));
    TcpP::step(&params, &mut state, Table::solo(&mut shared), &Event { now: Time(6), kind });
    assert_eq!((state.window.cwnd, state.window.ssthresh), (70.0, 40.0));
    assert_eq!(TcpP::decide(&params, &state, View::solo(&shared)).cwnd, 70_000);
}

/// `spec: cho §4.4`.
#[test]
fn linux_counters() {
    let params = Params { linux_counters: true, ..Params::paper() };
    // Slow start: one packet per N ACKs.
    let mut group = group_of(params, 1, &[2.0, 2.0, 2.0]);
    group.members[0].ssthresh = 4.0;
    let mut seen = Vec::new();
    for i in 0..7 {
        ack(&mut group, 0, 1000 + i, 2);
        seen.push(group.members[0].cwnd);
    }
    assert_eq!(seen, [2.0, 2.0, 3.0, 3.0, 3.0, 4.0, 4.0]);
    // Congestion avoidance at 4: the 13th ACK is the first with 2·13 ≥ 2·3·4 + 2; one is counted.
    for _ in 0..11 {
        ack(&mut group, 0, 2000, 2);
        assert_eq!(group.members[0].cwnd, 4.0);
    }
    ack(&mut group, 0, 2000, 2);
    assert_eq!(group.members[0].cwnd, 5.0);
    // Cuts are whole: 5/2, and 2/2 stays at the floor.
    lose(&mut group, 0, 3000);
    assert_eq!(windows(&group), [2.0, 2.0, 2.0]);
    group.members[0].cwnd = 9.0;
    time_out(&mut group, 0, 4000);
    assert_eq!((group.members[0].cwnd, group.members[0].ssthresh), (1.0, 4.0));
    // k = N is the kernel's standard TCP: a packet per window, whoever else is there.
    let mut standard = group_of(params, 2, &[3.0, 3.0]);
    for cwnd in [3.0, 3.0, 4.0] {
        ack(&mut standard, 0, 1000, 2);
        assert_eq!(standard.members[0].cwnd, cwnd);
    }
    // k > N: k at a time.
    let mut strong = group_of(params, 5, &[2.0, 9.0]);
    strong.members[0].ssthresh = 3.0;
    ack(&mut strong, 0, 1000, 2);
    ack(&mut strong, 0, 1000, 2);
    assert_eq!(windows(&strong), [7.0, 9.0]);
    lose(&mut strong, 0, 2000);
    assert_eq!(windows(&strong), [6.0, 8.0]);
}

/// The fractional mode is the counters' equivalent (`spec: cho §4.4`).
#[test]
fn counters_and_fractions_grow_alike() {
    let literal = Params { linux_counters: true, ..Params::paper() };
    for (k, n) in [(1, 4), (3, 4), (6, 4)] {
        let starts: Vec<f64> = (0..n).map(|_| 50.0).collect();
        let [whole, fractional] = [literal, Params::paper()].map(|params| {
            let mut group = group_of(params, k, &starts);
            for i in 0..5_000 {
                ack(&mut group, 0, 1000 + i, 1);
            }
            group.members[0].cwnd
        });
        assert!((whole - fractional).abs() <= f64::from(k) + 1.0, "k={k} N={n}: {whole} and {fractional}");
    }
}

/// P7: throughput of a group whose losses come one per epoch, relative to one standard
/// flow (`spec: cho §4.7 eq. 3.16, 3.17`). Not for `k = N > 1`, where flows that lose in
/// turn are too unequal for the equations.
#[test]
fn response_function() {
    let relative = [1.0, 2.160, 3.317, 4.472, 5.627, 6.782, 7.937, 9.092, 10.247, 11.402];
    let factor = |k: u32| libm::sqrt(f64::from(k) * (4.0 * f64::from(k) - 1.0) / 3.0);
    for (k, relative) in (1..).zip(relative) {
        assert_close(factor(k), relative, 5e-4);
    }
    for (k, n) in [(1u32, 1usize), (1, 4), (2, 4), (3, 10), (7, 4), (10, 1)] {
        let factor = factor(k);
        let p = 1e-7;
        // From just after a cut of its steady state, `W = sqrt(8k³/((4k−1)p))` packets.
        let cubed = f64::from(k * k * k);
        let top = libm::sqrt(8.0 * cubed / ((4.0 * f64::from(k) - 1.0) * p));
        let starts: Vec<f64> = (0..n).map(|_| top / 2.0 / n as f64).collect();
        let mut group = group(k, &starts);
        let (mut packets, mut until_loss, mut losses) = (0.0, 0.0, 0);
        let (mut rounds, mut counted_rounds) = (0u64, 0u64);
        while losses < 60 {
            rounds += 1;
            for i in 0..n {
                let flight = group.members[i].cwnd;
                let mut left = flight as u32;
                while left > 0 {
                    // Packet by packet up to the threshold, so as not to jump over it.
                    let climbs = group.members[i].cwnd < group.members[i].ssthresh;
                    let packets = if climbs { 1 } else { left };
                    ack(&mut group, i, rounds * 1000, packets);
                    left -= packets;
                }
                until_loss += flight;
                if losses >= 20 {
                    packets += flight;
                }
            }
            counted_rounds += u64::from(losses >= 20);
            if until_loss * p >= 1.0 {
                until_loss -= 1.0 / p;
                lose(&mut group, losses % n, rounds * 1000 + 500);
                losses += 1;
            }
        }
        let throughput = packets / counted_rounds as f64 * libm::sqrt(p);
        assert_close(throughput, factor * libm::sqrt(1.5), 0.03);
    }
}

proptest! {
    #![proptest_config(testkit::cases(1_000))]

    /// P1: at weight 1 an event halves everybody.
    #[test]
    fn weight_one_halves_everybody(starts in prop::collection::vec(2.0..1e5f64, 2..12), loser: prop::sample::Index) {
        let mut group = group(1, &starts);
        lose(&mut group, loser.index(starts.len()), 1000);
        let halves: Vec<f64> = starts.iter().map(|w| (w / 2.0).max(2.0)).collect();
        prop_assert_eq!(windows(&group), halves);
    }

    /// P2, unequal windows.
    #[test]
    fn siblings_give_the_rest(starts in prop::collection::vec(4.0..1e5f64, 2..12), k in 1u32..20, loser: prop::sample::Index) {
        let (n, i) = (starts.len(), loser.index(starts.len()));
        let k = 1 + k % (n as u32 - 1);
        let mut group = group(k, &starts);
        let before: f64 = starts.iter().sum();
        lose(&mut group, i, 1000);
        let f = Weight::of(k, n).f();
        assert_close(windows(&group).iter().sum(), starts[i] / 2.0 + f * (before - starts[i]), 1e-12);
        let mut expected: Vec<f64> = starts.iter().map(|_| 2.0).collect();
        expected[i] = starts[i] / 2.0;
        prop_assert_eq!(thresholds(&group), expected);
    }

    /// P5: however many lose within the smallest smoothed RTT, the group is cut once.
    #[test]
    fn a_burst_cuts_once(
        starts in prop::collection::vec(2.0..1e5f64, 3..12),
        k in 1u32..3,
        burst in prop::collection::vec((any::<prop::sample::Index>(), 0u64..50), 1..30),
    ) {
        let mut group = group(k, &starts);
        lose(&mut group, 0, 1000);
        let once = windows(&group);
        let mut after: Vec<u64> = burst.iter().map(|(_, after)| *after).collect();
        after.sort_unstable();
        for ((who, _), after) in burst.iter().zip(after) {
            let who = 1 + who.index(starts.len() - 1);
            lose(&mut group, who, 1000 + after);
            prop_assert_eq!(&windows(&group), &once);
        }
        lose(&mut group, 1, 1050);
        prop_assert_eq!(group.members[1].cwnd, (once[1] / 2.0).max(2.0));
    }

    /// `spec: cho §2.3`: others' events never raise a window, never touch a threshold, and
    /// an ACK of one's own never lowers it.
    #[test]
    fn siblings_only_lower(
        k in 1u32..8,
        paper: bool,
        events in prop::collection::vec((0usize..4, 0u8..10, 0u64..100, prop::bool::ANY), 1..80),
    ) {
        let params = if paper { Params::paper() } else { Params::default() };
        let mut group = group_of(params, k, &[10.0, 20.0, 30.0, 40.0]);
        let floor = params.base.limits.timeout_window;
        let mut ms = 1000;
        for (me, kind, wait, limited) in events {
            ms += wait;
            let before = group.members.clone();
            match kind {
                0..=6 => {
                    let acked = PacketsAcked { app_limited: limited, ..acked(4, Time(ms * 1_000_000)) };
                    on(&mut group, me, ms, EventKind::PacketsAcked(acked));
                    prop_assert!(group.members[me].cwnd >= before[me].cwnd);
                }
                7..=8 => lose(&mut group, me, ms),
                _ => time_out(&mut group, me, ms),
            }
            for (j, (member, before)) in group.members.iter().zip(&before).enumerate() {
                prop_assert!(j == me || member.cwnd <= before.cwnd && member.ssthresh == before.ssthresh);
                prop_assert!(member.cwnd >= floor);
            }
        }
    }
}
