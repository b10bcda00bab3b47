//! Random faults of the path. MsQuic has no virtual time, so these few run for seconds each and assert outcomes only.

use windlass_stacks::stack::Runner;
use windlass_stacks::testkit::faults::survive_live;
use windlass_stacks_msquic::MsQuic;

#[test]
fn msquic_survives_faults() {
    let _turn = crate::wire::turn();
    survive_live(Runner::new(&MsQuic).preferred(), 6, &["reno", "cubic", "bbr", "tcp-p", "native:cubic", "native:bbr"]);
}
