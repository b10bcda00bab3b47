//! `spec: cho §2.1, §9`. That a group of one is Reno, and that groups of one and two combined flows are so many Renos,
//! is in `tests/it/equivalences.rs`.

use super::*;
use crate::parts::window_controller::WindowController;
use crate::testkit::groups::{ack, group, lose, on, thresholds, time_out, windows};
use crate::testkit::{PATH, cases};
use crate::{EventKind, Time};
use proptest::prelude::*;

type Fractional = WindowController<super::Fractional>;
type Combined = WindowController<super::Combined>;

#[test]
fn growth_is_divided_by_the_number_of_members() {
    let mut flows = group::<Fractional>(Params::default(), &[10.0, 20.0, 40.0, 5.0]);
    ack(&mut flows, 1, 1000, 1);
    assert_eq!(windows(&flows), [10.0, 20.0 + 1.0 / 20.0 / 4.0, 40.0, 5.0]);
    flows.leave(3, Time(2_000_000_000), false);
    flows.leave(2, Time(2_000_000_000), true);
    ack(&mut flows, 0, 3000, 1);
    assert_eq!(flows.members[0].cwnd, 10.0 + 1.0 / 10.0 / 2.0);
}

/// Slow start is a standard flow's: the document slows congestion avoidance only.
#[test]
fn slow_start_is_not_divided() {
    let mut flows = group::<Fractional>(Params::default(), &[10.0, 20.0]);
    flows.members[0].ssthresh = 100.0;
    ack(&mut flows, 0, 1000, 2);
    assert_eq!(windows(&flows), [12.0, 20.0]);
}

#[test]
fn a_loss_halves_the_loser_alone() {
    let mut flows = group::<Fractional>(Params::default(), &[10.0, 20.0, 40.0]);
    lose(&mut flows, 2, 1000);
    assert_eq!((windows(&flows), thresholds(&flows)), ([10.0, 20.0, 20.0].into(), [2.0, 2.0, 20.0].into()));
    time_out(&mut flows, 1, 2000);
    assert_eq!((windows(&flows), thresholds(&flows)), ([10.0, 2.0, 20.0].into(), [2.0, 10.0, 20.0].into()));
}

/// A late member starts as any flow, and no sibling's window changes.
#[test]
fn joining_changes_no_window() {
    let mut flows = group::<Fractional>(Params::default(), &[30.0, 20.0]);
    flows.join(&PATH);
    assert_eq!(windows(&flows), [30.0, 20.0, 10.0]);
    on(&mut flows, 0, 5, EventKind::TimerExpired);
    assert_eq!(windows(&flows), [30.0, 20.0, 10.0]);
}

#[test]
fn one_member_is_standard_and_the_others_are_slowed() {
    let mut flows = group::<Combined>(Params::default(), &[10.0, 10.0, 10.0, 10.0]);
    for me in 0..4 {
        ack(&mut flows, me, 1000, 1);
    }
    let slowed = 10.0 + 1.0 / 10.0 / 3.0;
    assert_eq!(windows(&flows), [10.1, slowed, slowed, slowed]);
    lose(&mut flows, 0, 2000);
    assert_eq!(windows(&flows), [5.05, slowed, slowed, slowed]);
}

/// When the standard flow leaves, the oldest that stays takes its place.
#[test]
fn there_is_always_one_standard_flow() {
    let mut flows = group::<Combined>(Params::default(), &[10.0, 20.0, 40.0, 80.0]);
    flows.leave(0, Time(2_000_000_000), false);
    ack(&mut flows, 0, 3000, 1);
    ack(&mut flows, 2, 3000, 1);
    assert_eq!(windows(&flows), [20.05, 40.0, 80.0 + 1.0 / 80.0 / 2.0]);
}

proptest! {
    #![proptest_config(cases(500))]

    /// A window's worth of acknowledgements for everybody adds one packet to the group.
    #[test]
    fn the_group_grows_by_one_packet_per_round_trip(cwnd in 50u32..500, n in 1usize..9) {
        let starts = std::vec![f64::from(cwnd); n];
        let mut flows = group::<Fractional>(Params::default(), &starts);
        for me in 0..n {
            for _ in 0..cwnd {
                ack(&mut flows, me, 1000, 1);
            }
        }
        let gained = windows(&flows).iter().sum::<f64>() - f64::from(cwnd) * n as f64;
        prop_assert!(gained <= 1.0 + 1e-9 && gained > 0.98, "{gained}");
    }

    /// A window's worth of acknowledgements for everybody adds two packets to the group.
    #[test]
    fn the_group_grows_by_two_packets_per_round_trip(cwnd in 50u32..500, n in 2usize..9) {
        let starts = std::vec![f64::from(cwnd); n];
        let mut flows = group::<Combined>(Params::default(), &starts);
        for me in 0..n {
            for _ in 0..cwnd {
                ack(&mut flows, me, 1000, 1);
            }
        }
        let gained = windows(&flows).iter().sum::<f64>() - f64::from(cwnd) * n as f64;
        prop_assert!(gained <= 2.0 + 1e-9 && gained > 1.96, "{gained}");
    }
}
