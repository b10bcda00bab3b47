//! The adapter through quinn's public interface: one program of tests.

mod loopback;
mod migration;

/// Any sequence of quinn's calls, on every controller.
mod calls {
    use windlass_adapter_testkit::calls::{digests, quinn::Stack, run_seeded};

    #[test]
    fn every_controller_holds_under_any_sequence_of_calls() {
        run_seeded::<Stack>(360);
    }

    #[test]
    fn the_same_calls_are_the_same_events() {
        assert_eq!(digests::<Stack<_>>(), ["8852247447c2235a", "416f816547cf069b"]);
    }
}
