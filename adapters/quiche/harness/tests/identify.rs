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

/// What is reached, which is less than nine of ten: on two of the paths its BBR, version 2, is
/// not told by ours, version 3.
#[test]
#[ignore = "minutes; ci/nightly runs it"]
fn the_stack_s_own_controllers() {
    let (wrong, _) = identified::natives(&[quiche()]);
    assert!(wrong.len() <= 2, "{wrong:?}");
}

#[test]
fn a_native_controller_s_packets_are_in_its_log() {
    for native in ["reno", "cubic"] {
        let trace = plain::trace("random-loss", &format!("native:{native}"), quiche()).unwrap();
        let found = identified::look(&trace);
        assert!(found.compared > 1000, "{found:?}");
        assert_eq!(identified::place(&found, native), 0, "{:#?}", &found.guesses[..3]);
    }
}
