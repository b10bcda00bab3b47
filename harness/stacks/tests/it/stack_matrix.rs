//! What every stack has to pass: every controller of the catalogue on every path, and windows that never change.

use windlass_stacks::stack::Runner;
use windlass_stacks::testkit::{fixed_windows, matrix};

#[test]
fn quinn() {
    let _machine = crate::shared();
    matrix(Runner::new(&windlass_stacks::quinn::Quinn));
}

#[test]
fn noq() {
    let _machine = crate::shared();
    matrix(Runner::new(&windlass_stacks::noq::Noq));
}

#[cfg(feature = "s2n-quic")]
#[test]
fn s2n_quic() {
    let _machine = crate::shared();
    matrix(Runner::new(&windlass_stacks::s2n::S2nQuic));
}

#[test]
fn goodput_is_a_window_per_round_trip() {
    let _machine = crate::shared();
    Runner::builtin().iter().copied().for_each(fixed_windows);
}
