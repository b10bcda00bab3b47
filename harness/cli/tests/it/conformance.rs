//! `windlass conformance` over a short scenario, and `windlass bbr-cases`: what they compare, say and write.

use std::path::Path;

use crate::command::{Place, fails, json, names, stderr, stdout, windlass};

use serde_json::Value;

/// 10 Mbit/s, 40 ms, for a few seconds, with the headers real stacks have.
const SHORT: &str = "
description = \"One flow for a moment\"
duration_s = 6
sample_ms = 100
header_bytes = 33
pacing_burst_packets = 10

[dumbbell]
rate_mbps = 10
rtt_ms = 40
buffer_bdp = 1

[[flow]]
controller = \"under-test\"
";

#[test]
fn stacks_are_held_against_each_other() {
    let place = Place::new();
    let (short, out) = (place.file("short.toml", SHORT), place.path("out"));
    let run = || {
        windlass(&[
            "conformance",
            "--scenario",
            &short,
            "-c",
            "reno,cubic:hystart_samples=round,nf-tcp",
            "--seeds",
            "2",
            "--out",
            &out,
        ])
    };
    let output = run();
    assert!(output.status.success(), "{}", stderr(&output));
    let files = ["conformance.csv", "conformance.json", "conformance.md", "distances.csv"];
    assert_eq!(names(Path::new(&out)), files);
    let read = |name: &str| std::fs::read_to_string(Path::new(&out).join(name)).unwrap();
    let before = files.map(read);
    let written = json(&before[1]);
    assert_eq!(
        (&written["schema"], &written["seeds"]),
        (&Value::from("windlass-conformance/1"), &serde_json::json!([1, 2]))
    );
    let stacks: Vec<&str> = written["stacks"].as_array().unwrap().iter().map(|stack| stack.as_str().unwrap()).collect();
    assert!(stacks.starts_with(&["sim", "quinn", "noq"]) && stacks.len() >= 3, "{stacks:?}");

    // What a stack cannot run it says, and the fallback is compared besides.
    let rows = written["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4 * stacks.len());
    for row in rows {
        let refused = row["controller"] == "nf-tcp" && row["stack"] != "sim";
        assert_eq!(row["runs"], if refused { 0 } else { 2 }, "{row}");
        assert_eq!(
            row["reason"].as_str().is_some_and(|reason| reason.contains("needs probe trains")),
            refused,
            "{row}"
        );
    }
    assert!(before[2].contains("| nf-tcp:fallback=on | quinn |"), "{}", before[2]);

    // Real stacks and the simulator agree on what fills a clean link.
    let distances = written["distances"].as_array().unwrap();
    let pairs = stacks.len() * (stacks.len() - 1) / 2;
    assert_eq!(distances.len(), 3 * pairs);
    for distance in distances {
        let gap = |measure: &str| distance["gap"][measure]["value"].as_f64().unwrap();
        assert!(gap("goodput").abs() < 5.0 && gap("rtt").abs() < 5.0 && gap("loss").abs() < 1.0, "{distance}");
    }
    assert!(before[2].ends_with("Further apart than 5 %\n\nNone.\n"), "{}", before[2]);
    assert_eq!(before[0].lines().count(), 1 + rows.len());
    assert_eq!(before[3].lines().count(), 1 + distances.len());

    // The terminal has the same tables, and another run the same bytes.
    let text = stdout(&output);
    let row = ["nf-tcp:fallback=on", "quinn"];
    assert!(text.lines().any(|line| line.split_whitespace().take(2).eq(row)), "{text}");
    assert!(run().status.success());
    assert_eq!(files.map(read), before);
}

#[test]
fn one_stack_cannot_be_compared() {
    fails(&["conformance", "--stack", "sim"], 2, "--stack: one stack cannot be compared; give two or more");
    fails(
        &["conformance", "-c", "renno"],
        2,
        "unknown controller \"renno\" (did you mean \"reno\"?); `windlass list` names all of them",
    );
}

#[test]
fn a_case_is_passed_with_what_was_found() {
    let output = windlass(&["bbr-cases", "drain-inflight,sub-packet", "--each"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("drain-inflight") && text.contains("passed: Drain paces at half the bandwidth: "), "{text}");
    assert!(!text.contains("startup-plateau") && !text.contains("FAIL"), "{text}");
}

#[test]
fn a_failure_has_its_scenario_and_its_trace_and_the_exit_code_1() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let output =
        windlass(&["bbr-cases", "drain-inflight", "-c", "bbr:drain_pacing_gain=0.9", "--out", out.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("FAILED: Drain paces at half the bandwidth: 0.8"), "{}", stdout(&output));
    assert!(stderr(&output).contains("1 case failed"), "{}", stderr(&output));
    let files = out.join("bbr_drain_pacing_gain=0.9@sim");
    let scenario = files.join("drain-inflight.toml");
    assert!(std::fs::read(files.join("drain-inflight.sqlog")).unwrap().len() > 10_000);
    let again = windlass(&["run", scenario.to_str().unwrap(), "--controller", "bbr"]);
    assert!(again.status.success(), "{}", stderr(&again));
    // Once more into the same directory.
    let second = windlass(&["bbr-cases", "drain-inflight", "--out", out.to_str().unwrap()]);
    assert!(second.status.success(), "{}", stderr(&second));
    assert!(!files.exists() && out.join("bbr-cases.md").exists());
}

#[test]
fn mistakes_are_reported() {
    for (arguments, says) in [
        (["drain"].as_slice(), "error: unknown case \"drain\""),
        (&["-c", "reno"], "error: reno is no BBR, whose states the cases judge; expected bbr, "),
        (&["--stack", "sym"], "error: unknown stack \"sym\""),
    ] {
        let output = windlass(&[&["bbr-cases"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(says), "{arguments:?}: {}", stderr(&output));
    }
}
