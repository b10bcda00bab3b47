//! Windows that never change, on every stack.

use windlass_stacks::stack::Stack;

#[test]
fn goodput_is_a_window_per_round_trip() {
    Stack::ALL.iter().copied().for_each(windlass_stacks::testkit::fixed_windows);
}
