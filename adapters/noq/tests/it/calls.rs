//! Any sequence of noq's calls, on every controller.

use windlass_adapter_testkit::calls::{noq::Stack, run_seeded};

#[test]
fn every_controller_holds_under_any_sequence_of_calls() {
    run_seeded::<Stack>(360);
}
