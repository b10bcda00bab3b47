//! Windows that never change, on every stack.

#[path = "stacks/fixed_window.rs"]
mod fixed_window;

use windlass::evaluation::Stack;

#[test]
fn goodput_is_a_window_per_round_trip() {
    Stack::ALL.iter().copied().for_each(fixed_window::fixed_windows);
}
