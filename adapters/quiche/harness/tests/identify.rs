//! Whose window quiche's own controllers have, by the logs that quiche itself writes.

#[path = "../../../../harness/tests/stacks/identified.rs"]
mod identified;
#[path = "../../../../harness/tests/plain/mod.rs"]
mod plain;

use windlass::evaluation::Stack;
use windlass_quiche_harness::QUICHE;

fn quiche() -> Stack {
    QUICHE.welcome();
    Stack::named("quiche").unwrap()
}

/// What is reached: quiche does not react to marks, and `docs/qlog.md` says what its CUBIC does.
#[test]
#[ignore = "minutes; ci/nightly runs it"]
fn the_stack_s_own_controllers() {
    identified::natives(&[quiche()], 7);
}

#[test]
fn a_native_controller_s_packets_are_in_its_log() {
    let trace = plain::trace("random-loss", "native:reno", quiche()).unwrap();
    let found = identified::look(&trace);
    assert!(found.compared > 1000, "{found:?}");
    assert_eq!(identified::place(&found, "reno"), 0, "{:#?}", &found.guesses[..3]);
}
