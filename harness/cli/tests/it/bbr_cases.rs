//! `windlass bbr-cases` as a user meets it.

use crate::command::{stderr, stdout, windlass};

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
