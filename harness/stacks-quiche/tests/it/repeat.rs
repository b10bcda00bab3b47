//! Two processes, each with its own keys and random TLS messages, come to the same results to
//! the bit: several connections that share a bottleneck with losses, marks, cross traffic and
//! receivers that delay their ACKs, ours and quiche's own.

use std::path::Path;

use windlass_stacks::testkit::{busy_link, record_steps, twice};

use crate::quiche;

const FLOWS: &str = "
[[flow]]
controller = \"cubic\"
ecn = true
ack = \"delayed\"
[[flow]]
controller = \"nf-tcp:fallback=on\"
ecn = true
start_s = 0.5
[[flow]]
controller = \"native:cubic\"
start_s = 1
[[flow]]
controller = \"native:bbr2\"
ack = \"delayed\"
start_s = 2
";

#[test]
fn two_processes_come_to_the_same() {
    let logs = ["repeats/own@quiche/flow1.sqlog", "repeats/own@quiche/flow2.sqlog"].map(|file| (file, 100_000));
    let files = logs.into_iter().chain([("outcome.json", 10_000)]);
    twice("repeat::two_processes_come_to_the_same", run, files);
}

fn run(directory: &Path) {
    let outcome = record_steps(quiche(), &busy_link(FLOWS), directory);
    for flow in &outcome.flows[..4] {
        assert!(flow.goodput_mbps > 0.2 && flow.packets_lost > 0 && flow.sha256.is_some(), "{flow:?}");
        assert!(flow.rtt_mean_ms.is_some_and(|rtt| rtt > 40.0) && flow.cwnd_mean_packets > 2.0, "{flow:?}");
    }
    assert!(outcome.flows[0].packets_marked > 0, "{:?}", outcome.flows[0]);
    std::fs::write(directory.join("outcome.json"), serde_json::to_string(&outcome).unwrap()).unwrap();
}
