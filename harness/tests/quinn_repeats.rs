//! Two processes, each with its own keys and random TLS messages, write the same log.

use std::process::Command;

use windlass::scenario::Scenario;
use windlass::sim::QlogSettings;
use windlass::stacks::quinn::{Log, run};
use windlass_adapter::qlog::Level;

/// Names the file a child writes its log to.
const CHILD: &str = "WINDLASS_TEST_LOG";

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
[[traffic]]
kind = \"pareto-on-off\"
rate_mbps = 5
mean_rate_mbps = 1
";

#[test]
fn two_processes_write_the_same_log() {
    if let Ok(path) = std::env::var(CHILD) {
        return write_log(&path);
    }
    let directory = tempfile::tempdir().unwrap();
    let logs = ["first", "second"].map(|name| {
        let path = directory.path().join(name);
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "two_processes_write_the_same_log"])
            .env(CHILD, &path)
            .status()
            .unwrap();
        assert!(status.success());
        std::fs::read(path).unwrap()
    });
    assert!(logs[0].len() > 100_000, "{} bytes", logs[0].len());
    assert!(logs[0] == logs[1]);
}

fn write_log(path: &str) {
    let scenario = Scenario::read("repeats", SCENARIO, None).unwrap();
    let open = |_: &_| {
        let output = Box::new(std::fs::File::create(path)?);
        Ok(Some(Log { output, settings: QlogSettings { level: Level::Steps, ..QlogSettings::default() } }))
    };
    let outcome = run(&scenario, &mut { open }).unwrap();
    assert!(outcome.flows[0].packets_marked > 0 && outcome.flows[0].packets_lost > 0);
}
