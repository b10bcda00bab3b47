//! Any sequence of s2n-quic's calls, on every controller.

use windlass_adapter_testkit::calls::{run_seeded, s2n_quic::Stack};

#[test]
fn every_controller_holds_under_any_sequence_of_calls() {
    run_seeded::<Stack>(360);
}
