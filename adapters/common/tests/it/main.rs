//! What adapters share, through its public interface: one program of tests.

/// Any sequence of the calls of quinn and its forks, on every controller.
mod calls {
    use windlass_adapter_testkit::calls::{digests, path_flow::Stack, run_seeded};

    #[test]
    fn every_controller_holds_under_any_sequence_of_calls() {
        run_seeded::<Stack>(360);
    }

    #[test]
    fn the_same_calls_are_the_same_events() {
        assert_eq!(digests::<Stack<_>>(), ["e4fb1e3fdbcd7a08", "7817270a6c7f3d5c"]);
    }
}
