//! What the tests of the binary share.
#![allow(dead_code, reason = "each test file uses its part")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use base64::Engine;
use serde_json::Value;

/// A scenario that takes a moment.
pub const SHORT: &str = r#"
description = "Two flows for a moment"
duration_s = 2
sample_ms = 50

[dumbbell]
rate_mbps = 10
rtt_ms = 20
buffer_bdp = 1

[[flow]]
name = "first"
controller = "under-test"

[[flow]]
name = "second"
controller = "reno"
start_s = 0.5
"#;

/// A scenario that takes far longer than a test.
pub const ENDLESS: &str = r#"
description = "A gigabit for a week"
duration_s = 604800
sample_ms = 1000

[dumbbell]
rate_mbps = 1000
rtt_ms = 20
buffer_bdp = 1

[[flow]]
controller = "under-test"
"#;

/// Everything that runs scenarios.
pub const STACKS: [&str; 2] = ["sim", "quinn"];

pub fn start(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
    command.args(args).stdin(Stdio::null());
    command
}

pub fn windlass(args: &[&str]) -> Output {
    start(args).output().unwrap()
}

/// Runs it with `input` on its standard input.
pub fn fed(args: &[&str], input: &[u8]) -> Output {
    let mut command = start(args);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || pipe.write_all(input));
        child.wait_with_output().unwrap()
    })
}

pub fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

pub fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// That the command fails with `code` and says just `error: text`.
#[track_caller]
pub fn fails(args: &[&str], code: i32, text: &str) {
    let output = windlass(args);
    assert_eq!(stderr(&output), format!("error: {text}\n"));
    assert_eq!(output.status.code(), Some(code));
    assert_eq!(stdout(&output), "");
}

/// The text that a page contains as base64 of zlib.
pub fn inflated(packed: &str) -> String {
    let bytes = base64::prelude::BASE64_STANDARD.decode(packed).unwrap();
    std::io::read_to_string(flate2::read::ZlibDecoder::new(bytes.as_slice())).unwrap()
}

pub fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A controller that quinn cannot run, by what `windlass list` says.
pub fn not_for_quinn() -> String {
    let all = json(stdout(&windlass(&["list", "--json"])));
    let lacking = |entry: &&Value| !entry["runs_on"].as_array().unwrap().contains(&Value::from("quinn"));
    all.as_array().unwrap().iter().find(lacking).expect("one")["name"].as_str().unwrap().to_owned()
}

/// A directory of a test's own.
pub struct Place(tempfile::TempDir);

impl Place {
    pub fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    pub fn dir(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file and gives its path.
    pub fn file(&self, name: &str, text: &str) -> String {
        std::fs::write(self.0.path().join(name), text).unwrap();
        self.path(name)
    }

    pub fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    pub fn entries(&self) -> Vec<String> {
        names(self.0.path())
    }
}

/// The names in `dir`, sorted.
pub fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Every file below `dir` by its path, sorted.
pub fn tree(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(next) = open.pop() {
        for name in names(&next) {
            let path = next.join(name);
            if path.is_dir() {
                open.push(path);
            } else {
                files.push(path.strip_prefix(dir).unwrap().to_owned());
            }
        }
    }
    files.sort();
    files
}

/// Every file below `dir` with its content.
pub fn contents(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    tree(dir).into_iter().map(|path| (path.clone(), std::fs::read(dir.join(path)).unwrap())).collect()
}
