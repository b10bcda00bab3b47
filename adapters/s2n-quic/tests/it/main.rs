//! The adapter through s2n-quic's public API: one program of tests.

mod callbacks;
mod driver;
mod loopback;

/// Any sequence of s2n-quic's calls, on every controller.
mod calls {
    use windlass_adapter_testkit::calls::{digests, run_seeded, s2n_quic::Stack};

    #[test]
    fn every_controller_holds_under_any_sequence_of_calls() {
        run_seeded::<Stack>(360);
    }

    #[test]
    fn the_same_calls_are_the_same_events() {
        assert_eq!(digests::<Stack<_>>(), ["091ad9d93ab255b8", "91b608059c1f24ea"]);
    }
}
