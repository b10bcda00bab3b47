//! `spec: cho §9`. That groups of one and two are so many Renos is in
//! `tests/it/equivalences.rs`.

use super::super::*;
use crate::Time;
use crate::parts::window_controller::WindowController;
use crate::testkit::cases;
use crate::testkit::groups::{ack, group, lose, windows};
use proptest::prelude::*;

type Combined = WindowController<super::super::Combined>;

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
