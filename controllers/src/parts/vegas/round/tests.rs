//! `spec: chan §1.4`.

use super::*;

#[test]
fn the_first_ack_ends_round_0_and_the_first_packet_sent_since_ends_the_next() {
    let mut round = Round::default();
    assert!(round.is_first() && round.ends(Time(0)));
    round.begin(Time(100));
    assert!(!round.is_first());
    assert!(!round.ends(Time(99)));
    assert!(round.ends(Time(100)), "sent at the very start");
}

#[test]
fn a_new_round_has_seen_nothing() {
    let mut round = Round::default();
    assert_eq!(round.most_in_flight(), None);
    round.saw(7);
    round.saw(5);
    round.filled();
    assert_eq!((round.most_in_flight(), round.was_filled()), (Some(7), true));
    round.begin(Time(1));
    assert_eq!((round.most_in_flight(), round.was_filled()), (None, false));
}

#[test]
fn a_restart_leaves_round_0_what_it_is() {
    let mut round = Round::default();
    round.restart(Time(5));
    assert!(round.is_first());
    round.begin(Time(6));
    round.restart(Time(9));
    assert!(!round.ends(Time(8)) && round.ends(Time(9)));
}

#[test]
fn a_mean_of_whole_numbers() {
    let mut mean = Mean::default();
    assert_eq!(mean.get(), None);
    mean.add(-3);
    mean.add(8);
    assert_eq!(mean.get(), Some(2.5));
    mean.add(i64::MAX);
    mean.add(i64::MAX);
    assert_eq!(mean.get(), Some(i64::MAX as f64 / 4.0), "saturates");
}
