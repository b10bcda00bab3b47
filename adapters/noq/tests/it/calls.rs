//! Any sequence of noq's calls, on every controller.

use windlass_adapter_testkit::calls::{digests, noq::Stack, run_seeded};

#[test]
fn every_controller_holds_under_any_sequence_of_calls() {
    run_seeded::<Stack>(360);
}

#[test]
fn the_same_calls_are_the_same_events() {
    assert_eq!(digests::<Stack<_>>(), ["a51265036f382588", "4b1449f674bfbdc1"]);
}
