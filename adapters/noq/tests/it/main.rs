//! The adapter through noq's public interface: one program of tests.

mod loopback;

/// Any sequence of noq's calls, on every controller.
mod calls {
    use windlass_adapter_testkit::calls::{digests, noq::Stack, run_seeded};

    #[test]
    fn every_controller_holds_under_any_sequence_of_calls() {
        run_seeded::<Stack>(360);
    }

    #[test]
    fn the_same_calls_are_the_same_events() {
        assert_eq!(digests::<Stack<_>>(), ["141c2d5b37339e37", "1ce843988d3b1bb0"]);
    }
}
