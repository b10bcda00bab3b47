//! Two processes, each with its own keys and random TLS messages, write the same log: on
//! every stack, of our controllers and of its own where those know no randomness.

use std::path::Path;

use windlass_stacks::stack::Runner;
use windlass_stacks::testkit::{busy_link, record_steps, twice};

const FLOWS: &str = "
[[flow]]
controller = \"cubic\"
ecn = true
ack = \"delayed\"
[[flow]]
controller = \"native:cubic\"
ecn = true
ack = \"delayed\"
start_s = 1
";

#[test]
fn two_processes_write_the_same_log() {
    let _machine = crate::shared();
    let files: Vec<String> = Runner::builtin()
        .iter()
        .flat_map(|&stack| flows(stack).iter().map(move |flow| format!("repeats/own@{}/{flow}.sqlog", stack.name())))
        .collect();
    let files = files.iter().map(|file| (file.as_str(), 100_000));
    twice("stacks_repeat::two_processes_write_the_same_log", write_logs, files);
}

/// The simulator has no controllers of its own.
fn flows(stack: Runner) -> &'static [&'static str] {
    if stack.natives().is_empty() { &["flow1"] } else { &["flow1", "flow2"] }
}

fn write_logs(directory: &Path) {
    for &stack in Runner::builtin() {
        let flows = if stack.natives().is_empty() { FLOWS.replace("native:", "") } else { FLOWS.to_owned() };
        let outcome = record_steps(stack, &busy_link(&flows), directory);
        assert!(outcome.flows[0].packets_marked > 0 && outcome.flows[0].packets_lost > 0);
    }
}
