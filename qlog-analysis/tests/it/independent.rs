//! What is measured of every trace at hand against a count that has nothing of ours:
//! `ci/reading/count.py`.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use windlass_qlog_analysis::metrics::{Measured, measure};
use windlass_qlog_analysis::read::{Options, open};

/// What the script counts of each file.
fn counted(files: &[PathBuf]) -> Vec<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ci/reading/count.py");
    let output = Command::new("python3").arg(script).arg("--measures").args(files).output().expect("python3 runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Whether two numbers are within `share` of the second, or both are none.
fn close(ours: &Value, theirs: &Value, share: f64) -> bool {
    match (ours.as_f64(), theirs.as_f64()) {
        (Some(ours), Some(theirs)) => (ours - theirs).abs() <= share * theirs.abs() + 1e-9,
        (ours, theirs) => ours.is_none() && theirs.is_none(),
    }
}

fn compare(name: &str, ours: &Measured, theirs: &Value, differences: &mut Vec<String>) {
    let measures = serde_json::to_value(&ours.measures).unwrap();
    let mut check = |what: &str, ours: &Value, theirs: &Value, share: f64| {
        if !close(ours, theirs, share) {
            differences.push(format!("{name}: {what}: {ours}, counted {theirs}"));
        }
    };
    for what in ["packets_sent", "packets_received", "bytes_sent", "bytes_received", "packets_lost"] {
        check(what, &measures[what], &theirs[what], 0.0);
    }
    // Times of network logs are whole milliseconds, but for those of departures.
    let netlog = name.contains("netlog");
    for what in ["goodput", "received_goodput"] {
        check(what, &measures[what], &theirs[what], if netlog { 1e-2 } else { 1e-6 });
    }
    check("RTT samples", &measures["rtt"]["samples"], &theirs["rtt"]["samples"], 0.0);
    for what in ["min", "mean", "p50", "p90", "p95", "p99", "max"] {
        let share = if netlog { 2e-2 } else { 1e-3 };
        check(&format!("RTT {what}"), &measures["rtt"][what], &theirs["rtt"][what], share);
    }
    for what in ["min", "mean", "max"] {
        check(&format!("window {what}"), &measures["cwnd"][what], &theirs["cwnd"][what], 1e-6);
    }
    if measures["losses"] != theirs["losses"] {
        differences.push(format!("{name}: losses {} and {}", measures["losses"], theirs["losses"]));
    }
}

#[test]
fn an_independent_count_agrees() {
    let files: Vec<PathBuf> =
        crate::recorded::all().into_iter().filter(|path| path.extension().is_none_or(|end| end != "zst")).collect();
    let mut differences = Vec::new();
    let mut connections = 0;
    for (path, counts) in files.iter().zip(counted(&files)) {
        let name = path.file_name().unwrap().to_string_lossy();
        let (_, found) = measure(open(path).unwrap(), &Options::default()).unwrap();
        let theirs: Vec<&Value> =
            counts["traces"].as_array().unwrap().iter().flat_map(|trace| trace.as_array().unwrap()).collect();
        assert_eq!(found.len(), theirs.len(), "{name}: connections");
        for (ours, theirs) in found.iter().zip(theirs) {
            compare(&name, ours, theirs, &mut differences);
            connections += 1;
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(connections >= 14, "only {connections} connections");
}
