//! Every controller of the catalogue on every real stack and path.

#[path = "stacks/matrix.rs"]
mod matrix;

use matrix::matrix;
use windlass::evaluation::Stack;

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
