//! Careful resume (`RFC 9959`) on real stacks in virtual time.

use windlass_stacks::noq::Noq;
use windlass_stacks::quinn::Quinn;
use windlass_stacks::stack::Stack;
use windlass_stacks::testkit::careful_resume::{fills_in_half_the_time, resuming, retreats_on_a_path_that_shrank};

const STACKS: &[&dyn Stack] = &[
    &Quinn,
    &Noq,
    #[cfg(feature = "s2n-quic")]
    &windlass_stacks::s2n::S2nQuic,
];

#[test]
fn a_second_transfer_fills_the_path_in_half_the_time_of_the_first() {
    let _shared = crate::shared();
    // Prague needs counts of CE marks, which noq does not have.
    assert_eq!(resuming(&Noq), ["cubic", "reno", "copa", "bbr", "bbr1", "c4", "scream", "nada", "gcc"]);
    STACKS.iter().for_each(|stack| fills_in_half_the_time(*stack));
}

#[test]
fn on_a_path_that_shrank_tenfold_it_retreats() {
    let _shared = crate::shared();
    STACKS.iter().for_each(|stack| retreats_on_a_path_that_shrank(*stack));
}
