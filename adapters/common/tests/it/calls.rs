//! Any sequence of the calls of quinn and its forks, on every controller.

use windlass_adapter_testkit::calls::{path_flow::Stack, run_seeded};

#[test]
fn every_controller_holds_under_any_sequence_of_calls() {
    run_seeded::<Stack>(360);
}
