//! Controllers on quiche by their traces; of its own, by the logs that quiche itself writes.

use windlass_lab::testkit::{all, changed, flows, look, natives, place, trace};
use windlass_stacks::stack::Runner;
use windlass_stacks_quiche::OWN_LOGS;

use crate::quiche;

/// Twelve of fifteen are identified: on three of the paths its BBR, version 2, is nearer to
/// another than ours, version 3, and by scores below that from which one is named.
#[test]
#[ignore = "minutes; ci/quiche identify runs it"]
fn the_stack_s_own_controllers() {
    let (wrong, _) = natives(&[quiche()]);
    assert!(wrong.len() <= 3, "{wrong:?}");
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

/// The flows that are kept of quiche are what runs give. `WINDLASS_ACCEPT_MODEL=1` keeps them anew.
#[test]
#[ignore = "minutes; ci/quiche identify runs it"]
fn passive_flows_are_what_runs_give() {
    let changed = changed(&flows(&[Runner::new(&OWN_LOGS)], &all(), true));
    assert!(changed.is_empty() || std::env::var_os("WINDLASS_ACCEPT_MODEL").is_some(), "{changed:#?}");
}
