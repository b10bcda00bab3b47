//! Windows that never change, on every stack.

use windlass_stacks::stack::Runner;

#[test]
fn goodput_is_a_window_per_round_trip() {
    let _machine = crate::shared();
    Runner::builtin().iter().copied().for_each(windlass_stacks::testkit::fixed_windows);
}
