//! Any sequence of s2n-quic's calls, on every controller.

use windlass_adapter_testkit::calls::{digests, run_seeded, s2n_quic::Stack};

#[test]
fn every_controller_holds_under_any_sequence_of_calls() {
    run_seeded::<Stack>(360);
}

#[test]
fn the_same_calls_are_the_same_events() {
    assert_eq!(digests::<Stack<_>>(), ["622bc6d6d7a39b58", "f22dbd5b3dc6b27d"]);
}
