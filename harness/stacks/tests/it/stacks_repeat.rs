//! Two processes, each with its own keys and random TLS messages, write the same log: on
//! every stack, of our controllers and of its own where those know no randomness.

use std::path::Path;

use windlass_qlog::Profile;
use windlass_simulator::scenario::Scenario;
use windlass_stacks::stack::{LogDetail, LogSettings, Logs, Runner};
use windlass_stacks::testkit::twice;

const SCENARIO: &str = "
duration_s = 5
seed = 9
[dumbbell]
rate_mbps = 10
rtt_ms = 40
buffer_packets = 30
loss_percent = 0.5
queue = { kind = \"red\", min_th_packets = 5, max_th_packets = 15 }
[[flow]]
controller = \"cubic\"
ecn = true
ack = \"delayed\"
[[flow]]
controller = \"native:cubic\"
ecn = true
ack = \"delayed\"
start_s = 1
[[traffic]]
kind = \"pareto-on-off\"
rate_mbps = 5
mean_rate_mbps = 1
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
        let text = if stack.natives().is_empty() { SCENARIO.replace("native:", "") } else { SCENARIO.to_owned() };
        let scenario = Scenario::read("repeats", &text, None).unwrap();
        let settings = LogSettings { detail: LogDetail::Steps, profile: Profile::Ietf };
        let mut logs = Logs::create(settings, directory, "repeats", "", stack.name()).unwrap();
        let outcome = stack.run(&scenario, Some(&mut logs), &|_| false).unwrap();
        assert!(outcome.flows[0].packets_marked > 0 && outcome.flows[0].packets_lost > 0);
    }
}
