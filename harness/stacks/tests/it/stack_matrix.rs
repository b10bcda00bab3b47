//! Every controller of the catalogue on every real stack and path.

use windlass_stacks::stack::Runner;
use windlass_stacks::testkit::matrix;

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
