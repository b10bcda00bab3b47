//! A run that is interrupted leaves nothing half-written.
#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::command::{ENDLESS, Place, SHORT, STACKS, contents, start, stderr, tree, windlass};

/// Starts a command, sends it `signal` once there is a log below `dir`, and returns how
/// it ended.
fn interrupted(args: &[&str], signal: &str, dir: &Path) -> Output {
    let child = start(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while !tree(dir).iter().any(|path| path.extension().is_some_and(|ending| ending == "sqlog")) {
        assert!(begun.elapsed() < Duration::from_secs(60), "no log after a minute");
        std::thread::sleep(Duration::from_millis(20));
    }
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(90), "it went on");
    output
}

#[test]
fn an_interrupt_leaves_nothing_behind() {
    for (stack, signal) in STACKS.into_iter().zip(["-INT", "-TERM"]) {
        let place = Place::new();
        let endless = place.file("endless.toml", ENDLESS);
        let out = place.path("deep/er/out");
        let args = ["run", &endless, "-c", "reno", "--stack", stack, "--out", &out];
        let output = interrupted(&args, signal, place.dir());
        assert_eq!(output.status.code(), Some(130), "{stack}");
        assert_eq!(stderr(&output), "error: interrupted; nothing was written\n");
        assert_eq!(place.entries(), ["endless.toml"], "{stack}");
    }
}

#[test]
fn an_interrupted_evaluation_leaves_the_earlier_result_as_it_was() {
    let place = Place::new();
    let short = place.file("short.toml", SHORT);
    let endless = place.file("endless.toml", ENDLESS);
    let out = place.path("out");
    assert!(windlass(&["run", &short, "-c", "reno", "--out", &out, "--qlog-detail", "off"]).status.success());
    let before = contents(Path::new(&out));
    let args = ["evaluate", "-c", "reno,cubic", "--scenarios", &endless, "--out", &out];
    let output = interrupted(&args, "-INT", place.dir());
    assert_eq!(output.status.code(), Some(130));
    assert!(contents(Path::new(&out)) == before, "the earlier result changed");
}
