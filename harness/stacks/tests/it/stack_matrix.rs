//! Every controller of the catalogue on every real stack and path.

use windlass_stacks::stack::Stack;
use windlass_stacks::testkit::matrix;

#[test]
fn quinn() {
    matrix(Stack::Quinn);
}

#[test]
fn noq() {
    matrix(Stack::Noq);
}

#[cfg(feature = "s2n-quic")]
#[test]
fn s2n_quic() {
    matrix(Stack::S2nQuic);
}
