//! Identification of quiche's own controllers by the logs that quiche itself writes.

use windlass_lab::testkit::{look, natives, place, trace};

use crate::quiche;

/// Less than nine of ten are identified: on two of the paths its BBR, version 2, is taken for
/// another than ours, version 3.
#[test]
#[ignore = "minutes; ci/nightly runs it"]
fn the_stack_s_own_controllers() {
    let (wrong, _) = natives(&[quiche()]);
    assert!(wrong.len() <= 2, "{wrong:?}");
}

#[test]
fn a_native_controller_s_packets_are_in_its_log() {
    for native in ["reno", "cubic"] {
        let trace = trace("random-loss", &format!("native:{native}"), quiche()).unwrap();
        let found = look(&trace);
        assert!(found.compared > 1000, "{found:?}");
        assert_eq!(place(&found, native), 0, "{:#?}", &found.guesses[..3]);
    }
}
