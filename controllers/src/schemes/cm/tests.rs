//! `spec: cho §9`. That a group of one is Reno is in `tests/it/equivalences.rs`.

use super::*;
use crate::event::{IdleRestart, SpuriousLoss};
use crate::testkit::Flows;
use crate::testkit::groups::{ack, lose, on, time_out, windows};
use crate::testkit::{self, MTU, PATH, acked, cases};
use crate::{Parameters, Span, Static, Time};
use proptest::prelude::*;

type Group = Flows<Static<Cm>>;

/// `n` members of a group in congestion avoidance with `cwnd` packets together.
fn group(n: usize, cwnd: f64) -> Group {
    let mut group = Group::new(Static(Params::default()));
    for _ in 0..n {
        group.join(&PATH);
    }
    let pool = group.shared.pool.as_mut().unwrap();
    pool.window.cwnd = cwnd;
    pool.window.ssthresh = 2.0;
    for me in 0..n {
        on(&mut group, me, 1, EventKind::TimerExpired);
    }
    group
}

fn pool(group: &Group) -> f64 {
    group.shared.pool.unwrap().window.cwnd
}

/// A flow whose siblings are gone keeps a window of its own datagrams, whatever size the group's window
/// is counted in (`RFC 9002 §7.2`).
#[test]
fn the_last_of_a_group_has_two_datagrams_of_its_own() {
    let mut group = group(1, 2.0);
    group.join(&Path { mtu: 9000, ..PATH });
    group.leave(0, Time(1), true);
    on(&mut group, 0, 2, EventKind::TimerExpired);
    assert_eq!(pool(&group), 2.0);
    assert_eq!(group.decide(0).cwnd, 18_000);
}

/// `spec: cho §9`: one window, one standard flow's growth and decrease.
#[test]
fn the_group_is_one_flow() {
    let mut group = group(4, 40.0);
    assert_eq!(windows(&group), [10.0; 4]);
    ack(&mut group, 2, 1000, 1);
    assert_eq!(pool(&group), 40.025);
    assert_eq!(windows(&group), [10.0, 10.0, 10.00625, 10.0], "the others take theirs at their next event");
    on(&mut group, 3, 1001, EventKind::TimerExpired);
    assert_eq!(group.members[3].cwnd, 10.00625);
    lose(&mut group, 1, 2000);
    assert_eq!((pool(&group), windows(&group)), (20.0125, [5.003125; 4].into()));
    let decision = group.decide(3);
    assert_eq!((decision.cwnd, decision.ssthresh), (5003, Some(20_012 / 4)));
    assert_eq!((decision.phase, decision.recovery_start), (crate::Phase::Recovery, Some(Time(2_000_000_000))));
}

/// The recovery period is everybody's: one response for losses of all members in a flight,
/// and packets sent before it grow nothing.
#[test]
fn one_response_per_flight_of_the_group() {
    let mut group = group(2, 40.0);
    lose(&mut group, 0, 1000);
    on(&mut group, 1, 1001, EventKind::PacketsLost(testkit::lost(Time(999_000_000))));
    assert_eq!(pool(&group), 20.0);
    ack(&mut group, 0, 1100, 1);
    assert_eq!(pool(&group), 20.05);
    on(&mut group, 1, 1101, EventKind::PacketsAcked(acked(1, Time(1_000_000_000))));
    assert_eq!(pool(&group), 20.05, "sent before the response, whatever this member knew of it");
    lose(&mut group, 1, 1200);
    assert_eq!(pool(&group), 10.025);
}

#[test]
fn members_share_what_there_is() {
    let mut group = group(2, 30.0);
    group.join(&PATH);
    assert_eq!((pool(&group), windows(&group)), (30.0, [10.0; 3].into()), "no member brings a window along");
    group.leave(0, Time(2_000_000), false);
    assert_eq!(windows(&group), [10.0; 2]);
    on(&mut group, 1, 3, EventKind::TimerExpired);
    assert_eq!(windows(&group), [10.0, 15.0]);
    group.leave(1, Time(4_000_000), true);
    assert_eq!(group.decide(0).cwnd, 30_000, "the last one has it all");
    // No share is below the least window.
    for _ in 0..29 {
        group.join(&PATH);
    }
    assert_eq!((pool(&group), windows(&group)), (30.0, [2.0; 30].into()));
}

/// A datagram size of one's own: shares are bytes, and at least two datagrams.
#[test]
fn datagram_sizes() {
    let mut group = group(2, 40.0);
    let large = Path { mtu: 9 * MTU, ..PATH };
    group.join(&large);
    assert_eq!(group.decide(2).cwnd, 18_000, "13 packets of 1000 bytes would not do");
    assert_eq!(group.decide(0).cwnd, 13_333);
    on(&mut group, 0, 5, EventKind::MtuUpdated(2 * MTU));
    assert_eq!((pool(&group), group.decide(0).cwnd), (20.0, 13_333));
}

/// `spec: cho §11`; persistent congestion starts the group over.
#[test]
fn undo_and_timeout() {
    let sorry = EventKind::SpuriousLoss(SpuriousLoss { newest_sent_at: Time(1_000_000_000) });
    for (n, after) in [(1, 40.0), (2, 20.0)] {
        let mut group = group(n, 40.0);
        lose(&mut group, 0, 1000);
        on(&mut group, 0, 1001, sorry);
        assert_eq!(pool(&group), after);
    }
    let mut group = group(2, 40.0);
    time_out(&mut group, 0, 1000);
    assert_eq!((pool(&group), windows(&group)), (2.0, [2.0; 2].into()));
}

/// The window falls back after idle time only if no member was using it.
#[test]
fn idling() {
    let rest = EventKind::IdleRestart(IdleRestart { idle: Span::from_millis(900), pto: Span::from_millis(300) });
    let mut busy = group(2, 40.0);
    busy.members[1].in_flight = 1;
    on(&mut busy, 0, 1000, rest);
    assert_eq!(pool(&busy), 40.0);
    busy.members[1].in_flight = 0;
    on(&mut busy, 0, 2000, rest);
    assert_eq!((pool(&busy), windows(&busy)), (10.0, [5.0; 2].into()));
}

#[test]
fn outside_a_group_it_is_one_flow() {
    let params = Params::paper();
    let mut shared = Cm::group(&params);
    let mut state = Cm::start(&params, &PATH);
    assert_eq!(Cm::decide(&params, &state, View::solo(&shared)).cwnd, 2000);
    let event = Event { now: Time(9), kind: EventKind::PacketsAcked(acked(2, Time(5))) };
    Cm::step(&params, &mut state, Table::solo(&mut shared), &event);
    assert_eq!(Cm::decide(&params, &state, View::solo(&shared)).cwnd, 3000);
}

proptest! {
    #![proptest_config(cases(1_000))]

    /// Shares add up to no more than the window, but for the least share; others' events
    /// never raise one.
    #[test]
    fn shares_add_up(
        events in prop::collection::vec((any::<prop::sample::Index>(), 0u8..12, 0u64..100), 1..80),
    ) {
        let mut group = group(3, 60.0);
        let mut ms = 1000;
        for (who, kind, wait) in events {
            ms += wait;
            let me = who.index(group.members.len());
            let before = group.members.clone();
            match kind {
                0..=6 => ack(&mut group, me, ms, 3),
                7 => lose(&mut group, me, ms),
                8 => time_out(&mut group, me, ms),
                9 if group.members.len() < 9 => {
                    group.join(&PATH);
                    continue;
                }
                10 if group.members.len() > 1 => {
                    group.leave(me, Time(ms * 1_000_000), ms % 2 == 0);
                    continue;
                }
                _ => on(&mut group, me, ms, EventKind::MtuUpdated(MTU)),
            }
            let n = group.members.len() as f64;
            let sum: f64 = windows(&group).iter().sum();
            prop_assert!(sum <= pool(&group).max(2.0 * n) * (1.0 + 1e-12), "{sum} of {}", pool(&group));
            for (j, (member, before)) in group.members.iter().zip(&before).enumerate() {
                prop_assert!(j == me || member.cwnd <= before.cwnd);
            }
        }
    }
}
